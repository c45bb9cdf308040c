//! False positive ranges and the ranks of negatives they select.

use std::ops::RangeInclusive;

use crate::{Error, Result};

/// A range `[low, high]` of false positive rates, `0 <= low < high <= 1`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RangeInclusive<f64>", into = "RangeInclusive<f64>"))]
pub struct RateRange {
    low: f64,
    high: f64,
}

impl TryFrom<RangeInclusive<f64>> for RateRange {
    type Error = Error;

    fn try_from(range: RangeInclusive<f64>) -> Result<Self> {
        Self::new(*range.start(), *range.end())
    }
}

impl From<RateRange> for RangeInclusive<f64> {
    fn from(range: RateRange) -> Self {
        range.low..=range.high
    }
}

/// Total weight of the negatives, with its kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Negatives {
    /// All weights are whole numbers, or none are given: sums of them are ranks.
    Whole(f64),
    /// Fractional weights: a range ends at exactly the shares `a` and `b`.
    Shares(f64),
}

/// `count * rate`, moved to the nearest whole number where it is one up to rounding: 30 * 0.1 is 3, not
/// 3.0000000000000004.
fn snapped(count: f64, rate: f64) -> f64 {
    let product = count * rate;
    let whole = product.round();
    if (product - whole).abs() <= f64::max(1e-9, 4.0 * f64::EPSILON * product) { whole } else { product }
}

impl RateRange {
    /// All false positive rates: the whole curve.
    pub const FULL: RateRange = RateRange { low: 0.0, high: 1.0 };

    /// Checks `0 <= low < high <= 1`, and that rounding leaves the ends apart.
    ///
    /// # Errors
    /// [`Error::Domain`] naming `range`.
    pub fn new(low: f64, high: f64) -> Result<Self> {
        if 0.0 <= low && high <= 1.0 && high - low > f64::max(4.0 * f64::EPSILON * high, 1e-100) {
            return Ok(Self { low, high });
        }
        let domain = if low < high {
            "(low, high) with 0 <= low < high <= 1 that differ by more than rounding"
        } else {
            "(low, high) with 0 <= low < high <= 1"
        };
        Err(Error::domain("range", domain, format!("({low}, {high})")))
    }

    /// The lower end, a.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The upper end, b.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// `high - low`.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// `(j_a, j_b) = (floor(n a), ceil(n b))`: the negatives ranked `j_a + 1 ..= j_b` by descending score make up the
    /// range. Products within rounding of a whole number count as that number, and `j_a < j_b` always.
    ///
    /// For a [`crate::Problem`], whose samples may have weights, use [`crate::Problem::ranks`].
    pub fn ranks(&self, negatives: Negatives) -> (f64, f64) {
        let n = match negatives {
            Negatives::Whole(n) => n,
            Negatives::Shares(n) => return (n * self.low, n * self.high),
        };
        let low = snapped(n, self.low).floor().min(n - 1.0).max(0.0);
        let high = snapped(n, self.high).ceil().clamp(low + 1.0, n.max(1.0));
        (low, high)
    }
}
