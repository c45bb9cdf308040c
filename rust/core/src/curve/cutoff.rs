//! Rules that choose a threshold: the best point of the curve by some loss.

use std::iter;

use crate::curve::empirical::{Curve, most_called};
use crate::curve::walk::Step;
use crate::{Error, Result};

/// Losses that differ by less are equal.
const ROUNDING: f64 = 1e-12;

/// How a threshold is chosen; scores of at least the threshold are called positive. Among points that are equal by a
/// rule, the one with the highest threshold is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Rule {
    /// The given threshold, not NaN.
    At(f64),
    /// The largest TPR with an FPR of at most this, 0 to 1 as the rates below.
    Fpr(f64),
    /// The largest TPR with a specificity of at least this.
    Specificity(f64),
    /// The least FPR with a TPR of at least this, and there the largest TPR.
    Sensitivity(f64),
    /// Where the false positive rate and the false negative rate are closest.
    Eer,
    /// The largest TPR - r FPR, for a finite r of at least 0 as below.
    Youden(f64),
    /// The least (1 - TPR)^2 + r FPR^2.
    Closest(f64),
    /// The lowest cost, if a false positive costs as much as this many false negatives.
    Cost(f64),
    /// Halfway between the lowest positive and the highest negative score of positive weight.
    Midpoint,
    /// As many samples called positive as possible, but at most this total weight, or below 1 this share of all; above
    /// 0.
    Alerts(f64),
}

/// A threshold, and the samples it calls positive.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Cut {
    /// The threshold; infinite if no sample is called positive.
    pub threshold: f64,
    /// The number of distinct scores that are called positive.
    pub n_called: usize,
    /// The weight of the positives and of the negatives that are called positive.
    pub called: [f64; 2],
}

/// A point of the curve: the number of distinct scores called positive, and the weight of each class there.
type Point = (usize, [f64; 2]);

impl Rule {
    /// The threshold on a curve. O(number of distinct scores).
    ///
    /// # Errors
    /// [`Error::Domain`] for a number that the rule does not take.
    pub fn cut(self, curve: &Curve) -> Result<Cut> {
        self.check()?;
        Ok(self.choose(curve.steps(), curve.walk().map(|placed| placed.up_to), [curve.pos(), curve.neg()]))
    }

    /// Checks the number of a rule.
    pub(crate) fn check(self) -> Result<()> {
        let factor = |name, r: f64| Error::check_number(name, "finite and at least 0", r, r >= 0.0 && r.is_finite());
        match self {
            Rule::At(threshold) => Error::check_number("threshold", "a number", threshold, !threshold.is_nan()),
            Rule::Fpr(rate) => Error::check_rate("fpr", rate),
            Rule::Specificity(rate) => Error::check_rate("specificity", rate),
            Rule::Sensitivity(rate) => Error::check_rate("sensitivity", rate),
            Rule::Youden(r) | Rule::Closest(r) => factor("the weight of the FPR", r),
            Rule::Cost(ratio) => factor("cost", ratio),
            Rule::Alerts(budget) => Error::check_number("alerts", "above 0", budget, budget > 0.0),
            Rule::Eer | Rule::Midpoint => Ok(()),
        }
    }

    /// The threshold, given the weight of each class at each of the steps or above.
    pub(crate) fn choose(
        self,
        steps: &[Step],
        sums: impl Iterator<Item = [f64; 2]> + Clone,
        [pos, neg]: [f64; 2],
    ) -> Cut {
        let points = || iter::once([0.0; 2]).chain(sums.clone()).enumerate();
        let (of_pos, of_neg) = (1.0 / pos, 1.0 / neg); // a division for each point would cost most
        let linear = |r: f64| move |[tp, fp]: [f64; 2]| r * (fp * of_neg) - tp * of_pos;
        let (n_called, called) = match self {
            Rule::At(threshold) => return at(threshold, steps, points()),
            Rule::Midpoint => return at(midpoint(steps, sums.clone(), pos), steps, points()),
            Rule::Fpr(rate) => within(points(), most_called(neg, rate)),
            Rule::Specificity(rate) => within(points(), most_called(neg, 1.0 - rate)),
            Rule::Sensitivity(rate) => {
                let missed = most_called(pos, 1.0 - rate);
                let mut reached = points().skip_while(|(_, [tp, _])| pos - tp > missed).peekable();
                let least = reached.peek().map_or(neg, |(_, [_, fp])| *fp);
                within(reached, least)
            }
            Rule::Eer => equal_rates(points(), [pos, neg]),
            Rule::Youden(r) => lowest(points(), linear(r)),
            // Beyond the limit only false positives matter, and a product with a rate of 0 must stay 0.
            Rule::Cost(ratio) => lowest(points(), linear(f64::min(ratio * (neg / pos), 1e300))),
            Rule::Alerts(budget) => {
                let all = pos + neg;
                let most = most_called(if budget < 1.0 { all } else { 1.0 }, budget);
                lowest(points(), |[tp, fp]| if tp + fp <= most { -(tp + fp) / all } else { f64::INFINITY })
            }
            Rule::Closest(r) => lowest(points(), |[tp, fp]| (1.0 - tp * of_pos).powi(2) + r * (fp * of_neg).powi(2)),
        };
        let threshold = n_called.checked_sub(1).map_or(f64::INFINITY, |last| steps[last].score);
        Cut { threshold, n_called, called }
    }
}

fn at(threshold: f64, steps: &[Step], mut points: impl Iterator<Item = Point>) -> Cut {
    let n_called = steps.partition_point(|step| step.score >= threshold);
    let (n_called, called) = points.nth(n_called).unwrap_or_default();
    Cut { threshold, n_called, called }
}

/// Halfway between the lowest step with positives and the highest with negatives.
fn midpoint(steps: &[Step], mut sums: impl Iterator<Item = [f64; 2]> + Clone, pos: f64) -> f64 {
    let score = |k: Option<usize>| k.map_or(f64::NAN, |k| steps[k].score);
    let lowest = score(sums.clone().position(|[tp, _]| tp >= pos));
    lowest / 2.0 + score(sums.position(|[_, fp]| fp > 0.0)) / 2.0
}

/// The first point with the largest true positive rate among those with at most this weight of negatives.
fn within(points: impl Iterator<Item = Point>, most: f64) -> Point {
    let allowed = points.take_while(|(_, [_, fp])| *fp <= most);
    allowed.reduce(|best, point| if point.1[0] > best.1[0] { point } else { best }).unwrap_or_default()
}

/// The first point of the lowest loss.
fn lowest(points: impl Iterator<Item = Point>, loss: impl Fn([f64; 2]) -> f64) -> Point {
    let losses = points.map(|point| (loss(point.1), point));
    losses.reduce(|best, next| if next.0 < best.0 - ROUNDING { next } else { best }).unwrap_or_default().1
}

/// The point closest to the diagonal from (0, 1) to (1, 0); of two that are as close, the one with fewer positives.
fn equal_rates(points: impl Iterator<Item = Point>, [pos, neg]: [f64; 2]) -> Point {
    let mut before = (f64::NEG_INFINITY, Point::default());
    for point in points {
        let excess = point.1[1] / neg - (pos - point.1[0]) / pos;
        if excess >= 0.0 {
            return if excess < -before.0 - ROUNDING { point } else { before.1 };
        }
        before = (excess, point);
    }
    before.1
}
