//! Rules that choose a threshold: the best point of the curve by some loss.

use std::iter;

use crate::curve::empirical::{Curve, most_called};
use crate::curve::walk::Step;

/// Losses that differ by less are equal.
const ROUNDING: f64 = 1e-12;

/// How a threshold is chosen; scores of at least the threshold are called positive. Among points that are equal by a
/// rule, the one with the highest threshold is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// The given threshold.
    At(f64),
    /// The largest TPR with an FPR of at most this.
    Fpr(f64),
    /// The largest TPR with a specificity of at least this.
    Specificity(f64),
    /// The least FPR with a TPR of at least this, and there the largest TPR.
    Sensitivity(f64),
    /// Where the false positive rate and the false negative rate are closest.
    Eer,
    /// The largest TPR - r FPR.
    Youden(f64),
    /// The least (1 - TPR)^2 + r FPR^2.
    Closest(f64),
    /// The lowest cost, if a false positive costs as much as this many false negatives.
    Cost(f64),
    /// Halfway between the lowest positive and the highest negative score of positive weight.
    Midpoint,
    /// As many samples called positive as possible, but at most this total weight, or below 1 this share of all.
    Alerts(f64),
}

/// A threshold, and the samples it calls positive.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    pub fn cut(self, curve: &Curve) -> Cut {
        self.choose(curve.steps(), curve.walk().map(|placed| placed.up_to), [curve.pos(), curve.neg()])
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ctx;
    use crate::data::Labels;
    use crate::testing::{sample, uniform};

    /// Threshold, TPR and FPR of all cuts, from the highest threshold down.
    fn cuts(curve: &Curve) -> Vec<(f64, f64, f64)> {
        let total = |f: fn(&Step) -> f64, from: f64| -> f64 {
            curve.steps().iter().filter(|step| step.score >= from).map(f).sum()
        };
        let thresholds = iter::once(f64::INFINITY).chain(curve.steps().iter().map(|step| step.score));
        thresholds.map(|t| (t, total(|s| s.pos, t) / curve.pos(), total(|s| s.neg, t) / curve.neg())).collect()
    }

    #[test]
    fn no_cut_is_better() {
        let mut next = uniform(5);
        for (n, levels) in [(2, 9.0), (7, 3.0), (60, 8.0), (60, 1e9), (200, 30.0)] {
            for weighted in [false, true] {
                let (labels, scores) = sample(n, 0.4, levels, &mut next);
                let weights: Vec<f64> = labels.iter().map(|_| 0.1 + next()).collect();
                let weights = weighted.then_some(&weights[..]);
                let curve = Curve::new(&Labels::new(&labels).unwrap(), &scores, weights, &Ctx::serial()).unwrap();
                let all = cuts(&curve);
                let check = |rule: Rule, loss: &dyn Fn(f64, f64) -> f64| {
                    let least = all.iter().map(|c| loss(c.1, c.2)).fold(f64::INFINITY, f64::min);
                    let best = all.iter().find(|c| loss(c.1, c.2) <= least + 1e-11).unwrap();
                    let found = rule.cut(&curve);
                    assert_eq!(found.threshold, best.0, "{rule:?}");
                    assert!((found.called[0] / curve.pos() - best.1).abs() < 1e-12);
                    assert!((found.called[1] / curve.neg() - best.2).abs() < 1e-12);
                };
                for rate in [0.0, 0.05, 0.1, 0.3, 0.5, 0.9, 1.0] {
                    let beyond = |wrong: bool| if wrong { f64::INFINITY } else { 0.0 };
                    check(Rule::Fpr(rate), &|tpr, fpr| beyond(fpr > rate + 1e-11) - tpr);
                    check(Rule::Specificity(rate), &|tpr, fpr| beyond(1.0 - fpr < rate - 1e-11) - tpr);
                    check(Rule::Sensitivity(rate), &|tpr, fpr| beyond(tpr < rate - 1e-11) + fpr - 1e-6 * tpr);
                    let r = 2.0 * rate;
                    check(Rule::Youden(r), &|tpr, fpr| r * fpr - tpr);
                    check(Rule::Closest(r), &|tpr, fpr| (1.0 - tpr).powi(2) + r * fpr * fpr);
                    check(Rule::Cost(r), &|tpr, fpr| r * curve.neg() / curve.pos() * fpr - tpr);
                }
                for budget in [1e-9, 0.05, 0.3, 0.999, 1.0, 5.0, 1e9] {
                    let most = if budget < 1.0 { budget * (curve.pos() + curve.neg()) } else { budget };
                    check(Rule::Alerts(budget), &|tpr, fpr| {
                        let called = tpr * curve.pos() + fpr * curve.neg();
                        if called > most * (1.0 + 1e-9) { f64::INFINITY } else { -called }
                    });
                }
                check(Rule::Eer, &|tpr, fpr| (fpr - (1.0 - tpr)).abs());
                for &(threshold, ..) in &all {
                    assert_eq!(Rule::At(threshold).cut(&curve).threshold, threshold);
                    check(Rule::At(threshold), &|tpr, fpr| {
                        let own = all.iter().find(|c| c.0 == threshold).unwrap();
                        f64::from(u8::from((tpr, fpr) != (own.1, own.2)))
                    });
                }
            }
        }
    }

    #[test]
    fn of_two_cuts_as_near_to_equal_rates_the_higher_is_taken() {
        // Rates of m positives and n negatives are thirds, sevenths and so on: their differences round to either side.
        for (m, n) in (2..12).flat_map(|m| (2..12).map(move |n| (m, n))) {
            for (tp, fp) in (0..m).flat_map(|tp| (0..n).map(move |fp| (tp, fp))) {
                // The excess of false positives over false negatives, times m n: before the block of ties, and after.
                let excess = |tp: i32, fp: i32| fp * m - (m - tp) * n;
                if let Some(more) = (1..=m - tp).find(|more| excess(tp + more, fp) == -excess(tp, fp)) {
                    let class = |count: i32, of: bool| iter::repeat_n(of, usize::try_from(count).unwrap());
                    let blocks = [(tp, true, 3.0), (fp, false, 3.0), (more, true, 2.0)];
                    let last = [(m - tp - more, true, 1.0), (n - fp, false, 1.0)];
                    let drawn = blocks.into_iter().chain(last).flat_map(|(k, of, s)| class(k, of).map(move |l| (l, s)));
                    let (labels, scores): (Vec<bool>, Vec<f64>) = drawn.unzip();
                    let curve = Curve::new(&Labels::new(&labels).unwrap(), &scores, None, &Ctx::serial()).unwrap();
                    let found = Rule::Eer.cut(&curve).threshold;
                    assert_eq!(found, if tp + fp == 0 { f64::INFINITY } else { 3.0 }, "{m} {n} {tp} {fp}");
                }
            }
        }
    }

    #[test]
    fn midpoint_is_between_the_classes() {
        let curve = |scores: &[f64]| {
            Curve::new(&Labels::new(&[false, false, true, true]).unwrap(), scores, None, &Ctx::serial()).unwrap()
        };
        let apart = Rule::Midpoint.cut(&curve(&[0.0, 1.0, 4.0, 5.0]));
        assert_eq!((apart.threshold, apart.called), (2.5, [2.0, 0.0]));
        let crossed = Rule::Midpoint.cut(&curve(&[0.0, 4.0, 1.0, 5.0]));
        assert_eq!((crossed.threshold, crossed.called), (2.5, [1.0, 1.0]));
    }
}
