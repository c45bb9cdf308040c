//! Limits up to the outermost curve that is not rejected.

use super::search::{CLOSE, Levels, last_held};
use super::{Limits, at_levels};

/// Of areas near 1, where the last digits must not look like a limit.
pub(crate) const ROUNDING: f64 = 1e-12;
const LEAST: f64 = 1e-100; // standard errors
const FLAT: f64 = 1e-16; // a variance

/// The mean, the variance and the third central moment of the estimate on a curve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) mean: f64,
    pub(crate) variance: f64,
    pub(crate) third: f64,
}

impl Held {
    /// The standard error, and the skewness at the lower end, per unit of z^2 - 1.
    fn spread(&self) -> (f64, f64) {
        let error = self.variance.sqrt();
        (error, self.third / error.max(LEAST).powi(3) / 6.0)
    }

    /// By how much the estimate is within z standard errors; `side` is 1 at the lower end and -1 at the upper.
    fn gap(&self, z: f64, side: f64, share: f64) -> f64 {
        let (error, skew) = self.spread();
        let reach = z + (side * skew * f64::max(z * z - 1.0, 0.0)).clamp(0.0, z);
        reach * error + ROUNDING - side * (share - self.mean)
    }

    fn distance(&self, share: f64) -> f64 {
        let (error, skew) = self.spread();
        let apart = share - self.mean;
        let side = if apart == 0.0 { 0.0 } else { apart.signum() };
        side * unskewed(f64::max(apart.abs() - ROUNDING, 0.0) / error.max(LEAST), side * skew)
    }
}

/// The z with `reach = z + min(z, skew (z^2 - 1))` where z and skew are more than 1 and 0, or reach.
fn unskewed(reach: f64, skew: f64) -> f64 {
    let c = skew.max(0.0);
    let z = 2.0 * (reach + c) / (1.0 + (1.0 + 4.0 * c * (reach + c)).sqrt());
    if reach > 1.0 { z.max(reach / 2.0) } else { reach }
}

/// Curves of one slope.
pub(crate) trait Law: Sync {
    /// The estimate on the curve of this height.
    fn at(&self, height: f64) -> Held;
    /// What is measured on it.
    fn theta(&self, height: f64) -> f64;
}

/// Limits by the distance of the estimate from its mean, in standard errors of each curve.
pub(crate) struct Distance<L> {
    /// The curves.
    law: L,
    /// The estimate.
    share: f64,
    /// The height whose mean is the estimate.
    start: f64,
    /// The least and the greatest height.
    outer: [f64; 2],
    /// Whether the estimate does not vary at the start: about it no slope leads to an end.
    flat: bool,
    /// Curves between the start and each end: the distance may fall again on the way out.
    places: [Vec<(f64, Held)>; 2],
}

impl<L: Law> Distance<L> {
    /// Tries `n_places` heights between the start and either end.
    pub(crate) fn new(law: L, share: f64, start: f64, outer: [f64; 2], n_places: usize) -> Self {
        let places = outer.map(|end| {
            let place = |k| start + k as f64 / n_places as f64 * (end - start);
            (1..=n_places).map(|k| (place(k), law.at(place(k)))).collect()
        });
        let flat = law.at(start).variance < FLAT;
        Self { law, share, start, outer, flat, places }
    }
}

impl<L: Law> Distance<L> {
    fn end(&self, end: usize, z: f64, levels: &mut Levels) -> f64 {
        let (side, places) = (if end == 0 { 1.0 } else { -1.0 }, &self.places[end]);
        let last = places.iter().rposition(|(_, held)| held.gap(z, side, self.share) >= 0.0);
        let from = last.map_or(self.start, |k| places[k].0);
        let then = last.map_or(0, |k| k + 1).min(places.len().saturating_sub(1));
        let to = places.get(then).map_or(self.outer[end], |place| place.0);
        let gap = |a| self.law.at(a).gap(z, side, self.share);
        let height = if self.flat { last_held(from, to, gap) } else { levels.last_held(z, from, to, CLOSE, gap) };
        self.law.theta(height).clamp(0.0, 1.0)
    }
}

impl<L: Law> Limits for Distance<L> {
    fn ends(&self, z: &[f64]) -> Vec<[f64; 2]> {
        let mut levels: [Levels; 2] = Default::default();
        at_levels(self.share, z, |end, z| self.end(end, z, &mut levels[end]))
    }

    fn distance(&self, value: f64) -> f64 {
        let a = last_held(self.outer[0], self.outer[1], |a| value - self.law.theta(a));
        let own = self.law.at(a).distance(self.share);
        let below = self.share > value;
        let places = &self.places[usize::from(!below)];
        let beyond = places.iter().filter(|(at, _)| (at - self.start).abs() > (a - self.start).abs());
        let distances = beyond.map(|(_, held)| held.distance(self.share));
        if below { distances.fold(own, f64::min) } else { distances.fold(own, f64::max) }
    }
}
