//! Features by column, and columns in ascending order.

use std::ops::Range;

use crate::{Error, Result};

/// Features by column; NaN is a missing value.
#[derive(Debug, Clone, Copy)]
pub struct Features<'a> {
    /// The values, column after column.
    pub values: &'a [f64],
    /// Of sparse features, whose other values are 0: where each column begins, and where the last one ends; and the
    /// sample of each value, at most once in a column.
    pub lists: Option<(&'a [u64], &'a [u32])>,
}

/// `coef * 1[x_feature > threshold]`, `coef` or 0 where the value is missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stump {
    /// The column.
    pub feature: usize,
    /// The threshold that a value must exceed.
    pub threshold: f64,
    /// Whether samples with a missing value count as above.
    pub missing_above: bool,
    /// The score of samples above.
    pub coef: f64,
    /// The weighted share of positives above, minus that of negatives.
    pub edge: f64,
}

impl Features<'_> {
    /// Number of columns.
    pub(super) fn n_columns(&self, n_samples: usize) -> usize {
        self.lists.map_or(self.values.len() / n_samples, |(starts, _)| starts.len().saturating_sub(1))
    }

    /// Checks lengths and lists, and that no value is infinite.
    pub(super) fn check(&self, n_samples: usize) -> Result<()> {
        let values = self.values;
        if let Some((starts, rows)) = self.lists {
            Error::check_len("rows", values.len(), rows.len())?;
            let ends = starts.first() == Some(&0) && starts.last() == Some(&(values.len() as u64));
            if !ends || !starts.is_sorted() || rows.iter().any(|&row| row as usize >= n_samples) {
                let domain = "lists of ascending starts and of rows below the number of samples";
                return Err(Error::domain("features", domain, "other lists"));
            }
        } else {
            Error::check_len("features", self.n_columns(n_samples) * n_samples, values.len())?;
        }
        match values.iter().position(|value| value.is_infinite()) {
            Some(index) => Err(Error::NonFinite { name: "features", index, value: values[index] }),
            None => Ok(()),
        }
    }

    /// A column in ascending order.
    pub(super) fn column(&self, feature: usize, n_samples: usize) -> Column {
        let entry = |(&value, row): (&f64, u32)| (value + 0.0, row);
        let (mut entries, implied): (Vec<_>, _) = match self.lists {
            None => (self.values[feature * n_samples..][..n_samples].iter().zip(0..).map(entry).collect(), false),
            Some((starts, rows)) => {
                let stored = starts[feature] as usize..starts[feature + 1] as usize;
                let implied = stored.len() < n_samples;
                (self.values[stored.clone()].iter().zip(rows[stored].iter().copied()).map(entry).collect(), implied)
            }
        };
        // NaN, of either sign, last.
        let key = |value: f64| if value.is_nan() { f64::NAN } else { value };
        entries.sort_unstable_by(|a, b| key(a.0).total_cmp(&key(b.0)).then(a.1.cmp(&b.1)));
        Column::new(&entries, implied)
    }
}

/// A column as blocks of equal values, ascending.
#[derive(Debug, Default)]
pub(super) struct Column {
    /// The distinct values.
    values: Vec<f64>,
    /// Where the samples of each value end in `rows`.
    ends: Vec<u32>,
    /// The block of the samples that are not listed, if any.
    implied: Option<usize>,
    /// Samples in the order of their values, then those with a missing value.
    rows: Vec<u32>,
}

impl Column {
    fn new(entries: &[(f64, u32)], implied: bool) -> Self {
        let mut column = Column { rows: entries.iter().map(|entry| entry.1).collect::<Vec<_>>(), ..Column::default() };
        for (k, &(value, _)) in entries.iter().enumerate().take_while(|(_, entry)| !entry.0.is_nan()) {
            if column.values.last() != Some(&value) {
                if implied && value >= 0.0 {
                    column.imply(k);
                }
                if column.values.last() != Some(&value) {
                    column.values.push(value);
                    column.ends.push(k as u32);
                }
            }
            if let Some(end) = column.ends.last_mut() {
                *end = k as u32 + 1;
            }
        }
        if implied {
            column.imply(column.listed());
        }
        column
    }

    /// Adds the block of the samples that are not listed, behind the first `k` entries, unless it exists.
    fn imply(&mut self, k: usize) {
        if self.implied.is_none() {
            self.values.push(0.0);
            self.ends.push(k as u32);
            self.implied = Some(self.values.len() - 1);
        }
    }

    /// Number of entries with a value.
    fn listed(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }

    fn block(&self, b: usize) -> Range<usize> {
        (if b == 0 { 0 } else { self.ends[b - 1] as usize })..self.ends[b] as usize
    }

    /// Number of distinct values.
    pub(super) fn n_blocks(&self) -> usize {
        self.values.len()
    }

    /// The listed samples of a block.
    pub(super) fn members(&self, b: usize) -> &[u32] {
        &self.rows[self.block(b)]
    }

    /// The samples with a missing value.
    pub(super) fn missing(&self) -> &[u32] {
        &self.rows[self.listed()..]
    }

    /// The block of the samples that are not listed.
    pub(super) fn implied(&self) -> Option<usize> {
        self.implied
    }

    /// The threshold between block `b` and the block below.
    pub(super) fn threshold(&self, b: usize) -> f64 {
        if b == 0 { f64::NEG_INFINITY } else { super::midpoint(self.values[b - 1], self.values[b]) }
    }
}
