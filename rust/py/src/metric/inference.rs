//! What variances, tests and intervals are made of.

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rocmax_core::metric::{self, Components, Labels, Measure, Resampling, Scheme, Score, WeightKind};
use rocmax_core::{Ctx, Result};

use super::array::{LabelArray, ScoreArray, Weights, weights, with_columns};
use super::point::parse;
use crate::gate;

type Array<'py> = Bound<'py, PyArray1<f64>>;

/// Components of every score vector, one after another; they share the threads.
fn each<S: Score>(
    labels: &Labels<'_>,
    columns: &[&[S]],
    weights: Option<&[f64]>,
    measure: Measure,
    ctx: &Ctx<'_>,
) -> Result<Vec<Components>> {
    if columns.len() < ctx.n_threads() {
        return columns.iter().map(|s| Components::new(labels, s, weights, measure, ctx)).collect();
    }
    let one = |s: &&[S]| Components::new(labels, s, weights, measure, &Ctx::serial());
    ctx.map(columns.iter().collect(), one)?.into_iter().collect()
}

/// Estimates, and the components of all samples, model after model; see `rocmax_core::metric::Components`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from the Python package only")]
pub(crate) fn components<'py>(
    py: Python<'py>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    sample_weight: Weights<'_>,
    name: &str,
    low: f64,
    high: f64,
    n_threads: usize,
) -> PyResult<(Array<'py>, Array<'py>)> {
    let (labels, weights, measure) = (y_true.labels()?, weights(&sample_weight)?, parse(name, low, high)?);
    let found = with_columns!(&y_score, columns => gate::enter(py, n_threads, labels.n_samples() * columns.len(), |ctx| {
        each(&labels, &columns, weights, measure, ctx)
    }))?;
    let estimates = found.iter().map(|c| c.estimate).collect();
    let values = found.into_iter().flat_map(|c| c.values).collect();
    Ok((PyArray1::from_vec(py, estimates), PyArray1::from_vec(py, values)))
}

/// Estimates, and the parts of the positives and the negatives in their covariance; see
/// `rocmax_core::metric::covariance`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from the Python package only")]
pub(crate) fn covariance<'py>(
    py: Python<'py>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    sample_weight: Weights<'_>,
    weight_kind: &str,
    name: &str,
    low: f64,
    high: f64,
    n_threads: usize,
) -> PyResult<(Array<'py>, Array<'py>, Array<'py>)> {
    let (labels, weights, measure) = (y_true.labels()?, weights(&sample_weight)?, parse(name, low, high)?);
    let kind = match weight_kind {
        "frequency" => WeightKind::Frequency,
        "sampling" => WeightKind::Sampling,
        other => return Err(PyValueError::new_err(format!("no such kind of weight: {other:?}"))),
    };
    let (estimates, found) = with_columns!(&y_score, columns => gate::enter(py, n_threads, labels.n_samples() * columns.len(), |ctx| {
        let found = each(&labels, &columns, weights, measure, ctx)?;
        let estimates: Vec<f64> = found.iter().map(|c| c.estimate).collect();
        Ok((estimates, metric::covariance(&labels, &found, weights, kind, ctx)?))
    }))?;
    let array = |values| PyArray1::from_vec(py, values);
    Ok((array(estimates), array(found.pos), array(found.neg)))
}

/// Stratified bootstrap replicates, row by row one value a model; see `rocmax_core::metric::bootstrap`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from the Python package only")]
pub(crate) fn bootstrap<'py>(
    py: Python<'py>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    sample_weight: Weights<'_>,
    name: &str,
    low: f64,
    high: f64,
    stratified: bool,
    n_resamples: usize,
    seed: u64,
    n_threads: usize,
) -> PyResult<Array<'py>> {
    let (labels, weights, measure) = (y_true.labels()?, weights(&sample_weight)?, parse(name, low, high)?);
    let scheme = if stratified { Scheme::Stratified } else { Scheme::Pooled };
    let resampling = Resampling { scheme, n_resamples, seed };
    let size = labels.n_samples().saturating_mul(n_resamples);
    let values = with_columns!(&y_score, columns => gate::enter(py, n_threads, size, |ctx| {
        metric::bootstrap(&labels, &columns, weights, measure, resampling, ctx)
    }))?;
    Ok(PyArray1::from_vec(py, values))
}
