//! Counting the pairs of one bucket by what is compared: keys, or the scores themselves.

use super::counts::{Wanted, fit};
use super::ranks::{Found, Ranks};
use super::score::{Key, Line, Monotone};
use super::table::Table;
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
pub(super) type Sums = (Found, [u128; 2]);

impl<S> Worker<S> {
    pub(super) fn bytes(&self) -> usize {
        // A table holds its scores, and about as many cells twice.
        self.fewer.capacity() * (2 * size_of::<S>() + 8) + 8 * self.ranks.counts.capacity()
    }
}

impl<S: Key> Worker<S> {
    /// What all `others` find in the table, and if they are wanted the squares by side; `crowded` tells which table, as
    /// [`Worker::fill`] does.
    pub(super) fn ask<'a>(&mut self, crowded: bool, others: impl Iterator<Item = &'a [S]>, wanted: Wanted) -> Sums {
        let Self { table, spread, ranks, .. } = self;
        if crowded { ask(spread, others, wanted, ranks) } else { ask(table, others, wanted, ranks) }
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
