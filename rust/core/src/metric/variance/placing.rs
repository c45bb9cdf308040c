//! Placements of one model without a sort: bucket by bucket one class makes a table and the other asks it for ranks.

use std::mem::take;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::metric::count::bucket::Worker;
use crate::metric::count::cells::sample;
use crate::metric::count::counting_sort::{CHUNK, N_BUCKETS};
use crate::metric::count::grown;
use crate::metric::count::keys::{Buckets, Chunk, Rooms};
use crate::metric::count::table::Table;
use crate::metric::curve::first_non_finite;
use crate::metric::labels::Labels;
use crate::metric::score::{Key, KeyOf, Monotone, Score};
use crate::order::cells::size;
use crate::{Ctx, Error, Result, alloc};

/// Scores aimed at in a bucket: what is looked up for them stays in the first-level cache.
const BUCKET: usize = 1 << 11;
/// Units of work for each thread.
const SHARES: usize = 8;
/// So many of those that ask may tie and be parted by their scores: one of these, or a few.
const TIED: usize = 64;

/// Memory kept from model to model.
#[derive(Debug, Default)]
pub(crate) struct Placer<S: Score> {
    rooms: Rooms<S::Key>,
    /// By place in the buckets, what is found.
    found: Vec<u32>,
    workers: Mutex<Vec<BucketPlacer<S>>>,
}

/// Some buckets, and for either class room for what is found in them, chunk by chunk.
#[derive(Debug)]
struct Share<'a> {
    buckets: Range<usize>,
    rooms: [Vec<&'a mut [u32]>; 2],
}

/// What a thread needs to place the samples of a bucket: by their keys, or by their scores.
#[derive(Debug, Default)]
struct BucketPlacer<S: Score> {
    by_key: Members<S::Key>,
    by_score: Members<S>,
}

/// The samples of a bucket by class, the positives first.
#[derive(Debug, Default)]
struct Members<K> {
    keys: [Vec<K>; 2],
    found: [Vec<u32>; 2],
    worker: Worker<K>,
    /// By k, how many that ask have k of the table below, and how many k below or equal.
    counts: Vec<u32>,
    /// The keys of those that ask and tie.
    tied: Vec<K>,
}

impl<S: Score> Placer<S> {
    /// Bytes that are held.
    pub(crate) fn bytes(&self) -> usize {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        self.rooms.bytes() + 4 * self.found.capacity() + workers.iter().map(BucketPlacer::bytes).sum::<usize>()
    }

    /// Sets `values` to `2 #{t < s_i} + #{t = s_i}` of each positive i and `2 #{s > t_j} + #{s = t_j}` of each negative
    /// j, of fewer than 2^31 samples; twice the pairs that positives win, tied ones half. O(N) expected.
    pub(crate) fn place(
        &mut self,
        labels: &Labels<'_>,
        scores: &[S],
        values: &mut Vec<u32>,
        ctx: &Ctx<'_>,
    ) -> Result<u64> {
        Error::check_len("y_score", labels.n_samples(), scores.len())?;
        let (rooms, found, workers) = (&mut self.rooms, grown(&mut self.found, scores.len()), &self.workers);
        let len = (scores.len() / BUCKET).next_power_of_two().clamp(N_BUCKETS.0, N_BUCKETS.1);
        let buckets = Buckets::fit::<S, S::Key>(scores.len(), &sample(scores), len);
        let Some(chunks) = buckets.scatter(labels, scores, rooms, true, ctx)? else {
            return Err(first_non_finite(scores));
        };
        let (shares, below) = shares(&chunks, found, len, len.div_ceil(SHARES * ctx.n_threads()));
        let free = || workers.lock().unwrap_or_else(PoisonError::into_inner);
        let n_pos = labels.n_pos() as u64;
        let won = ctx.map(shares, |mut share| {
            let mut worker = free().pop().unwrap_or_default();
            // Where scores of one bucket tie, those of the next are taken to.
            let (mut won, mut tie) = (0, buckets.tie);
            for bucket in share.buckets {
                ctx.check()?;
                let (more, tied) = worker.place(tie, &chunks, bucket, &mut share.rooms, (below[bucket], n_pos));
                (won, tie) = (won + more, tied);
            }
            free().push(worker);
            Ok(won)
        })?;
        size(values, scores.len());
        let jobs = chunks.iter().zip(found.chunks(CHUNK)).zip(values.chunks_mut(CHUNK));
        ctx.map(jobs.collect(), |((chunk, found), values)| {
            for (&from, &value) in chunk.index.iter().zip(found) {
                values[usize::from(from)] = value;
            }
        })?;
        won.into_iter().sum()
    }
}

/// The buckets in shares of `share`, with room for what is found; and for each bucket the positives and the negatives
/// in those below.
fn shares<'a, S, K>(
    chunks: &[Chunk<'_, S, K>],
    found: &'a mut [u32],
    n_buckets: usize,
    share: usize,
) -> (Vec<Share<'a>>, Vec<[u64; 2]>) {
    let of = |from: usize| Share { buckets: from..usize::min(from + share, n_buckets), rooms: [vec![], vec![]] };
    let mut shares: Vec<Share<'_>> = (0..n_buckets).step_by(share).map(of).collect();
    let mut below = vec![[0; 2]; n_buckets];
    for (chunk, mut found) in chunks.iter().zip(found.chunks_mut(CHUNK)) {
        for class in [0, 1] {
            for share in &mut shares {
                let mut len = 0;
                for (bucket, sizes) in share.buckets.clone().zip(&mut below[share.buckets.clone()]) {
                    let size = chunk.keys(bucket, class).len();
                    sizes[class] += size as u64;
                    len += size;
                }
                let (own, rest) = take(&mut found).split_at_mut(len);
                share.rooms[class].push(own);
                found = rest;
            }
        }
    }
    let mut sum = [0; 2];
    for sizes in &mut below {
        let next = [sum[0] + sizes[0], sum[1] + sizes[1]];
        *sizes = std::mem::replace(&mut sum, next);
    }
    (shares, below)
}

impl<S: Score> BucketPlacer<S> {
    fn bytes(&self) -> usize {
        self.by_key.bytes() + self.by_score.bytes()
    }

    /// Places the samples of a bucket, by their scores where keys of different classes tie and scores perhaps do not:
    /// those alone if they are few, or all, and all at once if they are expected to `tie`. Twice the pairs of its
    /// positives and any negatives that are won, and whether scores tie.
    fn place(
        &mut self,
        tie: bool,
        chunks: &[Chunk<'_, S, S::Key>],
        bucket: usize,
        rooms: &mut [Vec<&mut [u32]>; 2],
        totals: ([u64; 2], u64),
    ) -> (u64, bool) {
        let Self { by_key, by_score } = self;
        if S::Key::EXACT || !tie {
            by_key.gather(|class, keys| chunks.iter().for_each(|c| alloc::append(keys, c.keys(bucket, class))));
            let most = if S::Key::EXACT { 0 } else { TIED + by_key.len() / TIED };
            let mut won = by_key.place(totals, most);
            let n_tied = by_key.tied.len();
            if (1..=most).contains(&n_tied) {
                won = won.wrapping_add_signed(by_key.part(chunks, bucket));
            }
            if S::Key::EXACT || n_tied <= most {
                put(&by_key.found, chunks, bucket, rooms);
                return (won, false);
            }
        }
        by_score.gather(|class, scores| {
            chunks.iter().for_each(|c| c.part(bucket, class).scores().for_each(|score| alloc::push(scores, score)))
        });
        let won = by_score.place(totals, 0);
        put(&by_score.found, chunks, bucket, rooms);
        (won, !by_score.tied.is_empty())
    }
}

/// Copies what is found in a bucket to the front of the rooms of the chunks.
fn put<S, K>(found: &[Vec<u32>; 2], chunks: &[Chunk<'_, S, K>], bucket: usize, rooms: &mut [Vec<&mut [u32]>; 2]) {
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

impl<K: Key> Members<K> {
    fn bytes(&self) -> usize {
        let keys = self.keys.iter().map(Vec::capacity).sum::<usize>();
        keys * (size_of::<K>() + 4) + 4 * self.counts.capacity() + self.worker.bytes()
    }

    /// Takes the keys that `f` adds for either class.
    fn gather(&mut self, f: impl Fn(usize, &mut Vec<K>)) {
        for (class, keys) in self.keys.iter_mut().enumerate() {
            keys.clear();
            f(class, keys);
        }
    }

    /// Number of keys.
    fn len(&self) -> usize {
        self.keys.iter().map(Vec::len).sum()
    }

    /// Places all keys, given the positives and the negatives in the buckets below, and the number of positives; twice
    /// the pairs that positives win. Up to one more than `most` that tie are told.
    fn place(&mut self, (below, n_pos): ([u64; 2], u64), most: usize) -> u64 {
        let Self { keys, found, worker, counts, tied } = self;
        tied.clear();
        let sizes = keys.each_ref().map(Vec::len);
        found.iter_mut().zip(sizes).for_each(|(found, size)| alloc::resize(found, size, 0));
        // From twice the members of the other class below, here, tied ones counted half: where they start, and whether
        // those are added that are above instead.
        let mut starts = [2 * below[1] as u32, 2 * (n_pos - below[0]) as u32];
        let asking = usize::from(sizes[0] < sizes[1]);
        let won_below = 2 * sizes[0] as u64 * below[1];
        if sizes[1 - asking] == 0 {
            found[asking].fill(starts[asking]);
            return won_below;
        }
        let (mut keys, mut found) = (keys.each_ref().map(Vec::as_slice), found.each_mut().map(Vec::as_mut_slice));
        keys.rotate_left(asking);
        found.rotate_left(asking);
        starts.rotate_left(asking);
        let crowded = worker.fill([keys[1]].into_iter());
        let Worker { table, spread, .. } = worker;
        let places = Places { starts, above: asking == 1, counts, tied, most };
        let lower = if crowded { places.find(spread, keys, found) } else { places.find(table, keys, found) };
        won_below + if asking == 0 { lower } else { 2 * (sizes[0] * sizes[1]) as u64 - lower }
    }

    /// Places those whose keys tie by their scores; twice the pairs that positives win more than if the scores tied.
    fn part<S: Score>(&mut self, chunks: &[Chunk<'_, S, K>], bucket: usize) -> i64 {
        let Self { found, tied, .. } = self;
        tied.sort_unstable_by(K::order);
        tied.dedup();
        let members = [0, 1].map(|class| {
            let (mut members, mut at) = (vec![], 0);
            for chunk in chunks {
                let part = chunk.part(bucket, class);
                for (k, &key) in part.keys.iter().enumerate() {
                    if tied.binary_search_by(|tied| tied.order(&key)).is_ok() {
                        alloc::push(&mut members, (key, part.score(k), at + k));
                    }
                }
                at += part.keys.len();
            }
            members.sort_unstable_by(|x, y| x.0.order(&y.0).then(x.1.order(&y.1)));
            members
        });
        let mut won = 0;
        for key in tied {
            let of_key = members.each_ref().map(|members| {
                let [from, to] = [members.partition_point(|x| x.0 < *key), members.partition_point(|x| x.0 <= *key)];
                &members[from..to]
            });
            for class in 0..2 {
                let others = of_key[1 - class];
                for &(_, score, at) in of_key[class] {
                    let rank = others.partition_point(|x| x.1 < score) + others.partition_point(|x| x.1 <= score);
                    let more = rank as i64 - others.len() as i64;
                    won += if class == 0 { more } else { 0 };
                    let more = if class == 0 { more } else { -more };
                    found[class][at] = found[class][at].wrapping_add_signed(more as i32);
                }
            }
        }
        won
    }
}

/// How placements follow from ranks.
struct Places<'a, K> {
    /// Those without any of the same bucket, of what asks and of the table.
    starts: [u32; 2],
    /// Whether what asks is placed by what is above it, and the table by what is below.
    above: bool,
    counts: &'a mut Vec<u32>,
    /// Keys that tie, of which up to one more than `most` are told.
    tied: &'a mut Vec<K>,
    most: usize,
}

impl<K: Key> Places<'_, K> {
    /// Places what asks, and what is in the table; the sum of twice the members of the table that are below the former,
    /// tied ones counted half.
    fn find<M: Monotone<K>>(self, table: &Table<K, M>, keys: [&[K]; 2], found: [&mut [u32]; 2]) -> u64 {
        let Self { starts, above, counts, tied, most } = self;
        counts.clear();
        alloc::resize(counts, table.len() + 1, 0);
        // Added or subtracted: without a branch, minus x is !x + 1.
        let flips = [above, !above].map(|above| if above { u32::MAX } else { 0 });
        let placed =
            move |class: usize, rank: u32| starts[class].wrapping_add(rank ^ flips[class]).wrapping_sub(flips[class]);
        let [asking, own] = found;
        let place = move |[below, up_to]: [u32; 2]| placed(0, below.wrapping_add(up_to));
        table.map_and_count(keys[0], asking, counts, (tied, most), place);
        // As in `Ranks::sums`: summed up to and including k they are what the k-th member of the table is above, twice.
        let (mut seen, mut lower) = (0u32, 0u64);
        for (count, k) in counts.iter_mut().zip(0u64..) {
            lower = lower.wrapping_add(k.wrapping_mul((*count).into()));
            seen = seen.wrapping_add(*count);
            *count = seen;
        }
        let counts = &counts[..];
        table.map_own(keys[1], own, move |[below, _]| placed(1, counts[below as usize]));
        lower
    }
}
