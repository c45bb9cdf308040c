//! The standard normal distribution.
//!
//! The upper tail at y is `exp(-y^2 / 2) f(t) / (1 + 5/4 y)`, f a polynomial of `t = (y - 4) / (y + 4)`; a quantile is
//! `(2 p - 1) g(w)`, g a polynomial of `w = -ln(4 p (1 - p))`, and for small p one of `1 / sqrt(w)` that a step of Halley
//! corrects. The coefficients are those of Chebyshev interpolants of either function.

use crate::simd::fast;

/// Numbers that are computed at once.
pub(crate) const LANES: usize = 8;

/// Points of a curve at once: none waits for the last step of its own polynomial.
pub(crate) const MANY: usize = 32;

/// The least power of e that is computed.
pub(crate) const LOWEST: f64 = -700.0;

/// Coefficients of f, of g at `w / 3 - 1`, and of the quantile over `sqrt(w)`.
#[allow(clippy::excessive_precision)]
const TAIL: [f64; 23] = [
    0.5664638478118137,
    -0.07827991627105606,
    -0.013595270429298919,
    0.053677306902118256,
    -0.04796349781078929,
    0.02454314570448236,
    -0.00637986377381324,
    -0.0005167321667659053,
    0.0009154175879459105,
    -0.00010665016282018767,
    -0.00011697924615532429,
    2.540893866353145e-05,
    1.8111516315002522e-05,
    -4.094012028872385e-06,
    -3.435451162658865e-06,
    4.7325149353127934e-07,
    7.185123467934319e-07,
    -6.531481631100175e-09,
    -1.4510500477626916e-07,
    -1.2639211490750317e-08,
    2.3929751478135567e-08,
    2.237502485513687e-09,
    -2.291053533554077e-09,
];
const CENTRAL: [f64; 21] = [
    2.296035124624989,
    1.025150983960451,
    -0.07303453787038242,
    -0.03192856945991689,
    0.022344528005368645,
    -0.004370048104230762,
    -0.001802123142541064,
    0.0013917524073349347,
    -0.0002197998714399318,
    -0.00015217965129750156,
    9.276187540763203e-05,
    -7.888495738370696e-06,
    -1.3027815457462564e-05,
    6.119223071436864e-06,
    4.9358422984369235e-08,
    -1.1208408977836367e-06,
    3.7725229049101464e-07,
    9.082548785954708e-08,
    -8.282018825411796e-08,
    -7.217749953269958e-11,
    7.511116564273834e-09,
];
const FAR: [f64; 9] = [
    1.3653044360048443,
    -0.0528204731954092,
    0.0015106481224335157,
    0.005802757533282517,
    -0.0018663514269802305,
    0.0012287095249737946,
    0.0011057560927332586,
    0.00025741570438754025,
    -0.0004544751543352277,
];
/// The greatest w of `CENTRAL`; the middle and half the width of `1 / sqrt(w)` of `FAR`.
const CENTRE: f64 = 6.0;
const MIDDLE: f64 = 0.22264266375045005;
const HALF: f64 = 0.18560562671341302;
/// ln 2 in two parts, and a sum with which is rounded to a whole number in the last bits.
const LN_2: [f64; 2] = [0.6931471803691238, 1.9082149292705877e-10];
const ROUND: f64 = 6755399441055744.0;
/// 1 / k! for the exponential function within ln(2) / 2 of 0.
const FACTORIALS: [f64; 14] = [
    1.0,
    1.0,
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40320.0,
    1.0 / 362880.0,
    1.0 / 3628800.0,
    1.0 / 39916800.0,
    1.0 / 479001600.0,
    1.0 / 6227020800.0,
];
/// 1, 1 / 3, 1 / 5, ... of the inverse hyperbolic tangent.
pub(crate) const ODD: [f64; 12] = [
    1.0,
    1.0 / 3.0,
    1.0 / 5.0,
    1.0 / 7.0,
    1.0 / 9.0,
    1.0 / 11.0,
    1.0 / 13.0,
    1.0 / 15.0,
    1.0 / 17.0,
    1.0 / 19.0,
    1.0 / 21.0,
    1.0 / 23.0,
];

#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f64; N], t: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, &c| sum * t + c)
}

/// [`polynomial`] of all lanes.
#[inline(always)]
pub(crate) fn polynomials<const N: usize, const L: usize>(coefficients: &[f64; N], t: [f64; L]) -> [f64; L] {
    let mut sums = [0.0; L];
    for &c in coefficients.iter().rev() {
        for (sum, t) in sums.iter_mut().zip(t) {
            *sum = *sum * t + c;
        }
    }
    sums
}

/// The exponential function of numbers from -708 to 0.
#[inline(always)]
pub(crate) fn exponentials<const L: usize>(x: [f64; L]) -> [f64; L] {
    let (mut rounded, mut rest) = (x, x); // `map` of long arrays is not compiled for the machine
    for (rounded, rest) in rounded.iter_mut().zip(&mut rest) {
        *rounded = *rounded * std::f64::consts::LOG2_E + ROUND;
        let whole = *rounded - ROUND;
        *rest = *rest - whole * LN_2[0] - whole * LN_2[1];
    }
    let mut found = polynomials(&FACTORIALS, rest);
    for (found, rounded) in found.iter_mut().zip(rounded) {
        let power = rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(1023) << 52;
        *found *= f64::from_bits(power);
    }
    found
}

/// The natural logarithms of positive numbers, by `ln(m) = 2 artanh((m - 1) / (m + 1))` of their mantissas.
#[inline(always)]
pub(crate) fn logarithms(x: [f64; LANES]) -> [f64; LANES] {
    const ONE: u64 = 1023 << 52;
    let (mut found, mut powers) = (x, x);
    for (x, power) in found.iter_mut().zip(&mut powers) {
        // The power of 2 with which the mantissa lies about 1.
        let biased = x.to_bits().wrapping_add(ONE - std::f64::consts::FRAC_1_SQRT_2.to_bits()) >> 52;
        *power = f64::from_bits(ROUND.to_bits() + biased) - ROUND - 1023.0;
        *x = f64::from_bits(x.to_bits().wrapping_sub(biased.wrapping_sub(1023) << 52));
    }
    let quotients = found.map(|m| (m - 1.0) / (m + 1.0));
    let series = polynomials(&ODD, quotients.map(|s| s * s));
    for k in 0..LANES {
        found[k] = powers[k] * LN_2[0] + (powers[k] * LN_2[1] + 2.0 * quotients[k] * series[k]);
    }
    found
}

/// Probabilities below and above, and the density over that at 0.
#[inline(always)]
pub(crate) fn tails<const L: usize>(x: [f64; L]) -> [[f64; L]; 3] {
    let (mut size, mut power, mut place) = (x, x, x);
    for k in 0..L {
        let y = x[k].abs().min(37.5);
        (size[k], power[k], place[k]) = (y, -0.5 * y * y, (y - 4.0) / (y + 4.0));
    }
    let bells = exponentials(power);
    let heights = polynomials(&TAIL, place);
    let (mut least, mut most) = (bells, bells);
    for k in 0..L {
        let tail = bells[k] * (heights[k] / (1.0 + 1.25 * size[k]));
        let rest = 1.0 - tail;
        (least[k], most[k]) = if x[k] > 0.0 { (rest, tail) } else { (tail, rest) };
    }
    [least, most, bells]
}

/// [`cdf`] of all lanes.
#[inline(always)]
pub(crate) fn cdfs<const L: usize>(x: [f64; L]) -> [f64; L] {
    tails(x)[0]
}

/// Writes `Phi(a + b x)` and `Phi(-a - b x)` for each x of whole groups.
pub(crate) fn both_heights(a: f64, b: f64, x: &[[f64; MANY]], to: &mut [Vec<[f64; MANY]>; 2]) {
    let [below, above] = to;
    fast!({
        for ((x, below), above) in x.iter().zip(below.iter_mut()).zip(above.iter_mut()) {
            let mut at = *x;
            at.iter_mut().for_each(|x| *x = a + b * *x);
            [*below, *above, _] = tails(at);
        }
    })
}

/// The probability below `x`.
pub fn cdf(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() {
        return if x == 0.0 { 0.5 } else { x }; // half to the last bit
    }
    let size = x.abs();
    let tail = (-0.5 * size * size).exp() * polynomial(&TAIL, (size.min(1e9) - 4.0) / (size.min(1e9) + 4.0));
    let tail = tail / (1.0 + 1.25 * size);
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// Writes `Phi(a + b x)` for each x.
pub(crate) fn heights(a: f64, b: f64, x: &[f64], to: &mut [f64]) {
    fast!({
        let (blocks, rest) = x.as_chunks::<LANES>();
        let (to_blocks, to_rest) = to[..x.len()].as_chunks_mut::<LANES>();
        for (to, x) in to_blocks.iter_mut().zip(blocks) {
            *to = cdfs(x.map(|x| a + b * x));
        }
        let mut last = [0.0; LANES];
        last[..rest.len()].copy_from_slice(rest);
        let last = cdfs(last.map(|x| a + b * x));
        to_rest.copy_from_slice(&last[..rest.len()]);
    })
}

/// The density at `x`.
pub(crate) fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The point with the probability `p` below it; infinite for 0 and 1, NaN outside.
pub fn quantile(p: f64) -> f64 {
    let least = p.min(1.0 - p);
    if least.is_nan() || least <= 0.0 {
        return if p == 0.0 || p == 1.0 { (p - 0.5) * f64::INFINITY } else { f64::NAN };
    }
    let w = -(4.0 * least * (1.0 - least)).ln();
    if w <= CENTRE {
        return (2.0 * p - 1.0) * polynomial(&CENTRAL, w / 3.0 - 1.0);
    }
    let s = w.sqrt();
    let x = (2.0 * least - 1.0) * s * polynomial(&FAR, (1.0 / s - MIDDLE) / HALF);
    let error = (cdf(x) - least) / density(x);
    let x = x - error / (1.0 + x * error / 2.0);
    if p < 0.5 { x } else { -x }
}

#[cfg(test)]
#[path = "../../tests/unit/interval_normal.rs"]
mod tests;
