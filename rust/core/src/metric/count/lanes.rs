//! The keys of a cell compared with a score, many at once.

use super::rank_sums::Found;
use crate::metric::score::{Key, Monotone};
use crate::metric::simd::{ByEight, Eight};

/// What ranks scores among those of one class, given their cells.
pub(crate) trait Ranking<S> {
    /// The sums of the ranks of some scores; spoils the cells.
    fn sum(&self, cells: &mut [u32], scores: &[S]) -> Found;
    /// Calls `f` with the place of each of some scores and its rank: how many are below it, and how many below or equal.
    fn each(&self, cells: &[u32], scores: &[S], f: impl FnMut(usize, [u32; 2]));
}

/// Writes the cell of every score.
pub(crate) struct Cells<'a, S, M> {
    pub(crate) map: M,
    pub(crate) scores: &'a [S],
    pub(crate) cells: &'a mut [u32],
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

/// How many of the first [`Key::LANES`] keys of a cell are below a score, and how many equal it.
#[inline(always)]
fn compare<S: Key>(by: impl Eight, keys: &[S], x: S) -> [u32; 2] {
    // A mask of float64 is two of 32 bits.
    S::compare(by, keys, x).map(|mask| by.total::<8>(mask) * S::LANES as u32 / 8)
}

/// Sums what a tile of scores finds in a table, but for those in cells of more than [`Key::LANES`], if it is `CROWDED`
/// and has any: their places go to the front of `cells`. Their number.
pub(crate) struct Sums<'a, S, const CROWDED: bool> {
    pub(crate) starts: &'a [u32],
    pub(crate) sorted: &'a [S],
    pub(crate) cells: &'a mut [u32],
    pub(crate) scores: &'a [S],
}

impl<S: Key, const CROWDED: bool> ByEight for Sums<'_, S, CROWDED> {
    type Output = (Found, usize);

    #[inline(always)]
    fn call<E: Eight>(self, by: E) -> (Found, usize) {
        let Self { starts, sorted, cells, scores } = self;
        let (mut total, mut below, mut equal, mut n_crowded) = (0u64, by.none(), by.none(), 0usize);
        for k in 0..usize::min(cells.len(), scores.len()) {
            let cell = cells[k] as usize;
            let start = starts[cell];
            if CROWDED && starts[cell + 1].wrapping_sub(start) as usize > S::LANES {
                cells[n_crowded] = k as u32;
                n_crowded = n_crowded.wrapping_add(1);
                continue;
            }
            let masks = S::compare(by, &sorted[start as usize..], scores[k]);
            below = by.count(below, masks[0]);
            equal = by.count(equal, masks[1]);
            total = total.wrapping_add(start.into());
        }
        // A mask of float64 is two of 32 bits.
        let sum = |counts| u128::from(by.sum::<8>(counts) * S::LANES as u64 / 8);
        let below = u128::from(total) + sum(below);
        (Found { below, up_to: below + sum(equal) }, n_crowded)
    }
}

/// Calls `f` with the place and the rank of each score of a tile.
pub(crate) struct Each<'a, S, F> {
    pub(crate) starts: &'a [u32],
    pub(crate) sorted: &'a [S],
    pub(crate) cells: &'a [u32],
    pub(crate) scores: &'a [S],
    pub(crate) f: F,
}

impl<S: Key, F: FnMut(usize, [u32; 2])> ByEight for Each<'_, S, F> {
    type Output = ();

    #[inline(always)]
    fn call<E: Eight>(self, by: E) {
        let Self { starts, sorted, cells, scores, mut f } = self;
        // By index: an enumeration would be checked for overflow.
        for k in 0..usize::min(cells.len(), scores.len()) {
            f(k, rank(by, starts, sorted, cells[k], scores[k]));
        }
    }
}

/// How many of the `sorted` scores are below `x`, which belongs to `cell`, and how many are below or equal to it.
#[inline(always)]
pub(crate) fn rank<S: Key>(by: impl Eight, starts: &[u32], sorted: &[S], cell: u32, x: S) -> [u32; 2] {
    let start = starts[cell as usize];
    // Those beyond the end of the cell are above it.
    let [below, equal] = compare(by, &sorted[start as usize..], x);
    let up_to = below.wrapping_add(equal);
    if up_to as usize == S::LANES {
        let end = starts[cell as usize + 1];
        if (end.wrapping_sub(start)) as usize > S::LANES {
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
