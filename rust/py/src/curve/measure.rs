//! Point estimates: one number per model.

use numpy::PyArray1;
use numpy::ndarray::{ArrayView2, Axis, Slice};
use pyo3::prelude::*;
use rocmax_core::curve::{self, Screening};
use rocmax_core::{Column, Ctx, Result};

use super::scratch::SCRATCH;
use super::{COUNT, CURVE};
use crate::data::array::{COLUMNS, LabelArray, ScoreArray, Weights, copied, in_place, weights};
use crate::data::range;
use crate::gate::Need;
use crate::values::values;

/// Tasks per thread.
const SHARES: usize = 4;

values! {
    /// What a partial area is divided by; see `rocmax_core::curve::Normalize`.
    Normalize: curve::Normalize,
    none() => curve::Normalize::None;
    width() => curve::Normalize::Width;
    mcclish() => curve::Normalize::McClish;
}

values! {
    /// A measure; see `rocmax_core::curve::Measure`.
    Measure: curve::Measure,
    auc() => curve::Measure::Auc;
    partial(low: f64, high: f64, normalize: &Normalize) => curve::Measure::Partial(range(low, high)?, normalize.0);
    partial_tpr(low: f64, high: f64, normalize: &Normalize) => curve::Measure::PartialTpr(range(low, high)?, normalize.0);
    ranked(low: f64, high: f64) => curve::Measure::Ranked(range(low, high)?);
    tpr_at_fpr(fpr: f64) => curve::Measure::TprAtFpr(fpr);
    fpr_at_tpr(tpr: f64) => curve::Measure::FprAtTpr(tpr);
    scored() => curve::Measure::Scored;
    margin(margin: f64) => curve::Measure::Margin(margin);
    average_precision(prevalence: Option<f64>) => curve::Measure::AveragePrecision(prevalence);
    enrichment_factor(fraction: f64) => curve::Measure::Screening(Screening::Enrichment(fraction));
    rie(alpha: f64) => curve::Measure::Screening(Screening::Rie(alpha));
    bedroc(alpha: f64) => curve::Measure::Screening(Screening::Bedroc(alpha));
}

/// The work of a count of `n` scores: a fourth of that of a sort, so that one thread counts up to half a million scores
/// unwatched. Two threads are worth waking for half as many.
fn counting_size(n: usize, n_threads: usize) -> usize {
    n / if n_threads > 1 { 2 } else { 4 }
}

/// One number, or one per column of `y_score`; see `rocmax_core::curve::measure`.
#[pyfunction]
pub(crate) fn measure(
    py: Python<'_>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    sample_weight: Weights<'_>,
    measure: &Measure,
    n_threads: usize,
) -> PyResult<Py<PyAny>> {
    let (labels, weights, measure) = (y_true.labels()?, weights(&sample_weight)?, measure.0);
    let value = |scores: Column<'_>, ctx: &Ctx<'_>| {
        SCRATCH.lend(labels.n_samples(), |kept| curve::measure(&labels, scores, weights, measure, kept, ctx))
    };
    match &y_score {
        ScoreArray::F64s(a) => many(py, a.as_array(), n_threads, value),
        ScoreArray::F32s(a) => many(py, a.as_array(), n_threads, value),
        _ => {
            let (scores, n) = (y_score.column()?, labels.n_samples());
            let counted = weights.is_none() && !matches!(measure, curve::Measure::Scored | curve::Measure::Margin(_));
            let (work, bytes) = if counted { (counting_size(n, n_threads), COUNT) } else { (n, CURVE) };
            let value = super::enter(py, n_threads, Need { work, bytes: bytes * n }, |ctx| value(scores, ctx))?;
            Ok(value.into_pyobject(py)?.into_any().unbind())
        }
    }
}

/// The AUC and, by class, the sum of squares of its centred components; see `rocmax_core::curve::auc_moments`.
#[pyfunction]
pub(crate) fn auc_moments(
    py: Python<'_>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    n_threads: usize,
) -> PyResult<(f64, [f64; 2])> {
    let (labels, scores) = (y_true.labels()?, y_score.column()?);
    let n = labels.n_samples();
    // Squares are worth all threads where pairs are not yet.
    let work = if n_threads > 1 { 2 * n } else { counting_size(n, 1) };
    super::enter(py, n_threads, Need { work, bytes: COUNT * n }, |ctx| {
        SCRATCH.lend(n, |kept| curve::auc_moments(&labels, scores, kept, ctx))
    })
}

/// `value` of every column: columns in parallel, or one after another on all threads if they are few.
fn many<S: Copy + Default + Sync>(
    py: Python<'_>,
    scores: ArrayView2<'_, S>,
    n_threads: usize,
    value: impl Fn(Column<'_>, &Ctx<'_>) -> Result<f64> + Sync + Send,
) -> PyResult<Py<PyAny>>
where
    for<'a> Column<'a>: From<&'a [S]>,
{
    let n_models = scores.ncols();
    let share = |from: usize, to: usize, ctx: &Ctx<'_>| {
        let (mut room, mut found) = (vec![], vec![]);
        for first in (from..to).step_by(COLUMNS) {
            let part = scores.slice_axis_move(Axis(1), Slice::from(first..usize::min(first + COLUMNS, to)));
            for column in in_place(part).unwrap_or_else(|| copied(part, &mut room)) {
                ctx.check()?;
                found.push(value(column.into(), ctx)?);
            }
        }
        Ok(found)
    };
    // A curve and copied columns for each thread.
    let bytes = usize::min(n_threads, n_models) * (CURVE + 8 * COLUMNS) * scores.nrows() + 16 * n_models;
    let values = super::enter(py, n_threads, Need { work: scores.len(), bytes }, |ctx| {
        let n_shares = usize::min(n_models.div_ceil(COLUMNS), SHARES * ctx.n_threads());
        if n_shares < ctx.n_threads() {
            return share(0, n_models, ctx);
        }
        let len = n_models.div_ceil(n_shares).next_multiple_of(COLUMNS);
        let each = |first| share(first, usize::min(first + len, n_models), &ctx.alone());
        Ok(ctx.try_map((0..n_models).step_by(len).collect(), each)?.concat())
    })?;
    Ok(PyArray1::from_vec(py, values).into_any().unbind())
}
