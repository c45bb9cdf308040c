//! Counting the pairs of one bucket by what is compared: keys, or the scores themselves.

use super::counts::{PairCounts, Wanted, fit};
use super::ranks::{Found, Ranks};
use super::score::{Key, Line, Monotone, Score};
use super::table::{Table, few};
use crate::order::{Map, fast};

/// Memory for the counts of a bucket.
#[derive(Debug, Default)]
pub(super) struct Worker<S> {
    pub(super) table: Table<S, Line<S>>,
    /// For scores that crowd in few cells of a line.
    pub(super) spread: Table<S, Map>,
    /// The scores of the table as they come.
    fewer: Vec<S>,
    pub(super) ranks: Ranks,
}

/// What scores find in a table, and the sums of squares of either side.
type Sums = (Found, [u128; 2]);

impl<S> Worker<S> {
    pub(super) fn bytes(&self) -> usize {
        // A table holds its scores, and about as many cells twice.
        self.fewer.capacity() * (2 * size_of::<S>() + 8) + 8 * self.ranks.counts.capacity()
    }
}

impl<S: Key> Worker<S> {
    /// Counts the pairs of two classes, the positives first, each in parts.
    pub(super) fn count(&mut self, classes: &[Vec<&[S]>; 2], wanted: Wanted) -> PairCounts {
        let sizes = sizes(classes);
        let asking = usize::from(sizes[0] < sizes[1]);
        if sizes[1 - asking] == 0 {
            return PairCounts::default();
        }
        let crowded = self.fill(classes[1 - asking].iter().copied());
        let others = classes[asking].iter().copied();
        let Self { table, spread, ranks, .. } = self;
        let (found, squares) =
            if crowded { ask(spread, others, wanted, ranks) } else { ask(table, others, wanted, ranks) };
        PairCounts::of_found(asking, sizes, found, squares)
    }

    /// The same by keys that tie more often than scores do; `None` if those of many tie. Those of few are compared by
    /// the scores of a class that have a key, unless these are not told.
    pub(super) fn count_keys<T: Score>(
        &mut self,
        classes: &[Vec<&[S]>; 2],
        wanted: Wanted,
        mut scores: impl FnMut(usize, S) -> Option<Vec<T>>,
    ) -> Option<PairCounts> {
        let sizes = sizes(classes);
        let asking = usize::from(sizes[0] < sizes[1]);
        if sizes[1 - asking] == 0 {
            return Some(PairCounts::default());
        }
        let crowded = self.fill(classes[1 - asking].iter().copied());
        let others = classes[asking].iter().copied();
        let scores = |of_table, key| scores(if of_table { 1 - asking } else { asking }, key);
        let Self { table, spread, ranks, .. } = self;
        let (found, squares) = if crowded {
            ask_keys(spread, others, wanted, scores, ranks)
        } else {
            ask_keys(table, others, wanted, scores, ranks)
        }?;
        Some(PairCounts::of_found(asking, sizes, found, squares))
    }

    /// Makes all `parts` a table; whether it is the one for scores that crowd.
    pub(super) fn fill<'a>(&mut self, parts: impl Iterator<Item = &'a [S]>) -> bool {
        self.fewer.clear();
        parts.for_each(|part| self.fewer.extend_from_slice(part));
        let Self { table, spread, fewer, .. } = self;
        let (low, high) = fast(Ends(fewer));
        table.place(S::line(low, high, fewer.len() as u32), fewer);
        let crowded = table.n_crowded() > fewer.len() / 4;
        if crowded {
            spread.fill(fit(fewer), fewer);
        } else {
            table.sort();
        }
        crowded
    }
}

/// How many there are of either class.
pub(super) fn sizes<K>(classes: &[Vec<&[K]>; 2]) -> [usize; 2] {
    classes.each_ref().map(|parts| parts.iter().map(|part| part.len()).sum())
}

fn ask<'a, S: Key, M: Monotone<S>>(
    table: &Table<S, M>,
    parts: impl Iterator<Item = &'a [S]>,
    wanted: Wanted,
    ranks: &mut Ranks,
) -> Sums {
    match wanted {
        Wanted::Pairs => (table.ask(parts, None), [0; 2]),
        Wanted::Squares => {
            ranks.clear(table.len());
            table.ask_ranks(parts, None, ranks);
            ranks.sums()
        }
    }
}

/// What all `parts` find in a table of keys, as [`Worker::count_keys`] does; `scores` are those of the class that asks
/// and, for true, of the table.
fn ask_keys<'a, S: Key, M: Monotone<S>, T: Score>(
    table: &Table<S, M>,
    parts: impl Iterator<Item = &'a [S]>,
    wanted: Wanted,
    mut scores: impl FnMut(bool, S) -> Option<Vec<T>>,
    ranks: &mut Ranks,
) -> Option<Sums> {
    let (mut open, mut sum) = (vec![], 0);
    match wanted {
        Wanted::Pairs => sum = table.ask_untied(parts, &mut open),
        Wanted::Squares => {
            ranks.clear(table.len());
            table.ask_untied_ranks(parts, &mut open, ranks);
        }
    }
    if !few(&mut open) {
        return None;
    }
    let mut found = Found { below: sum, up_to: sum };
    for key in open {
        let ([start, _], mut own) = (table.rank_of(key), scores(true, key)?);
        own.sort_unstable_by(T::order);
        for x in scores(false, key)? {
            let rank = [own.partition_point(|&y| y < x), own.partition_point(|&y| y <= x)].map(|at| start + at as u32);
            match wanted {
                Wanted::Pairs => found.add(Found { below: rank[0].into(), up_to: rank[1].into() }),
                Wanted::Squares => ranks.count(rank),
            }
        }
    }
    Some(if wanted == Wanted::Squares { ranks.sums() } else { (found, [0; 2]) })
}

/// The least and the greatest score.
struct Ends<'a, S>(&'a [S]);

impl<S: Key> pulp::NullaryFnOnce for Ends<'_, S> {
    type Output = (S, S);

    #[inline(always)]
    fn call(self) -> Self::Output {
        const LANES: usize = 16;
        let min = |x: S, y: S| if x < y { x } else { y };
        let max = |x: S, y: S| if x > y { x } else { y };
        let first = self.0.first().copied().unwrap_or_default();
        let (mut low, mut high) = ([first; LANES], [first; LANES]);
        let (lanes, rest) = self.0.as_chunks::<LANES>();
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
    }
}
