//! Scores split into monotone buckets, the classes apart, and counted bucket by bucket.

use super::counts::{Counting, PairCounts, Wanted, grown};
use super::labels::Labels;
use super::score::Score;
use super::split::split;
use super::worker::Worker;
use crate::order;
use crate::{Ctx, Result};

/// Scores of a bucket, at most, where they are only split: the bits of the rarer class take half of the same cache.
const SPLIT_BUCKET: usize = 1 << 17;
/// Most buckets that scores are split into; twice as many are one more step.
const MOST_SPLIT: usize = 64;
/// Scores split together: they stay in the same cache from step to step.
const SPLIT_CHUNK: usize = 1 << 15;
/// So many scores are worth more than one thread.
const MANY: usize = 1 << 15;
/// Units of work for each thread.
pub(super) const SHARES: usize = 4;

/// The classes of a bucket, in parts.
type Classes<'a, S> = [Vec<&'a [S]>; 2];

/// The scores of every chunk, by bucket and class.
pub(super) struct Scattered<'a, S> {
    chunks: Vec<Chunk<'a, S>>,
    workers: &'a mut Vec<Worker<S>>,
    n_buckets: usize,
}

pub(super) struct Chunk<'a, S> {
    pub(super) scores: &'a [S],
    /// Where the positives of each bucket begin, then the negatives of each, and the end.
    pub(super) starts: Vec<u32>,
}

impl<S> Chunk<'_, S> {
    pub(super) fn class(&self, bucket: usize, class: usize) -> &[S] {
        let id = class * (self.starts.len() / 2) + bucket;
        &self.scores[self.starts[id] as usize..self.starts[id + 1] as usize]
    }
}

impl<'a, S: Score> Scattered<'a, S> {
    /// Splits all scores; `None` if any is not finite.
    pub(super) fn split(
        labels: &Labels<'_>,
        scores: &[S],
        buffers: &'a mut Counting<S>,
        ctx: &Ctx<'_>,
    ) -> Result<Option<Self>> {
        let Counting { scattered, workers, .. } = buffers;
        let scattered = grown(scattered, scores.len());
        let n_shares = if scores.len() < MANY { 1 } else { SHARES * ctx.n_threads() };
        let fewest = if n_shares == 1 || ctx.n_threads() == 1 { 1 } else { n_shares };
        let n_buckets = scores.len().div_ceil(SPLIT_BUCKET).max(fewest).next_power_of_two().min(MOST_SPLIT);
        let chunk = if n_buckets == 1 { scores.len() } else { SPLIT_CHUNK };
        let bounds = bounds(scores, n_buckets);
        let share = scores.len().div_ceil(n_shares).next_multiple_of(chunk);
        workers.resize_with(usize::max(n_shares, workers.len()), Worker::default);
        let shares = (0..).step_by(share).zip(scores.chunks(share)).zip(scattered.chunks_mut(share));
        let done = ctx.map(shares.zip(&mut *workers).collect(), |(((from, scores), to), worker)| {
            let spare = grown(&mut worker.fewer, if n_buckets == 1 { 0 } else { usize::min(chunk, scores.len()) });
            let chunks = (from..).step_by(chunk).zip(scores.chunks(chunk)).zip(to.chunks_mut(chunk));
            let one = |((from, scores), to): ((usize, &[S]), &'a mut [S])| {
                ctx.check()?;
                let starts = split(labels, from, scores, &bounds, to, spare);
                Ok(starts.map(|starts| Chunk { scores: to, starts }))
            };
            chunks.map(one).collect::<Result<Option<Vec<_>>>>()
        })?;
        let done: Option<Vec<_>> = done.into_iter().collect::<Result<_>>()?;
        Ok(done.map(|chunks| Self { chunks: chunks.into_iter().flatten().collect(), workers, n_buckets }))
    }
}

impl<S: Score> Scattered<'_, S> {
    /// Counts all pairs.
    pub(super) fn count(self, wanted: Wanted, ctx: &Ctx<'_>) -> Result<PairCounts> {
        let counts =
            self.each(|worker, classes, sizes, below| worker.count(classes, sizes, wanted).above(sizes, below), ctx)?;
        let mut total = PairCounts::default();
        counts.into_iter().for_each(|counts| total.add(counts));
        Ok(total)
    }

    /// For each positive, the lowest first, how many negatives are below it, and how many below it or tied.
    pub(super) fn negatives_below(self, ctx: &Ctx<'_>) -> Result<Vec<[u32; 2]>> {
        let of_bucket = |worker: &mut Worker<S>, classes: Classes<'_, S>, sizes, below: [u64; 2]| {
            worker.negatives_below(classes, sizes, below[1] as u32)
        };
        Ok(self.each(of_bucket, ctx)?.concat())
    }

    /// Calls `f` with the classes of every bucket in parts, their sizes, and those of the buckets below; what it returns.
    fn each<T: Send>(
        self,
        f: impl Fn(&mut Worker<S>, Classes<'_, S>, [usize; 2], [u64; 2]) -> T + Sync + Send,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<T>> {
        let below = below(&self.chunks, self.n_buckets);
        let Self { chunks, workers, n_buckets } = self;
        let share = n_buckets.div_ceil(SHARES * ctx.n_threads());
        workers.resize_with(usize::max(n_buckets.div_ceil(share), workers.len()), Worker::default);
        let shares = (0..n_buckets).step_by(share).zip(workers.iter_mut());
        let found = ctx.map(shares.collect(), |(first, worker)| {
            let one = |(bucket, &below): (usize, &[u64; 2])| {
                ctx.check()?;
                let classes = [0, 1].map(|class| chunks.iter().map(|chunk| chunk.class(bucket, class)).collect());
                let sizes = classes.each_ref().map(|parts: &Vec<&[S]>| parts.iter().map(|part| part.len()).sum());
                Ok(f(worker, classes, sizes, below))
            };
            below.iter().enumerate().skip(first).take(share).map(one).collect::<Result<Vec<T>>>()
        })?;
        Ok(found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }
}

/// For each bucket, the positives and the negatives in those below.
pub(super) fn below<K>(chunks: &[Chunk<'_, K>], n_buckets: usize) -> Vec<[u64; 2]> {
    let size = |bucket, class| chunks.iter().map(|chunk| chunk.class(bucket, class).len() as u64).sum::<u64>();
    let mut below = vec![[0; 2]];
    for bucket in 1..n_buckets {
        below.push([0, 1].map(|class| below[bucket - 1][class] + size(bucket - 1, class)));
    }
    below
}

/// Bounds between so many buckets of about as many scores, from a sample.
fn bounds<S: Score>(scores: &[S], n_buckets: usize) -> Vec<S> {
    let n_sampled = 64 * n_buckets;
    let places = (0..n_sampled).map(|k| order::spread(k, n_sampled, scores.len()));
    let mut sample: Vec<S> = places.map(|i| scores[i]).filter(|x| x.finite()).collect();
    sample.sort_unstable_by(S::order);
    (1..n_buckets).map(|k| sample.get(k * sample.len() / n_buckets).copied().unwrap_or_default()).collect()
}
