//! Placements of one model without a sort: bucket by bucket one class makes a table and the other asks it for ranks.

use super::counts::{Counting, grown};
use super::curve::first_non_finite;
use super::labels::Labels;
use super::scatter::{INDEXED_CHUNK, SHARES, Scattered};
use super::score::Monotone;
use super::table::Table;
use super::worker::Worker;
use crate::order::cells::size;
use crate::{Ctx, Error, Result};

/// Memory kept from model to model.
#[derive(Debug, Default)]
pub(crate) struct Placer {
    counting: Counting<f64>,
    index: Vec<u16>,
    /// By place in the buckets.
    found: Vec<f64>,
}

/// The scores of one class in a bucket, in parts, each with room for what is found.
type Parts<'a> = Vec<(&'a [f64], &'a mut [f64])>;

impl Placer {
    /// Bytes that are held.
    pub(crate) fn bytes(&self) -> usize {
        self.counting.bytes() + 2 * self.index.capacity() + 8 * self.found.capacity()
    }

    /// Sets `values` to `2 #{t < s_i} + #{t = s_i}` of each positive i and `2 #{s > t_j} + #{s = t_j}` of each negative
    /// j; twice the pairs that positives win, tied ones half. O(N) expected.
    pub(crate) fn place(
        &mut self,
        labels: &Labels<'_>,
        scores: &[f64],
        values: &mut Vec<f64>,
        ctx: &Ctx<'_>,
    ) -> Result<u64> {
        Error::check_len("y_score", labels.n_samples(), scores.len())?;
        let (index, found) = (grown(&mut self.index, scores.len()), grown(&mut self.found, scores.len()));
        let Some(scattered) = Scattered::new(labels, scores, &mut self.counting, index, ctx)? else {
            return Err(first_non_finite(scores));
        };
        let below = scattered.below();
        let Scattered { chunks, workers, n_buckets } = scattered;
        let mut buckets: Vec<[Parts<'_>; 2]> = (0..n_buckets).map(|_| Default::default()).collect();
        for (chunk, mut rest) in chunks.iter().zip(found.chunks_mut(INDEXED_CHUNK)) {
            for class in 0..2 {
                for (bucket, classes) in buckets.iter_mut().enumerate() {
                    let scores = chunk.class(bucket, class);
                    let (part, more) = rest.split_at_mut(scores.len());
                    classes[class].push((scores, part));
                    rest = more;
                }
            }
        }
        let share = n_buckets.div_ceil(SHARES * ctx.n_threads());
        workers.resize_with(usize::max(n_buckets.div_ceil(share), workers.len()), Worker::default);
        let shares = buckets.chunks_mut(share).zip(below.chunks(share)).zip(workers);
        let n_pos = labels.n_pos() as u64;
        let won = ctx.map(shares.collect(), |((buckets, below), worker)| {
            let mut won = 0;
            for (classes, &below) in buckets.iter_mut().zip(below) {
                ctx.check()?;
                won += place_bucket(worker, std::mem::take(classes), below, n_pos);
            }
            Ok(won)
        })?;
        size(values, scores.len());
        let jobs = chunks.iter().zip(found.chunks(INDEXED_CHUNK)).zip(values.chunks_mut(INDEXED_CHUNK));
        ctx.map(jobs.collect(), |((chunk, found), values)| {
            for (&from, &value) in chunk.index.iter().zip(found) {
                values[usize::from(from)] = value;
            }
        })?;
        won.into_iter().sum()
    }
}

/// Places the scores of a bucket; twice the pairs of its positives and any negatives that are won.
fn place_bucket(worker: &mut Worker<f64>, classes: [Parts<'_>; 2], below: [u64; 2], n_pos: u64) -> u64 {
    let sizes = classes.each_ref().map(|parts| parts.iter().map(|(scores, _)| scores.len() as u64).sum::<u64>());
    // From twice the members of the other class below, here, tied ones counted half.
    let values = [(2.0 * below[1] as f64, 1.0), (2.0 * (n_pos - below[0]) as f64, -1.0)];
    let asking = usize::from(sizes[0] < sizes[1]);
    let [pos, neg] = classes;
    let (mut own, mut others) = if asking == 0 { (neg, pos) } else { (pos, neg) };
    let won_below = 2 * sizes[0] * below[1];
    if sizes[1 - asking] == 0 {
        others.iter_mut().for_each(|(_, found)| found.fill(values[asking].0));
        return won_below;
    }
    let values = [values[asking], values[1 - asking]];
    let crowded = worker.fill(own.iter().map(|(scores, _)| *scores));
    let Worker { table, spread, ranks, .. } = worker;
    let lower = if crowded {
        place(spread, [&mut others, &mut own], values, &mut ranks.counts)
    } else {
        place(table, [&mut others, &mut own], values, &mut ranks.counts)
    };
    won_below + if asking == 0 { lower } else { 2 * sizes[0] * sizes[1] - lower }
}

/// Places the scores that ask, and those of the table; for the former the sum of twice the scores of the table that are
/// below, tied ones counted half. `values` are start and slope over these numbers.
fn place<M: Monotone<f64>>(
    table: &Table<f64, M>,
    [others, own]: [&mut Parts<'_>; 2],
    values: [(f64, f64); 2],
    counts: &mut Vec<u64>,
) -> u64 {
    counts.clear();
    counts.resize(table.len() + 1, 0);
    let (start, slope) = values[0];
    for (scores, found) in others {
        table.map_ranks(scores, found, |rank| {
            for at in rank {
                let count = &mut counts[at as usize];
                *count = count.wrapping_add(1);
            }
            start + slope * u64::wrapping_add(rank[0].into(), rank[1].into()) as f64
        });
    }
    // As in `Ranks::sums`: summed up to and including k they are what the k-th score of the table is above, twice.
    let (mut seen, mut lower) = (0u64, 0u64);
    for (count, k) in counts.iter_mut().zip(0u64..) {
        lower = lower.wrapping_add(k.wrapping_mul(*count));
        seen = seen.wrapping_add(*count);
        *count = seen;
    }
    let (start, slope) = values[1];
    for (scores, found) in own {
        table.map_ranks(scores, found, |[below, _]| start + slope * counts[below as usize] as f64);
    }
    lower
}
