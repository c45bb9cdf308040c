//! The normal distribution and Student's t, to some units in the last place, and the interval of a share.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Degrees of freedom from which on the expansion for many is exact to rounding.
const MANY: f64 = 1e4;

/// The probability below `x` of a standard normal variable.
pub(crate) fn normal_below(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// The density of a standard normal variable.
pub(crate) fn normal_density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// The point with probability `p` below it, for p from 1e-300 on; infinite at 0 and 1.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    // To three digits (Abramowitz and Stegun, 26.2.22), of which each of Halley's steps makes three times as many.
    let t = (-2.0 * p.ln()).sqrt();
    let start = (2.30753 + 0.27061 * t) / (1.0 + 0.99229 * t + 0.04481 * t * t) - t;
    (0..3).fold(start, |x, _| {
        let step = (normal_below(x) - p) / normal_density(x);
        x - step / (1.0 + x * step / 2.0)
    })
}

/// The point beyond which Student's t with `df` degrees of freedom has the probability that a standard normal variable
/// has beyond `z`, at least 0; `df` is at least 0.01 or infinite.
pub(crate) fn student_reach(df: f64, z: f64) -> f64 {
    if df >= MANY {
        // Abramowitz and Stegun, 26.7.5.
        let square = z * z;
        let polynomial = |terms: &[f64]| z * terms.iter().rev().fold(0.0, |sum, term| sum * square + term);
        let terms = [
            polynomial(&[1.0, 1.0]) / 4.0,
            polynomial(&[3.0, 16.0, 5.0]) / 96.0,
            polynomial(&[-15.0, 17.0, 19.0, 3.0]) / 384.0,
            polynomial(&[-945.0, -1920.0, 1482.0, 776.0, 79.0]) / 92160.0,
        ];
        return z + terms.iter().rev().fold(0.0, |sum, term| (sum + term) / df);
    }
    let p = normal_below(-z);
    if p >= 0.5 {
        return 0.0;
    }
    // Newton's steps for the logarithms of t and of the probability beyond: concave, and the start is an upper bound.
    let (a, scale) = (df / 2.0, log_scale(df / 2.0));
    let mut log_t = ((scale - (2.0 * a * p).ln()) / a + df.ln()) / 2.0;
    for _ in 0..200 {
        let (beyond, slope) = log_beyond(a, scale, 2.0 * log_t - df.ln());
        let step = (beyond - p.ln()) * (beyond - slope).exp();
        log_t += step;
        if step.abs() < 1e-9 {
            break;
        }
    }
    log_t.exp()
}

/// For t^2 / df = s and a = df / 2, given ln s: the logarithms of the probability beyond t, `I_x(a, 1/2) / 2` at
/// x = 1 / (1 + s), and of its derivative by ln t, `x^a (1 - x)^(1/2) / B(a, 1/2)`.
fn log_beyond(a: f64, scale: f64, log_s: f64) -> (f64, f64) {
    let log_above = if log_s > 40.0 { log_s } else { log_s.exp().ln_1p() };
    let (x, rest) = ((-log_above).exp(), (log_s - log_above).exp());
    let slope = scale - a * log_above + (log_s - log_above) / 2.0;
    let beyond = if x < (a + 1.0) / (a + 2.5) {
        slope + (fraction(a, 0.5, x) / (2.0 * a)).ln()
    } else {
        (0.5 - slope.exp() * fraction(0.5, a, rest)).ln()
    };
    (beyond, slope)
}

/// The logarithm of 1 / B(a, 1/2): Gamma(a + 1/2) / Gamma(a) by its series for a large a, of which those below follow.
fn log_scale(a: f64) -> f64 {
    const LARGE: f64 = 100.0;
    let (mut product, mut a) = (1.0, a);
    while a < LARGE {
        product *= a / (a + 0.5);
        a += 1.0;
    }
    let terms = [1.0, -1.0 / 8.0, 1.0 / 128.0, 5.0 / 1024.0, -21.0 / 32768.0, -399.0 / 262144.0];
    let series = terms.iter().rev().fold(0.0, |sum, term| sum / a + term);
    (product * series * (a / PI).sqrt()).ln()
}

/// The continued fraction by which `I_x(a, b) = x^a (1 - x)^b / (a B(a, b))` is multiplied (DLMF 8.17.22), from its
/// front on (Lentz). It converges quickly for x below (a + 1) / (a + b + 2).
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let apart = |y: f64| if y == 0.0 { 1e-300 } else { y };
    let (mut value, mut c, mut d) = (1.0, 1.0, 0.0);
    for k in 1..10_000 {
        let m = f64::from(k / 2);
        let term = if k % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        d = 1.0 / apart(1.0 + term * d);
        c = apart(1.0 + term / c);
        value *= c * d;
        if (c * d - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    1.0 / value
}

/// The ends of all rates p with `(k/n - p)^2 <= z^2 p (1 - p) / n` (Wilson, 1927).
pub(crate) fn wilson(k: f64, n: f64, z: f64) -> [f64; 2] {
    let (middle, reach) = (k + z * z / 2.0, z * (k * (n - k) / n + z * z / 4.0).sqrt());
    let end = |side: f64| (middle + side * reach) / (n + z * z);
    [if k == 0.0 { 0.0 } else { end(-1.0) }, if k == n { 1.0 } else { end(1.0) }]
}

#[cfg(test)]
#[path = "../tests/unit/special.rs"]
mod tests;
