//! Arrays, labels and ranges, read where NumPy keeps them and checked by the core.

pub(crate) mod array;
pub(crate) mod problem;
pub(crate) mod texts;

use pyo3::PyResult;
use rocmax_core::RateRange;

use crate::error::to_python;

/// A range of rates.
pub(crate) fn range(low: f64, high: f64) -> PyResult<RateRange> {
    RateRange::new(low, high).map_err(to_python)
}
