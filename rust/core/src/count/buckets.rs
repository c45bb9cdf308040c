//! Pair counts by bucket: each bucket is counted on its own, by keys, or by scores where keys tie.

use crate::count::bucket::{Work, Worker, Workers};
use crate::count::keys::{Buckets, DENSE, Rooms, SHARES, below};
use crate::count::monotone::{Classes, Monotone, sizes};
use crate::count::sums::{PairCounts, Wanted};
use crate::data::float::{Key, Score};
use crate::data::labels::Labels;
use crate::{Ctx, Result};

/// Buffers for scattered samples and for the counts of buckets.
#[derive(Debug, Default)]
pub(crate) struct Memory<S: Score> {
    rooms: Rooms<S::Key>,
    workers: Vec<Workers<S>>,
}

/// As [`DENSE`], for keys whose scores are compared one by one.
const SETTLED: f64 = 1.0 / 32.0;

/// Counts the pairs of a bucket, and of it with the buckets below.
struct Count {
    wanted: Wanted,
    /// The most keys that are counted at once.
    most: usize,
    below: [u64; 2],
}

impl Work for Count {
    type Output = PairCounts;

    fn of<K: Key, M: Monotone<K>>(
        &mut self,
        worker: &mut Worker<K, M>,
        classes: &Classes<'_, K>,
    ) -> (PairCounts, bool) {
        let counts = worker.count(classes, self.wanted, self.most);
        (counts.above(sizes(classes), self.below), counts.tied > 0)
    }

    fn settle(&self, counts: &mut PairCounts, of_shared: impl FnOnce() -> Option<PairCounts>) -> bool {
        if self.wanted == Wanted::Squares {
            return false;
        }
        let of_shared = of_shared();
        if let Some(PairCounts { won, tied, .. }) = of_shared {
            counts.won += won;
            counts.tied = tied;
        }
        of_shared.is_some()
    }
}

/// The pairs of all samples; `None` if a score is not finite. The second of `scores` is an ascending sample of them.
pub(crate) fn count<S: Score>(
    labels: &Labels<'_>,
    (scores, sample): (&[S], &[f64]),
    wanted: Wanted,
    (bucket, most): (usize, usize),
    Memory { rooms, workers }: &mut Memory<S>,
    ctx: &Ctx<'_>,
) -> Result<Option<PairCounts>> {
    let most_shared = if wanted == Wanted::Pairs { SETTLED } else { DENSE };
    let buckets = Buckets::fit::<S>(scores.len(), sample, Buckets::number(scores.len(), bucket));
    let Some(chunks) = buckets.scatter(labels, scores, rooms, !S::EXACT, ctx)? else { return Ok(None) };
    let below = below(&chunks, buckets.len);
    let share = buckets.len.div_ceil(SHARES * ctx.n_threads());
    let shares = (0..buckets.len).step_by(share).map(|from| from..usize::min(from + share, buckets.len));
    workers.resize_with(usize::max(shares.len(), workers.len()), Workers::default);
    let counts = ctx.try_map(shares.zip(workers).collect(), |(share, workers)| {
        let (mut total, mut tie) = (PairCounts::default(), buckets.shared > most_shared);
        for bucket in share {
            ctx.check()?;
            total.add(workers.run(&chunks, bucket, &mut tie, Count { wanted, most, below: below[bucket] }));
        }
        Ok(total)
    })?;
    let mut total = PairCounts::default();
    counts.into_iter().for_each(|counts| total.add(counts));
    Ok(Some(total))
}

/// As [`count`], for so few scores that they need no buckets.
pub(crate) fn count_few<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    wanted: Wanted,
    Memory { workers, .. }: &mut Memory<S>,
) -> Option<PairCounts> {
    let positive = labels.positives(0, scores.len());
    workers.resize_with(usize::max(1, workers.len()), Workers::default);
    let finite = scores.iter().fold(true, |finite, x| finite & x.finite());
    let fill = |class: usize, members: &mut Vec<S>| {
        let own = scores.iter().zip(&positive).filter(|(_, positive)| **positive == (class == 0));
        members.extend(own.map(|(&score, _)| score));
    };
    finite.then(|| workers[0].by_score(Count { wanted, most: usize::MAX, below: [0; 2] }, fill).0)
}

#[cfg(test)]
#[path = "../../tests/unit/count_buckets.rs"]
mod tests;
