//! Exact pair counts without a sort.
//!
//! One class makes a [`Table`] and the other asks it for ranks. Samples too many for that are first scattered, as keys,
//! into monotone buckets, each of them small enough for the first-level cache, where the rarer class makes the table;
//! pairs that lie in two buckets are decided by those. Scores of few values are counted by value instead. All counts
//! are integers, so the order of the rows and the number of threads change nothing.

pub(crate) mod bucket;
pub(crate) mod buckets;
pub(crate) mod cells;
pub(crate) mod counting_sort;
mod few_values;
pub(crate) mod keys;
mod lanes;
mod one_table;
mod rank_sums;
mod rare;
mod slots;
mod sums;
pub(crate) mod table;

use few_values::Levels;
pub(crate) use sums::{PairCounts, Wanted, grown};

use super::curve::first_non_finite;
use super::labels::Labels;
use super::score::{KeyOf, Score};
use crate::{Ctx, Error, Result};

/// The buffers of [`pair_counts`].
#[derive(Debug, Default)]
pub(crate) struct Counting<S: Score> {
    pub(crate) by_key: buckets::Memory<S, S::Key>,
    /// For few samples.
    split: one_table::Memory<S::Key>,
    /// For scores that tie often.
    pub(crate) by_score: buckets::Memory<S, S>,
    /// For scores of few values.
    levels: Vec<Levels>,
}

impl<S: Score> Counting<S> {
    /// Bytes that are held.
    pub(crate) fn bytes(&self) -> usize {
        let levels = self.levels.iter().map(Levels::bytes).sum::<usize>();
        self.by_key.bytes() + self.by_score.bytes() + self.split.bytes() + levels
    }
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
        match few_values::count(labels, scores, &mut buffers.levels, ctx)? {
            few_values::Found::Few(counts) => return Ok(counts),
            few_values::Found::Tied => true,
            few_values::Found::Untied => false,
        }
    };
    let rare = fewer <= FEWEST || (fewer <= more / RARE && fewer <= MOST_DIRECT);
    let sample = if rare { vec![] } else { cells::sample(scores) };
    if !rare
        && (!tied || S::Key::EXACT)
        && scores.len() <= FEW_SCORES[usize::from(wanted == Wanted::Squares)]
        && let Some(counts) = one_table::count(labels, (scores, &sample), wanted, &mut buffers.split, ctx)?
    {
        return Ok(counts);
    }
    let counts = if rare || fewer <= DIRECT {
        rare::count(labels, scores, wanted, ctx)?
    } else {
        buckets::count(labels, scores, &sample, wanted, (&mut buffers.by_key, &mut buffers.by_score), ctx)?
    };
    counts.ok_or_else(|| first_non_finite(scores))
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
                let found = match few_values::count(&classes, &scores, &mut buffers, &ctx).unwrap() {
                    few_values::Found::Few(counts) => Some(counts),
                    few_values::Found::Tied | few_values::Found::Untied => None,
                };
                assert_eq!(found, few.then(|| plain(&labels, &scores)), "{n} scores of shape {shape}, {ctx:?}");
            }
            scores[n / 2] = f64::NAN;
            let found = few_values::count(&classes, &scores, &mut buffers, &Ctx::serial()).unwrap();
            assert!(!matches!(found, few_values::Found::Few(_)));
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
