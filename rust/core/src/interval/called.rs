//! True positive rates where binormal curves call a share of all samples.

use std::f64::consts::PI;

use super::normal::{cdfs, tails};
use crate::simd::fast;
use crate::{Error, Result};

/// Steps of a search, and the last one, after which the error is of about the third power.
const MOST_STEPS: usize = 60;
const CLOSE: f64 = 1e-5;
/// Curves at once: none waits for the last step of its own polynomial.
const LANES: usize = 16;
/// Shares with finite probits.
const LEAST: f64 = 1e-15;

/// The true positive rates at the cuts above which curves of heights `a` and slopes `b` have a `share` of all samples.
///
/// Halley's steps, halves of the bracket where they leave it; each class has this share above one of its ends.
///
/// # Errors
/// [`Error::Length`] for heights and slopes that do not agree.
pub fn called(share: f64, prevalence: f64, a: &[f64], b: &[f64]) -> Result<Vec<f64>> {
    Error::check_len("slopes", a.len(), b.len())?;
    let share = share.clamp(LEAST, 1.0 - LEAST);
    let goal = super::quantile(share);
    let mut found = Vec::with_capacity(a.len().next_multiple_of(LANES));
    for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
        let of = |lane: usize| [*a.get(lane).unwrap_or(&0.0), *b.get(lane).unwrap_or(&1.0)];
        let curves: [[f64; 2]; LANES] = std::array::from_fn(of);
        let (a, b) = (curves.map(|[a, _]| a), curves.map(|[_, b]| b));
        found.extend(fast!({ rates(share, goal, prevalence, a, b) }));
    }
    found.truncate(a.len());
    Ok(found)
}

#[inline(always)]
fn rates(share: f64, goal: f64, prevalence: f64, a: [f64; LANES], b: [f64; LANES]) -> [f64; LANES] {
    let (mut low, mut high, mut cut) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    for k in 0..LANES {
        (low[k], high[k]) = (f64::min(a[k] - goal, -b[k] * goal), f64::max(a[k] - goal, -b[k] * goal));
        cut[k] = (low[k] + high[k]) / 2.0;
    }
    for _ in 0..MOST_STEPS {
        let (mut x, mut y, mut left) = (a, b, b);
        for k in 0..LANES {
            (x[k], y[k]) = (a[k] - cut[k], -cut[k] / b[k]);
        }
        let ([pos, _, of_pos], [neg, _, of_neg]) = (tails(x), tails(y));
        for k in 0..LANES {
            let above = (2.0 * PI).sqrt() * (prevalence * pos[k] + (1.0 - prevalence) * neg[k] - share);
            let (pos, neg) = (prevalence * of_pos[k], (1.0 - prevalence) * of_neg[k] / b[k]);
            let (slope, bend) = (pos + neg, pos * x[k] + neg * y[k] / b[k]);
            low[k] = if above >= 0.0 { cut[k] } else { low[k] };
            high[k] = if above >= 0.0 { high[k] } else { cut[k] };
            let next = cut[k] + above * slope / (slope * slope + above * bend / 2.0);
            let inside = low[k] <= next && next <= high[k];
            left[k] = if inside { (next - cut[k]).abs() / b[k].min(1.0) } else { f64::INFINITY };
            cut[k] = if inside { next } else { (low[k] + high[k]) / 2.0 };
        }
        if left.iter().all(|&left| left < CLOSE) {
            break;
        }
    }
    let mut x = a;
    x.iter_mut().zip(cut).for_each(|(x, cut)| *x -= cut);
    cdfs(x)
}
