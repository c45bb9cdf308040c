//! Labels, validated once.

use crate::{Error, Negatives, RateRange, Result};

/// `m` positive and `n` negative samples among `N = m + n`, with weights if they have any.
///
/// Risks take one beside the scores, so that labels are checked once per data set and not once per call.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    labels: Vec<bool>,
    n_pos: usize,
    weights: Option<Weights>,
}

/// Sample weights, and the total weight of each class.
#[derive(Debug, Clone, PartialEq)]
struct Weights {
    values: Vec<f64>,
    pos: f64,
    neg: f64,
    whole: bool,
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
        Ok(Self { labels, n_pos, weights: None })
    }

    /// Labels with a weight for each sample: a pair weighs `w_i w_j`.
    ///
    /// Whole weights are frequency weights: a sample of weight w counts as w equal samples, and is ignored if w is 0.
    /// With other weights a range ends at exactly the shares `a` and `b` of the negatives' weight, since there are no
    /// ranks to round to. Weights that are all 1 are dropped.
    ///
    /// # Errors
    /// Those of [`Problem::new`]; [`Error::Length`], [`Error::NonFinite`] and [`Error::Domain`] naming `weights`;
    /// [`Error::OneClass`], with the numbers of samples of positive weight, if a class has no weight.
    pub fn weighted(labels: Vec<bool>, weights: Vec<f64>) -> Result<Self> {
        Error::check_weights(labels.len(), &weights)?;
        let problem = Self::new(labels)?;
        if weights.iter().all(|&w| w == 1.0) {
            return Ok(problem);
        }
        let of = |class: bool| {
            let members = problem.labels.iter().zip(&weights).filter(move |(label, _)| **label == class);
            members.map(|(_, &w)| w)
        };
        let count = |class| of(class).filter(|&w| w > 0.0).count();
        let (pos, neg) = (of(true).sum::<f64>(), of(false).sum::<f64>());
        Error::check_classes([pos, neg], [count(true), count(false)])?;
        // Beyond 2^53 whole numbers have gaps.
        let whole = f64::max(pos, neg) < 9e15 && weights.iter().all(|w| w.fract() == 0.0);
        let weights = Some(Weights { values: weights, pos, neg, whole });
        Ok(Self { weights, ..problem })
    }

    /// The weight of each sample; `None` if all are 1.
    pub fn sample_weight(&self) -> Option<&[f64]> {
        self.weights.as_ref().map(|weights| &weights.values[..])
    }

    /// `(j_a, j_b)` of a range: ranks of negatives, or sums of their weights in descending order of the scores.
    pub fn ranks(&self, range: RateRange) -> (f64, f64) {
        range.ranks(self.counted(self.totals().1))
    }

    /// The same for the positives, as a range of true positive rates needs.
    pub(crate) fn positive_ranks(&self, range: RateRange) -> (f64, f64) {
        range.ranks(self.counted(self.totals().0))
    }

    /// The total weight of a class, and whether it is a number of samples.
    fn counted(&self, total: f64) -> Negatives {
        match &self.weights {
            Some(weights) if !weights.whole => Negatives::Shares(total),
            _ => Negatives::Whole(total),
        }
    }

    /// Total weight of the positives and of the negatives: the numbers of samples if no weights are given.
    pub(crate) fn totals(&self) -> (f64, f64) {
        self.weights.as_ref().map_or((self.n_pos as f64, self.n_neg() as f64), |weights| (weights.pos, weights.neg))
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
