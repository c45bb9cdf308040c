//! Ranks among the scores of one class without a sort: the scores lie in monotone cells of one or two each.

use std::ops::Range;

use super::lanes::{Cells, Each, Ranking, Sums, rank};
use super::rank_sums::Found;
use crate::alloc;
use crate::metric::score::{Key, Monotone};
use crate::metric::simd::{Plain, by_eight};
use crate::order::{self, Map, fast};

/// So few scores are compared one and all.
const FEW: usize = 32;

/// The scores of a class by ascending cell.
#[derive(Debug, Default)]
pub(crate) struct Table<S, M> {
    pub(crate) map: M,
    /// By cell, those of cells that hold more than [`Key::LANES`] ascending; then `LANES` times infinity.
    scores: Vec<S>,
    /// Where each cell begins, and the end.
    starts: Vec<u32>,
    /// The cell of every score that is filled in.
    cells: Vec<u32>,
    /// The cells that hold more than `LANES`.
    crowded: Vec<usize>,
    len: usize,
}

/// A map that spreads `scores` over about two cells each.
pub(crate) fn fit<S: Key>(scores: &[S]) -> Map {
    if scores.len() <= FEW {
        return Map::default();
    }
    let n_sampled = (scores.len() / 8).clamp(FEW, 1 << 10);
    let sample = (0..n_sampled).map(|k| scores[order::spread(k, n_sampled, scores.len())].into());
    Map::fit(&mut sample.collect::<Vec<f64>>(), scores.len())
}

impl<S: Key, M: Monotone<S>> Table<S, M> {
    /// Fills the table. O(number of scores), but for cells that hold many different scores, which are sorted.
    pub(crate) fn fill(&mut self, map: M, scores: &[S]) {
        self.place(map, scores);
        self.sort();
    }

    /// Places the scores in their cells, which are yet to be sorted.
    pub(crate) fn place(&mut self, map: M, scores: &[S]) {
        let Self { cells, starts, scores: sorted, crowded, .. } = self;
        (self.map, self.len) = (map, scores.len());
        alloc::resize(cells, usize::max(scores.len(), cells.len()), 0);
        let cells = &mut cells[..scores.len()];
        fast(Cells { map, scores, cells });
        starts.clear();
        alloc::resize(starts, map.n_cells() + 2, 0);
        for &cell in &*cells {
            let count = &mut starts[cell as usize + 2];
            *count = count.wrapping_add(1);
        }
        crowded.clear();
        let mut sum = 0;
        for (start, cell) in starts.iter_mut().zip(0..) {
            if *start as usize > S::LANES {
                alloc::push(crowded, cell - 2);
            }
            sum = u32::wrapping_add(sum, *start);
            *start = sum;
        }
        alloc::resize(sorted, usize::max(scores.len() + S::LANES, sorted.len()), S::INFINITY);
        for (&x, &cell) in scores.iter().zip(&*cells) {
            let next = &mut starts[cell as usize + 1];
            // Counted first: the next to come to this cell waits for that.
            let at = *next as usize;
            *next = next.wrapping_add(1);
            sorted[at] = x;
        }
        sorted[scores.len()..scores.len() + S::LANES].fill(S::INFINITY);
    }

    /// The cells that hold more than `LANES` scores, not all equal.
    fn crowded(&self) -> impl Iterator<Item = Range<usize>> {
        let cells = self.crowded.iter().map(|&cell| self.starts[cell] as usize..self.starts[cell + 1] as usize);
        cells.filter(|cell| self.scores[cell.clone()].windows(2).any(|pair| pair[0] != pair[1]))
    }

    /// How many scores there are to sort.
    pub(crate) fn n_crowded(&self) -> usize {
        self.crowded().map(|cell| cell.len()).sum()
    }

    /// Sorts the crowded cells.
    pub(crate) fn sort(&mut self) {
        for cell in alloc::gathered(self.crowded()) {
            self.scores[cell].sort_unstable_by(S::order);
        }
    }

    /// The rank of one score.
    pub(crate) fn rank_of(&self, x: S) -> [u32; 2] {
        rank(Plain, &self.starts, &self.scores, self.map.cell(x), x)
    }

    /// Number of scores.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

impl<S: Key, M: Monotone<S>> Ranking<S> for Table<S, M> {
    fn sum(&self, cells: &mut [u32], scores: &[S]) -> Found {
        let (starts, sorted) = (&self.starts[..], &self.scores[..]);
        let (mut found, n_crowded) = if self.crowded.is_empty() {
            by_eight(Sums::<S, false> { starts, sorted, cells: &mut *cells, scores })
        } else {
            by_eight(Sums::<S, true> { starts, sorted, cells: &mut *cells, scores })
        };
        for &k in &cells[..n_crowded] {
            let [below, up_to] = self.rank_of(scores[k as usize]);
            found.add(Found { below: below.into(), up_to: up_to.into() });
        }
        found
    }

    fn each(&self, cells: &[u32], scores: &[S], f: impl FnMut(usize, [u32; 2])) {
        by_eight(Each { starts: &self.starts, sorted: &self.scores, cells, scores, f });
    }
}

#[cfg(test)]
mod tests {
    use super::super::rank_sums::Ranks;
    use super::*;
    use crate::testing::uniform;

    /// The ranks of `scores` in a table of `sorted`, and the squares from the side of the table.
    fn check<M: Monotone<f64>>(map: M, sorted: &[f64], scores: &[f64]) {
        let mut table = Table::default();
        table.fill(map, sorted);
        let mut ranks = Ranks::of(table.len());
        let (mut total, mut squared) = (Found::default(), 0);
        for &x in scores {
            let below = sorted.iter().filter(|&&y| y < x).count() as u32;
            let up_to = sorted.iter().filter(|&&y| y <= x).count() as u32;
            assert_eq!(table.rank_of(x), [below, up_to], "{x} among {}", sorted.len());
            let mut cell = [0];
            fast(Cells { map, scores: &[x], cells: &mut cell });
            table.each(&cell, &[x], |_, rank| ranks.counter().count(rank));
            total.add(Found { below: below.into(), up_to: up_to.into() });
            squared += u128::from(below + up_to).pow(2);
        }
        let mut cells = vec![0; scores.len()];
        fast(Cells { map, scores, cells: &mut cells });
        assert_eq!(table.sum(&mut cells, scores), total);
        let turned = |&y: &f64| {
            let count = |of: &dyn Fn(f64) -> bool| scores.iter().filter(|&&x| of(x)).count() as u128;
            (count(&|x| x < y) + count(&|x| x <= y)).pow(2)
        };
        let (found, squares) = ranks.sums();
        assert_eq!((found, squares), (total, [squared, sorted.iter().map(turned).sum::<u128>()]));
    }

    #[test]
    fn ranks_are_those_of_a_plain_count() {
        let mut next = uniform(7);
        for scale in [1.0, 1e-320, 1e308] {
            for (n, levels) in [(1, 3.0), (8, 3.0), (9, 2.0), (300, 5.0), (300, 1e9), (1000, 40.0)] {
                let mut draw = || (next() * levels).floor() / levels * scale * if next() < 0.2 { -1.0 } else { 1.0 };
                let sorted: Vec<f64> = (0..n).map(|_| draw()).collect();
                let mut scores = sorted.clone();
                scores.extend([0.0, -0.0, 1.5 * scale, -1.5 * scale, 0.1 * scale].iter().filter(|x| x.is_finite()));
                check(f64::line(-0.8 * scale, scale, n), &sorted, &scores);
                check(Map::fit(&mut sorted.clone(), n as usize), &sorted, &scores);
                check(Map::default(), &sorted, &scores);
            }
        }
    }
}
