//! Sorted scores with an index that ranks any score in constant time.

use crate::order::map::Map;
use crate::order::{Entry, sort};
use crate::simd::fast;
use crate::{CHUNK, Ctx, Result};

/// Scores of a bucket that are compared without a branch.
const LANES: usize = 4;
/// Up to so many scores of a bucket are sorted by insertion.
const FEW: usize = 16;

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
        fast!({
            for (rank, score) in ranks.iter_mut().zip(scores) {
                let (bucket, score) = (*rank as usize, score + shift);
                let start = self.starts[bucket] as usize;
                let first = self.scores[start..start + LANES].iter();
                // Scores beyond the bucket are not before this one, so that the bucket's end does not matter.
                let passed = first.map(|&s| usize::from(before(s, score))).sum::<usize>();
                *rank = (start + passed) as u32;
                if passed == LANES {
                    *rank = self.rank_in(bucket, start + LANES, |s| before(s, score)) as u32;
                }
            }
        });
    }

    /// The rank in a bucket, from place `from` on.
    #[cold]
    #[inline(never)]
    fn rank_in(&self, bucket: usize, from: usize, before: impl Fn(f64) -> bool) -> usize {
        // All `LANES` before it are of the bucket.
        let end = self.starts[bucket + 1] as usize;
        if before(self.scores[end - 1]) {
            return end;
        }
        from + self.scores[from..end].partition_point(|&s| before(s))
    }
}

/// Sorts one region into `scores`, which begin at place `from` of all, and sets the `ends` of its buckets.
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
    ends.fill(0);
    for &bucket in &buckets {
        ends[(bucket - first_bucket) as usize] += 1;
    }
    ctx.check()?;
    let (mut next, mut most) = (from as u32, 0);
    for end in &mut *ends {
        most = most.max(*end);
        next += std::mem::replace(end, next);
    }
    for (&score, &bucket) in parts.iter().copied().flatten().zip(&buckets) {
        let end = &mut ends[(bucket - first_bucket) as usize];
        scores[*end as usize - from] = score;
        *end += 1;
    }
    ctx.check()?;
    if most as usize > FEW {
        let mut start = 0;
        for &end in &*ends {
            let end = end as usize - from;
            match end - start {
                0..=FEW => {}
                size if size <= CHUNK => scores[start..end].sort_unstable_by(f64::total_cmp),
                _ => sort_crowd(&mut scores[start..end], ctx)?,
            }
            start = end;
        }
    }
    // Insertion within small buckets.
    for k in 1..scores.len() {
        let (score, mut at) = (scores[k], k);
        while at > 0 && score < scores[at - 1] {
            scores[at] = scores[at - 1];
            at -= 1;
        }
        scores[at] = score;
    }
    Ok(())
}

/// Sorts a bucket so large that the stop flag must be checked on the way.
fn sort_crowd(scores: &mut [f64], ctx: &Ctx<'_>) -> Result<()> {
    let mut entries = Vec::with_capacity(scores.len());
    entries.extend(scores.iter().zip(0..).map(|(&s, i)| Entry::new(-s, i)));
    sort(&mut entries, ctx)?;
    for (score, entry) in scores.iter_mut().zip(entries) {
        *score = 0.0 - entry.score();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    #[test]
    fn a_crowd_in_one_bucket_is_sorted_and_ranked() -> Result<()> {
        let mut next = uniform(4);
        for n in [3, LANES + 1, FEW, FEW + 1, 500, 2 * CHUNK] {
            for levels in [5.0, 1e9] {
                let mut draw = || (levels * (next() - 0.5)).round() / levels;
                // A map of scores further apart, for which these are one.
                let map = Map::fit(&mut [-9e9, -4e9, -1e9, 1e9, 4e9, 9e9], 6);
                let mut scores: Vec<f64> = (0..n).map(|_| draw()).chain([-9e9, 9e9]).collect();
                let mut sorted = Sorted { map, ..Sorted::default() };
                sorted.build(&[vec![&scores[..n / 3], &scores[n / 3..]]], &Ctx::serial())?;
                scores.sort_by(f64::total_cmp);
                assert_eq!(
                    sorted.scores().iter().map(|&x| x + 0.0).collect::<Vec<_>>(),
                    scores.iter().map(|&x| x + 0.0).collect::<Vec<_>>()
                );
                let asked: Vec<f64> = (0..200).map(|_| draw()).chain([-1e10, -9e9, -2.0, 2.0, 9e9, 1e10]).collect();
                let (mut below, mut up_to, shift) = (vec![0; asked.len()], vec![0; asked.len()], 0.125);
                sorted.below(&asked, shift, &mut below);
                sorted.up_to(&asked, &mut up_to);
                for ((&x, below), up_to) in asked.iter().zip(below).zip(up_to) {
                    assert_eq!(below as usize, scores.partition_point(|&y| y < x + shift));
                    assert_eq!(up_to as usize, scores.partition_point(|&y| y <= x));
                }
            }
        }
        Ok(())
    }
}
