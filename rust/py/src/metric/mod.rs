//! Bindings of `rocmax_core::metric`.

mod array;
mod curve;
mod cutoff;
mod inference;
mod point;
mod scratch;

use pyo3::{PyResult, Python};
use rocmax_core::{Ctx, Result};

use crate::{error, gate};

pub(crate) use curve::Curve;
pub(crate) use cutoff::bootstrap_cuts;
pub(crate) use inference::{bootstrap, components, covariance, permuted_distances};
pub(crate) use point::{auc, auc_moments, measure};

/// [`gate::enter`] with the scores' name in errors.
fn enter<T, F>(py: Python<'_>, n_threads: usize, size: usize, job: F) -> PyResult<T>
where
    T: Send,
    F: FnOnce(&Ctx<'_>) -> Result<T> + Send,
{
    gate::enter(py, n_threads, size, |ctx| job(ctx).map_err(error::of_measure))
}
