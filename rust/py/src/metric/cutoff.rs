//! Thresholds that a rule chooses, and their bootstrap.

use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use rocmax_core::metric::{self, Resampling, Rule, Scheme};

use super::array::{LabelArray, ScoreArray, Weights, weights};
use super::inference::{kind_of, resampled};

/// The rule called `name`, with its number where it takes one.
pub(super) fn rule((name, number): (String, f64)) -> PyResult<Rule> {
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

/// Thresholds of rules, both rates and the share of positives, row by row four numbers a rule; see
/// `rocmax_core::metric::bootstrap_cuts`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from the Python package only")]
pub(crate) fn bootstrap_cuts<'py>(
    py: Python<'py>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    sample_weight: Weights<'_>,
    sampling: bool,
    rules: Vec<(String, f64)>,
    stratified: bool,
    n_resamples: usize,
    seed: u64,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (labels, weights) = (y_true.labels()?, weights(&sample_weight)?);
    let rules = rules.into_iter().map(rule).collect::<PyResult<Vec<_>>>()?;
    let scheme = if stratified { Scheme::Stratified } else { Scheme::Pooled };
    let resampling = Resampling { scheme, weight_kind: kind_of(sampling), n_resamples, seed };
    let need = resampled(labels.n_samples(), n_resamples, rules.len(), n_threads);
    let flat = |found: Vec<metric::Rates>| -> Vec<f64> {
        found.iter().flat_map(|r| [r.threshold, r.tpr, r.fpr, r.prevalence]).collect()
    };
    let values = match &y_score {
        ScoreArray::F64(a) => {
            let scores = a.as_slice()?;
            super::enter(py, n_threads, need, |ctx| {
                metric::bootstrap_cuts(&labels, scores, weights, &rules, resampling, ctx).map(flat)
            })
        }
        ScoreArray::F32(a) => {
            let scores = a.as_slice()?;
            super::enter(py, n_threads, need, |ctx| {
                metric::bootstrap_cuts(&labels, scores, weights, &rules, resampling, ctx).map(flat)
            })
        }
        _ => Err(PyTypeError::new_err("thresholds are of one score vector")),
    }?;
    Ok(PyArray1::from_vec(py, values))
}
