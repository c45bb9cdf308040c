//! The keys of a cell compared with a score, many at once.

use std::marker::PhantomData;

#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;

use super::ranks::Found;
use super::score::{Key, Monotone};

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

/// How the first [`Key::LANES`] keys of a cell are compared with a score.
pub(super) trait Compare: Copy {
    /// How many are below it, and how many equal it.
    fn compare<S: Key>(self, keys: &[S], x: S) -> [u32; 2];
}

/// One by one.
#[derive(Clone, Copy)]
pub(super) struct Plain;

impl Compare for Plain {
    #[inline(always)]
    fn compare<S: Key>(self, keys: &[S], x: S) -> [u32; 2] {
        let count = |found: &dyn Fn(&S) -> bool| keys[..S::LANES].iter().filter(|y| found(y)).count() as u32;
        [count(&|y| *y < x), count(&|y| *y == x)]
    }
}

#[cfg(target_arch = "x86_64")]
impl Compare for V3 {
    #[inline(always)]
    fn compare<S: Key>(self, keys: &[S], x: S) -> [u32; 2] {
        // A mask of float64 is two of 32 bits.
        let count = |mask| self.avx._mm256_movemask_ps(pulp::cast(mask)).count_ones() * S::LANES as u32 / 8;
        S::compare(self, keys, x).map(count)
    }
}

/// Sums what a tile of scores finds in a table, but for those in cells of more than [`Key::LANES`], if it is `CROWDED`
/// and has any: their places go to the front of `cells`. Their number.
#[cfg(target_arch = "x86_64")]
pub(super) struct Sums<'a, S, const CROWDED: bool> {
    pub(super) simd: V3,
    pub(super) starts: &'a [u32],
    pub(super) sorted: &'a [S],
    pub(super) cells: &'a mut [u32],
    pub(super) scores: &'a [S],
}

#[cfg(target_arch = "x86_64")]
impl<S: Key, const CROWDED: bool> pulp::NullaryFnOnce for Sums<'_, S, CROWDED> {
    type Output = (Found, usize);

    #[inline(always)]
    fn call(self) -> (Found, usize) {
        let Self { simd, starts, sorted, cells, scores } = self;
        let zero = simd.avx._mm256_setzero_si256();
        let (mut total, mut below, mut equal, mut n_crowded) = (0u64, zero, zero, 0usize);
        for k in 0..usize::min(cells.len(), scores.len()) {
            let cell = cells[k] as usize;
            let start = starts[cell];
            if CROWDED && starts[cell + 1].wrapping_sub(start) as usize > S::LANES {
                cells[n_crowded] = k as u32;
                n_crowded = n_crowded.wrapping_add(1);
                continue;
            }
            let masks = S::compare(simd, &sorted[start as usize..], scores[k]);
            below = simd.avx2._mm256_sub_epi32(below, masks[0]);
            equal = simd.avx2._mm256_sub_epi32(equal, masks[1]);
            total = total.wrapping_add(start.into());
        }
        // A mask of float64 is two of 32 bits.
        let sum = |lanes: [u32; 8]| lanes.into_iter().map(u128::from).sum::<u128>() * S::LANES as u128 / 8;
        let below = u128::from(total) + sum(pulp::cast(below));
        (Found { below, up_to: below + sum(pulp::cast(equal)) }, n_crowded)
    }
}

/// Folds the ranks of a tile of scores.
pub(super) struct Rank<'a, S, C, W, F, T> {
    pub(super) by: C,
    pub(super) starts: &'a [u32],
    pub(super) sorted: &'a [S],
    pub(super) cells: &'a [u32],
    pub(super) scores: &'a [S],
    pub(super) wanted: W,
    pub(super) add: F,
    pub(super) sum: PhantomData<T>,
}

impl<S: Key, C: Compare, W: Fn(usize) -> bool, F: FnMut(T, [u32; 2], u64) -> T, T: Default> pulp::NullaryFnOnce
    for Rank<'_, S, C, W, F, T>
{
    type Output = T;

    #[inline(always)]
    fn call(self) -> T {
        let Self { by, starts, sorted, cells, scores, wanted, mut add, .. } = self;
        let mut sum = T::default();
        // By index: an enumeration would be checked for overflow.
        for k in 0..usize::min(cells.len(), scores.len()) {
            sum = add(sum, rank(by, starts, sorted, cells[k], scores[k]), wanted(k).into());
        }
        sum
    }
}

/// How many of the `sorted` scores are below `x`, which belongs to `cell`, and how many are below or equal to it.
#[inline(always)]
pub(super) fn rank<S: Key>(by: impl Compare, starts: &[u32], sorted: &[S], cell: u32, x: S) -> [u32; 2] {
    let start = starts[cell as usize];
    // Those beyond the end of the cell are above it.
    let [below, equal] = by.compare(&sorted[start as usize..], x);
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

/// Whether any of the keys is this.
pub(super) struct Holds<'a, K>(pub(super) &'a [K], pub(super) K);

impl<K: Key> pulp::NullaryFnOnce for Holds<'_, K> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        // All are looked at: many at once.
        self.0.iter().fold(false, |found, &key| found | (key == self.1))
    }
}
