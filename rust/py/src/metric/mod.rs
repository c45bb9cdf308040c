//! Bindings of `rocmax_core::metric`.

mod array;
mod curve;
mod cutoff;
mod inference;
mod point;
mod scratch;

pub(crate) use curve::Curve;
pub(crate) use cutoff::bootstrap_cuts;
pub(crate) use inference::{bootstrap, components, covariance, permuted_distances};
pub(crate) use point::{auc, auc_moments, measure};
