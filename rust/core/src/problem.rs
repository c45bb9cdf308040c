//! Labels, validated once.

use crate::{Error, Result};

/// The two classes of a ranking problem.
///
/// `m` positive and `n` negative samples among `N = m + n`; every kernel of the crate takes one of these beside the
/// scores, so that labels are checked and counted once per data set and not once per call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    labels: Vec<bool>,
    n_pos: usize,
}

impl Problem {
    /// Checks `labels` (`true` = positive).
    ///
    /// # Errors
    /// [`Error::OneClass`] unless both classes are present, [`Error::TooLarge`] for 2^32 samples or more.
    pub fn new(labels: Vec<bool>) -> Result<Self> {
        if labels.len() >= u32::MAX as usize {
            return Err(Error::TooLarge { n_samples: labels.len() });
        }
        let n_pos = labels.iter().filter(|&&positive| positive).count();
        let n_neg = labels.len() - n_pos;
        if n_pos == 0 || n_neg == 0 {
            return Err(Error::OneClass { n_pos, n_neg });
        }
        Ok(Self { labels, n_pos })
    }

    /// The labels, `true` for a positive sample.
    pub fn labels(&self) -> &[bool] {
        &self.labels
    }

    /// N, the number of samples.
    pub fn n_samples(&self) -> usize {
        self.labels.len()
    }

    /// m, the number of positive samples.
    pub fn n_pos(&self) -> usize {
        self.n_pos
    }

    /// n, the number of negative samples.
    pub fn n_neg(&self) -> usize {
        self.labels.len() - self.n_pos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_classes() {
        let problem = Problem::new(vec![true, false, false]).unwrap();
        assert_eq!((problem.n_samples(), problem.n_pos(), problem.n_neg()), (3, 1, 2));
    }

    #[test]
    fn refuses_a_single_class() {
        assert_eq!(Problem::new(vec![true]), Err(Error::OneClass { n_pos: 1, n_neg: 0 }));
        assert_eq!(Problem::new(vec![]), Err(Error::OneClass { n_pos: 0, n_neg: 0 }));
    }
}
