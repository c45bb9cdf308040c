//! Binding of `rocmax_core::Problem` and of the ranks of a range.

use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use rocmax_core::RateRange;

use crate::error::to_python;

/// Labels, checked once (see `rocmax_core::Problem`).
#[pyclass(frozen, module = "rocmax._core")]
pub(crate) struct Problem {
    pub(crate) inner: Arc<rocmax_core::Problem>,
}

#[pymethods]
impl Problem {
    #[new]
    fn new(labels: PyReadonlyArray1<'_, bool>) -> PyResult<Self> {
        let inner = rocmax_core::Problem::new(labels.as_slice()?.to_vec()).map_err(to_python)?;
        Ok(Self { inner: Arc::new(inner) })
    }

    #[getter]
    fn n_samples(&self) -> usize {
        self.inner.n_samples()
    }

    #[getter]
    fn n_pos(&self) -> usize {
        self.inner.n_pos()
    }

    #[getter]
    fn n_neg(&self) -> usize {
        self.inner.n_neg()
    }
}

/// The ranks (j_a, j_b) of a range (see `rocmax_core::RateRange::ranks`).
#[pyfunction]
pub(crate) fn ranks(low: f64, high: f64, n_neg: usize) -> PyResult<(usize, usize)> {
    Ok(RateRange::new(low, high).map_err(to_python)?.ranks(n_neg))
}
