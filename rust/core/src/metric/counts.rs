//! Exact pair counts without a sort.
//!
//! Scores are scattered into monotone buckets, the classes apart: every pair that lies in two buckets is decided by
//! them. Inside a bucket, small enough for the second-level cache, one class makes a [`Table`] and the other asks it
//! for ranks. All counts are integers, so the order of the rows and the number of threads change nothing.

use super::curve::first_non_finite;
use super::labels::{Labels, TILE};
use super::table::{Line, Score, Table};
use crate::order::spread;
use crate::{Ctx, Error, Result};

/// Sums over one class of `v`, twice the number of samples of the other class that are below, plus those that tie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RankSums {
    pub(crate) sum: u128,
    pub(crate) squares: u128,
}

/// Which sums are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// One of the two, whichever is cheaper: `[positives, negatives]`, the other is zero.
    Either,
    /// Both.
    Both,
}

/// Buffers that are kept from call to call: fresh memory costs as much as the counting.
#[derive(Debug, Default)]
pub struct Scratch<S> {
    parts: Vec<Part<S>>,
}

impl<S> Scratch<S> {
    /// Bytes that are held.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| 2 * part.ids.capacity() + size_of::<S>() * part.scattered.capacity()).sum()
    }
}

/// What one thread scatters.
#[derive(Debug, Default)]
struct Part<S> {
    /// Bucket and class of every score.
    ids: Vec<u16>,
    scattered: Vec<S>,
    /// Where each bucket and class begins in `scattered`, and the end.
    starts: Vec<u32>,
}

/// Largest class that is one table: it stays in the second-level cache beside its cells.
const DIRECT: usize = 1 << 15;
/// Most buckets; each is two streams of the scatter, one a class, and more of them cost more than they save.
const BUCKETS: usize = 512;
/// Scores aimed at in a bucket: with its cells it stays in the second-level cache.
const BUCKET: usize = 1 << 14;
/// Scores in the sample that places the buckets.
const SAMPLE: usize = 1 << 13;
/// Scores of one unit of work.
const GRAIN: usize = 1 << 17;

/// `[positives, negatives]`: the sums of the ranks of either class in the other. O(N) expected.
pub(crate) fn rank_sums<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    wanted: Wanted,
    scratch: &mut Scratch<S>,
    ctx: &Ctx<'_>,
) -> Result<[RankSums; 2]> {
    Error::check_len("y_score", labels.n_samples(), scores.len())?;
    let asking = usize::from(labels.n_pos() < labels.n_neg());
    let (fewer, more) = if asking == 1 { (labels.n_pos(), labels.n_neg()) } else { (labels.n_neg(), labels.n_pos()) };
    let tables = if wanted == Wanted::Both { more } else { fewer };
    let found = if tables <= DIRECT {
        direct(labels, scores, asking, wanted, ctx)?
    } else {
        bucketed(labels, scores, asking, wanted, scratch, ctx)?
    };
    found.ok_or_else(|| first_non_finite(scores))
}

/// Class `asking` (0 positive, 1 negative) asks one table of the other; `None` for a score that is not finite.
fn direct<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    asking: usize,
    wanted: Wanted,
    ctx: &Ctx<'_>,
) -> Result<Option<[RankSums; 2]>> {
    let froms: Vec<usize> = (0..scores.len()).step_by(GRAIN).collect();
    let split = |from: usize| {
        let part = &scores[from..usize::min(from + GRAIN, scores.len())];
        let mut classes = [vec![S::default(); part.len() + 1], vec![S::default(); part.len() + 1]];
        let counts = fast(Split { labels, from, part, classes: &mut classes });
        counts.map(|counts| {
            classes.iter_mut().zip(counts).for_each(|(class, count)| class.truncate(count));
            classes
        })
    };
    let Some(parts) = ctx.map(froms, split)?.into_iter().collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let mut found = [RankSums::default(); 2];
    for (class, sums) in found.iter_mut().enumerate() {
        if wanted == Wanted::Either && class != asking {
            continue;
        }
        let of = |class: usize| -> Vec<&[S]> { parts.iter().map(|part| part[class].as_slice()).collect() };
        let mut table = Table::default();
        fast(Fill { table: &mut table, parts: &of(1 - class) });
        let asked = ctx.map(of(class), |part| fast(Ask { table: &table, asking: &[part], offset: 0 }))?;
        for part in asked {
            sums.sum += part.sum;
            sums.squares += part.squares;
        }
    }
    Ok(Some(found))
}

/// Runs `work` with the best instructions of this machine; what it calls must be `inline(always)`.
fn fast<W: pulp::NullaryFnOnce>(work: W) -> W::Output {
    pulp::Arch::new().dispatch(work)
}

/// Copies the scores of either class to the front of its vector; their numbers, `None` for one that is not finite.
struct Split<'a, S> {
    labels: &'a Labels<'a>,
    from: usize,
    part: &'a [S],
    classes: &'a mut [Vec<S>; 2],
}

impl<S: Score> pulp::NullaryFnOnce for Split<'_, S> {
    type Output = Option<[usize; 2]>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let mut positive = [false; TILE];
        let [pos, neg] = self.classes;
        let (mut n_pos, mut n_neg, mut finite) = (0usize, 0usize, true);
        for (k, tile) in self.part.chunks(TILE).enumerate() {
            let positive = &mut positive[..tile.len()];
            self.labels.fill(self.from + k * TILE, positive);
            // Both are written and one is kept: no branch to mispredict. There is room for one too many.
            for (&x, &positive) in tile.iter().zip(&*positive) {
                pos[n_pos] = x;
                neg[n_neg] = x;
                n_pos = n_pos.wrapping_add(usize::from(positive));
                n_neg = n_neg.wrapping_add(usize::from(!positive));
                finite &= x.finite();
            }
        }
        finite.then_some([n_pos, n_neg])
    }
}

/// Fills a table.
struct Fill<'a, S> {
    table: &'a mut Table<S>,
    parts: &'a [&'a [S]],
}

impl<S: Score> pulp::NullaryFnOnce for Fill<'_, S> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.table.fill(self.parts);
    }
}

/// Sums of `offset` plus the doubled mid-ranks of `asking` in `table`.
struct Ask<'a, S> {
    table: &'a Table<S>,
    asking: &'a [&'a [S]],
    offset: u64,
}

impl<S: Score> pulp::NullaryFnOnce for Ask<'_, S> {
    type Output = RankSums;

    #[inline(always)]
    fn call(self) -> RankSums {
        let (mut sum, mut squares, mut count) = (0u128, 0u128, 0u128);
        for tile in self.asking.iter().flat_map(|part| part.chunks(TILE)) {
            // Of at most 2^33 each, 2^11 of them: the sum fits 64 bits, and that of squares of ranks below 2^26 too.
            let (mut tile_sum, mut tile_squares, mut most) = (0u64, 0u64, 0u64);
            for &x in tile {
                let (below, up_to) = self.table.rank(x);
                let value = u64::from(below).wrapping_add(u64::from(up_to));
                tile_sum = tile_sum.wrapping_add(value);
                tile_squares = tile_squares.wrapping_add(value.wrapping_mul(value));
                most |= value;
            }
            sum += u128::from(tile_sum);
            squares += if most < 1 << 26 { u128::from(tile_squares) } else { large_squares(self.table, tile) };
            count += tile.len() as u128;
        }
        let offset = u128::from(self.offset);
        RankSums { sum: sum + offset * count, squares: squares + 2 * offset * sum + offset * offset * count }
    }
}

#[cold]
fn large_squares<S: Score>(table: &Table<S>, tile: &[S]) -> u128 {
    let value = |&x: &S| {
        let (below, up_to) = table.rank(x);
        (u128::from(below) + u128::from(up_to)).pow(2)
    };
    tile.iter().map(value).sum()
}

/// Where a score goes: by a line, or by the leading bits of the number where a line would crowd most into one bucket.
struct Map<S> {
    kind: Kind<S>,
    buckets: usize,
}

enum Kind<S> {
    Line(Line<S>),
    Bits(Vec<u16>),
}

/// The leading bits of a score, in the order of the scores: sign, exponent and four bits of mantissa.
#[inline(always)]
fn prefix<S: Score>(x: S) -> usize {
    let x: f64 = x.into();
    let bits = (x + 0.0).to_bits();
    let flip = ((bits as i64 >> 63) as u64) | 1 << 63;
    ((bits ^ flip) >> 48) as usize
}

impl<S: Score> Map<S> {
    /// From an evenly spread sample; scores that are not finite are left out of it.
    fn new(scores: &[S], buckets: usize) -> Self {
        let mut sample: Vec<S> = (0..SAMPLE).map(|k| scores[spread(k, SAMPLE, scores.len())]).collect();
        sample.retain(|x| x.finite());
        sample.sort_unstable_by(S::order);
        if sample.is_empty() {
            let line = S::line(S::default(), S::default(), buckets as u32);
            return Self { kind: Kind::Line(line), buckets };
        }
        // The ends are left to the outermost buckets, so that a few far scores do not set the scale.
        let line = S::line(sample[sample.len() / 512], sample[sample.len() - 1 - sample.len() / 512], buckets as u32);
        let mut crowd = vec![0u32; buckets];
        sample.iter().for_each(|x| crowd[x.cell(line) as usize] += 1);
        if crowd.iter().max().is_some_and(|&most| most as usize <= 10 * sample.len() / buckets) {
            return Self { kind: Kind::Line(line), buckets };
        }
        let mut table = vec![0u16; 1 << 16];
        let mut seen = 0;
        let mut next = sample.iter().map(|&x| prefix(x)).peekable();
        for (key, bucket) in table.iter_mut().enumerate() {
            *bucket = (seen * buckets / sample.len()).min(buckets - 1) as u16;
            while next.next_if(|&p| p == key).is_some() {
                seen += 1;
            }
        }
        Self { kind: Kind::Bits(table), buckets }
    }
}

impl<S: Score> Part<S> {
    /// Scatters the scores `from ..` by bucket and class; whether all were finite.
    fn fill(&mut self, labels: &Labels<'_>, from: usize, scores: &[S], map: &Map<S>, ctx: &Ctx<'_>) -> Result<bool> {
        grow(&mut self.ids, scores.len());
        grow(&mut self.scattered, scores.len());
        let mut counts = vec![0u32; 2 * map.buckets];
        let mut finite = true;
        for (k, (part, ids)) in scores.chunks(GRAIN).zip(self.ids.chunks_mut(GRAIN)).enumerate() {
            ctx.check()?;
            let ids = &mut ids[..part.len()];
            finite &= fast(Classify { labels, from: from + k * GRAIN, scores: part, map, ids, counts: &mut counts });
        }
        self.starts.clear();
        self.starts.push(0);
        let mut end = 0;
        for count in &counts {
            end += count;
            self.starts.push(end);
        }
        let mut next: Vec<u32> = self.starts.clone();
        for (part, ids) in scores.chunks(GRAIN).zip(self.ids.chunks(GRAIN)) {
            ctx.check()?;
            for (&x, &id) in part.iter().zip(ids) {
                let slot = &mut next[usize::from(id)];
                self.scattered[*slot as usize] = x;
                *slot = slot.wrapping_add(1);
            }
        }
        Ok(finite)
    }

    fn class(&self, bucket: usize, class: usize) -> &[S] {
        let id = 2 * bucket + class;
        &self.scattered[self.starts[id] as usize..self.starts[id + 1] as usize]
    }
}

fn grow<T: Copy + Default>(buffer: &mut Vec<T>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len, T::default());
    }
}

/// Writes twice the bucket of every score, plus one for a negative, and counts them; whether all scores are finite.
struct Classify<'a, S> {
    labels: &'a Labels<'a>,
    from: usize,
    scores: &'a [S],
    map: &'a Map<S>,
    ids: &'a mut [u16],
    counts: &'a mut [u32],
}

impl<S: Score> pulp::NullaryFnOnce for Classify<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let mut positive = [false; TILE];
        let mut finite = true;
        for (k, (tile, ids)) in self.scores.chunks(TILE).zip(self.ids.chunks_mut(TILE)).enumerate() {
            let positive = &mut positive[..tile.len()];
            self.labels.fill(self.from + k * TILE, positive);
            match &self.map.kind {
                Kind::Line(line) => {
                    for ((id, &x), &p) in ids.iter_mut().zip(tile).zip(&*positive) {
                        *id = (x.cell(*line) << 1) as u16 | u16::from(!p);
                        finite &= x.finite();
                    }
                }
                Kind::Bits(table) => {
                    for ((id, &x), &p) in ids.iter_mut().zip(tile).zip(&*positive) {
                        *id = table[prefix(x)] << 1 | u16::from(!p);
                        finite &= x.finite();
                    }
                }
            }
            for &id in &*ids {
                let count = &mut self.counts[usize::from(id)];
                *count = count.wrapping_add(1);
            }
        }
        finite
    }
}

fn bucketed<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    asking: usize,
    wanted: Wanted,
    scratch: &mut Scratch<S>,
    ctx: &Ctx<'_>,
) -> Result<Option<[RankSums; 2]>> {
    let buckets = (scores.len() / BUCKET).next_power_of_two().clamp(16, BUCKETS);
    let map = Map::new(scores, buckets);
    let n_parts = ctx.n_threads();
    scratch.parts.resize_with(n_parts, Part::default);
    let size = scores.len().div_ceil(n_parts);
    let items: Vec<_> = scratch.parts.iter_mut().zip(scores.chunks(size)).enumerate().collect();
    let n_filled = items.len();
    let filled = ctx.map(items, |(k, (part, scores))| part.fill(labels, k * size, scores, &map, ctx))?;
    for finite in filled {
        if !finite? {
            return Ok(None);
        }
    }
    let parts = &scratch.parts[..n_filled];
    // Samples of either class in the buckets below.
    let mut below = vec![[0u64; 2]; buckets];
    let mut seen = [0u64; 2];
    for (bucket, below) in below.iter_mut().enumerate() {
        *below = seen;
        for (class, seen) in seen.iter_mut().enumerate() {
            *seen += parts.iter().map(|part| part.class(bucket, class).len() as u64).sum::<u64>();
        }
    }
    let groups: Vec<usize> = (0..buckets).step_by(8).collect();
    let found = ctx.map(groups, |first| {
        let mut table = Table::default();
        let mut found = [RankSums::default(); 2];
        for (bucket, below) in below.iter().enumerate().skip(first).take(8) {
            for (class, sums) in found.iter_mut().enumerate() {
                if wanted == Wanted::Either && class != asking {
                    continue;
                }
                let of = |class: usize| -> Vec<&[S]> { parts.iter().map(|part| part.class(bucket, class)).collect() };
                let (asking, asked) = (of(class), of(1 - class));
                fast(Fill { table: &mut table, parts: &asked });
                let part = fast(Ask { table: &table, asking: &asking, offset: 2 * below[1 - class] });
                sums.sum += part.sum;
                sums.squares += part.squares;
            }
        }
        found
    })?;
    let mut total = [RankSums::default(); 2];
    for group in found {
        for (sums, part) in total.iter_mut().zip(group) {
            sums.sum += part.sum;
            sums.squares += part.squares;
        }
    }
    Ok(Some(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of several shapes, with a share of ties, by a small generator.
    fn sample(n: usize, shape: usize) -> (Vec<bool>, Vec<f64>) {
        let mut state = 11 + shape as u64;
        let mut next = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        let labels: Vec<bool> = (0..n).map(|_| next() < 0.4).collect();
        let score = |positive: &bool| {
            let u = next() + 0.1 * f64::from(u8::from(*positive));
            match shape {
                0 => u,
                1 => (u - 0.5) / (1.0 - u * u / 2.0).powi(40),
                2 => (20.0 * u).floor(),
                3 => {
                    if u < 0.9 {
                        1e-9 * u
                    } else {
                        1e9 * u
                    }
                }
                _ => 1.0,
            }
        };
        let scores = labels.iter().map(score).collect();
        (labels, scores)
    }

    /// The sums by sorting.
    fn plain(labels: &[bool], scores: &[f64]) -> [RankSums; 2] {
        [true, false].map(|class| {
            let mut other: Vec<f64> = (0..scores.len()).filter(|&i| labels[i] != class).map(|i| scores[i]).collect();
            other.sort_by(f64::total_cmp);
            let mut sums = RankSums::default();
            for i in (0..scores.len()).filter(|&i| labels[i] == class) {
                let below = other.partition_point(|&y| y < scores[i]);
                let value = (below + other.partition_point(|&y| y <= scores[i])) as u128;
                sums.sum += value;
                sums.squares += value * value;
            }
            sums
        })
    }

    #[test]
    fn counts_are_those_of_a_sort() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for (n, shape) in (0..5).flat_map(|shape| [(300, shape), (5_000, shape), (90_000, shape)]) {
            let (labels, scores) = sample(n, shape);
            let expected = plain(&labels, &scores);
            let narrow: Vec<f32> = scores.iter().map(|&x| x as f32).collect();
            let wide: Vec<f64> = narrow.iter().map(|&x| x.into()).collect();
            let expected_narrow = plain(&labels, &wide);
            let classes = Labels::new(&labels).unwrap();
            for ctx in [Ctx::serial(), Ctx::new(Some(&pool), None)] {
                let found = rank_sums(&classes, &scores, Wanted::Both, &mut Scratch::default(), &ctx).unwrap();
                assert_eq!(found, expected, "{n} scores of shape {shape}, {ctx:?}");
                let found = rank_sums(&classes, &narrow, Wanted::Both, &mut Scratch::default(), &ctx).unwrap();
                assert_eq!(found, expected_narrow, "{n} float32 scores of shape {shape}, {ctx:?}");
                let found = rank_sums(&classes, &scores, Wanted::Either, &mut Scratch::default(), &ctx).unwrap();
                assert!(found == [expected[0], RankSums::default()] || found == [RankSums::default(), expected[1]]);
            }
        }
    }

    #[test]
    fn a_bad_score_is_named_in_either_way() {
        for n in [10, 200_000] {
            let labels: Vec<bool> = (0..n).map(|i| i % 2 == 0).collect();
            let mut scores: Vec<f64> = (0..n).map(|i| i as f64).collect();
            scores[7] = f64::INFINITY;
            let classes = Labels::new(&labels).unwrap();
            let found = rank_sums(&classes, &scores, Wanted::Both, &mut Scratch::default(), &Ctx::serial());
            assert!(matches!(found, Err(Error::NonFinite { name: "y_score", index: 7, .. })));
        }
    }
}
