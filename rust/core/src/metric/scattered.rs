//! All samples by bucket, and the counts of every bucket.

use super::counts::{Counting, PairCounts, Wanted};
use super::keyed::{Buckets, Chunk, Part, Rooms, SHARES, below};
use super::labels::Labels;
use super::score::{Key, KeyOf, Score};
use super::split::Split;
use super::table::MOST_OPEN;
use super::worker::{Sums, Worker};
use crate::{Ctx, Result};

/// The classes of a bucket, in parts.
type Classes<'a, S, K> = [Vec<Part<'a, S, K>>; 2];

/// Memory for samples that are scattered as keys, and for the counts of buckets.
#[derive(Debug, Default)]
pub(super) struct Memory<S, K> {
    rooms: Rooms<K>,
    counters: Vec<Counter<S, K>>,
}

impl<S, K: Key> Memory<S, K> {
    /// Bytes that are held.
    pub(super) fn bytes(&self) -> usize {
        self.rooms.bytes() + self.counters.iter().map(Counter::bytes).sum::<usize>()
    }
}

/// All samples by bucket and class.
struct Scattered<'a, S, K> {
    chunks: Vec<Chunk<'a, S, K>>,
    counters: &'a mut Vec<Counter<S, K>>,
    n_buckets: usize,
}

/// The pairs of samples few enough for one table in the second-level cache, unless their keys crowd or tie often.
pub(super) fn count_few<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    wanted: Wanted,
    buffers: &mut Counting<S>,
    ctx: &Ctx<'_>,
) -> Result<Option<PairCounts>> {
    let buckets = Buckets::fit::<S, S::Key>(scores, 1);
    if !buckets.spread.is_line() || (buckets.dense && !S::Key::EXACT) {
        return Ok(None);
    }
    let Memory { rooms, counters } = &mut buffers.by_key;
    counters.resize_with(usize::max(1, counters.len()), Counter::default);
    rooms.lend(scores.len(), |keys, stage| {
        let split = Split::new(labels, scores, buckets, stage, keys, ctx)?;
        Ok(split.and_then(|split| split.count(&mut counters[0].keys, wanted)))
    })
}

/// The pairs of all samples; `None` if any score is not finite.
pub(super) fn count<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    wanted: Wanted,
    buffers: &mut Counting<S>,
    ctx: &Ctx<'_>,
) -> Result<Option<PairCounts>> {
    let n_buckets = Buckets::number(scores.len());
    let buckets = Buckets::fit::<S, S::Key>(scores, n_buckets);
    if buckets.dense && !S::Key::EXACT {
        let buckets = Buckets::fit::<S, S>(scores, n_buckets);
        let scattered = Scattered::new(buckets, labels, scores, &mut buffers.by_score, ctx)?;
        return scattered.map(|scattered| scattered.count(wanted, ctx)).transpose();
    }
    let scattered = Scattered::new(buckets, labels, scores, &mut buffers.by_key, ctx)?;
    scattered.map(|scattered| scattered.count(wanted, ctx)).transpose()
}

/// For each positive, the lowest first, how many negatives are below it, and how many below it or tied; `None` if any score
/// is not finite.
pub(super) fn negatives_below<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    ctx: &Ctx<'_>,
) -> Result<Option<Vec<[u32; 2]>>> {
    let mut memory = Memory::<S, S>::default();
    let buckets = Buckets::fit::<S, S>(scores, Buckets::number(scores.len()));
    let scattered = Scattered::new(buckets, labels, scores, &mut memory, ctx)?;
    scattered.map(|scattered| scattered.negatives_below(ctx)).transpose()
}

impl<'a, S: Score, K: KeyOf<S>> Scattered<'a, S, K> {
    /// Scatters all scores; `None` if any is not finite.
    fn new(
        buckets: Buckets,
        labels: &Labels<'_>,
        scores: &'a [S],
        memory: &'a mut Memory<S, K>,
        ctx: &Ctx<'_>,
    ) -> Result<Option<Self>> {
        let Memory { rooms, counters } = memory;
        let chunks = buckets.scatter(labels, scores, rooms, ctx)?;
        Ok(chunks.map(|chunks| Self { chunks, counters, n_buckets: buckets.len }))
    }

    /// Counts all pairs.
    fn count(self, wanted: Wanted, ctx: &Ctx<'_>) -> Result<PairCounts> {
        let counts = self
            .each(|counter, classes, sizes, below| counter.count(&classes, sizes, wanted).above(sizes, below), ctx)?;
        let mut total = PairCounts::default();
        counts.into_iter().for_each(|counts| total.add(counts));
        Ok(total)
    }

    /// Calls `f` with the classes of every bucket in parts, their sizes, and those of the buckets below; what it returns.
    fn each<T: Send>(
        self,
        f: impl Fn(&mut Counter<S, K>, Classes<'_, S, K>, [usize; 2], [u64; 2]) -> T + Sync + Send,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<T>> {
        let Self { chunks, counters, n_buckets } = self;
        let below = below(&chunks, n_buckets);
        let share = n_buckets.div_ceil(SHARES * ctx.n_threads());
        counters.resize_with(usize::max(n_buckets.div_ceil(share), counters.len()), Counter::default);
        let shares = (0..n_buckets).step_by(share).zip(counters.iter_mut());
        let found = ctx.map(shares.collect(), |(first, counter)| {
            counter.tie = false;
            let one = |(bucket, &below): (usize, &[u64; 2])| {
                ctx.check()?;
                let classes = [0, 1].map(|class| chunks.iter().map(|chunk| chunk.part(bucket, class)).collect());
                let sizes =
                    classes.each_ref().map(|parts: &Vec<Part<'_, S, K>>| parts.iter().map(|p| p.keys.len()).sum());
                Ok(f(counter, classes, sizes, below))
            };
            below.iter().enumerate().skip(first).take(share).map(one).collect::<Result<Vec<T>>>()
        })?;
        Ok(found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }
}

impl<S: Score> Scattered<'_, S, S> {
    /// For each positive, the lowest first, how many negatives are below it, and how many below it or tied.
    fn negatives_below(self, ctx: &Ctx<'_>) -> Result<Vec<[u32; 2]>> {
        let of_bucket = |counter: &mut Counter<S, S>, classes: Classes<'_, S, S>, sizes, below: [u64; 2]| {
            counter.negatives_below(&classes, sizes, below[1] as u32)
        };
        Ok(self.each(of_bucket, ctx)?.concat())
    }
}

/// What a thread needs to count the pairs of a bucket.
#[derive(Debug, Default)]
struct Counter<S, K> {
    keys: Worker<K>,
    scores: Worker<S>,
    gathered: [Vec<S>; 2],
    /// Whether the keys of many are expected to tie in the next bucket.
    tie: bool,
}

impl<S, K: Key> Counter<S, K> {
    fn bytes(&self) -> usize {
        let gathered = self.gathered.iter().map(Vec::capacity).sum::<usize>();
        self.keys.bytes() + self.scores.bytes() + size_of::<S>() * gathered
    }
}

impl<S: Score, K: KeyOf<S>> Counter<S, K> {
    /// Counts the pairs of one bucket.
    fn count(&mut self, classes: &Classes<'_, S, K>, sizes: [usize; 2], wanted: Wanted) -> PairCounts {
        let asking = usize::from(sizes[0] < sizes[1]);
        if sizes[1 - asking] == 0 {
            return PairCounts::default();
        }
        let (found, squares) = self.ask(classes, asking, wanted);
        PairCounts::of_found(asking, sizes, found, squares)
    }

    /// What class `asking` finds in the other, and the squares if they are wanted.
    fn ask(&mut self, classes: &Classes<'_, S, K>, asking: usize, wanted: Wanted) -> Sums {
        let (own, others) = (&classes[1 - asking], &classes[asking]);
        if K::EXACT || !self.tie {
            let crowded = self.keys.fill(own.iter().map(|part| part.keys));
            let keys = others.iter().map(|part| part.keys);
            if K::EXACT {
                return self.keys.ask(crowded, keys, wanted);
            }
            let by_keys = self.keys.ask_keys(crowded, keys, wanted, |of_table, key| {
                let parts = if of_table { own } else { others };
                parts.iter().flat_map(|part| part.scores_of(key)).collect::<Vec<S>>()
            });
            if let Some(sums) = by_keys {
                return sums;
            }
        }
        // The keys of many tie: they are compared by their scores.
        for (gathered, parts) in self.gathered.iter_mut().zip([own, others]) {
            gathered.clear();
            parts.iter().for_each(|part| gathered.extend(part.scores()));
        }
        let [own, others] = &self.gathered;
        let crowded = self.scores.fill(std::iter::once(&own[..]));
        let sums = self.scores.ask(crowded, std::iter::once(&others[..]), wanted);
        self.tie = sums.0.up_to - sums.0.below > MOST_OPEN as u128;
        sums
    }
}

impl<S: Score> Counter<S, S> {
    /// For each positive of a bucket, the lowest first, how many negatives are below it, and below it or tied; `above` of
    /// them are in the buckets below.
    fn negatives_below(&mut self, classes: &Classes<'_, S, S>, sizes: [usize; 2], above: u32) -> Vec<[u32; 2]> {
        if sizes[0] == 0 || sizes[1] == 0 {
            return vec![[above; 2]; sizes[0]];
        }
        self.count(classes, sizes, Wanted::Squares);
        let ranks = &self.keys.ranks;
        let all = |below: [u32; 2]| below.map(|below| below.wrapping_add(above));
        if sizes[0] < sizes[1] { ranks.of_table().map(all).collect() } else { ranks.of_asking().map(all).collect() }
    }
}
