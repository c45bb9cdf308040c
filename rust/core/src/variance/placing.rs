//! Placements of one model without a sort: in each bucket one class fills a table, in which the other looks up its
//! ranks.

use std::mem::take;
use std::ops::Range;

use crate::count::bucket::{Work, Worker, Workers};
use crate::count::cells::sample;
use crate::count::counting_sort::CHUNK;
use crate::count::keys::{Buckets, Chunk, DENSE, Rooms, below};
use crate::count::monotone::{Classes, Monotone, larger, sizes};
use crate::data::float::{Key, Score};
use crate::data::labels::Labels;
use crate::order::chunk::{Spare, grown, size};
use crate::{Ctx, Error, Result};

/// Intended scores per bucket: their table fits the first-level cache.
const BUCKET: usize = 1 << 11;
/// Tasks per thread.
const SHARES: usize = 8;

/// Memory kept from model to model.
#[derive(Debug, Default)]
pub(crate) struct Placer<S: Score> {
    rooms: Rooms<S::Key>,
    /// The values, by place in the buckets.
    found: Vec<u32>,
    placers: Spare<BucketPlacer<S>>,
}

/// Some buckets, and for each class and chunk the place of their values.
#[derive(Debug)]
struct Share<'a> {
    buckets: Range<usize>,
    rooms: [Vec<&'a mut [u32]>; 2],
}

/// Buffers of a thread that places the samples of buckets.
#[derive(Debug, Default)]
struct BucketPlacer<S: Score> {
    workers: Workers<S>,
    /// The values, by class.
    found: [Vec<u32>; 2],
    /// By k, how many look-ups find k of the table below, plus how many find k below or equal.
    counts: Vec<u32>,
}

impl<S: Score> Placer<S> {
    /// Sets `values` to `2 #{t < s_i} + #{t = s_i}` for each positive i and `2 #{s > t_j} + #{s = t_j}` for each
    /// negative j and returns twice the pairs that positives win, ties half. O(N) expected; fewer than 2^31 samples.
    pub(crate) fn place(
        &mut self,
        labels: &Labels<'_>,
        scores: &[S],
        values: &mut Vec<u32>,
        ctx: &Ctx<'_>,
    ) -> Result<u64> {
        Error::check_len("scores", labels.n_samples(), scores.len())?;
        let (rooms, found, placers) = (&mut self.rooms, grown(&mut self.found, scores.len()), &self.placers);
        let buckets = Buckets::fit::<S>(scores.len(), &sample(scores), Buckets::number(scores.len(), BUCKET));
        let len = buckets.len;
        let Some(chunks) = buckets.scatter(labels, scores, rooms, true, ctx)? else {
            return Err(Error::first_non_finite("scores", scores));
        };
        let below = below(&chunks, len);
        let shares = shares(&chunks, found, len, len.div_ceil(SHARES * ctx.n_threads()));
        let n_pos = labels.n_pos() as u64;
        let one = |placer: &mut BucketPlacer<S>, mut share: Share<'_>| {
            let (mut won, mut tie) = (0, buckets.shared > DENSE);
            for bucket in share.buckets {
                ctx.check()?;
                let BucketPlacer { workers, found, counts } = &mut *placer;
                let totals = (below[bucket], n_pos);
                won += workers.run(&chunks, bucket, &mut tie, Places { totals, found, counts });
                put(&placer.found, &chunks, bucket, &mut share.rooms);
            }
            Ok(won)
        };
        let won = ctx.try_map(shares, |share| placers.lend(|placer| one(placer, share)))?;
        size(values, scores.len());
        let jobs = chunks.iter().zip(found.chunks(CHUNK)).zip(values.chunks_mut(CHUNK));
        ctx.map(jobs.collect(), |((chunk, found), values)| {
            for (&from, &value) in chunk.index.iter().zip(found) {
                values[usize::from(from)] = value;
            }
        })?;
        Ok(won.into_iter().sum())
    }
}

/// The buckets in shares of `share`, with room for their values.
fn shares<'a, S: Score>(
    chunks: &[Chunk<'_, S>],
    found: &'a mut [u32],
    n_buckets: usize,
    share: usize,
) -> Vec<Share<'a>> {
    let of = |from: usize| Share { buckets: from..usize::min(from + share, n_buckets), rooms: [vec![], vec![]] };
    let mut shares: Vec<Share<'_>> = (0..n_buckets).step_by(share).map(of).collect();
    for (chunk, mut found) in chunks.iter().zip(found.chunks_mut(CHUNK)) {
        for class in [0, 1] {
            for share in &mut shares {
                let len = share.buckets.clone().map(|bucket| chunk.keys(bucket, class).len()).sum();
                let (own, rest) = take(&mut found).split_at_mut(len);
                share.rooms[class].push(own);
                found = rest;
            }
        }
    }
    shares
}

/// Copies the values of a bucket to the front of the chunks' rooms.
fn put<S: Score>(found: &[Vec<u32>; 2], chunks: &[Chunk<'_, S>], bucket: usize, rooms: &mut [Vec<&mut [u32]>; 2]) {
    for ((class, found), rooms) in found.iter().enumerate().zip(rooms) {
        let mut found = &found[..];
        for (chunk, room) in chunks.iter().zip(rooms) {
            let (own, rest) = take(room).split_at_mut(chunk.keys(bucket, class).len());
            let (here, more) = found.split_at(own.len());
            own.copy_from_slice(here);
            (*room, found) = (rest, more);
        }
    }
}

/// Turns ranks into placements.
struct Places<'a> {
    /// The positives and the negatives in the buckets below, and the number of positives.
    totals: ([u64; 2], u64),
    found: &'a mut [Vec<u32>; 2],
    counts: &'a mut Vec<u32>,
}

impl Work for Places<'_> {
    /// Twice the pairs of the positives and any negatives that are won.
    type Output = u64;

    fn of<K: Key, M: Monotone<K>>(&mut self, worker: &mut Worker<K, M>, classes: &Classes<'_, K>) -> (u64, bool) {
        let Self { totals: (below, n_pos), found, counts } = self;
        let sizes = sizes(classes);
        found.iter_mut().zip(sizes).for_each(|(found, size)| found.resize(size, 0));
        // A positive starts at twice the negatives in the buckets below, a negative at twice the positives not below;
        // the ranks are then added or subtracted.
        let mut starts = [2 * below[1] as u32, 2 * (*n_pos - below[0]) as u32];
        let asking = larger(sizes);
        let won_below = 2 * sizes[0] as u64 * below[1];
        if sizes[1 - asking] == 0 {
            found[asking].fill(starts[asking]);
            return (won_below, false);
        }
        worker.fill(&classes[1 - asking]);
        counts.clear();
        counts.resize(worker.len() + 1, 0);
        starts.rotate_left(asking);
        // Without a branch: minus x is !x + 1.
        let flips = [asking == 1, asking == 0].map(|above| if above { u32::MAX } else { 0 });
        let placed =
            move |class: usize, rank: u32| starts[class].wrapping_add(rank ^ flips[class]).wrapping_sub(flips[class]);
        let (to, mut tied) = (&mut found[asking][..], false);
        worker.each(&classes[asking], |k, [below, up_to]| {
            to[k] = placed(0, below.wrapping_add(up_to));
            for at in [below, up_to] {
                let count = &mut counts[at as usize];
                *count = count.wrapping_add(1);
            }
            tied |= below != up_to;
        });
        // As in `Ranks::sums`: their sum up to and including k is twice what the k-th member of the table is above.
        let (mut seen, mut lower) = (0u32, 0u64);
        for (count, k) in counts.iter_mut().zip(0u64..) {
            lower = lower.wrapping_add(k.wrapping_mul((*count).into()));
            seen = seen.wrapping_add(*count);
            *count = seen;
        }
        let to = &mut found[1 - asking][..];
        worker.each(&classes[1 - asking], |k, [below, _]| to[k] = placed(1, counts[below as usize]));
        (won_below + if asking == 0 { lower } else { 2 * (sizes[0] * sizes[1]) as u64 - lower }, tied)
    }
}
