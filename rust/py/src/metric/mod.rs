//! Bindings of `rocmax_core::metric`.

mod array;
mod curve;
mod point;

pub(crate) use curve::Curve;
pub(crate) use point::{auc, measure};
