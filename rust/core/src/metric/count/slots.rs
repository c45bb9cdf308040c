//! Ranks among the keys of one class, those of a cell compared at once: all that it takes is half a line of a cache.

use super::lanes::Ranking;
use super::rank_sums::Found;
use crate::alloc;
use crate::metric::score::Key;
use crate::metric::simd::{ByEight, Eight, by_eight};

/// Keys compared at once,
pub(crate) const LANES: usize = 8;
/// all of them in a slot but the last.
const LAST: usize = LANES - 1;
/// Keys, at most: sums over a tile fit 32 bits.
pub(crate) const MOST: usize = 1 << 20;
/// So many cells stay in the first-level cache.
const CACHED: usize = 1 << 9;
/// While slots are filled, below this is how many keys a slot has, and above where it goes on, or zero.
const FULL: u32 = LANES as u32;
/// Of a slot that goes on in the one whose place the lower bits are.
const LINK: u32 = 1 << 31;

/// How many cells are best for some keys that lie evenly.
pub(crate) fn n_cells(n_keys: usize) -> u32 {
    usize::max(3 * n_keys / 5, usize::min(n_keys, CACHED)) as u32
}

/// Some keys of a cell, then infinity. The bits of the last are how many keys are in the cells below, unless the cell
/// goes on in another slot.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Slot<K>([K; LANES]);

impl<K: Key> Slot<K> {
    /// With `keys` at most, the bits of the last.
    fn new(last: u32) -> Self {
        let mut slot = Self([K::INFINITY; LANES]);
        slot.set(last);
        slot
    }

    #[inline(always)]
    fn last(&self) -> u32 {
        self.0[LAST].bits()
    }

    #[inline(always)]
    fn set(&mut self, last: u32) {
        self.0[LAST] = K::of_bits(last);
    }
}

/// The keys of a class by cell: a slot for each cell, then those in which cells go on.
#[derive(Debug, Default)]
pub(crate) struct Slots<K>(Vec<Slot<K>>);

impl<K: Key> Slots<K> {
    /// Bytes that are held.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Slot<K>>() * self.0.capacity()
    }

    /// Fills in the keys of each of some cells; whether few are in cells that go on.
    pub(crate) fn fill(&mut self, n_cells: usize, cells: &[u32], keys: &[K]) -> bool {
        self.0.clear();
        alloc::resize(&mut self.0, n_cells, Slot::new(0));
        let (slots, mut more) = (&mut self.0[..], Vec::<Slot<K>>::new());
        for (&cell, &key) in cells.iter().zip(keys) {
            let slot = &mut slots[cell as usize];
            let last = slot.last();
            if let Some(place) = slot.0[..LAST].get_mut((last % FULL) as usize) {
                *place = key;
                slot.set(last.wrapping_add(1));
            } else {
                // The full one is moved, and goes on where it did.
                let full = std::mem::replace(slot, Slot::new(1 + FULL * (n_cells + more.len()) as u32));
                slot.0[0] = key;
                alloc::push(&mut more, full);
            }
        }
        let (mut sum, mut compared) = (0u32, 0);
        for slot in slots {
            let (below, last) = (sum, slot.last());
            slot.set(below);
            sum = sum.wrapping_add(last % FULL);
            let (mut slot, mut next, mut n_slots) = (slot, last / FULL, 1);
            while next > 0 {
                slot.set(LINK | next);
                slot = &mut more[next as usize - n_cells];
                next = slot.last() / FULL;
                slot.set(below);
                sum += LAST as u32;
                n_slots += 1;
            }
            if n_slots > 1 {
                compared += n_slots * (sum - below) as usize;
            }
        }
        alloc::append(&mut self.0, &more);
        // What asks lies much as the keys do.
        compared <= 3 * keys.len()
    }
}

impl<K: Key> Ranking<K> for Slots<K> {
    fn sum(&self, cells: &mut [u32], keys: &[K]) -> Found {
        by_eight(Sum { slots: &self.0, cells, keys })
    }

    #[inline]
    fn each(&self, cells: &[u32], keys: &[K], f: impl FnMut(usize, [u32; 2])) {
        by_eight(Each { slots: &self.0, cells, keys, f });
    }
}

/// Sums what some keys find.
struct Sum<'a, K> {
    slots: &'a [Slot<K>],
    cells: &'a [u32],
    keys: &'a [K],
}

impl<K: Key> ByEight for Sum<'_, K> {
    type Output = Found;

    #[inline(always)]
    fn call<E: Eight>(self, by: E) -> Found {
        let Self { slots, cells, keys } = self;
        let (mut starts, mut below, mut equal) = (0u64, by.none(), by.none());
        for (&cell, &key) in cells.iter().zip(keys) {
            let mut slot = &slots[cell as usize];
            loop {
                let masks = K::compare(by, &slot.0, key);
                below = by.count(below, masks[0]);
                equal = by.count(equal, masks[1]);
                let last = slot.last();
                if last < LINK {
                    starts = starts.wrapping_add(last.into());
                    break;
                }
                slot = &slots[(last ^ LINK) as usize];
            }
        }
        // But the last lane, which is none of keys.
        let below = u128::from(starts + by.sum::<LAST>(below));
        Found { below, up_to: below + u128::from(by.sum::<LAST>(equal)) }
    }
}

/// As [`Ranking::each`].
struct Each<'a, K, F> {
    slots: &'a [Slot<K>],
    cells: &'a [u32],
    keys: &'a [K],
    f: F,
}

impl<K: Key, F: FnMut(usize, [u32; 2])> ByEight for Each<'_, K, F> {
    type Output = ();

    #[inline(always)]
    fn call<E: Eight>(self, by: E) {
        let Self { slots, cells, keys, mut f } = self;
        // But the last lane, which is none of keys.
        let count = |mask| by.total::<LAST>(mask);
        for k in 0..usize::min(cells.len(), keys.len()) {
            let mut slot = &slots[cells[k] as usize];
            let mut found = K::compare(by, &slot.0, keys[k]).map(count);
            while slot.last() >= LINK {
                slot = &slots[(slot.last() ^ LINK) as usize];
                let more = K::compare(by, &slot.0, keys[k]).map(count);
                found = [found[0].wrapping_add(more[0]), found[1].wrapping_add(more[1])];
            }
            let below = found[0].wrapping_add(slot.last());
            f(k, [below, below.wrapping_add(found[1])]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::simd::Plain;
    use crate::testing::uniform;

    #[test]
    fn ranks_are_those_of_a_plain_count() {
        let mut next = uniform(4);
        for (n, n_cells, levels) in [(1, 1, 9.0), (60, 1, 1e9), (500, 300, 1e9), (500, 300, 90.0), (900, 40, 1e6)] {
            let mut draw = |n: usize| -> Vec<i32> { (0..n).map(|_| ((next() - 0.5) * levels) as i32).collect() };
            let (keys, asking) = (draw(n), draw(2 * n));
            let cell = |x: &i32| ((f64::from(*x) / levels + 0.5) * f64::from(n_cells)) as u32;
            let cells = |keys: &[i32]| keys.iter().map(cell).collect::<Vec<_>>();
            let mut slots = Slots::default();
            let suits = slots.fill(n_cells as usize, &cells(&keys), &keys);
            assert_eq!(suits, n_cells >= 300 || n == 1, "{n} keys in {n_cells} cells");
            let (mut total, mut ranks) = (Found::default(), vec![]);
            for x in &asking {
                let count = |of: &dyn Fn(&i32) -> bool| keys.iter().filter(|y| of(y)).count() as u32;
                let [below, up_to] = [count(&|y| y < x), count(&|y| y <= x)];
                slots.each(&[cell(x)], &[*x], |_, rank| assert_eq!(rank, [below, up_to]));
                total.add(Found { below: below.into(), up_to: up_to.into() });
                ranks.push([below, up_to]);
            }
            let mut cells = cells(&asking);
            assert_eq!(slots.sum(&mut cells, &asking), total);
            assert_eq!(Sum { slots: &slots.0, cells: &cells, keys: &asking }.call(Plain), total);
            slots.each(&cells, &asking, |k, rank| assert_eq!(rank, ranks[k]));
            let f = |k: usize, rank| assert_eq!(rank, ranks[k]);
            Each { slots: &slots.0, cells: &cells, keys: &asking, f }.call(Plain);
        }
    }
}
