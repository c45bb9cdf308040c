//! Binding of `rocmax_core::Problem`.

use std::sync::{Arc, Mutex};

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rocmax_core::risk::Workspace;

use super::range;
use crate::error::to_python;
use crate::gate::room;

/// Labels and weights, checked once, and their arrays; see `rocmax_core::Problem`.
#[pyclass(frozen, module = "rocmax._core")]
pub(crate) struct Problem {
    pub(crate) inner: Arc<rocmax_core::Problem>,
    /// Shared by its oracles, one at a time.
    pub(crate) workspace: Arc<Mutex<Workspace>>,
    #[pyo3(get)]
    labels: Py<PyArray1<bool>>,
}

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (labels, sample_weight=None))]
    fn new(labels: Bound<'_, PyArray1<bool>>, sample_weight: Option<Bound<'_, PyArray1<f64>>>) -> PyResult<Self> {
        room(16 * labels.len()?)?;
        let of = labels.try_readonly()?.as_slice()?.to_vec();
        let inner = match &sample_weight {
            None => rocmax_core::Problem::new(of),
            Some(weights) => rocmax_core::Problem::weighted(of, weights.try_readonly()?.as_slice()?.to_vec()),
        };
        let inner = Arc::new(inner.map_err(to_python)?);
        Ok(Self { labels: labels.unbind(), inner, workspace: Arc::default() })
    }

    /// The weights where NumPy reads them: an array of its own would take as much again.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let weights = self.inner.sample_weight().unwrap_or_default();
        let of = PyDict::new(py);
        of.set_item("version", 3)?;
        of.set_item("typestr", "<f8")?;
        of.set_item("shape", (weights.len(),))?;
        of.set_item("data", (weights.as_ptr().addr(), true))?;
        Ok(of)
    }

    /// None if all are 1.
    #[getter]
    fn sample_weight<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let array = || slf.py().import("numpy")?.call_method1("asarray", (slf,));
        slf.get().inner.sample_weight().map(|_| array()).transpose()
    }

    /// The ranks (j_a, j_b) of a range, or sums of weights; see `rocmax_core::Problem::ranks`.
    fn ranks(&self, low: f64, high: f64) -> PyResult<(f64, f64)> {
        Ok(self.inner.ranks(range(low, high)?))
    }

    #[getter]
    fn n_samples(&self) -> usize {
        self.inner.n_samples()
    }
}
