//! Binding of `rocmax_core::neighbors`.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rocmax_core::neighbors;

use crate::gate::{self, Need};

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
    let (n_queries, n_targets) = (queries.shape()[0], targets.shape()[0]);
    // The targets in single precision, and twice the neighbours of all queries; of the few that are at work, more.
    let found = 16usize.saturating_mul(k.min(n_targets)).saturating_mul(n_queries);
    let need = Need {
        work: n_queries.saturating_mul(n_targets),
        bytes: (n_targets * (4 * dim + 16)).saturating_add(found) + (1 << 20) * n_threads,
    };
    let (queries, targets) = (queries.as_slice()?, targets.as_slice()?);
    let nearest = gate::enter(py, n_threads, need, |ctx| neighbors::nearest(queries, targets, dim, k, ctx))?;
    Ok(nearest.into_pyarray(py))
}
