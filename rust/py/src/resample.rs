//! Bindings of `rocmax_core::resample`.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use rocmax_core::resample::{self, Rates, Resampling, Scheme};

use crate::curve::measure::Measure;
use crate::curve::{self, CURVE, Curve, Rule};
use crate::data::array::{LabelArray, ScoreArray, Weights, weights};
use crate::gate::Need;
use crate::variance::{Array, kind_of};

/// The need of replicates: ranked samples of each model, buffers of each thread, and the values.
fn resampled(n_samples: usize, n_resamples: usize, n_models: usize, n_threads: usize) -> Need {
    let values = n_resamples.saturating_mul(n_models);
    let of_sample = CURVE * n_models + 64 * (n_threads + 1);
    Need {
        work: values.saturating_mul(n_samples),
        bytes: values.saturating_mul(64).saturating_add(n_samples.saturating_mul(of_sample)),
    }
}

fn resampling(stratified: bool, sampling: bool, n_resamples: usize, seed: u64) -> Resampling {
    let scheme = if stratified { Scheme::Stratified } else { Scheme::Pooled };
    Resampling { scheme, weight_kind: kind_of(sampling), n_resamples, seed }
}

/// Bootstrap replicates, row by row one value per model; see `rocmax_core::resample::bootstrap`.
#[pyfunction]
pub(crate) fn bootstrap<'py>(
    py: Python<'py>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    sample_weight: Weights<'_>,
    sampling: bool,
    measure: &Measure,
    stratified: bool,
    n_resamples: usize,
    seed: u64,
    n_threads: usize,
) -> PyResult<Array<'py>> {
    let (labels, weights, columns) = (y_true.labels()?, weights(&sample_weight)?, y_score.columns()?);
    let resampling = resampling(stratified, sampling, n_resamples, seed);
    let need = resampled(labels.n_samples(), n_resamples, columns.len(), n_threads);
    let values = curve::enter(py, n_threads, need, |ctx| {
        resample::bootstrap(&labels, &columns, weights, measure.0, resampling, ctx)
    })?;
    Ok(PyArray1::from_vec(py, values))
}

/// The distance of two ROC curves, and distances after exchange; see `rocmax_core::resample::permuted_distances`.
#[pyfunction]
pub(crate) fn permuted_distances<'py>(
    py: Python<'py>,
    y_true: PyReadonlyArray1<'_, bool>,
    score: PyReadonlyArray1<'_, f64>,
    y_true_b: PyReadonlyArray1<'_, bool>,
    score_b: PyReadonlyArray1<'_, f64>,
    paired: bool,
    n_resamples: usize,
    seed: u64,
    n_threads: usize,
) -> PyResult<(f64, Array<'py>)> {
    let curves = [(y_true.as_slice()?, score.as_slice()?), (y_true_b.as_slice()?, score_b.as_slice()?)];
    let need = resampled(curves[0].0.len() + curves[1].0.len(), n_resamples, 1, n_threads);
    let (distance, permuted) =
        curve::enter(py, n_threads, need, |ctx| resample::permuted_distances(curves, paired, n_resamples, seed, ctx))?;
    Ok((distance, PyArray1::from_vec(py, permuted)))
}

/// Distances of bootstrap curves from the curve of samples; see `rocmax_core::resample::band_distances`.
#[pyfunction]
pub(crate) fn band_distances<'py>(
    py: Python<'py>,
    curve: &Curve,
    n_resamples: usize,
    seed: u64,
    n_threads: usize,
) -> PyResult<Array<'py>> {
    let steps = curve.inner.steps();
    let n_samples = steps.iter().map(|step| (step.pos + step.neg) as usize).sum();
    let (need, resampling) =
        (resampled(n_samples, n_resamples, 1, n_threads), resampling(true, false, n_resamples, seed));
    let found = curve::enter(py, n_threads, need, |ctx| resample::band_distances(steps, resampling, ctx))?;
    Ok(PyArray1::from_vec(py, found))
}

/// Replicates of thresholds, row by row four numbers per rule: threshold, TPR, FPR and prevalence; see
/// `rocmax_core::resample::bootstrap_cuts`.
#[pyfunction]
pub(crate) fn bootstrap_cuts<'py>(
    py: Python<'py>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    sample_weight: Weights<'_>,
    sampling: bool,
    rules: Vec<Py<Rule>>,
    stratified: bool,
    n_resamples: usize,
    seed: u64,
    n_threads: usize,
) -> PyResult<Array<'py>> {
    let (labels, scores, weights) = (y_true.labels()?, y_score.column()?, weights(&sample_weight)?);
    let rules: Vec<_> = rules.iter().map(|rule| rule.get().0).collect();
    let resampling = resampling(stratified, sampling, n_resamples, seed);
    let need = resampled(labels.n_samples(), n_resamples, rules.len(), n_threads);
    let flat = |found: Vec<Rates>| -> Vec<f64> {
        found.iter().flat_map(|r| [r.threshold, r.tpr, r.fpr, r.prevalence]).collect()
    };
    let values = curve::enter(py, n_threads, need, |ctx| {
        resample::bootstrap_cuts(&labels, &scores.wide(), weights, &rules, resampling, ctx).map(flat)
    })?;
    Ok(PyArray1::from_vec(py, values))
}
