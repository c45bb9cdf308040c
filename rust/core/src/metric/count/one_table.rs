//! Few samples: the keys of each class by cell of one table, without a branch that depends on any of them.

use super::bucket::count_tied;
use super::keys::{Buckets, End, Tile};
use super::lanes::Holds;
use super::rank_sums::{Found, Ranks};
use super::slots::Slots;
use super::sums::{PairCounts, Wanted, grown};
use crate::metric::labels::{Labels, TILE};
use crate::metric::score::{Key, KeyOf, Narrow, Score};
use crate::metric::simd::{ByEight, Eight, by_eight};
use crate::order::fast;
use crate::{Ctx, Result, alloc};

/// Keys in the cell of a key, as the root of the mean square: where they would be more, more cells are made,
const CROWD: f64 = 3.5;
/// but so many times more at most; and so many where keys are few, than which other ways would take longer.
const MORE: [f64; 2] = [2.0, 4.0];
const FEW_KEYS: usize = 1 << 12;
/// Keys that tie, of so many samples one at most.
const TIED: usize = 64;
/// So few keys are looked for one by one.
const FEW: usize = 16;

/// Memory kept from call to call.
#[derive(Debug, Default)]
pub(crate) struct Memory<K> {
    slots: Slots<K>,
    cells: Vec<u32>,
    keys: Vec<K>,
    ranks: Ranks,
}

impl<K: Key> Memory<K> {
    /// Bytes that are held.
    pub(crate) fn bytes(&self) -> usize {
        (4 + size_of::<K>()) * self.keys.capacity() + self.slots.bytes() + 8 * self.ranks.counts.capacity()
    }
}

/// A key and its cell.
type Place<K> = (u32, K);

/// The pairs of all samples, unless their keys crowd or tie often or a score is not finite. `sample` is one of the scores, ascending.
pub(crate) fn count<S: Score>(
    labels: &Labels<'_>,
    (scores, sample): (&[S], &[f64]),
    wanted: Wanted,
    memory: &mut Memory<S::Key>,
    ctx: &Ctx<'_>,
) -> Result<Option<PairCounts>> {
    let sizes = [labels.n_pos(), labels.n_neg()];
    let asking = usize::from(sizes[0] < sizes[1]);
    let n_own = sizes[1 - asking];
    let Some(buckets) = fit(scores, sample, n_own) else { return Ok(None) };
    let n_cells = buckets.len;
    let Memory { slots, cells, keys, ranks } = memory;
    let room = (grown(cells, scores.len()), grown(keys, scores.len()));
    let Some(split) = Split::new(labels, scores, buckets, room, ctx)? else { return Ok(None) };
    let (cells, keys) = split.class(1 - asking);
    if !slots.fill(n_cells, cells, keys) {
        return Ok(None);
    }
    let (mut found, mut open) = (Found::default(), vec![]);
    let (cells, keys) = split.class(asking);
    for tile in cells.chunks(TILE).zip(keys.chunks(TILE)) {
        ctx.check()?;
        let mut more = Found::default();
        if wanted == Wanted::Pairs {
            more = slots.sum(tile.0, tile.1);
            found.add(more);
        }
        if wanted == Wanted::Squares || (!S::Key::EXACT && more.below < more.up_to) {
            open.push(tile);
        }
    }
    // What ties lies further out than the map goes, if it is no more than that.
    let mut places: Vec<Place<S::Key>> = alloc::collected(split.ends.iter().map(|end| (end.id, end.key)));
    let mut tied = split.members(&mut places);
    let n_tied: u128 = tied.iter().map(|[pos, neg]| pos.len() as u128 * neg.len() as u128).sum();
    if wanted == Wanted::Squares || found.up_to - found.below > n_tied {
        ranks.clear(if wanted == Wanted::Squares { n_own } else { 0 });
        places.clear();
        for (cells, keys) in open {
            ctx.check()?;
            let mut tie = |k: usize| places.push((cells[k], keys[k]));
            match wanted {
                Wanted::Squares => slots.count(cells, keys, ranks, (!S::Key::EXACT).then_some(tie)),
                Wanted::Pairs => slots.each_tied(cells, keys, |k, _| tie(k)),
            }
            if places.len() > split.ends.len() + scores.len() / TIED {
                return Ok(None);
            }
        }
        tied = split.members(&mut places);
    }
    for (&(cell, key), mut tied) in places.iter().zip(tied) {
        tied.rotate_left(1 - asking);
        let mut start = 0;
        match wanted {
            // They have been added as if all of them tied.
            Wanted::Pairs => found.up_to -= (tied[0].len() * tied[1].len()) as u128,
            Wanted::Squares => start = slots.rank_of(cell, key)[0],
        }
        count_tied(start, tied, wanted, &mut found, ranks);
    }
    let (found, squares) = if wanted == Wanted::Squares { ranks.sums() } else { (found, [0; 2]) };
    Ok(Some(PairCounts::of_found(asking, sizes, found, squares)))
}

/// About as many cells as there are keys, unless these would crowd or tie often.
fn fit<S: Score>(scores: &[S], sample: &[f64], n_keys: usize) -> Option<Buckets> {
    let buckets = Buckets::fit::<S, S::Key>(scores.len(), sample, n_keys);
    let more = buckets.crowd * n_keys as f64 / scores.len() as f64 / CROWD;
    if more > MORE[usize::from(n_keys <= FEW_KEYS)] || (buckets.dense && !S::Key::EXACT) {
        return None;
    }
    if more <= 1.0 {
        return Some(buckets);
    }
    let len = (n_keys as f64 * more) as usize;
    Some(Buckets { spread: buckets.spread.onto((len as u64) << S::Key::BITS), len, ..buckets })
}

/// The samples by class.
struct Split<'a, S: Score> {
    labels: &'a Labels<'a>,
    scores: &'a [S],
    buckets: Buckets,
    /// Of the positives, then of the negatives.
    cells: &'a [u32],
    keys: &'a [S::Key],
    ends: Vec<End<S, S::Key, u32>>,
    /// From where to where there was room before each tile of samples, and at the end.
    free: Vec<(usize, usize)>,
}

impl<'a, S: Score> Split<'a, S> {
    /// Parts the classes; `None` if a score is not finite.
    fn new(
        labels: &'a Labels<'a>,
        scores: &'a [S],
        buckets: Buckets,
        (cells, keys): (&'a mut [u32], &'a mut [S::Key]),
        ctx: &Ctx<'_>,
    ) -> Result<Option<Self>> {
        let (mut positive, mut own_cells, mut own_keys) = ([false; TILE], [0; TILE], [S::Key::default(); TILE]);
        let (mut tile, mut ends, mut free) = (Tile::default(), vec![], vec![(0, scores.len())]);
        for (scores, from) in scores.chunks(TILE).zip((0..).step_by(TILE)) {
            ctx.check()?;
            let (own_cells, own_keys) = (&mut own_cells[..scores.len()], &mut own_keys[..scores.len()]);
            if !buckets.classify(labels, from, scores, (&mut *own_cells, &mut *own_keys), (&mut tile, &mut ends)) {
                return Ok(None);
            }
            let positive = &mut positive[..scores.len()];
            labels.fill(from, positive);
            let (start, end) = free.last().copied().unwrap_or_default();
            let (cells, keys) = (&mut cells[start..end], &mut keys[start..end]);
            let n_pos = by_eight(Part { from: (own_cells, own_keys), positive, to: (cells, keys) });
            free.push((start + n_pos, end - (scores.len() - n_pos)));
        }
        Ok(Some(Self { labels, scores, buckets, cells, keys, ends, free }))
    }

    /// The cells and the keys of the positives, or of the negatives.
    fn class(&self, class: usize) -> (&'a [u32], &'a [S::Key]) {
        let (cells, keys) = (self.cells.split_at(self.labels.n_pos()), self.keys.split_at(self.labels.n_pos()));
        if class == 0 { (cells.0, keys.0) } else { (cells.1, keys.1) }
    }

    /// The scores of each class, the positives first, that have each of some keys; these are put in order, each once.
    fn members(&self, places: &mut Vec<Place<S::Key>>) -> Vec<[Vec<S>; 2]> {
        let order = |x: &Place<S::Key>, y: &Place<S::Key>| x.0.cmp(&y.0).then(x.1.order(&y.1));
        places.sort_unstable_by(order);
        places.dedup();
        let mut found = alloc::filled([vec![], vec![]], places.len());
        let mut add = |place: Place<S::Key>, sample: usize| {
            if let Ok(at) = places.binary_search_by(|other| order(other, &place)) {
                found[at][usize::from(!self.labels.is_positive(sample))].push(self.scores[sample]);
            }
        };
        self.ends.iter().for_each(|end| add((end.id, end.key), end.sample));
        let inside: Vec<&Place<S::Key>> = places.iter().filter(|(_, key)| !key.outermost()).collect();
        if inside.is_empty() {
            return found;
        }
        let mut marked = alloc::filled(false, self.buckets.len);
        inside.iter().for_each(|(cell, _)| marked[*cell as usize] = true);
        let (mut cells, mut keys, mut tile) = ([0; TILE], [S::Key::default(); TILE], Tile::default());
        let tiles = self.scores.chunks(TILE).zip(self.free.windows(2)).zip((0..).step_by(TILE));
        for ((scores, free), from) in tiles {
            let parts = [free[0].0..free[1].0, free[1].1..free[0].1];
            let holds = |key| parts.iter().any(|part| fast(Holds(&self.keys[part.clone()], key)));
            if inside.len() <= FEW && !inside.iter().any(|(_, key)| holds(*key)) {
                continue;
            }
            let (cells, keys) = (&mut cells[..scores.len()], &mut keys[..scores.len()]);
            self.buckets.classify(self.labels, from, scores, (&mut *cells, &mut *keys), (&mut tile, &mut vec![]));
            for k in (0..scores.len()).filter(|&k| marked[cells[k] as usize] && !keys[k].outermost()) {
                add((cells[k], keys[k]), from + k);
            }
        }
        found
    }
}

/// Copies the cells and the keys of positives to the front of `to`, those of negatives to its end; the number of the
/// former. Eight at a time are put in order by a permutation and copied to both ends.
struct Part<'a, K> {
    from: (&'a [u32], &'a [K]),
    positive: &'a [bool],
    to: (&'a mut [u32], &'a mut [K]),
}

/// The first and the last eight of some, which must not meet, are these.
#[inline(always)]
fn put<T: Copy>(to: &mut [T], eight: [T; 8]) -> bool {
    if to.len() < 16 {
        return false;
    }
    to.first_chunk_mut().into_iter().for_each(|to| *to = eight);
    to.last_chunk_mut().into_iter().for_each(|to| *to = eight);
    true
}

impl<K: Narrow> ByEight for Part<'_, K> {
    type Output = usize;

    #[inline(always)]
    fn call<E: Eight>(self, by: E) -> usize {
        let Self { from: (cells, keys), positive, to: (to_cells, to_keys) } = self;
        let (mut start, mut end, mut done) = (0usize, to_keys.len(), 0usize);
        let eights = cells.as_chunks::<8>().0.iter().zip(keys.as_chunks::<8>().0);
        for ((cells, keys), positive) in eights.zip(positive.as_chunks::<8>().0) {
            // One bit of each byte.
            let first = u64::from_le_bytes(positive.map(u8::from)).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            let cells = u32::arrange(by, *cells, first as usize);
            let keys = K::arrange(by, *keys, first as usize);
            // The copies must not meet, for each holds what belongs to the other.
            if !put(&mut to_cells[start..end], cells) || !put(&mut to_keys[start..end], keys) {
                break;
            }
            let n_first = first.count_ones() as usize;
            start = start.wrapping_add(n_first);
            end = end.wrapping_sub(8).wrapping_add(n_first);
            done = done.wrapping_add(8);
        }
        for ((&cell, &key), &positive) in cells[done..].iter().zip(&keys[done..]).zip(&positive[done..]) {
            // Written to both ends, over the last there: no branch to mispredict.
            for at in [start, end.wrapping_sub(1)] {
                (to_cells[at], to_keys[at]) = (cell, key);
            }
            start = start.wrapping_add(usize::from(positive));
            end = end.wrapping_sub(usize::from(!positive));
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::sample;
    use super::*;
    use crate::testing::uniform;

    #[test]
    fn classes_are_those_of_a_filter() {
        let mut next = uniform(2);
        for (n, levels) in [(2, 9.0), (40, 9.0), (5000, 1e9), (70_001, 900.0)] {
            let labels: Vec<bool> = (0..n).map(|i| if i < 2 { i == 0 } else { next() < 0.3 }).collect();
            let scores: Vec<f64> = (0..n).map(|_| (levels * next()).floor()).collect();
            let classes = Labels::new(&labels).unwrap();
            let buckets = Buckets::fit::<f64, i32>(n, &sample(&scores), 100);
            let room = (&mut vec![0; n][..], &mut vec![0; n][..]);
            let split = Split::new(&classes, &scores, buckets, room, &Ctx::serial()).unwrap().unwrap();
            let place = |x: f64| {
                let (mut cell, mut key) = ([0u32], [0i32]);
                let room = (&mut cell[..], &mut key[..]);
                assert!(split.buckets.classify(&classes, 0, &[x], room, (&mut Tile::default(), &mut vec![])));
                (cell[0], key[0])
            };
            for (class, positive) in [true, false].into_iter().enumerate() {
                let own = || (0..n).filter(|&i| labels[i] == positive).map(|i| scores[i]);
                let (cells, keys) = split.class(class);
                let mut expected: Vec<Place<i32>> = own().map(place).collect();
                let mut found: Vec<Place<i32>> = cells.iter().copied().zip(keys.iter().copied()).collect();
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected, "{n}");
                for n_places in [1, 2 * FEW] {
                    let mut places: Vec<Place<i32>> = expected.iter().copied().step_by(n / n_places + 1).collect();
                    for (tied, of) in split.members(&mut places).iter().zip(&places) {
                        assert_eq!(tied[class], own().filter(|&x| place(x) == *of).collect::<Vec<f64>>());
                    }
                }
            }
        }
    }
}
