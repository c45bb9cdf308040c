//! The total order on scores: by descending score, equal scores by ascending index.
//!
//! Statistics read blocks of equal scores and never depend on the index; the index makes the order, and with it every
//! intermediate result, unique, whatever the algorithm or the number of threads.
//!
//! Risks and curves order scores here; measures that only count pairs use `count`. The two keep different things. A
//! risk returns a slope for every sample: it needs the sample of each score, sums of the scores up to every rank, and
//! ranks of scores that are shifted by a margin. A count needs none of that, keeps 4 of the 8 bytes of a score and
//! leaves cells unsorted. They share `Map` and `places`.

pub(crate) mod cells;
pub(crate) mod chunk;
pub(crate) mod collect;
mod map;
pub(crate) mod select;
mod sort;
pub(crate) mod sorted;

pub(crate) use collect::entries;
pub(crate) use map::{Map, whole};
pub(crate) use sort::{sort, sort_cells};

/// A score and its index in one 128-bit integer: ascending entries are descending scores, then ascending indices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry(u128);

/// The sign of a score, in its bits and in its [`key`].
pub(crate) const SIGN: u64 = 1 << 63;

/// Maps finite scores to integers that descend as the scores ascend; -0.0 and 0.0 map to the same.
#[inline]
pub(crate) fn key(score: f64) -> u64 {
    let bits = (score + 0.0).to_bits();
    let ascending = if bits & SIGN == 0 { bits | SIGN } else { !bits };
    !ascending
}

/// The score of a [`key`]; a zero comes back as 0.0.
#[inline]
pub(crate) fn score_of(key: u64) -> f64 {
    let ascending = !key;
    f64::from_bits(if ascending & SIGN == 0 { !ascending } else { ascending ^ SIGN })
}

impl Entry {
    /// Packs a finite score.
    #[inline]
    pub(crate) fn new(score: f64, index: u32) -> Self {
        Self((u128::from(key(score)) << 32) | u128::from(index))
    }

    #[inline]
    fn key(self) -> u64 {
        (self.0 >> 32) as u64
    }

    /// The score; a zero comes back as 0.0.
    #[inline]
    pub(crate) fn score(self) -> f64 {
        score_of(self.key())
    }

    /// The index the entry was made with.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as u32 as usize
    }

    /// Whether two entries hold the same score.
    #[inline]
    pub(crate) fn ties(self, other: Entry) -> bool {
        self.key() == other.key()
    }
}

/// `n_samples` positions below `n`, ascending: one per stretch, at a hashed place there, so that periodic data are
/// sampled fairly.
#[inline]
pub(crate) fn places(n_samples: usize, n: usize) -> impl Iterator<Item = usize> {
    let (len, more) = (n / n_samples.max(1), n % n_samples.max(1));
    // The fractions of stretches so far: a division for each would take longer than to read its score.
    let (mut low, mut rest) = (0, 0);
    (0..n_samples).map(move |k| {
        rest += more;
        let extra = usize::from(rest >= n_samples);
        rest -= extra * n_samples;
        let (from, len) = (low, len + extra);
        low += len;
        let hash = (k as u64 ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 32;
        from + ((hash * len as u64) >> 32) as usize
    })
}

/// Scores in [0, 1), but of an evenly spread sample of `n_sampled` as much higher as `shift`.
#[cfg(test)]
pub(crate) fn misleading(n: usize, n_sampled: usize, shift: f64, next: &mut impl FnMut() -> f64) -> Vec<f64> {
    let mut scores: Vec<f64> = (0..n).map(|_| next()).collect();
    places(n_sampled, n).for_each(|i| scores[i] += shift);
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;
    use crate::{CHUNK, Ctx, Problem, Result};

    #[test]
    fn entries_keep_scores_and_order_them() {
        let scores = [f64::MAX, 1.0, 5e-324, 0.0, -5e-324, -1.0, f64::MIN];
        for pair in scores.windows(2) {
            assert!(Entry::new(pair[0], 9) < Entry::new(pair[1], 0), "{pair:?}");
        }
        for score in scores {
            assert_eq!(Entry::new(score, 7).score(), score);
            assert_eq!(Entry::new(score, 7).index(), 7);
        }
        assert_eq!(Entry::new(-0.0, 3), Entry::new(0.0, 3));
        assert!(Entry::new(2.0, 1) < Entry::new(2.0, 2));
    }

    #[test]
    fn places_are_one_in_every_stretch_and_fair_to_periodic_data() {
        for (n_samples, n) in [(7, 7), (5, 23), (1 << 10, 1 << 16), (1000, 123_457)] {
            let (mut share, mut odd) = (0.0, 0);
            assert_eq!(places(n_samples, n).count(), n_samples);
            for (k, place) in places(n_samples, n).enumerate() {
                let (low, high) = (k * n / n_samples, (k + 1) * n / n_samples);
                assert!((low..high).contains(&place));
                share += (place - low) as f64 / (high - low) as f64;
                odd += place % 2;
            }
            if n_samples >= 1000 {
                let [share, odd] = [share, odd as f64].map(|sum| sum / n_samples as f64);
                assert!((0.47..0.53).contains(&share) && (0.4..0.6).contains(&odd), "{n_samples} {n}: {share} {odd}");
            }
        }
    }

    #[test]
    fn entries_are_the_positives_and_the_negatives_that_reach_a_bound() -> Result<()> {
        let mut next = uniform(2);
        for n in [100, 1000, CHUNK + 777] {
            let labels: Vec<bool> = (0..n).map(|_| next() < 0.3).collect();
            let scores: Vec<f64> = (0..n).map(|_| next()).collect();
            let weights: Vec<f64> = (0..n).map(|_| (4.0 * next()).floor()).collect();
            let [mut neg, mut pos] =
                entries(&Problem::weighted(labels.clone(), weights.clone())?, scores[..].into(), 0.4, &Ctx::serial())?;
            for (found, positive) in [(&mut neg, false), (&mut pos, true)] {
                let counts = |&i: &usize| labels[i] == positive && weights[i] > 0.0 && (positive || scores[i] >= 0.4);
                let mut expected: Vec<Entry> = (0..n).filter(counts).map(|i| Entry::new(scores[i], i as u32)).collect();
                expected.sort_unstable();
                found.sort_unstable();
                assert!(*found == expected, "{n} {positive}");
            }
        }
        Ok(())
    }
}
