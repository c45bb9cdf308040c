//! The beta distribution and what follows from it: binomial tails and Student's t.

use std::f64::consts::PI;

use super::normal::{LANES, LOWEST, ODD, exponentials, logarithms, polynomials};
use super::quadrature;

/// Parameters from which both on the integral is computed by quadrature, because the continued fraction converges
/// slowly; its most terms; standard deviations beyond which the density is that of rounding.
const LARGE: f64 = 3000.0;
const TERMS: usize = 2000;
const FAR: f64 = 12.0;
const TINY: f64 = 1e-300;
/// Terms between two looks at whether they suffice.
const EVERY: usize = 4;
/// Degrees of freedom from which on Student's distribution is that of a normal deviate but for 1e-12.
const MANY: f64 = 1e6;
/// A relative step after which there is no other.
const NEAR: f64 = 1e-9;
/// Below it the error of Stirling's series is found from that further on.
const STIRLING: f64 = 7.0;

/// The probability below a point, that above it, and `x^a (1 - x)^b / B(a, b)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beta {
    pub(crate) below: f64,
    pub(crate) above: f64,
    pub(crate) mass: f64,
}

/// The series of [`stirling_error`], of `1 / x^2` and over x.
const SERIES: [f64; 7] =
    [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360360.0, 1.0 / 156.0];

/// ln Gamma(x + 1) less Stirling's formula `(x + 1/2) ln x - x + ln(2 pi) / 2`.
fn stirling_error(x: f64) -> f64 {
    let series = |x: f64| SERIES.iter().rev().fold(0.0, |sum, c| sum / (x * x) + c) / x;
    if x >= STIRLING {
        return series(x);
    }
    // Gamma(x + 1) = Gamma(y + 1) / ((x + 1) ... y)
    let (mut y, mut product) = (x, 1.0);
    while y < STIRLING {
        y += 1.0;
        product *= y;
    }
    series(y) + (y + 0.5) * y.ln() - y - product.ln() - ((x + 0.5) * x.ln() - x)
}

/// `x ln(x / m) + m - x`, without cancellation where x is near m.
fn deviance(x: f64, m: f64) -> f64 {
    let apart = x - m;
    if apart.abs() < 0.1 * (x + m) {
        let v = apart / (x + m);
        let mut sum = apart * v;
        let (mut term, mut k) = (2.0 * x * v, 1.0);
        loop {
            term *= v * v;
            k += 2.0;
            let next = sum + term / k;
            if next == sum {
                return sum;
            }
            sum = next;
        }
    }
    x * (x / m).ln() - apart
}

/// A distribution of two parameters above 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    a: f64,
    b: f64,
    /// The logarithm of the mass where its deviance is 0.
    scale: f64,
}

impl Law {
    pub(crate) fn new(a: f64, b: f64) -> Self {
        let n = a + b;
        let scale = stirling_error(n) - stirling_error(a) - stirling_error(b) + 0.5 * (a * b / n / (2.0 * PI)).ln();
        Self { a, b, scale }
    }

    /// `x^a y^b / B(a, b)` with `y = 1 - x`.
    fn mass(&self, x: f64, y: f64) -> f64 {
        if x <= 0.0 || y <= 0.0 {
            return 0.0;
        }
        let n = self.a + self.b;
        (self.scale - deviance(self.a, n * x) - deviance(self.b, n * y)).exp()
    }

    /// Probabilities at x, with `y = 1 - x`.
    pub(crate) fn at(&self, x: f64, y: f64) -> Beta {
        let Self { a, b, .. } = *self;
        if x <= 0.0 || y <= 0.0 {
            let below = f64::from(x > 0.0);
            return Beta { below, above: 1.0 - below, mass: 0.0 };
        }
        let mass = self.mass(x, y);
        if a.min(b) > LARGE {
            let below = self.integral(x);
            return Beta { below, above: 1.0 - below, mass };
        }
        if x * (a + b + 2.0) <= a + 1.0 {
            let below = (mass * fraction(a, b, x) / a).min(1.0);
            Beta { below, above: 1.0 - below, mass }
        } else {
            let above = (mass * fraction(b, a, y) / b).min(1.0);
            Beta { below: 1.0 - above, above, mass }
        }
    }

    /// The probability below x for large parameters: the density from there to where it is negligible.
    fn integral(&self, x: f64) -> f64 {
        let n = self.a + self.b;
        let (middle, error) = (self.a / n, (self.a * self.b / (n * n * (n + 1.0))).sqrt());
        let low = x < middle;
        // From beyond the mode: towards the end, a few standard errors from there on.
        let end = if low { (x - FAR * error).max(0.0) } else { (x + FAR * error).min(1.0) };
        let parts = quadrature(f64::min(x, end), f64::max(x, end));
        // Points that are rounded to an end have no mass.
        let density = |t: f64| if t * (1.0 - t) > 0.0 { self.mass(t, 1.0 - t) / (t * (1.0 - t)) } else { 0.0 };
        let sum: f64 = parts.map(|(t, weight)| weight * density(t)).sum();
        if low { sum.min(1.0) } else { 1.0 - sum.min(1.0) }
    }

    /// The point with the probability `p` below it; the search starts at `from`.
    pub(crate) fn quantile(&self, p: f64, from: f64) -> f64 {
        let (mut low, mut high, mut x) = (0.0, 1.0, from);
        for _ in 0..200 {
            let found = self.at(x, 1.0 - x);
            let gap = found.below - p;
            if gap > 0.0 {
                high = x
            } else {
                low = x
            }
            let step = gap * x * (1.0 - x) / found.mass;
            let next = x - step;
            // Bisection, of the logarithm near 0, where Newton's step leaves the bracket.
            let next = if next > low && next < high {
                next
            } else if low > 0.0 {
                (low * high).sqrt()
            } else {
                high / 2.0
            };
            if (next - x).abs() <= 1e-15 * x || high <= f64::MIN_POSITIVE {
                return next;
            }
            x = next;
        }
        x
    }
}

/// The continued fraction of the integral from 0 to x over `x^a (1 - x)^b / (a B(a, b))`, as the quotients q / p of
/// Wallis' recurrences.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let (mut p, mut q) = ([1.0, 1.0 - (a + b) * x / (a + 1.0)], [1.0, 1.0]);
    let mut found = f64::INFINITY;
    for k in 1..TERMS {
        let m = k as f64;
        let (first, second, third) = (a + 2.0 * m - 1.0, a + 2.0 * m, a + 2.0 * m + 1.0);
        let part = x / (first * second * third);
        let (even, odd) = (m * (b - m) * third * part, -(a + m) * (a + b + m) * first * part);
        p[0] = p[1] + even * p[0];
        q[0] = q[1] + even * q[0];
        p[1] = p[0] + odd * p[1];
        q[1] = q[0] + odd * q[1];
        let scale = 1.0 / if p[1].abs() < TINY { TINY } else { p[1] };
        (p, q) = ([p[0] * scale, 1.0], [q[0] * scale, q[1] * scale]);
        let before = found;
        found = q[1];
        if (found - before).abs() < 1e-15 * found.abs() {
            break;
        }
    }
    found
}

#[inline(always)]
fn fractions(a: Lanes, b: Lanes, x: Lanes) -> Lanes {
    let (mut p, mut q) = ([1.0; LANES], [1.0; LANES]);
    let (mut p_next, mut q_next) = (each([a, b, x], |[a, b, x]| 1.0 - (a + b) * x / (a + 1.0)), q);
    let (mut found, mut before) = (q, [0.0; LANES]);
    for start in (1..TERMS).step_by(EVERY) {
        for k in start..start + EVERY {
            let m = k as f64;
            for lane in 0..LANES {
                let (a, b) = (a[lane], b[lane]);
                let (first, second, third) = (a + 2.0 * m - 1.0, a + 2.0 * m, a + 2.0 * m + 1.0);
                let part = x[lane] / (first * second * third);
                let (even, odd) = (m * (b - m) * third * part, -(a + m) * (a + b + m) * first * part);
                p[lane] = p_next[lane] + even * p[lane];
                q[lane] = q_next[lane] + even * q[lane];
                p_next[lane] = p[lane] + odd * p_next[lane];
                q_next[lane] = q[lane] + odd * q_next[lane];
            }
        }
        let mut moved = 0.0;
        for lane in 0..LANES {
            let scale = 1.0 / if p_next[lane].abs() < TINY { TINY } else { p_next[lane] };
            (p[lane], p_next[lane]) = (p[lane] * scale, 1.0);
            (q[lane], q_next[lane]) = (q[lane] * scale, q_next[lane] * scale);
            // Steps shrink as a geometric series does, or faster: what is left is less than the next one.
            let (apart, close) = ((q_next[lane] - found[lane]).abs(), 1e-16 * q_next[lane].abs());
            moved = f64::max(moved, apart * f64::min(apart / before[lane], 0.1) - close);
            (before[lane], found[lane]) = (apart, q_next[lane]);
        }
        if moved <= 0.0 {
            break;
        }
    }
    found
}

type Lanes = [f64; LANES];

/// What a function of some numbers in the same lane is, lane by lane.
#[inline(always)]
pub(crate) fn each<const N: usize>(numbers: [Lanes; N], of: impl Fn([f64; N]) -> f64) -> Lanes {
    let mut found = [0.0; LANES];
    for (lane, found) in found.iter_mut().enumerate() {
        let mut one = [0.0; N];
        for (one, numbers) in one.iter_mut().zip(&numbers) {
            *one = numbers[lane];
        }
        *found = of(one);
    }
    found
}

#[inline(always)]
fn stirling_errors(x: Lanes) -> Lanes {
    let y = x.map(|x| if x < STIRLING { x + STIRLING } else { x });
    let series = polynomials(&SERIES, y.map(|y| 1.0 / (y * y)));
    let found = each([series, y], |[series, y]| series / y);
    if x.iter().all(|&x| x >= STIRLING) {
        return found;
    }
    let product = x.map(|x| (1..=STIRLING as usize).fold(1.0, |product, k| product * (x + k as f64)));
    let (of_x, of_y, of_product) = (logarithms(x), logarithms(y), logarithms(product));
    let moved = each([y, of_y, of_product], |[y, of_y, of_product]| (y + 0.5) * of_y - y - of_product);
    let moved = each([moved, x, of_x], |[moved, x, of_x]| moved - ((x + 0.5) * of_x - x));
    each([x, found, moved], |[x, found, moved]| if x < STIRLING { found + moved } else { found })
}

#[inline(always)]
fn deviances(x: Lanes, m: Lanes) -> Lanes {
    let v = each([x, m], |[x, m]| (x - m) / (x + m));
    let (squares, logs) = (v.map(|v| v * v), logarithms(each([x, m], |[x, m]| x / m)));
    let series = polynomials(&ODD, squares);
    let near = each([x, m, v, series], |[x, m, v, series]| (x - m) * v + 2.0 * x * v * (series - 1.0));
    let far = each([x, m, logs], |[x, m, log]| x * log - (x - m));
    each([v, near, far], |[v, near, far]| if v.abs() < 0.1 { near } else { far })
}

/// [`Law`] of some parameters at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Laws {
    a: Lanes,
    b: Lanes,
    scale: Lanes,
}

impl Laws {
    #[inline(always)]
    pub(crate) fn new(a: Lanes, b: Lanes) -> Self {
        let n = each([a, b], |[a, b]| a + b);
        let (of_n, of_a, of_b) = (stirling_errors(n), stirling_errors(a), stirling_errors(b));
        let logs = logarithms(each([a, b, n], |[a, b, n]| a * b / n / (2.0 * PI)));
        let scale = each([of_n, of_a, of_b, logs], |[n, a, b, log]| n - a - b + 0.5 * log);
        Self { a, b, scale }
    }

    /// The probabilities below x and the masses there, with `y = 1 - x`, none 0.
    #[inline(always)]
    pub(crate) fn at(&self, x: Lanes, y: Lanes) -> [Lanes; 2] {
        let Self { a, b, scale } = *self;
        if (0..LANES).any(|k| a[k].min(b[k]) > LARGE) {
            let found: [Beta; LANES] =
                std::array::from_fn(|k| Law { a: a[k], b: b[k], scale: scale[k] }.at(x[k], y[k]));
            return [found.map(|one| one.below), found.map(|one| one.mass)];
        }
        let of_a = deviances(a, each([a, b, x], |[a, b, x]| (a + b) * x));
        let of_b = deviances(b, each([a, b, y], |[a, b, y]| (a + b) * y));
        let powers = each([scale, of_a, of_b], |[scale, a, b]| f64::max(scale - a - b, LOWEST));
        let mass = exponentials(powers);
        // From the nearer end.
        let high = each([a, b, x], |[a, b, x]| x * (a + b + 2.0) - (a + 1.0));
        let turned = |one, other| each([high, one, other], |[high, one, other]| if high <= 0.0 { one } else { other });
        let (a, b, x) = (turned(a, b), turned(b, a), turned(x, y));
        let tail = each([mass, fractions(a, b, x), a], |[mass, fraction, a]| (mass * fraction / a).min(1.0));
        [turned(tail, tail.map(|tail| 1.0 - tail)), mass]
    }
}

/// The probability of at most `k` of `n` trials of probability `u`, and of exactly `k + 1`.
pub(crate) struct Binomial {
    n: f64,
    k: f64,
    law: Option<Law>,
    next: Option<Law>,
}

impl Binomial {
    pub(crate) fn new(n: f64, k: f64) -> Self {
        let law = (0.0 <= k && k < n).then(|| Law::new(k + 1.0, n - k));
        let next = (-1.0 <= k && k < n).then(|| Law::new(k + 2.0, n - k));
        Self { n, k, law, next }
    }

    pub(crate) fn up_to(&self, u: f64) -> f64 {
        self.law.map_or(f64::from(self.k >= 0.0), |law| law.at(u, 1.0 - u).above)
    }

    pub(crate) fn next(&self, u: f64) -> f64 {
        self.next.map_or(0.0, |law| law.mass(u, 1.0 - u) / ((self.n + 1.0) * u * (1.0 - u)))
    }
}

/// The probability below t of Student's distribution with `df` degrees of freedom.
pub fn student(df: f64, t: f64) -> f64 {
    if df.is_nan() || df <= 0.0 || t.is_nan() {
        return f64::NAN;
    }
    let square = t * t;
    if df > MANY {
        let distance = if df.is_infinite() { t.abs() } else { (df * (square / df).ln_1p()).sqrt() };
        return super::cdf((1.0 - 0.25 / df) * distance * t.signum()); // Wallace's approximation
    }
    if square.is_infinite() {
        return f64::from(t > 0.0);
    }
    let tail = Law::new(df / 2.0, 0.5).at(df / (df + square), square / (df + square)).below / 2.0;
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The point with the probability `p` below it of Student's distribution with `df` degrees of freedom.
pub fn student_quantile(df: f64, p: f64) -> f64 {
    if df.is_nan() || df <= 0.0 || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let (least, z) = (p.min(1.0 - p), super::quantile(p));
    if df > MANY || least == 0.0 || least == 0.5 {
        return if z.is_finite() { z + (z.powi(3) + z) / (4.0 * df) } else { z }; // Cornish and Fisher's expansion
    }
    let law = Law::new(df / 2.0, 0.5);
    // Of the logarithm of t below the probability, whose slope is less than df.
    let tail = |t: f64| {
        let square = t * t;
        law.at(df / (df + square), square / (df + square))
    };
    let (mut low, mut high) = (0.0, f64::INFINITY);
    // From three terms of Cornish and Fisher's expansion, which are too far out for few degrees of freedom.
    let (square, most) = (z * z, 0.5 * df.sqrt());
    let added = (square + 1.0) / (4.0 * df) + (5.0 * square * square + 16.0 * square + 3.0) / (96.0 * df * df);
    let mut t = z.abs() * (1.0 + added.min(most));
    for _ in 0..400 {
        let found = tail(t);
        let gap = found.below / 2.0 - least;
        if gap > 0.0 {
            low = t
        } else {
            high = t
        }
        // d below / dt = -2 mass / t
        let ratio = found.below / 2.0 / least;
        let step = if ratio > 0.0 { ratio.ln() * found.below / 2.0 / (found.mass / t) } else { f64::NAN };
        if step.abs() <= NEAR * t {
            t += step; // with an error of about the square
            break;
        }
        let next = t + step;
        let next = if next > low && next < high {
            next
        } else if high.is_infinite() {
            2.0 * t
        } else {
            (low + high) / 2.0
        };
        if (next - t).abs() <= 1e-15 * t || !next.is_finite() {
            t = next;
            break;
        }
        t = next;
    }
    if p < 0.5 { -t } else { t }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The binomial tail as a sum.
    fn naive(n: i32, k: i32, u: f64) -> f64 {
        let mut term = (1.0 - u).powi(n);
        let mut sum = 0.0;
        for j in 0..=k {
            sum += term;
            term *= f64::from(n - j) / f64::from(j + 1) * u / (1.0 - u);
        }
        sum
    }

    #[test]
    fn tails_are_sums_of_the_binomial_distribution() {
        for n in [1, 2, 7, 40, 300] {
            for k in [0, 1, 3, 20, 150] {
                for u in [1e-9, 0.01, 0.3, 0.5, 0.9] {
                    if k < n {
                        let (law, expected) = (Binomial::new(n.into(), k.into()), naive(n, k, u));
                        let (found, next) = (law.up_to(u), law.next(u));
                        assert!((found - expected).abs() < 1e-13, "{n} {k} {u}: {found} {expected}");
                        let expected = naive(n, k + 1, u) - expected;
                        assert!((next - expected).abs() < 1e-13, "{n} {k} {u}: {next} {expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn laws_at_once_are_those_of_each() {
        let sizes = [0.3, 1.0, 6.999, 7.0, 25.5, 400.0, 2999.0, 4000.0];
        for turn in 0..LANES {
            let b: Lanes = std::array::from_fn(|k| sizes[(k + turn) % LANES]);
            let both = |shift: f64| each([sizes, b], |[a, b]| (a / (a + b) * shift).clamp(1e-300, 1.0 - 1e-16));
            for x in [both(1.0), both(0.7), both(1.2), both(1e-9), both(0.0), both(1e9)] {
                let y = x.map(|x| 1.0 - x);
                let [below, mass] = crate::simd::fast!({ Laws::new(sizes, b).at(x, y) });
                for k in 0..LANES {
                    let expected = Law::new(sizes[k], b[k]).at(x[k], y[k]);
                    assert!((below[k] - expected.below).abs() < 1e-13, "{} {} {}", sizes[k], b[k], x[k]);
                    assert!((mass[k] - expected.mass).abs() < 1e-12 * (1.0 + expected.mass), "{} {}", sizes[k], b[k]);
                }
            }
        }
    }

    #[test]
    fn large_parameters_have_their_ends() {
        let law = Law::new(4000.0, 5000.0);
        for x in [1e-300, 1e-17, f64::EPSILON] {
            let [low, high] = [law.at(x, 1.0 - x), law.at(1.0 - x, x)];
            assert_eq!([low.below, high.below, low.mass, high.mass], [0.0, 1.0, 0.0, 0.0], "{x}");
        }
    }

    #[test]
    fn large_parameters_continue_small_ones() {
        // The fraction and the quadrature are two ways to one number.
        for (a, b) in [(3001.0, 3001.0), (5000.0, 40_000.0), (1e5, 4000.0)] {
            let law = Law::new(a, b);
            let error = (a * b / (a + b).powi(3)).sqrt();
            for z in [-6.0, -2.0, -0.01, 0.0, 0.5, 3.0, 7.0] {
                let x = a / (a + b) + z * error;
                let below = x * (a + b + 2.0) <= a + 1.0;
                let (law, y) = (law, 1.0 - x);
                let expected = if below {
                    law.mass(x, y) * fraction(a, b, x) / a
                } else {
                    1.0 - law.mass(x, y) * fraction(b, a, y) / b
                };
                assert!((law.at(x, y).below - expected).abs() < 2e-10, "{a} {b} {z}");
            }
        }
    }

    #[test]
    fn quantiles_are_inverse() {
        for (a, b) in [(1.0, 8.0), (0.5, 3.0), (4.0, 1e9), (20.0, 3.0), (1.0, 1.0)] {
            let law = Law::new(a, b);
            for p in [1e-6, 1e-3, 0.2, 0.5, 0.9, 0.999] {
                let x = law.quantile(p, a / (a + b));
                assert!((law.at(x, 1.0 - x).below / p - 1.0).abs() < 1e-12 + 1e-15 * b, "{a} {b} {p}");
            }
        }
        for df in [0.02, 0.5, 1.0, 2.0, 3.7, 30.0, 1e4, 1e12, f64::INFINITY] {
            for p in [1e-12, 1e-5, 0.025, 0.3, 0.4999, 0.6, 0.975] {
                let t = student_quantile(df, p);
                assert!(t.abs() > 1e100 || (student(df, t) / p - 1.0).abs() < 1e-10, "{df} {p} {t}");
            }
            assert_eq!(student(df, 0.0), 0.5);
        }
        for t in [-5.0, -1.0, 0.3, 4.0] {
            let [below, above] = [MANY * (1.0 - 1e-12), MANY * (1.0 + 1e-12)].map(|df| student(df, t));
            assert!((below / above - 1.0).abs() < 1e-8, "{t} {below} {above}");
            let [below, above] = [MANY * (1.0 - 1e-12), MANY * (1.0 + 1e-12)].map(|df| student_quantile(df, above));
            assert!((below - above).abs() < 1e-8, "{t} {below} {above}");
        }
        // The distributions of one degree of freedom and of two have closed forms.
        assert!((student(1.0, -3.0) - (0.5 - 3.0_f64.atan() / PI)).abs() < 1e-15);
        assert!((student(2.0, -3.0) - (0.5 - 3.0 / 2.0 / 11.0_f64.sqrt())).abs() < 1e-15);
    }
}
