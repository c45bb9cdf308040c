//! The one error type of the crate.

/// Everything that can go wrong, with what a caller needs to fix it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two arrays differ in length.
    #[error("{name} has length {got}, expected {expected}")]
    Length {
        /// The argument.
        name: &'static str,
        /// The length it needs.
        expected: usize,
        /// The length it has.
        got: usize,
    },
    /// A value is NaN or infinite.
    #[error("{name} must be finite, got {value} at index {index}")]
    NonFinite {
        /// The argument.
        name: &'static str,
        /// Where the first such value is.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A scalar lies outside its domain.
    #[error("{name} must be {domain}, got {value}")]
    Domain {
        /// The argument.
        name: &'static str,
        /// What the argument must be.
        domain: &'static str,
        /// What it is.
        value: String,
    },
    /// The labels have one class only.
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

impl Error {
    pub(crate) fn domain(name: &'static str, domain: &'static str, value: impl Into<String>) -> Self {
        Error::Domain { name, domain, value: value.into() }
    }

    pub(crate) fn check_len(name: &'static str, expected: usize, got: usize) -> Result<()> {
        if expected == got { Ok(()) } else { Err(Error::Length { name, expected, got }) }
    }

    /// Checks a number; `domain` says in words for which ones it `holds`.
    pub(crate) fn check_number(name: &'static str, domain: &'static str, value: f64, holds: bool) -> Result<()> {
        if holds { Ok(()) } else { Err(Error::domain(name, domain, value.to_string())) }
    }

    /// Checks a rate.
    pub(crate) fn check_rate(name: &'static str, value: f64) -> Result<()> {
        Error::check_number(name, "between 0 and 1", value, (0.0..=1.0).contains(&value))
    }

    /// Checks a number of resamples.
    pub(crate) fn check_count(name: &'static str, value: usize) -> Result<()> {
        if value <= u32::MAX as usize {
            return Ok(());
        }
        Err(Error::domain(name, "at most 2^32 - 1", value.to_string()))
    }

    /// Checks the total weight of each class: measures multiply and divide by it, and by rates down to 1e-100.
    pub(crate) fn check_totals(pos: f64, neg: f64) -> Result<()> {
        if [pos, neg].iter().all(|sum| (1e-100..=1e100).contains(sum)) {
            return Ok(());
        }
        let domain = "scaled so that each class sums to between 1e-100 and 1e100";
        Err(Error::domain("weights", domain, format!("sums of {pos:e} (positives) and {neg:e} (negatives)")))
    }

    /// Checks that both classes have a weight, as [`Error::check_totals`] does; their sizes are for the error.
    pub(crate) fn check_classes([pos, neg]: [f64; 2], [n_pos, n_neg]: [usize; 2]) -> Result<()> {
        if pos == 0.0 || neg == 0.0 { Err(Error::OneClass { n_pos, n_neg }) } else { Error::check_totals(pos, neg) }
    }

    /// Checks for one finite, non-negative weight per sample.
    pub(crate) fn check_weights(n_samples: usize, weights: &[f64]) -> Result<()> {
        Error::check_len("weights", n_samples, weights.len())?;
        match weights.iter().enumerate().find(|(_, w)| !(**w >= 0.0 && w.is_finite())) {
            None => Ok(()),
            Some((index, &value)) if !value.is_finite() => Err(Error::NonFinite { name: "weights", index, value }),
            Some((index, value)) => Err(Error::domain("weights", "non-negative", format!("{value} at index {index}"))),
        }
    }

    /// The error for the first value of `values` that is NaN or infinite.
    ///
    /// Kernels detect a bad value inside their own pass over the data; only then is this second pass made.
    pub(crate) fn first_non_finite<S: Copy + Into<f64>>(name: &'static str, values: &[S]) -> Error {
        let mut values = values.iter().map(|&value| value.into()).enumerate();
        let (index, value) = values.find(|(_, v)| !v.is_finite()).unwrap_or((0, f64::NAN));
        Error::NonFinite { name, index, value }
    }
}
