//! What variances, tests and intervals are made of.

use std::sync::Mutex;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rocmax_core::Result;
use rocmax_core::metric::{self, Column, Placements, Resampling, Scheme, WeightKind};

use super::array::{LabelArray, ScoreArray, Weights, columns, weights, with_columns};
use super::point::Key;
use super::{COUNT, CURVE};
use crate::gate::Need;

type Array<'py> = Bound<'py, PyArray1<f64>>;

/// The score vectors of all arrays; those that do not lie in one piece are copied.
fn vectors<'a>(arrays: &'a [ScoreArray<'_>]) -> PyResult<Vec<Column<'a>>> {
    let mut found = Vec::new();
    for array in arrays {
        match array {
            ScoreArray::F64(a) => found.push(Column::F64(a.as_slice()?.into())),
            ScoreArray::F32(a) => found.push(Column::F32(a.as_slice()?.into())),
            ScoreArray::F64s(a) => found.extend(columns(a.as_array())?.into_iter().map(Column::F64)),
            ScoreArray::F32s(a) => found.extend(columns(a.as_array())?.into_iter().map(Column::F32)),
        }
    }
    Ok(found)
}

/// Estimates, and the components of all samples, model after model; see `rocmax_core::metric::Components`.
#[pyfunction]
pub(crate) fn components<'py>(
    py: Python<'py>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    sample_weight: Weights<'_>,
    measure: Key,
    n_threads: usize,
) -> PyResult<(Array<'py>, Array<'py>)> {
    let (labels, weights, Key(measure)) = (y_true.labels()?, weights(&sample_weight)?, measure);
    let arrays = [y_score];
    let columns = vectors(&arrays)?;
    let (n, n_models) = (labels.n_samples(), columns.len());
    let need = Need { work: n * n_models, bytes: n * (CURVE * usize::min(n_models, n_threads) + 16 * n_models) };
    let (estimates, values) = super::enter(py, n_threads, need, |ctx| {
        let each =
            ctx.map(columns.iter().collect(), |model: &Column<'_>| model.components(&labels, weights, measure, ctx))?;
        let found = each.into_iter().collect::<Result<Vec<_>>>()?;
        let estimates = found.iter().map(|c| c.estimate).collect();
        Ok((estimates, found.into_iter().map(|c| c.values).collect::<Vec<_>>().concat()))
    })?;
    Ok((PyArray1::from_vec(py, estimates), PyArray1::from_vec(py, values)))
}

pub(super) fn kind_of(sampling: bool) -> WeightKind {
    if sampling { WeightKind::Sampling } else { WeightKind::Frequency }
}

/// Estimates, and the parts of the positives and the negatives in their covariance, of the columns of all arrays; see
/// `rocmax_core::metric::covariance_of_models`.
#[pyfunction]
pub(crate) fn covariance<'py>(
    py: Python<'py>,
    y_true: LabelArray<'_>,
    y_score: Vec<ScoreArray<'_>>,
    sample_weight: Weights<'_>,
    sampling: bool,
    measure: Key,
    n_threads: usize,
) -> PyResult<(Array<'py>, Array<'py>, Array<'py>)> {
    let (labels, weights, Key(measure)) = (y_true.labels()?, weights(&sample_weight)?, measure);
    let columns = vectors(&y_score)?;
    // Placements take a fourth of the time of a curve, but two threads are worth waking for as few.
    let placed = Placements::suit(measure, weights);
    let share = if placed && n_threads == 1 { 4 } else { 1 };
    let (n, n_models) = (labels.n_samples(), columns.len());
    // Every two models are multiplied, about as fast as eight are ranked.
    let work = usize::max(n * n_models / share, n * n_models * n_models / 8);
    let (at_work, kept) = if placed { (COUNT, 4) } else { (CURVE, 16) };
    let bytes = n * (at_work * usize::min(n_models, n_threads) + kept * n_models);
    let (estimates, found) = super::enter(py, n_threads, Need { work, bytes }, |ctx| {
        with_placements(|kept| {
            metric::covariance_of_models(&labels, &columns, (weights, kind_of(sampling)), measure, kept, ctx)
        })
    })?;
    let array = |values| PyArray1::from_vec(py, values);
    Ok((array(estimates), array(found.pos), array(found.neg)))
}

/// Of every sample twice the number of the other class that it beats, ties counted once; see
/// `rocmax_core::metric::Placements`.
#[pyfunction]
pub(crate) fn placements<'py>(
    py: Python<'py>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let (labels, arrays) = (y_true.labels()?, [y_score]);
    let columns = vectors(&arrays)?;
    let [model] = &columns[..] else { return Err(PyValueError::new_err("placements are of one score vector")) };
    let n = labels.n_samples();
    let need = Need { work: 2 * n, bytes: (COUNT + 8) * n };
    let placed = super::enter(py, n_threads, need, |ctx| {
        with_placements(|kept| kept.doubled(&labels, model, ctx).map(<[u32]>::to_vec))
    })?;
    Ok(PyArray1::from_vec(py, placed))
}

/// What replicates of `n_models` take: ranked samples of each model, room of each thread, the values and their parts.
pub(super) fn resampled(n_samples: usize, n_resamples: usize, n_models: usize, n_threads: usize) -> Need {
    let values = n_resamples.saturating_mul(n_models);
    let of_sample = CURVE * n_models + 64 * (n_threads + 1);
    Need {
        work: values.saturating_mul(n_samples),
        bytes: values.saturating_mul(64).saturating_add(n_samples.saturating_mul(of_sample)),
    }
}

/// Calls `f` with memory that is kept from call to call, unless another thread has it or it is more than `MOST` bytes.
fn with_placements<T>(f: impl FnOnce(&mut Placements) -> T) -> T {
    const MOST: usize = 1 << 30;
    static POOL: Mutex<Option<Placements>> = Mutex::new(None);
    let mut kept = POOL.try_lock().ok().and_then(|mut pool| pool.take()).unwrap_or_default();
    let found = f(&mut kept);
    if kept.bytes() < MOST
        && let Ok(mut pool) = POOL.try_lock()
    {
        *pool = Some(kept);
    }
    found
}

/// Bootstrap replicates, row by row one value a model; see `rocmax_core::metric::bootstrap`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from the Python package only")]
pub(crate) fn bootstrap<'py>(
    py: Python<'py>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    sample_weight: Weights<'_>,
    sampling: bool,
    measure: Key,
    stratified: bool,
    n_resamples: usize,
    seed: u64,
    n_threads: usize,
) -> PyResult<Array<'py>> {
    let (labels, weights, Key(measure)) = (y_true.labels()?, weights(&sample_weight)?, measure);
    let scheme = if stratified { Scheme::Stratified } else { Scheme::Pooled };
    let resampling = Resampling { scheme, weight_kind: kind_of(sampling), n_resamples, seed };
    let values = with_columns!(&y_score, columns => {
        let need = resampled(labels.n_samples(), n_resamples, columns.len(), n_threads);
        super::enter(py, n_threads, need, |ctx| {
            metric::bootstrap(&labels, &columns, weights, measure, resampling, ctx)
        })
    })?;
    Ok(PyArray1::from_vec(py, values))
}

/// The distance of two ROC curves, and distances under exchange; see `rocmax_core::metric::permuted_distances`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from the Python package only")]
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
        super::enter(py, n_threads, need, |ctx| metric::permuted_distances(curves, paired, n_resamples, seed, ctx))?;
    Ok((distance, PyArray1::from_vec(py, permuted)))
}
