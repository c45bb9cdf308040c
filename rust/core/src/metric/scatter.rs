//! Scores split or scattered into monotone buckets, the classes apart, and counted bucket by bucket.

use super::counts::{Counting, PairCounts, Wanted, grown};
use super::labels::{Labels, TILE};
use super::score::Score;
use super::split::split;
use super::worker::Worker;
use crate::order::{self, Map, fast};
use crate::{Ctx, Result};

/// Most buckets; each is two streams of the scatter, one a class, and more of them cost more than they save.
const MOST_BUCKETS: usize = 256;
/// Scores aimed at in a bucket: with its table it stays in the second-level cache.
const BUCKET: usize = 1 << 13;
/// Scores looked at to place a bucket.
const SAMPLES: usize = 16;
/// Slots of the map whose runs are the buckets: its table stays in the first-level cache.
const SLOTS: usize = 1 << 11;
/// Scores scattered together, to a stretch of memory of their own, where 16 bits find them again.
pub(super) const INDEXED_CHUNK: usize = 1 << 16;
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

/// The bucket of every score: neighbouring slots of a [`Map`], so many that each bucket gets about as many scores.
struct Buckets {
    map: Map,
    /// The id of each slot and class: the bucket, plus their number for negatives.
    ids: Vec<u16>,
    len: usize,
}

impl Buckets {
    /// So many, from an evenly spread sample; scores that are not finite are left out of it.
    fn fit<S: Score>(scores: &[S], len: usize) -> Self {
        let n_sampled = len * SAMPLES;
        let places = (0..n_sampled).map(|k| order::spread(k, n_sampled, scores.len()));
        let mut sample: Vec<f64> = places.map(|i| scores[i].into()).filter(|x: &f64| x.is_finite()).collect();
        let map = if sample.is_empty() { Map::default() } else { Map::fit(&mut sample, SLOTS / 2) };
        let mut counts = vec![0; map.n_buckets()];
        sample.iter().for_each(|&x| counts[map.bucket(x) as usize] += 1);
        let mut seen = 0;
        let ids = counts.iter().flat_map(|count| {
            let bucket = (seen * len / sample.len().max(1)).min(len - 1);
            seen += count;
            [bucket as u16, (len + bucket) as u16]
        });
        Self { ids: ids.collect(), map, len }
    }
}

/// The classes of a bucket, in parts.
type Classes<'a, S> = [Vec<&'a [S]>; 2];

/// The scores of every chunk, by bucket and class.
pub(super) struct Scattered<'a, S> {
    pub(super) chunks: Vec<Chunk<'a, S>>,
    pub(super) workers: &'a mut Vec<Worker<S>>,
    pub(super) n_buckets: usize,
}

pub(super) struct Chunk<'a, S> {
    scores: &'a [S],
    /// Where in the chunk each score came from, if they were scattered.
    pub(super) index: &'a [u16],
    /// Where the positives of each bucket begin, then the negatives of each, and the end.
    starts: Vec<u32>,
}

/// Room for the scores of a chunk, and for where they came from.
type Rooms<'a, S> = (&'a mut [S], &'a mut [u16]);

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
        let Counting { scattered, workers } = buffers;
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
                Ok(starts.map(|starts| Chunk { scores: to, index: &[], starts }))
            };
            chunks.map(one).collect::<Result<Option<Vec<_>>>>()
        })?;
        let done: Option<Vec<_>> = done.into_iter().collect::<Result<_>>()?;
        Ok(done.map(|chunks| Self { chunks: chunks.into_iter().flatten().collect(), workers, n_buckets }))
    }

    /// Scatters all scores, and where they came from to `index`; `None` if any is not finite.
    pub(super) fn new(
        labels: &Labels<'_>,
        scores: &[S],
        buffers: &'a mut Counting<S>,
        index: &'a mut [u16],
        ctx: &Ctx<'_>,
    ) -> Result<Option<Self>> {
        let Counting { scattered, workers } = buffers;
        let scattered = grown(scattered, scores.len());
        let buckets = Buckets::fit(scores, (scores.len() / BUCKET).next_power_of_two().clamp(2, MOST_BUCKETS));
        // Chunks that follow each other share the buffer of their ids, which so stays in a cache.
        let share = scores.len().div_ceil(SHARES * ctx.n_threads()).next_multiple_of(INDEXED_CHUNK);
        let shares = (0..).step_by(share).zip(scores.chunks(share));
        let rooms = scattered.chunks_mut(share).zip(index.chunks_mut(share));
        let done = ctx.map(shares.zip(rooms).collect(), |((from, scores), (to, index))| {
            let mut ids = vec![0; usize::min(scores.len(), INDEXED_CHUNK)];
            let chunks = (from..).step_by(INDEXED_CHUNK).zip(scores.chunks(INDEXED_CHUNK));
            let rooms = to.chunks_mut(INDEXED_CHUNK).zip(index.chunks_mut(INDEXED_CHUNK));
            let one = |((from, scores), (to, index)): ((usize, &[S]), Rooms<'a, S>)| {
                ctx.check()?;
                let ids = &mut ids[..scores.len()];
                let chunk = Classify { labels, from, scores, buckets: &buckets, ids };
                // Scores that follow each other go to several places, so that equal ones do not wait for each other's
                // counters; the more buckets, the rarer that is, and the dearer the places.
                let starts = match buckets.len {
                    MOST_BUCKETS => chunk.scatter::<2>(to, index),
                    16.. => chunk.scatter::<4>(to, index),
                    _ => chunk.scatter::<8>(to, index),
                };
                Ok(starts.map(|starts| Chunk { scores: to, index, starts }))
            };
            chunks.zip(rooms).map(one).collect::<Result<Option<Vec<_>>>>()
        })?;
        let done: Option<Vec<_>> = done.into_iter().collect::<Result<_>>()?;
        Ok(done.map(|chunks| Self { chunks: chunks.into_iter().flatten().collect(), workers, n_buckets: buckets.len }))
    }

    /// For each bucket, the positives and the negatives in those below.
    pub(super) fn below(&self) -> Vec<[u64; 2]> {
        let size = |bucket, class| self.chunks.iter().map(|chunk| chunk.class(bucket, class).len() as u64).sum::<u64>();
        let mut below = vec![[0; 2]];
        for bucket in 1..self.n_buckets {
            below.push([0, 1].map(|class| below[bucket - 1][class] + size(bucket - 1, class)));
        }
        below
    }

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
        let below = self.below();
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

/// Bounds between so many buckets of about as many scores, from a sample.
fn bounds<S: Score>(scores: &[S], n_buckets: usize) -> Vec<S> {
    let n_sampled = 64 * n_buckets;
    let places = (0..n_sampled).map(|k| order::spread(k, n_sampled, scores.len()));
    let mut sample: Vec<S> = places.map(|i| scores[i]).filter(|x| x.finite()).collect();
    sample.sort_unstable_by(S::order);
    (1..n_buckets).map(|k| sample.get(k * sample.len() / n_buckets).copied().unwrap_or_default()).collect()
}

/// Numbers by lane and id.
type Counts<const LANES: usize> = [[u32; 2 * MOST_BUCKETS]; LANES];

/// Turns `counts` into where the scores of each lane and id begin; where those of each of `n_ids` ids begin, and the end.
fn starts<const LANES: usize>(counts: &mut Counts<LANES>, n_ids: usize) -> Vec<u32> {
    let mut sum = 0;
    let mut starts = vec![0];
    for id in 0..n_ids {
        for lane in counts.iter_mut() {
            sum += std::mem::replace(&mut lane[id], sum);
        }
        starts.push(sum);
    }
    starts
}

/// A chunk of scores, and room for twice the bucket of each, plus one for a negative.
struct Classify<'a, S> {
    labels: &'a Labels<'a>,
    from: usize,
    scores: &'a [S],
    buckets: &'a Buckets,
    ids: &'a mut [u16],
}

impl<S: Score> Classify<'_, S> {
    /// Scatters the scores; where those of each id begin, and the end. `None` if a score is not finite.
    fn scatter<const LANES: usize>(self, to: &mut [S], index: &mut [u16]) -> Option<Vec<u32>> {
        let Self { scores, ids, buckets, .. } = self;
        let mut counts = Classify { ids: &mut *ids, ..self }.count::<LANES>()?;
        let starts = starts(&mut counts, 2 * buckets.len);
        scatter(scores, ids, counts, to, index);
        Some(starts)
    }

    /// Writes and counts the ids.
    fn count<const LANES: usize>(self) -> Option<Counts<LANES>> {
        let (mut positive, mut slots) = ([false; TILE], [0u32; TILE]);
        let mut counts = [[0; 2 * MOST_BUCKETS]; LANES];
        let of_slot = self.buckets.ids.as_slice();
        let mut count = |lane: usize, id: &mut u16, slot: u32| {
            *id = of_slot[slot as usize];
            let count = &mut counts[lane][usize::from(*id) & (2 * MOST_BUCKETS - 1)];
            *count = u32::wrapping_add(*count, 1);
        };
        let tiles = self.scores.chunks(TILE).zip(self.ids.chunks_mut(TILE));
        for ((scores, ids), from) in tiles.zip((self.from..).step_by(TILE)) {
            let (positive, slots) = (&mut positive[..scores.len()], &mut slots[..scores.len()]);
            self.labels.fill(from, positive);
            if !fast(Slots { map: self.buckets.map, scores, positive, slots: &mut *slots }) {
                return None;
            }
            let (ids, last_ids) = ids.as_chunks_mut::<LANES>();
            let (slots, last_slots) = slots.as_chunks::<LANES>();
            for (ids, slots) in ids.iter_mut().zip(slots) {
                for lane in 0..LANES {
                    count(lane, &mut ids[lane], slots[lane]);
                }
            }
            for (lane, (id, &slot)) in last_ids.iter_mut().zip(last_slots).enumerate() {
                count(lane, id, slot);
            }
        }
        Some(counts)
    }
}

/// Writes twice the slot of every score, plus one for a negative; whether all scores are finite.
struct Slots<'a, S> {
    map: Map,
    scores: &'a [S],
    positive: &'a [bool],
    slots: &'a mut [u32],
}

impl<S: Score> pulp::NullaryFnOnce for Slots<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let mut finite = true;
        for ((slot, &x), &positive) in self.slots.iter_mut().zip(self.scores).zip(self.positive) {
            *slot = self.map.bucket(x.into()) << 1 | u32::from(!positive);
            finite &= x.finite();
        }
        finite
    }
}

/// Writes every score to the next place of its lane and id, and where it comes from.
fn scatter<S: Score, const LANES: usize>(
    scores: &[S],
    ids: &[u16],
    mut next: Counts<LANES>,
    to: &mut [S],
    index: &mut [u16],
) {
    let mut from = 0u16;
    let mut put = |lane: usize, x: S, id: u16| {
        let next = &mut next[lane][usize::from(id) & (2 * MOST_BUCKETS - 1)];
        to[*next as usize] = x;
        index[*next as usize] = from;
        from = from.wrapping_add(1);
        *next = next.wrapping_add(1);
    };
    let (scores, last_scores) = scores.as_chunks::<LANES>();
    let (ids, last_ids) = ids.as_chunks::<LANES>();
    for (scores, ids) in scores.iter().zip(ids) {
        for lane in 0..LANES {
            put(lane, scores[lane], ids[lane]);
        }
    }
    for (lane, (&x, &id)) in last_scores.iter().zip(last_ids).enumerate() {
        put(lane, x, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    /// The scores of each bucket and class, lowest first.
    fn scattered<const LANES: usize>(labels: &[bool], scores: &[f64], buckets: &Buckets) -> Vec<Vec<f64>> {
        let (mut to, mut index) = (vec![0.0; scores.len()], vec![0; scores.len()]);
        let labels = &Labels::new(labels).unwrap();
        let chunk = Classify { labels, from: 0, scores, buckets, ids: &mut vec![0; scores.len()] };
        let chunk = Chunk { starts: chunk.scatter::<LANES>(&mut to, &mut index).unwrap(), scores: &to, index: &index };
        assert!(to.iter().zip(&index).all(|(&x, &from)| scores[usize::from(from)] == x));
        let sorted = |id: usize| {
            let mut scores = chunk.class(id % buckets.len, id / buckets.len).to_vec();
            scores.sort_unstable_by(f64::total_cmp);
            scores
        };
        (0..2 * buckets.len).map(sorted).collect()
    }

    #[test]
    fn buckets_ascend_and_lose_nothing_by_any_number_of_lanes() {
        let mut next = uniform(2);
        let labels: Vec<bool> = (0..30_001).map(|_| next() < 0.3).collect();
        let scores: Vec<f64> = labels.iter().map(|_| (next() * 1000.0).floor() * next()).collect();
        let buckets = Buckets::fit(&scores, 16);
        let found = scattered::<4>(&labels, &scores, &buckets);
        assert_eq!(found, scattered::<2>(&labels, &scores, &buckets));
        for (class, positive) in [true, false].into_iter().enumerate() {
            let of_class = found[class * buckets.len..][..buckets.len].concat();
            let mut expected: Vec<f64> =
                (0..scores.len()).filter(|&i| labels[i] == positive).map(|i| scores[i]).collect();
            expected.sort_unstable_by(f64::total_cmp);
            assert_eq!(of_class, expected);
        }
    }
}
