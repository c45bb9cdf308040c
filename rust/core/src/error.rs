//! The one error type of the crate.

/// Everything that can go wrong, each with what a caller needs to mend it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two arrays that must agree in length do not.
    #[error("{name} has length {got}, expected {expected}")]
    Length {
        /// The offending argument.
        name: &'static str,
        /// The length it must have.
        expected: usize,
        /// The length it has.
        got: usize,
    },
    /// A value is NaN or infinite.
    #[error("{name} must be finite, got {value} at index {index}")]
    NonFinite {
        /// The offending argument.
        name: &'static str,
        /// The first offending position.
        index: usize,
        /// The value there.
        value: f64,
    },
    /// A scalar lies outside its domain.
    #[error("{name} must be {domain}, got {value}")]
    Domain {
        /// The offending argument.
        name: &'static str,
        /// What it must be.
        domain: &'static str,
        /// What it is, as text.
        value: String,
    },
    /// The labels hold no positive or no negative sample.
    #[error("only one class: {n_pos} positive and {n_neg} negative samples; both are needed")]
    OneClass {
        /// Number of positive samples.
        n_pos: usize,
        /// Number of negative samples.
        n_neg: usize,
    },
    /// More samples than an index of 32 bits can hold.
    #[error("{n_samples} samples are more than 2^32 - 1, the most that is supported")]
    TooLarge {
        /// The number of samples.
        n_samples: usize,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// `std::result::Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Resamples, at most.
const MOST_RESAMPLES: usize = u32::MAX as usize;

impl Error {
    pub(crate) fn check_len(name: &'static str, expected: usize, got: usize) -> Result<()> {
        if expected == got { Ok(()) } else { Err(Error::Length { name, expected, got }) }
    }

    /// A number of resamples that can be counted and kept.
    pub(crate) fn check_count(name: &'static str, value: usize) -> Result<()> {
        if value <= MOST_RESAMPLES {
            return Ok(());
        }
        Err(Error::Domain { name, domain: "at most 2^32 - 1", value: value.to_string() })
    }

    /// Sums of the weights of either class that measures can multiply and divide by, and by rates of 1e-100.
    pub(crate) fn check_totals(pos: f64, neg: f64) -> Result<()> {
        if [pos, neg].iter().all(|sum| (1e-100..=1e100).contains(sum)) {
            return Ok(());
        }
        Err(Error::Domain {
            name: "weights",
            domain: "of a size that the sum of each class is between 1e-100 and 1e100 (scale the weights)",
            value: format!("sums of {pos:e} (positives) and {neg:e} (negatives)"),
        })
    }

    /// One finite, non-negative weight for each of `n_samples`.
    pub(crate) fn check_weights(n_samples: usize, weights: &[f64]) -> Result<()> {
        Error::check_len("weights", n_samples, weights.len())?;
        match weights.iter().enumerate().find(|(_, w)| !(**w >= 0.0 && w.is_finite())) {
            None => Ok(()),
            Some((index, &value)) if !value.is_finite() => Err(Error::NonFinite { name: "weights", index, value }),
            Some((index, value)) => Err(Error::Domain {
                name: "weights",
                domain: "non-negative",
                value: format!("{value} at index {index}"),
            }),
        }
    }

    /// The error for the first value of `values` that is NaN or infinite.
    ///
    /// Kernels detect a bad value inside their own pass over the data; only then is this second pass made.
    pub(crate) fn first_non_finite(name: &'static str, values: &[f64]) -> Error {
        let index = values.iter().position(|v| !v.is_finite()).unwrap_or(0);
        Error::NonFinite { name, index, value: values.get(index).copied().unwrap_or(f64::NAN) }
    }
}
