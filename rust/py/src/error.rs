//! Core errors as Python exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use rocmax_core::Error;

/// The exception for `error`, with the argument's name in Python.
pub(crate) fn to_python(error: Error) -> PyErr {
    let error = renamed(error, |name| match name {
        "labels" => "y_true",
        "weights" => "sample_weight",
        "range" => "fpr_range",
        other => other,
    });
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// `error` of a measure, whose scores are an argument in Python; those of a risk are not.
pub(crate) fn of_measure(error: Error) -> Error {
    renamed(error, |name| if name == "scores" { "y_score" } else { name })
}

fn renamed(error: Error, called: impl Fn(&'static str) -> &'static str) -> Error {
    match error {
        Error::Length { name, expected, got } => Error::Length { name: called(name), expected, got },
        Error::NonFinite { name, index, value } => Error::NonFinite { name: called(name), index, value },
        Error::Domain { name, domain, value } => Error::Domain { name: called(name), domain, value },
        other => other,
    }
}
