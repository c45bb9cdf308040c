//! Bindings of `rocmax_core::curve`.

mod bins;
mod empirical;
pub(crate) mod measure;
pub(crate) mod scratch;

use pyo3::prelude::*;
use rocmax_core::{Ctx, Result};

pub(crate) use bins::pool_bins;
pub(crate) use empirical::{Curve, Rule, curve_points};

use crate::error;
use crate::gate::{self, Need};

/// The most bytes per sample of a count of pairs,
pub(crate) const COUNT: usize = 64;
/// and of a curve, or of what is computed from one.
pub(crate) const CURVE: usize = 160;

/// [`gate::enter`] for measures, whose errors name `y_score`.
pub(crate) fn enter<T, F>(py: Python<'_>, n_threads: usize, need: Need, job: F) -> PyResult<T>
where
    T: Send,
    F: FnOnce(&Ctx<'_>) -> Result<T> + Send,
{
    gate::enter(py, n_threads, need, |ctx| job(ctx).map_err(error::of_measure))
}
