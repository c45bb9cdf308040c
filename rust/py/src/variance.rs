//! Bindings of `rocmax_core::variance`.

use numpy::PyArray1;
use pyo3::prelude::*;
use rocmax_core::Column;
use rocmax_core::variance::{self, Components, Placements, WeightKind};

use crate::curve::measure::Measure;
use crate::curve::scratch::PLACEMENTS;
use crate::curve::{self, COUNT, CURVE};
use crate::data::array::{LabelArray, ScoreArray, Weights, weights};
use crate::gate::Need;

pub(crate) type Array<'py> = Bound<'py, PyArray1<f64>>;

/// Estimates and the components of all samples, model after model; see `rocmax_core::variance::Components`.
#[pyfunction]
pub(crate) fn components<'py>(
    py: Python<'py>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    sample_weight: Weights<'_>,
    measure: &Measure,
    n_threads: usize,
) -> PyResult<(Array<'py>, Array<'py>)> {
    let (labels, weights, columns) = (y_true.labels()?, weights(&sample_weight)?, y_score.columns()?);
    let (n, n_models) = (labels.n_samples(), columns.len());
    let need = Need { work: n * n_models, bytes: n * (CURVE * usize::min(n_models, n_threads) + 16 * n_models) };
    let (estimates, values) = curve::enter(py, n_threads, need, |ctx| {
        let of_model = |model: &Column<'_>| Components::new(&labels, &model.wide(), weights, measure.0, ctx);
        let found = ctx.try_map(columns.iter().collect(), of_model)?;
        let estimates = found.iter().map(|c| c.estimate).collect();
        Ok((estimates, found.into_iter().map(|c| c.values).collect::<Vec<_>>().concat()))
    })?;
    Ok((PyArray1::from_vec(py, estimates), PyArray1::from_vec(py, values)))
}

pub(crate) fn kind_of(sampling: bool) -> WeightKind {
    if sampling { WeightKind::Sampling } else { WeightKind::Frequency }
}

/// Estimates of the columns of all arrays, and the parts of the positives and of the negatives in their covariance; see
/// `rocmax_core::variance::covariance_of_models`.
#[pyfunction]
pub(crate) fn covariance<'py>(
    py: Python<'py>,
    y_true: LabelArray<'_>,
    y_score: Vec<ScoreArray<'_>>,
    sample_weight: Weights<'_>,
    sampling: bool,
    measure: &Measure,
    n_threads: usize,
) -> PyResult<(Array<'py>, Array<'py>, Array<'py>)> {
    let (labels, weights, measure) = (y_true.labels()?, weights(&sample_weight)?, measure.0);
    let columns = y_score.iter().map(ScoreArray::columns).collect::<PyResult<Vec<_>>>()?.concat();
    // Placements take a fourth of the time of a curve, but two threads are worth waking for as few.
    let placed = Placements::suit(measure, weights);
    let share = if placed && n_threads == 1 { 4 } else { 1 };
    let (n, n_models) = (labels.n_samples(), columns.len());
    // Products of every two models, eight times as fast as ranking.
    let work = usize::max(n * n_models / share, n * n_models * n_models / 8);
    let (at_work, kept) = if placed { (COUNT, 4) } else { (CURVE, 16) };
    let bytes = n * (at_work * usize::min(n_models, n_threads) + kept * n_models);
    let found = curve::enter(py, n_threads, Need { work, bytes }, |ctx| {
        PLACEMENTS.lend(n * n_models, |kept| {
            variance::covariance_of_models(&labels, &columns, weights, kind_of(sampling), measure, kept, ctx)
        })
    })?;
    let array = |values| PyArray1::from_vec(py, values);
    Ok((array(found.estimates), array(found.pos), array(found.neg)))
}
