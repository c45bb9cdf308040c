//! Bindings of `rocmax_core::metric`.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rocmax_core::RateRange;
use rocmax_core::metric::{self, Normalize};

use crate::error::to_python;
use crate::gate;
use crate::problem::Problem;

/// See `rocmax_core::metric::auc`.
#[pyfunction]
pub(crate) fn auc(
    py: Python<'_>,
    problem: &Problem,
    scores: PyReadonlyArray1<'_, f64>,
    n_threads: usize,
) -> PyResult<f64> {
    let scores = scores.as_slice()?;
    gate::enter(py, n_threads, scores.len(), |ctx| metric::auc(&problem.inner, scores, ctx))
}

/// See `rocmax_core::metric::partial_auc_ranked`.
#[pyfunction]
pub(crate) fn partial_auc_ranked(
    py: Python<'_>,
    problem: &Problem,
    scores: PyReadonlyArray1<'_, f64>,
    low: f64,
    high: f64,
    n_threads: usize,
) -> PyResult<f64> {
    let scores = scores.as_slice()?;
    let range = RateRange::new(low, high).map_err(to_python)?;
    gate::enter(py, n_threads, scores.len(), |ctx| metric::partial_auc_ranked(&problem.inner, scores, range, ctx))
}

/// See `rocmax_core::metric::partial_auc_curve`.
#[pyfunction]
pub(crate) fn partial_auc_curve(
    py: Python<'_>,
    problem: &Problem,
    scores: PyReadonlyArray1<'_, f64>,
    low: f64,
    high: f64,
    normalize: &str,
    n_threads: usize,
) -> PyResult<f64> {
    let scores = scores.as_slice()?;
    let range = RateRange::new(low, high).map_err(to_python)?;
    let normalize = match normalize {
        "none" => Normalize::None,
        "width" => Normalize::Width,
        "mcclish" => Normalize::McClish,
        other => return Err(PyValueError::new_err(format!("normalize: no such rule: {other:?}"))),
    };
    gate::enter(py, n_threads, scores.len(), |ctx| {
        metric::partial_auc_curve(&problem.inner, scores, range, normalize, ctx)
    })
}
