//! Sorting on all threads, with an eye on the stop flag.

use std::ops::Range;

use super::map::{self, Map};
use super::{Entry, spread};
use crate::{CHUNK, Ctx, Result, alloc};

/// Below this many entries a plain sort is faster than buckets.
const SMALL: usize = 1 << 12;
/// Entries aimed at in a bucket: 16 kB of them, sorted inside the first-level cache.
const BUCKET: usize = 1 << 10;
/// Entries looked at to place the bounds of the buckets.
const SAMPLES_PER_BUCKET: usize = 8;

/// As `SMALL`, of scores.
const FEW: usize = 1 << 8;
/// Scores whose buckets fit the second-level cache, so that it is not worth while to split them into regions.
const ONE_REGION: usize = 1 << 15;
/// Entries of a bucket of a [`Map`] that are sorted by insertion.
const CROWD: usize = 16;

/// What can be sorted.
pub(crate) trait Item: Copy + Default + Ord + Send + Sync {}

impl<T: Copy + Default + Ord + Send + Sync> Item for T {}

/// Sorts `items`; `scratch` is grown to their number.
///
/// A sample sort: bounds are taken from a sample, every chunk is scattered into buckets, every bucket is then gathered
/// and sorted on its own. O(n log n), memory for 2 n items.
pub(crate) fn sort<T: Item>(items: &mut [T], scratch: &mut Vec<T>, ctx: &Ctx<'_>) -> Result<()> {
    let n = items.len();
    if n <= SMALL || (ctx.n_threads() == 1 && n <= CHUNK) {
        items.sort_unstable();
        return ctx.check();
    }
    let n_buckets = (n / BUCKET).clamp(2, 256);
    let n_samples = n_buckets * SAMPLES_PER_BUCKET;
    let mut sample: Vec<T> = (0..n_samples).map(|k| items[spread(k, n_samples, n)]).collect();
    sample.sort_unstable();
    let bounds: Vec<T> = (1..n_buckets).map(|b| sample[b * SAMPLES_PER_BUCKET]).collect();
    let ids =
        |from: &[T]| alloc::collected(from.iter().map(|item| bounds.partition_point(|bound| bound < item) as u16));
    let sorted = |_, bucket: &mut [T]| {
        bucket.sort_unstable();
        Ok(())
    };
    by_bucket(items, scratch, n_buckets, ids, sorted, ctx)
}

/// The same for scores: buckets of a [`Map`] leave little to compare, O(n) for any smooth distribution.
pub(crate) fn sort_entries(entries: &mut [Entry], scratch: &mut Vec<Entry>, ctx: &Ctx<'_>) -> Result<()> {
    let n = entries.len();
    if n <= FEW {
        entries.sort_unstable();
        return ctx.check();
    }
    // Entries ascend as scores descend.
    let n_samples = n.min(map::SAMPLES);
    let map = Map::fit(&mut (0..n_samples).map(|k| -entries[spread(k, n_samples, n)].score()).collect::<Vec<_>>(), n);
    if n <= ONE_REGION {
        return sort_region(&map, entries, 0..map.n_buckets(), ctx);
    }
    let ids =
        |from: &[Entry]| alloc::collected(buckets(&map, from).into_iter().map(|bucket| map.region(bucket) as u16));
    let sorted = |region: usize, entries: &mut [Entry]| {
        let first = region * map.region_len();
        sort_region(&map, entries, first..usize::min(first + map.region_len(), map.n_buckets()), ctx)
    };
    by_bucket(entries, scratch, map.n_regions(), ids, sorted, ctx)
}

/// Moves every item to its bucket, of ascending ones, and has `sorted` sort each.
fn by_bucket<T: Item>(
    items: &mut [T],
    scratch: &mut Vec<T>,
    n_buckets: usize,
    ids: impl Fn(&[T]) -> Vec<u16> + Send + Sync,
    sorted: impl Fn(usize, &mut [T]) -> Result<()> + Send + Sync,
    ctx: &Ctx<'_>,
) -> Result<()> {
    let n = items.len();
    scratch.clear();
    alloc::resize(scratch, n, T::default());
    // Each chunk is split by bucket inside its own part of `scratch`; `starts[c][b]` is where bucket b begins there.
    let grain = n.div_ceil(n.div_ceil(CHUNK)).max(1);
    let chunks: Vec<_> = items.chunks(grain).zip(scratch.chunks_mut(grain)).collect();
    let starts = ctx.map(chunks, |(from, to)| {
        let ids = ids(from);
        let starts = starts(ids.iter().map(|&id| usize::from(id)), n_buckets);
        let mut next = starts.clone();
        for (&item, &id) in from.iter().zip(&ids) {
            let at = &mut next[usize::from(id)];
            to[*at as usize] = item;
            *at += 1;
        }
        starts
    })?;
    let sizes = (0..n_buckets).map(|b| starts.iter().map(|s| (s[b + 1] - s[b]) as usize).sum::<usize>());
    let mut rest = &mut *items;
    let mut buckets = Vec::with_capacity(n_buckets);
    for (b, size) in sizes.enumerate() {
        let (bucket, tail) = rest.split_at_mut(size);
        buckets.push((b, bucket));
        rest = tail;
    }
    let scattered = &*scratch;
    let done = ctx.map(buckets, |(b, bucket)| {
        let mut filled = 0;
        for (c, start) in starts.iter().enumerate() {
            let part = &scattered[c * grain..][start[b] as usize..start[b + 1] as usize];
            bucket[filled..filled + part.len()].copy_from_slice(part);
            filled += part.len();
        }
        sorted(b, bucket)
    })?;
    done.into_iter().collect()
}

/// Where each of `n` groups begins, then the number of all.
fn starts(ids: impl Iterator<Item = usize>, n: usize) -> Vec<u32> {
    let mut starts = alloc::filled(0u32, n + 1);
    for id in ids {
        starts[id + 1] += 1;
    }
    let mut before = 0;
    for start in &mut starts {
        before += *start;
        *start = before;
    }
    starts
}

/// The bucket of each entry.
fn buckets(map: &Map, entries: &[Entry]) -> Vec<u32> {
    let scores = alloc::collected(entries.iter().map(|entry| -entry.score()));
    let mut buckets = alloc::filled(0, entries.len());
    map.buckets(&scores, 0.0, &mut buckets);
    buckets
}

/// Sorts the entries of neighbouring buckets.
fn sort_region(map: &Map, entries: &mut [Entry], of: Range<usize>, ctx: &Ctx<'_>) -> Result<()> {
    let (ids, from) = (buckets(map, entries), alloc::copied(entries));
    ctx.check()?;
    let mut ends = starts(ids.iter().map(|&id| id as usize - of.start), of.len());
    let crowded = ends.windows(2).any(|pair| (pair[1] - pair[0]) as usize > CROWD);
    for (&entry, &id) in from.iter().zip(&ids) {
        let at = &mut ends[id as usize - of.start];
        entries[*at as usize] = entry;
        *at += 1;
    }
    ctx.check()?;
    if crowded {
        let mut start = 0;
        for &end in &ends[..of.len()] {
            let bucket = &mut entries[start..end as usize];
            if bucket.len() > CROWD && !bucket.is_sorted() {
                sort(bucket, &mut Vec::new(), ctx)?;
            }
            start = end as usize;
        }
    }
    // What remains are exchanges inside buckets of few.
    for k in 1..entries.len() {
        let (entry, mut at) = (entries[k], k);
        while at > 0 && entry < entries[at - 1] {
            entries[at] = entries[at - 1];
            at -= 1;
        }
        entries[at] = entry;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    #[test]
    fn large_inputs_sort_like_the_plain_sort_on_any_number_of_threads() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let mut next = uniform(1);
        for (n, distinct) in [300, 20_000, 200_000].into_iter().flat_map(|n| [2.0, 50.0, 1e9].map(|d| (n, d))) {
            let entries: Vec<Entry> = (0..n).map(|i| Entry::new((next() * distinct).floor().powi(3), i)).collect();
            let mut expected = entries.clone();
            expected.sort();
            for ctx in [Ctx::serial(), Ctx::new(Some(&pool), None)] {
                let mut sorted = entries.clone();
                sort(&mut sorted, &mut Vec::new(), &ctx).unwrap();
                assert!(sorted == expected, "{n} items, {distinct} distinct, {ctx:?}");
                let mut sorted = entries.clone();
                sort_entries(&mut sorted, &mut Vec::new(), &ctx).unwrap();
                assert!(sorted == expected, "{n} scores, {distinct} distinct, {ctx:?}");
            }
        }
    }
}
