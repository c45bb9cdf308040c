//! Ranks among the scores of one class without a sort: the scores lie in monotone cells of one or two each.

use std::ops::Range;

use super::labels::TILE;
use crate::order::{Map, fast};

/// A floating-point type of scores; float32 is ranked as it is.
pub trait Score: Copy + Into<f64> + PartialOrd + Default + Send + Sync + 'static {
    #[doc(hidden)]
    const INFINITY: Self;
    #[doc(hidden)]
    fn order(&self, other: &Self) -> std::cmp::Ordering;
    #[doc(hidden)]
    fn finite(self) -> bool;
    #[doc(hidden)]
    fn negated(self) -> Self;
    #[doc(hidden)]
    fn line(low: Self, high: Self, cells: u32) -> Line<Self>;
    #[doc(hidden)]
    fn cell(self, line: Line<Self>) -> u32;
}

/// A linear map of scores to cells, the scores beyond its ends going to the first and the last.
#[derive(Debug, Clone, Copy, Default)]
pub struct Line<S> {
    low: S,
    scale: S,
    last: S,
}

macro_rules! score {
    ($type:ty, $magic:expr) => {
        impl Score for $type {
            const INFINITY: Self = <$type>::INFINITY;

            #[inline(always)]
            fn order(&self, other: &Self) -> std::cmp::Ordering {
                self.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal)
            }

            #[inline(always)]
            fn finite(self) -> bool {
                self.is_finite()
            }

            #[inline(always)]
            fn negated(self) -> Self {
                -self
            }

            fn line(low: Self, high: Self, cells: u32) -> Line<Self> {
                let scale = cells as $type / (high - low);
                // A range too wide or too narrow for the arithmetic becomes one cell.
                let usable = (high - low).is_normal() && scale.is_normal();
                Line { low, scale: if usable { scale } else { 0.0 }, last: (cells - 1) as $type }
            }

            /// Every operation is monotone, so the cell is; adding 2^(mantissa bits) rounds to a whole number, which
            /// then stands in the low bits.
            #[inline(always)]
            fn cell(self, line: Line<Self>) -> u32 {
                let x = (self - line.low) * line.scale;
                let x = if x > 0.0 { x } else { 0.0 };
                let x = if x < line.last { x } else { line.last };
                (x + $magic).to_bits() as u32 & 0x007F_FFFF
            }
        }
    };
}
score!(f64, 4_503_599_627_370_496.0);
score!(f32, 8_388_608.0);

/// A map of scores to cells that never descends.
pub(crate) trait Monotone<S>: Copy + Default {
    /// Number of cells.
    fn n_cells(&self) -> usize;
    /// The cell of a score.
    fn cell(&self, x: S) -> u32;
}

impl<S: Score> Monotone<S> for Line<S> {
    fn n_cells(&self) -> usize {
        let last: f64 = self.last.into();
        last as usize + 1
    }

    #[inline(always)]
    fn cell(&self, x: S) -> u32 {
        x.cell(*self)
    }
}

impl<S: Score> Monotone<S> for Map {
    fn n_cells(&self) -> usize {
        self.n_buckets()
    }

    #[inline(always)]
    fn cell(&self, x: S) -> u32 {
        self.bucket(x.into())
    }
}

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

/// What a number of scores find in a table: sums over them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Found {
    /// Of the scores of the table that are below.
    pub(crate) below: u128,
    /// Of those that are below or equal.
    pub(crate) up_to: u128,
    /// Of the square of both together.
    pub(crate) squares: u128,
}

impl Found {
    pub(crate) fn add(&mut self, other: Found) {
        self.below += other.below;
        self.up_to += other.up_to;
        self.squares += other.squares;
    }
}

impl<S: Score, M: Monotone<S>> Table<S, M> {
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

    /// Ranks those of the scores that are `wanted`; all without.
    pub(crate) fn ask(&self, scores: &[S], wanted: Option<&[bool]>) -> Found {
        let mut found = Found::default();
        self.by_tile(scores, wanted, |cells, scores, wanted| {
            let (starts, sorted) = (&self.starts[..], &self.scores[..]);
            let (below, up_to) = match wanted {
                None => fast(Rank { starts, sorted, cells, scores, wanted: |_| true }),
                Some(w) => fast(Rank { starts, sorted, cells, scores, wanted: |k| w[k] }),
            };
            found.add(Found { below: below.into(), up_to: up_to.into(), squares: 0 });
        });
        found
    }

    /// The same with squares. `steps`, two of one more than the table has scores, gain one for each wanted score at the
    /// number of scores below it, and at that of those below or equal: summed up to and including k they then are
    /// what the k-th score of the table, in order, would find among those that asked.
    pub(crate) fn ask_squares(&self, scores: &[S], wanted: Option<&[bool]>, steps: &mut [Vec<u32>; 2]) -> Found {
        let mut found = Found::default();
        self.by_tile(scores, wanted, |cells, scores, wanted| {
            let (starts, sorted) = (&self.starts[..], &self.scores[..]);
            found.add(match wanted {
                None => fast(RankSquares { starts, sorted, cells, scores, wanted: |_| true, steps }),
                Some(w) => fast(RankSquares { starts, sorted, cells, scores, wanted: |k| w[k], steps }),
            });
        });
        found
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

/// Writes the cell of every score.
struct Cells<'a, S, M> {
    map: M,
    scores: &'a [S],
    cells: &'a mut [u32],
}

impl<S: Score, M: Monotone<S>> pulp::NullaryFnOnce for Cells<'_, S, M> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (cell, &x) in self.cells.iter_mut().zip(self.scores) {
            *cell = self.map.cell(x);
        }
    }
}

/// Sums of the ranks of a tile of scores: of those below, and of those below or equal.
struct Rank<'a, S, W> {
    starts: &'a [u32],
    sorted: &'a [S],
    cells: &'a [u32],
    scores: &'a [S],
    wanted: W,
}

impl<S: Score, W: Fn(usize) -> bool> pulp::NullaryFnOnce for Rank<'_, S, W> {
    type Output = (u64, u64);

    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self { starts, sorted, cells, scores, wanted } = self;
        let (mut below, mut up_to) = (0u64, 0u64);
        for k in 0..usize::min(cells.len(), scores.len()) {
            let rank = rank(starts, sorted, cells[k], scores[k]);
            let weight = u64::from(wanted(k));
            below = below.wrapping_add(u64::from(rank.0).wrapping_mul(weight));
            up_to = up_to.wrapping_add(u64::from(rank.1).wrapping_mul(weight));
        }
        (below, up_to)
    }
}

/// [`Rank`] with squares and steps.
struct RankSquares<'a, S, W> {
    starts: &'a [u32],
    sorted: &'a [S],
    cells: &'a [u32],
    scores: &'a [S],
    wanted: W,
    steps: &'a mut [Vec<u32>; 2],
}

impl<S: Score, W: Fn(usize) -> bool> pulp::NullaryFnOnce for RankSquares<'_, S, W> {
    type Output = Found;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self { starts, sorted, cells, scores, wanted, steps: [below_steps, up_to_steps] } = self;
        let (below_steps, up_to_steps) = (below_steps.as_mut_slice(), up_to_steps.as_mut_slice());
        let (mut below, mut up_to, mut squares) = (0u64, 0u64, 0u128);
        for k in 0..usize::min(cells.len(), scores.len()) {
            let rank = rank(starts, sorted, cells[k], scores[k]);
            let weight = u64::from(wanted(k));
            below = below.wrapping_add(u64::from(rank.0).wrapping_mul(weight));
            up_to = up_to.wrapping_add(u64::from(rank.1).wrapping_mul(weight));
            let value = u64::from(rank.0).wrapping_add(u64::from(rank.1)).wrapping_mul(weight);
            squares = squares.wrapping_add(u128::from(value) * u128::from(value));
            for (steps, at) in [(&mut *below_steps, rank.0), (&mut *up_to_steps, rank.1)] {
                let step = &mut steps[at as usize];
                *step = step.wrapping_add(weight as u32);
            }
        }
        Found { below: below.into(), up_to: up_to.into(), squares }
    }
}

/// How many of the `sorted` scores are below `x`, which belongs to `cell`, and how many are below or equal to it.
#[inline(always)]
fn rank<S: Score>(starts: &[u32], sorted: &[S], cell: u32, x: S) -> (u32, u32) {
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
    (start.wrapping_add(below), start.wrapping_add(up_to))
}

/// The rank of a score that is above the first scores of its `cell`, of which `start` lie in the cells below.
#[inline(never)]
fn rank_in<S: Score>(start: u32, cell: &[S], x: S) -> (u32, u32) {
    // One look for a cell of a single score, repeated.
    let below = if cell.first().is_none_or(|&y| y >= x) { 0 } else { cell.partition_point(|&y| y < x) };
    let up_to = if cell.last().is_none_or(|&y| y <= x) { cell.len() } else { cell.partition_point(|&y| y <= x) };
    (start + below as u32, start + up_to as u32)
}

/// The sum of squares of the running sums of both `steps`, but for the last.
pub(crate) fn squares([below, up_to]: &[Vec<u32>; 2]) -> u128 {
    let (mut value, mut squares) = (0u64, 0u128);
    for (below, up_to) in below.iter().zip(up_to).take(below.len().saturating_sub(1)) {
        value = value.wrapping_add(u64::from(*below)).wrapping_add(u64::from(*up_to));
        squares = squares.wrapping_add(u128::from(value) * u128::from(value));
    }
    squares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    /// The ranks of `scores` in a table of `sorted`, and the squares from the side of the table.
    fn check<M: Monotone<f64>>(map: M, sorted: &[f64], scores: &[f64]) {
        let mut table = Table::default();
        table.fill(map, sorted);
        let mut steps = [vec![0; table.len() + 1], vec![0; table.len() + 1]];
        let mut values = 0;
        for &x in scores {
            let below = sorted.iter().filter(|&&y| y < x).count() as u32;
            let up_to = sorted.iter().filter(|&&y| y <= x).count() as u32;
            assert_eq!(
                rank(&table.starts, &table.scores, map.cell(x), x),
                (below, up_to),
                "{x} among {}",
                sorted.len()
            );
            let found = table.ask_squares(&[x], None, &mut steps);
            assert_eq!(found.squares, u128::from(below + up_to).pow(2));
            values += found.below + found.up_to;
        }
        assert_eq!(table.ask(scores, Some(&vec![false; scores.len()])).up_to, 0);
        let found = table.ask(scores, None);
        assert_eq!(found.below + found.up_to, values);
        let turned = |&y: &f64| {
            let count = |of: &dyn Fn(f64) -> bool| scores.iter().filter(|&&x| of(x)).count() as u128;
            (count(&|x| x < y) + count(&|x| x <= y)).pow(2)
        };
        assert_eq!(squares(&steps), sorted.iter().map(turned).sum::<u128>());
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
