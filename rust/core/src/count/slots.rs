//! Ranks among the keys of one class: the keys of a cell are half a cache line and are compared at once.

use crate::count::rank_sums::Found;
use crate::data::float::Key;
use crate::simd::{ByEight, Eight, by_eight};

/// Keys in a slot; the last lane holds none.
const LAST: usize = 7;
/// So many cells fit the first-level cache,
const CACHED: usize = 1 << 9;
/// and so many can a linear map distinguish.
const MOST: usize = 1 << 20;
/// While slots are filled, the last lane holds the number of keys, plus this times the slot where the cell continues.
const FULL: u32 = LAST as u32 + 1;
/// The most slots of a cell: larger cells are searched.
const CHAIN: usize = 8;
/// Marks a slot that continues in the slot given by the lower bits,
const LINK: u32 = 1 << 31;
/// and the slot of a crowded cell, whose number they are.
const CROWDED: u32 = LINK | 1 << 30;

/// The best number of cells for evenly spread keys.
pub(crate) fn n_cells(n_keys: usize) -> u32 {
    usize::max(3 * n_keys / 5, usize::min(n_keys, CACHED)).clamp(1, MOST) as u32
}

/// Keys of a cell, then infinity. The bits of the last lane are the number of keys in the cells below, unless the cell
/// continues in another slot or is crowded.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Slot<K>([K; LAST + 1]);

impl<K: Key> Slot<K> {
    /// An empty slot with the bits of its last lane.
    fn new(last: u32) -> Self {
        let mut slot = Self([K::INFINITY; LAST + 1]);
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

/// A crowded cell: the number of keys in the cells below, and where its own begin and end.
#[derive(Debug)]
struct Crowd {
    below: u32,
    from: usize,
    to: usize,
}

/// The keys of a class by cell: a slot for each cell, then the slots in which cells continue; the keys of crowded cells
/// apart, ascending.
#[derive(Debug, Default)]
pub(crate) struct Slots<K> {
    slots: Vec<Slot<K>>,
    crowds: Vec<Crowd>,
    crowded: Vec<K>,
}

impl<K: Key> Slots<K> {
    /// Fills in the keys with their cells. O(number of keys), but for crowded cells, which are sorted.
    pub(crate) fn fill(&mut self, n_cells: usize, cells: &[u32], keys: &[K]) {
        self.slots.clear();
        self.crowds.clear();
        self.crowded.clear();
        self.slots.resize(n_cells, Slot::new(0));
        let (slots, mut more) = (&mut self.slots[..], Vec::<Slot<K>>::new());
        for (&cell, &key) in cells.iter().zip(keys) {
            let slot = &mut slots[cell as usize];
            let last = slot.last();
            if let Some(place) = slot.0[..LAST].get_mut((last % FULL) as usize) {
                *place = key;
                slot.set(last.wrapping_add(1));
            } else {
                // The full slot moves away with its continuation.
                let full = std::mem::replace(slot, Slot::new(1 + FULL * (n_cells + more.len()) as u32));
                slot.0[0] = key;
                more.push(full);
            }
        }
        let mut below = 0u32;
        for head in slots {
            let last = head.last();
            head.set(below);
            below = below.wrapping_add(last % FULL);
            if last >= FULL {
                below += chain(head, last, (&mut more, n_cells), (&mut self.crowds, &mut self.crowded));
            }
        }
        self.slots.extend_from_slice(&more);
    }

    /// The sums over the look-ups of some keys with their cells.
    pub(crate) fn sum(&self, cells: &[u32], keys: &[K]) -> Found {
        let mut found = by_eight(Sum { slots: &self.slots, cells, keys });
        if !self.crowds.is_empty() {
            found.add(self.sum_of_crowded(cells, keys));
        }
        found
    }

    /// The part of the sums from crowded cells.
    fn sum_of_crowded(&self, cells: &[u32], keys: &[K]) -> Found {
        let (mut found, last) = (Found::default(), cells.iter().map(|&cell| self.slots[cell as usize].last()));
        for (last, &key) in last.zip(keys).filter(|(last, _)| *last >= CROWDED) {
            let [below, up_to] = self.rank_in(last, key).map(u128::from);
            found.add(Found { below, up_to });
        }
        found
    }

    /// Calls `f` with the place of each key and its rank: how many are below, and how many below or equal.
    #[inline]
    pub(crate) fn each(&self, cells: &[u32], keys: &[K], f: impl FnMut(usize, [u32; 2])) {
        by_eight(Each { slots: self, cells, keys, f });
    }

    /// The rank of a key in a crowded cell.
    #[inline(never)]
    fn rank_in(&self, last: u32, x: K) -> [u32; 2] {
        let Crowd { below: start, from, to } = self.crowds[(last ^ CROWDED) as usize];
        let cell = &self.crowded[from..to];
        // Two comparisons for a cell of equal keys.
        let below = if cell[0] >= x { 0 } else { cell.partition_point(|&y| y < x) };
        let up_to = if cell[cell.len() - 1] <= x { cell.len() } else { cell.partition_point(|&y| y <= x) };
        [start + below as u32, start + up_to as u32]
    }
}

/// Links a cell with first slot `head`, whose last lane was `last`, to its slots in `more`, whose places come after
/// `n_cells`, or makes it a crowd if they are many. Returns the number of keys in those slots.
fn chain<K: Key>(
    head: &mut Slot<K>,
    last: u32,
    (more, n_cells): (&mut [Slot<K>], usize),
    (crowds, crowded): (&mut Vec<Crowd>, &mut Vec<K>),
) -> u32 {
    let (below, from) = (head.last(), crowded.len());
    crowded.extend_from_slice(&head.0[..(last % FULL) as usize]);
    let (mut slot, mut next, mut n_keys) = (&mut *head, last / FULL, 0);
    while next > 0 {
        slot.set(LINK | next);
        slot = &mut more[next as usize - n_cells];
        next = slot.last() / FULL;
        slot.set(below);
        crowded.extend_from_slice(&slot.0[..LAST]);
        n_keys += LAST;
    }
    if n_keys < CHAIN * LAST {
        crowded.truncate(from);
    } else {
        crowded[from..].sort_unstable_by(K::order);
        *head = Slot::new(CROWDED | crowds.len() as u32);
        crowds.push(Crowd { below, from, to: crowded.len() });
    }
    n_keys as u32
}

/// The sums over the look-ups, without crowded cells.
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
                let masks = K::compare(by, slot.0, key);
                below = by.count(below, masks[0]);
                equal = by.count(equal, masks[1]);
                let last = slot.last();
                if last < LINK {
                    starts = starts.wrapping_add(last.into());
                    break;
                }
                if last >= CROWDED {
                    break;
                }
                slot = &slots[(last ^ LINK) as usize];
            }
        }
        let below = u128::from(starts + by.sum(below));
        Found { below, up_to: below + u128::from(by.sum(equal)) }
    }
}

/// See [`Slots::each`].
struct Each<'a, K, F> {
    slots: &'a Slots<K>,
    cells: &'a [u32],
    keys: &'a [K],
    f: F,
}

impl<K: Key, F: FnMut(usize, [u32; 2])> ByEight for Each<'_, K, F> {
    type Output = ();

    #[inline(always)]
    fn call<E: Eight>(self, by: E) {
        let Self { slots, cells, keys, mut f } = self;
        // By index, since an enumeration checks for overflow.
        for k in 0..usize::min(cells.len(), keys.len()) {
            let mut slot = &slots.slots[cells[k] as usize];
            let mut found = K::compare(by, slot.0, keys[k]).map(|mask| by.total(mask));
            while slot.last() >= LINK && slot.last() < CROWDED {
                slot = &slots.slots[(slot.last() ^ LINK) as usize];
                let more = K::compare(by, slot.0, keys[k]).map(|mask| by.total(mask));
                found = [found[0].wrapping_add(more[0]), found[1].wrapping_add(more[1])];
            }
            let below = found[0].wrapping_add(slot.last());
            f(k, if below < LINK { [below, below.wrapping_add(found[1])] } else { slots.rank_in(below, keys[k]) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Plain;
    use crate::testing::uniform;

    /// Checks ranks of keys drawn from `-levels / 2 .. levels / 2`.
    fn check<K: Key>(n: usize, n_cells: u32, levels: f64, mut draw: impl FnMut() -> K) {
        let (own, asking): (Vec<K>, Vec<K>) = ((0..n).map(|_| draw()).collect(), (0..2 * n).map(|_| draw()).collect());
        let cell = |&x: &K| ((x.into() / levels + 0.5) * f64::from(n_cells)) as u32;
        let cells = |keys: &[K]| keys.iter().map(|x| u32::min(cell(x), n_cells - 1)).collect::<Vec<_>>();
        let mut slots = Slots::default();
        slots.fill(n_cells as usize, &cells(&own), &own);
        let count = |of: &dyn Fn(K) -> bool| own.iter().filter(|y| of(**y)).count() as u32;
        let ranks: Vec<[u32; 2]> = asking.iter().map(|&x| [count(&|y| y < x), count(&|y| y <= x)]).collect();
        let sum = |end: usize| ranks.iter().map(|rank| u128::from(rank[end])).sum();
        let (total, cells) = (Found { below: sum(0), up_to: sum(1) }, cells(&asking));
        assert_eq!(slots.sum(&cells, &asking), total);
        let mut plain = Sum { slots: &slots.slots, cells: &cells, keys: &asking }.call(Plain);
        plain.add(slots.sum_of_crowded(&cells, &asking));
        assert_eq!(plain, total);
        slots.each(&cells, &asking, |k, rank| assert_eq!(rank, ranks[k]));
        let f = |k: usize, rank| assert_eq!(rank, ranks[k]);
        Each { slots: &slots, cells: &cells, keys: &asking, f }.call(Plain);
    }

    #[test]
    fn ranks_are_those_of_a_plain_count() {
        let mut next = uniform(4);
        for (n, n_cells, levels) in [
            (1, 1, 9.0),
            (60, 1, 1e9),
            (500, 300, 1e9),
            (500, 300, 90.0),
            (900, 40, 1e6),
            (900, 90, 30.0),
            (900, 3, 200.0),
        ] {
            let mut draw = || (next() - 0.5) * levels;
            check(n, n_cells, levels, || draw().round());
            check(n, n_cells, levels, || draw() as f32);
            check(n, n_cells, levels, || draw() as i32);
        }
    }

    #[test]
    fn cells_are_some_fewer_than_keys_within_limits() {
        assert_eq!([0, 1, 300, CACHED, 800, 1000, 5 << 20].map(n_cells), [1, 1, 300, 512, 512, 600, 1 << 20]);
    }

    #[test]
    fn a_cell_that_needs_more_than_the_most_slots_is_searched() {
        for (n, crowds) in [(1, 0), (CHAIN * LAST, 0), (CHAIN * LAST + 1, 1), (900, 1)] {
            let keys: Vec<i32> = (0..n as i32).collect();
            let mut slots = Slots::default();
            slots.fill(3, &vec![1; n], &keys);
            let held = slots.crowds.first().map_or(0, |crowd| crowd.to - crowd.from);
            assert_eq!((slots.crowds.len(), held), (crowds, crowds * n));
        }
    }
}
