//! Binding of `rocmax_core::oracle::pair_loss`.

use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rocmax_core::RateRange;
use rocmax_core::oracle::{self, PairLoss, PairRange};

use crate::error::to_python;
use crate::gate::{self, Need};
use crate::problem::Problem;

/// The value of a pair loss; adds `scale` times the gradient and the diagonal of the Hessian to `derivatives`. A range is "fpr" or "tpr", and its ends.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from the Python package only")]
pub(crate) fn pair_loss(
    py: Python<'_>,
    problem: &Problem,
    scores: PyReadonlyArray1<'_, f64>,
    loss: &str,
    range: (&str, f64, f64),
    scale: f64,
    derivatives: (PyReadwriteArray1<'_, f64>, PyReadwriteArray1<'_, f64>),
    n_threads: usize,
) -> PyResult<f64> {
    let ((rates, low, high), (mut gradient, mut hessian)) = (range, derivatives);
    let ends = RateRange::new(low, high).map_err(to_python)?;
    let (scores, gradient, hessian) = (scores.as_slice()?, gradient.as_slice_mut()?, hessian.as_slice_mut()?);
    let loss = match loss {
        "squared_hinge" => PairLoss::SquaredHinge,
        "smoothed_hinge" => PairLoss::SmoothedHinge,
        _ => return Err(PyValueError::new_err(format!("loss must be a known one, got {loss:?}"))),
    };
    let range = match rates {
        "fpr" => PairRange::Fpr(ends),
        "tpr" => PairRange::Tpr(ends),
        _ => return Err(PyValueError::new_err(format!("rates must be 'fpr' or 'tpr', got {rates:?}"))),
    };
    let need = Need { work: scores.len(), bytes: 128 * scores.len() };
    gate::enter(py, n_threads, need, |ctx| {
        oracle::pair_loss(&problem.inner, scores, (loss, range), scale, [gradient, hessian], ctx)
    })
}
