//! Unit tests of `variance/components.rs`, which includes this file.

use super::*;
use crate::curve::reach::SAMPLES;
use crate::curve::{Normalize, Step};
use crate::order::misleading;
use crate::testing::{sample, uniform};

#[test]
fn of_the_highest_scores_are_those_of_the_whole_curve() -> Result<()> {
    let mut next = uniform(8);
    let ctx = Ctx::serial();
    for (n, share, levels) in [(20_000, 0.3, 1e9), (20_000, 0.9, 50.0), (60_000, 0.02, 1e9), (30_000, 0.5, 2.0)] {
        let (labels, mut scores) = sample(n, share, levels, &mut next);
        if levels == 2.0 {
            scores = misleading(n, SAMPLES, 1.0, &mut next);
        }
        let (classes, weights) = (Labels::new(&labels)?, vec![1.0; n]);
        for (low, high) in [(0.0, 1e-4), (0.0, 0.05), (0.01, 0.3), (0.2, 0.5), (0.3, 0.9)] {
            let range = RateRange::new(low, high)?;
            for measure in [Measure::Partial(range, Normalize::McClish), Measure::TprAtFpr(high)] {
                let found = Components::new(&classes, &scores, None, measure, &ctx)?;
                // With weights the whole curve is sorted.
                let whole = Components::new(&classes, &scores, Some(&weights), measure, &ctx)?;
                assert!((found.estimate - whole.estimate).abs() < 1e-15);
                assert_eq!(found.values, whole.values, "{measure:?} of {n}");
            }
        }
    }
    Ok(())
}

fn curve(steps: &[(f64, f64)]) -> Result<Curve> {
    let score = (0..).map(|k: i32| -f64::from(k));
    Curve::of_steps(score.zip(steps).map(|(score, &(pos, neg))| Step { score, pos, neg }).collect())
}

fn of_range(curve: &Curve, low: f64, high: f64) -> Result<Vec<[f64; 2]>> {
    Ok(curve.partial_components(RateRange::new(low, high)?, 1.0))
}

#[test]
fn an_end_that_rounding_moved_off_a_rise_of_the_curve_is_put_back() -> Result<()> {
    let curve = curve(&[(1.0, 0.0), (0.0, 1.0), (2.0, 0.0), (0.0, 2.0), (1.0, 0.0), (0.0, 7.0)])?;
    let won = [1.0, 1.0, 0.0]; // of the positives
    for off in [0.0, f64::EPSILON, -f64::EPSILON, 8e-13, -8e-13] {
        for (low, high) in [(0.1, 0.3 * (1.0 + off)), (0.1 * (1.0 + off), 0.3)] {
            let found = of_range(&curve, low, high)?;
            assert!(won.iter().zip(found.iter().step_by(2)).all(|(won, found)| (found[0] - won).abs() < 1e-9));
            // All negatives have the height of the curve in the range, 3/4, over its width.
            assert!(found.iter().skip(1).step_by(2).all(|found| (found[1] - 3.75).abs() < 1e-9), "{found:?}");
        }
    }
    // Beyond rounding the height is that at the end.
    assert!((of_range(&curve, 0.1, 0.3 * (1.0 + 1e-11))?[5][1] - 5.0).abs() < 1e-9);
    assert!((of_range(&curve, 0.1 * (1.0 - 1e-11), 0.3)?[1][1] - 1.25).abs() < 1e-9);
    Ok(())
}

#[test]
fn an_end_is_put_back_to_the_nearest_rise() -> Result<()> {
    let curve = curve(&[(1.0, 3.0), (1.0, 0.0), (0.0, 2e-12), (2.0, 0.0), (0.0, 7.0)])?;
    let (first, second) = (3.0 / curve.neg(), (3.0 + 2e-12) / curve.neg());
    for (high, height) in [(first * (1.0 + 1e-14), 0.25), (second * (1.0 - 1e-14), 0.5)] {
        assert!((of_range(&curve, 0.0, high)?[4][1] * high - height).abs() < 1e-9, "{high}");
    }
    Ok(())
}

#[test]
fn components_of_scores_too_far_apart_are_refused() -> Result<()> {
    let most = f64::MAX;
    for (steps, finite) in [
        (vec![(most, 1.0, 0.0), (-most / 2.0, 0.0, 1.0)], false),
        (vec![(most, 1.0, 1.0), (-most, 1.0, 1.0)], true),
        (vec![(most / 2.0, 1.0, 1.0), (-most / 2.0, 1.0, 1.0)], true),
        // The mean is finite; one positive, or one negative, is too far from the others.
        (vec![(most, 1.0, 0.0), (0.0, 9.0, 1.0), (-most / 2.0, 0.0, 9.0)], false),
        (vec![(most / 2.0, 9.0, 0.0), (0.0, 1.0, 9.0), (-most, 0.0, 1.0)], false),
        (vec![(most / 2.0, 9.0, 0.0), (0.0, 1.0, 9.0), (-most / 2.0, 0.0, 1.0)], true),
    ] {
        let steps: Vec<Step> = steps.into_iter().map(|(score, pos, neg)| Step { score, pos, neg }).collect();
        let found = Curve::of_steps(steps.clone())?.scored_components();
        assert_eq!(found.is_ok(), finite, "{steps:?}: {found:?}");
    }
    Ok(())
}

#[test]
fn equal_components_do_not_vary() -> Result<()> {
    let curve = curve(&[(0.1, 0.0), (0.7, 0.0), (0.2, 0.0), (0.0, 0.3), (0.0, 0.1), (0.0, 1.3)])?;
    for k in 1..30 {
        let range = RateRange::new(0.0, f64::from(k) / 30.0)?;
        let found = curve.moments(Measure::Partial(range, Normalize::McClish))?;
        assert_eq!((found.squares, found.cubes), ([0.0; 2], [0.0; 2]), "{range:?}");
    }
    Ok(())
}
