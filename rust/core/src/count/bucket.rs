//! The pairs of one bucket, by keys or by the scores themselves.

use crate::count::cells::Spread;
use crate::count::keys::Chunk;
use crate::count::monotone::{Classes, Monotone, larger, sizes};
use crate::count::rank_sums::{Found, Ranks};
use crate::count::shared;
use crate::count::shared::Samples;
use crate::count::slots;
use crate::count::slots::Slots;
use crate::count::split::Split;
use crate::count::sums::{PairCounts, Wanted};
use crate::data::float::{Key, Line, Score};
use crate::data::labels::TILE;
use crate::order::chunk::grown;

/// Work on a bucket.
pub(crate) trait Work {
    type Output;
    /// The result for its positives and negatives, each in parts; and whether any pair ties.
    fn of<K: Key, M: Monotone<K>>(
        &mut self,
        worker: &mut Worker<K, M>,
        classes: &Classes<'_, K>,
    ) -> (Self::Output, bool);

    /// Corrects a result by keys with the pairs that share a key, compared by score; whether it can.
    fn settle(&self, _: &mut Self::Output, _: impl FnOnce() -> Option<PairCounts>) -> bool {
        false
    }
}

/// Buffers of a thread that works on buckets.
#[derive(Debug, Default)]
pub(crate) struct Workers<S: Score> {
    pub(crate) keys: Worker<S::Key, Line<S::Key>>,
    pub(crate) scores: Worker<S, Spread>,
    /// The scores of either class.
    members: [Vec<S>; 2],
    samples: Samples<S>,
}

impl<S: Score> Workers<S> {
    /// Works on a bucket by keys, or by scores if keys of both classes tie or are expected to `tie`: if the scores of
    /// one bucket tie, those of the next are expected to.
    pub(crate) fn run<W: Work>(
        &mut self,
        chunks: &[Chunk<'_, S>],
        bucket: usize,
        tie: &mut bool,
        mut work: W,
    ) -> W::Output {
        if S::EXACT || !*tie {
            let classes = [0, 1].map(|class| chunks.iter().map(|chunk| chunk.keys(bucket, class)).collect());
            let (mut found, tied) = work.of(&mut self.keys, &classes);
            let of_shared = || shared::pairs(chunks, bucket, &mut self.keys.shared, &mut self.samples);
            if S::EXACT || !tied || work.settle(&mut found, of_shared) {
                return found;
            }
        }
        let found;
        (found, *tie) = self.by_score(work, |class, members| {
            for chunk in chunks {
                members.extend(chunk.scores(bucket, class));
            }
        });
        found
    }

    /// Works on scores, which `fill` appends for each class.
    pub(crate) fn by_score<W: Work>(&mut self, mut work: W, fill: impl Fn(usize, &mut Vec<S>)) -> (W::Output, bool) {
        for (class, members) in self.members.iter_mut().enumerate() {
            members.clear();
            fill(class, members);
        }
        work.of(&mut self.scores, &self.members.each_ref().map(|members| vec![&members[..]]))
    }
}

/// Ranks the keys of one class among those of the other.
#[derive(Debug, Default)]
pub(crate) struct Worker<S, M> {
    slots: Slots<S>,
    map: M,
    cells: Vec<u32>,
    /// The keys in the slots, unordered.
    own: Vec<S>,
    ranks: Ranks,
    split: Split<S>,
    /// Keys that occur in both classes, possibly repeated; only some of them if they are many.
    shared: Vec<S>,
}

impl<S: Key, M: Monotone<S>> Worker<S, M> {
    /// Counts the pairs of two classes, each in parts; more than `most` keys are split first.
    pub(crate) fn count(&mut self, classes: &Classes<'_, S>, wanted: Wanted, most: usize) -> PairCounts {
        self.shared.clear();
        let sizes = sizes(classes);
        if sizes.contains(&0) || sizes[0] + sizes[1] <= most {
            return self.count_at_once(classes, sizes, wanted);
        }
        let mut split = std::mem::take(&mut self.split);
        let (mut counts, mut below) = (PairCounts::default(), [0u64; 2]);
        for bucket in 0..split.fill::<M>(classes, sizes) {
            let part = [0, 1].map(|class| vec![split.keys(bucket, class)]);
            let sizes = [part[0][0].len(), part[1][0].len()];
            counts.add(self.count_at_once(&part, sizes, wanted).above(sizes, below));
            below.iter_mut().zip(sizes).for_each(|(below, size)| *below += size as u64);
        }
        self.split = split;
        counts
    }

    /// Counts the pairs of two classes by one table.
    fn count_at_once(&mut self, classes: &Classes<'_, S>, sizes: [usize; 2], wanted: Wanted) -> PairCounts {
        let asking = larger(sizes);
        if sizes[1 - asking] == 0 {
            return PairCounts::default();
        }
        self.fill(&classes[1 - asking]);
        let (found, squares) = match wanted {
            Wanted::Pairs => {
                let mut found = Found::default();
                self.asked(&classes[asking], |_, cells, keys| found.add(self.slots.sum(cells, keys)));
                if S::OF_CELL && found.up_to > found.below {
                    self.share(&classes[asking]);
                }
                (found, [0; 2])
            }
            Wanted::Squares => {
                let mut ranks = std::mem::take(&mut self.ranks);
                ranks.clear(self.own.len());
                let mut counter = ranks.counter();
                self.each(&classes[asking], |_, rank| counter.count(rank));
                self.ranks = ranks;
                self.ranks.sums()
            }
        };
        PairCounts::of_found(asking, sizes, found, squares)
    }

    /// Keeps the keys that the slots contain too.
    fn share(&mut self, asking: &[&[S]]) {
        let mut shared = std::mem::take(&mut self.shared);
        self.asked(asking, |_, cells, keys| {
            self.slots.each(cells, keys, |k, [below, up_to]| {
                if below < up_to && shared.len() < shared::MOST {
                    shared.push(keys[k]);
                }
            });
        });
        self.shared = shared;
    }

    /// Puts all `parts` into slots.
    pub(crate) fn fill(&mut self, parts: &[&[S]]) {
        let Self { slots, map, cells, own, .. } = self;
        own.clear();
        parts.iter().for_each(|part| own.extend_from_slice(part));
        *map = M::fit(own, slots::n_cells(own.len()));
        let cells = grown(cells, own.len());
        map.cells(own, cells);
        slots.fill(map.n_cells(), cells, own);
    }

    /// Calls `f` with the place of each key in `parts` and its rank: how many keys in the slots are below, and how many
    /// below or equal.
    pub(crate) fn each(&self, parts: &[&[S]], mut f: impl FnMut(usize, [u32; 2])) {
        self.asked(parts, |from, cells, keys| self.slots.each(cells, keys, |k, rank| f(k.wrapping_add(from), rank)));
    }

    /// Calls `f` with some keys at a time: the place of the first, and the cells of all.
    fn asked(&self, parts: &[&[S]], mut f: impl FnMut(usize, &[u32], &[S])) {
        let (mut cells, mut from) = ([0; TILE], 0);
        for keys in parts.iter().flat_map(|part| part.chunks(TILE)) {
            let cells = &mut cells[..keys.len()];
            self.map.cells(keys, cells);
            f(from, cells, keys);
            from += keys.len();
        }
    }

    /// The number of keys in the slots.
    pub(crate) fn len(&self) -> usize {
        self.own.len()
    }
}

#[cfg(test)]
#[path = "../../tests/unit/count_bucket.rs"]
mod tests;
