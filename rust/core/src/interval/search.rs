//! The point to which a condition holds.

/// The distance from the point at which a search ends, and its most steps; bisection alone takes 48 on the widest.
pub(crate) const CLOSE: f64 = 1e-13;
const MOST_STEPS: usize = 200;
/// Points that lead to the next one; the part of the way of the first step; the most secants; a secant so many times as
/// long as the error is the last, checked at least so many times as far beyond it.
const KNOWN: usize = 4;
const FIRST: f64 = 0.02;
const SECANTS: usize = 10;
const SURE: f64 = 1e4;
const APART: f64 = 10.0;

/// The point from `inner` to `outer` where a continuous `gap` falls below 0, or `outer`; at `inner` it is 0 or more.
///
/// Inverse quadratic interpolation through the last three points where that is safe, bisection elsewhere (Chandrupatla,
/// 1997).
pub(crate) fn last_held(inner: f64, outer: f64, mut gap: impl FnMut(f64) -> f64) -> f64 {
    let (mut x, mut fx, mut y, mut fy) = (inner, gap(inner).max(0.0), outer, gap(outer));
    if fy >= 0.0 {
        return y;
    }
    let mut share = 0.5;
    for _ in 0..MOST_STEPS {
        let way = y - x;
        let least = CLOSE / way.abs().max(CLOSE);
        if least >= 0.5 {
            break;
        }
        // From x, the last point, to y, on the other side.
        let at = x + f64::clamp(share, least, 1.0 - least) * way;
        let f = gap(at);
        let (z, fz);
        if (f >= 0.0) == (fx >= 0.0) {
            (z, fz) = (x, fx);
        } else {
            (z, fz) = (y, fy);
            (y, fy) = (x, fx);
        }
        (x, fx) = (at, f);
        let (xi, phi) = ((x - y) / (z - y), (fx - fy) / (fz - fy));
        let safe = phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi;
        share = if safe {
            fx / (fy - fx) * fz / (fy - fz) + (z - x) / (y - x) * fx / (fz - fx) * fy / (fz - fy)
        } else {
            0.5
        };
        if share.is_nan() {
            share = 0.5;
        }
    }
    x
}

/// The points of [`last_held`] at levels, one after the other: each search starts at the point that the last ones let
/// expect, with the slope of the last secant.
#[derive(Default)]
pub(crate) struct Levels {
    /// Levels with their points, the last first.
    known: [Option<[f64; 2]>; KNOWN],
    slope: f64,
    /// Where the first search starts, if not at the inner end.
    pub(crate) start: Option<f64>,
}

impl Levels {
    /// The point at the level `z`, within `close`.
    pub(crate) fn last_held(
        &mut self,
        z: f64,
        inner: f64,
        outer: f64,
        close: f64,
        mut gap: impl FnMut(f64) -> f64,
    ) -> f64 {
        let found = self.secant(z, [inner, outer], close, &mut gap).unwrap_or_else(|| last_held(inner, outer, gap));
        if self.known[0].is_none_or(|last| last[0] != z) {
            self.known.rotate_right(1);
            self.known[0] = Some([z, found]);
        }
        found
    }

    /// The polynomial through the known points, by Neville's rule.
    fn expected(&self, z: f64) -> Option<f64> {
        let mut points: Vec<[f64; 2]> = self.known.iter().copied().flatten().collect();
        let levels: Vec<f64> = points.iter().map(|point| point[0]).collect();
        for order in 1..points.len() {
            for k in 0..points.len() - order {
                let (near, far) = (levels[k], levels[k + order]);
                points[k][1] = ((z - far) * points[k][1] - (z - near) * points[k + 1][1]) / (near - far);
            }
        }
        points.first().map(|point| point[1])
    }

    /// None where secants lead nowhere.
    fn secant(&mut self, z: f64, ends: [f64; 2], close: f64, gap: &mut impl FnMut(f64) -> f64) -> Option<f64> {
        let inside = |x: f64| f64::min(ends[0], ends[1]) <= x && x <= f64::max(ends[0], ends[1]);
        let (mut x, mut slope) = match self.expected(z) {
            Some(x) if inside(x) => (x, self.slope),
            _ => (self.start.unwrap_or(ends[0]) + FIRST * (ends[1] - ends[0]), 0.0),
        };
        let mut f = gap(x);
        if slope == 0.0 {
            let start = self.start.unwrap_or(ends[0]);
            slope = (f - gap(start)) / (x - start);
        }
        for k in 0..SECANTS {
            let (step, falls) = (-f / slope, slope * (ends[1] - ends[0]) < 0.0);
            if !falls {
                return None;
            }
            // The error of the point after a secant is a part of the product of the last two steps.
            let apart = step.abs();
            if apart <= if k == 0 { close } else { close * SURE } {
                // Beyond it the gap has another sign, or the curve bends: a staircase has steep and flat parts.
                let beyond = x + step + f64::max(apart, close * APART).copysign(step);
                let crossed = f == 0.0 || (gap(beyond) < 0.0) != (f < 0.0);
                self.slope = slope;
                return Some(x + step).filter(|&x| crossed && inside(x));
            }
            let next = x + step;
            if !inside(next) {
                return None;
            }
            let at = gap(next);
            slope = (at - f) / step;
            (x, f) = (next, at);
        }
        None
    }
}

#[cfg(test)]
mod tests {
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
        let stairs =
            |z: f64, a: f64| z - (0..8).map(|k| 0.4 + 0.4 * (1e3 * (a - f64::from(k) - 0.3)).tanh()).sum::<f64>();
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
}
