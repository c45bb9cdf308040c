//! The samples of both classes by descending score: scattered into buckets, each of which is sorted within the caches.

use crate::count::cells::{Spread, sample};
use crate::count::counting_sort::{MOST_IDS, Stage};
use crate::curve::sum::Sum;
use crate::curve::walk::Step;
use crate::data::labels::{Labels, TILE};
use crate::order;
use crate::order::chunk::{Spare, grown};
use crate::simd::fast;
use crate::{Ctx, Error, Result};

/// Samples scattered together, in the second-level cache.
const CHUNK: usize = 1 << 14;
/// Intended samples per bucket, which fit the first-level cache,
const BUCKET: usize = 1 << 11;
/// and the most buckets: one more is for scores below 0, and one for samples that are left out.
const MOST: usize = MOST_IDS - 2;
/// Samples sorted in one go, or one bucket.
const SOME: usize = 1 << 15;

/// A sample in one integer. The head is the [`order::key`] of its score without the top bit, which is that of the sign,
/// and then 1 for a negative: where all scores are of one sign, heads ascend as scores descend, positives first.
pub(crate) trait Item: Copy + Default + Ord + Send + Sync {
    fn new(head: u64, rest: impl FnOnce() -> u64) -> Self;
    fn head(self) -> u64;
}

impl Item for u64 {
    #[inline(always)]
    fn new(head: u64, _: impl FnOnce() -> u64) -> Self {
        head
    }

    fn head(self) -> u64 {
        self
    }
}

/// With what goes along with the sample in the lower half, in whose order those of a score and class are.
impl Item for u128 {
    #[inline(always)]
    fn new(head: u64, rest: impl FnOnce() -> u64) -> Self {
        u128::from(head) << 64 | u128::from(rest())
    }

    fn head(self) -> u64 {
        (self >> 64) as u64
    }
}

/// Samples that are ranked: those with a positive weight and a score of at least `least`.
pub(crate) struct Samples<'a> {
    pub(crate) labels: &'a Labels<'a>,
    pub(crate) scores: &'a [f64],
    pub(crate) weights: Option<&'a [f64]>,
    pub(crate) least: f64,
}

impl Samples<'_> {
    /// Sorts the samples and calls `take` with each step in turn, the highest score first, and with its samples,
    /// positives first. `rest` of a sample goes along with it, `total` is the weight of samples of one class. Returns
    /// the size of each class. O(N) for scores of a smooth distribution, O(N log N) at most.
    #[inline(always)]
    pub(crate) fn each_step<K: Item>(
        &self,
        rest: impl Fn(usize) -> u64 + Sync + Send,
        total: impl Fn(&[K]) -> f64,
        mut take: impl FnMut(Step, &[K]),
        ctx: &Ctx<'_>,
    ) -> Result<[usize; 2]> {
        let (mut room, mut sizes, mut failed) = (vec![K::default(); self.scores.len()], [0; 2], None);
        let (chunks, last_high) = self.scatter(&mut room, rest, ctx)?;
        let n_ids = chunks[0].1.len() - 2;
        let step = (SOME * n_ids / self.scores.len()).clamp(1, n_ids);
        let some = |first: usize| {
            let (mut bucket, mut n_high, last) = (Bucket::default(), 0, usize::min(first + step, n_ids));
            let size = chunks.iter().map(|(_, starts)| (starts[last] - starts[first]) as usize).sum();
            let mut items = Vec::with_capacity(size);
            for id in first..last {
                bucket.own.clear();
                for (items, starts) in &chunks {
                    bucket.own.extend_from_slice(&items[starts[id] as usize..starts[id + 1] as usize]);
                }
                let from = items.len();
                items.resize(from + bucket.own.len(), K::default());
                bucket.sort(&mut items[from..], ctx)?;
                n_high = if id <= last_high { items.len() } else { n_high };
            }
            Ok((items, n_high))
        };
        ctx.fold((0..n_ids).step_by(step).collect(), some, |found: Result<(Vec<K>, usize)>| {
            let (items, n_high) = match found {
                Ok(found) => found,
                Err(error) => return failed = Some(error),
            };
            let (high, low) = items.split_at(n_high);
            for (mut rest, sign) in [(high, 0), (low, order::SIGN)] {
                while let Some(first) = rest.first() {
                    let head = first.head();
                    let n_tied = rest[1..].iter().take_while(|item| item.head() ^ head < 2).count();
                    let (block, tail) = rest.split_at(1 + n_tied);
                    let (pos, neg) = block.split_at(block.partition_point(|item| item.head() & 1 == 0));
                    sizes = [sizes[0] + pos.len(), sizes[1] + neg.len()];
                    let [pos, neg] = if n_tied == 0 {
                        // Without a branch that depends on the label.
                        [pos, neg].map(|class| class.len() as f64 * total(block))
                    } else {
                        [total(pos), total(neg)]
                    };
                    take(Step { score: order::score_of(head >> 1 | sign), pos, neg }, block);
                    rest = tail;
                }
            }
        })?;
        failed.map_or(Ok(sizes), Err)
    }

    /// Scatters the samples to buckets of similar scores, chunk by chunk; and finds the last bucket of scores that are
    /// not negative.
    fn scatter<'a, K: Item>(
        &self,
        room: &'a mut [K],
        rest: impl Fn(usize) -> u64 + Sync + Send,
        ctx: &Ctx<'_>,
    ) -> Result<(Vec<Chunk<'a, K>>, usize)> {
        let &Self { labels, scores, weights, least } = self;
        Error::check_len("scores", labels.n_samples(), scores.len())?;
        if let Some(weights) = weights {
            Error::check_weights(labels.n_samples(), weights)?;
        }
        let infinite = || Error::first_non_finite("scores", scores);
        let sample = Some(sample(scores)).filter(|sample| !sample.is_empty()).ok_or_else(infinite)?;
        let n_buckets = (scores.len() / BUCKET).clamp(1, MOST);
        let (spread, mut zero) = (Spread::fit(&sample, n_buckets as u64), [0]);
        spread.cells(&[0.0], &mut zero);
        let stages = Spare::<Stage<K>>::default();
        let counts = |i: usize| weights.is_none_or(|w| w[i] > 0.0) & (scores[i] >= least);
        let jobs = room.chunks_mut(CHUNK).zip((0..).step_by(CHUNK)).collect();
        let chunks = ctx.map(jobs, |(to, from): (&mut [K], usize)| {
            let starts = stages.lend(|stage| {
                stage.reserve(to.len());
                let scores = &scores[from..from + to.len()];
                let finite = fill(labels, scores, from, (&spread, n_buckets), (&counts, &rest), stage);
                finite.then(|| stage.scatter(n_buckets + 2, to, &mut []))
            });
            starts.map(|starts| (&*to, starts))
        })?;
        let chunks = chunks.into_iter().collect::<Option<Vec<_>>>().ok_or_else(infinite)?;
        Ok((chunks, n_buckets - 1 - zero[0] as usize))
    }
}

/// The items of a chunk by bucket, and where those of every bucket begin.
type Chunk<'a, K> = (&'a [K], Vec<u32>);

/// Sorts the samples and calls `take` with each step in turn, the highest score first; the size of each class. See
/// [`Curve::new`](crate::curve::Curve::new).
#[inline(always)]
pub(crate) fn each_step(
    labels: &Labels<'_>,
    scores: &[f64],
    weights: Option<&[f64]>,
    mut take: impl FnMut(Step),
    ctx: &Ctx<'_>,
) -> Result<[usize; 2]> {
    let samples = Samples { labels, scores, weights, least: f64::NEG_INFINITY };
    match weights {
        None => samples.each_step::<u64>(|_| 0, |items| items.len() as f64, |step, _| take(step), ctx),
        // Samples of one score are ordered by weight, so that sums do not depend on the order of the samples.
        Some(w) => samples.each_step::<u128>(|i| w[i].to_bits(), weight, |step, _| take(step), ctx),
    }
}

/// The sum of the weights that go along with samples.
#[inline(always)]
pub(crate) fn weight(items: &[u128]) -> f64 {
    let of = |item: &u128| f64::from_bits(*item as u64);
    if let [one] = items { of(one) } else { items.iter().map(of).collect::<Sum>().value() }
}

/// Sets the keys of a chunk of scores, which begins at sample `from`, to items, and their ids to buckets by descending
/// score, or to the last id if they do not count. Whether all scores are finite.
fn fill<K: Item>(
    labels: &Labels<'_>,
    scores: &[f64],
    from: usize,
    (spread, n_buckets): (&Spread, usize),
    (counts, rest): (&impl Fn(usize) -> bool, &impl Fn(usize) -> u64),
    stage: &mut Stage<K>,
) -> bool {
    let (mut positive, mut cells) = ([false; TILE], [0; TILE]);
    let tiles = scores.chunks(TILE).zip(stage.ids.chunks_mut(TILE)).zip(stage.keys.chunks_mut(TILE));
    tiles.zip((from..).step_by(TILE)).all(|(((scores, ids), keys), from)| {
        labels.fill(from, &mut positive[..scores.len()]);
        fast!({
            spread.cells(scores, &mut cells);
            let samples = scores.iter().zip(&positive).zip(&cells).zip(from..);
            let places = ids.iter_mut().zip(&mut *keys).zip(samples);
            places.fold(true, |finite, ((id, key), (((&score, &positive), &cell), i))| {
                // One more for scores below 0, so that no bucket has scores of both signs.
                let bucket = (n_buckets as u64).wrapping_sub(cell).wrapping_sub(u64::from(score >= 0.0));
                *id = if counts(i) { bucket as u16 } else { n_buckets as u16 + 1 };
                *key = K::new(order::key(score) << 1 | u64::from(!positive), || rest(i));
                finite & score.is_finite()
            })
        })
    })
}

/// Buffers for one bucket.
#[derive(Default)]
struct Bucket<K> {
    own: Vec<K>,
    ends: Vec<u32>,
}

impl<K: Item> Bucket<K> {
    /// Sorts the bucket to `to`: by cells of a linear map of heads, a few samples in each, then within cells.
    fn sort(&mut self, to: &mut [K], ctx: &Ctx<'_>) -> Result<()> {
        let Self { own, ends } = self;
        let ends_of = |(low, high): (u64, u64), item: &K| (low.min(item.head()), high.max(item.head()));
        let (low, high) = own.iter().fold((u64::MAX, 0), ends_of);
        let bits = usize::BITS - own.len().leading_zeros();
        let shift = (u64::BITS - high.saturating_sub(low).leading_zeros()).saturating_sub(bits);
        let cell = |item: &K| (item.head().wrapping_sub(low) >> shift) as usize;
        let (items, ends) = (own.iter().copied(), grown(ends, 1 << bits));
        order::sort_cells(items, own.iter().map(cell), to, ends, |crowd| order::sort(crowd, ctx))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/curve_ranked.rs"]
mod tests;
