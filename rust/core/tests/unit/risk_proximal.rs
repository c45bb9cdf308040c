//! Unit tests of `risk/proximal.rs`, which includes this file.

use super::*;
use crate::testing::{sample, uniform};

#[test]
fn the_lowest_level_is_found_by_halves() {
    let mut next = uniform(8);
    for (n, top, furthest) in [(50, 7.5, 0.3), (400, 20.0, 0.01), (400, 399.0, 5.0), (31, 1.0, 1e6)] {
        let (levels, own): (Vec<f64>, Vec<f64>) = (0..n).map(|_| (next(), 1.0 + next())).unzip();
        let sunk = |x: f64| levels.iter().zip(&own).map(|(t, w)| w * (t - x).max(0.0).min(furthest)).sum::<f64>();
        let of = |bound, top| lowest(&levels, &own, bound, top, furthest);
        let (low, step) = (of(f64::NEG_INFINITY, top).unwrap(), furthest / f64::from(1 << HALVINGS));
        let most = top * furthest;
        assert!(sunk(low) >= most * (1.0 - 1e-12) && sunk(low + step) <= most * (1.0 + 1e-9), "{n} {top}");
        assert_eq!(of(f64::NEG_INFINITY, 3.0 * f64::from(n)), Some(f64::NEG_INFINITY));
        // A bound that is not reached by enough is of no use, any other changes nothing.
        assert_eq!((of(0.0, top), of(1.0, top)), (Some(low), None));
    }
}

#[test]
fn a_unit_of_the_risk_changes_no_group() -> Result<()> {
    let (ctx, mut n_groups) = (Ctx::serial(), 0);
    for seed in 0..40 {
        let (labels, scores) = sample(60, 0.4, [1e9, 20.0][seed as usize % 2], &mut uniform(seed));
        let problem = Problem::new(labels)?;
        let found = |unit: f64| {
            let mut coef = vec![0.0; 60];
            let hinge = Hinge { scale: 0.02 * unit, margin: 0.4, top: 9.0 };
            let groups = proximal(&problem, &hinge, &scores, [2.0 * unit, unit], &mut coef, &ctx)?;
            Ok::<_, Error>((coef.iter().map(|x| x / unit).collect::<Vec<_>>(), groups.rows, groups.starts))
        };
        let expected = found(1.0)?;
        n_groups += expected.2.len();
        for exponent in [-60, -30, 30, 60] {
            assert_eq!(found(2f64.powi(exponent))?, expected, "{seed} {exponent}");
        }
    }
    assert!(n_groups > 50, "{n_groups}");
    Ok(())
}
