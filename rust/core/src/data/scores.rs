//! Scores as risks read them.

use std::ops::Range;

use crate::{Error, Result};

/// One score per sample, or a point on a ray, `base + step * change`, computed where it is read.
#[derive(Debug, Clone, Copy)]
pub struct Scores<'a> {
    base: &'a [f64],
    step: f64,
    change: Option<&'a [f64]>,
}

impl<'a> From<&'a [f64]> for Scores<'a> {
    fn from(base: &'a [f64]) -> Self {
        Self { base, step: 0.0, change: None }
    }
}

impl<'a> Scores<'a> {
    /// `base + step * change`.
    ///
    /// # Errors
    /// [`Error::Length`] unless both have the same length.
    pub fn on_ray(base: &'a [f64], step: f64, change: &'a [f64]) -> Result<Self> {
        Error::check_len("change", base.len(), change.len())?;
        Ok(Self { base, step, change: Some(change) })
    }

    /// The number of scores.
    pub(crate) fn len(&self) -> usize {
        self.base.len()
    }

    /// The i-th score.
    #[inline]
    pub(crate) fn get(&self, i: usize) -> f64 {
        self.base[i] + self.change.map_or(0.0, |change| self.step * change[i])
    }

    /// The scores of `range`, computed into `buffer` if they lie on a ray.
    pub(crate) fn stretch<'b>(&self, range: Range<usize>, buffer: &'b mut Vec<f64>) -> &'b [f64]
    where
        'a: 'b,
    {
        let Some(change) = self.change else { return &self.base[range] };
        buffer.clear();
        buffer.extend(
            self.base[range.clone()].iter().zip(&change[range]).map(|(base, change)| base + self.step * change),
        );
        buffer
    }

    /// The error for the first score that is NaN or infinite.
    pub(crate) fn non_finite(&self) -> Error {
        let index = (0..self.len()).find(|&i| !self.get(i).is_finite()).unwrap_or(0);
        Error::NonFinite { name: "scores", index, value: self.get(index) }
    }
}
