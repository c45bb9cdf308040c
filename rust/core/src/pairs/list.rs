//! The list: sorted, each pair once, 4 bytes a pair.

use std::ops::Range;

use super::shuffle::Shuffle;
use crate::{CHUNK, Ctx, Error, Problem, Result, order};

/// Pairs (i, j) of a positive row i and a negative row j, by ascending i, then j.
///
/// Holds 4 bytes for each pair and 12 for each positive; [`PairList::new`] and [`PairList::random`] need 8 more for each
/// pair while they sort.
#[derive(Debug, Clone, PartialEq)]
pub struct PairList {
    n_samples: usize,
    /// The positives that have pairs.
    pub(super) rows: Vec<u32>,
    /// Where the pairs of each of them begin, and the number of pairs.
    pub(super) starts: Vec<usize>,
    /// The negative of each pair.
    pub(super) negatives: Vec<u32>,
}

impl PairList {
    /// The given pairs (i, j), in any order. O(p log p) for p pairs.
    ///
    /// # Errors
    /// [`Error::Domain`] naming `pairs` if a row is no sample or of the other class, if a pair repeats or if there is
    /// none; [`Error::Interrupted`].
    pub fn new(problem: &Problem, pairs: impl IntoIterator<Item = (usize, usize)>, ctx: &Ctx<'_>) -> Result<Self> {
        let labels = problem.labels();
        let key = |(k, (i, j)): (usize, (usize, usize))| {
            if k.is_multiple_of(CHUNK) {
                ctx.check()?;
            }
            if labels.get(i) == Some(&true) && labels.get(j) == Some(&false) {
                return Ok((i as u64) << 32 | j as u64);
            }
            Err(Error::domain("pairs", "rows of a positive and of a negative sample", format!("({i}, {j}) at {k}")))
        };
        let keys = pairs.into_iter().enumerate().map(key).collect::<Result<Vec<_>>>()?;
        let found = Self::of_keys(problem, keys, ctx)?;
        let twice = |row: usize| found.negatives[found.of_row(row)].windows(2).find(|two| two[0] == two[1]);
        match (0..found.rows.len()).find_map(|row| Some((found.rows[row], twice(row)?[0]))) {
            Some((i, j)) => Err(Error::domain("pairs", "listed once each", format!("({i}, {j}) twice"))),
            None => Ok(found),
        }
    }

    /// All m n pairs. O(m n).
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn all(problem: &Problem, ctx: &Ctx<'_>) -> Result<Self> {
        let [rows, negatives] = classes(problem);
        let (n, mut every) = (negatives.len(), Vec::with_capacity(rows.len() * negatives.len()));
        for _ in &rows {
            ctx.check()?;
            every.extend_from_slice(&negatives);
        }
        let starts = (0..=rows.len()).map(|row| row * n).collect();
        Ok(Self { n_samples: problem.n_samples(), rows, starts, negatives: every })
    }

    /// `n_pairs` of all pairs, drawn without replacement; all if there are fewer. O(p log p) for p pairs.
    ///
    /// The k-th pair drawn depends on `seed` and k alone: more pairs of one seed contain fewer.
    ///
    /// # Errors
    /// [`Error::Domain`] if `n_pairs` is 0, [`Error::Interrupted`].
    pub fn random(problem: &Problem, n_pairs: usize, seed: u64, ctx: &Ctx<'_>) -> Result<Self> {
        let [rows, negatives] = classes(problem);
        let n = negatives.len() as u64;
        let order = Shuffle::new(rows.len() as u64 * n, seed);
        let of_chunk = |chunk: Range<u64>| {
            let key = |place: u64| {
                let pair = order.at(place);
                u64::from(rows[(pair / n) as usize]) << 32 | u64::from(negatives[(pair % n) as usize])
            };
            chunk.map(key).collect::<Vec<_>>()
        };
        let total = (n_pairs as u64).min(rows.len() as u64 * n);
        let chunks = (0..total).step_by(CHUNK).map(|from| from..total.min(from + CHUNK as u64)).collect();
        let mut keys = Vec::with_capacity(total as usize);
        ctx.fold(chunks, of_chunk, |found| keys.extend(found))?;
        Self::of_keys(problem, keys, ctx)
    }

    /// The pairs of keys `i 2^32 + j`.
    fn of_keys(problem: &Problem, mut keys: Vec<u64>, ctx: &Ctx<'_>) -> Result<Self> {
        if keys.is_empty() {
            return Err(Error::domain("pairs", "at least one", "none"));
        }
        order::sort(&mut keys, ctx)?;
        let (mut rows, mut starts) = (Vec::new(), Vec::new());
        for (k, i) in keys.iter().map(|key| (key >> 32) as u32).enumerate() {
            if rows.last() != Some(&i) {
                rows.push(i);
                starts.push(k);
            }
        }
        starts.push(keys.len());
        let negatives = keys.iter().map(|&key| key as u32).collect();
        Ok(Self { n_samples: problem.n_samples(), rows, starts, negatives })
    }

    /// The sorted union of lists of pairs.
    pub(super) fn union(problem: &Problem, pairs: Vec<(u32, u32)>, ctx: &Ctx<'_>) -> Result<Self> {
        let mut keys: Vec<u64> = pairs.into_iter().map(|(i, j)| u64::from(i) << 32 | u64::from(j)).collect();
        order::sort(&mut keys, ctx)?;
        keys.dedup();
        Self::of_keys(problem, keys, ctx)
    }

    /// The number of pairs.
    pub fn n_pairs(&self) -> usize {
        self.negatives.len()
    }

    /// The number of samples that the rows are of.
    pub fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// The pairs, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let of_row = move |row| self.negatives[self.of_row(row)].iter().map(move |&j| (self.rows[row], j));
        (0..self.rows.len()).flat_map(of_row)
    }

    /// The pairs of a positive, by its place among those that have any.
    pub(super) fn of_row(&self, row: usize) -> Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    /// Places of positives, divided into parts of at least `least` pairs, but for the last.
    pub(super) fn parts(&self, least: usize) -> Vec<Range<usize>> {
        let (mut parts, mut from) = (Vec::new(), 0);
        while from < self.rows.len() {
            let end = self.starts[from].saturating_add(least);
            let to = self.starts.partition_point(|&start| start < end).clamp(from + 1, self.rows.len());
            parts.push(from..to);
            from = to;
        }
        parts
    }
}

/// The rows of the positives and of the negatives.
pub(super) fn classes(problem: &Problem) -> [Vec<u32>; 2] {
    let of = |class: bool| (0..).zip(problem.labels()).filter(move |(_, label)| **label == class).map(|(row, _)| row);
    [of(true).collect(), of(false).collect()]
}
