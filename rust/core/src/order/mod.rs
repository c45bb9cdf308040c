//! The total order on scores: by descending score, equal scores by ascending index.
//!
//! Statistics read blocks of equal scores and never depend on the index; the index makes the order, and with it every
//! intermediate result, unique, whatever the algorithm or the number of threads.
//!
//! Oracles and curves order scores here; measures that only count pairs do not come this way but by `metric::count`. They
//! are two engines because they keep different things. An oracle owes every sample a slope: it has to know where each
//! score came from, the sums of the scores up to every rank, and ranks of scores that are shifted by a margin. A count
//! needs none of that, keeps 4 bytes of a score of 8 and leaves cells unsorted. What is common to both is shared:
//! `Map`, the instructions of `fast` and the even samples of `spread`.

pub(crate) mod cells;
pub(crate) mod collect;
mod map;
pub(crate) mod select;
pub(crate) mod sorted;

pub(crate) use map::Map;

use crate::ctx::{CHUNK, Ctx};
use crate::{Result, alloc};

/// A score and where it came from, packed so that ascending entries are descending scores, then ascending indices.
///
/// One 128-bit integer: comparisons are branchless, and sorting needs no key function.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry(u128);

const SIGN: u64 = 1 << 63;

/// Maps finite scores to integers that descend as the scores ascend; -0.0 and 0.0 map to the same.
#[inline]
fn descending_key(score: f64) -> u64 {
    let bits = (score + 0.0).to_bits();
    let ascending = if bits & SIGN == 0 { bits | SIGN } else { !bits };
    !ascending
}

impl Entry {
    /// Packs a finite score.
    #[inline]
    pub fn new(score: f64, index: u32) -> Self {
        Self((u128::from(descending_key(score)) << 32) | u128::from(index))
    }

    /// The score; a zero comes back as 0.0.
    #[inline]
    pub fn score(self) -> f64 {
        let ascending = !((self.0 >> 32) as u64);
        f64::from_bits(if ascending & SIGN == 0 { !ascending } else { ascending ^ SIGN })
    }

    /// The index the entry was made with.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as u32 as usize
    }

    /// Whether two entries hold the same score.
    #[inline]
    pub fn ties(self, other: Entry) -> bool {
        self.0 >> 32 == other.0 >> 32
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Entry").field(&self.score()).field(&self.index()).finish()
    }
}

/// Runs `work` with the best instructions of this machine; what it calls must be `inline(always)`.
pub(crate) fn fast<W: pulp::NullaryFnOnce>(work: W) -> W::Output {
    pulp::Arch::new().dispatch(work)
}

/// Below this many entries a plain sort is faster than buckets.
const SMALL: usize = 1 << 12;
/// Entries aimed at in a bucket: 16 kB of them, sorted inside the first-level cache.
const BUCKET: usize = 1 << 10;
/// Entries looked at to place the bounds of the buckets.
const SAMPLES_PER_BUCKET: usize = 8;

/// What can be sorted.
pub(crate) trait Item: Copy + Default + Ord + Send + Sync {}

impl<T: Copy + Default + Ord + Send + Sync> Item for T {}

/// Sorts `entries`; `scratch` is grown to their number.
///
/// A sample sort: bounds are taken from a sample, every chunk is scattered into buckets, every bucket is then gathered
/// and sorted on its own. Both steps run on all threads and look at the stop flag. O(n log n), memory 16 n bytes.
pub(crate) fn sort<T: Item>(entries: &mut [T], scratch: &mut Vec<T>, ctx: &Ctx<'_>) -> Result<()> {
    let n = entries.len();
    if n <= SMALL || (ctx.n_threads() == 1 && n <= CHUNK) {
        entries.sort_unstable();
        return ctx.check();
    }
    let n_buckets = (n / BUCKET).clamp(2, 256);
    let bounds = bucket_bounds(entries, n_buckets);
    scratch.clear();
    alloc::resize(scratch, n, T::default());

    // Each chunk is split by bucket inside its own part of `scratch`; `starts[c][b]` is where bucket b begins there.
    let grain = n.div_ceil(n.div_ceil(CHUNK)).max(1);
    let chunks: Vec<_> = entries.chunks(grain).zip(scratch.chunks_mut(grain)).collect();
    let starts = ctx.map(chunks, |(from, to)| split_chunk(from, to, &bounds))?;

    let sizes = (0..n_buckets).map(|b| starts.iter().map(|s| s[b + 1] - s[b]).sum::<usize>());
    let mut rest = &mut *entries;
    let mut buckets = Vec::with_capacity(n_buckets);
    for (b, size) in sizes.enumerate() {
        let (bucket, tail) = rest.split_at_mut(size);
        buckets.push((b, bucket));
        rest = tail;
    }
    let scattered = &*scratch;
    ctx.map(buckets, |(b, bucket)| {
        let mut filled = 0;
        for (c, start) in starts.iter().enumerate() {
            let part = &scattered[c * grain..][start[b]..start[b + 1]];
            bucket[filled..filled + part.len()].copy_from_slice(part);
            filled += part.len();
        }
        bucket.sort_unstable();
    })?;
    Ok(())
}

/// The upper bounds of all buckets but the last, from an evenly spread sample.
fn bucket_bounds<T: Item>(entries: &[T], n_buckets: usize) -> Vec<T> {
    let n_samples = n_buckets * SAMPLES_PER_BUCKET;
    let mut sample: Vec<T> = (0..n_samples).map(|k| entries[spread(k, n_samples, entries.len())]).collect();
    sample.sort_unstable();
    (1..n_buckets).map(|b| sample[b * SAMPLES_PER_BUCKET]).collect()
}

/// The k-th of `n_samples` positions below `n`: one per stretch, moved about inside it so that no period of the data is
/// mistaken for its distribution.
#[inline]
pub(crate) fn spread(k: usize, n_samples: usize, n: usize) -> usize {
    let low = (k as u128 * n as u128 / n_samples as u128) as usize;
    let high = ((k as u128 + 1) * n as u128 / n_samples as u128) as usize;
    let hash = (k as u64 ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 32;
    low + hash as usize % (high - low).max(1)
}

fn split_chunk<T: Item>(from: &[T], to: &mut [T], bounds: &[T]) -> Vec<usize> {
    let n_buckets = bounds.len() + 1;
    let ids = alloc::collected(from.iter().map(|entry| bounds.partition_point(|bound| bound < entry) as u8));
    let mut starts = vec![0usize; n_buckets + 1];
    for &id in &ids {
        starts[id as usize + 1] += 1;
    }
    for b in 0..n_buckets {
        starts[b + 1] += starts[b];
    }
    let mut next = starts.clone();
    for (&entry, &id) in from.iter().zip(&ids) {
        to[next[id as usize]] = entry;
        next[id as usize] += 1;
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    #[test]
    fn entries_keep_scores_and_order_them() {
        let scores = [f64::MAX, 1.0, 5e-324, 0.0, -5e-324, -1.0, f64::MIN];
        for pair in scores.windows(2) {
            assert!(Entry::new(pair[0], 9) < Entry::new(pair[1], 0), "{pair:?}");
        }
        for score in scores {
            assert_eq!(Entry::new(score, 7).score(), score);
            assert_eq!(Entry::new(score, 7).index(), 7);
        }
        assert_eq!(Entry::new(-0.0, 3), Entry::new(0.0, 3));
        assert!(Entry::new(2.0, 1) < Entry::new(2.0, 2));
    }

    #[test]
    fn large_inputs_sort_like_the_plain_sort_on_any_number_of_threads() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let mut next = uniform(1);
        for distinct in [2.0, 50.0, 1e9] {
            let entries: Vec<Entry> =
                (0..200_000).map(|i| Entry::new((next() * distinct).floor().powi(3), i)).collect();
            let mut expected = entries.clone();
            expected.sort();
            for ctx in [Ctx::serial(), Ctx::new(Some(&pool), None)] {
                let mut sorted = entries.clone();
                sort(&mut sorted, &mut Vec::new(), &ctx).unwrap();
                assert!(sorted == expected, "{distinct} distinct scores, {ctx:?}");
            }
        }
    }
}
