//! Surrogate risks against their twins: the value, a cut that lies below the risk, whole weights as repetition.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use rocmax_core::risk::{Naive, Oracle, Rank, Term, Tight, TopHinge, Workspace};
use rocmax_core::{Ctx, Problem};
use rocmax_fuzz::{Sample, assert_close, naive};

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn evaluated(oracle: &Oracle, scores: &[f64]) -> (f64, Vec<f64>) {
    let mut coef = vec![f64::NAN; scores.len()];
    let found = oracle.evaluate(scores.into(), &mut coef, &mut Workspace::default(), &Ctx::serial()).unwrap();
    (found.value, coef)
}

fuzz_target!(|sample: Sample| {
    let (scores, others, range) = (&sample.scores, &sample.others, sample.range);
    let weighted = |weights: Vec<f64>| Arc::new(Problem::weighted(sample.labels.clone(), weights).unwrap());
    let plain = Arc::new(Problem::new(sample.labels.clone()).unwrap());
    let whole = weighted(sample.whole_weights());
    for problem in [plain, whole.clone(), weighted(sample.fractions.clone())] {
        let term = |weight, end, margin| Term { weight, end, margin };
        let hinge = Oracle::new(problem.clone(), range, TopHinge::new(vec![term(1.0, Rank::High, 1.0)]).unwrap());
        let parts = vec![term(1.0, Rank::High, 1.0), term(-1.0, Rank::Low, 1.0)];
        let pairs = evaluated(&Oracle::new(problem.clone(), range, TopHinge::new(parts).unwrap()), scores).0;
        let scale = 1.0 + problem.n_samples() as f64;
        // Ranges of a few negatives at the end of many divide by little.
        let (from, to) = problem.ranks(range);
        let narrow = 1.0 + to / (to - from);
        let twin = naive::mean_pair_loss(&problem, scores, range, |u| f64::max(0.0, 1.0 - u));
        assert_close(pairs, twin, 1e-11 * scale * narrow);
        let risks: [(&Oracle, Option<bool>); 3] = [
            (&Oracle::new(problem.clone(), range, Tight), Some(false)),
            (&Oracle::new(problem.clone(), range, Naive), Some(true)),
            (&hinge, None),
        ];
        for (oracle, to_bottom) in risks {
            let (value, coef) = evaluated(oracle, scores);
            let elsewhere = evaluated(oracle, others).0;
            let tolerance = 1e-12 * scale * narrow * (1.0 + value.abs() + elsewhere.abs());
            if let Some(to_bottom) = to_bottom {
                assert_close(value, naive::structural(&problem, scores, range, to_bottom), tolerance);
            }
            assert!(elsewhere >= value + dot(&coef, others) - dot(&coef, scores) - tolerance);
            assert!(coef.iter().sum::<f64>().abs() <= tolerance);
            let mut smooth = vec![f64::NAN; scores.len()];
            let cut = oracle.smooth(scores, 0.25, &mut smooth, &mut Workspace::default(), &Ctx::serial()).unwrap();
            if let Some(cut) = cut {
                for (at, risk) in [(scores, value), (others, elsewhere)] {
                    let below = cut.offset + dot(&smooth, at);
                    assert!(below <= risk + tolerance, "{below} > {risk}, {problem:?} {range:?}");
                }
            }
        }
    }
    let (labels, repeated) = sample.repeated();
    let problem = Arc::new(Problem::new(labels).unwrap());
    let (ours, theirs) = (evaluated(&Oracle::new(whole, range, Tight), scores), Oracle::new(problem, range, Tight));
    assert_close(ours.0, evaluated(&theirs, &repeated).0, 1e-11);
});
