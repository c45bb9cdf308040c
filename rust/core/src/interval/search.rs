//! The point to which a condition holds.

/// The distance from the point at which a search ends, and its most steps; bisection alone takes 48 on the widest.
const CLOSE: f64 = 1e-13;
const MOST_STEPS: usize = 200;

/// The point from `inner` to `outer` where a continuous `gap` falls below 0, or `outer`; at `inner` it is 0 or more.
///
/// Inverse quadratic interpolation through the last three points where that is safe, bisection elsewhere (Chandrupatla,
/// 1997).
pub(crate) fn last_held(inner: f64, outer: f64, mut gap: impl FnMut(f64) -> f64) -> f64 {
    let (fx, fy) = (gap(inner).max(0.0), gap(outer));
    last_between([inner, fx], [outer, fy], 0.5, CLOSE, gap)
}

/// [`last_held`] between two points with known gaps, to within `close`; `share` of the way it is tried first.
pub(crate) fn last_between(
    [mut x, mut fx]: [f64; 2],
    [mut y, mut fy]: [f64; 2],
    mut share: f64,
    close: f64,
    mut gap: impl FnMut(f64) -> f64,
) -> f64 {
    if fy >= 0.0 {
        return y;
    }
    for _ in 0..MOST_STEPS {
        let way = y - x;
        let least = close / way.abs().max(close);
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
}
