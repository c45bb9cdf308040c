//! Two-class labels of any common type, read where they lie.

use crate::simd::fast;
use crate::{Error, Result};

/// Labels in the caller's memory; the greater of the two values is the positive class.
#[derive(Debug, Clone, Copy)]
pub struct Labels<'a> {
    values: Values<'a>,
    n_pos: usize,
}

/// A type of label that [`Labels`] reads.
pub trait Label: Copy + PartialOrd + Sync {
    #[doc(hidden)]
    fn labels(values: &[Self], positive: Self, n_pos: usize) -> Labels<'_>;
}

macro_rules! labels {
    ($($type:ty => $variant:ident),*) => {
        /// The label types, each with the value of the positive class.
        #[derive(Debug, Clone, Copy)]
        enum Values<'a> {
            $($variant(&'a [$type], $type)),*
        }

        $(impl Label for $type {
            fn labels(values: &[Self], positive: Self, n_pos: usize) -> Labels<'_> {
                Labels { values: Values::$variant(values, positive), n_pos }
            }
        })*

        impl Labels<'_> {
            /// Number of samples.
            pub fn n_samples(&self) -> usize {
                match self.values {
                    $(Values::$variant(values, _) => values.len()),*
                }
            }

            /// Writes to `out` whether the samples from `from` on are positive.
            pub(crate) fn fill(&self, from: usize, out: &mut [bool]) {
                match self.values {
                    $(Values::$variant(values, positive) => {
                        out.iter_mut().zip(&values[from..]).for_each(|(out, value)| *out = *value == positive);
                    })*
                }
            }
        }
    };
}
labels!(bool => Bool, u8 => U8, i8 => I8, i32 => I32, i64 => I64, f64 => F64);

impl<'a> From<&'a crate::Problem> for Labels<'a> {
    fn from(problem: &'a crate::Problem) -> Self {
        Labels::of_bools(problem.labels(), problem.n_pos())
    }
}

/// Labels unpacked at a time: they fit the first-level cache beside their scores.
pub(crate) const TILE: usize = 1 << 11;

impl<'a> Labels<'a> {
    /// Finds the two classes of `values`. O(N), nothing is copied.
    ///
    /// # Errors
    /// [`Error::OneClass`] for one class or none, [`Error::Domain`] naming `labels` for a third value or NaN,
    /// [`Error::TooLarge`].
    pub fn new<T: Label>(values: &'a [T]) -> Result<Self> {
        if values.len() >= u32::MAX as usize {
            return Err(Error::TooLarge { n_samples: values.len() });
        }
        let Some(&first) = values.first() else {
            return Err(Error::OneClass { n_pos: 0, n_neg: 0 });
        };
        let Some(&other) = values.iter().find(|v| **v != first) else {
            return Err(Error::OneClass { n_pos: values.len(), n_neg: 0 });
        };
        let [n_first, n_other] = counts(values, [first, other]);
        if n_first + n_other != values.len() {
            return Err(Error::domain("labels", "of two classes", "a third value"));
        }
        let (positive, n_pos) = if other > first { (other, n_other) } else { (first, n_first) };
        Ok(T::labels(values, positive, n_pos))
    }

    /// Labels with a known number of positives, possibly none or all.
    pub(crate) fn of_bools(values: &'a [bool], n_pos: usize) -> Self {
        bool::labels(values, true, n_pos)
    }

    /// Number of positive samples.
    pub fn n_pos(&self) -> usize {
        self.n_pos
    }

    /// Number of negative samples.
    pub fn n_neg(&self) -> usize {
        self.n_samples() - self.n_pos
    }

    /// Whether the same samples are positive.
    pub(crate) fn same(&self, other: &Labels<'_>) -> bool {
        let n = self.n_samples();
        n == other.n_samples() && self.positives(0, n) == other.positives(0, n)
    }

    /// Whether a sample is positive.
    pub(crate) fn is_positive(&self, sample: usize) -> bool {
        let mut positive = [false];
        self.fill(sample, &mut positive);
        positive[0]
    }

    /// The labels `from .. to`, unpacked.
    pub(crate) fn positives(&self, from: usize, to: usize) -> Vec<bool> {
        let mut out = vec![false; to - from];
        self.fill(from, &mut out);
        out
    }
}

/// How often each of two values occurs.
fn counts<T: Label>(values: &[T], of: [T; 2]) -> [usize; 2] {
    fast!({
        let mut counts = [0; 2];
        // At most 255 at a time, which a byte can count.
        for few in values.chunks(128) {
            for (count, of) in counts.iter_mut().zip(of) {
                *count += usize::from(few.iter().fold(0u8, |n, &v| n.wrapping_add(u8::from(v == of))));
            }
        }
        counts
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greater_value_is_positive() {
        let labels = Labels::new(&[2i64, -1, 2, -1, -1]).unwrap();
        assert_eq!((labels.n_pos(), labels.n_neg()), (2, 3));
        assert_eq!(labels.positives(1, 3), [false, true]);
        assert_eq!(Labels::new(&[false, true]).unwrap().n_pos(), 1);
    }

    #[test]
    fn refuses_all_but_two_classes() {
        assert!(matches!(Labels::new(&[0i64, 1, 2]), Err(Error::Domain { name: "labels", .. })));
        assert!(matches!(Labels::new(&[0.0, f64::NAN, 1.0]), Err(Error::Domain { name: "labels", .. })));
        assert!(matches!(Labels::new(&[1u8, 1]), Err(Error::OneClass { .. })));
        assert!(matches!(Labels::new::<bool>(&[]), Err(Error::OneClass { .. })));
    }
}
