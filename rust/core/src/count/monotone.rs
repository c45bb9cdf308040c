//! Monotone maps of keys, or of scores, to cells.

use crate::count::cells::{Spread, sample};
use crate::data::float::{Key, Line};
use crate::simd::fast;

/// So few scores of a class stay in one cell, which costs less than a map.
const FEW: usize = 1 << 6;

/// The positives and the negatives, each in parts.
pub(crate) type Classes<'a, K> = [Vec<&'a [K]>; 2];

/// The size of each class.
pub(crate) fn sizes<K>(classes: &Classes<'_, K>) -> [usize; 2] {
    classes.each_ref().map(|parts| parts.iter().map(|part| part.len()).sum())
}

/// The class that looks up its ranks in a table of the other: the larger, of equal ones the positives.
pub(crate) fn larger(sizes: [usize; 2]) -> usize {
    usize::from(sizes[0] < sizes[1])
}

/// A monotone map of keys to cells.
pub(crate) trait Monotone<K>: Default {
    fn fit(keys: &[K], n_cells: u32) -> Self;
    fn n_cells(&self) -> usize;
    fn cells(&self, keys: &[K], cells: &mut [u32]);
}

/// For keys, which are spread evenly in most buckets.
impl<K: Key> Monotone<K> for Line<K> {
    fn fit(keys: &[K], n_cells: u32) -> Self {
        let (low, high) = ends(keys);
        K::line(low, high, n_cells)
    }

    fn n_cells(&self) -> usize {
        let last: f64 = self.last.into();
        last as usize + 1
    }

    fn cells(&self, keys: &[K], cells: &mut [u32]) {
        let line = *self;
        fast!({
            for (cell, key) in cells.iter_mut().zip(keys) {
                *cell = key.cell(line);
            }
        });
    }
}

/// For scores.
impl<K: Key> Monotone<K> for Spread {
    fn fit(keys: &[K], n_cells: u32) -> Self {
        if keys.len() <= FEW { Self::default() } else { Self::fit(&sample(keys), n_cells.into()) }
    }

    fn n_cells(&self) -> usize {
        self.n_cells()
    }

    fn cells(&self, keys: &[K], cells: &mut [u32]) {
        fast!({
            let mut wide = [0; 1 << 6];
            for (keys, cells) in keys.chunks(wide.len()).zip(cells.chunks_mut(wide.len())) {
                self.cells(keys, &mut wide[..keys.len()]);
                cells.iter_mut().zip(&wide).for_each(|(cell, wide)| *cell = *wide as u32);
            }
        });
    }
}

/// The least and the greatest key.
fn ends<K: Key>(keys: &[K]) -> (K, K) {
    fast!({
        const LANES: usize = 16;
        let min = |x: K, y: K| if x < y { x } else { y };
        let max = |x: K, y: K| if x > y { x } else { y };
        let first = keys.first().copied().unwrap_or_default();
        let (mut low, mut high) = ([first; LANES], [first; LANES]);
        let (lanes, rest) = keys.as_chunks::<LANES>();
        for xs in lanes {
            for (low, &x) in low.iter_mut().zip(xs) {
                *low = min(x, *low);
            }
            for (high, &x) in high.iter_mut().zip(xs) {
                *high = max(x, *high);
            }
        }
        let all = || rest.iter().copied();
        (low.into_iter().chain(all()).fold(first, min), high.into_iter().chain(all()).fold(first, max))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_class_looks_up_and_of_equal_ones_the_positives() {
        assert_eq!([[1, 2], [2, 1], [2, 2], [0, 3]].map(larger), [1, 0, 0, 1]);
    }
}
