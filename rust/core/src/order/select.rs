//! Selection of the score with a given rank, by sampling and one pass.

use std::cmp::Ordering;

use crate::order::{Entry, places};
use crate::{Ctx, Problem, Result, Scores};

/// The sample: one in so many scores, within limits, but no more than so large a part of few.
const SAMPLE_EVERY: usize = 1 << 8;
const SAMPLE_LIMITS: (usize, usize) = (1 << 11, 1 << 16);
const SAMPLE_PART: usize = 8;
/// The fewest scores of which a sample tells enough.
const SAMPLED: usize = 1 << 10;

/// From so many scores on it pays to look for a bracket first.
const MANY: usize = 1 << 14;

/// The number of scores to sample from `n`.
fn sample_len(n: usize) -> usize {
    (n / SAMPLE_EVERY).clamp(SAMPLE_LIMITS.0.min(n / SAMPLE_PART), SAMPLE_LIMITS.1)
}

/// Four standard deviations of the weight of the highest `share` of `n` samples whose squared weights sum to `squares`,
/// and two samples.
fn slack(share: f64, n: f64, squares: f64) -> f64 {
    4.0 * (share * (1.0 - share) * squares).sqrt() + 2.0 * (squares / n).sqrt()
}

/// Two ranks in a sample of `n` that bracket, almost certainly, the lowest of the highest `share` of all scores.
pub(crate) fn bracket(n: usize, share: f64) -> [Option<usize>; 2] {
    let n = n as f64;
    let slack = slack(share, n, n);
    [n * share + slack, n * share - slack].map(|rank| (0.0..n).contains(&rank).then_some(rank as usize))
}

/// A score, and an index in its tie, that the negatives which reach it weigh a little more than `top`, almost
/// certainly; `None` if they would be a large part.
pub(crate) fn bound(problem: &Problem, scores: Scores<'_>, top: f64) -> Option<(f64, usize)> {
    let (n, share) = (scores.len(), top / problem.totals().1);
    let (n_sampled, labels, weights) = (sample_len(n), problem.labels(), problem.sample_weight());
    if n < SAMPLED || share > 0.5 {
        return None;
    }
    let counts = |&i: &usize| !labels[i] && weights.is_none_or(|weights| weights[i] != 0.0);
    let sampled = places(n_sampled, n).filter(counts);
    let mut sample: Vec<Entry> = sampled.map(|i| Entry::new(scores.get(i), i as u32)).collect();
    let found = match weights {
        None => bracket(sample.len(), share)[0].map(|rank| *sample.select_nth_unstable(rank).1),
        Some(weights) => {
            let weight = |entry: &Entry| weights[entry.index()];
            let squares = sample.iter().map(weight).map(|w| w * w).sum::<f64>();
            let total = sample.iter().map(weight).sum::<f64>();
            let reach = share * total + slack(share, sample.len() as f64, squares);
            (reach < total).then(|| weighted_nth(&mut sample, reach, Entry::cmp, weight).0)
        }
    };
    found.map(|entry| (entry.score(), entry.index()))
}

/// The first of `items`, in the order of `compare`, at which their total weight reaches `top`, or the last; and the
/// weight of those before.
pub(crate) fn weighted_nth<T: Copy>(
    mut items: &mut [T],
    top: f64,
    compare: impl Fn(&T, &T) -> Ordering,
    weight: impl Fn(&T) -> f64,
) -> (T, f64) {
    let mut before = 0.0;
    while items.len() > 1 {
        let half = items.len() / 2;
        items.select_nth_unstable_by(half, &compare);
        let first = items[..half].iter().map(&weight).sum::<f64>();
        let passed = before + first < top;
        before += if passed { first } else { 0.0 };
        items = if passed { &mut items[half..] } else { &mut items[..half] };
    }
    (items[0], before)
}

/// The `top`-th highest of the `n` scores in `parts`, which lie between `ends`; how many are higher, and how many
/// equal.
///
/// One pass counts the scores above a bracket and keeps those inside it, in which the standard library selects.
pub(crate) fn nth_highest<S: Copy + Default + PartialOrd + Send + Sync>(
    parts: &[&[S]],
    n: usize,
    top: usize,
    ends: (S, S),
    ctx: &Ctx<'_>,
) -> Result<(S, usize, usize)> {
    let mut limits = limits(parts, n, top, ends);
    loop {
        let (low, high) = limits;
        let found = ctx.map(parts.to_vec(), |part| {
            let above = part.iter().map(|&s| u32::from(s > high)).sum::<u32>();
            let mut inside = vec![S::default(); part.len()];
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
        let mut inside = Vec::with_capacity(found.iter().map(|(_, inside)| inside.len()).sum());
        found.iter().for_each(|(_, part)| inside.extend_from_slice(part));
        if above < top && top <= above + inside.len() {
            let (_, &mut score, _) = inside.select_nth_unstable_by(top - above - 1, descending::<S>);
            let count = |of: &dyn Fn(S) -> bool| inside.iter().filter(|&&s| of(s)).count();
            return Ok((score, above + count(&|s| s > score), count(&|s| s == score)));
        }
        limits = ends;
    }
}

fn descending<S: PartialOrd>(x: &S, y: &S) -> Ordering {
    y.partial_cmp(x).unwrap_or(Ordering::Equal)
}

/// Two scores that the `top`-th highest lies between, almost certainly: `ends`, or closer if there are many.
fn limits<S: Copy + PartialOrd>(parts: &[&[S]], n: usize, top: usize, ends: (S, S)) -> (S, S) {
    if n < MANY {
        return ends;
    }
    let mut sample = sampled(parts, n, sample_len(n)).collect::<Vec<_>>();
    let [last, first] = bracket(sample.len(), top as f64 / n as f64);
    let mut at = |rank: usize| *sample.select_nth_unstable_by(rank, descending).1;
    (last.map_or(ends.0, &mut at), first.map_or(ends.1, &mut at))
}

/// `n_sampled` of the `n` scores in `parts`, evenly spread.
pub(super) fn sampled<S: Copy>(parts: &[&[S]], n: usize, n_sampled: usize) -> impl Iterator<Item = S> {
    let (mut passed, mut part): (usize, &[S]) = (0, &[]);
    let mut parts = parts.iter();
    places(n_sampled, n).map_while(move |at| {
        while at - passed >= part.len() {
            passed += part.len();
            part = parts.next()?;
        }
        Some(part[at - passed])
    })
}

#[cfg(test)]
#[path = "../../tests/unit/order_select.rs"]
mod tests;
