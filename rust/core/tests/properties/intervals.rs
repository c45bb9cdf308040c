//! Limits at levels, and what they are of, against searches for each alone.

use proptest::prelude::*;
use rocmax_core::Ctx;
use rocmax_core::interval::{Area, Draws, Gain, Part, called, cdf, mean_tables, quantile, table};

use crate::testing::uniform;

/// The true positive rate where a curve calls a share of all samples, by bisection.
fn rate_of_called(share: f64, prevalence: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (-200.0, 200.0);
    for _ in 0..200 {
        let cut: f64 = f64::midpoint(low, high);
        let above = prevalence * cdf(a - cut) + (1.0 - prevalence) * cdf(-cut / b) >= share;
        (low, high) = if above { (cut, high) } else { (low, cut) };
    }
    cdf(a - low)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn rates_of_called_shares_are_those_of_bisection(
        share in 0.001..0.999,
        prevalence in 0.01..0.99,
        curves in prop::collection::vec((-6.0..6.0, -2.0..2.0), 1..40),
    ) {
        let (a, b): (Vec<f64>, Vec<f64>) = curves.iter().map(|&(a, log): &(f64, f64)| (a, log.exp())).unzip();
        let rates = called(share, prevalence, &a, &b).unwrap();
        prop_assert_eq!(rates.len(), a.len());
        for ((&a, &b), rate) in a.iter().zip(&b).zip(rates) {
            let expected = rate_of_called(share, prevalence, a, b);
            prop_assert!((rate - expected).abs() < 1e-12, "{} {}: {} {}", a, b, rate, expected);
        }
    }

    #[test]
    fn limits_at_levels_are_those_of_each_level(
        sizes in (2..60, 2..60),
        end in prop::sample::select(vec![0.02, 0.1, 0.3, 0.7, 1.0]),
        share in 0.0..1.0,
        parts in (0.0..0.3, 0.0..0.3),
        slope in 0.3..3.0,
    ) {
        let sizes = [sizes.0, sizes.1].map(f64::from);
        let variance = [parts.0 / sizes[0], parts.1 / sizes[1]];
        let area = Area::new(sizes, 0.0, end).unwrap();
        let (_, limits) = area.limits(Part { share, variance, slope }).unwrap();
        let z: Vec<f64> = (0..13).map(|k| 2.0 * (0.1 * f64::from(k)).sinh()).collect();
        for (z, [low, high]) in z.iter().zip(limits.ends(&z)) {
            let [alone] = limits.ends(&[*z])[..] else { unreachable!() };
            prop_assert!((alone[0] - low).abs().max((alone[1] - high).abs()) < 1e-10, "{} {:?} {}", z, alone, low);
        }
    }
}

/// The first step between both edges on which the mean gain reaches a goal, or exceeds it, of all pairs at every step.
fn height(draws: Draws<'_>, gain: Gain, b: f64, goal: f64, exceeds: bool) -> f64 {
    const EDGE: f64 = 14.0;
    let (m, unit) = (draws.n_pos as f64, 100.0 / b);
    let cell = |deviate: f64| ((deviate + 4.0) * 100.0).clamp(0.0, 999.0).floor() + 1.0;
    let above: Vec<f64> = draws.negatives.iter().map(|&deviate| cell(deviate)).collect();
    let left_out = (1..=draws.n_pos).map(|k| gain.of(k as f64 / m, 0.0)).sum::<f64>() / m
        - draws.tpr.iter().zip(draws.weights).map(|(&tpr, weight)| weight * gain.of(tpr, 0.0)).sum::<f64>();
    let mean = |step: u32| {
        let a = -EDGE + f64::from(step) / 65536.0 * (2.0 * EDGE);
        let gains = draws.positives.iter().zip(draws.tpr).zip(draws.weights).map(|((deviate, &tpr), weight)| {
            let place = (deviate * unit + 400.0 + 0.5) as f32 + (a * unit) as f32;
            let passed = |above: &f64| f64::from(place.clamp(0.0, 999.0).floor()) >= *above;
            let fpr = above.iter().zip(draws.jumps).filter(|(above, _)| !passed(above)).map(|(_, jump)| jump);
            weight * gain.of(tpr, f64::from(fpr.sum::<f64>() as f32))
        });
        left_out + gains.sum::<f64>()
    };
    let (mut low, mut high) = (0, 65536);
    while high - low > 1 {
        let step = u32::midpoint(low, high);
        let holds = if exceeds { mean(step) > goal } else { mean(step) >= goal };
        (low, high) = if holds { (low, step) } else { (step, high) };
    }
    -EDGE + f64::from(high) / 65536.0 * (2.0 * EDGE)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn tables_of_means_are_those_of_all_heights(
        sizes in (1usize..20, 1usize..20),
        seed in 0u64..1000,
        estimate in 0.1..1.0,
        slope in 0.4..2.5,
        early in any::<bool>(),
    ) {
        let ((m, n), n_draws) = (sizes, 40);
        let mut next = uniform(seed);
        let mut deviates = |size: usize| -> Vec<f64> {
            let mut draw = || { let mut row: Vec<_> = (0..size).map(|_| quantile(next())).collect(); row.sort_by(|x, y| y.total_cmp(x)); row };
            (0..n_draws).flat_map(|_| draw()).collect()
        };
        let (positives, negatives, log_slopes) = (deviates(m), deviates(n), deviates(1));
        let log_slopes: Vec<f64> = log_slopes.iter().map(|deviate| 0.3 * deviate).collect();
        let tpr: Vec<f64> = (1..=m).map(|k| k as f64 / m as f64).collect();
        let (weights, jumps) = (vec![1.0 / m as f64; m], vec![1.0 / n as f64; n]);
        let gain = if early { Gain::Early { alpha: 5.0, prevalence: 0.5, top: 1.0, base: 0.0 } } else { Gain::Precision(0.4) };
        let all = (1..=m).map(|k| gain.of(k as f64 / m as f64, 0.0)).sum::<f64>() / m as f64;
        let goal = estimate * all;
        let draws = Draws {
            n_pos: m, tpr: &tpr, weights: &weights, positives: &positives, jumps: &jumps, negatives: &negatives,
            log_slopes: &log_slopes,
        };
        let found = mean_tables([gain; 2], draws, &[[goal, slope]], &Ctx::serial()).unwrap();
        let value = |a: f64, b: f64| {
            let nodes = (0..1000).map(|k| std::f64::consts::PI * (f64::from(k) + 0.5) / 1000.0);
            let at = |t: f64| (0.5 - 0.5 * t.cos(), 0.5 * t.sin() * std::f64::consts::PI / 1000.0);
            nodes.map(at).map(|(t, weight)| weight * gain.of(t, cdf((quantile(t) - a) / b))).sum::<f64>()
        };
        let of = |short: f64, exceeds: bool| -> Vec<f64> {
            let each = |j: usize| {
                let (b, of) = (slope * log_slopes[j].exp(), |of: usize| j * of..(j + 1) * of);
                let one = Draws { positives: &positives[of(m)], negatives: &negatives[of(n)], ..draws };
                value(height(one, gain, b, goal + short, exceeds), b)
            };
            (0..n_draws).map(each).collect()
        };
        let expected = table(&of(-1e-6, false), &of(1e-6, true));
        prop_assert!((found[0].variance - expected.variance).abs() < 1e-6);
        for (found, expected) in [(&found[0].low, &expected.low), (&found[0].high, &expected.high)] {
            for (found, expected) in found.iter().zip(expected) {
                prop_assert!((cdf(*found) - cdf(*expected)).abs() < 1e-5, "{} {}", found, expected);
            }
        }
    }
}
