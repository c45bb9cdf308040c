//! Components and variances against their definitions over all pairs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rocmax_core::curve::{Curve, Measure, Normalize, Scratch, auc_moments};
use rocmax_core::resample::{Resampling, Scheme, bootstrap};
use rocmax_core::variance::{Components, Placements, WeightKind, covariance};
use rocmax_core::{Column, Ctx, Labels};
use rocmax_fuzz::{Sample, assert_close};

/// Row and column means of `1[s > t] + 1/2 1[s = t]`, times the weights of the pairs.
fn placed(sample: &Sample, weights: &[f64], i: usize) -> f64 {
    let (mut won, mut total) = (0.0, 0.0);
    for (j, weight) in weights.iter().enumerate() {
        if sample.labels[j] != sample.labels[i] {
            let (s, t) = if sample.labels[i] { (i, j) } else { (j, i) };
            let (s, t) = (sample.scores[s], sample.scores[t]);
            won += weight * if s > t { 1.0 } else { 0.5 * f64::from(u8::from(s == t)) };
            total += weight;
        }
    }
    won / total
}

fuzz_target!(|sample: Sample| {
    let (ctx, n, range) = (Ctx::serial(), sample.labels.len(), sample.range);
    let labels = Labels::new(&sample.labels).unwrap();
    let ones = vec![1.0; n];
    for weights in [None, Some(&sample.fractions)] {
        let of =
            |scores: &[f64], measure| Components::new(&labels, scores, weights.map(|w| &w[..]), measure, &ctx).unwrap();
        let found = of(&sample.scores, Measure::Auc);
        for (i, &value) in found.values.iter().enumerate() {
            if weights.is_none_or(|w| w[i] > 0.0) {
                assert_close(value, placed(&sample, weights.unwrap_or(&ones), i), 1e-12);
            }
        }
        let both = [of(&sample.scores, Measure::Auc), of(&sample.others, Measure::Auc)];
        for kind in [WeightKind::Frequency, WeightKind::Sampling] {
            let Ok(spread) = covariance(&labels, &both, weights.map(|w| &w[..]), kind, &ctx) else { continue };
            for part in [&spread.pos, &spread.neg] {
                assert!(part[0] >= 0.0 && part[3] >= 0.0);
                assert!(part[1] * part[2] <= part[0] * part[3] * (1.0 + 1e-9) + 1e-18);
            }
            if weights.is_none() {
                let models = [&sample.scores, &sample.others].map(|s| Column::from(&s[..]));
                let placed = Placements::default().covariance(&labels, &models, &ctx).unwrap();
                assert_close(placed.estimates[0], found.estimate, 1e-12);
                (0..4).for_each(|k| assert_close(placed.pos[k], spread.pos[k], 1e-12));
                (0..4).for_each(|k| assert_close(placed.neg[k], spread.neg[k], 1e-12));
            }
        }
        let curve = Curve::new(&labels, &sample.scores, weights.map(|w| &w[..]), &ctx).unwrap();
        for measure in [
            Measure::Auc,
            Measure::Partial(range, Normalize::Width),
            Measure::PartialTpr(range, Normalize::McClish),
            Measure::Scored,
            Measure::Margin(0.25),
        ] {
            let moments = curve.moments(measure).unwrap();
            assert!(moments.squares.iter().all(|&square| square >= 0.0));
            assert_close(moments.estimate, curve.measure(measure).unwrap(), 1e-12);
        }
    }
    let counted = auc_moments(&labels, sample.scores.as_slice().into(), &mut Scratch::default(), &ctx).unwrap();
    let moments = Curve::new(&labels, &sample.scores, None, &ctx).unwrap().moments(Measure::Auc).unwrap();
    assert_close(counted.0, moments.estimate, 1e-12);
    (0..2).for_each(|k| assert_close(counted.1[k], moments.squares[k], 1e-12));
    for weight_kind in [WeightKind::Frequency, WeightKind::Sampling] {
        let resampling = Resampling { scheme: Scheme::Stratified, weight_kind, n_resamples: 3, seed: n as u64 };
        let models = [&sample.scores, &sample.others].map(|s| Column::from(&s[..]));
        let measure = Measure::Partial(range, Normalize::Width);
        for weights in [None, Some(&sample.fractions[..])] {
            if let Ok(values) = bootstrap(&labels, &models, weights, measure, resampling, &ctx) {
                assert_eq!(values.len(), 6);
                assert!(values.iter().all(|value| (0.0..=1.0).contains(value)), "{weight_kind:?} {values:?}");
            }
        }
    }
});
