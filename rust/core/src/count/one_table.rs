//! The pairs of so many samples that one table is enough: keys by cell, without a branch that depends on a key.

use crate::count::keys::{Buckets, DENSE};
use crate::count::monotone::larger;
use crate::count::rank_sums::{Found, Ranks};
use crate::count::slots::Slots;
use crate::count::sums::{PairCounts, Wanted};
use crate::data::float::{Key, Score};
use crate::data::labels::{Labels, TILE};
use crate::order::chunk::grown;
use crate::simd::fast;
use crate::simd::{ByEight, Eight, by_eight};
use crate::{Ctx, Result};

/// Keys in the cell of a key, as a root mean square: if they would be more, there are more cells,
const CROWD: f64 = 3.5;
/// but at most so many times more.
const MOST: f64 = 4.0;

/// Memory kept from call to call.
#[derive(Debug, Default)]
pub(crate) struct Memory<K> {
    slots: Slots<K>,
    cells: Vec<u32>,
    keys: Vec<K>,
    ranks: Ranks,
}

/// The pairs of all samples, unless keys tie or a score is not finite. `sample` is an ascending sample of the scores.
pub(crate) fn count<S: Score>(
    labels: &Labels<'_>,
    (scores, sample): (&[S], &[f64]),
    wanted: Wanted,
    memory: &mut Memory<S::Key>,
    ctx: &Ctx<'_>,
) -> Result<Option<PairCounts>> {
    let sizes = [labels.n_pos(), labels.n_neg()];
    let asking = larger(sizes);
    let Some(buckets) = fit(scores, sample, sizes[1 - asking]) else { return Ok(None) };
    let Memory { slots, cells, keys, ranks } = memory;
    let room = (grown(cells, scores.len()), grown(keys, scores.len()));
    let Some(ends) = part(labels, scores, &buckets, (&mut *room.0, &mut *room.1), ctx)? else { return Ok(None) };
    let (cells, keys) = (room.0.split_at_mut(sizes[0]), room.1.split_at(sizes[0]));
    let mut classes = [(cells.0, keys.0), (cells.1, keys.1)];
    classes.rotate_left(asking);
    let [(cells, keys), (own_cells, own_keys)] = classes;
    slots.fill(buckets.len, own_cells, own_keys);
    let (mut found, mut tie) = (Found::default(), false);
    ranks.clear(if wanted == Wanted::Squares { own_keys.len() } else { 0 });
    let mut counter = ranks.counter();
    for (cells, keys) in cells.chunks(TILE).zip(keys.chunks(TILE)) {
        ctx.check()?;
        match wanted {
            Wanted::Pairs => found.add(slots.sum(cells, keys)),
            Wanted::Squares if S::EXACT => slots.each(cells, keys, |_, rank| counter.count(rank)),
            Wanted::Squares => slots.each(cells, keys, |k, rank| {
                if rank[0] == rank[1] {
                    counter.count_untied(rank[0]);
                } else {
                    tie |= !S::outermost(keys[k]);
                }
            }),
        }
    }
    // Tied keys are those of scores beyond the ends of the map, or stand for scores that may differ.
    let (mut apart, mut n_tied) = (Found::default(), 0);
    for (cell, key, [asks, own]) in grouped(ends, asking) {
        let mut start = 0;
        if wanted == Wanted::Squares {
            slots.each(&[cell], &[key], |_, [below, _]| start = below as usize);
        }
        for x in asks {
            let rank = [own.partition_point(|&y| y < x), own.partition_point(|&y| y <= x)];
            match wanted {
                Wanted::Pairs => apart.add(Found { below: rank[0] as u128, up_to: rank[1] as u128 }),
                Wanted::Squares => counter.count(rank.map(|rank| (start + rank) as u32)),
            }
            n_tied += own.len() as u128;
        }
    }
    let (found, squares) = match wanted {
        Wanted::Squares if tie => return Ok(None),
        Wanted::Squares => ranks.sums(),
        // Those beyond the ends were added as if all of them tied.
        Wanted::Pairs if S::EXACT || found.up_to - found.below == n_tied => {
            apart.add(Found { below: found.below, up_to: found.up_to - n_tied });
            (apart, [0; 2])
        }
        Wanted::Pairs => return Ok(None),
    };
    Ok(Some(PairCounts::of_found(asking, sizes, found, squares)))
}

/// About as many cells as keys, or more if these would crowd; `None` if they would tie often.
fn fit<S: Score>(scores: &[S], sample: &[f64], n_keys: usize) -> Option<Buckets> {
    let buckets = Buckets::fit::<S>(scores.len(), sample, n_keys);
    if buckets.shared > DENSE && !S::EXACT {
        return None;
    }
    let len = n_keys as f64 * (buckets.crowd * n_keys as f64 / scores.len() as f64 / CROWD).clamp(1.0, MOST);
    Some(Buckets { spread: buckets.spread.onto((len as u64) << S::BITS), len: len as usize, ..buckets })
}

/// A score in an outermost cell, which takes all beyond the ends of the map: the cell, the key, whether it is positive.
type End<S> = (u32, <S as Score>::Key, bool, S);

/// Parts the classes: writes the cells and the keys of the positives, then of the negatives. Returns the scores in
/// outermost cells, or `None` if a score is not finite.
fn part<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    buckets: &Buckets,
    (cells, keys): (&mut [u32], &mut [S::Key]),
    ctx: &Ctx<'_>,
) -> Result<Option<Vec<End<S>>>> {
    let (mut positive, mut own_cells, mut own_keys) = ([false; TILE], [0; TILE], [S::Key::default(); TILE]);
    let (mut room, mut ends, mut start, mut end) = ([0; TILE], vec![], 0, scores.len());
    for (scores, from) in scores.chunks(TILE).zip((0..).step_by(TILE)) {
        ctx.check()?;
        let n = scores.len();
        let (positive, own_cells, own_keys) = (&mut positive[..n], &mut own_cells[..n], &mut own_keys[..n]);
        if !buckets.classify(scores, &mut room[..n], (&mut *own_cells, &mut *own_keys)) {
            return Ok(None);
        }
        labels.fill(from, positive);
        if !S::EXACT {
            ends.extend(outermost::<S>(own_keys).map(|k| (own_cells[k], own_keys[k], positive[k], scores[k])));
        }
        let to = (&mut cells[start..end], &mut keys[start..end]);
        let (n_pos, done) = by_eight(Part { from: (own_cells, own_keys), positive, to });
        (start, end) = (start + n_pos, end - (done - n_pos));
        // Those for which there is no room for eight at a time.
        for k in done..n {
            end -= usize::from(!positive[k]);
            let at = if positive[k] { start } else { end };
            (cells[at], keys[at]) = (own_cells[k], own_keys[k]);
            start += usize::from(positive[k]);
        }
    }
    Ok(Some(ends))
}

/// The scores that share an outermost cell and key, by class, ascending: those that look up, and those in the table.
fn grouped<S: Score>(mut ends: Vec<End<S>>, asking: usize) -> Vec<(u32, S::Key, [Vec<S>; 2])> {
    ends.sort_unstable_by(|x, y| x.0.cmp(&y.0).then(x.1.order(&y.1)).then(x.3.order(&y.3)));
    let groups = ends.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)).map(|group| {
        let of = |positive: bool| group.iter().filter(|end| end.2 == positive).map(|end| end.3).collect();
        let mut classes: [Vec<S>; 2] = [of(true), of(false)];
        classes.rotate_left(asking);
        (group[0].0, group[0].1, classes)
    });
    // Without any in the table they were counted rightly.
    groups.filter(|(_, _, [_, own])| !own.is_empty()).collect()
}

/// The places of keys of outermost cells: hardly any, so that many are checked together.
fn outermost<S: Score>(keys: &[S::Key]) -> impl Iterator<Item = usize> {
    const BLOCK: usize = 1 << 6;
    let blocks = keys.chunks(BLOCK).zip((0..).step_by(BLOCK)).filter(|(block, _)| any_outermost::<S>(block));
    blocks.flat_map(|(block, from)| (from..).zip(block).filter(|(_, key)| S::outermost(**key)).map(|(k, _)| k))
}

/// Whether any key may be that of an outermost cell.
fn any_outermost<S: Score>(keys: &[S::Key]) -> bool {
    fast!({ keys.iter().fold(false, |any, &key| any | S::outermost(key)) })
}

/// Copies the cells and the keys of positives to the front of `to` and those of negatives to its end. Eight at a time
/// are ordered by a permutation and copied to both ends, while these do not overlap. Returns how many were positives,
/// and how many were copied.
struct Part<'a, K> {
    from: (&'a [u32], &'a [K]),
    positive: &'a [bool],
    to: (&'a mut [u32], &'a mut [K]),
}

/// For every subset of eight lanes, its lanes and then the others.
static LANES: [[u32; 8]; 256] = {
    let mut lanes = [[0; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut k, mut first, mut last) = (0, 0, (set as u32).count_ones() as usize);
        while k < 8 {
            let to = if set >> k & 1 == 1 { &mut first } else { &mut last };
            lanes[set][*to] = k;
            *to += 1;
            k += 1;
        }
        set += 1;
    }
    lanes
};

/// Writes `eight` to both ends, unless they would overlap.
#[inline(always)]
fn put<T: Copy>(to: &mut [T], eight: [T; 8]) -> bool {
    if to.len() < 16 {
        return false;
    }
    to.first_chunk_mut().into_iter().for_each(|to| *to = eight);
    to.last_chunk_mut().into_iter().for_each(|to| *to = eight);
    true
}

impl<K: Key> ByEight for Part<'_, K> {
    type Output = (usize, usize);

    #[inline(always)]
    fn call<E: Eight>(self, by: E) -> (usize, usize) {
        let Self { from: (cells, keys), positive, to: (to_cells, to_keys) } = self;
        let (mut start, mut end, mut done) = (0usize, to_keys.len(), 0usize);
        let eights = cells.as_chunks::<8>().0.iter().zip(keys.as_chunks::<8>().0);
        for ((cells, keys), positive) in eights.zip(positive.as_chunks::<8>().0) {
            // One bit of each byte.
            let first = u64::from_le_bytes(positive.map(u8::from)).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            let lanes = LANES[first as usize & 255];
            let (cells, keys) = (by.arrange(*cells, lanes), by.arrange(keys.map(K::bits), lanes).map(K::of_bits));
            if !put(&mut to_cells[start..end], cells) || !put(&mut to_keys[start..end], keys) {
                break;
            }
            let n_first = first.count_ones() as usize;
            start = start.wrapping_add(n_first);
            end = end.wrapping_sub(8).wrapping_add(n_first);
            done = done.wrapping_add(8);
        }
        (start, done)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/count_one_table.rs"]
mod tests;
