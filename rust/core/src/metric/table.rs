//! Ranks among the scores of one class without a sort: the scores lie in monotone cells of one or two each.

use std::marker::PhantomData;
use std::ops::Range;

use super::bits::Cells;
use super::labels::TILE;
use super::ranks::{Found, Ranks};
use super::score::{Key, Monotone};
use crate::order::fast;

/// Scores of a cell that are compared at once, those beyond its end losing every comparison; larger cells are sorted.
const LANES: usize = 4;

/// The scores of a class by ascending cell.
#[derive(Debug, Default)]
pub(crate) struct Table<S, M> {
    map: M,
    /// By cell; then `LANES` times infinity.
    scores: Vec<S>,
    /// Where each cell begins, and the end.
    starts: Vec<u32>,
    /// The cell of every score that is filled in.
    cells: Vec<u32>,
    /// The cells that hold more than `LANES`.
    crowded: Vec<usize>,
    len: usize,
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
        cells.resize(usize::max(scores.len(), cells.len()), 0);
        let cells = &mut cells[..scores.len()];
        fast(Cells { map, scores, cells });
        starts.clear();
        starts.resize(map.n_cells() + 2, 0);
        for &cell in &*cells {
            let count = &mut starts[cell as usize + 2];
            *count = count.wrapping_add(1);
        }
        crowded.clear();
        let mut sum = 0;
        for (start, cell) in starts.iter_mut().zip(0..) {
            if *start as usize > LANES {
                crowded.push(cell - 2);
            }
            sum = u32::wrapping_add(sum, *start);
            *start = sum;
        }
        sorted.resize(usize::max(scores.len() + LANES, sorted.len()), S::INFINITY);
        for (&x, &cell) in scores.iter().zip(&*cells) {
            let next = &mut starts[cell as usize + 1];
            sorted[*next as usize] = x;
            *next = next.wrapping_add(1);
        }
        sorted[scores.len()..scores.len() + LANES].fill(S::INFINITY);
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
        for cell in self.crowded().collect::<Vec<_>>() {
            self.scores[cell].sort_unstable_by(S::order);
        }
    }

    /// Ranks those of the scores that are `wanted`; all without. Adds up how many of the table each finds below it, and
    /// how many below or equal.
    pub(crate) fn ask(&self, scores: &[S], wanted: Option<&[bool]>) -> Found {
        let mut found = Found::default();
        self.by_tile(scores, wanted, |cells, scores, wanted| {
            let add = |(below, up_to): (u64, u64), rank: [u32; 2], weight: u64| {
                let [more_below, more_up_to] = rank.map(|rank| weight.wrapping_mul(rank.into()));
                (below.wrapping_add(more_below), up_to.wrapping_add(more_up_to))
            };
            let (below, up_to) = self.rank(cells, scores, wanted, add);
            found.add(Found { below: below.into(), up_to: up_to.into() });
        });
        found
    }

    /// The same, counting how many find which ranks.
    pub(crate) fn ask_ranks(&self, scores: &[S], wanted: Option<&[bool]>, ranks: &mut Ranks) {
        self.count_ranks(scores, wanted, ranks, || 0);
    }

    /// The same of scores that have so many more `below` them.
    pub(crate) fn ask_ranks_above(&self, scores: &[S], below: &[u32], ranks: &mut Ranks) {
        let mut below = below.iter();
        self.count_ranks(scores, None, ranks, || below.next().copied().unwrap_or(0));
    }

    #[inline(always)]
    fn count_ranks(&self, scores: &[S], wanted: Option<&[bool]>, ranks: &mut Ranks, mut below: impl FnMut() -> u32) {
        let Ranks { counts, ties, squared_ties } = ranks;
        self.by_tile(scores, wanted, |cells, scores, wanted| {
            let (counts, below) = (counts.as_mut_slice(), &mut below);
            let add = move |(ties, squares): (u64, u128), rank: [u32; 2], weight: u64| {
                let below = below();
                for (at, weight) in rank.into_iter().zip([weight, weight << 32]) {
                    let count = &mut counts[below.wrapping_add(at) as usize];
                    *count = count.wrapping_add(weight);
                }
                let tied = weight.wrapping_mul(rank[1].wrapping_sub(rank[0]).into());
                (ties.wrapping_add(tied), squares.wrapping_add(tied.wrapping_mul(tied).into()))
            };
            let (more, squares) = self.rank(cells, scores, wanted, add);
            *ties += u128::from(more);
            *squared_ties += squares;
        });
    }

    /// Writes what `f` makes of the rank of each score: how many of the table are below it, and below or equal.
    pub(crate) fn map_ranks(&self, scores: &[S], mut to: &mut [u32], mut f: impl FnMut([u32; 2]) -> u32) {
        self.by_tile(scores, None, |cells, scores, _| {
            let (tile, rest) = std::mem::take(&mut to).split_at_mut(scores.len());
            to = rest;
            let f = &mut f;
            self.rank(cells, scores, None, move |k: usize, rank, _| {
                tile[k] = f(rank);
                k.wrapping_add(1)
            });
        });
    }

    /// Folds the ranks of a tile of scores: below each, and below or equal to it; weight 0 for what is not wanted.
    fn rank<T: Default>(
        &self,
        cells: &[u32],
        scores: &[S],
        wanted: Option<&[bool]>,
        add: impl FnMut(T, [u32; 2], u64) -> T,
    ) -> T {
        let (starts, sorted) = (&self.starts[..], &self.scores[..]);
        match wanted {
            None => fast(Rank { starts, sorted, cells, scores, wanted: |_| true, add, sum: PhantomData }),
            Some(w) => fast(Rank { starts, sorted, cells, scores, wanted: |k| w[k], add, sum: PhantomData }),
        }
    }

    /// Calls `f` with the cells of a tile of the scores, the scores, and which are wanted.
    fn by_tile(&self, scores: &[S], wanted: Option<&[bool]>, mut f: impl FnMut(&[u32], &[S], Option<&[bool]>)) {
        let mut cells = [0; TILE];
        for (t, tile) in scores.chunks(TILE).enumerate() {
            let cells = &mut cells[..tile.len()];
            fast(Cells { map: self.map, scores: tile, cells });
            f(cells, tile, wanted.map(|w| &w[t * TILE..t * TILE + tile.len()]));
        }
    }

    /// Number of scores.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

/// Folds the ranks of a tile of scores.
struct Rank<'a, S, W, F, T> {
    starts: &'a [u32],
    sorted: &'a [S],
    cells: &'a [u32],
    scores: &'a [S],
    wanted: W,
    add: F,
    sum: PhantomData<T>,
}

impl<S: Key, W: Fn(usize) -> bool, F: FnMut(T, [u32; 2], u64) -> T, T: Default> pulp::NullaryFnOnce
    for Rank<'_, S, W, F, T>
{
    type Output = T;

    #[inline(always)]
    fn call(self) -> T {
        let Self { starts, sorted, cells, scores, wanted, mut add, .. } = self;
        let mut sum = T::default();
        // By index: an enumeration would be checked for overflow.
        for k in 0..usize::min(cells.len(), scores.len()) {
            sum = add(sum, rank(starts, sorted, cells[k], scores[k]), wanted(k).into());
        }
        sum
    }
}

/// How many of the `sorted` scores are below `x`, which belongs to `cell`, and how many are below or equal to it.
#[inline(always)]
fn rank<S: Key>(starts: &[u32], sorted: &[S], cell: u32, x: S) -> [u32; 2] {
    let start = starts[cell as usize];
    let (mut below, mut up_to) = (0, 0);
    for &y in &sorted[start as usize..start as usize + LANES] {
        // Wrapping: a check for overflow would keep the comparisons from being made at once.
        below = u32::wrapping_add(below, u32::from(y < x));
        up_to = u32::wrapping_add(up_to, u32::from(y <= x));
    }
    if up_to as usize == LANES {
        let end = starts[cell as usize + 1];
        if (end.wrapping_sub(start)) as usize > LANES {
            return rank_in(start, &sorted[start as usize..end as usize], x);
        }
    }
    [start.wrapping_add(below), start.wrapping_add(up_to)]
}

/// The rank of a score that is above the first scores of its `cell`, of which `start` lie in the cells below.
#[inline(never)]
fn rank_in<S: Key>(start: u32, cell: &[S], x: S) -> [u32; 2] {
    // One look for a cell of a single score, repeated.
    let below = if cell.first().is_none_or(|&y| y >= x) { 0 } else { cell.partition_point(|&y| y < x) };
    let up_to = if cell.last().is_none_or(|&y| y <= x) { cell.len() } else { cell.partition_point(|&y| y <= x) };
    [start + below as u32, start + up_to as u32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Map;
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
            assert_eq!(
                rank(&table.starts, &table.scores, map.cell(x), x),
                [below, up_to],
                "{x} among {}",
                sorted.len()
            );
            table.ask_ranks(&[x], None, &mut ranks);
            total.add(Found { below: below.into(), up_to: up_to.into() });
            squared += u128::from(below + up_to).pow(2);
        }
        assert_eq!(table.ask(scores, Some(&vec![false; scores.len()])), Found::default());
        assert_eq!(table.ask(scores, None), total);
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
