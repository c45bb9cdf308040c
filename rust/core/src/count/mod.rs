//! Exact pair counts without a sort.
//!
//! A monotone map puts one class into cells, a few scores in each, and the other class looks up its ranks there: by the
//! scores themselves if they are few, else by keys of 32 bits. Scores that exceed the caches are first scattered into
//! monotone buckets, which are counted one by one; pairs across two buckets are decided by the buckets. All counts are
//! integers and do not depend on the order of the rows, the number of threads or the way of counting, which [`Limits`]
//! choose. Instructions per score of an AUC with 30 % positives, and their factor without one of the ways
//! (`python benches/ablation_counting.py`):
//!
//! | scores of | all ways | without |
//! |---|---|---|
//! | 100 normal | 218 | [`few`](Limits::few) 2.35 |
//! | 1,000 normal, to three decimals | 84 | [`few`](Limits::few) 4.44 |
//! | 100,000 normal | 39 | [`one_table`](Limits::one_table) 1.58 |
//! | 100,000 of 80 values | 36 | [`few_values`](Limits::few_values) 4.24 |
//! | 100,000 of single precision as float64 | 35 | [`narrow`](Limits::narrow) keys 3.35 |
//! | 10,000 whole numbers | 46 | [`narrow`](Limits::narrow) keys 3.28 |
//!
//! Splitting large buckets ([`split`](Limits::split)) saves a sixth of the time on 10^8 normal scores. Without
//! `buckets`, 1,000,000 normal scores take 60 instructions instead of 56, but three times as long: the table then
//! exceeds the caches.

pub(crate) mod bucket;
pub(crate) mod buckets;
pub(crate) mod cells;
pub(crate) mod counting_sort;
mod few_values;
pub(crate) mod keys;
pub(crate) mod monotone;
mod one_table;
mod rank_sums;
mod shared;
mod slots;
mod split;
mod sums;

use few_values::Values;
pub(crate) use sums::{PairCounts, Wanted};

use crate::data::float::Score;
use crate::data::labels::Labels;
use crate::{Ctx, Error, Result};

/// The limits between the ways of counting; counts do not depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From how many scores on few distinct values are looked for.
    pub few_values: usize,
    /// Up to how many scores they are counted without keys.
    pub few: usize,
    /// From how many scores on single precision is looked for.
    pub narrow: usize,
    /// Up to how many scores one table is used, unless keys tie: it fits the second-level cache.
    pub one_table: usize,
    /// Intended scores per bucket: the table of the rarer class fits the first-level cache.
    pub bucket: usize,
    /// Up to how many scores of a bucket are counted at once: a larger table would exceed the caches.
    pub split: usize,
    /// Fewest scores per thread in the search for few values.
    pub share: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            few_values: 1 << 11,
            few: 1 << 11,
            narrow: 1 << 11,
            one_table: 1 << 17,
            bucket: 1 << 11,
            split: 1 << 18,
            share: 1 << 15,
        }
    }
}

/// The buffers of [`pair_counts`], and its limits.
#[derive(Debug, Default)]
pub(crate) struct Counting<S: Score> {
    limits: Limits,
    buckets: buckets::Memory<S>,
    table: one_table::Memory<S::Key>,
    values: Vec<Values>,
    narrow: Vec<f32>,
    /// For float64 scores that are exact in single precision.
    of_narrow: Option<Box<Counting<f32>>>,
}

impl<S: Score> Counting<S> {
    pub(crate) fn with_limits(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }
}

/// Counts the pairs of positives and negatives. O(N) expected.
pub(crate) fn pair_counts<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    wanted: Wanted,
    counting: &mut Counting<S>,
    ctx: &Ctx<'_>,
) -> Result<PairCounts> {
    Error::check_len("scores", labels.n_samples(), scores.len())?;
    let Counting { limits, values, narrow, of_narrow, .. } = counting;
    let mut tied = false;
    if scores.len() >= limits.few_values {
        match few_values::count(labels, scores, values, limits.share, ctx)? {
            few_values::Found::Few(counts) => return Ok(counts),
            few_values::Found::Tied => tied = true,
            few_values::Found::Untied => {}
        }
    }
    let counts = if scores.len() >= limits.narrow && S::narrow(scores, narrow, ctx)? {
        let of_narrow = of_narrow.get_or_insert_default();
        of_narrow.limits = *limits;
        of_many(labels, &narrow[..scores.len()], tied, wanted, of_narrow, ctx)?
    } else {
        of_many(labels, scores, tied, wanted, counting, ctx)?
    };
    counts.ok_or_else(|| Error::first_non_finite("scores", scores))
}

/// The pairs of scores with many values; `None` if a score is not finite. If scores are `tied`, too many keys tie for
/// one table.
fn of_many<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    tied: bool,
    wanted: Wanted,
    Counting { limits, table, buckets, .. }: &mut Counting<S>,
    ctx: &Ctx<'_>,
) -> Result<Option<PairCounts>> {
    if scores.len() <= limits.few {
        return Ok(buckets::count_few(labels, scores, wanted, buckets));
    }
    let sample = cells::sample(scores);
    if (S::EXACT || !tied)
        && scores.len() <= limits.one_table
        && let Some(counts) = one_table::count(labels, (scores, &sample), wanted, table, ctx)?
    {
        return Ok(Some(counts));
    }
    buckets::count(labels, (scores, &sample), wanted, (limits.bucket, limits.split), buckets, ctx)
}

#[cfg(test)]
#[path = "../../tests/unit/count.rs"]
mod tests;
