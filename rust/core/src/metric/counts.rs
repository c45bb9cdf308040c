//! Exact pair counts without a sort.
//!
//! One class makes a [`Table`] and the other asks it for ranks. Samples too many for that are first scattered, as keys,
//! into monotone buckets, each of them small enough for the first-level cache, where the rarer class makes the table;
//! pairs that lie in two buckets are decided by those. Scores of few values are counted by value instead. All counts
//! are integers, so the order of the rows and the number of threads change nothing.

use super::curve::first_non_finite;
use super::labels::{Labels, TILE};
use super::levels::{self, Levels};
use super::ranks::{Found, Ranks};
use super::scattered::{self, Memory};
use super::score::{Key, KeyOf, Score};
use super::split;
use super::spread::sample;
use super::table::Table;
use crate::order::{self, Map, fast};
use crate::{Ctx, Error, Result, alloc};

/// Sums over all pairs of a positive and a negative sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PairCounts {
    /// Pairs whose positive scores higher.
    pub(crate) won: u128,
    /// Pairs of equal scores.
    pub(crate) tied: u128,
    /// By class, the sum over its samples of the square of twice the number of samples of the other class that score
    /// lower plus those that tie; zero unless they are wanted.
    pub(crate) squares: [u128; 2],
}

impl PairCounts {
    /// Twice the number of won pairs, tied ones counting half.
    pub(crate) fn doubled(&self) -> u128 {
        2 * self.won + self.tied
    }

    pub(crate) fn add(&mut self, other: PairCounts) {
        self.won += other.won;
        self.tied += other.tied;
        self.squares.iter_mut().zip(other.squares).for_each(|(sum, more)| *sum += more);
    }

    /// From what class `asking` (0 positive, 1 negative) finds in a table of the other, and the squares of both sides;
    /// `sizes` are those of the classes.
    pub(crate) fn of_found(asking: usize, sizes: [usize; 2], found: Found, squares: [u128; 2]) -> Self {
        let tied = found.up_to - found.below;
        let won = if asking == 0 { found.below } else { sizes[0] as u128 * sizes[1] as u128 - found.up_to };
        Self { won, tied, squares: [squares[asking], squares[1 - asking]] }
    }

    /// With so many samples of either class, `sizes` of them counted here, in the buckets `below`: those that are won
    /// against them for certain.
    pub(crate) fn above(self, sizes: [usize; 2], below: [u64; 2]) -> Self {
        let [n_pos, n_neg] = sizes.map(|size| size as u128);
        let [pos_below, neg_below] = below.map(u128::from);
        let [pos, neg] = [self.doubled(), 2 * n_pos * n_neg - self.doubled()];
        let shifted = |squares: u128, sum: u128, by: u128, n: u128| squares + 2 * by * sum + by * by * n;
        let squares =
            [shifted(self.squares[0], pos, 2 * neg_below, n_pos), shifted(self.squares[1], neg, 2 * pos_below, n_neg)];
        Self { won: self.won + n_pos * neg_below, squares, ..self }
    }
}

/// Which sums are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Those of pairs.
    Pairs,
    /// Those of squares, too.
    Squares,
}

/// Buffers that are kept from call to call: fresh memory costs as much as the counting.
#[derive(Debug, Default)]
pub struct Scratch<S: Score> {
    pub(super) counting: Counting<S>,
    /// Those of [`super::tail::Tail`].
    pub(super) tails: Vec<S>,
    pub(super) classes: [Vec<S>; 2],
    pub(super) inside: Vec<S>,
    pub(super) positive: Vec<bool>,
}

/// The buffers of [`pair_counts`].
#[derive(Debug, Default)]
pub(crate) struct Counting<S: Score> {
    pub(super) by_key: Memory<S, S::Key>,
    /// For few samples.
    split: split::Memory<S::Key>,
    /// For scores that tie often.
    pub(super) by_score: Memory<S, S>,
    /// For scores of few values.
    levels: Vec<Levels>,
}

impl<S: Score> Scratch<S> {
    /// Bytes that are held.
    pub fn bytes(&self) -> usize {
        let scores = [&self.tails, &self.classes[0], &self.classes[1], &self.inside];
        let scores = scores.iter().map(|scores| size_of::<S>() * scores.capacity()).sum::<usize>();
        let levels = self.counting.levels.iter().map(Levels::bytes).sum::<usize>();
        let memory = self.counting.by_key.bytes() + self.counting.by_score.bytes() + self.counting.split.bytes();
        memory + levels + scores + self.positive.capacity()
    }
}

/// The first `len` values of `buffer`, which is made longer if need be.
pub(crate) fn grown<S: Copy + Default>(buffer: &mut Vec<S>, len: usize) -> &mut [S] {
    alloc::resize(buffer, usize::max(len, buffer.len()), S::default());
    &mut buffer[..len]
}

/// Largest class that is made one table of its scores as they come.
const DIRECT: usize = 1 << 12;
/// So few are never made anything else.
const FEWEST: usize = 1 << 9;
/// So many scores are not scattered unless they crowd: their table stays near the second-level cache, where squares are
/// wanted with the counts of ranks.
const FEW_SCORES: [usize; 2] = [1 << 17, 1 << 15];
/// Fewest scores that are looked at for few values.
const FEWEST_LEVELLED: usize = 1 << 11;
/// A class so much smaller than the other is made one table,
const RARE: usize = 32;
/// up to this number of scores, which stay in the last-level cache.
const MOST_DIRECT: usize = 1 << 17;
/// Fewest scores of one unit of work.
const GRAIN: usize = 1 << 15;
/// So few scores are compared one and all.
const FEW: usize = 32;

/// Counts the pairs of positives and negatives. O(N) expected.
pub(crate) fn pair_counts<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    wanted: Wanted,
    buffers: &mut Counting<S>,
    ctx: &Ctx<'_>,
) -> Result<PairCounts> {
    Error::check_len("y_score", labels.n_samples(), scores.len())?;
    let (fewer, more) = (labels.n_pos().min(labels.n_neg()), labels.n_pos().max(labels.n_neg()));
    // Where scores tie, so do more keys than can be compared one by one.
    let tied = if scores.len() < FEWEST_LEVELLED {
        false
    } else {
        match levels::count(labels, scores, &mut buffers.levels, ctx)? {
            levels::Found::Few(counts) => return Ok(counts),
            levels::Found::Tied => true,
            levels::Found::Untied => false,
        }
    };
    let rare = fewer <= FEWEST || (fewer <= more / RARE && fewer <= MOST_DIRECT);
    let sample = if rare { vec![] } else { sample(scores) };
    if !rare
        && (!tied || S::Key::EXACT)
        && scores.len() <= FEW_SCORES[usize::from(wanted == Wanted::Squares)]
        && let Some(counts) = split::count(labels, (scores, &sample), wanted, &mut buffers.split, ctx)?
    {
        return Ok(counts);
    }
    let counts = if rare || fewer <= DIRECT {
        direct(labels, scores, wanted, ctx)?
    } else {
        scattered::count(labels, scores, &sample, wanted, buffers, ctx)?
    };
    counts.ok_or_else(|| first_non_finite(scores))
}

/// The larger class asks a table of the other, where it lies; `None` for a score that is not finite.
fn direct<S: Score>(labels: &Labels<'_>, scores: &[S], wanted: Wanted, ctx: &Ctx<'_>) -> Result<Option<PairCounts>> {
    let asking = usize::from(labels.n_pos() < labels.n_neg());
    let grain = scores.len().div_ceil(4 * ctx.n_threads()).clamp(GRAIN, 1 << 22);
    let parts: Vec<(usize, &[S])> = (0..).step_by(grain).zip(scores.chunks(grain)).collect();
    let pick = |(from, part)| fast(Pick { labels, from, scores: part, positive: asking == 1 });
    let Some(picked) = ctx.map(parts.clone(), pick)?.into_iter().collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let picked = alloc::concat(&picked);
    let mut table = Table::default();
    table.fill(fit(&picked), &picked);
    let ask = |(from, scores): (usize, &[S])| {
        let (mut asks, mut found) = ([false; TILE], Found::default());
        let mut ranks = Ranks::of(if wanted == Wanted::Squares { table.len() } else { 0 });
        for (tile, from) in scores.chunks(TILE).zip((from..).step_by(TILE)) {
            let asks = &mut asks[..tile.len()];
            labels.fill(from, asks);
            asks.iter_mut().for_each(|asks| *asks = *asks == (asking == 0));
            match wanted {
                Wanted::Pairs => found.add(table.ask([tile].into_iter(), Some(asks))),
                Wanted::Squares => table.ask_ranks([tile].into_iter(), Some(asks), &mut ranks),
            }
        }
        (found, ranks)
    };
    let (mut found, mut ranks) = (Found::default(), Ranks::of(table.len()));
    for (more, more_ranks) in ctx.map(parts, ask)? {
        found.add(more);
        ranks.add(&more_ranks);
    }
    let (found, squares) = if wanted == Wanted::Squares { ranks.sums() } else { (found, [0; 2]) };
    Ok(Some(PairCounts::of_found(asking, [labels.n_pos(), labels.n_neg()], found, squares)))
}

/// A map that spreads `scores` over about two cells each.
pub(super) fn fit<S: Key>(scores: &[S]) -> Map {
    if scores.len() <= FEW {
        return Map::default();
    }
    let n_sampled = (scores.len() / 8).clamp(FEW, 1 << 10);
    let sample = (0..n_sampled).map(|k| scores[order::spread(k, n_sampled, scores.len())].into());
    Map::fit(&mut sample.collect::<Vec<f64>>(), scores.len())
}

/// Copies the scores of one class; `None` if any score is not finite.
struct Pick<'a, S> {
    labels: &'a Labels<'a>,
    from: usize,
    scores: &'a [S],
    positive: bool,
}

impl<S: Score> pulp::NullaryFnOnce for Pick<'_, S> {
    type Output = Option<Vec<S>>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let mut positive = [false; TILE];
        let mut to = [S::default(); TILE];
        let mut picked = Vec::new();
        for (tile, from) in self.scores.chunks(TILE).zip((self.from..).step_by(TILE)) {
            let positive = &mut positive[..tile.len()];
            self.labels.fill(from, positive);
            if !tile.iter().fold(true, |finite, x| finite & x.finite()) {
                return None;
            }
            // All are written, each over the last if that was not picked: no branch to mispredict.
            let mut n = 0usize;
            for (&x, &positive) in tile.iter().zip(&*positive) {
                to[n & (TILE - 1)] = x;
                n = n.wrapping_add(usize::from(positive == self.positive));
            }
            alloc::append(&mut picked, &to[..n]);
        }
        Some(picked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    /// Scores of several shapes, with a share of ties, by a small generator.
    fn sample(n: usize, share: f64, shape: usize) -> (Vec<bool>, Vec<f64>) {
        let mut next = uniform(11 + shape as u64);
        let labels: Vec<bool> = (0..n).map(|_| next() < share).collect();
        let score = |positive: &bool| {
            let u = next() + 0.1 * f64::from(u8::from(*positive));
            match shape {
                0 => u,
                1 => (u - 0.5) / (1.0 - u * u / 2.0).powi(40),
                2 => (20.0 * u).floor(),
                3 if u < 0.9 => 1e-9 * u,
                3 => 1e9 * u,
                4 => 1.0 - 1e-12 * (1000.0 * next()).floor() * u,
                5 => 1.0,
                // Scores so close that their keys tie: some in one place of many, and some everywhere.
                6 if u < 0.001 => f64::from_bits(0.5f64.to_bits() + (4.0 * next()) as u64),
                7 if u < 0.1 => f64::from_bits(0.5f64.to_bits() + (4.0 * next()) as u64),
                8 => f64::from_bits(((1.0 + (1e4 * u).floor() / 1e4).to_bits() >> 4 << 4) + (3.0 * next()) as u64),
                9 => 1e-310 * u,
                // Few values, and some that hardly any sample shows.
                11 if next() < 0.999 => (300.0 * u).floor(),
                // Some far out, as no sample shows: alike to a map, and some of them equal.
                12 if next() < 0.002 => (u - 0.5).signum() * 1e3 * (1.0 + (300.0 * next()).floor()),
                // One score that many have.
                13 if next() < 0.003 => 0.25,
                10 if u < 0.2 => 0.0f64.copysign(next() - 0.5),
                _ => u - 0.5,
            }
        };
        let scores = labels.iter().map(score).collect();
        (labels, scores)
    }

    /// The counts by sorting.
    fn plain(labels: &[bool], scores: &[f64]) -> PairCounts {
        let mut counts = PairCounts::default();
        for (class, positive) in [true, false].into_iter().enumerate() {
            let mut other: Vec<f64> = (0..scores.len()).filter(|&i| labels[i] != positive).map(|i| scores[i]).collect();
            other.sort_by(f64::total_cmp);
            for i in (0..scores.len()).filter(|&i| labels[i] == positive) {
                let below = other.partition_point(|&y| y < scores[i]) as u128;
                let up_to = other.partition_point(|&y| y <= scores[i]) as u128;
                counts.squares[class] += (below + up_to).pow(2);
                if positive {
                    counts.won += below;
                    counts.tied += up_to - below;
                }
            }
        }
        counts
    }

    #[test]
    fn counts_are_those_of_a_sort() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let mut scratch = (Counting::default(), Counting::default());
        let sizes = (0..6).flat_map(|shape| [(300, shape), (5_000, shape), (90_000, shape)]);
        for (n, shape) in sizes.chain((6..14).flat_map(|shape| [(20_000, shape), (40_000, shape)])) {
            for share in [0.4, 0.6, 0.02] {
                let (labels, scores) = sample(n, share, shape);
                let expected = plain(&labels, &scores);
                let narrow: Vec<f32> = scores.iter().map(|&x| x as f32).collect();
                let wide: Vec<f64> = narrow.iter().map(|&x| x.into()).collect();
                let expected_narrow = plain(&labels, &wide);
                let classes = Labels::new(&labels).unwrap();
                for ctx in [Ctx::serial(), Ctx::new(Some(&pool), None)] {
                    let found = pair_counts(&classes, &scores, Wanted::Squares, &mut scratch.0, &ctx).unwrap();
                    assert_eq!(found, expected, "{n} scores of shape {shape}, {share} positive, {ctx:?}");
                    let found = pair_counts(&classes, &narrow, Wanted::Squares, &mut scratch.1, &ctx).unwrap();
                    assert_eq!(found, expected_narrow, "{n} float32 scores of shape {shape}, {ctx:?}");
                    let found = pair_counts(&classes, &scores, Wanted::Pairs, &mut scratch.0, &ctx).unwrap();
                    assert_eq!((found.won, found.tied), (expected.won, expected.tied));
                }
            }
        }
    }

    #[test]
    fn few_values_are_counted_without_a_table_of_scores() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let mut buffers = vec![];
        for (n, shape, few) in [(5_000, 2, true), (5_000, 5, true), (150_000, 2, true), (150_000, 11, true)]
            .into_iter()
            .chain([(150_000, 0, false), (150_000, 7, false), (5_000, 8, false)])
        {
            let (labels, mut scores) = sample(n, 0.3, shape);
            let classes = Labels::new(&labels).unwrap();
            for (k, score) in scores.iter_mut().enumerate().filter(|(_, score)| **score == 0.0) {
                *score = 0.0f64.copysign(if k % 2 == 0 { 1.0 } else { -1.0 });
            }
            for ctx in [Ctx::serial(), Ctx::new(Some(&pool), None)] {
                let found = match levels::count(&classes, &scores, &mut buffers, &ctx).unwrap() {
                    levels::Found::Few(counts) => Some(counts),
                    levels::Found::Tied | levels::Found::Untied => None,
                };
                assert_eq!(found, few.then(|| plain(&labels, &scores)), "{n} scores of shape {shape}, {ctx:?}");
            }
            scores[n / 2] = f64::NAN;
            let found = levels::count(&classes, &scores, &mut buffers, &Ctx::serial()).unwrap();
            assert!(!matches!(found, levels::Found::Few(_)));
        }
    }

    #[test]
    fn a_bad_score_is_named_in_either_way() {
        for n in [10, 200_000] {
            let labels: Vec<bool> = (0..n).map(|i| i % 2 == 0).collect();
            let mut scores: Vec<f64> = (0..n).map(|i| i as f64).collect();
            scores[7] = f64::INFINITY;
            let classes = Labels::new(&labels).unwrap();
            let found = pair_counts(&classes, &scores, Wanted::Pairs, &mut Counting::default(), &Ctx::serial());
            assert!(matches!(found, Err(Error::NonFinite { name: "y_score", index: 7, .. })));
        }
    }
}
