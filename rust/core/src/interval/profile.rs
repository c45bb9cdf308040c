//! Limits of differences from those of both estimates and their correlation.
//!
//! With theta(u) the value at which the interval of an estimate ends at the normal quantile u (its lower end at -1.96 for
//! 95 %, the estimate at 0), the lower limit of a difference at quantile z is the least `theta_A(u) - theta_B(v)` with
//! `u^2 - 2 r u v + v^2 = z^2 (1 - r^2)`: u = z cos(t) and v = z cos(t + arccos r), t from pi to 2 pi - arccos r, because
//! theta increases. The limits of every estimate are cubic polynomials between levels.

use std::f64::consts::PI;

use super::search::last_held;
use crate::{Error, Result};

/// Of arcsinh(z / 2), between two levels; levels are closer together near 0.
const STEP: f64 = 0.1;
/// Places on the ellipse.
const GRID: usize = 25;
/// Of limits and differences, as a share.
const ROUNDING: f64 = 1e-9;

/// A cubic polynomial of the share of the way between two levels, and its least and greatest value.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    powers: [f64; 4],
    ends: [f64; 2],
}

/// Two estimates, the first less the second, and the arc cosine of their correlation.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Pair {
    pub first: usize,
    pub second: usize,
    pub angle: f64,
}

/// Limits of estimates at all levels.
#[derive(Clone, Debug)]
pub struct Profiles {
    z: Vec<f64>,
    /// Between levels: the lower limits of an estimate, its upper ones, those of the next estimate.
    pieces: Vec<Piece>,
    /// Half of what is between both limits at level 0.
    gaps: Vec<f64>,
}

/// The slope at one of three points of the parabola through them.
fn slope(x: [f64; 3], y: [f64; 3], at: usize) -> f64 {
    let rises = [(y[1] - y[0]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1])];
    rises[0] + (rises[1] - rises[0]) / (x[2] - x[0]) * (2.0 * x[at] - x[0] - x[1])
}

impl Profiles {
    /// The normal quantile of a level.
    pub fn level(k: usize) -> f64 {
        2.0 * (STEP * k as f64).sinh()
    }

    /// Of the lower and the upper limits of `n` estimates at three levels or more, of shape (n_levels, n).
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::Domain`] for limits of other shapes.
    pub fn new(n: usize, low: &[f64], high: &[f64]) -> Result<Self> {
        let levels = low.len() / n.max(1);
        Error::check_len("high", low.len(), high.len())?;
        Error::check_number("low", "three levels of each", levels as f64, levels > 2 && low.len() == n * levels)?;
        let z: Vec<f64> = (0..levels).map(Self::level).collect();
        let (mut pieces, mut gaps) = (Vec::with_capacity(2 * n * (levels - 1)), Vec::with_capacity(n));
        for estimate in 0..n {
            let of = |limits: &[f64]| limits.iter().skip(estimate).step_by(n).copied().collect::<Vec<f64>>();
            let mut limits = [of(low), of(high)];
            let [least, most] = [&limits[0], &limits[1]].map(|limit| [limit[0], limit[levels - 1]]);
            // Of an estimate with few possible values both limits begin apart; here both in the middle, but not at a
            // bound, where a limit stays but for rounding.
            let close = ROUNDING * f64::max(least[1].abs(), most[1].abs());
            let inside = least[0] - least[1] > close && most[1] - most[0] > close;
            let gap = if inside { (most[0] - least[0]) / 2.0 } else { 0.0 };
            limits[0].iter_mut().for_each(|limit| *limit += gap);
            limits[1].iter_mut().for_each(|limit| *limit -= gap);
            gaps.push(gap);
            for limit in limits {
                let slope_at = |k: usize| {
                    let start = k.saturating_sub(1).min(levels - 3);
                    let three = |of: &[f64]| [of[start], of[start + 1], of[start + 2]];
                    slope(three(&z), three(&limit), k - start)
                };
                for k in 0..levels - 1 {
                    let (width, v, w) = (z[k + 1] - z[k], limit[k], limit[k + 1]);
                    let (rise, fall) = (slope_at(k) * width, slope_at(k + 1) * width);
                    let powers = [v, rise, 3.0 * (w - v) - 2.0 * rise - fall, rise + fall - 2.0 * (w - v)];
                    pieces.push(Piece { powers, ends: [v.min(w), v.max(w)] });
                }
            }
        }
        Ok(Self { z, pieces, gaps })
    }

    /// The value of an estimate at a normal quantile.
    fn at(&self, estimate: usize, u: f64) -> f64 {
        let (size, last) = (u.abs(), self.z.len() - 2);
        let k = usize::min(((size / 2.0).asinh() / STEP) as usize, last);
        let t = ((size - self.z[k]) / (self.z[k + 1] - self.z[k])).clamp(0.0, 1.0);
        let piece = &self.pieces[(2 * estimate + usize::from(u > 0.0)) * (last + 1) + k];
        let [v, rise, bend, twist] = piece.powers;
        (v + t * (rise + t * (bend + t * twist))).max(piece.ends[0]).min(piece.ends[1])
    }

    /// The least difference of the true values that the intervals of both estimates hold jointly, at normal quantiles.
    fn least(&self, pair: Pair) -> impl Fn(f64) -> f64 {
        let around = move |share: f64| {
            let t = PI + share * (PI - pair.angle);
            [t.cos(), (t + pair.angle).cos()]
        };
        let step = 1.0 / (GRID - 1) as f64;
        let grid: [[f64; 2]; GRID] = std::array::from_fn(|k| around(k as f64 * step));
        // Equal models are off by the same part of the gap, others each by their own.
        let off = pair.angle.sin().max(0.0).sqrt() * (self.gaps[pair.first] + self.gaps[pair.second]);
        move |z| {
            let apart = |[u, v]: [f64; 2]| self.at(pair.first, z * u) - self.at(pair.second, z * v);
            let found = grid.map(apart);
            let least = found.iter().copied().fold(f64::INFINITY, f64::min);
            // The minimum of a parabola through three points, about each of those that are least but for rounding.
            let refined = |k: usize| {
                let (before, after) = (found[k - 1], found[k + 1]);
                let bend = before - 2.0 * found[k] + after;
                let moved = if bend > 0.0 { ((before - after) / (2.0 * bend)).clamp(-1.0, 1.0) } else { 0.0 };
                apart(around((k as f64 + moved) * step))
            };
            let near = (0..GRID).filter(|&k| found[k] - least <= ROUNDING * found[k].abs().max(least.abs()));
            near.map(|k| refined(k.clamp(1, GRID - 2))).fold(least, f64::min) - off
        }
    }

    /// The least differences of pairs, each at a normal quantile.
    ///
    /// # Errors
    /// [`Error::Domain`] for a pair of other estimates.
    pub fn end(&self, pair: Pair, z: f64) -> Result<f64> {
        self.check(pair)?;
        Ok(self.least(pair)(z))
    }

    /// The greatest normal quantile, up to `farthest`, at which the least difference is at least `value`.
    ///
    /// # Errors
    /// [`Error::Domain`] for a pair of other estimates.
    pub fn distance(&self, pair: Pair, value: f64, farthest: f64) -> Result<f64> {
        self.check(pair)?;
        let least = self.least(pair);
        let gap = |z| {
            let left = least(z) - value;
            // Where both intervals have reached their bounds, their difference is held at every level.
            if left == 0.0 { -f64::MIN_POSITIVE } else { left.max(-1.0) }
        };
        Ok(last_held(0.0, farthest, gap))
    }

    fn check(&self, pair: Pair) -> Result<()> {
        let last = pair.first.max(pair.second);
        Error::check_number("pair", "of estimates", last as f64, last < self.gaps.len())
    }
}
