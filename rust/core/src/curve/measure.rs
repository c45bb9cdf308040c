//! The measures by name, and the shortest exact way to each.

use std::ops::RangeInclusive;

use crate::count::{Counting, Limits, PairCounts, Wanted, pair_counts};
use crate::curve::empirical::{Curve, Normalize};
use crate::curve::mean::{Area, Mean, Precision};
use crate::curve::partial::{Room, Tail};
use crate::curve::screening::Screening;
use crate::data::Column;
use crate::data::float::Score;
use crate::data::labels::Labels;
use crate::{Ctx, Error, RateRange, Result};

/// Buffers that are kept from call to call: fresh memory costs as much as the counting.
#[derive(Debug, Default)]
pub struct Scratch {
    wide: Buffers<f64>,
    narrow: Buffers<f32>,
}

/// Buffers for scores of one type.
#[derive(Debug, Default)]
struct Buffers<S: Score> {
    counting: Counting<S>,
    tail: Room<S>,
}

impl Scratch {
    /// Buffers of calls that count with other limits, for tests and benchmarks.
    #[doc(hidden)]
    pub fn with_limits(limits: Limits) -> Self {
        let wide = Buffers { counting: Counting::with_limits(limits), ..Buffers::default() };
        let narrow = Buffers { counting: Counting::with_limits(limits), ..Buffers::default() };
        Self { wide, narrow }
    }
}

/// What is measured of a curve: one number.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Measure {
    /// The area under the curve, ties 1/2.
    Auc,
    /// The area over a range of false positive rates.
    Partial(RateRange, Normalize),
    /// The area over a range of true positive rates, of 1 - FPR over 1 - TPR; the range is of 1 - TPR.
    PartialTpr(RateRange, Normalize),
    /// The ranked partial AUC, ties 0.
    Ranked(RateRange),
    /// The true positive rate at a false positive rate, 0 to 1.
    TprAtFpr(f64),
    /// The false positive rate at a true positive rate, 0 to 1.
    FprAtTpr(f64),
    /// The mean over pairs of `max(0, s - t)`.
    Scored,
    /// The mean over pairs of `1[s - t > margin]`, not NaN.
    Margin(f64),
    /// The mean precision at the scores of the positives, at a share of positives above 0 and below 1, if given, or
    /// that of the samples.
    AveragePrecision(Option<f64>),
    /// How early the positives come among all samples.
    Screening(Screening),
}

impl Measure {
    /// The area over a range of false positive rates, divided by its width, as `0.0..=0.1`.
    ///
    /// # Errors
    /// [`Error::Domain`] unless `0 <= low < high <= 1`.
    pub fn partial_auc(range: RangeInclusive<f64>) -> Result<Self> {
        Ok(Measure::Partial(range.try_into()?, Normalize::Width))
    }

    /// Checks the number of a measure: every function that takes one does so before it computes anything.
    pub(crate) fn check(self) -> Result<()> {
        match self {
            Measure::TprAtFpr(fpr) => Error::check_rate("fpr", fpr),
            Measure::FprAtTpr(tpr) => Error::check_rate("tpr", tpr),
            Measure::Margin(margin) => Error::check_number("margin", "a number", margin, !margin.is_nan()),
            Measure::AveragePrecision(Some(share)) => {
                let holds = (f64::MIN_POSITIVE..1.0).contains(&share);
                Error::check_number("prevalence", "above 0 and below 1", share, holds)
            }
            Measure::Screening(screening) => screening.check(),
            _ => Ok(()),
        }
    }

    /// The greatest false positive rate that matters, unless it is that of the curve's end.
    pub(crate) fn reach(self) -> Option<f64> {
        match self {
            Measure::Partial(range, _) => Some(range.high()),
            Measure::TprAtFpr(fpr) => Some(fpr),
            _ => None,
        }
    }
}

impl Curve {
    /// The value of `measure`. O(number of distinct scores).
    ///
    /// # Errors
    /// [`Error::Domain`] for a number that the measure does not take, and for a scored AUC beyond the greatest float64.
    pub fn measure(&self, measure: Measure) -> Result<f64> {
        measure.check()?;
        Ok(match measure {
            Measure::Auc => Area::default().of(&self.steps),
            Measure::Partial(range, normalize) => normalize.apply(self.partial(range), range),
            Measure::PartialTpr(range, normalize) => normalize.apply(self.mirrored().partial(range), range),
            Measure::Ranked(range) => self.ranked_partial_auc(range),
            Measure::TprAtFpr(fpr) => self.tpr_at_fpr(fpr),
            Measure::FprAtTpr(tpr) => self.fpr_at_tpr(tpr),
            Measure::Scored => self.scored_auc()?,
            Measure::Margin(margin) => self.margin_auc(margin),
            Measure::AveragePrecision(prevalence) => self.precision(prevalence).of(&self.steps),
            Measure::Screening(screening) => screening.of(self),
        })
    }

    /// [`auc_moments`] of the samples of this curve, of which each has weight 1, to the bit. O(number of distinct
    /// scores).
    pub fn auc_moments(&self) -> (f64, [f64; 2]) {
        let blocks = self.steps.iter().rev().map(|step| [step.pos, step.neg].map(|size| u64::from(size as u32)));
        moments_of_counts([self.pos as u128, self.neg as u128], PairCounts::of_blocks(blocks))
    }
}

/// The value of `measure` for one score vector. O(N) expected, but O(N log N) with weights and for measures of the
/// scores themselves. `scratch` is kept from call to call.
///
/// # Errors
/// Those of [`Curve::new`] and [`Curve::measure`]; [`Error::Domain`] for fractional weights with [`Measure::Ranked`].
pub fn measure(
    labels: &Labels<'_>,
    scores: Column<'_>,
    weights: Option<&[f64]>,
    measure: Measure,
    scratch: &mut Scratch,
    ctx: &Ctx<'_>,
) -> Result<f64> {
    measure.check()?;
    if matches!(measure, Measure::Ranked(_)) && weights.is_some_and(|w| w.iter().any(|x| x.fract() != 0.0)) {
        return Err(Error::domain("weights", "whole numbers for a ranked area", "fractions"));
    }
    if weights.is_none() {
        let of_range = match &scores {
            _ if measure == Measure::Auc => {
                let won = counts(labels, &scores, Wanted::Pairs, scratch, ctx)?.doubled();
                Some(won as f64 / (2 * labels.n_pos() as u128 * labels.n_neg() as u128) as f64)
            }
            Column::F64(scores) => of_range(labels, scores, measure, &mut scratch.wide, ctx)?,
            Column::F32(scores) => of_range(labels, scores, measure, &mut scratch.narrow, ctx)?,
        };
        if let Some(value) = of_range {
            return Ok(value);
        }
    }
    let scores = scores.wide();
    match measure {
        Measure::Auc => Area::default().of_samples(labels, &scores, weights, ctx),
        Measure::AveragePrecision(None) => Precision::of_odds(1.0).of_samples(labels, &scores, weights, ctx),
        _ => Curve::new(labels, &scores, weights, ctx)?.measure(measure),
    }
}

fn counts(
    labels: &Labels<'_>,
    scores: &Column<'_>,
    wanted: Wanted,
    scratch: &mut Scratch,
    ctx: &Ctx<'_>,
) -> Result<PairCounts> {
    match scores {
        Column::F64(scores) => pair_counts(labels, scores, wanted, &mut scratch.wide.counting, ctx),
        Column::F32(scores) => pair_counts(labels, scores, wanted, &mut scratch.narrow.counting, ctx),
    }
}

/// The value of a measure of a range or at a rate; `None` for others.
fn of_range<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    measure: Measure,
    Buffers { counting, tail }: &mut Buffers<S>,
    ctx: &Ctx<'_>,
) -> Result<Option<f64>> {
    let kept = (tail, counting);
    let tail = |rate, mirrored| Tail::new(labels, scores, rate, mirrored, kept, ctx);
    Ok(Some(match measure {
        Measure::Partial(range, normalize) => normalize.apply(tail(range.high(), false)?.partial(range, ctx)?, range),
        Measure::PartialTpr(range, normalize) => normalize.apply(tail(range.high(), true)?.partial(range, ctx)?, range),
        Measure::Ranked(range) => tail(range.high(), false)?.ranked_partial_auc(range, ctx)?,
        Measure::TprAtFpr(fpr) => tail(fpr, false)?.tpr_at_fpr(fpr, ctx)?,
        Measure::FprAtTpr(tpr) => tail(1.0 - tpr, true)?.fpr_at_tpr(tpr, ctx)?,
        _ => return Ok(None),
    }))
}

/// The mean over all pairs of `1[s > t] + 1/2 1[s = t]`: twice the number of won pairs is an integer, divided once.
///
/// O(N) expected, without a sort; `scratch` is kept from call to call.
///
/// # Errors
/// [`Error::Length`] and [`Error::NonFinite`] for bad scores, [`Error::Interrupted`].
pub fn auc(labels: &Labels<'_>, scores: Column<'_>, scratch: &mut Scratch, ctx: &Ctx<'_>) -> Result<f64> {
    measure(labels, scores, None, Measure::Auc, scratch, ctx)
}

/// The AUC and the squares of its components about their mean, all from integers; the cubes are not counted. O(N)
/// expected.
///
/// # Errors
/// Those of [`auc`].
pub fn auc_moments(
    labels: &Labels<'_>,
    scores: Column<'_>,
    scratch: &mut Scratch,
    ctx: &Ctx<'_>,
) -> Result<(f64, [f64; 2])> {
    let counts = counts(labels, &scores, Wanted::Squares, scratch, ctx)?;
    Ok(moments_of_counts([labels.n_pos() as u128, labels.n_neg() as u128], counts))
}

/// The same by the sizes of the classes and the counts of their pairs.
fn moments_of_counts(sizes: [u128; 2], counts: PairCounts) -> (f64, [f64; 2]) {
    let (pairs, doubled) = (2 * sizes[0] * sizes[1], counts.doubled());
    let squares = [0, 1].map(|class| {
        let (size, other) = (sizes[class], sizes[1 - class]);
        let sum = if class == 0 { doubled } else { pairs - doubled };
        let spread = size * counts.squares[class] - sum * sum;
        spread as f64 / (size as f64 * (2.0 * other as f64).powi(2))
    });
    (doubled as f64 / pairs as f64, squares)
}

#[cfg(test)]
#[path = "../../tests/unit/curve_measure.rs"]
mod tests;
