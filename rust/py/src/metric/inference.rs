//! What variances, tests and intervals are made of.

use std::sync::Mutex;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rocmax_core::metric::{self, Column, Placements, Resampling, Scheme, WeightKind};
use rocmax_core::{Result, alloc};

use super::array::{LabelArray, ScoreArray, Weights, columns, weights, with_columns};
use super::point::parse;

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
    let arrays = [y_score];
    let columns = vectors(&arrays)?;
    let size = labels.n_samples() * columns.len();
    let (estimates, values) = super::enter(py, n_threads, size, |ctx| {
        let each =
            ctx.map(columns.iter().collect(), |model: &Column<'_>| model.components(&labels, weights, measure, ctx))?;
        let found = each.into_iter().collect::<Result<Vec<_>>>()?;
        let estimates = found.iter().map(|c| c.estimate).collect();
        let mut values = alloc::with_capacity(found.iter().map(|c| c.values.len()).sum());
        found.iter().for_each(|c| values.extend_from_slice(&c.values));
        Ok((estimates, values))
    })?;
    Ok((PyArray1::from_vec(py, estimates), PyArray1::from_vec(py, values)))
}

pub(super) fn kind_of(weight: &str) -> PyResult<WeightKind> {
    match weight {
        "frequency" => Ok(WeightKind::Frequency),
        "sampling" => Ok(WeightKind::Sampling),
        other => Err(PyValueError::new_err(format!("no such kind of weight: {other:?}"))),
    }
}

/// Estimates, and the parts of the positives and the negatives in their covariance, of the columns of all arrays; see
/// `rocmax_core::metric::covariance_of_models`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from the Python package only")]
pub(crate) fn covariance<'py>(
    py: Python<'py>,
    y_true: LabelArray<'_>,
    y_score: Vec<ScoreArray<'_>>,
    sample_weight: Weights<'_>,
    weight_kind: &str,
    name: &str,
    low: f64,
    high: f64,
    n_threads: usize,
) -> PyResult<(Array<'py>, Array<'py>, Array<'py>)> {
    let (labels, weights, measure) = (y_true.labels()?, weights(&sample_weight)?, parse(name, low, high)?);
    let kind = kind_of(weight_kind)?;
    let columns = vectors(&y_score)?;
    // Placements take a fourth of the time of a curve, but two threads are worth waking for as few.
    let share = if Placements::suit(measure, weights) && n_threads == 1 { 4 } else { 1 };
    let size = labels.n_samples() * columns.len() / share;
    // Every two models are multiplied, about as fast as eight are ranked.
    let size = size.max(labels.n_samples() * columns.len() * columns.len() / 8);
    let (estimates, found) = super::enter(py, n_threads, size, |ctx| {
        with_placements(|kept| metric::covariance_of_models(&labels, &columns, (weights, kind), measure, kept, ctx))
    })?;
    let array = |values| PyArray1::from_vec(py, values);
    Ok((array(estimates), array(found.pos), array(found.neg)))
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
    weight_kind: &str,
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
    let resampling = Resampling { scheme, weight_kind: kind_of(weight_kind)?, n_resamples, seed };
    let size = labels.n_samples().saturating_mul(n_resamples);
    let values = with_columns!(&y_score, columns => super::enter(py, n_threads, size.saturating_mul(columns.len()), |ctx| {
        metric::bootstrap(&labels, &columns, weights, measure, resampling, ctx)
    }))?;
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
    let size = (curves[0].0.len() + curves[1].0.len()).saturating_mul(n_resamples);
    let (distance, permuted) =
        super::enter(py, n_threads, size, |ctx| metric::permuted_distances(curves, paired, n_resamples, seed, ctx))?;
    Ok((distance, PyArray1::from_vec(py, permuted)))
}
