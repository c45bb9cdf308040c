//! Sums that lose nothing to the order of magnitude of their terms.

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

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Sum::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn keeps_small_terms() {
        assert_eq!([1e100, 1.0, -1e100].into_iter().collect::<Sum>().value(), 1.0);
    }
}
