//! The measures by name, and the shortest exact way to each.

use crate::count::{Counting, Limits, Wanted, pair_counts};
use crate::curve::empirical::{Curve, Normalize};
use crate::curve::partial::{Room, Tail};
use crate::curve::screening::Screening;
use crate::data::float::Score;
use crate::data::labels::Labels;
use crate::{Ctx, Error, RateRange, Result};

/// Buffers that are kept from call to call: fresh memory costs as much as the counting.
#[derive(Debug, Default)]
pub struct Scratch<S: Score> {
    counting: Counting<S>,
    tail: Room<S>,
}

impl<S: Score> Scratch<S> {
    /// Of calls that count as they would with other limits: for tests and measurements.
    pub fn with_limits(limits: Limits) -> Self {
        Self { counting: Counting::with_limits(limits), ..Self::default() }
    }

    /// Bytes that are held.
    pub fn bytes(&self) -> usize {
        self.counting.bytes() + self.tail.bytes()
    }

    fn of_tail(&mut self) -> (&mut Room<S>, &mut Counting<S>) {
        (&mut self.tail, &mut self.counting)
    }
}

/// A type of scores for which measures are compiled once, and not by all who call them.
pub trait Measured: Score {
    #[doc(hidden)]
    fn measured(
        labels: &Labels<'_>,
        scores: &[Self],
        weights: Option<&[f64]>,
        measure: Measure,
        scratch: &mut Scratch<Self>,
        ctx: &Ctx<'_>,
    ) -> Result<f64>;
    #[doc(hidden)]
    fn moments(
        labels: &Labels<'_>,
        scores: &[Self],
        scratch: &mut Scratch<Self>,
        ctx: &Ctx<'_>,
    ) -> Result<(f64, [f64; 2])>;
}

macro_rules! measured {
    ($($kind:ty),*) => {$(
        impl Measured for $kind {
            fn measured(
                labels: &Labels<'_>,
                scores: &[Self],
                weights: Option<&[f64]>,
                measure: Measure,
                scratch: &mut Scratch<Self>,
                ctx: &Ctx<'_>,
            ) -> Result<f64> {
                value(labels, scores, weights, measure, scratch, ctx)
            }

            fn moments(
                labels: &Labels<'_>,
                scores: &[Self],
                scratch: &mut Scratch<Self>,
                ctx: &Ctx<'_>,
            ) -> Result<(f64, [f64; 2])> {
                moments(labels, scores, scratch, ctx)
            }
        }
    )*};
}

measured!(f32, f64);

/// What is measured of a curve: one number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// The area under the curve, ties 1/2.
    Auc,
    /// The area over a range of false positive rates.
    Partial(RateRange, Normalize),
    /// The area over a range of true positive rates, of 1 - FPR over 1 - TPR; the range is of 1 - TPR.
    PartialTpr(RateRange, Normalize),
    /// The ranked partial AUC, ties 0.
    Ranked(RateRange),
    /// The true positive rate at a false positive rate.
    TprAtFpr(f64),
    /// The false positive rate at a true positive rate.
    FprAtTpr(f64),
    /// The mean over pairs of `max(0, s - t)`.
    Scored,
    /// The mean over pairs of `1[s - t > margin]`.
    Margin(f64),
    /// How early the positives come among all samples.
    Screening(Screening),
}

impl Measure {
    /// The greatest false positive rate that decides, where that is not the end of the curve.
    pub(crate) fn reach(self) -> Option<f64> {
        match self {
            Measure::Partial(range, _) => Some(range.high()),
            Measure::TprAtFpr(fpr) => Some(fpr),
            _ => None,
        }
    }

    /// Whether the measure is a mean over pairs of samples, the same whatever the total weight.
    pub(crate) fn check(self, weights: Option<&[f64]>) -> Result<()> {
        let whole = || weights.is_none_or(|w| w.iter().all(|x| x.fract() == 0.0));
        if matches!(self, Measure::Ranked(_)) && !whole() {
            return Err(Error::Domain {
                name: "weights",
                domain: "whole numbers for a ranked area",
                value: "fractions".into(),
            });
        }
        Ok(())
    }
}

impl Curve {
    /// The value of `measure`. O(number of distinct scores).
    ///
    /// # Errors
    /// Those of [`Curve::scored_auc`]; [`Error::Domain`] for a margin that is NaN.
    pub fn measure(&self, measure: Measure) -> Result<f64> {
        Ok(match measure {
            Measure::Auc => self.auc(),
            Measure::Partial(range, normalize) => normalize.apply(self.partial(range), range),
            Measure::PartialTpr(range, normalize) => normalize.apply(self.mirrored().partial(range), range),
            Measure::Ranked(range) => self.ranked_partial_auc(range),
            Measure::TprAtFpr(fpr) => self.tpr_at_fpr(fpr),
            Measure::FprAtTpr(tpr) => self.fpr_at_tpr(tpr),
            Measure::Scored => self.scored_auc()?,
            Measure::Margin(margin) if margin.is_nan() => {
                return Err(Error::Domain { name: "margin", domain: "a number", value: margin.to_string() });
            }
            Measure::Margin(margin) => self.margin_auc(margin),
            Measure::Screening(screening) => screening.of(self),
        })
    }
}

/// The value of `measure` for one score vector. O(N) expected, but O(N log N) with weights and for measures of the
/// scores themselves. `scratch` is kept from call to call.
///
/// # Errors
/// Those of [`Curve::new`] and [`Curve::measure`]; [`Error::Domain`] for fractional weights with [`Measure::Ranked`].
pub fn measure<S: Measured>(
    labels: &Labels<'_>,
    scores: &[S],
    weights: Option<&[f64]>,
    measure: Measure,
    scratch: &mut Scratch<S>,
    ctx: &Ctx<'_>,
) -> Result<f64> {
    S::measured(labels, scores, weights, measure, scratch, ctx)
}

fn value<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    weights: Option<&[f64]>,
    measure: Measure,
    scratch: &mut Scratch<S>,
    ctx: &Ctx<'_>,
) -> Result<f64> {
    measure.check(weights)?;
    if weights.is_some() {
        return Curve::new(labels, scores, weights, ctx)?.measure(measure);
    }
    match measure {
        Measure::Auc => {
            let won = pair_counts(labels, scores, Wanted::Pairs, &mut scratch.counting, ctx)?.doubled();
            Ok(won as f64 / (2 * labels.n_pos() as u128 * labels.n_neg() as u128) as f64)
        }
        Measure::Partial(range, normalize) => {
            let tail = Tail::new(labels, scores, range.high(), false, scratch.of_tail(), ctx)?;
            Ok(normalize.apply(tail.partial(range, ctx)?, range))
        }
        Measure::PartialTpr(range, normalize) => {
            let tail = Tail::new(labels, scores, range.high(), true, scratch.of_tail(), ctx)?;
            Ok(normalize.apply(tail.partial(range, ctx)?, range))
        }
        Measure::Ranked(range) => {
            Tail::new(labels, scores, range.high(), false, scratch.of_tail(), ctx)?.ranked_partial_auc(range, ctx)
        }
        Measure::TprAtFpr(fpr) => Tail::new(labels, scores, fpr, false, scratch.of_tail(), ctx)?.tpr_at_fpr(fpr, ctx),
        Measure::FprAtTpr(tpr) => {
            Tail::new(labels, scores, 1.0 - tpr, true, scratch.of_tail(), ctx)?.fpr_at_tpr(tpr, ctx)
        }
        Measure::Scored | Measure::Margin(_) | Measure::Screening(_) => {
            Curve::new(labels, scores, None, ctx)?.measure(measure)
        }
    }
}

/// The mean over all pairs of `1[s > t] + 1/2 1[s = t]`: twice the number of won pairs is an integer, divided once.
///
/// O(N) expected, without a sort; `scratch` is kept from call to call.
///
/// # Errors
/// [`Error::Length`] and [`Error::NonFinite`] for bad scores, [`Error::Interrupted`].
pub fn auc<S: Measured>(labels: &Labels<'_>, scores: &[S], scratch: &mut Scratch<S>, ctx: &Ctx<'_>) -> Result<f64> {
    S::measured(labels, scores, None, Measure::Auc, scratch, ctx)
}

/// The AUC and the squares of its components about their mean, all from integers; the cubes are not counted. O(N)
/// expected.
///
/// # Errors
/// Those of [`auc`].
pub fn auc_moments<S: Measured>(
    labels: &Labels<'_>,
    scores: &[S],
    scratch: &mut Scratch<S>,
    ctx: &Ctx<'_>,
) -> Result<(f64, [f64; 2])> {
    S::moments(labels, scores, scratch, ctx)
}

fn moments<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    scratch: &mut Scratch<S>,
    ctx: &Ctx<'_>,
) -> Result<(f64, [f64; 2])> {
    let counts = pair_counts(labels, scores, Wanted::Squares, &mut scratch.counting, ctx)?;
    let sizes = [labels.n_pos() as u128, labels.n_neg() as u128];
    let pairs = 2 * sizes[0] * sizes[1];
    let sums = [counts.doubled(), pairs - counts.doubled()];
    let squares = |class: usize| {
        let (size, other) = (sizes[class], sizes[1 - class]);
        let spread = size * counts.squares[class] - sums[class] * sums[class];
        spread as f64 / (size as f64 * (2.0 * other as f64).powi(2))
    };
    Ok((sums[0] as f64 / pairs as f64, [squares(0), squares(1)]))
}
