//! Binding of `rocmax_core::Problem`.

use std::sync::{Arc, Mutex};

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use rocmax_core::RateRange;
use rocmax_core::oracle::Workspace;

use crate::error::{copied, to_python};

/// Labels, checked once (see `rocmax_core::Problem`).
#[pyclass(frozen, module = "rocmax._core")]
pub(crate) struct Problem {
    pub(crate) inner: Arc<rocmax_core::Problem>,
    /// Of all its oracles, which take turns.
    pub(crate) workspace: Arc<Mutex<Workspace>>,
}

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (labels, sample_weight=None))]
    fn new(labels: PyReadonlyArray1<'_, bool>, sample_weight: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<Self> {
        let labels = copied(labels.as_slice()?)?;
        let inner = match sample_weight {
            None => rocmax_core::Problem::new(labels),
            Some(weights) => rocmax_core::Problem::weighted(labels, copied(weights.as_slice()?)?),
        };
        Ok(Self { inner: Arc::new(inner.map_err(to_python)?), workspace: Arc::default() })
    }

    /// The ranks (j_a, j_b) of a range, or sums of weights (see `rocmax_core::Problem::ranks`).
    fn ranks(&self, low: f64, high: f64) -> PyResult<(f64, f64)> {
        Ok(self.inner.ranks(RateRange::new(low, high).map_err(to_python)?))
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
