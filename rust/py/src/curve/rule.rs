//! Rules that choose a threshold.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rocmax_core::curve::Rule;

/// The rule called `name`, with its number where it takes one.
pub(crate) fn rule((name, number): (String, f64)) -> PyResult<Rule> {
    Ok(match &name[..] {
        "at" => Rule::At(number),
        "fpr" => Rule::Fpr(number),
        "specificity" => Rule::Specificity(number),
        "sensitivity" => Rule::Sensitivity(number),
        "eer" => Rule::Eer,
        "youden" => Rule::Youden(number),
        "closest" => Rule::Closest(number),
        "cost" => Rule::Cost(number),
        "midpoint" => Rule::Midpoint,
        "alerts" => Rule::Alerts(number),
        other => return Err(PyValueError::new_err(format!("no such rule: {other:?}"))),
    })
}
