//! Compensated sums, and shares of two sums.

/// Neumaier's compensated sum: the error is a few units in the last place whatever the number of terms.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    #[inline]
    pub(crate) fn add(&mut self, term: f64) {
        let next = self.total + term;
        self.lost +=
            if self.total.abs() >= term.abs() { (self.total - next) + term } else { (term - next) + self.total };
        self.total = next;
    }

    pub(crate) fn value(self) -> f64 {
        self.total + self.lost
    }
}

/// The won and the lost part of a total, in any unit. Both are sums of non-negative terms, so that the share won lies
/// in [0, 1] and is equally exact near both ends, unlike a sum over a total that was summed differently.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share {
    pub(crate) won: f64,
    pub(crate) lost: f64,
}

impl Share {
    /// The share won.
    pub(crate) fn value(self) -> f64 {
        self.won / (self.won + self.lost)
    }

    /// The share lost.
    pub(crate) fn rest(self) -> f64 {
        self.lost / (self.won + self.lost)
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Sum::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum
    }
}

#[cfg(test)]
mod tests {
    use crate::curve::sum::{Share, Sum};

    #[test]
    fn keeps_small_terms() {
        assert_eq!([1e100, 1.0, -1e100].into_iter().collect::<Sum>().value(), 1.0);
    }

    #[test]
    fn shares_are_exact_at_both_ends() {
        for weight in [0.1, 1e-308, 5e-324, 8e307] {
            let share = |won, lost| Share { won, lost };
            assert_eq!((share(weight, 0.0).value(), share(0.0, weight).value()), (1.0, 0.0));
            assert_eq!((share(weight, weight).value(), share(weight, weight).rest()), (0.5, 0.5));
        }
    }
}
