//! Binding of `rocmax_core::neighbors`.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rocmax_core::neighbors;

use crate::gate;

/// The indices of the `k` nearest targets of each query, one query after the other.
#[pyfunction]
pub(crate) fn nearest<'py>(
    py: Python<'py>,
    queries: PyReadonlyArray2<'py, f64>,
    targets: PyReadonlyArray2<'py, f64>,
    k: usize,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let dim = targets.shape()[1];
    let size = queries.shape()[0].saturating_mul(targets.shape()[0]);
    let (queries, targets) = (queries.as_slice()?, targets.as_slice()?);
    let found = gate::enter(py, n_threads, size, |ctx| neighbors::nearest(queries, targets, dim, k, ctx))?;
    Ok(found.into_pyarray(py))
}
