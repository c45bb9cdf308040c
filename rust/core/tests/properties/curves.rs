//! The points and the steps of curves against the definitions, for scores of every shape and number.

use proptest::prelude::*;
use rocmax_core::curve::{self, Curve, Measure, Points, Scratch};
use rocmax_core::variance::Components;
use rocmax_core::{Ctx, Error, Labels, RateRange, Result};

use crate::samples::sample;

const TOLERANCE: f64 = 1e-12;

/// The distinct scores of positive weight, descending, with the weights of the positives and of the negatives at or
/// above each.
pub(crate) fn sums(labels: &[bool], scores: &[f64], weights: &[f64]) -> Vec<[f64; 3]> {
    let mut rows: Vec<usize> = (0..scores.len()).filter(|&i| weights[i] > 0.0).collect();
    rows.sort_by(|&i, &j| (scores[j] + 0.0).total_cmp(&(scores[i] + 0.0)));
    let mut sums = [0.0, 0.0];
    let blocks = rows.chunk_by(|&i, &j| scores[i] == scores[j]).map(|block| {
        block.iter().for_each(|&i| sums[usize::from(!labels[i])] += weights[i]);
        [scores[block[0]] + 0.0, sums[0], sums[1]]
    });
    blocks.collect()
}

/// False positive rates or precisions, true positive rates, and thresholds.
#[derive(Debug, PartialEq)]
struct Found {
    x: Vec<f64>,
    tpr: Vec<f64>,
    thresholds: Vec<f64>,
}

fn points(what: Points, labels: &Labels<'_>, scores: &[f64], weights: Option<&[f64]>, drop: bool) -> Found {
    let write = |n: usize, write: &dyn Fn([&mut [f64]; 3]) -> Result<usize>| {
        let [mut x, mut tpr, mut thresholds] = [(); 3].map(|()| vec![0.0; n + 1]);
        let n = write([&mut x, &mut tpr, &mut thresholds]).unwrap();
        [&mut x, &mut tpr, &mut thresholds].into_iter().for_each(|values| values.truncate(n));
        Found { x, tpr, thresholds }
    };
    let found = write(scores.len(), &|to| what.of_samples(labels, scores, weights, drop, to, &Ctx::serial()));
    let curve = Curve::new(labels, scores, weights, &Ctx::serial()).unwrap();
    assert_eq!(write(curve.steps().len(), &|to| what.of_curve(&curve, drop, to)), found);
    found
}

fn close(found: &[f64], expected: &[f64]) -> bool {
    let same = |(x, y): (&f64, &f64)| x == y || (x - y).abs() < TOLERANCE;
    found.len() == expected.len() && found.iter().zip(expected).all(same)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn points_are_the_rates_at_every_score(s in sample()) {
        let labels = s.problem.labels();
        let (classes, weights) = (Labels::new(labels).unwrap(), Some(&s.weights[..]));
        let sums = sums(labels, &s.scores, &s.weights);
        let [_, pos, neg] = sums[sums.len() - 1];
        let column = |first: f64, of: &dyn Fn(&[f64; 3]) -> f64| {
            [first].into_iter().chain(sums.iter().map(of)).collect::<Vec<_>>()
        };
        let roc = points(Points::Roc, &classes, &s.scores, weights, false);
        prop_assert!(close(&roc.thresholds, &column(f64::INFINITY, &|s| s[0])));
        prop_assert!(close(&roc.tpr, &column(0.0, &|s| s[1] / pos)) && close(&roc.x, &column(0.0, &|s| s[2] / neg)));
        let mut found = points(Points::PrecisionRecall, &classes, &s.scores, weights, false);
        [&mut found.x, &mut found.tpr, &mut found.thresholds].into_iter().for_each(|values| values.reverse());
        prop_assert!(close(&found.thresholds, &column(f64::INFINITY, &|s| s[0])));
        prop_assert!(close(&found.tpr, &roc.tpr) && close(&found.x, &column(1.0, &|s| s[1] / (s[1] + s[2]))));

        // Points that are left out lie on the lines between those that stay.
        let few = points(Points::Roc, &classes, &s.scores, weights, true);
        let mut kept = 0;
        for k in 0..few.x.len() {
            let place = kept + roc.thresholds[kept..].iter().position(|&t| t == few.thresholds[k]).unwrap();
            prop_assert!(close(&[roc.x[place], roc.tpr[place]], &[few.x[k], few.tpr[k]]));
            for between in kept + 1..place {
                let step = |v: &[f64], k: usize| v[k + 1] - v[k];
                prop_assert!((step(&roc.x, between) - step(&roc.x, between - 1)).abs() < TOLERANCE);
                prop_assert!((step(&roc.tpr, between) - step(&roc.tpr, between - 1)).abs() < TOLERANCE);
            }
            kept = place;
        }
        prop_assert_eq!(kept, roc.x.len() - 1);
        // None more stay where a step is like the one before; the first step does not count.
        let whole = s.weights.iter().all(|w| w.fract() == 0.0);
        let steps = sums.windows(2).map(|pair| [pair[1][1] - pair[0][1], pair[1][2] - pair[0][2]]);
        let steps: Vec<[f64; 2]> = [[sums[0][1], sums[0][2]]].into_iter().chain(steps).collect();
        let like = steps[1..].windows(2).filter(|pair| pair[0] == pair[1]).count();
        prop_assert!(!whole || few.x.len() == roc.x.len() - like);
        let few = points(Points::PrecisionRecall, &classes, &s.scores, weights, true);
        let recalls = |of: &[f64]| { let mut all = of.to_vec(); all.dedup(); all };
        found.tpr.reverse();
        prop_assert_eq!(recalls(&few.tpr), recalls(&found.tpr));
        let within = steps.windows(2).filter(|pair| pair[0][0] == 0.0 && pair[1][0] == 0.0).count();
        let first = usize::from(steps.len() > 1 && steps[0][0] == 0.0 && steps[1][0] == 0.0);
        prop_assert_eq!(few.tpr.len() + within - first, found.tpr.len());
    }

    #[test]
    fn average_precision_and_its_components_follow_the_definition(s in sample(), prevalence in prop::option::of(0.01..0.9)) {
        let labels = s.problem.labels();
        let (classes, weights) = (Labels::new(labels).unwrap(), Some(&s.weights[..]));
        let sums = sums(labels, &s.scores, &s.weights);
        let [_, m, n] = sums[sums.len() - 1];
        let p = prevalence.unwrap_or(m / (m + n));
        let of = |t: &[f64], k: usize| if k == 0 { [0.0; 2] } else { [t[3 * k - 2] / m, t[3 * k - 1] / n] };
        let flat = sums.concat();
        // The derivative of the value by a share of positives or negatives at step j, by a sum over all steps.
        let (mut value, mut parts) = (0.0, vec![[0.0; 2]; sums.len()]);
        for k in 0..sums.len() {
            let ([before, _], [a, b]) = (of(&flat, k), of(&flat, k + 1));
            let called = p * a + (1.0 - p) * b;
            value += (a - before) * p * a / called;
            parts[k][0] += p * a / called;
            for part in &mut parts[..=k] {
                let slope = (a - before) * p * (1.0 - p) / called.powi(2);
                part[0] += slope * b;
                part[1] -= slope * a;
            }
        }
        let measure = Measure::AveragePrecision(prevalence);
        let (ctx, mut scratch) = (Ctx::serial(), Scratch::default());
        let found = curve::measure(&classes, s.scores[..].into(), weights, measure, &mut scratch, &ctx).unwrap();
        prop_assert!((found - value).abs() < TOLERANCE);
        let curve = Curve::new(&classes, &s.scores, weights, &ctx).unwrap();
        prop_assert!((curve.measure(measure).unwrap() - value).abs() < TOLERANCE);
        let components = Components::new(&classes, &s.scores, weights, measure, &ctx).unwrap();
        for (i, &found) in components.values.iter().enumerate().filter(|(i, _)| s.weights[*i] > 0.0) {
            let step = sums.iter().position(|step| step[0] == s.scores[i]).unwrap();
            prop_assert!((found - parts[step][usize::from(!labels[i])]).abs() < 1e-9);
        }
    }
}

/// Scores of many shapes: with ties of all kinds, of both signs, very large, very small, hardly apart, with tails.
fn shapes(next: &mut impl FnMut() -> f64) -> Vec<Box<dyn Fn(f64) -> f64>> {
    let extremes = [f64::MAX, f64::MIN, 5e-324, -5e-324, 0.0, -0.0, 1.0, -3.999_999_999_999_999_6];
    let offset = next();
    vec![
        Box::new(|u| u - 0.5),
        Box::new(move |u| (40.0 * (u - offset)).exp()),
        Box::new(|u| (std::f64::consts::PI * (u - 0.5)).tan()),
        Box::new(|u| 1.0 / (1.0 + (60.0 * (0.5 - u)).exp())),
        Box::new(|u| (20.0 * u).floor() - 10.0),
        Box::new(|_| 0.25),
        Box::new(move |u| if u < 0.5 { u - 0.25 } else { extremes[(16.0 * (u - 0.5)) as usize] }),
        Box::new(|u| f64::from_bits(0.5f64.to_bits() + (9.0 * u) as u64)),
        Box::new(|u| (u - 0.5) * 1e-320),
        Box::new(|u| if u < 0.999 { u } else { 1e9 + (3e3 * (u - 0.999)).floor() }),
    ]
}

#[test]
fn steps_are_those_of_a_plain_sort_on_any_number_of_threads_in_any_order() {
    let pool = crate::testing::pool(3);
    let mut state = 7u64;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for (k, shape) in shapes(&mut next).into_iter().enumerate() {
        for (n, share) in [(300, 0.5), (5_000, 0.3), (70_000, 0.3), (40_000, 0.001)] {
            let labels: Vec<bool> = (0..n).map(|i| if i < 2 { i == 0 } else { next() < share }).collect();
            let scores: Vec<f64> = (0..n).map(|_| shape(next())).collect();
            let weights: Vec<f64> = (0..n).map(|i| if i < 2 { 1.0 } else { (4.0 * next()).floor() / 4.0 }).collect();
            let ones = vec![1.0; n];
            let ways = [None, Some(&weights)];
            for &given in if n > 10_000 { &ways[k % 2..][..1] } else { &ways[..] } {
                let told = format!("shape {k}, {n} samples, {}", given.is_some());
                let expected = sums(&labels, &scores, given.unwrap_or(&ones));
                let of = |labels: &[bool], scores: &[f64], weights: Option<&[f64]>, ctx: &Ctx<'_>| {
                    Curve::new(&Labels::new(labels).unwrap(), scores, weights, ctx).unwrap()
                };
                let found = of(&labels, &scores, given.map(|w| &w[..]), &Ctx::serial());
                let (mut sums, mut zero_signs) = ([0.0; 2], 0);
                let mine = found.steps().iter().map(|step| {
                    zero_signs += usize::from(step.score.to_bits() == (-0.0f64).to_bits());
                    sums = [sums[0] + step.pos, sums[1] + step.neg];
                    [step.score, sums[0], sums[1]]
                });
                assert!(mine.eq(expected) && zero_signs == 0, "{told}");
                assert_eq!(
                    of(&labels, &scores, given.map(|w| &w[..]), &Ctx::new(pool.as_ref(), None)),
                    found,
                    "{told}"
                );
                let turned: Vec<f64> = given.into_iter().flatten().rev().copied().collect();
                let (labels, scores): (Vec<_>, Vec<_>) =
                    labels.iter().zip(&scores).rev().map(|(&l, &s)| (l, s)).unzip();
                assert_eq!(of(&labels, &scores, given.map(|_| &turned[..]), &Ctx::serial()), found, "{told}");
            }
        }
    }
}

#[test]
fn a_set_flag_stops_a_curve() {
    let stop = std::sync::atomic::AtomicBool::new(true);
    let labels: Vec<bool> = (0..100_000).map(|i| i % 3 == 0).collect();
    let scores: Vec<f64> = (0..100_000).map(f64::from).collect();
    let found = Curve::new(&Labels::new(&labels).unwrap(), &scores, None, &Ctx::new(None, Some(&stop)));
    assert!(matches!(found, Err(Error::Interrupted)));
}

#[test]
fn too_little_room_for_the_points_is_refused() {
    let (labels, mut room) = ([true, false], [[0.0; 3], [0.0; 3], [0.0; 3]]);
    let [x, tpr, thresholds] = room.each_mut();
    let to = [&mut x[..], &mut tpr[..], &mut thresholds[..2]];
    let found = Points::Roc.of_samples(&Labels::new(&labels).unwrap(), &[1.0, 2.0], None, true, to, &Ctx::serial());
    assert!(matches!(found, Err(Error::Length { .. })));
}

#[test]
fn fractional_weights_of_a_ranked_area_are_refused() {
    let (labels, range) = ([true, false, false], RateRange::new(0.0, 0.5).unwrap());
    let of = |weights: [f64; 3]| {
        let (scores, ranked) = ([3.0, 2.0, 1.0], Measure::Ranked(range));
        let classes = Labels::new(&labels).unwrap();
        curve::measure(&classes, scores[..].into(), Some(&weights), ranked, &mut Scratch::default(), &Ctx::serial())
    };
    assert_eq!(of([1.0, 2.0, 3.0]), Ok(1.0));
    assert!(matches!(of([1.0, 2.5, 3.0]), Err(Error::Domain { name: "weights", .. })));
}
