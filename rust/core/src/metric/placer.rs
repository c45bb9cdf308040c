//! Placements of one model without a sort: bucket by bucket one class makes a table and the other asks it for ranks.

use super::counts::grown;
use super::curve::first_non_finite;
use super::keyed::{self, Buckets, CHUNK, Rooms, SHARES, below};
use super::labels::{Labels, TILE};
use super::score::{Key, KeyOf, Monotone, Score};
use super::spread::sample;
use super::table::Table;
use super::worker::Worker;
use crate::order::cells::size;
use crate::{Ctx, Error, Result};

/// Memory kept from model to model.
#[derive(Debug, Default)]
pub(crate) struct Placer<S: Score> {
    rooms: Rooms<S::Key>,
    /// By place in the buckets, what is found.
    found: Vec<u32>,
    workers: Vec<BucketPlacer<S>>,
}

/// What a thread needs to place the samples of a bucket.
#[derive(Debug, Default)]
struct BucketPlacer<S: Score> {
    keys: Worker<S::Key>,
    scores: Worker<S>,
    /// By k, how many that ask have k of the table below, and how many k below or equal.
    counts: Vec<u32>,
}

/// The samples of one class in a bucket that are from one chunk, with room for what is found.
type Part<'a, S> = (keyed::Part<'a, S, <S as Score>::Key>, &'a mut [u32]);

/// What is ranked, of one class in a bucket, each part with room for what is found.
type Asked<'a, K> = Vec<(&'a [K], &'a mut [u32])>;

impl<S: Score> Placer<S> {
    /// Bytes that are held.
    pub(crate) fn bytes(&self) -> usize {
        self.rooms.bytes() + 4 * self.found.capacity() + self.workers.iter().map(BucketPlacer::bytes).sum::<usize>()
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
        let Self { rooms, found, workers } = self;
        let found = grown(found, scores.len());
        let buckets = Buckets::fit::<S, S::Key>(scores.len(), &sample(scores), Buckets::number(scores.len()));
        let Some(chunks) = buckets.scatter(labels, scores, rooms, true, ctx)? else {
            return Err(first_non_finite(scores));
        };
        let below = below(&chunks, buckets.len);
        let mut parts: Vec<[Vec<Part<'_, S>>; 2]> = (0..buckets.len).map(|_| Default::default()).collect();
        for (chunk, mut found) in chunks.iter().zip(found.chunks_mut(CHUNK)) {
            for class in 0..2 {
                for (bucket, parts) in parts.iter_mut().enumerate() {
                    let part = chunk.part(bucket, class);
                    let (own, rest) = std::mem::take(&mut found).split_at_mut(part.keys.len());
                    parts[class].push((part, own));
                    found = rest;
                }
            }
        }
        let share = buckets.len.div_ceil(SHARES * ctx.n_threads());
        let n_shares = buckets.len.div_ceil(share);
        workers.resize_with(usize::max(n_shares, workers.len()), BucketPlacer::default);
        let shares = parts.chunks_mut(share).zip(below.chunks(share)).zip(workers);
        let n_pos = labels.n_pos() as u64;
        let won = ctx.map(shares.collect(), |((parts, below), worker)| {
            // Where scores of one bucket tie, those of the next are taken to.
            let (mut won, mut tie) = (0, buckets.tie);
            for (classes, &below) in parts.iter_mut().zip(below) {
                ctx.check()?;
                let (more, tied) = worker.place(tie, classes, below, n_pos);
                (won, tie) = (won + more, tied);
            }
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

impl<S: Score> BucketPlacer<S> {
    fn bytes(&self) -> usize {
        self.keys.bytes() + self.scores.bytes() + 4 * self.counts.capacity()
    }

    /// Places the samples of a bucket, by their scores where keys of different classes tie and scores perhaps do not,
    /// and at once if they are expected to `tie`; twice the pairs of its positives and any negatives that are won, and
    /// whether any of its own tie.
    fn place(&mut self, tie: bool, classes: &mut [Vec<Part<'_, S>>; 2], below: [u64; 2], n_pos: u64) -> (u64, bool) {
        let Self { keys, scores, counts } = self;
        if S::Key::EXACT || !tie {
            let asked = classes
                .each_mut()
                .map(|parts| parts.iter_mut().map(|(part, found)| (part.keys, &mut **found)).collect());
            let (won, tied) = place_classes(keys, counts, asked, below, n_pos);
            if S::Key::EXACT || !tied {
                return (won, tied);
            }
        }
        let gathered =
            classes.each_ref().map(|parts| parts.iter().flat_map(|(part, _)| part.scores()).collect::<Vec<S>>());
        let mut rest = gathered.each_ref().map(Vec::as_slice).into_iter();
        let asked = classes.each_mut().map(|parts| {
            let mut rest = rest.next().unwrap_or_default();
            let mut asked = Vec::with_capacity(parts.len());
            for (_, found) in parts {
                let (scores, more) = rest.split_at(found.len());
                asked.push((scores, &mut **found));
                rest = more;
            }
            asked
        });
        place_classes(scores, counts, asked, below, n_pos)
    }
}

/// Places what is asked for, of either class; what they win, and whether any tie.
fn place_classes<K: Key>(
    worker: &mut Worker<K>,
    counts: &mut Vec<u32>,
    asked: [Asked<'_, K>; 2],
    below: [u64; 2],
    n_pos: u64,
) -> (u64, bool) {
    let sizes = asked.each_ref().map(|parts| parts.iter().map(|(keys, _)| keys.len() as u64).sum::<u64>());
    // From twice the members of the other class below, here, tied ones counted half: where they start, and whether
    // those are added that are above instead.
    let starts = [2 * below[1] as u32, 2 * (n_pos - below[0]) as u32];
    let asking = usize::from(sizes[0] < sizes[1]);
    let [pos, neg] = asked;
    let (mut own, mut others) = if asking == 0 { (neg, pos) } else { (pos, neg) };
    let won_below = 2 * sizes[0] * below[1];
    if sizes[1 - asking] == 0 {
        others.iter_mut().for_each(|(_, found)| found.fill(starts[asking]));
        return (won_below, false);
    }
    let starts = [starts[asking], starts[1 - asking]];
    let crowded = worker.fill(own.iter().map(|(keys, _)| *keys));
    let Worker { table, spread, .. } = worker;
    let places = Places { starts, above: asking == 1, counts };
    let (lower, tied) =
        if crowded { places.find(spread, &mut others, &mut own) } else { places.find(table, &mut others, &mut own) };
    (won_below + if asking == 0 { lower } else { 2 * sizes[0] * sizes[1] - lower }, tied)
}

/// How placements follow from ranks.
struct Places<'a> {
    /// Those without any of the same bucket, of what asks and of the table.
    starts: [u32; 2],
    /// Whether what asks is placed by what is above it, and the table by what is below.
    above: bool,
    counts: &'a mut Vec<u32>,
}

impl Places<'_> {
    /// Places what asks, and what is in the table; for the former the sum of twice the members of the table that are
    /// below, tied ones counted half, and whether any tie.
    fn find<K: Key, M: Monotone<K>>(
        self,
        table: &Table<K, M>,
        others: &mut Asked<'_, K>,
        own: &mut Asked<'_, K>,
    ) -> (u64, bool) {
        let Self { starts, above, counts } = self;
        counts.clear();
        counts.resize(table.len() + 1, 0);
        // Added or subtracted: without a branch, minus x is !x + 1.
        let flips = [above, !above].map(|above| if above { u32::MAX } else { 0 });
        let placed =
            move |class: usize, rank: u32| starts[class].wrapping_add(rank ^ flips[class]).wrapping_sub(flips[class]);
        let (mut ties, mut cells) = (false, [0; TILE]);
        for (keys, found) in others {
            let place = move |[below, up_to]: [u32; 2]| placed(0, below.wrapping_add(up_to));
            ties |= table.map_and_count(keys, found, &mut cells, counts, place);
        }
        // As in `Ranks::sums`: summed up to and including k they are what the k-th member of the table is above, twice.
        let (mut seen, mut lower) = (0u32, 0u64);
        for (count, k) in counts.iter_mut().zip(0u64..) {
            lower = lower.wrapping_add(k.wrapping_mul((*count).into()));
            seen = seen.wrapping_add(*count);
            *count = seen;
        }
        let counts = &counts[..];
        for (keys, found) in own {
            table.map_ranks(keys, found, &mut cells, move |[below, _]| placed(1, counts[below as usize]));
        }
        (lower, ties)
    }
}
