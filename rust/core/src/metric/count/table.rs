//! Ranks among the scores of one class without a sort: the scores lie in monotone cells of one or two each.

use std::marker::PhantomData;
use std::ops::Range;

use super::lanes::{Cells, Rank, Sums, rank};
use super::rank_sums::{Found, Ranks};
use crate::alloc;
use crate::metric::labels::TILE;
use crate::metric::score::{Key, Monotone};
use crate::metric::simd::{Plain, by_eight};
use crate::order::{self, Map, fast};

/// Scores that tie, after which no more of those that do are looked for.
const MOST_OPEN: usize = 64;
/// So many of them are let grow before they are counted.
pub(crate) const ROOM: usize = 4 * MOST_OPEN;

/// So few scores are compared one and all.
const FEW: usize = 32;

/// The scores of a class by ascending cell.
#[derive(Debug, Default)]
pub(crate) struct Table<S, M> {
    map: M,
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

/// Whether the keys that tie are few; each is kept once.
pub(crate) fn few<S: Key>(open: &mut Vec<S>) -> bool {
    open.sort_unstable_by(S::order);
    open.dedup();
    open.len() <= MOST_OPEN
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

    /// Ranks the scores of all parts, or those of them that are `wanted`. Adds up how many of the table each finds
    /// below it, and how many below or equal.
    pub(crate) fn ask<'a>(&self, parts: impl Iterator<Item = &'a [S]>, wanted: Option<&[bool]>) -> Found {
        let mut found = Found::default();
        self.tiles(parts, |from, cells, scores| {
            let wanted = wanted.map(|w| &w[from..from + scores.len()]);
            found.add(if wanted.is_none() {
                self.sums(cells, scores)
            } else {
                let add = |(below, up_to): (u64, u64), rank: [u32; 2], weight: u64| {
                    let [more_below, more_up_to] = rank.map(|rank| weight.wrapping_mul(rank.into()));
                    (below.wrapping_add(more_below), up_to.wrapping_add(more_up_to))
                };
                let (below, up_to) = self.rank(cells, scores, wanted, add);
                Found { below: below.into(), up_to: up_to.into() }
            });
            true
        });
        found
    }

    /// The same, counting how many find which ranks.
    pub(crate) fn ask_ranks<'a>(
        &self,
        parts: impl Iterator<Item = &'a [S]>,
        wanted: Option<&[bool]>,
        ranks: &mut Ranks,
    ) {
        let Ranks { counts, ties, squared_ties } = ranks;
        self.tiles(parts, |from, cells, scores| {
            let (counts, wanted) = (counts.as_mut_slice(), wanted.map(|w| &w[from..from + scores.len()]));
            let add = move |(ties, squares): (u64, u128), rank: [u32; 2], weight: u64| {
                for (at, weight) in rank.into_iter().zip([weight, weight << 32]) {
                    let count = &mut counts[at as usize];
                    *count = count.wrapping_add(weight);
                }
                let tied = weight.wrapping_mul(rank[1].wrapping_sub(rank[0]).into());
                (ties.wrapping_add(tied), squares.wrapping_add(tied.wrapping_mul(tied).into()))
            };
            let (more, squares) = self.rank(cells, scores, wanted, add);
            *ties += u128::from(more);
            *squared_ties += squares;
            true
        });
    }

    /// The sum of the ranks of those scores of all parts that tie with none of the table; the others go to `open`.
    pub(crate) fn ask_untied<'a>(&self, parts: impl Iterator<Item = &'a [S]>, open: &mut Vec<S>) -> u128 {
        let mut total = 0u128;
        self.tiles(parts, |_, cells, scores| {
            let sums = self.sums(cells, scores);
            total += if sums.below == sums.up_to {
                sums.below
            } else {
                fast(Cells { map: self.map, scores, cells: &mut *cells });
                let mut sum = 0u64;
                self.untied(cells, scores, open, |rank| sum = sum.wrapping_add(rank.into()));
                sum.into()
            };
            open.len() <= ROOM || few(open)
        });
        total
    }

    /// The same, but their ranks are counted.
    pub(crate) fn ask_untied_ranks<'a>(
        &self,
        parts: impl Iterator<Item = &'a [S]>,
        open: &mut Vec<S>,
        ranks: &mut Ranks,
    ) {
        let counts = ranks.counts.as_mut_slice();
        self.tiles(parts, |_, cells, scores| {
            self.untied(cells, scores, open, |rank| {
                let count = &mut counts[rank as usize];
                *count = count.wrapping_add(Ranks::UNTIED);
            });
            open.len() <= ROOM || few(open)
        });
    }

    /// Calls `f` with the place of the first score, the cells and the scores of one tile after the other while it
    /// returns true.
    fn tiles<'a>(
        &self,
        mut parts: impl Iterator<Item = &'a [S]>,
        mut f: impl FnMut(usize, &mut [u32], &'a [S]) -> bool,
    ) {
        let (mut cells, mut from) = ([0; TILE], 0);
        parts.all(|part| {
            part.chunks(TILE).all(|scores| {
                let cells = &mut cells[..scores.len()];
                fast(Cells { map: self.map, scores, cells });
                from += scores.len();
                f(from - scores.len(), cells, scores)
            })
        });
    }

    /// Calls `f` with the ranks of those scores of a tile that tie with none of the table; the others go to `open`.
    #[inline(always)]
    fn untied(&self, cells: &[u32], scores: &[S], open: &mut Vec<S>, mut f: impl FnMut(u32)) {
        self.rank(cells, scores, None, |k: usize, [below, up_to]: [u32; 2], _| {
            if below == up_to {
                f(below)
            } else {
                open.push(scores[k])
            }
            k.wrapping_add(1)
        });
    }

    /// What all scores of a tile find; spoils the cells.
    fn sums(&self, cells: &mut [u32], scores: &[S]) -> Found {
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

    /// The rank of one score.
    pub(crate) fn rank_of(&self, x: S) -> [u32; 2] {
        rank(Plain, &self.starts, &self.scores, self.map.cell(x), x)
    }

    /// Writes what `f` makes of the rank of each of the scores that the table was filled with, told as then: how many of
    /// the table are below it, and below or equal.
    pub(crate) fn map_own(&self, scores: &[S], to: &mut [u32], f: impl Fn([u32; 2]) -> u32) {
        self.rank(&self.cells[..self.len], scores, None, |k: usize, rank, _| {
            to[k] = f(rank);
            k.wrapping_add(1)
        });
    }

    /// The same of other scores; adds to `counts` how many have which number below, and how many below or equal. Those
    /// that tie go to `tied`, but no more than one beyond `most`.
    pub(crate) fn map_and_count(
        &self,
        scores: &[S],
        to: &mut [u32],
        counts: &mut [u32],
        (tied, most): (&mut Vec<S>, usize),
        f: impl Fn([u32; 2]) -> u32 + Copy,
    ) {
        let mut cells = [0; TILE];
        for (scores, to) in scores.chunks(TILE).zip(to.chunks_mut(TILE)) {
            let (cells, counts, tied) = (&mut cells[..scores.len()], &mut *counts, &mut *tied);
            fast(Cells { map: self.map, scores, cells: &mut *cells });
            self.rank(cells, scores, None, move |k: usize, [below, up_to], _| {
                to[k] = f([below, up_to]);
                let count = &mut counts[below as usize];
                if below == up_to {
                    *count = count.wrapping_add(2);
                } else {
                    *count = count.wrapping_add(1);
                    counts[up_to as usize] = counts[up_to as usize].wrapping_add(1);
                    if tied.len() <= most {
                        tied.push(scores[k]);
                    }
                }
                k.wrapping_add(1)
            });
        }
    }

    /// Folds the ranks of a tile of scores: below each, and below or equal to it; weight 0 for what is not wanted.
    fn rank<T: Default>(
        &self,
        cells: &[u32],
        scores: &[S],
        wanted: Option<&[bool]>,
        add: impl FnMut(T, [u32; 2], u64) -> T,
    ) -> T {
        match wanted {
            None => self.rank_wanted(cells, scores, |_| true, add),
            Some(w) => self.rank_wanted(cells, scores, |k| w[k], add),
        }
    }

    #[inline(always)]
    fn rank_wanted<T: Default>(
        &self,
        cells: &[u32],
        scores: &[S],
        wanted: impl Fn(usize) -> bool,
        add: impl FnMut(T, [u32; 2], u64) -> T,
    ) -> T {
        let (starts, sorted) = (&self.starts[..], &self.scores[..]);
        by_eight(Rank { starts, sorted, cells, scores, wanted, add, sum: PhantomData })
    }

    /// Number of scores.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
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
            table.ask_ranks([&[x][..]].into_iter(), None, &mut ranks);
            total.add(Found { below: below.into(), up_to: up_to.into() });
            squared += u128::from(below + up_to).pow(2);
        }
        assert_eq!(table.ask([scores].into_iter(), Some(&vec![false; scores.len()])), Found::default());
        assert_eq!(table.ask([scores].into_iter(), None), total);
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
