//! Values, components and covariances of all measures against sums over pairs and over the vertices of the curve.

use proptest::prelude::*;
use rocmax_core::curve::{self, Curve, Measure, Normalize, Scratch, Screening};
use rocmax_core::variance::{Components, Placements, WeightKind, covariance, covariance_of_models};
use rocmax_core::{Column, Ctx, Error, Labels, RateRange};

use crate::curves::sums;
use crate::samples::{Sample, range, sample};

const TOLERANCE: f64 = 1e-6;

/// Labels, scores and weights of the samples.
#[derive(Clone)]
struct Rows(Vec<(bool, f64, f64)>);

impl Rows {
    fn of(s: &Sample) -> Self {
        let rows = s.problem.labels().iter().zip(&s.scores).zip(&s.weights);
        Self(rows.map(|((&label, &score), &weight)| (label, score, weight)).collect())
    }

    /// Exchanged classes and negated scores: 1 - TPR is the false positive rate.
    fn mirrored(&self) -> Self {
        Self(self.0.iter().map(|&(label, score, weight)| (!label, -score, weight)).collect())
    }

    /// The weight of a class, or of its scores that `kept` names.
    fn weight(&self, class: bool, kept: impl Fn(f64) -> bool) -> f64 {
        self.0.iter().filter(|row| row.0 == class && kept(row.1)).map(|row| row.2).sum()
    }

    /// The value and the components of the mean of `kernel(s, t)` over pairs.
    fn mean(&self, kernel: impl Fn(f64, f64) -> f64) -> (f64, Vec<f64>) {
        let of = |&(label, score, _): &(bool, f64, f64)| {
            let others = self.0.iter().filter(|row| row.0 != label);
            let pair = |other: f64| if label { kernel(score, other) } else { kernel(other, score) };
            others.map(|row| row.2 * pair(row.1)).sum::<f64>() / self.weight(!label, |_| true)
        };
        let parts: Vec<f64> = self.0.iter().map(of).collect();
        (self.mean_of(true, &parts), parts)
    }

    /// The mean of a value per sample over a class.
    fn mean_of(&self, class: bool, values: &[f64]) -> f64 {
        let of_class = self.0.iter().zip(values).filter(|(row, _)| row.0 == class);
        of_class.map(|(row, value)| row.2 * value).sum::<f64>() / self.weight(class, |_| true)
    }

    /// The area over a range of false positive rates, and its influence functions, averaged over ties.
    fn partial(&self, range: RateRange, normalize: Normalize) -> (f64, Vec<f64>) {
        let columns = |k: usize| self.0.iter().map(|row| [row.1, row.2][k]).collect::<Vec<_>>();
        let labels: Vec<bool> = self.0.iter().map(|row| row.0).collect();
        let sums = sums(&labels, &columns(0), &columns(1));
        let [_, m, n] = sums[sums.len() - 1];
        let ends: Vec<[f64; 2]> =
            [[0.0; 2]].into_iter().chain(sums.iter().map(|&[_, pos, neg]| [neg / n, pos / m])).collect();
        // The height just within the range: vertices at its ends may have moved by rounding.
        let (a, b) = (range.low(), range.high());
        let height = |x: f64| {
            let x = x.clamp(a + 1e-9, b - 1e-9);
            let segment = ends.windows(2).find(|pair| pair[0][0] <= x && x < pair[1][0]);
            segment.map_or(1.0, |pair| {
                let [[x0, y0], [x1, y1]] = [pair[0], pair[1]];
                y0 + (y1 - y0) * (x - x0) / (x1 - x0)
            })
        };
        // Of a function that is linear between these places.
        let integral = |of: &dyn Fn(f64) -> f64, mut places: Vec<f64>| {
            places.sort_by(f64::total_cmp);
            places.windows(2).map(|pair| (pair[1] - pair[0]) * of((pair[0] + pair[1]) / 2.0)).sum::<f64>()
        };
        let mean = |of: &dyn Fn(f64) -> f64, x0: f64, x1: f64| {
            let places = vec![x0, x1, a.clamp(x0, x1), b.clamp(x0, x1)];
            if x1 - x0 < 1e-9 { of((x0 + x1) / 2.0) } else { integral(of, places) / (x1 - x0) }
        };
        let clipped: Vec<f64> = ends.iter().map(|end| end[0].clamp(a, b)).chain([a, b]).collect();
        let area = integral(&height, clipped);
        let (width, chance) = (b - a, (b * b - a * a) / 2.0);
        let (value, scale) = match normalize {
            Normalize::None => (area, 1.0),
            Normalize::Width => (area / width, 1.0 / width),
            Normalize::McClish => ((1.0 + (area - chance) / (width - chance)) / 2.0, 0.5 / (width - chance)),
            other => panic!("no twin of {other:?}"),
        };
        let part = |&(label, score, _): &(bool, f64, f64)| {
            let [x0, x1] = [self.weight(false, |t| t > score) / n, self.weight(false, |t| t >= score) / n];
            let won = |x: f64| f64::min(b - a, f64::max(0.0, b - x));
            scale * if label { mean(&won, x0, x1) } else { mean(&height, x0, x1) }
        };
        (value, self.0.iter().map(part).collect())
    }

    /// The true positive rate at a false positive rate; who is called, and which negatives are not.
    fn tpr_at(&self, fpr: f64) -> (f64, Vec<f64>) {
        let most = fpr * self.weight(false, |_| true) * (1.0 + 1e-10);
        let called = |score: f64| self.weight(false, |t| t >= score) <= most;
        let parts: Vec<f64> = self.0.iter().map(|&(label, score, _)| f64::from(called(score) == label)).collect();
        (self.mean_of(true, &parts), parts)
    }

    /// The definition of a measure.
    fn twin(&self, measure: Measure) -> (f64, Vec<f64>) {
        match measure {
            Measure::Auc => self.mean(|s, t| if s == t { 0.5 } else { f64::from(s > t) }),
            Measure::Scored => self.mean(|s, t| f64::max(0.0, s - t)),
            Measure::Margin(margin) => self.mean(|s, t| f64::from(s - t > margin)),
            Measure::Partial(range, normalize) => self.partial(range, normalize),
            Measure::PartialTpr(range, normalize) => self.mirrored().partial(range, normalize),
            Measure::TprAtFpr(fpr) => self.tpr_at(fpr),
            Measure::FprAtTpr(tpr) => {
                let (missed, parts) = self.mirrored().tpr_at(1.0 - tpr);
                (1.0 - missed, parts.iter().map(|part| 1.0 - part).collect())
            }
            _ => unreachable!("no twin here"),
        }
    }
}

fn measure() -> impl Strategy<Value = Measure> {
    let normalize = prop_oneof![Just(Normalize::None), Just(Normalize::Width), Just(Normalize::McClish)];
    let rate = prop_oneof![0.0..=1.0, (0u32..=10).prop_map(|k| f64::from(k) / 10.0)];
    (0..7, range(), normalize, rate, -4i32..5).prop_map(|(kind, range, normalize, rate, margin)| match kind {
        0 => Measure::Auc,
        1 => Measure::Scored,
        2 => Measure::Margin(f64::from(margin) / 2.0),
        3 => Measure::Partial(range, normalize),
        4 => Measure::PartialTpr(range, normalize),
        5 => Measure::TprAtFpr(rate),
        _ => Measure::FprAtTpr(rate),
    })
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= TOLERANCE * f64::max(1.0, expected.abs())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn enrichment_shares_a_tie_that_the_first_samples_cut(s in sample(), share in 0.01f64..=1.0) {
        let rows = Rows::of(&s);
        let weight = |of: &dyn Fn(f64) -> bool| [true, false].map(|class| rows.weight(class, of));
        let [m, n] = weight(&|_| true);
        let part = |&(label, score, w): &(bool, f64, f64)| {
            let (above, tied) = (weight(&|t| t > score), weight(&|t| t == score));
            let first = share * (m + n) - above[0] - above[1];
            if label && w > 0.0 { w * (first / (tied[0] + tied[1])).clamp(0.0, 1.0) } else { 0.0 }
        };
        let expected = rows.0.iter().map(part).sum::<f64>() / m / share;
        let curve = Curve::new(&Labels::new(s.problem.labels()).unwrap(), &s.scores, Some(&s.weights), &Ctx::serial());
        let found = curve.unwrap().measure(Measure::Screening(Screening::Enrichment(share))).unwrap();
        prop_assert!(close(found, expected), "{found} {expected}");
    }

    #[test]
    fn components_and_covariances_follow_their_definitions(
        s in sample(),
        measure in measure(),
        kind in prop_oneof![Just(WeightKind::Frequency), Just(WeightKind::Sampling)],
    ) {
        let rows = [Rows::of(&s), Rows(Rows::of(&s).0.iter().zip(&s.other).map(|(r, &x)| (r.0, x, r.2)).collect())];
        let labels = s.problem.labels();
        let (classes, ctx) = (Labels::new(labels).unwrap(), Ctx::serial());
        let whole = s.weights.iter().all(|&w| w == 1.0);
        let weights = (!whole).then_some(&s.weights[..]);
        let models = [&s.scores, &s.other].map(|scores| Components::new(&classes, scores, weights, measure, &ctx).unwrap());
        let twins = rows.each_ref().map(|rows| rows.twin(measure));
        for (found, (value, parts)) in models.iter().zip(&twins) {
            prop_assert!(close(found.estimate, *value), "{measure:?}: {} {value}", found.estimate);
            for ((&found, &part), &weight) in found.values.iter().zip(parts).zip(&s.weights) {
                let expected = if weight > 0.0 { part } else { 0.0 };
                prop_assert!(close(found, expected), "{measure:?}: {found} {expected}");
            }
        }
        let alone = curve::measure(&classes, s.scores[..].into(), weights, measure, &mut Scratch::default(), &ctx);
        prop_assert!(close(alone.unwrap(), twins[0].0));

        let curve = Curve::new(&classes, &s.scores, weights, &ctx).unwrap();
        let again = Curve::of_steps(curve.steps().to_vec()).unwrap();
        prop_assert!(again == curve);
        let moments = again.moments(measure).unwrap();
        prop_assert!(close(moments.estimate, twins[0].0));
        let central = |class: bool, (a, b): (usize, usize), weight: &dyn Fn(f64) -> f64, power: i32| {
            let mean = [a, b].map(|model| rows[model].mean_of(class, &twins[model].1));
            let of = |i: usize| (twins[a].1[i] - mean[0]) * (twins[b].1[i] - mean[1]).powi(power);
            (0..labels.len()).filter(|&i| labels[i] == class).map(|i| weight(s.weights[i]) * of(i)).sum::<f64>()
        };
        for class in [0, 1] {
            prop_assert!(close(moments.squares[class], central(class == 0, (0, 0), &|w| w, 1)));
            prop_assert!(close(moments.cubes[class], central(class == 0, (0, 0), &|w| w, 2)));
        }

        let divisor = |class: bool| {
            let total = rows[0].weight(class, |_| true);
            let size = s.weights.iter().zip(labels).filter(|(w, l)| **w > 0.0 && **l == class).count() as f64;
            match kind {
                WeightKind::Frequency => total * (total - 1.0),
                _ => total * total * (size - 1.0) / size,
            }
        };
        let columns: Vec<Column<'_>> = [&s.scores, &s.other].map(|scores| scores[..].into()).into();
        let (by_parts, by_models) = (
            covariance(&classes, &models, weights, kind, &ctx),
            covariance_of_models(&classes, &columns, weights, kind, measure, &mut Placements::default(), &ctx),
        );
        if f64::min(divisor(true), divisor(false)) < 1e-3 {
            let no_variance = f64::min(divisor(true), divisor(false)) <= 0.0;
            prop_assert!(!no_variance || (by_parts.is_err() && by_models.is_err()));
            return Ok(());
        }
        let (by_parts, by_models) = (by_parts.unwrap(), by_models.unwrap());
        for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let weight = |w: f64| if kind == WeightKind::Frequency { w } else { w * w };
            let [pos, neg] = [true, false].map(|class| central(class, (a, b), &weight, 1) / divisor(class));
            for found in [&by_parts, &by_models] {
                prop_assert!(close(found.pos[2 * a + b], pos), "{} {pos}", found.pos[2 * a + b]);
                prop_assert!(close(found.neg[2 * a + b], neg), "{} {neg}", found.neg[2 * a + b]);
            }
            prop_assert!(close(by_models.estimates[a], twins[a].0) && close(by_parts.estimates[a], twins[a].0));
        }
        if whole {
            let (auc, squares) = curve::auc_moments(&classes, s.scores[..].into(), &mut Scratch::default(), &ctx).unwrap();
            let of_curve = curve.moments(Measure::Auc).unwrap();
            prop_assert!(close(auc, of_curve.estimate));
            prop_assert!(close(squares[0], of_curve.squares[0]) && close(squares[1], of_curve.squares[1]));
        }
    }
}

#[test]
fn differences_beyond_the_greatest_number_are_averaged_or_refused() {
    let (labels, ctx) = ([true, true, true, true, false], Ctx::serial());
    let of = |n_high: usize| {
        let scores: Vec<f64> = (0..5).map(|i| if i < n_high { f64::MAX } else { -f64::MAX }).collect();
        let curve = Curve::new(&Labels::new(&labels).unwrap(), &scores, None, &ctx).unwrap();
        (curve.measure(Measure::Scored), curve.moments(Measure::Scored))
    };
    let refused = |found: bool| assert!(found, "the mean or a component is infinite");
    assert_eq!(of(1).0, Ok(f64::MAX / 2.0));
    refused(matches!(of(1).1, Err(Error::Domain { name: "scores", .. })));
    refused(matches!(of(3).0, Err(Error::Domain { name: "scores", .. })));
}

#[test]
fn steps_that_are_no_curve_are_refused() {
    let step = |score, pos, neg| curve::Step { score, pos, neg };
    let bad = [(1.0, 1.0), (f64::INFINITY, 1.0), (2.0, -1.0), (2.0, f64::INFINITY), (2.0, f64::NAN)];
    for (score, weight) in bad {
        for swapped in [false, true] {
            let (pos, neg) = if swapped { (1.0, weight) } else { (weight, 1.0) };
            let found = Curve::of_steps(vec![step(score, pos, neg), step(1.0, 1.0, 1.0)]);
            assert!(matches!(found, Err(Error::Domain { name: "steps", .. })), "{score} {weight}");
        }
    }
    assert!(matches!(Curve::of_steps(vec![step(2.0, 1.0, 0.0)]), Err(Error::OneClass { .. })));
}

#[test]
fn components_are_exact_where_differences_are_beyond_the_greatest_number() {
    let (a, labels) = (f64::MAX * 0.75, [true, true, true, true, false, false, false, false]);
    let scores = [a, -a, -a, -a, a, a, a, -a];
    let classes = Labels::new(&labels).unwrap();
    let found = Components::new(&classes, &scores, None, Measure::Scored, &Ctx::serial()).unwrap();
    assert_eq!(found.values, [a / 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, a / 2.0]);
    assert_eq!(found.estimate, a / 8.0);
}
