//! Unit tests of `interval/normal.rs`, which includes this file.

use super::*;

/// Phi by Simpson's rule from 0, and of the tail by its continued fraction.
fn naive(x: f64) -> f64 {
    if x < -1.0 {
        let y = -x;
        return density(y) / (1..400).rev().fold(y, |rest, k| y + f64::from(k) / rest);
    }
    let n = 20_000;
    let step = x / f64::from(n);
    let sum: f64 = (0..=n)
        .map(|k| {
            let weight = if k == 0 || k == n { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
            weight * density(step * f64::from(k))
        })
        .sum();
    0.5 + sum * step / 3.0
}

#[test]
fn probabilities_are_those_of_the_integral() {
    let x: Vec<f64> = (-370..90).map(|k| f64::from(k) / 10.0 + 0.013).collect();
    let mut found = vec![0.0; x.len()];
    heights(0.0, 1.0, &x, &mut found);
    for (x, found) in x.iter().zip(found) {
        let expected = naive(*x);
        assert!((found / expected - 1.0).abs() < 1e-13, "{x}: {found} {expected}");
        assert!((cdf(*x) / expected - 1.0).abs() < 1e-13, "{x}");
    }
    assert_eq!([cdf(0.0), cdf(f64::INFINITY), cdf(f64::NEG_INFINITY)], [0.5, 1.0, 0.0]);
}

#[test]
fn logarithms_are_exact() {
    for x in [1e-300, 3e-5, 0.5, 0.7, 0.71, 0.999999, 1.0, 1.0 + 1e-15, 1.414, 1.415, 2.0, 7.3, 1e6, 1e300] {
        let (found, expected) = (fast!({ logarithms([x; LANES]) }), f64::ln(x));
        assert!((found[3] - expected).abs() <= 4e-16 * expected.abs(), "{x} {found:?}");
    }
}

#[test]
fn quantiles_are_inverse() {
    for k in 1..3000 {
        let x = -f64::from(k) / 81.0;
        assert!((quantile(cdf(x)) / x - 1.0).abs() < 1e-13, "{x}");
        if x > -5.0 {
            assert!((quantile(cdf(-x)) / -x - 1.0).abs() < 1e-9, "{x}");
        }
    }
    assert_eq!([quantile(0.5), quantile(0.0), quantile(1.0)], [0.0, f64::NEG_INFINITY, f64::INFINITY]);
    assert!(quantile(-0.1).is_nan() && quantile(f64::NAN).is_nan() && cdf(f64::NAN).is_nan());
}
