//! Ranks among the scores of one class by bits: one for each cell of a map so fine that most cells hold one score or none.
//!
//! A word of the table holds the bits of 32 cells and the number of scores before them, so that most ranks are one
//! look-up and a count of bits, without a comparison. What that leaves open are the scores of the other class in a cell
//! that is taken, or in a word one of whose cells is taken twice. These are doubtful: they and the scores of the class
//! in their words, their rivals, a few of a hundred, are left to a [`super::table::Table`].

use super::labels::TILE;
use super::score::{Key, Monotone};
use crate::order::collect::positions;
use crate::order::fast;

/// Cells for each score.
pub(super) const CELLS: usize = 32;

/// The table of one class.
#[derive(Debug, Default)]
pub(super) struct Bits {
    /// For every 32 cells: which are taken, by the lower bits, and above these the number of scores before. All cells are
    /// taken in a word of which one is taken twice. Then a word of none.
    words: Vec<u64>,
    /// The cell of every score.
    cells: Vec<u32>,
    /// By bits, the words that a doubtful score lies in.
    doubted: Vec<u64>,
}

impl Bits {
    /// Bytes that are held.
    pub(super) fn bytes(&self) -> usize {
        8 * (self.words.capacity() + self.doubted.capacity()) + 4 * self.cells.capacity()
    }

    /// Fills the table with all `len` scores of the parts; how many of them found their cell taken.
    pub(super) fn fill<S: Key, M: Monotone<S>>(&mut self, map: M, parts: &[&[S]], len: usize) -> usize {
        let Self { words, cells, doubted } = self;
        let n_words = map.n_cells() / 32 + 1;
        words.clear();
        words.resize(n_words + 1, 0);
        doubted.clear();
        doubted.resize(n_words / 64 + 1, 0);
        cells.resize(usize::max(len, cells.len()), 0);
        let mut rest = &mut cells[..len];
        for part in parts {
            let (cells, more) = rest.split_at_mut(part.len());
            fast(Cells { map, scores: part, cells: &mut *cells });
            fast(Take { cells, words });
            rest = more;
        }
        fast(Sums(words))
    }

    /// The sum of the ranks of those scores that are not doubtful; or, if `counts` is not empty, zero, and they are counted
    /// there as [`super::ranks::Ranks`] are. The doubtful are appended to `doubtful`.
    pub(super) fn ask<S: Key, M: Monotone<S>>(
        &self,
        map: M,
        parts: &[&[S]],
        doubtful: &mut Vec<S>,
        counts: &mut [u64],
    ) -> u128 {
        let (mut cells, mut stage) = ([0; TILE], [S::default(); TILE]);
        let mut total = 0u128;
        for scores in parts.iter().flat_map(|part| part.chunks(TILE)) {
            let cells = &mut cells[..scores.len()];
            let ask = Ask { map, scores, words: &self.words, cells, stage: &mut stage };
            let (sum, n) =
                if counts.is_empty() { fast(Summed(ask)) } else { fast(Counted { ask, counts: &mut *counts }) };
            total += u128::from(sum);
            doubtful.extend_from_slice(&stage[..n]);
        }
        total
    }

    /// Appends the rivals of the doubtful to `rivals`; for every doubtful score, how many scores below it are none.
    ///
    /// The table answers no more after that.
    pub(super) fn rivals<S: Key, M: Monotone<S>>(
        &mut self,
        map: M,
        parts: &[&[S]],
        doubtful: &[S],
        rivals: &mut Vec<S>,
        below: &mut Vec<u32>,
    ) {
        let Self { words, cells, doubted } = self;
        below.resize(doubtful.len(), 0);
        fast(Cells { map, scores: doubtful, cells: &mut *below });
        for word in below.iter_mut() {
            *word >>= 5;
            doubted[*word as usize / 64] |= 1 << (*word % 64);
        }
        let (mut rest, mut stage) = (&cells[..], [S::default(); TILE]);
        for part in parts {
            for scores in part.chunks(TILE) {
                let (cells, more) = rest.split_at(scores.len());
                let n = fast(Pick { scores, cells, doubted, stage: &mut stage });
                rivals.extend_from_slice(&stage[..n]);
                rest = more;
            }
        }
        let mut passed = 0;
        for (&bits, first) in doubted.iter().zip((0..).step_by(64)) {
            for word in positions(bits).map(|bit| first + bit) {
                let before = words[word] >> 32;
                words[word] = before - passed;
                passed += (words[word + 1] >> 32) - before;
            }
        }
        below.iter_mut().for_each(|word| *word = words[*word as usize] as u32);
    }
}

/// Writes the cell of every score.
pub(super) struct Cells<'a, S, M> {
    pub(super) map: M,
    pub(super) scores: &'a [S],
    pub(super) cells: &'a mut [u32],
}

impl<S: Key, M: Monotone<S>> pulp::NullaryFnOnce for Cells<'_, S, M> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (cell, &x) in self.cells.iter_mut().zip(self.scores) {
            *cell = self.map.cell(x);
        }
    }
}

/// Sets the bits of the cells; above the bits of a word it counts those that were set before.
struct Take<'a> {
    cells: &'a [u32],
    words: &'a mut [u64],
}

impl pulp::NullaryFnOnce for Take<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for &cell in self.cells {
            let word = &mut self.words[(cell >> 5) as usize];
            let taken = *word >> (cell & 31) & 1;
            *word = (*word | 1 << (cell & 31)).wrapping_add(taken << 32);
        }
    }
}

/// Turns what [`Take`] left into words of the table; how many scores found their cell taken.
struct Sums<'a>(&'a mut [u64]);

impl pulp::NullaryFnOnce for Sums<'_> {
    type Output = usize;

    #[inline(always)]
    fn call(self) -> usize {
        let (mut sum, mut n_taken) = (0u64, 0u64);
        for word in self.0 {
            let (bits, taken) = (*word as u32, *word >> 32);
            *word = sum << 32 | u64::from(if taken == 0 { bits } else { u32::MAX });
            sum = sum.wrapping_add(bits.count_ones().into()).wrapping_add(taken);
            n_taken = n_taken.wrapping_add(taken);
        }
        n_taken as usize
    }
}

/// Looks up the ranks of a tile of scores.
struct Ask<'a, S, M> {
    map: M,
    scores: &'a [S],
    words: &'a [u64],
    cells: &'a mut [u32],
    stage: &'a mut [S; TILE],
}

impl<S: Key, M: Monotone<S>> Ask<'_, S, M> {
    /// Calls `add` with all ones and the rank of every score, zeros instead of the ones if the score is doubtful; puts
    /// the doubtful at the front of `stage`. Their number.
    #[inline(always)]
    fn each(self, mut add: impl FnMut(u64, u64)) -> usize {
        let Self { map, scores, words, cells, stage } = self;
        pulp::NullaryFnOnce::call(Cells { map, scores, cells: &mut *cells });
        let mut n = 0usize;
        for (&x, &cell) in scores.iter().zip(&*cells) {
            let word = words[(cell >> 5) as usize];
            let lower = word as u32 & (1u32 << (cell & 31)).wrapping_sub(1);
            let doubtful = word >> (cell & 31) & 1;
            add(doubtful.wrapping_sub(1), (word >> 32).wrapping_add(lower.count_ones().into()));
            stage[n & (TILE - 1)] = x;
            n = n.wrapping_add(doubtful as usize);
        }
        n
    }
}

/// The sum of the ranks, and the number of doubtful scores.
struct Summed<'a, S, M>(Ask<'a, S, M>);

impl<S: Key, M: Monotone<S>> pulp::NullaryFnOnce for Summed<'_, S, M> {
    type Output = (u64, usize);

    #[inline(always)]
    fn call(self) -> Self::Output {
        let mut sum = 0u64;
        let n = self.0.each(|certain, rank| sum = sum.wrapping_add(rank & certain));
        (sum, n)
    }
}

/// What counts one score in [`super::ranks::Ranks`] that has as many of the table below as below or equal.
const ONE: u64 = 1 | 1 << 32;

/// The same, but the ranks are counted instead.
struct Counted<'a, S, M> {
    ask: Ask<'a, S, M>,
    counts: &'a mut [u64],
}

impl<S: Key, M: Monotone<S>> pulp::NullaryFnOnce for Counted<'_, S, M> {
    type Output = (u64, usize);

    #[inline(always)]
    fn call(self) -> Self::Output {
        let counts = self.counts;
        let n = self.ask.each(|certain, rank| {
            let count = &mut counts[(rank & certain) as usize];
            *count = count.wrapping_add(certain & ONE);
        });
        (0, n)
    }
}

/// Puts the scores in words that are doubted at the front of `stage`; their number.
struct Pick<'a, S> {
    scores: &'a [S],
    cells: &'a [u32],
    doubted: &'a [u64],
    stage: &'a mut [S; TILE],
}

impl<S: Key> pulp::NullaryFnOnce for Pick<'_, S> {
    type Output = usize;

    #[inline(always)]
    fn call(self) -> usize {
        let mut n = 0usize;
        for (&x, &cell) in self.scores.iter().zip(self.cells) {
            self.stage[n & (TILE - 1)] = x;
            n = n.wrapping_add((self.doubted[(cell >> 11) as usize] >> (cell >> 5 & 63)) as usize & 1);
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    /// Ranks by the table where it is certain, and by the rivals and what is below where it is not.
    #[test]
    fn the_certain_and_the_doubtful_have_the_ranks_of_a_plain_count() {
        let mut next = uniform(4);
        for (n, levels) in [(1, 1e9), (40, 7.0), (3000, 1e9), (3000, 1e5), (5000, 900.0)] {
            let mut draw = |n: usize| (0..n).map(|_| (next().powi(2) * levels).floor() / levels).collect::<Vec<f64>>();
            let (own, others) = (draw(n), draw(2 * n));
            let parts = [&own[..n / 3], &own[n / 3..]];
            let line = f64::line(0.1, 0.8, (CELLS * n) as u32);
            let mut bits = Bits::default();
            bits.fill(line, &parts, n);
            let below = |x: f64| own.iter().filter(|&&y| y < x).count() as u64;
            let (mut doubtful, mut counts) = (vec![], vec![0; n + 1]);
            let sum = bits.ask(line, &[&others], &mut doubtful, &mut []);
            let n_doubtful = doubtful.len();
            bits.ask(line, &[&others], &mut doubtful, &mut counts);
            assert_eq!(doubtful[..n_doubtful], doubtful[n_doubtful..]);
            doubtful.truncate(n_doubtful);
            let certain: Vec<f64> = others.iter().copied().filter(|x| !doubtful.contains(x)).collect();
            assert_eq!(certain.len() + n_doubtful, others.len());
            assert_eq!(sum, certain.iter().map(|&x| u128::from(below(x))).sum());
            for x in certain {
                counts[below(x) as usize] -= ONE;
                assert!(!own.contains(&x));
            }
            assert!(counts.iter().all(|&count| count == 0));
            let (mut rivals, mut offsets) = (vec![], vec![]);
            bits.rivals(line, &parts, &doubtful, &mut rivals, &mut offsets);
            for (&x, &offset) in doubtful.iter().zip(&offsets) {
                assert_eq!(rivals.iter().filter(|&&y| y < x).count() as u64 + u64::from(offset), below(x));
                assert_eq!(rivals.contains(&x), own.contains(&x));
            }
        }
    }
}
