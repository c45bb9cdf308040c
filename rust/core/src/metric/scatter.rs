//! Scores scattered into monotone buckets, the classes apart, and counted bucket by bucket.

use super::counts::{PairCounts, Scratch, Wanted};
use super::labels::{Labels, TILE};
use super::table::{Found, Line, Score, Table, squares};
use crate::order::{self, Map, fast};
use crate::{Ctx, Result};

/// Most buckets; each is two streams of the scatter, one a class, and more of them cost more than they save.
const MOST_BUCKETS: usize = 256;
/// Scores aimed at in a bucket: with its table it stays in the second-level cache.
const BUCKET: usize = 1 << 13;
/// Scores looked at to place a bucket.
const SAMPLES: usize = 32;
/// Slots of the map whose runs are the buckets: its table stays in the first-level cache.
const SLOTS: usize = 1 << 12;
/// Scores scattered together, to a stretch of memory of their own.
const CHUNK: usize = 1 << 17;
/// Units of work for each thread.
const SHARES: usize = 4;

/// The bucket of every score: neighbouring slots of a [`Map`], so many that each bucket gets about as many scores.
struct Buckets {
    map: Map,
    /// Twice the bucket of each slot.
    of_slot: Vec<u16>,
    len: usize,
}

impl Buckets {
    /// From an evenly spread sample; scores that are not finite are left out of it.
    fn fit<S: Score>(scores: &[S]) -> Self {
        let len = (scores.len() / BUCKET).next_power_of_two().clamp(2, MOST_BUCKETS);
        let n_sampled = len * SAMPLES;
        let places = (0..n_sampled).map(|k| order::spread(k, n_sampled, scores.len()));
        let mut sample: Vec<f64> = places.map(|i| scores[i].into()).filter(|x: &f64| x.is_finite()).collect();
        let map = if sample.is_empty() { Map::default() } else { Map::fit(&mut sample, SLOTS / 2) };
        let mut counts = vec![0; map.n_buckets()];
        sample.iter().for_each(|&x| counts[map.bucket(x) as usize] += 1);
        let mut seen = 0;
        let of_slot = counts.iter().map(|count| {
            let bucket = (seen * len / sample.len().max(1)).min(len - 1);
            seen += count;
            2 * bucket as u16
        });
        Self { of_slot: of_slot.collect(), map, len }
    }
}

/// The scores of every [`CHUNK`], by bucket and class.
pub(super) struct Scattered<'a, S> {
    chunks: Vec<Chunk<'a, S>>,
    workers: &'a mut Vec<Worker<S>>,
    n_buckets: usize,
}

struct Chunk<'a, S> {
    scores: &'a [S],
    /// Where the positives and the negatives of each bucket begin, and the end.
    starts: Vec<u32>,
}

impl<S> Chunk<'_, S> {
    fn class(&self, bucket: usize, class: usize) -> &[S] {
        let id = 2 * bucket + class;
        &self.scores[self.starts[id] as usize..self.starts[id + 1] as usize]
    }
}

impl<'a, S: Score> Scattered<'a, S> {
    /// Scatters all scores; `None` if any is not finite.
    pub(super) fn new(
        labels: &Labels<'_>,
        scores: &[S],
        scratch: &'a mut Scratch<S>,
        ctx: &Ctx<'_>,
    ) -> Result<Option<Self>> {
        let Scratch { scattered, workers } = scratch;
        scattered.resize(usize::max(scores.len(), scattered.len()), S::default());
        let scattered = &mut scattered[..scores.len()];
        let buckets = Buckets::fit(scores);
        // Chunks that follow each other share the buffer of their ids, which so stays in a cache.
        let share = scores.len().div_ceil(SHARES * ctx.n_threads()).next_multiple_of(CHUNK);
        let shares = (0..).step_by(share).zip(scores.chunks(share)).zip(scattered.chunks_mut(share));
        let done = ctx.map(shares.collect(), |((from, scores), to)| {
            let mut ids = vec![0; usize::min(scores.len(), CHUNK)];
            let chunks = (from..).step_by(CHUNK).zip(scores.chunks(CHUNK)).zip(to.chunks_mut(CHUNK));
            let scatter = |((from, scores), to): ((usize, &[S]), &'a mut [S])| {
                ctx.check()?;
                let ids = &mut ids[..scores.len()];
                let counts = fast(Classify { labels, from, scores, buckets: &buckets, ids });
                Ok(counts.map(|counts| {
                    let starts = starts(&counts[..2 * buckets.len]);
                    fast(Scatter { scores, ids, starts: &starts, to });
                    Chunk { scores: to, starts }
                }))
            };
            chunks.map(scatter).collect::<Result<Option<Vec<_>>>>()
        })?;
        let done: Option<Vec<_>> = done.into_iter().collect::<Result<_>>()?;
        Ok(done.map(|chunks| Self { chunks: chunks.into_iter().flatten().collect(), workers, n_buckets: buckets.len }))
    }

    /// Counts all pairs.
    pub(super) fn count(self, wanted: Wanted, ctx: &Ctx<'_>) -> Result<PairCounts> {
        let Self { chunks, workers, n_buckets } = self;
        // Samples of either class in the buckets below.
        let mut below = vec![[0u64; 2]; n_buckets];
        let mut seen = [0u64; 2];
        for (bucket, below) in below.iter_mut().enumerate() {
            *below = seen;
            for (class, seen) in seen.iter_mut().enumerate() {
                *seen += chunks.iter().map(|chunk| chunk.class(bucket, class).len() as u64).sum::<u64>();
            }
        }
        let share = n_buckets.div_ceil(SHARES * ctx.n_threads());
        workers.resize_with(usize::max(n_buckets.div_ceil(share), workers.len()), Worker::default);
        let shares = (0..n_buckets).step_by(share).zip(workers.iter_mut());
        let counts = ctx.map(shares.collect(), |(first, worker)| {
            let mut total = PairCounts::default();
            for (bucket, &below) in below.iter().enumerate().skip(first).take(share) {
                ctx.check()?;
                let classes = [0, 1].map(|class| chunks.iter().map(|chunk| chunk.class(bucket, class)).collect());
                let sizes = classes.each_ref().map(|parts: &Vec<&[S]>| parts.iter().map(|part| part.len()).sum());
                total.add(fast(Count { worker: &mut *worker, classes, sizes, wanted }).above(sizes, below));
            }
            Ok(total)
        })?;
        let mut total = PairCounts::default();
        for counts in counts {
            total.add(counts?);
        }
        Ok(total)
    }
}

/// The running sums of `counts`, from 0.
fn starts(counts: &[u32]) -> Vec<u32> {
    let mut sum = 0;
    let next = counts.iter().map(|count| {
        sum += count;
        sum
    });
    std::iter::once(0).chain(next).collect()
}

type Counts = [u32; 2 * MOST_BUCKETS];

/// Writes twice the bucket of every score, plus one for a negative, and counts them; `None` if a score is not finite.
struct Classify<'a, S> {
    labels: &'a Labels<'a>,
    from: usize,
    scores: &'a [S],
    buckets: &'a Buckets,
    ids: &'a mut [u16],
}

impl<S: Score> pulp::NullaryFnOnce for Classify<'_, S> {
    type Output = Option<Counts>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let (mut positive, mut slots) = ([false; TILE], [0u32; TILE]);
        let mut counts = [0; 2 * MOST_BUCKETS];
        let tiles = self.scores.chunks(TILE).zip(self.ids.chunks_mut(TILE));
        for ((tile, ids), from) in tiles.zip((self.from..).step_by(TILE)) {
            let positive = &mut positive[..tile.len()];
            self.labels.fill(from, positive);
            let mut finite = true;
            for (slot, &x) in slots.iter_mut().zip(tile) {
                *slot = self.buckets.map.bucket(x.into());
                finite &= x.finite();
            }
            if !finite {
                return None;
            }
            count(&slots[..tile.len()], positive, &self.buckets.of_slot, ids, &mut counts);
        }
        Some(counts)
    }
}

#[inline(always)]
fn count(slots: &[u32], positive: &[bool], of_slot: &[u16], ids: &mut [u16], counts: &mut Counts) {
    for ((id, &slot), &positive) in ids.iter_mut().zip(slots).zip(positive) {
        *id = of_slot[slot as usize] | u16::from(!positive);
        let count = &mut counts[usize::from(*id) & (2 * MOST_BUCKETS - 1)];
        *count = count.wrapping_add(1);
    }
}

/// Writes every score to the next place of its id.
struct Scatter<'a, 'b, S> {
    scores: &'a [S],
    ids: &'a [u16],
    starts: &'a [u32],
    to: &'b mut [S],
}

impl<S: Score> pulp::NullaryFnOnce for Scatter<'_, '_, S> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let mut next = [0; 2 * MOST_BUCKETS];
        next.iter_mut().zip(self.starts).for_each(|(next, start)| *next = *start);
        for (&x, &id) in self.scores.iter().zip(self.ids) {
            let next = &mut next[usize::from(id) & (2 * MOST_BUCKETS - 1)];
            self.to[*next as usize] = x;
            *next = next.wrapping_add(1);
        }
    }
}

/// What a thread needs to count the pairs of a bucket.
#[derive(Debug, Default)]
pub(super) struct Worker<S> {
    table: Table<S, Line<S>>,
    /// The scores of the table as they come.
    fewer: Vec<S>,
    steps: Vec<u64>,
}

impl<S> Worker<S> {
    pub(super) fn bytes(&self) -> usize {
        // A table holds its scores, and about as many cells twice.
        self.fewer.capacity() * (2 * size_of::<S>() + 8) + self.steps.capacity() * 8
    }
}

/// Counts the pairs of one bucket.
struct Count<'a, S> {
    worker: &'a mut Worker<S>,
    classes: [Vec<&'a [S]>; 2],
    sizes: [usize; 2],
    wanted: Wanted,
}

impl<S: Score> pulp::NullaryFnOnce for Count<'_, S> {
    type Output = PairCounts;

    #[inline(always)]
    fn call(self) -> PairCounts {
        let Self { worker: Worker { table, fewer, steps }, classes, sizes, wanted } = self;
        let asking = usize::from(sizes[0] < sizes[1]);
        if sizes[1 - asking] == 0 {
            return PairCounts::default();
        }
        fewer.clear();
        classes[1 - asking].iter().for_each(|part| fewer.extend_from_slice(part));
        let (mut low, mut high) = (fewer[0], fewer[0]);
        for &x in &*fewer {
            low = if x < low { x } else { low };
            high = if x > high { x } else { high };
        }
        table.fill(S::line(low, high, fewer.len() as u32), fewer);
        let mut total = Found::default();
        steps.clear();
        if wanted == Wanted::Squares {
            steps.resize(fewer.len() + 1, 0);
        }
        for part in &classes[asking] {
            let found = match wanted {
                Wanted::Pairs => table.ask(part, |_| true),
                Wanted::Squares => table.ask_squares(part, |_| true, steps),
            };
            total.below += found.below;
            total.up_to += found.up_to;
            total.squares += found.squares;
        }
        PairCounts::of_found(asking, sizes, total, squares(steps))
    }
}
