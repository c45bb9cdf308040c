//! True positive rates where binormal curves call a share of all samples.

use super::normal::{LANES, cdfs, densities};
use crate::simd::fast;
use crate::{Error, Result};

/// Steps of a search, and the distance between two cuts at which it ends.
const MOST_STEPS: usize = 60;
const CLOSE: f64 = 1e-12;
/// Shares with finite probits.
const LEAST: f64 = 1e-15;

/// The true positive rates at the cuts above which curves of heights `a` and slopes `b` have a `share` of all samples.
///
/// Newton's steps, halves of the bracket where they leave it; each class has this share above one of its ends.
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
        let (mut x, mut y, mut farthest) = ([0.0; LANES], [0.0; LANES], 0.0);
        for k in 0..LANES {
            (x[k], y[k]) = (a[k] - cut[k], -cut[k] / b[k]);
        }
        let (pos, neg, of_pos, of_neg) = (cdfs(x), cdfs(y), densities(x), densities(y));
        for k in 0..LANES {
            let above = prevalence * pos[k] + (1.0 - prevalence) * neg[k] - share;
            let slope = prevalence * of_pos[k] + (1.0 - prevalence) * of_neg[k] / b[k];
            (low[k], high[k]) = if above >= 0.0 { (cut[k], high[k]) } else { (low[k], cut[k]) };
            let step = cut[k] + above / slope;
            let next = if low[k] <= step && step <= high[k] { step } else { (low[k] + high[k]) / 2.0 };
            farthest = f64::max(farthest, (next - cut[k]).abs());
            cut[k] = next;
        }
        if farthest < CLOSE {
            break;
        }
    }
    let mut x = a;
    x.iter_mut().zip(cut).for_each(|(x, cut)| *x -= cut);
    cdfs(x)
}
