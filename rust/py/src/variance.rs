//! Bindings of `rocmax_core::variance`.

use std::sync::Mutex;

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rocmax_core::Result;
use rocmax_core::variance::{self, Column, Placements, WeightKind};

use crate::curve::measure::Key;
use crate::curve::{self, COUNT, CURVE};
use crate::data::array::{LabelArray, ScoreArray, Weights, columns, weights};
use crate::gate::Need;

pub(crate) type Array<'py> = Bound<'py, PyArray1<f64>>;

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

/// Estimates, and the components of all samples, model after model; see `rocmax_core::variance::Components`.
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
    let (estimates, values) = curve::enter(py, n_threads, need, |ctx| {
        let each =
            ctx.map(columns.iter().collect(), |model: &Column<'_>| model.components(&labels, weights, measure, ctx))?;
        let found = each.into_iter().collect::<Result<Vec<_>>>()?;
        let estimates = found.iter().map(|c| c.estimate).collect();
        Ok((estimates, found.into_iter().map(|c| c.values).collect::<Vec<_>>().concat()))
    })?;
    Ok((PyArray1::from_vec(py, estimates), PyArray1::from_vec(py, values)))
}

pub(crate) fn kind_of(sampling: bool) -> WeightKind {
    if sampling { WeightKind::Sampling } else { WeightKind::Frequency }
}

/// Estimates, and the parts of the positives and the negatives in their covariance, of the columns of all arrays; see
/// `rocmax_core::variance::covariance_of_models`.
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
    let (estimates, found) = curve::enter(py, n_threads, Need { work, bytes }, |ctx| {
        with_placements(|kept| {
            variance::covariance_of_models(&labels, &columns, (weights, kind_of(sampling)), measure, kept, ctx)
        })
    })?;
    let array = |values| PyArray1::from_vec(py, values);
    Ok((array(estimates), array(found.pos), array(found.neg)))
}

/// Of every sample twice the number of the other class that it beats, ties counted once; see
/// `rocmax_core::variance::Placements`.
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
    let placed = curve::enter(py, n_threads, need, |ctx| {
        with_placements(|kept| kept.doubled(&labels, model, ctx).map(<[u32]>::to_vec))
    })?;
    Ok(PyArray1::from_vec(py, placed))
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
