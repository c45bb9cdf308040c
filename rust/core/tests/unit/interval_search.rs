//! Unit tests of `interval/search.rs`, which includes this file.

use super::*;

#[test]
fn searches_end_where_the_gap_does() {
    for (at, inner, outer) in [(0.3, -12.0, 12.0), (-7.7, 12.0, -12.0), (0.0, -1.0, 1.0)] {
        let side = f64::signum(outer - inner);
        for power in [1, 3, 5] {
            let found = last_held(inner, outer, |x: f64| side * (at - x).powi(power));
            assert!((found - at).abs() < 1e-12, "{at} {power}: {found}");
        }
        assert_eq!(last_held(inner, outer, |_| 1.0), outer);
        let step = last_held(inner, outer, |x| if side * (at - x) > 0.0 { 1.0 } else { -1.0 });
        assert!((step - at).abs() < 1e-12);
    }
}

#[test]
fn levels_are_found_as_each_is() {
    let bend = |z: f64, a: f64| z - 3.0 * (a / 4.0).tanh();
    let step = |z: f64, a: f64| if a < z { 1.0 } else { -1.0 };
    // It rises from the inner end before it falls, as where the classes are separated.
    let rise = |z: f64, a: f64| z * (a / 2.0).exp() + 1e-12 - a.exp();
    // It falls in steep stairs, as with many positives and few negatives.
    let stairs = |z: f64, a: f64| z - (0..8).map(|k| 0.4 + 0.4 * (1e3 * (a - f64::from(k) - 0.3)).tanh()).sum::<f64>();
    let gaps: [&dyn Fn(f64, f64) -> f64; 4] = [&bend, &step, &rise, &stairs];
    for (gap, inner) in gaps.into_iter().zip([-1.0, -0.5, -40.0, -1.0]) {
        let outer = 12.0;
        let mut levels = Levels::default();
        for z in (0..14).map(|level| 2.0 * (0.1 * f64::from(level)).sinh()) {
            let found = levels.last_held(z, inner, outer, CLOSE, |a| gap(z, a));
            let expected = last_held(inner, outer, |a| gap(z, a));
            assert!((found - expected).abs() < 1e-11, "{inner} {z}: {found} {expected}");
        }
    }
}
