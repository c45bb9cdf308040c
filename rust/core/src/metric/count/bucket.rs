//! Counting the pairs of one bucket by what is compared: keys, or the scores themselves.

use super::lanes::Cells;
use super::rank_sums::{Found, Ranks};
use super::slots::{self, Slots};
use super::sums::{PairCounts, Wanted, grown};
use super::table::{Table, few, fit};
use crate::alloc;
use crate::metric::score::{Key, Line, Monotone, Score};
use crate::order::{Map, fast};

/// Memory for the counts of a bucket.
#[derive(Debug, Default)]
pub(crate) struct Worker<S> {
    slots: Slots<S>,
    /// Their cells, and that of every score of the table.
    line: Line<S>,
    cells: Vec<u32>,
    pub(crate) table: Table<S, Line<S>>,
    /// For scores that crowd in few cells of a line.
    pub(crate) spread: Table<S, Map>,
    /// The scores of the table as they come.
    fewer: Vec<S>,
    pub(crate) ranks: Ranks,
}

/// Where the scores of a table are.
#[derive(Debug, Clone, Copy)]
enum Place {
    Slots,
    Table,
    Spread,
}

impl<S: Key> Worker<S> {
    pub(crate) fn bytes(&self) -> usize {
        // A table holds its scores, and about as many cells twice.
        self.fewer.capacity() * (2 * size_of::<S>() + 8) + 8 * self.ranks.counts.capacity() + self.slots.bytes()
    }

    /// Counts the pairs of two classes, the positives first, each in parts.
    pub(crate) fn count(&mut self, classes: &[Vec<&[S]>; 2], wanted: Wanted) -> PairCounts {
        let sizes = sizes(classes);
        let asking = usize::from(sizes[0] < sizes[1]);
        if sizes[1 - asking] == 0 {
            return PairCounts::default();
        }
        let place = self.place(&classes[1 - asking]);
        let found = self.ask(place, &classes[asking], wanted, None);
        self.counted(asking, sizes, found, wanted)
    }

    /// The same by keys that tie more often than scores do; `None` if those of many tie. Those of few are compared by
    /// the scores of a class that have a key, unless these are not told.
    pub(crate) fn count_keys<T: Score>(
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
        let place = self.place(&classes[1 - asking]);
        let mut open = vec![];
        let mut found = self.ask(place, &classes[asking], wanted, Some(&mut open));
        if !few(&mut open) {
            return None;
        }
        for key in open {
            let start = self.rank_of(place, key)[0];
            let tied = [scores(1 - asking, key)?, scores(asking, key)?];
            count_tied(start, tied, wanted, &mut found, &mut self.ranks);
        }
        Some(self.counted(asking, sizes, found, wanted))
    }

    /// From what was found, or from the ranks that were counted.
    fn counted(&self, asking: usize, sizes: [usize; 2], found: Found, wanted: Wanted) -> PairCounts {
        let (found, squares) = if wanted == Wanted::Squares { self.ranks.sums() } else { (found, [0; 2]) };
        PairCounts::of_found(asking, sizes, found, squares)
    }

    /// Makes all `parts` a table where they suit best.
    fn place(&mut self, parts: &[&[S]]) -> Place {
        let (low, high) = self.gather(parts.iter().copied());
        if S::LANES == slots::LANES && self.fewer.len() <= slots::MOST {
            let Self { slots, line, fewer, cells, .. } = self;
            *line = S::line(low, high, slots::n_cells(fewer.len()));
            let cells = grown(cells, fewer.len());
            fast(Cells { map: *line, scores: fewer, cells: &mut *cells });
            if slots.fill(line.n_cells(), cells, fewer) {
                return Place::Slots;
            }
        }
        if self.fill_gathered(low, high) { Place::Spread } else { Place::Table }
    }

    /// Makes all `parts` a table; whether it is the one for scores that crowd.
    pub(crate) fn fill<'a>(&mut self, parts: impl Iterator<Item = &'a [S]>) -> bool {
        let (low, high) = self.gather(parts);
        self.fill_gathered(low, high)
    }

    /// Gathers the scores of a table; the least and the greatest.
    fn gather<'a>(&mut self, parts: impl Iterator<Item = &'a [S]>) -> (S, S) {
        self.fewer.clear();
        parts.for_each(|part| alloc::append(&mut self.fewer, part));
        fast(Ends(&self.fewer))
    }

    fn fill_gathered(&mut self, low: S, high: S) -> bool {
        let Self { table, spread, fewer, .. } = self;
        table.place(S::line(low, high, fewer.len() as u32), fewer);
        let crowded = table.n_crowded() > fewer.len() / 4;
        if crowded {
            spread.fill(fit(fewer), fewer);
        } else {
            table.sort();
        }
        crowded
    }

    /// What all `parts` find, unless squares are wanted: then their ranks are counted. Those that tie go to `open`
    /// instead, if there is one.
    fn ask(&mut self, place: Place, parts: &[&[S]], wanted: Wanted, open: Option<&mut Vec<S>>) -> Found {
        let Self { table, spread, ranks, fewer, .. } = self;
        if wanted == Wanted::Squares {
            ranks.clear(fewer.len());
        }
        match place {
            Place::Slots => self.slots.ask(self.line, parts, wanted, open, ranks),
            Place::Table => ask(table, parts, wanted, open, ranks),
            Place::Spread => ask(spread, parts, wanted, open, ranks),
        }
    }

    /// The rank of one score.
    fn rank_of(&self, place: Place, x: S) -> [u32; 2] {
        match place {
            Place::Slots => self.slots.rank_of(x.cell(self.line), x),
            Place::Table => self.table.rank_of(x),
            Place::Spread => self.spread.rank_of(x),
        }
    }
}

/// How many there are of either class.
pub(crate) fn sizes<K>(classes: &[Vec<&[K]>; 2]) -> [usize; 2] {
    classes.each_ref().map(|parts| parts.iter().map(|part| part.len()).sum())
}

/// Adds what scores of one key find among those of a table that have it, which come first; `start` of the table are
/// below all of these.
pub(crate) fn count_tied<S: Score>(
    start: u32,
    [mut own, others]: [Vec<S>; 2],
    wanted: Wanted,
    found: &mut Found,
    ranks: &mut Ranks,
) {
    own.sort_unstable_by(S::order);
    for x in others {
        let rank = [own.partition_point(|&y| y < x), own.partition_point(|&y| y <= x)].map(|at| start + at as u32);
        match wanted {
            Wanted::Pairs => found.add(Found { below: rank[0].into(), up_to: rank[1].into() }),
            Wanted::Squares => ranks.counter().count(rank),
        }
    }
}

/// What all `parts` find in a table, as [`Worker::ask`] does.
fn ask<S: Key, M: Monotone<S>>(
    table: &Table<S, M>,
    parts: &[&[S]],
    wanted: Wanted,
    open: Option<&mut Vec<S>>,
    ranks: &mut Ranks,
) -> Found {
    let parts = parts.iter().copied();
    match (wanted, open) {
        (Wanted::Pairs, None) => return table.ask(parts, None),
        (Wanted::Pairs, Some(open)) => {
            let sum = table.ask_untied(parts, open);
            return Found { below: sum, up_to: sum };
        }
        (Wanted::Squares, None) => table.ask_ranks(parts, None, ranks),
        (Wanted::Squares, Some(open)) => table.ask_untied_ranks(parts, open, ranks),
    }
    Found::default()
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
