//! Thresholds that a given number of scores reach, by sampling and one pass.

use std::cmp::Ordering;

use super::{Entry, spread};
use crate::{Ctx, Problem, Result, Scores, alloc};

/// Sampled scores: one in so many, within limits.
const SAMPLE_EVERY: usize = 1 << 8;
const SAMPLE_LIMITS: (usize, usize) = (1 << 11, 1 << 16);

/// So many scores that it pays to look for a bracket first.
const MANY: usize = 1 << 14;

/// How many of `n` scores to look at.
fn sample_len(n: usize) -> usize {
    (n / SAMPLE_EVERY).clamp(SAMPLE_LIMITS.0, SAMPLE_LIMITS.1)
}

/// Two ranks in a sample of `n` between which, by four standard deviations, a `share` of the population ends that
/// counts from the highest score.
fn bracket(n: usize, share: f64) -> [Option<usize>; 2] {
    let n = n as f64;
    let slack = 4.0 * (n * share * (1.0 - share)).sqrt() + 2.0;
    [n * share + slack, n * share - slack].map(|rank| (0.0..n).contains(&rank).then_some(rank as usize))
}

/// A score, and an index in its tie, that more than `top` negatives reach, though not many more; almost certainly.
/// `None` if a large part of them do.
pub(crate) fn bound(problem: &Problem, scores: Scores<'_>, top: usize) -> Option<(f64, usize)> {
    let (n, share) = (scores.len(), top as f64 / problem.n_neg() as f64);
    let n_sampled = sample_len(n);
    if n < 4 * n_sampled || share > 0.5 {
        return None;
    }
    let sampled = (0..n_sampled).map(|k| spread(k, n_sampled, n)).filter(|&i| !problem.labels()[i]);
    let mut sample: Vec<Entry> = sampled.map(|i| Entry::new(scores.get(i), i as u32)).collect();
    let [last, _] = bracket(sample.len(), share);
    last.map(|rank| *sample.select_nth_unstable(rank).1).map(|entry| (entry.score(), entry.index()))
}

/// A score that the negatives reach that hold more than a `share` of their weight, by a sample; -inf for a large share.
pub(crate) fn weighted_bound(labels: &[bool], weights: &[f64], scores: Scores<'_>, share: f64) -> f64 {
    let (n, n_sampled) = (scores.len(), sample_len(scores.len()));
    if n < 4 * n_sampled || share > 0.5 {
        return f64::NEG_INFINITY;
    }
    let sampled = (0..n_sampled).map(|k| spread(k, n_sampled, n)).filter(|&i| !labels[i] && weights[i] > 0.0);
    let mut sample: Vec<(f64, f64)> = sampled.map(|i| (scores.get(i), weights[i])).collect();
    sample.sort_unstable_by(|x, y| y.0.total_cmp(&x.0));
    let total = sample.iter().map(|(_, w)| w).sum::<f64>();
    let squares = sample.iter().map(|(_, w)| w * w).sum::<f64>();
    // By four standard deviations of the weight that a sample holds above the bound, and two samples.
    let slack = 4.0 * (share * (1.0 - share) * squares).sqrt() + 2.0 * (squares / sample.len() as f64).sqrt();
    let mut above = 0.0;
    let enough = sample.iter().position(|(_, w)| {
        above += w;
        above > share * total + slack
    });
    enough.map_or(f64::NEG_INFINITY, |k| sample[k].0)
}

/// The `top`-th highest of the scores in `parts`, of which there are `n`, at least `top`; how many are higher, and how
/// many are equal. All lie between the two of `ends`.
///
/// One pass counts the scores above a bracket and keeps those inside it, among which the standard library selects.
pub(crate) fn nth_highest<S: Copy + Default + PartialOrd + Send + Sync>(
    parts: &[&[S]],
    n: usize,
    top: usize,
    ends: (S, S),
    ctx: &Ctx<'_>,
) -> Result<(S, usize, usize)> {
    let descending = |x: &S, y: &S| y.partial_cmp(x).unwrap_or(Ordering::Equal);
    let n_sampled = sample_len(n);
    let mut limits = ends;
    if n >= MANY {
        let mut sample = sampled(parts, n, n_sampled).collect::<Vec<_>>();
        let mut at = |rank: usize| *sample.select_nth_unstable_by(rank, descending).1;
        let [last, first] = bracket(n_sampled, top as f64 / n as f64);
        limits = (last.map_or(limits.0, &mut at), first.map_or(limits.1, &mut at));
    }
    loop {
        let (low, high) = limits;
        let found = ctx.map(parts.to_vec(), |part| {
            let above = part.iter().map(|&s| u32::from(s > high)).sum::<u32>();
            let mut inside = alloc::filled(S::default(), part.len());
            let mut n_inside = 0;
            for &s in part {
                inside[n_inside] = s;
                n_inside += usize::from((s >= low) & (s <= high));
            }
            inside.truncate(n_inside);
            inside.shrink_to_fit();
            (above as usize, inside)
        })?;
        let above = found.iter().map(|(above, _)| above).sum::<usize>();
        let mut inside = alloc::with_capacity(found.iter().map(|(_, inside)| inside.len()).sum());
        found.iter().for_each(|(_, part)| inside.extend_from_slice(part));
        if above < top && top <= above + inside.len() {
            let (_, &mut score, _) = inside.select_nth_unstable_by(top - above - 1, descending);
            let count = |of: &dyn Fn(S) -> bool| inside.iter().filter(|&&s| of(s)).count();
            return Ok((score, above + count(&|s| s > score), count(&|s| s == score)));
        }
        limits = ends;
    }
}

/// `n_sampled` of the `n` scores in `parts`, evenly spread.
pub(super) fn sampled<S: Copy>(parts: &[&[S]], n: usize, n_sampled: usize) -> impl Iterator<Item = S> {
    let (mut passed, mut part): (usize, &[S]) = (0, &[]);
    let mut parts = parts.iter();
    (0..n_sampled).map_while(move |k| {
        let at = spread(k, n_sampled, n);
        while at - passed >= part.len() {
            passed += part.len();
            part = parts.next()?;
        }
        Some(part[at - passed])
    })
}
