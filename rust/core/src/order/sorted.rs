//! Sorted scores with an index that ranks any score in constant time.

use crate::order::map::Map;
use crate::order::{key, score_of, sort, sort_cells};
use crate::simd::fast;
use crate::{Ctx, Result};

/// Scores of a bucket that are compared without a branch.
const LANES: usize = 4;

/// Ascending scores, and where each bucket of a monotone [`Map`] begins.
///
/// With less than one score per bucket on average, a rank takes a few table look-ups; crowded buckets are bisected.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    pub(crate) map: Map,
    /// The scores, then `LANES` infinities.
    scores: Vec<f64>,
    /// Where each bucket begins, and the number of scores.
    starts: Vec<u32>,
}

impl Sorted {
    /// Sorts the scores of the regions of `self.map`, each given in parts. O(n) for n scores of a smooth distribution,
    /// O(n log n) at most.
    pub(crate) fn build(&mut self, regions: &[Vec<&[f64]>], ctx: &Ctx<'_>) -> Result<()> {
        let sizes: Vec<usize> = regions.iter().map(|parts| parts.iter().map(|part| part.len()).sum()).collect();
        let n = sizes.iter().sum::<usize>();
        let n_buckets = self.map.n_buckets();
        self.scores.resize(n + LANES, 0.0);
        self.scores[n..].fill(f64::INFINITY);
        self.starts.resize(n_buckets + 1, 0);
        self.starts[0] = 0;
        let region_len = self.map.region_len().min(n_buckets);
        let mut jobs = Vec::with_capacity(regions.len());
        let (mut rest, mut from) = (&mut self.scores[..n], 0);
        for ((parts, &size), starts) in regions.iter().zip(&sizes).zip(self.starts[1..].chunks_mut(region_len)) {
            let (scores, tail) = rest.split_at_mut(size);
            jobs.push((parts, scores, starts, (jobs.len() * region_len) as u32, from));
            (rest, from) = (tail, from + size);
        }
        let map = &self.map;
        ctx.try_map(jobs, |(parts, scores, starts, first_bucket, from)| {
            build_region(map, parts, scores, starts, first_bucket, from, ctx)
        })?;
        Ok(())
    }

    /// The scores, ascending.
    pub(crate) fn scores(&self) -> &[f64] {
        &self.scores[..self.scores.len() - LANES]
    }

    /// How many of the sorted scores are below `score + shift`, for each of `scores`.
    pub(crate) fn below(&self, scores: &[f64], shift: f64, ranks: &mut [u32]) {
        // In two steps, since a processor looks only so far ahead for the next table look-up.
        self.map.buckets(scores, shift, ranks);
        self.rank(scores, shift, ranks, |sorted, score| sorted < score);
    }

    /// How many of the sorted scores are at most `score`, for each of `scores`.
    pub(crate) fn up_to(&self, scores: &[f64], ranks: &mut [u32]) {
        self.map.buckets(scores, 0.0, ranks);
        self.rank(scores, 0.0, ranks, |sorted, score| sorted <= score);
    }

    /// Replaces the bucket of each shifted score by the number of sorted scores `before` it.
    fn rank(&self, scores: &[f64], shift: f64, ranks: &mut [u32], before: impl Fn(f64, f64) -> bool) {
        // Slices, since behind a reference they would be looked up for each score.
        let (sorted, starts) = (&self.scores[..], &self.starts[..]);
        fast!({
            for (rank, score) in ranks.iter_mut().zip(scores) {
                let (bucket, score) = (*rank as usize, score + shift);
                let start = starts[bucket] as usize;
                let first = sorted[start..start + LANES].iter();
                // Scores beyond the bucket are not before this one, so that the bucket's end does not matter.
                let passed = first.map(|&s| usize::from(before(s, score))).sum::<usize>();
                *rank = (start + passed) as u32;
                if passed == LANES {
                    // All of them are of the bucket.
                    *rank += rank_in(&sorted[start + LANES..starts[bucket + 1] as usize], score, &before);
                }
            }
        });
    }
}

/// How many of the last scores of a bucket are `before` a score.
#[cold]
#[inline(never)]
fn rank_in(rest: &[f64], score: f64, before: impl Fn(f64, f64) -> bool) -> u32 {
    // One comparison for a bucket of equal scores.
    let all = rest.last().is_some_and(|&s| before(s, score));
    (if all { rest.len() } else { rest.partition_point(|&s| before(s, score)) }) as u32
}

/// Sorts one region into `scores`, which begin at place `from` of all, and sets the `ends` of its buckets there.
fn build_region(
    map: &Map,
    parts: &[&[f64]],
    scores: &mut [f64],
    ends: &mut [u32],
    first_bucket: u32,
    from: usize,
    ctx: &Ctx<'_>,
) -> Result<()> {
    let mut buckets = vec![0; scores.len()];
    let mut rest = &mut buckets[..];
    for part in parts {
        let (to, tail) = rest.split_at_mut(part.len());
        map.buckets(part, 0.0, to);
        rest = tail;
    }
    ctx.check()?;
    let (items, cells) =
        (parts.iter().copied().flatten(), buckets.iter().map(|bucket| (bucket - first_bucket) as usize));
    sort_cells(items.copied(), cells, scores, ends, |crowd| sort_crowd(crowd, ctx))?;
    ends.iter_mut().for_each(|end| *end += from as u32);
    Ok(())
}

/// Sorts a bucket by integers, which is fast, and stops on the way if it is large.
fn sort_crowd(scores: &mut [f64], ctx: &Ctx<'_>) -> Result<()> {
    let mut keys: Vec<u64> = scores.iter().map(|&s| key(-s)).collect();
    sort(&mut keys, ctx)?;
    scores.iter_mut().zip(keys).for_each(|(score, key)| *score = 0.0 - score_of(key));
    Ok(())
}

#[cfg(test)]
#[path = "../../tests/unit/order_sorted.rs"]
mod tests;
