//! Binding of `rocmax_core::simplex_qp`.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use rocmax_core::simplex_qp;

use crate::gate::{self, Need};

/// The minimiser of `1/2 l'Gl - gain'l` over `l >= 0`, `sum l = total`, from a feasible start.
#[pyfunction]
pub(crate) fn minimise_on_simplex<'py>(
    py: Python<'py>,
    gram: PyReadonlyArray2<'py, f64>,
    gain: PyReadonlyArray1<'py, f64>,
    total: f64,
    start: PyReadonlyArray1<'py, f64>,
    tol: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (gram, gain) = (gram.as_slice()?, gain.as_slice()?);
    let mut weights = start.as_slice()?.to_vec();
    let need = Need { work: gram.len(), bytes: 16 * gram.len() };
    gate::enter(py, 1, need, |ctx| simplex_qp::minimise_on_simplex(gram, gain, total, &mut weights, tol, ctx))?;
    Ok(weights.into_pyarray(py))
}
