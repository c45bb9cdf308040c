//! Scores with few distinct values, such as rounded ones or those of tree ensembles: both classes are counted by value,
//! in a hash table. If the values turn out to be many, another way of counting takes over.

use crate::count::sums::PairCounts;
use crate::data::float::Score;
use crate::data::labels::{Labels, TILE};
use crate::order;
use crate::simd::fast;
use crate::{Ctx, Result};

/// The scores of a first sample,
const SAMPLE: usize = 1 << 8;
/// in which so many ties are more than chance,
const TIES: usize = 4;
/// and how many times the expected number of values is allowed: values in the tails are rare.
const UNSEEN: usize = 4;
/// The fewest scores per value, on average,
const SCORES_OF_LEVEL: usize = 16;
/// and the most values: their table fits the second-level cache.
const MOST: usize = 1 << 14;
/// Places tried for a value.
const PROBES: usize = 32;
/// Marks a free place: not the bits of a finite score.
const FREE: u64 = u64::MAX;

/// A value, and how many positives and negatives have it.
#[derive(Debug, Clone, Copy)]
struct Value {
    bits: u64,
    counts: [u32; 2],
}

/// A hash table of values, kept from call to call.
#[derive(Debug, Default)]
pub(crate) struct Values {
    places: Vec<Value>,
    /// How many places are taken, and how many may be.
    len: usize,
    most: usize,
}

impl Values {
    /// Empties the table, for at most this many values.
    fn clear(&mut self, most: usize) {
        self.places.clear();
        self.places.resize(2 * most.next_power_of_two(), Value { bits: FREE, counts: [0; 2] });
        (self.len, self.most) = (0, most);
    }

    /// Adds to the counts of a finite score; whether there was room for it.
    #[inline(always)]
    fn add(&mut self, score: f64, counts: [u32; 2]) -> bool {
        // -0.0 becomes 0.0.
        let bits = (score + 0.0).to_bits();
        let mask = self.places.len().wrapping_sub(1);
        let hash = ((bits ^ bits >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        for probe in 0..PROBES {
            let Some(value) = self.places.get_mut(hash.wrapping_add(probe) & mask) else { return false };
            if value.bits == FREE {
                value.bits = bits;
                self.len = self.len.wrapping_add(1);
            } else if value.bits != bits {
                continue;
            }
            value.counts = [0, 1].map(|class| value.counts[class].wrapping_add(counts[class]));
            return self.len <= self.most;
        }
        false
    }

    /// How many equally frequent values would tie as often as a sample of the scores; `None` if few tie.
    fn expect<S: Score>(&mut self, scores: &[S]) -> Option<usize> {
        self.clear(SAMPLE);
        let mut sample = order::places(SAMPLE, scores.len()).map(|i| scores[i].into());
        let added = sample.all(|x: f64| x.is_finite() && self.add(x, [0; 2]));
        let n_tied = SAMPLE - self.len;
        // A sample of m from d values has about m^2 / 2d ties.
        (added && n_tied >= TIES).then(|| SAMPLE.pow(2) / (2 * n_tied))
    }

    /// Adds all scores, the first of which is sample `from`; whether they are finite and their values few.
    fn fill<S: Score>(&mut self, labels: &Labels<'_>, from: usize, scores: &[S], ctx: &Ctx<'_>) -> Result<bool> {
        let mut positive = [false; TILE];
        for (scores, from) in scores.chunks(TILE).zip((from..).step_by(TILE)) {
            ctx.check()?;
            let positive = &mut positive[..scores.len()];
            labels.fill(from, positive);
            if !self.fill_tile(scores, positive) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds the scores of a tile; whether they are finite and their values few.
    fn fill_tile<S: Score>(&mut self, scores: &[S], positive: &[bool]) -> bool {
        fast!({
            scores.iter().fold(true, |finite, x| finite & x.finite())
                && scores
                    .iter()
                    .zip(positive)
                    .all(|(&x, &positive)| self.add(x.into(), [u32::from(positive), u32::from(!positive)]))
        })
    }

    /// The pairs of all scores.
    fn sum(&self) -> PairCounts {
        let mut values = self.places.iter().filter(|value| value.bits != FREE).copied().collect::<Vec<_>>();
        values.sort_unstable_by(|x, y| f64::total_cmp(&f64::from_bits(x.bits), &f64::from_bits(y.bits)));
        PairCounts::of_blocks(values.iter().map(|value| value.counts.map(u64::from)))
    }
}

/// What is known about the values.
pub(crate) enum Found {
    /// They are few; the pairs.
    Few(PairCounts),
    /// They are many, but many scores tie.
    Tied,
    /// Hardly any scores tie, or one is not finite.
    Untied,
}

/// Counts the pairs if the values are few.
pub(crate) fn count<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    values: &mut Vec<Values>,
    least_share: usize,
    ctx: &Ctx<'_>,
) -> Result<Found> {
    let share = scores.len().div_ceil(ctx.n_threads()).max(least_share);
    let shares: Vec<(usize, &[S])> = (0..).step_by(share).zip(scores.chunks(share)).collect();
    values.resize_with(usize::max(shares.len(), values.len()), Values::default);
    let Some(expected) = values[0].expect(scores) else { return Ok(Found::Untied) };
    if expected > scores.len() / SCORES_OF_LEVEL {
        return Ok(Found::Tied);
    }
    let values = &mut values[..shares.len()];
    let filled = ctx.try_map(shares.into_iter().zip(&mut *values).collect(), |((from, scores), values)| {
        values.clear(usize::min(UNSEEN * expected, MOST));
        values.fill(labels, from, scores, ctx)
    })?;
    let few = filled.into_iter().all(|few| few);
    let Some((all, others)) = values.split_first_mut().filter(|_| few) else { return Ok(Found::Tied) };
    let mut taken = others.iter().flat_map(|values| &values.places).filter(|value| value.bits != FREE);
    let few = taken.all(|value| all.add(f64::from_bits(value.bits), value.counts));
    Ok(if few { Found::Few(all.sum()) } else { Found::Tied })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    #[test]
    fn a_table_takes_so_many_values_and_no_more() {
        let mut values = Values::default();
        values.clear(3);
        assert!([1.0, 0.0, 2.0, -0.0, 2.0].into_iter().all(|x| values.add(x, [1, 0])));
        assert!(!values.add(3.0, [1, 0]));
    }

    #[test]
    fn neighbours_find_places_near_theirs() {
        let mut values = Values::default();
        for power in -30..30 {
            values.clear(SAMPLE);
            let below = 2f64.powi(power).next_down().to_bits() >> 20 << 20;
            assert!((0..SAMPLE as u64).all(|k| values.add(f64::from_bits(below | k), [0, 1])), "{power}");
        }
    }

    #[test]
    fn so_many_scores_per_value_are_enough() {
        for (n, few) in [(SCORES_OF_LEVEL * SAMPLE / 2, true), (SCORES_OF_LEVEL * SAMPLE / 2 - 1, false)] {
            // Nearly as many as one value makes, since more ties are not seen.
            let labels: Vec<bool> = (0..n).map(|k| k % 2 == 0).collect();
            let found = count(&Labels::new(&labels).unwrap(), &vec![7.0; n], &mut vec![], n, &Ctx::serial()).unwrap();
            assert_eq!(matches!(found, Found::Few(_)), few, "{n}");
        }
    }

    #[test]
    fn how_many_values_there_are_is_told_from_a_sample() {
        let (n, mut next) = (20_000, uniform(4));
        let labels: Vec<bool> = (0..n).map(|k| k % 2 == 0).collect();
        let classes = Labels::new(&labels).unwrap();
        for (n_values, tied) in [(500.0, Some(true)), (3000.0, Some(false)), (1e9, None)] {
            let scores: Vec<f64> = (0..n).map(|_| (n_values * next()).floor()).collect();
            let expected = Values::default().expect(&scores);
            assert_eq!(expected.is_some(), tied.is_some());
            assert!(expected.is_none_or(|expected| (0.5..2.0).contains(&(expected as f64 / n_values))));
            let found = count(&classes, &scores, &mut vec![], 1 << 10, &Ctx::serial()).unwrap();
            match tied {
                Some(true) => assert!(matches!(found, Found::Few(_))),
                Some(false) => assert!(matches!(found, Found::Tied)),
                None => assert!(matches!(found, Found::Untied)),
            }
        }
    }

    #[test]
    fn values_that_a_sample_hardly_shows_are_allowed() {
        let (n, mut next) = (40_000, uniform(6));
        let labels: Vec<bool> = (0..n).map(|k| k % 2 == 0).collect();
        let rare = |u: f64| if u < 0.9 { (20.0 * u).floor() } else { (3000.0 * u).floor() };
        let scores: Vec<f64> = (0..n).map(|_| rare(next())).collect();
        let expected = Values::default().expect(&scores).unwrap();
        assert!((140..170).contains(&expected), "{expected}"); // of 318
        let found = count(&Labels::new(&labels).unwrap(), &scores, &mut vec![], 1 << 10, &Ctx::serial()).unwrap();
        assert!(matches!(found, Found::Few(_)));
    }
}
