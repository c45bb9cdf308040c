//! Pair counts by bucket: each bucket is counted on its own, by keys, or by scores where keys tie.

use crate::count::bucket::{Work, Worker, Workers};
use crate::count::cells::sample;
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

impl<S: Score> Memory<S> {
    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.rooms.bytes() + self.workers.iter().map(Workers::bytes).sum::<usize>()
    }
}

/// The greatest share of shared keys that are still compared one by one.
const SETTLED: f64 = 1.0 / 64.0;

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

/// Finds for each positive, the lowest first, how many negatives are below and how many below or equal, given those in
/// the buckets below.
struct Below(u32);

impl Work for Below {
    type Output = Vec<[u32; 2]>;

    fn of<K: Key, M: Monotone<K>>(
        &mut self,
        worker: &mut Worker<K, M>,
        classes: &Classes<'_, K>,
    ) -> (Self::Output, bool) {
        let [n_pos, n_neg] = sizes(classes);
        if n_neg == 0 {
            return (vec![[self.0; 2]; n_pos], false);
        }
        worker.fill(&classes[1]);
        let mut ranks = Vec::with_capacity(n_pos);
        worker.each(&classes[0], |_, [below, up_to]| ranks.push(u64::from(below) << 32 | u64::from(up_to)));
        ranks.sort_unstable();
        let each = ranks.into_iter().map(|rank| [(rank >> 32) as u32, rank as u32]);
        let ranks = each.map(|rank| rank.map(|rank| rank.wrapping_add(self.0))).collect::<Vec<_>>();
        let tied = ranks.iter().any(|[below, up_to]| below != up_to);
        (ranks, tied)
    }
}

/// The pairs of all samples; `None` if a score is not finite. The second of `scores` is an ascending sample of them.
pub(crate) fn count<S: Score>(
    labels: &Labels<'_>,
    scores: (&[S], &[f64]),
    wanted: Wanted,
    (bucket, most): (usize, usize),
    memory: &mut Memory<S>,
    ctx: &Ctx<'_>,
) -> Result<Option<PairCounts>> {
    let work = |below| Count { wanted, most, below };
    let shared = if wanted == Wanted::Pairs { SETTLED } else { DENSE };
    let counts = each(labels, scores, (bucket, shared), memory, work, ctx)?;
    Ok(counts.map(|counts| {
        let mut total = PairCounts::default();
        counts.into_iter().for_each(|counts| total.add(counts));
        total
    }))
}

/// For each positive, the lowest first, how many negatives are below and how many below or equal; `None` if a score is
/// not finite.
pub(crate) fn negatives_below<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    bucket: usize,
    ctx: &Ctx<'_>,
) -> Result<Option<Vec<[u32; 2]>>> {
    let work = |below: [u64; 2]| Below(below[1] as u32);
    let ranks = each(labels, (scores, &sample(scores)), (bucket, DENSE), &mut Memory::default(), work, ctx)?;
    Ok(ranks.map(|ranks| ranks.concat()))
}

/// The results of work on every bucket, given the size of each class in the buckets below; `None` if a score is not
/// finite. If more than the share `most_shared` of the keys are shared, scores are compared from the start.
fn each<S: Score, W: Work<Output: Send>>(
    labels: &Labels<'_>,
    (scores, sample): (&[S], &[f64]),
    (bucket, most_shared): (usize, f64),
    Memory { rooms, workers }: &mut Memory<S>,
    work: impl Fn([u64; 2]) -> W + Sync,
    ctx: &Ctx<'_>,
) -> Result<Option<Vec<W::Output>>> {
    let buckets = Buckets::fit::<S>(scores.len(), sample, Buckets::number(scores.len(), bucket));
    let Some(chunks) = buckets.scatter(labels, scores, rooms, !S::EXACT, ctx)? else { return Ok(None) };
    let below = below(&chunks, buckets.len);
    let share = buckets.len.div_ceil(SHARES * ctx.n_threads());
    let shares = (0..buckets.len).step_by(share).map(|from| from..usize::min(from + share, buckets.len));
    workers.resize_with(usize::max(shares.len(), workers.len()), Workers::default);
    let found = ctx.try_map(shares.zip(workers).collect(), |(share, workers)| {
        let mut tie = buckets.shared > most_shared;
        let one = |bucket| ctx.check().map(|()| workers.run(&chunks, bucket, &mut tie, work(below[bucket])));
        share.map(one).collect::<Result<Vec<_>>>()
    })?;
    Ok(Some(found.into_iter().flatten().collect()))
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
