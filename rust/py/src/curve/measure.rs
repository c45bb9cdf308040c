//! Point estimates: one number a model.

use std::borrow::Cow;

use numpy::PyArray1;
use numpy::ndarray::{ArrayView2, Axis, Slice};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use rocmax_core::curve::{self, Measure, Normalize, Screening};
use rocmax_core::{Ctx, Labels, RateRange, Result, Score};

use super::scratch::{self, Pooled};
use super::{COUNT, CURVE};
use crate::data::array::{COLUMNS, LabelArray, ScoreArray, Weights, copied, in_place, weights};
use crate::error::to_python;
use crate::gate::Need;

/// Units of work for each thread.
const SHARES: usize = 4;

/// A measure, from its name and two numbers: the ends of its range, or its one parameter and 1.
pub(crate) struct Key(pub(crate) Measure);

impl<'py> FromPyObject<'_, 'py> for Key {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (name, low, high): (Cow<'_, str>, f64, f64) = object.extract()?;
        parse(&name, low, high).map(Self)
    }
}

fn parse(name: &str, low: f64, high: f64) -> PyResult<Measure> {
    let range = || RateRange::new(low, high).map_err(to_python);
    Ok(match name {
        "auc" => Measure::Auc,
        "partial" => Measure::Partial(range()?, Normalize::None),
        "partial-width" => Measure::Partial(range()?, Normalize::Width),
        "partial-mcclish" => Measure::Partial(range()?, Normalize::McClish),
        "sensitivity" => Measure::PartialTpr(range()?, Normalize::None),
        "sensitivity-width" => Measure::PartialTpr(range()?, Normalize::Width),
        "sensitivity-mcclish" => Measure::PartialTpr(range()?, Normalize::McClish),
        "ranked" => Measure::Ranked(range()?),
        "tpr_at_fpr" => Measure::TprAtFpr(low),
        "fpr_at_tpr" => Measure::FprAtTpr(low),
        "scored" => Measure::Scored,
        "margin" => Measure::Margin(low),
        "enrichment_factor" => Measure::Screening(Screening::Enrichment(low)),
        "rie" => Measure::Screening(Screening::Rie(low)),
        "bedroc" => Measure::Screening(Screening::Bedroc(low)),
        other => return Err(PyValueError::new_err(format!("no such measure: {other:?}"))),
    })
}

/// The AUC of labels and scores that are already valid arrays; see `rocmax_core::curve::auc`.
#[pyfunction]
pub(crate) fn auc(
    py: Python<'_>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    n_threads: usize,
) -> PyResult<Py<PyAny>> {
    run(py, &y_true, &y_score, None, Measure::Auc, n_threads)
}

/// One number, or one a column of `y_score`; see `rocmax_core::curve::measure`.
#[pyfunction]
pub(crate) fn measure(
    py: Python<'_>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    sample_weight: Weights<'_>,
    measure: Key,
    n_threads: usize,
) -> PyResult<Py<PyAny>> {
    run(py, &y_true, &y_score, weights(&sample_weight)?, measure.0, n_threads)
}

/// The AUC and, by class, the squares of its components about their mean; see `rocmax_core::curve::auc_moments`.
#[pyfunction]
pub(crate) fn auc_moments(
    py: Python<'_>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    n_threads: usize,
) -> PyResult<(f64, [f64; 2], [usize; 2])> {
    fn of<S: Pooled>(
        py: Python<'_>,
        labels: &Labels<'_>,
        scores: &[S],
        n_threads: usize,
    ) -> PyResult<(f64, [f64; 2], [usize; 2])> {
        // Sums of squares are counted on all threads where those of pairs still are on one.
        let work = if n_threads > 1 { 2 * scores.len() } else { counting_size(scores.len(), 1) };
        let need = Need { work, bytes: COUNT * scores.len() };
        let (value, squares) = super::enter(py, n_threads, need, |ctx| {
            scratch::with(|scratch| curve::auc_moments(labels, scores, scratch, ctx))
        })?;
        Ok((value, squares, [labels.n_pos(), labels.n_neg()]))
    }
    let labels = y_true.labels()?;
    match &y_score {
        ScoreArray::F64(a) => of(py, &labels, a.as_slice()?, n_threads),
        ScoreArray::F32(a) => of(py, &labels, a.as_slice()?, n_threads),
        _ => Err(PyTypeError::new_err("moments are of one score vector")),
    }
}

fn run(
    py: Python<'_>,
    y_true: &LabelArray<'_>,
    y_score: &ScoreArray<'_>,
    weights: Option<&[f64]>,
    measure: Measure,
    n_threads: usize,
) -> PyResult<Py<PyAny>> {
    let labels = y_true.labels()?;
    match y_score {
        ScoreArray::F64(a) => one(py, &labels, a.as_slice()?, weights, measure, n_threads),
        ScoreArray::F32(a) => one(py, &labels, a.as_slice()?, weights, measure, n_threads),
        ScoreArray::F64s(a) => many(py, &labels, a.as_array(), weights, measure, n_threads),
        ScoreArray::F32s(a) => many(py, &labels, a.as_array(), weights, measure, n_threads),
    }
}

/// The size of a count of `n` scores: it takes a fourth of the time of a sort, so that up to half a million scores one
/// thread counts without being watched. Two threads are worth waking for half as many.
fn counting_size(n: usize, n_threads: usize) -> usize {
    n / if n_threads > 1 { 2 } else { 4 }
}

fn one<S: Pooled>(
    py: Python<'_>,
    labels: &Labels<'_>,
    scores: &[S],
    weights: Option<&[f64]>,
    measure: Measure,
    n_threads: usize,
) -> PyResult<Py<PyAny>> {
    let counted = weights.is_none() && !matches!(measure, Measure::Scored | Measure::Margin(_));
    let (work, bytes) = if counted { (counting_size(scores.len(), n_threads), COUNT) } else { (scores.len(), CURVE) };
    let value = super::enter(py, n_threads, Need { work, bytes: bytes * scores.len() }, |ctx| {
        scratch::with(|scratch| curve::measure(labels, scores, weights, measure, scratch, ctx))
    })?;
    Ok(value.into_pyobject(py)?.into_any().unbind())
}

fn many<S: Pooled>(
    py: Python<'_>,
    labels: &Labels<'_>,
    scores: ArrayView2<'_, S>,
    weights: Option<&[f64]>,
    measure: Measure,
    n_threads: usize,
) -> PyResult<Py<PyAny>> {
    // At a time a curve for each thread, and the columns that it copies.
    let bytes = usize::min(n_threads, scores.ncols()) * (CURVE + 8 * COLUMNS) * scores.nrows() + 16 * scores.ncols();
    let values = super::enter(py, n_threads, Need { work: scores.len(), bytes }, |ctx| {
        each_column(scores, ctx, |column, ctx| {
            scratch::with(|scratch| curve::measure(labels, column, weights, measure, scratch, ctx))
        })
    })?;
    Ok(PyArray1::from_vec(py, values).into_any().unbind())
}

/// `f` of every column: columns in parallel, each on one thread, or one after another on all threads if they are few.
pub(crate) fn each_column<S, T, F>(scores: ArrayView2<'_, S>, ctx: &Ctx<'_>, f: F) -> Result<Vec<T>>
where
    S: Score,
    T: Send,
    F: Fn(&[S], &Ctx<'_>) -> Result<T> + Sync,
{
    let n_models = scores.ncols();
    let one = |column: &[S], ctx: &Ctx<'_>| ctx.check().and_then(|()| f(column, ctx));
    let share = |from: usize, to: usize, ctx: &Ctx<'_>| -> Result<Vec<T>> {
        let (mut room, mut found) = (vec![], vec![]);
        for first in (from..to).step_by(COLUMNS) {
            let part = scores.slice_axis_move(Axis(1), Slice::from(first..usize::min(first + COLUMNS, to)));
            for column in in_place(part).unwrap_or_else(|| copied(part, &mut room)) {
                found.push(one(column, ctx)?);
            }
        }
        Ok(found)
    };
    let n_shares = usize::min(n_models.div_ceil(COLUMNS), SHARES * ctx.n_threads());
    let groups: Vec<Vec<T>> = if n_shares >= ctx.n_threads() {
        let len = n_models.div_ceil(n_shares).next_multiple_of(COLUMNS);
        let firsts = (0..n_models).step_by(len).collect();
        let each = |first| share(first, usize::min(first + len, n_models), &ctx.alone());
        ctx.map(firsts, each)?.into_iter().collect::<Result<_>>()?
    } else {
        vec![share(0, n_models, ctx)?]
    };
    Ok(groups.into_iter().flatten().collect())
}
