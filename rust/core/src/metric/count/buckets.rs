//! Samples by bucket: each bucket is counted on its own, by keys, or by scores where keys tie.

use super::bucket::Worker;
use super::cells::sample;
use super::keys::{Buckets, Chunk, Rooms, SHARES, below};
use super::sums::{PairCounts, Wanted};
use crate::metric::labels::Labels;
use crate::metric::score::{Key, Score};
use crate::order::fast;
use crate::{Ctx, Result, alloc};

/// Memory for samples that are scattered, and for the counts of buckets.
#[derive(Debug, Default)]
pub(crate) struct Memory<S: Score> {
    rooms: Rooms<S::Key>,
    counters: Vec<Counter<S>>,
}

impl<S: Score> Memory<S> {
    /// Bytes that are held.
    pub(crate) fn bytes(&self) -> usize {
        self.rooms.bytes() + self.counters.iter().map(Counter::bytes).sum::<usize>()
    }
}

/// What a thread needs to count the pairs of a bucket.
#[derive(Debug, Default)]
struct Counter<S: Score> {
    keys: Worker<S::Key>,
    scores: Worker<S>,
    /// The scores of either class.
    members: [Vec<S>; 2],
    /// Keys that tie.
    open: Vec<S::Key>,
}

/// A bucket that was counted.
struct Counted {
    pairs: PairCounts,
    sizes: [usize; 2],
    /// Whether by scores.
    by_score: bool,
}

/// The pairs of all samples; `None` if any score is not finite. `sample` is one of the scores, ascending.
pub(crate) fn count<S: Score>(
    labels: &Labels<'_>,
    (scores, sample): (&[S], &[f64]),
    wanted: Wanted,
    bucket: usize,
    Memory { rooms, counters }: &mut Memory<S>,
    ctx: &Ctx<'_>,
) -> Result<Option<PairCounts>> {
    let buckets = Buckets::fit::<S>(scores.len(), sample, Buckets::number(scores.len(), bucket));
    let Some(chunks) = buckets.scatter(labels, scores, rooms, !S::EXACT, ctx)? else { return Ok(None) };
    let below = below(&chunks, buckets.len);
    let counts = each(&buckets, &chunks, wanted, counters, ctx, |bucket, _, found| {
        found.pairs.above(found.sizes, below[bucket])
    })?;
    let mut total = PairCounts::default();
    counts.into_iter().for_each(|counts| total.add(counts));
    Ok(Some(total))
}

/// For each positive, the lowest first, how many negatives are below it, and how many below it or tied; `None` if any
/// score is not finite.
pub(crate) fn negatives_below<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    bucket: usize,
    ctx: &Ctx<'_>,
) -> Result<Option<Vec<[u32; 2]>>> {
    let Memory { mut rooms, mut counters } = Memory::<S>::default();
    let buckets = Buckets::fit::<S>(scores.len(), &sample(scores), Buckets::number(scores.len(), bucket));
    let Some(chunks) = buckets.scatter(labels, scores, &mut rooms, !S::EXACT, ctx)? else { return Ok(None) };
    let below = below(&chunks, buckets.len);
    let found = each(&buckets, &chunks, Wanted::Squares, &mut counters, ctx, |bucket, counter, found| {
        let above = below[bucket][1] as u32;
        if found.sizes[0] == 0 || found.sizes[1] == 0 {
            return alloc::filled([above; 2], found.sizes[0]);
        }
        let ranks = if found.by_score { &counter.scores.ranks } else { &counter.keys.ranks };
        let all = |below: [u32; 2]| below.map(|below| below.wrapping_add(above));
        let mut of_positives = alloc::with_capacity(found.sizes[0]);
        if found.sizes[0] < found.sizes[1] {
            of_positives.extend(ranks.of_table().map(all));
        } else {
            of_positives.extend(ranks.of_asking().map(all));
        }
        of_positives
    })?;
    Ok(Some(alloc::concat(&found)))
}

/// What `f` makes of each bucket once it is counted, on all threads.
fn each<S: Score, T: Send>(
    buckets: &Buckets,
    chunks: &[Chunk<'_, S>],
    wanted: Wanted,
    counters: &mut Vec<Counter<S>>,
    ctx: &Ctx<'_>,
    f: impl Fn(usize, &Counter<S>, Counted) -> T + Sync + Send,
) -> Result<Vec<T>> {
    let share = buckets.len.div_ceil(SHARES * ctx.n_threads()).max(1);
    let shares = (0..buckets.len).step_by(share).map(|from| from..usize::min(from + share, buckets.len));
    counters.resize_with(usize::max(shares.len(), counters.len()), Counter::default);
    let found = ctx.map(shares.zip(counters).collect(), |(share, counter)| {
        // Where scores of one bucket tie, those of the next are taken to.
        let mut tie = buckets.dense;
        let one = |bucket| {
            ctx.check()?;
            let counted = counter.count(chunks, bucket, wanted, tie);
            tie = counted.by_score && counted.pairs.tied > 0;
            Ok(f(bucket, counter, counted))
        };
        share.map(one).collect::<Result<Vec<T>>>()
    })?;
    Ok(found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

impl<S: Score> Counter<S> {
    fn bytes(&self) -> usize {
        let members = self.members.iter().map(Vec::capacity).sum::<usize>();
        self.keys.bytes() + self.scores.bytes() + size_of::<S>() * members
    }

    /// Counts the pairs of one bucket: by keys, and by scores where many keys are expected to `tie` or do.
    fn count(&mut self, chunks: &[Chunk<'_, S>], bucket: usize, wanted: Wanted, tie: bool) -> Counted {
        let classes = [0, 1].map(|class| chunks.iter().map(|chunk| chunk.keys(bucket, class)).collect());
        let sizes = sizes(&classes);
        if S::EXACT {
            return Counted { pairs: self.keys.count(&classes, wanted), sizes, by_score: false };
        }
        let of_key = |class: usize, key: S::Key| {
            let parts = chunks.iter().filter(|chunk| fast(Holds(chunk.keys(bucket, class), key)));
            let each = parts.flat_map(|chunk| chunk.keys(bucket, class).iter().zip(chunk.scores(bucket, class)));
            alloc::gathered(each.filter(|(of, _)| **of == key).map(|(_, score)| score))
        };
        self.open.clear();
        if !tie && let Some(pairs) = self.keys.count_keys(&classes, wanted, Some(&mut self.open), of_key) {
            return Counted { pairs, sizes, by_score: false };
        }
        let Self { scores, members, .. } = self;
        gather(chunks, bucket, members);
        let pairs = scores.count(&members.each_ref().map(|members| vec![&members[..]]), wanted);
        Counted { pairs, sizes, by_score: true }
    }
}

/// The scores of a bucket by class.
pub(crate) fn gather<S: Score>(chunks: &[Chunk<'_, S>], bucket: usize, members: &mut [Vec<S>; 2]) {
    for (class, members) in members.iter_mut().enumerate() {
        members.clear();
        for chunk in chunks {
            alloc::reserve(members, chunk.keys(bucket, class).len());
            members.extend(chunk.scores(bucket, class));
        }
    }
}

/// How many there are of either class.
fn sizes<K: Key>(classes: &[Vec<&[K]>; 2]) -> [usize; 2] {
    classes.each_ref().map(|parts| parts.iter().map(|part| part.len()).sum())
}

/// Whether any of the keys is this.
struct Holds<'a, K>(&'a [K], K);

impl<K: Key> pulp::NullaryFnOnce for Holds<'_, K> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        // All are looked at: many at once.
        self.0.iter().fold(false, |found, &key| found | (key == self.1))
    }
}
