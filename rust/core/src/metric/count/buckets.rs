//! All samples by bucket, and the counts of every bucket.

use std::ops::Range;

use super::bucket::{Worker, sizes};
use super::cells::sample;
use super::keys::{Buckets, Chunk, Rooms, SHARES, below};
use super::lanes::Holds;
use super::sums::{PairCounts, Wanted};
use crate::metric::labels::Labels;
use crate::metric::score::{Key, KeyOf, Score};
use crate::order::fast;
use crate::{Ctx, Result, alloc};

/// The members of either class in a bucket, in parts.
type Classes<'a, K> = [Vec<&'a [K]>; 2];

/// Runs of buckets, at most, that are counted by scores where the keys of many tie,
const MOST_RUNS: usize = 8;
/// and how many buckets may be between those of a run.
const GAP: usize = 4;
/// Chunks a bucket that may be looked through for the scores of keys that tie: more would take as long as to scatter the
/// scores themselves.
const LOOKS: usize = 8;
/// Scores that are looked at together.
const BLOCK: usize = 1 << 6;

/// Memory for samples that are scattered as keys, and for the counts of buckets.
#[derive(Debug, Default)]
pub(crate) struct Memory<S, K> {
    rooms: Rooms<K>,
    counters: Vec<Counter<S, K>>,
}

impl<S: Key, K: Key> Memory<S, K> {
    /// Bytes that are held.
    pub(crate) fn bytes(&self) -> usize {
        self.rooms.bytes() + self.counters.iter().map(Counter::bytes).sum::<usize>()
    }
}

/// All samples by bucket and class.
struct Scattered<'a, S, K> {
    buckets: &'a Buckets,
    labels: &'a Labels<'a>,
    chunks: Vec<Chunk<'a, S, K>>,
}

/// The pairs of all samples; `None` if any score is not finite.
pub(crate) fn count<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    sample: &[f64],
    wanted: Wanted,
    (by_key, by_score): (&mut Memory<S, S::Key>, &mut Memory<S, S>),
    ctx: &Ctx<'_>,
) -> Result<Option<PairCounts>> {
    let n_buckets = Buckets::number(scores.len());
    let buckets = Buckets::fit::<S, S::Key>(scores.len(), sample, n_buckets);
    if S::Key::EXACT || !buckets.dense {
        match count_in(&buckets, labels, scores, wanted, by_key, ctx)? {
            None => return Ok(None),
            Some(None) => {}
            Some(counts) => return Ok(counts),
        }
    }
    let buckets = Buckets::fit::<S, S>(scores.len(), sample, n_buckets);
    Ok(count_in(&buckets, labels, scores, wanted, by_score, ctx)?.flatten())
}

/// The pairs of all samples in these buckets, or `None` if the keys of many tie; `None` if any score is not finite.
fn count_in<S: Score, K: KeyOf<S>>(
    buckets: &Buckets,
    labels: &Labels<'_>,
    scores: &[S],
    wanted: Wanted,
    memory: &mut Memory<S, K>,
    ctx: &Ctx<'_>,
) -> Result<Option<Option<PairCounts>>> {
    let Memory { rooms, counters } = memory;
    let Some(chunks) = buckets.scatter(labels, scores, rooms, false, ctx)? else { return Ok(None) };
    Ok(Some(Scattered { buckets, labels, chunks }.count(wanted, counters, ctx)?))
}

/// For each positive, the lowest first, how many negatives are below it, and how many below it or tied; `None` if any
/// score is not finite.
pub(crate) fn negatives_below<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    ctx: &Ctx<'_>,
) -> Result<Option<Vec<[u32; 2]>>> {
    let Memory { mut rooms, mut counters } = Memory::<S, S>::default();
    let buckets = &Buckets::fit::<S, S>(scores.len(), &sample(scores), Buckets::number(scores.len()));
    let Some(chunks) = buckets.scatter(labels, scores, &mut rooms, false, ctx)? else { return Ok(None) };
    Scattered { buckets, labels, chunks }.negatives_below(&mut counters, ctx).map(Some)
}

impl<'a, S: Score, K: KeyOf<S>> Scattered<'a, S, K> {
    /// Counts all pairs; `None` if the keys of many tie in many places.
    fn count(&self, wanted: Wanted, counters: &mut Vec<Counter<S, K>>, ctx: &Ctx<'_>) -> Result<Option<PairCounts>> {
        let below = below(&self.chunks, self.buckets.len);
        let all = (0..self.buckets.len).map(|bucket| (bucket, self.keys(bucket))).collect();
        let counts = each(all, counters, ctx, |counter, (bucket, classes)| {
            let counts = self.count_keys(bucket, &classes, wanted, counter)?;
            Some(counts.above(sizes(&classes), below[bucket]))
        })?;
        // Where the keys of many tie, they are compared by their scores.
        let mut runs: Vec<Range<usize>> = vec![];
        for (bucket, _) in counts.iter().enumerate().filter(|(_, counts)| counts.is_none()) {
            match runs.last_mut() {
                Some(run) if bucket < run.end + GAP => run.end = bucket + 1,
                _ => runs.push(bucket..bucket + 1),
            }
        }
        if runs.len() > MOST_RUNS {
            return Ok(None);
        }
        let mut total = PairCounts::default();
        let left = counts.into_iter().enumerate().filter(|(bucket, _)| !runs.iter().any(|run| run.contains(bucket)));
        left.filter_map(|(_, counts)| counts).for_each(|counts| total.add(counts));
        let counts = each(runs, counters, ctx, |counter, run| {
            let (counts, sizes) = self.count_scores(&run, wanted, counter);
            counts.above(sizes, below[run.start])
        })?;
        counts.into_iter().for_each(|counts| total.add(counts));
        Ok(Some(total))
    }

    /// The keys of a bucket.
    fn keys(&self, bucket: usize) -> Classes<'a, K> {
        [0, 1].map(|class| self.chunks.iter().map(|chunk| chunk.keys(bucket, class)).collect())
    }

    /// Counts the pairs of one bucket by their keys; `None` if those of many tie, but not their scores for certain.
    fn count_keys(
        &self,
        bucket: usize,
        classes: &Classes<'_, K>,
        wanted: Wanted,
        counter: &mut Counter<S, K>,
    ) -> Option<PairCounts> {
        let Counter { keys, looks, .. } = counter;
        if K::EXACT {
            return Some(keys.count(classes, wanted));
        }
        keys.count_keys(classes, wanted, |class, key| self.scores_of(bucket, class, key, looks))
    }

    /// The scores of a class in a bucket that have some key; `None` where no more chunks may be looked through.
    fn scores_of(&self, bucket: usize, class: usize, key: K, looks: &mut usize) -> Option<Vec<S>> {
        let own = self.buckets.id(bucket, class);
        let ends = self.chunks.iter().flat_map(|chunk| &chunk.ends).filter(|end| (end.id, end.key) == (own, key));
        let mut found = alloc::gathered(ends.map(|end| end.score));
        if !found.is_empty() {
            return Some(found);
        }
        let bounds = self.bounds(key.cells(bucket as u64));
        for chunk in self.chunks.iter().filter(|chunk| fast(Holds(chunk.keys(bucket, class), key))) {
            *looks = looks.checked_sub(1)?;
            alloc::append(&mut found, &self.between(chunk, bounds)[class]);
        }
        Some(found)
    }

    /// From which score on, and below which, those of some cells lie.
    fn bounds(&self, cells: Range<u64>) -> [f64; 2] {
        [cells.start, cells.end].map(|cell| self.buckets.spread.least(cell))
    }

    /// The scores of a chunk that lie there, by class.
    fn between(&self, chunk: &Chunk<'_, S, K>, [from, to]: [f64; 2]) -> [Vec<S>; 2] {
        let mut found = [vec![], vec![]];
        for (block, first) in chunk.scores.chunks(BLOCK).zip((chunk.from..).step_by(BLOCK)) {
            if fast(AnyBetween(block, [from, to])) {
                for (&score, sample) in block.iter().zip(first..) {
                    if (from..to).contains(&score.into()) {
                        alloc::push(&mut found[usize::from(!self.labels.is_positive(sample))], score);
                    }
                }
            }
        }
        found
    }

    /// Counts the pairs of some buckets by their scores, as if they were one; and how many are in them of either class.
    fn count_scores(
        &self,
        buckets: &Range<usize>,
        wanted: Wanted,
        counter: &mut Counter<S, K>,
    ) -> (PairCounts, [usize; 2]) {
        let bounds = self.bounds((buckets.start as u64) << K::BITS..(buckets.end as u64) << K::BITS);
        let found: Vec<[Vec<S>; 2]> = self.chunks.iter().map(|chunk| self.between(chunk, bounds)).collect();
        let classes = [0, 1].map(|class| found.iter().map(|found| &found[class][..]).collect());
        (counter.scores.count(&classes, wanted), sizes(&classes))
    }
}

impl<S: Score> Scattered<'_, S, S> {
    /// For each positive, the lowest first, how many negatives are below it, and how many below it or tied.
    fn negatives_below(&self, counters: &mut Vec<Counter<S, S>>, ctx: &Ctx<'_>) -> Result<Vec<[u32; 2]>> {
        let below = below(&self.chunks, self.buckets.len);
        let all = (0..self.buckets.len).map(|bucket| (self.keys(bucket), below[bucket][1] as u32)).collect();
        let found = each(all, counters, ctx, |counter, (classes, above)| {
            let sizes = sizes(&classes);
            if sizes[0] == 0 || sizes[1] == 0 {
                return alloc::filled([above; 2], sizes[0]);
            }
            counter.keys.count(&classes, Wanted::Squares);
            let ranks = &counter.keys.ranks;
            let all = |below: [u32; 2]| below.map(|below| below.wrapping_add(above));
            let mut found = alloc::with_capacity(sizes[0]);
            if sizes[0] < sizes[1] {
                found.extend(ranks.of_table().map(all));
            } else {
                found.extend(ranks.of_asking().map(all));
            }
            found
        })?;
        Ok(alloc::concat(&found))
    }
}

/// What `f` makes of each of some buckets, on all threads.
fn each<S: Key, K: Key, B: Send, T: Send>(
    mut buckets: Vec<B>,
    counters: &mut Vec<Counter<S, K>>,
    ctx: &Ctx<'_>,
    f: impl Fn(&mut Counter<S, K>, B) -> T + Sync + Send,
) -> Result<Vec<T>> {
    let share = buckets.len().div_ceil(SHARES * ctx.n_threads()).max(1);
    let n_shares = buckets.len().div_ceil(share);
    counters.resize_with(usize::max(n_shares, counters.len()), Counter::default);
    let shares: Vec<Vec<B>> = (0..n_shares).rev().map(|k| buckets.split_off(k * share)).collect();
    let shares = shares.into_iter().rev().zip(counters).collect();
    let found = ctx.map(shares, |(buckets, counter)| {
        counter.looks = LOOKS * buckets.len();
        let one = |bucket| ctx.check().map(|()| f(counter, bucket));
        buckets.into_iter().map(one).collect::<Result<Vec<T>>>()
    })?;
    Ok(found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Whether any score is at least the first of two numbers and below the second.
struct AnyBetween<'a, S>(&'a [S], [f64; 2]);

impl<S: Score> pulp::NullaryFnOnce for AnyBetween<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let [from, to] = self.1;
        self.0.iter().fold(false, |found, &x| found | ((from <= x.into()) & (x.into() < to)))
    }
}

/// What a thread needs to count the pairs of a bucket.
#[derive(Debug, Default)]
struct Counter<S, K> {
    keys: Worker<K>,
    scores: Worker<S>,
    /// How many chunks may still be looked through for scores whose keys tie.
    looks: usize,
}

impl<S: Key, K: Key> Counter<S, K> {
    fn bytes(&self) -> usize {
        self.keys.bytes() + self.scores.bytes()
    }
}
