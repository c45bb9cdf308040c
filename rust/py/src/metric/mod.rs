//! Bindings of `rocmax_core::metric`.

mod array;
mod bins;
mod curve;
mod cutoff;
mod inference;
mod point;
mod scratch;

use pyo3::{PyResult, Python};
use rocmax_core::{Ctx, Result};

use crate::error;
use crate::gate::{self, Need};

pub(crate) use bins::pool_bins;
pub(crate) use curve::Curve;
pub(crate) use cutoff::bootstrap_cuts;
pub(crate) use inference::{bootstrap, components, covariance, permuted_distances, placements};
pub(crate) use point::{auc, auc_moments, measure};

/// Bytes a sample that a count of pairs takes, at most,
const COUNT: usize = 64;
/// and that a curve does, or what is made of one.
const CURVE: usize = 160;

/// [`gate::enter`] with the scores' name in errors.
fn enter<T, F>(py: Python<'_>, n_threads: usize, need: Need, job: F) -> PyResult<T>
where
    T: Send,
    F: FnOnce(&Ctx<'_>) -> Result<T> + Send,
{
    gate::enter(py, n_threads, need, |ctx| job(ctx).map_err(error::of_measure))
}
