//! Counting the pairs of one bucket by what is compared: keys, or the scores themselves.

use super::lanes::{Cells, Ranking};
use super::rank_sums::{Found, Ranks};
use super::slots::{self, Slots};
use super::sums::{PairCounts, Wanted, count_tied, grown};
use super::table::{Table, fit};
use crate::alloc;
use crate::metric::labels::TILE;
use crate::metric::score::{Key, Line, Monotone, Score};
use crate::order::{Map, fast};

/// Keys that tie, after which all are taken to.
const MOST_OPEN: usize = 64;

/// Memory for the counts of a bucket.
#[derive(Debug, Default)]
pub(crate) struct Worker<S> {
    place: Place,
    slots: Slots<S>,
    /// Of the slots.
    line: Line<S>,
    cells: Vec<u32>,
    table: Table<S, Line<S>>,
    /// For scores that crowd in few cells of a line.
    spread: Table<S, Map>,
    /// The scores of the table as they come.
    own: Vec<S>,
    pub(crate) ranks: Ranks,
}

/// Where the scores of a table are.
#[derive(Debug, Clone, Copy, Default)]
enum Place {
    #[default]
    Slots,
    Table,
    Spread,
}

/// Calls `$f` with what ranks, by cell, the scores that a worker was filled with; and the map to cells.
macro_rules! asked {
    ($worker:expr, $f:ident, $($argument:expr),*) => {
        match $worker.place {
            Place::Slots => $f(&$worker.slots, $worker.line, $($argument),*),
            Place::Table => $f(&$worker.table, $worker.table.map, $($argument),*),
            Place::Spread => $f(&$worker.spread, $worker.spread.map, $($argument),*),
        }
    };
}

impl<S: Key> Worker<S> {
    pub(crate) fn bytes(&self) -> usize {
        // A table holds its scores, and about as many cells twice.
        self.own.capacity() * (2 * size_of::<S>() + 8) + 8 * self.ranks.counts.capacity() + self.slots.bytes()
    }

    /// Counts the pairs of two classes, the positives first, each in parts.
    pub(crate) fn count(&mut self, classes: &[Vec<&[S]>; 2], wanted: Wanted) -> PairCounts {
        let none = |_: usize, _: S| Vec::<f32>::new();
        self.count_keys(classes, wanted, None, none).unwrap_or_default()
    }

    /// The same by keys that tie more often than scores do, of which `open` is room for those that tie: if they are few,
    /// they are compared by the `scores` of a class that have a key; `None` if they are many.
    pub(crate) fn count_keys<T: Score>(
        &mut self,
        classes: &[Vec<&[S]>; 2],
        wanted: Wanted,
        mut open: Option<&mut Vec<S>>,
        scores: impl Fn(usize, S) -> Vec<T>,
    ) -> Option<PairCounts> {
        let sizes = classes.each_ref().map(|parts| parts.iter().map(|part| part.len()).sum::<usize>());
        let asking = usize::from(sizes[0] < sizes[1]);
        if sizes[1 - asking] == 0 {
            return Some(PairCounts::default());
        }
        self.fill(&classes[1 - asking]);
        let mut ranks = std::mem::take(&mut self.ranks);
        ranks.clear(if wanted == Wanted::Squares { self.own.len() } else { 0 });
        let parts = &classes[asking];
        let mut found = match wanted {
            Wanted::Pairs => asked!(self, sum, parts, open.as_deref_mut()),
            Wanted::Squares => {
                let mut counter = ranks.counter();
                match &mut open {
                    None => self.each(parts, |_, _, rank| counter.count(rank)),
                    Some(open) => self.each(parts, |_, key, rank| {
                        if rank[0] == rank[1] { counter.count_untied(rank[0]) } else { open.push(key) }
                    }),
                }
                Found::default()
            }
        };
        let few = open.as_deref_mut().is_none_or(few);
        for &key in open.iter().filter(|_| few).flat_map(|open| open.iter()) {
            let mut start = 0;
            self.each(&[&[key]], |_, _, [below, _]| start = below);
            count_tied(start, [scores(asking, key), scores(1 - asking, key)], wanted, &mut found, &mut ranks);
        }
        self.ranks = ranks;
        let (found, squares) = if wanted == Wanted::Squares { self.ranks.sums() } else { (found, [0; 2]) };
        few.then(|| PairCounts::of_found(asking, sizes, found, squares))
    }

    /// Makes all `parts` a table where they suit best.
    pub(crate) fn fill(&mut self, parts: &[&[S]]) {
        let Self { place, slots, line, cells, table, spread, own, .. } = self;
        own.clear();
        parts.iter().for_each(|part| alloc::append(own, part));
        let (low, high) = fast(Ends(own));
        if S::LANES == slots::LANES && own.len() <= slots::MOST {
            *line = S::line(low, high, slots::n_cells(own.len()));
            let cells = grown(cells, own.len());
            fast(Cells { map: *line, scores: own, cells: &mut *cells });
            if slots.fill(line.n_cells(), cells, own) {
                *place = Place::Slots;
                return;
            }
        }
        table.place(S::line(low, high, own.len() as u32), own);
        if table.n_crowded() > own.len() / 4 {
            spread.fill(fit(own), own);
            *place = Place::Spread;
        } else {
            table.sort();
            *place = Place::Table;
        }
    }

    /// Calls `f` with the place in `parts` of each score, the score and its rank: how many of the table are below it, and how many
    /// below or equal.
    pub(crate) fn each(&self, parts: &[&[S]], f: impl FnMut(usize, S, [u32; 2])) {
        asked!(self, each, parts, f);
    }

    /// How many the table holds.
    pub(crate) fn len(&self) -> usize {
        self.own.len()
    }
}

/// Whether the keys that tie are few; each is kept once.
fn few<S: Key>(open: &mut Vec<S>) -> bool {
    open.sort_unstable_by(S::order);
    open.dedup();
    open.len() <= MOST_OPEN
}

/// The sums of the ranks of all parts; but scores that tie go to `open` instead, if there is one, and no more are looked
/// for once they are many.
fn sum<S: Key>(
    ranking: &impl Ranking<S>,
    map: impl Monotone<S>,
    parts: &[&[S]],
    mut open: Option<&mut Vec<S>>,
) -> Found {
    let (mut cells, mut found) = ([0; TILE], Found::default());
    for scores in parts.iter().flat_map(|part| part.chunks(TILE)) {
        let cells = &mut cells[..scores.len()];
        fast(Cells { map, scores, cells: &mut *cells });
        let mut more = ranking.sum(cells, scores);
        if let Some(open) = open.as_deref_mut().filter(|_| more.below < more.up_to) {
            // Their cells are spoiled.
            fast(Cells { map, scores, cells: &mut *cells });
            let mut tied = 0u64;
            ranking.each(cells, scores, |k, [below, up_to]| {
                if below < up_to {
                    tied = tied.wrapping_add(below.into());
                    open.push(scores[k]);
                }
            });
            more.below -= u128::from(tied);
            more.up_to = more.below;
            if open.len() > 4 * MOST_OPEN && !few(open) {
                break;
            }
        }
        found.add(more);
    }
    found
}

/// See [`Worker::each`].
fn each<S: Key>(
    ranking: &impl Ranking<S>,
    map: impl Monotone<S>,
    parts: &[&[S]],
    mut f: impl FnMut(usize, S, [u32; 2]),
) {
    let (mut cells, mut from) = ([0; TILE], 0);
    for scores in parts.iter().flat_map(|part| part.chunks(TILE)) {
        let cells = &mut cells[..scores.len()];
        fast(Cells { map, scores, cells: &mut *cells });
        ranking.each(cells, scores, |k, rank| f(k.wrapping_add(from), scores[k], rank));
        from += scores.len();
    }
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
