//! Core errors as Python exceptions, in one match.

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyValueError};
use pyo3::{PyErr, PyResult};
use rocmax_core::{Error, alloc};

/// The exception for `error`; its text names the argument and the value.
pub(crate) fn to_python(error: Error) -> PyErr {
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// Runs what allocates outside of the gate.
pub(crate) fn allocating<T>(call: impl FnOnce() -> T) -> PyResult<T> {
    alloc::caught(|| Ok(call())).map_err(to_python)
}

/// The values of an array.
pub(crate) fn copied<T: Copy>(array: &[T]) -> PyResult<Vec<T>> {
    allocating(|| alloc::copied(array))
}
