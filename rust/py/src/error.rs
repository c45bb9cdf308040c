//! Core errors as Python exceptions, in one match.

use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use rocmax_core::Error;

/// The exception for `error`; its text names the argument and the value.
pub(crate) fn to_python(error: Error) -> PyErr {
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        other => PyValueError::new_err(other.to_string()),
    }
}
