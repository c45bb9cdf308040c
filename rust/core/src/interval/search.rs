//! The point to which a condition holds.

/// The distance from the point at which a search ends, and its most steps; bisection alone takes 48 on the widest.
pub(crate) const CLOSE: f64 = 1e-13;
const MOST_STEPS: usize = 200;
/// Points that lead to the next one; the part of the way of the first step; the most secants; the longest last one, whose
/// error is about its square, and so many times the error that it goes at least beyond the point.
const KNOWN: usize = 6;
const FIRST: f64 = 0.02;
const SECANTS: usize = 10;
const SHORT: f64 = 3e-7;
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

/// The points of [`last_held`] at levels: each search starts at the point that the known ones next to it let expect, with
/// the slope that is expected there.
#[derive(Default)]
pub(crate) struct Levels {
    /// Levels with their points and the slopes there.
    known: Vec<[f64; 3]>,
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
        if let Some([_, found, _]) = self.known.iter().find(|point| point[0] == z) {
            return *found;
        }
        let [found, slope] =
            self.secant(z, [inner, outer], close, &mut gap).unwrap_or_else(|| [last_held(inner, outer, gap), 0.0]);
        self.known.push([z, found, slope]);
        found
    }

    /// The polynomials through the next points and slopes, by Neville's rule.
    fn expected(&mut self, z: f64) -> Option<[f64; 2]> {
        self.known.sort_unstable_by(|one, other| f64::total_cmp(&(one[0] - z).abs(), &(other[0] - z).abs()));
        let mut points: Vec<[f64; 3]> = self.known.iter().copied().take(KNOWN).collect();
        for order in 1..points.len() {
            for k in 0..points.len() - order {
                let (near, far, other) = (points[k][0], points[k + order][0], points[k + 1]);
                for (of, other) in points[k].iter_mut().zip(other).skip(1) {
                    *of = ((z - far) * *of - (z - near) * other) / (near - far);
                }
            }
        }
        points.first().map(|&[_, point, slope]| [point, slope])
    }

    /// The point and the slope there; none where secants lead nowhere.
    fn secant(&mut self, z: f64, ends: [f64; 2], close: f64, gap: &mut impl FnMut(f64) -> f64) -> Option<[f64; 2]> {
        let inside = |x: f64| f64::min(ends[0], ends[1]) <= x && x <= f64::max(ends[0], ends[1]);
        let start = self.start.unwrap_or(ends[0]);
        let [mut x, mut slope] = match self.expected(z) {
            Some([x, slope]) if inside(x) => [x, slope],
            _ => [start + FIRST * (ends[1] - ends[0]), 0.0],
        };
        let mut f = gap(x);
        if slope * (ends[1] - ends[0]) >= 0.0 {
            slope = (f - gap(start)) / (x - start);
        }
        for _ in 0..SECANTS {
            let (step, falls) = (-f / slope, slope * (ends[1] - ends[0]) < 0.0);
            if !falls {
                return None;
            }
            // A short one ends beyond the point: the gap has another sign there unless the curve bends, as a staircase
            // has steep and flat parts.
            let short = step.abs() <= SHORT;
            let next = x + step + if short { f64::max(step.abs(), close * APART).copysign(step) } else { 0.0 };
            if !inside(next) {
                return None;
            }
            let at = gap(next);
            slope = (at - f) / (next - x);
            if short {
                let point = if f == 0.0 { x } else { x - f / slope };
                return (f == 0.0 || (at < 0.0) != (f < 0.0)).then_some([point, slope]);
            }
            (x, f) = (next, at);
        }
        None
    }
}

#[cfg(test)]
#[path = "../../tests/unit/interval_search.rs"]
mod tests;
