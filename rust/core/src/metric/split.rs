//! Keys of few samples, the classes apart, without a branch that depends on any of them.

use super::compare::Holds;
use super::counts::{PairCounts, Wanted};
use super::keyed::{Buckets, CHUNK, Ends, at_end};
use super::labels::{Labels, TILE};
use super::scatter::Stage;
use super::score::{KeyOf, Narrow, Score};
use super::worker::Worker;
use crate::order::fast;
use crate::{Ctx, Result};

/// The keys of all samples by class.
pub(super) struct Split<'a, S: Score> {
    labels: &'a Labels<'a>,
    scores: &'a [S],
    buckets: Buckets,
    /// The positives, then the negatives.
    keys: &'a [S::Key],
    ends: Ends<S, S::Key>,
    /// What of the keys was free, from where to where, before each tile of samples, and at the end.
    free: Vec<(usize, usize)>,
}

impl<'a, S: Score> Split<'a, S> {
    /// Writes the keys to `keys`; `None` if a score is not finite.
    pub(super) fn new(
        labels: &'a Labels<'a>,
        scores: &'a [S],
        buckets: Buckets,
        stage: &mut Stage<S::Key>,
        keys: &'a mut [S::Key],
        ctx: &Ctx<'_>,
    ) -> Result<Option<Self>> {
        let mut free = vec![(0, scores.len())];
        let (mut positive, mut ends) = ([false; TILE], vec![]);
        for (chunk, from) in scores.chunks(CHUNK).zip((0..).step_by(CHUNK)) {
            ctx.check()?;
            let (ids, own) = (&mut stage.ids[..chunk.len()], &mut stage.keys[..chunk.len()]);
            if !buckets.classify(labels, from, chunk, (&mut *ids, &mut *own), &mut ends) {
                return Ok(None);
            }
            for (tile, from) in own.chunks(TILE).zip((from..).step_by(TILE)) {
                let positive = &mut positive[..tile.len()];
                labels.fill(from, positive);
                let (start, end) = free.last().copied().unwrap_or_default();
                let parted = part(tile, positive, &mut keys[start..end]);
                free.push((start + parted, end - (tile.len() - parted)));
            }
        }
        Ok(Some(Self { labels, scores, buckets, keys, ends, free }))
    }

    /// The keys of the positives, or of the negatives.
    fn class(&self, class: usize) -> &'a [S::Key] {
        let (positives, negatives) = self.keys.split_at(self.labels.n_pos());
        if class == 0 { positives } else { negatives }
    }

    /// Counts all pairs; `None` if the keys of many tie, but not their scores for certain.
    pub(super) fn count(&self, worker: &mut Worker<S::Key>, wanted: Wanted) -> Option<PairCounts> {
        let classes = [0, 1].map(|class| vec![self.class(class)]);
        if S::Key::EXACT {
            return Some(worker.count(&classes, wanted));
        }
        worker.count_keys(&classes, wanted, |class, key| Some(self.scores(class, key)))
    }

    /// The scores of a class that have some key.
    fn scores(&self, class: usize, key: S::Key) -> Vec<S> {
        // With one bucket the id is the class.
        let mut found = at_end(&self.ends, class as u16, key);
        if !found.is_empty() {
            return found;
        }
        for (tile, ends) in self.free.windows(2).enumerate() {
            let of_tile = if class == 0 { ends[0].0..ends[1].0 } else { ends[1].1..ends[0].1 };
            if !fast(Holds(&self.keys[of_tile], key)) {
                continue;
            }
            let from = tile * TILE;
            let scores = &self.scores[from..usize::min(from + TILE, self.scores.len())];
            self.buckets.look(self.labels, from, scores, |score, id, its: S::Key| {
                if its == key && usize::from(id) == class {
                    found.push(score);
                }
            });
        }
        found
    }
}

/// Copies the keys of positives to the front of `to`, those of negatives to its end; the number of the former.
fn part<K: Narrow>(keys: &[K], positive: &[bool], to: &mut [K]) -> usize {
    let free = (0, to.len());
    let to_do = Part { keys, positive, to };
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return simd.vectorize(ByEight { simd, part: to_do });
    }
    to_do.one_by_one(0, free)
}

struct Part<'a, K> {
    keys: &'a [K],
    positive: &'a [bool],
    to: &'a mut [K],
}

impl<K: Narrow> Part<'_, K> {
    /// Copies the keys from the `done`-th on, given what is free.
    #[inline(always)]
    fn one_by_one(self, done: usize, (mut start, mut end): (usize, usize)) -> usize {
        let Self { keys, positive, to } = self;
        for (&key, &positive) in keys[done..].iter().zip(&positive[done..]) {
            // Written to both ends, over the last there: no branch to mispredict.
            to[start] = key;
            to[end.wrapping_sub(1)] = key;
            start = start.wrapping_add(usize::from(positive));
            end = end.wrapping_sub(usize::from(!positive));
        }
        start
    }
}

/// Eight keys at a time, put in order by a permutation and copied to both ends.
#[cfg(target_arch = "x86_64")]
struct ByEight<'a, K> {
    simd: pulp::x86::V3,
    part: Part<'a, K>,
}

#[cfg(target_arch = "x86_64")]
impl<K: Narrow> pulp::NullaryFnOnce for ByEight<'_, K> {
    type Output = usize;

    #[inline(always)]
    fn call(self) -> usize {
        let Self { simd, part: Part { keys, positive, to } } = self;
        let (mut start, mut end, mut done) = (0usize, to.len(), 0usize);
        for (eight, positive) in keys.as_chunks::<8>().0.iter().zip(positive.as_chunks::<8>().0) {
            // The copies must not meet, for each holds keys that belong to the other.
            let Some(free) = to.get_mut(start..end).filter(|free| free.len() >= 16) else { break };
            // One bit of each byte.
            let first = u64::from_le_bytes(positive.map(u8::from)).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            let eight = K::arrange(simd, *eight, first as usize);
            free.first_chunk_mut().into_iter().for_each(|free| *free = eight);
            free.last_chunk_mut().into_iter().for_each(|free| *free = eight);
            let n_first = first.count_ones() as usize;
            start = start.wrapping_add(n_first);
            end = end.wrapping_sub(8).wrapping_add(n_first);
            done = done.wrapping_add(8);
        }
        Part { keys, positive, to }.one_by_one(done, (start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    #[test]
    fn classes_are_those_of_a_filter() {
        let mut next = uniform(2);
        for (n, levels) in [(2, 9.0), (40, 9.0), (5000, 1e9), (70_001, 900.0)] {
            let labels: Vec<bool> = (0..n).map(|i| if i < 2 { i == 0 } else { next() < 0.3 }).collect();
            let scores: Vec<f64> = (0..n).map(|_| (levels * next()).floor()).collect();
            let labels_of = Labels::new(&labels).unwrap();
            let (mut stage, mut keys) = (Stage::default(), vec![0; n]);
            let buckets = Buckets::fit::<f64, i32>(&scores, 1);
            let split = Split::new(&labels_of, &scores, buckets, &mut stage, &mut keys, &Ctx::serial());
            let split = split.unwrap().unwrap();
            for (class, positive) in [true, false].into_iter().enumerate() {
                let own = || (0..n).filter(|&i| labels[i] == positive).map(|i| scores[i]);
                let key_of = |x: f64| {
                    let mut key = [0i32];
                    split.buckets.classify(&labels_of, 0, &[x], (&mut [0], &mut key), &mut vec![]);
                    key[0]
                };
                let mut expected: Vec<i32> = own().map(key_of).collect();
                let mut found = split.class(class).to_vec();
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected, "{n}");
                let key = expected[expected.len() / 2];
                let of_key: Vec<f64> = own().filter(|&x| key_of(x) == key).collect();
                assert_eq!(split.scores(class, key), of_key);
            }
        }
    }
}
