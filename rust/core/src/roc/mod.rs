//! One model's scores by their front door: measures, intervals and paired tests, on the calling thread.

mod interval;
mod slope;
mod wilson;

use std::ops::RangeInclusive;

pub use interval::Interval;

use crate::curve::mean::{Area, Mean};
use crate::curve::{Curve, Measure};
use crate::interval::{cdf, quantile};
use crate::variance::{Placements, WeightKind, covariance_of_models};
use crate::{Column, Ctx, Error, Label, Labels, Result};

/// The ROC curve of one model, sorted once: its measures, their intervals, and tests against other models.
///
/// Labels and scores stay where they are. Any number of measures takes O(N) each after the O(N log N) of [`Roc::new`],
/// and intervals as much; what runs on several threads, on scores that come in parts or for many models at once is in
/// [`curve`](crate::curve) and [`variance`](crate::variance).
///
/// ```
/// use rocmax_core::{Roc, curve::Measure};
///
/// # fn main() -> rocmax_core::Result<()> {
/// let labels = [true, true, true, true, true, false, false, false, false, false];
/// let roc = Roc::new(&labels, &[9.0, 8.0, 7.0, 6.0, 2.0, 5.0, 4.0, 3.0, 2.0, 1.0])?;
/// assert_eq!(roc.auc(), 0.86);
/// assert_eq!(roc.partial_auc(0.0..=0.2)?, 0.8);
/// let found = roc.interval(Measure::Auc, 0.95)?;
/// assert!(found.low < 0.5 && found.estimate == 0.86 && found.high > 0.95);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Roc<'a> {
    labels: Labels<'a>,
    scores: Column<'a>,
    weights: Option<&'a [f64]>,
    curve: Curve,
}

/// The difference of a measure of two models of the same samples, the first minus the second, by [`Roc::compare`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Difference {
    /// The difference of the estimates.
    pub difference: f64,
    /// Its standard error; 0 if the samples show no variance, and then interval and p-value are too optimistic.
    pub standard_error: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The two-sided p-value of no difference.
    pub p_value: f64,
}

impl<'a> Roc<'a> {
    /// Labels of any common type, of which the greater value is positive, and scores, `f64` or `f32`. O(N log N).
    ///
    /// # Errors
    /// [`Error::OneClass`], [`Error::Length`], [`Error::TooLarge`]; [`Error::NonFinite`] naming `scores`;
    /// [`Error::Domain`] naming `labels` for a third value.
    pub fn new<L: Label, S>(labels: &'a [L], scores: &'a [S]) -> Result<Self>
    where
        Column<'a>: From<&'a [S]>,
    {
        Self::of(Labels::new(labels)?, scores.into(), None)
    }

    /// The same, with weights that count samples: one of weight w stands for w equal samples. Intervals of sampling
    /// weights are in the Python package alone.
    ///
    /// # Errors
    /// Those of [`Roc::new`]; [`Error::NonFinite`] and [`Error::Domain`] naming `weights`.
    pub fn weighted<L: Label, S>(labels: &'a [L], scores: &'a [S], weights: &'a [f64]) -> Result<Self>
    where
        Column<'a>: From<&'a [S]>,
    {
        Self::of(Labels::new(labels)?, scores.into(), Some(weights))
    }

    fn of(labels: Labels<'a>, scores: Column<'a>, weights: Option<&'a [f64]>) -> Result<Self> {
        let curve = Curve::new(&labels, &scores.wide(), weights, &Ctx::serial())?;
        Ok(Self { labels, scores, weights, curve })
    }

    /// The curve, with every distinct score.
    pub fn curve(&self) -> &Curve {
        &self.curve
    }

    /// The value of any measure.
    ///
    /// # Errors
    /// Those of [`Curve::measure`].
    pub fn measure(&self, measure: Measure) -> Result<f64> {
        self.curve.measure(measure)
    }

    /// The area under the curve: the share of the pairs in which the positive scores higher, ties 1/2.
    pub fn auc(&self) -> f64 {
        Area::default().of(&self.curve.steps)
    }

    /// The mean precision at the scores of the positives.
    pub fn average_precision(&self) -> f64 {
        self.curve.precision(None).of(&self.curve.steps)
    }

    /// The area over a range of false positive rates, divided by its width, as `0.0..=0.1`.
    ///
    /// # Errors
    /// [`Error::Domain`] unless `0 <= low < high <= 1`.
    pub fn partial_auc(&self, range: RangeInclusive<f64>) -> Result<f64> {
        self.measure(Measure::partial_auc(range)?)
    }

    /// The greatest true positive rate of a threshold whose false positive rate is at most `fpr`.
    ///
    /// # Errors
    /// [`Error::Domain`] unless `0 <= fpr <= 1`.
    pub fn tpr_at_fpr(&self, fpr: f64) -> Result<f64> {
        self.measure(Measure::TprAtFpr(fpr))
    }

    /// The least false positive rate of a threshold whose true positive rate is at least `tpr`.
    ///
    /// # Errors
    /// [`Error::Domain`] unless `0 <= tpr <= 1`.
    pub fn fpr_at_tpr(&self, tpr: f64) -> Result<f64> {
        self.measure(Measure::FprAtTpr(tpr))
    }

    /// A measure with its confidence interval, for example at the `level` 0.95: "logit-delong" of the Python package.
    ///
    /// The variance is DeLong's (DeLong, DeLong and Clarke-Pearson, 1988), the interval that of the log-odds by
    /// Student's t with the degrees of freedom of Welch and Satterthwaite, so that it stays between the bounds of the
    /// measure. An AUC or a margin AUC of 0 or 1, or with fewer than five samples in a class, has Newcombe's interval
    /// (2006, method 5), other measures that do not vary Wilson's. Rates take the other rate as fixed and the threshold
    /// as estimated (Linnet, 1987). Of partial areas decided by three negatives, 95 % intervals covered 88 % (normal
    /// scores, 30 positives, [0, 0.1]), by five and more 94 to 97 %; the Python package has others for so few.
    ///
    /// # Errors
    /// [`Error::Domain`] naming `level`, or a number of the measure; for a measure without components (ranked, early
    /// recognition); for a class of one sample, unless the measure is the AUC; for a scored AUC that does not vary.
    pub fn interval(&self, measure: Measure, level: f64) -> Result<Interval> {
        interval::interval(&self.curve, self.weights.is_none(), measure, level)
    }

    /// The difference of a measure from that of another model of the same samples, with DeLong's paired test: "delong"
    /// of the Python package.
    ///
    /// The difference is taken as normal, with the variance `var A + var B - 2 cov(A, B)`. With few samples, and where
    /// a model is nearly perfect, interval and p-value are too optimistic.
    ///
    /// # Errors
    /// Those of [`Roc::interval`]; [`Error::Domain`] naming `other` if its labels or weights differ.
    pub fn compare(&self, other: &Roc<'_>, measure: Measure) -> Result<Difference> {
        let same = self.labels.same(&other.labels) && self.weights == other.weights;
        if !same {
            return Err(Error::domain("other", "a model of the same labels and weights", "different ones"));
        }
        let models = [self.scores.clone(), other.scores.clone()];
        let factors = [slope::factors(&self.curve, measure)?, slope::factors(&other.curve, measure)?];
        let (kept, ctx) = (&mut Placements::default(), Ctx::serial());
        let found =
            covariance_of_models(&self.labels, &models, self.weights, WeightKind::Frequency, measure, kept, &ctx)?;
        let entry = |a: usize, b: usize| {
            let at = 2 * a + b;
            found.pos[at] * factors[a][0] * factors[b][0] + found.neg[at] * factors[a][1] * factors[b][1]
        };
        let both = entry(0, 0) + entry(1, 1);
        interval::check_variance(both)?;
        let apart = both - 2.0 * entry(0, 1);
        // Above the rounding of equal variances that cancel.
        let standard_error = if apart > 1e-14 * both { apart.sqrt() } else { 0.0 };
        let difference = found.estimates[0] - found.estimates[1];
        let distance = if difference == 0.0 { 0.0 } else { difference.abs() / standard_error };
        let (reach, span) = (quantile(0.975) * standard_error, interval::span(measure));
        Ok(Difference {
            difference,
            standard_error,
            low: f64::max(difference - reach, -span),
            high: f64::min(difference + reach, span),
            p_value: f64::min(2.0 * cdf(-distance), 1.0),
        })
    }
}
