//! False positive ranges and the ranks of negatives they select.

use crate::{Error, Result};

/// A range `[low, high]` of false positive rates, `0 <= low < high <= 1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateRange {
    low: f64,
    high: f64,
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
        Err(Error::Domain { name: "range", domain, value: format!("({low}, {high})") })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_do_not_slip() {
        let ranks = |low, high, n| RateRange::new(low, high).unwrap().ranks(Negatives::Whole(n));
        assert_eq!(ranks(0.0, 0.1, 30.0), (0.0, 3.0));
        assert_eq!(ranks(0.1, 0.3, 30.0), (3.0, 9.0));
        assert_eq!(ranks(0.02, 0.05, 101.0), (2.0, 6.0));
        assert_eq!(ranks(0.0, 1.0, 7.0), (0.0, 7.0));
        assert_eq!(ranks(0.0, 1e-6, 10.0), (0.0, 1.0));
        assert_eq!(ranks(1.0 - 1e-12, 1.0, 10.0), (9.0, 10.0));
    }

    #[test]
    fn every_tenth_of_every_count_is_exact() {
        for n in 1..2000usize {
            for tenths in 1..=10usize {
                let range = RateRange::new(0.0, tenths as f64 / 10.0).unwrap();
                let (_, high) = range.ranks(Negatives::Whole(n as f64));
                assert_eq!(high, (n * tenths).div_ceil(10) as f64, "n = {n}, rate = {tenths}/10");
            }
        }
    }

    #[test]
    fn refuses_what_is_not_a_range() {
        for (low, high) in
            [(0.5, 0.5), (0.6, 0.2), (-0.1, 0.5), (0.0, 1.1), (0.0, 5e-324), (f64::NAN, 0.5), (0.0, f64::NAN)]
        {
            assert!(RateRange::new(low, high).is_err(), "({low}, {high})");
        }
        // Times a number of negatives, both ends may be the same.
        assert!(RateRange::new(0.3, 0.3_f64.next_up()).is_err());
        assert!(RateRange::new(0.0, 1e-99).is_ok());
    }
}
