//! Any bit patterns of scores and weights: a number of the measure's range, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rocmax_core::curve::{Curve, Measure, Normalize, Scratch, measure};
use rocmax_core::{Ctx, Labels, Problem, RateRange};

type Row = (bool, u64, u64, u32);

fuzz_target!(|input: (u64, u64, Vec<Row>)| {
    let (low, high, rows) = input;
    let labels: Vec<bool> = rows.iter().map(|row| row.0).collect();
    let scores: Vec<f64> = rows.iter().map(|row| f64::from_bits(row.1)).collect();
    let weights: Vec<f64> = rows.iter().map(|row| f64::from_bits(row.2)).collect();
    let narrow: Vec<f32> = rows.iter().map(|row| f32::from_bits(row.3)).collect();
    let range = RateRange::new(f64::from_bits(low), f64::from_bits(high)).unwrap_or(RateRange::FULL);
    let Ok(known) = Labels::new(&labels) else { return };
    let ctx = Ctx::serial();
    let measures = [
        (Measure::Auc, 1.0),
        (Measure::Partial(range, Normalize::Width), 1.0),
        (Measure::PartialTpr(range, Normalize::Width), 1.0),
        (Measure::Ranked(range), 1.0),
        (Measure::TprAtFpr(range.low()), 1.0),
        (Measure::FprAtTpr(range.high()), 1.0),
        (Measure::Scored, f64::INFINITY),
        (Measure::Margin(f64::from_bits(low)), 1.0),
    ];
    for (of, most) in measures {
        for weights in [None, Some(&weights[..])] {
            let found = [
                measure(&known, scores.as_slice().into(), weights, of, &mut Scratch::default(), &ctx),
                measure(&known, narrow.as_slice().into(), weights, of, &mut Scratch::default(), &ctx),
            ];
            for value in found.into_iter().flatten() {
                assert!((0.0..=most).contains(&value), "{of:?} {value:?} {weights:?}");
            }
            let Ok(curve) = Curve::new(&known, &scores, weights, &ctx) else { continue };
            if let Ok(moments) = curve.moments(of) {
                let valid = moments.squares.iter().all(|&square| square >= 0.0);
                assert!(valid || of == Measure::Scored, "{of:?} {moments:?}");
            }
        }
    }
    if let Ok(problem) = Problem::weighted(labels.clone(), weights) {
        let (from, to) = problem.ranks(range);
        assert!(0.0 <= from && from <= to && to.is_finite(), "{range:?} {from} {to}");
    }
});
