//! Counting the pairs of one bucket.

use super::bits::{Bits, CELLS};
use super::counts::{PairCounts, Wanted, fit};
use super::ranks::{Found, Ranks};
use super::score::{Key, Line, Monotone};
use super::table::Table;
use crate::order::{Map, fast};

/// Fewest scores of a class that are worth a table of bits.
const FEWEST: usize = 1 << 8;
/// Scores that its map is fitted to.
const SAMPLES: usize = 1 << 10;
/// The share of them, on either side, that goes to the outermost cells.
const TAIL: f64 = 1.0 / 512.0;
/// Parts of a line that are looked at,
const BINS: usize = 64;
/// and how much more often than if they were spread evenly two scores may fall together on a line.
const UNEVEN: f64 = 4.0;

/// What a thread needs to count the pairs of a bucket.
#[derive(Debug, Default)]
pub(super) struct Worker<S> {
    bits: Bits,
    /// The scores that the bits leave open, and how many scores are below each for certain.
    doubtful: Vec<S>,
    below: Vec<u32>,
    pub(super) table: Table<S, Line<S>>,
    /// For scores that crowd in few cells of a line.
    pub(super) spread: Table<S, Map>,
    /// The scores of the table as they come.
    pub(super) fewer: Vec<S>,
    pub(super) ranks: Ranks,
}

impl<S> Worker<S> {
    pub(super) fn bytes(&self) -> usize {
        // A table holds its scores, and about as many cells twice.
        self.fewer.capacity() * (2 * size_of::<S>() + 8)
            + 8 * self.ranks.counts.capacity()
            + self.doubtful.capacity() * (size_of::<S>() + 4)
            + self.bits.bytes()
    }
}

/// What scores find in a table, and the sums of squares of either side.
type Sums = (Found, [u128; 2]);

impl<S: Key> Worker<S> {
    /// Counts the pairs of one bucket.
    pub(super) fn count(&mut self, classes: [Vec<&[S]>; 2], sizes: [usize; 2], wanted: Wanted) -> PairCounts {
        let asking = usize::from(sizes[0] < sizes[1]);
        let len = sizes[1 - asking];
        if len == 0 {
            return PairCounts::default();
        }
        let (own, others) = (&classes[1 - asking], &classes[asking]);
        let by_bits = match FineMap::fit(own, len, CELLS) {
            None => None,
            Some(FineMap::Line(line)) => self.ask_bits(line, [own, others], len, wanted),
            Some(FineMap::Map(map)) => self.ask_bits(map, [own, others], len, wanted),
        };
        let (found, squares) = by_bits.unwrap_or_else(|| {
            if self.fill(own.iter().copied()) {
                ask(&self.spread, others, wanted, &mut self.ranks)
            } else {
                ask(&self.table, others, wanted, &mut self.ranks)
            }
        });
        PairCounts::of_found(asking, sizes, found, squares)
    }

    /// For each positive of a bucket, the lowest first, how many negatives are below it, and below it or tied; `above` of
    /// them are in the buckets below.
    pub(super) fn negatives_below(&mut self, classes: [Vec<&[S]>; 2], sizes: [usize; 2], above: u32) -> Vec<[u32; 2]> {
        if sizes[0] == 0 || sizes[1] == 0 {
            return vec![[above; 2]; sizes[0]];
        }
        self.count(classes, sizes, Wanted::Squares);
        let all = |below: [u32; 2]| below.map(|below| below.wrapping_add(above));
        if sizes[0] < sizes[1] {
            self.ranks.of_table().map(all).collect()
        } else {
            self.ranks.of_asking().map(all).collect()
        }
    }

    /// What the scores of the second parts find among the `len` of the first; `None` if many of these share their cells.
    fn ask_bits<M: Monotone<S>>(
        &mut self,
        map: M,
        [own, others]: [&[&[S]]; 2],
        len: usize,
        wanted: Wanted,
    ) -> Option<Sums> {
        if self.bits.fill(map, own, len) > len / 4 {
            return None;
        }
        let Self { bits, doubtful, below, fewer, ranks, table, spread } = self;
        doubtful.clear();
        ranks.clear(if wanted == Wanted::Squares { len } else { 0 });
        let counts = if wanted == Wanted::Squares { &mut ranks.counts[..] } else { &mut [] };
        let sum = bits.ask(map, others, doubtful, counts);
        fewer.clear();
        bits.rivals(map, own, doubtful, fewer, below);
        let mut found = Found::default();
        if !doubtful.is_empty() {
            let crowded = match FineMap::fit(&[fewer], fewer.len(), 2) {
                Some(FineMap::Line(line)) => {
                    table.fill(line, fewer);
                    false
                }
                Some(FineMap::Map(map)) => {
                    spread.fill(map, fewer);
                    true
                }
                None => self.tabulate(),
            };
            let Self { table, spread, doubtful, below, ranks, .. } = self;
            match (wanted, crowded) {
                (Wanted::Pairs, false) => found = table.ask(doubtful, None),
                (Wanted::Pairs, true) => found = spread.ask(doubtful, None),
                (Wanted::Squares, false) => table.ask_ranks_above(doubtful, below, ranks),
                (Wanted::Squares, true) => spread.ask_ranks_above(doubtful, below, ranks),
            }
        }
        if wanted == Wanted::Squares {
            return Some(self.ranks.sums());
        }
        let certain = sum + self.below.iter().map(|&below| u128::from(below)).sum::<u128>();
        Some((Found { below: found.below + certain, up_to: found.up_to + certain }, [0; 2]))
    }

    /// Makes all `parts` a table; whether it is the one for scores that crowd.
    pub(super) fn fill<'a>(&mut self, parts: impl Iterator<Item = &'a [S]>) -> bool {
        self.fewer.clear();
        parts.for_each(|part| self.fewer.extend_from_slice(part));
        self.tabulate()
    }

    /// Makes `fewer` a table; whether it is the one for scores that crowd.
    fn tabulate(&mut self) -> bool {
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

/// A map to so many cells that most hold one score or none.
enum FineMap<S> {
    Line(Line<S>),
    Map(Map),
}

impl<S: Key> FineMap<S> {
    /// By a sample of the `len` scores of all parts, to so many cells each; `None` if they are few or tie too often.
    fn fit(parts: &[&[S]], len: usize, cells: usize) -> Option<Self> {
        if len < FEWEST {
            return None;
        }
        let step = len / SAMPLES + 1;
        let mut sample: Vec<S> = parts.iter().flat_map(|part| part.iter().step_by(step).copied()).collect();
        sample.sort_unstable_by(S::order);
        if sample.chunk_by(|x, y| x == y).count() < sample.len() / 2 {
            return None;
        }
        let end = (sample.len() as f64 * TAIL) as usize;
        let (low, high) = (sample[end], sample[sample.len() - 1 - end]);
        let n_cells = usize::min(cells * len, S::MOST_CELLS) as u32;
        let coarse = S::line(low, high, BINS as u32);
        let bins = sample.chunk_by(|x, y| x.cell(coarse) == y.cell(coarse));
        let together = bins.map(|bin| bin.len().pow(2)).sum::<usize>();
        if (together * BINS) as f64 <= UNEVEN * sample.len().pow(2) as f64 {
            return Some(Self::Line(S::line(low, high, n_cells)));
        }
        let mut sample: Vec<f64> = sample.into_iter().map(S::into).collect();
        Some(Self::Map(Map::fit(&mut sample, n_cells as usize / 2)))
    }
}

/// What all `parts` find in the table, and if they are wanted the squares by side.
fn ask<S: Key, M: Monotone<S>>(table: &Table<S, M>, parts: &[&[S]], wanted: Wanted, ranks: &mut Ranks) -> Sums {
    match wanted {
        Wanted::Pairs => {
            let mut total = Found::default();
            parts.iter().for_each(|part| total.add(table.ask(part, None)));
            (total, [0; 2])
        }
        Wanted::Squares => {
            ranks.clear(table.len());
            parts.iter().for_each(|part| table.ask_ranks(part, None, ranks));
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
