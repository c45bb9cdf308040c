//! Confidence limits on binormal curves, `R(x) = Phi(a + b Phi^-1(x))` of heights a and slopes b, and the distributions
//! that they need.

mod area;
mod beta;
mod called;
mod distance;
mod few;
mod mean;
mod normal;
mod profile;
mod rate;
mod search;

pub use area::{Area, Part};
pub use beta::{student, student_quantile};
pub use called::called;
pub use few::{Few, Span};
pub use mean::{Draws, Gain, Table, mean_tables, table};
pub use normal::{cdf, quantile};
pub use profile::{Pair, Profiles};
pub use rate::Rate;

use std::sync::LazyLock;

use crate::{Error, Result};

/// Probabilities with finite quantiles.
const LEAST: f64 = 1e-300;
const LAST: f64 = 1.0 - 1e-16;
/// Nodes of a quadrature.
const NODES: usize = 40;

/// Limits of one model at any level, and the tests that are dual to them.
pub trait Limits: Sync {
    /// The lower and the upper limits at normal quantiles `z`, best in order, as shares of the range of what is measured.
    fn ends(&self, z: &[f64]) -> Vec<[f64; 2]>;
    /// The distance of the estimate from a true `value`, in standard errors.
    fn distance(&self, value: f64) -> f64;
}

/// A class size as a whole number of at least 1: sums of weights and effective sizes are none.
pub(crate) fn whole(size: f64) -> f64 {
    f64::max(1.0, (size + 0.5 + 1e-9).floor())
}

fn check_sizes(sizes: [f64; 2]) -> Result<()> {
    let [pos, neg] = sizes;
    Error::check_number("sizes", "above 0", pos.min(neg), sizes.iter().all(|&size| 0.0 < size && size < f64::INFINITY))
}

fn check_model(share: f64, slope: f64) -> Result<()> {
    Error::check_rate("share", share)?;
    Error::check_number("slope", "above 0", slope, 0.0 < slope && slope < f64::INFINITY)
}

/// Limits at levels that hold the estimate; those of 0 and 1 end there. `of` gives the lower end (0) or the upper (1).
fn at_levels(share: f64, z: &[f64], mut of: impl FnMut(usize, f64) -> f64) -> Vec<[f64; 2]> {
    // One after the other: from levels far away a search, or what is known of flat curves, leads elsewhere.
    let ends = |&z: &f64| {
        let low = if share <= 0.0 { 0.0 } else { of(0, z).min(share) };
        [low, if share >= 1.0 { 1.0 } else { of(1, z).max(share) }]
    };
    z.iter().map(ends).collect()
}

/// A quantile of a probability, finite for 0 and 1.
fn probit(p: f64) -> f64 {
    quantile(p.clamp(LEAST, LAST))
}

/// Nodes and weights between two ends, denser at both.
fn quadrature(low: f64, high: f64) -> impl Iterator<Item = (f64, f64)> {
    use std::f64::consts::PI;
    let width = (high - low) / 2.0;
    LEGENDRE.iter().map(move |&(node, weight)| {
        let t = PI * (node + 1.0) / 2.0;
        (low + width * (1.0 - t.cos()), width * t.sin() * PI / 2.0 * weight)
    })
}

/// Nodes and weights of Gauss and Legendre: roots of the polynomial, by Newton's method.
static LEGENDRE: LazyLock<[(f64, f64); NODES]> = LazyLock::new(|| {
    let n = NODES as f64;
    std::array::from_fn(|k| {
        let mut x = -(std::f64::consts::PI * (k as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..8 {
            let (mut before, mut at) = (1.0, x);
            for j in 2..=NODES {
                let j = j as f64;
                (before, at) = (at, ((2.0 * j - 1.0) * x * at - (j - 1.0) * before) / j);
            }
            slope = n * (x * at - before) / (x * x - 1.0);
            x -= at / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
});
