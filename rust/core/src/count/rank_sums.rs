//! Sums over the ranks of one class in the other.

/// Sums over the look-ups of some scores in a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The scores of the table below them.
    pub(crate) below: u128,
    /// The scores below or equal.
    pub(crate) up_to: u128,
}

impl Found {
    pub(crate) fn add(&mut self, other: Found) {
        self.below += other.below;
        self.up_to += other.up_to;
    }
}

/// How often a rank occurs, of either kind.
#[inline(always)]
fn both(counts: u64) -> u64 {
    (counts & u64::from(u32::MAX)).wrapping_add(counts >> 32)
}

/// How often each rank in a table is found.
#[derive(Debug, Default)]
pub(crate) struct Ranks {
    /// By k, how many scores have k of the table below, plus 2^32 times how many have k below or equal.
    pub(crate) counts: Vec<u64>,
    /// The sum of the numbers of ties.
    pub(crate) ties: u128,
    /// The sum of their squares.
    pub(crate) squared_ties: u128,
}

/// Counts ranks one by one.
pub(crate) struct Counter<'a> {
    counts: &'a mut [u64],
    ties: &'a mut u128,
    squared_ties: &'a mut u128,
}

impl Counter<'_> {
    /// Counts a rank: how many are below, and how many below or equal.
    #[inline(always)]
    pub(crate) fn count(&mut self, [below, up_to]: [u32; 2]) {
        if below == up_to { self.count_untied(below) } else { self.count_tied([below, up_to]) }
    }

    /// Counts a rank without ties.
    #[inline(always)]
    pub(crate) fn count_untied(&mut self, below: u32) {
        let count = &mut self.counts[below as usize];
        *count = count.wrapping_add(Ranks::UNTIED);
    }

    #[inline(never)]
    fn count_tied(&mut self, [below, up_to]: [u32; 2]) {
        self.counts[below as usize] += 1;
        self.counts[up_to as usize] += 1 << 32;
        let tied = u128::from(up_to - below);
        *self.ties += tied;
        *self.squared_ties += tied * tied;
    }
}

impl Ranks {
    /// What a rank without ties adds to its count.
    pub(crate) const UNTIED: u64 = 1 | 1 << 32;

    /// A counter into these ranks.
    pub(crate) fn counter(&mut self) -> Counter<'_> {
        Counter { counts: &mut self.counts, ties: &mut self.ties, squared_ties: &mut self.squared_ties }
    }

    /// Starts over, for a table of `len` scores.
    pub(crate) fn clear(&mut self, len: usize) {
        let mut counts = std::mem::take(&mut self.counts);
        counts.clear();
        counts.resize(len + 1, 0);
        *self = Self { counts, ..Self::default() };
    }

    /// The sums over the look-ups; and the sums of the squares of `below + up_to`, over the look-ups and over the
    /// table.
    pub(crate) fn sums(&self) -> (Found, [u128; 2]) {
        let (mut seen, [mut total, mut squares, mut of_table]) = (0u64, [0u128; 3]);
        let product = |x: u64, y: u64| u128::from(x).wrapping_mul(y.into());
        for (&counts, k) in self.counts.iter().zip(0u64..) {
            let count = both(counts);
            // The ranks up to k count twice what the k-th score of the table is above.
            of_table = of_table.wrapping_add(product(seen, seen));
            seen = seen.wrapping_add(count);
            // Of each class less than 2^32 samples, of both together too: less than 2^64.
            let ranks = k.wrapping_mul(count);
            total = total.wrapping_add(ranks.into());
            squares = squares.wrapping_add(product(k, ranks));
        }
        let found = Found { below: (total - self.ties) / 2, up_to: (total + self.ties) / 2 };
        // (below + up_to)^2 is twice the sum of both squares, less the square of their difference.
        (found, [2 * squares - self.squared_ties, of_table])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_many_ranks_do_not_overflow() {
        let (len, n) = (1usize << 12, 1u64 << 26);
        for place in [0, len - 1] {
            let mut counts = vec![0; len];
            counts[place] = n * Ranks::UNTIED;
            let (n, k, above) = (u128::from(n), place as u128, (len - 1 - place) as u128);
            let found = Found { below: n * k, up_to: n * k };
            let sums = Ranks { counts, ..Ranks::default() }.sums();
            assert_eq!(sums, (found, [n * (2 * k).pow(2), above * (2 * n).pow(2)]));
        }
    }
}
