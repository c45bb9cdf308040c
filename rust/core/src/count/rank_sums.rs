//! Sums over the ranks that scores of one class have among those of the other.

/// What a number of scores find in a table: sums over them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Of the scores of the table that are below.
    pub(crate) below: u128,
    /// Of those that are below or equal.
    pub(crate) up_to: u128,
}

impl Found {
    pub(crate) fn add(&mut self, other: Found) {
        self.below += other.below;
        self.up_to += other.up_to;
    }
}

/// How many have a rank, be it below or below or equal.
#[inline(always)]
fn both(counts: u64) -> u64 {
    (counts & u64::from(u32::MAX)).wrapping_add(counts >> 32)
}

/// The sums of all ranks and of their squares; and that of the squares of how many are up to each.
macro_rules! sums {
    ($integer:ty, $counts:expr) => {{
        let (mut seen, mut total, mut squares, mut of_table): ($integer, $integer, $integer, $integer) = (0, 0, 0, 0);
        for (&counts, k) in $counts.iter().zip(0u64..) {
            let (count, k) = (<$integer>::from(both(counts)), <$integer>::from(k));
            // What the k-th score of the table is above, counted twice, follows with the ranks up to k.
            of_table = of_table.wrapping_add(seen.wrapping_mul(seen));
            seen = seen.wrapping_add(count);
            let ranks = k.wrapping_mul(count);
            total = total.wrapping_add(ranks);
            squares = squares.wrapping_add(k.wrapping_mul(ranks));
        }
        [total, squares, of_table].map(u128::from)
    }};
}

/// How many scores find which ranks in a table.
#[derive(Debug, Default)]
pub(crate) struct Ranks {
    /// By k, how many have k scores of the table below, and times 2^32 how many have k below or equal.
    pub(crate) counts: Vec<u64>,
    /// How many scores of the table tie with each, summed.
    pub(crate) ties: u128,
    /// The same, squared.
    pub(crate) squared_ties: u128,
}

/// What counts ranks, one after the other.
pub(crate) struct Counter<'a> {
    counts: &'a mut [u64],
    ties: &'a mut u128,
    squared_ties: &'a mut u128,
}

impl Counter<'_> {
    /// Counts one that has so many below, and so many below or equal.
    #[inline(always)]
    pub(crate) fn count(&mut self, [below, up_to]: [u32; 2]) {
        if below == up_to { self.count_untied(below) } else { self.count_tied([below, up_to]) }
    }

    /// Counts one that ties with none.
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
    /// What one counts that has as many below as below or equal.
    pub(crate) const UNTIED: u64 = 1 | 1 << 32;

    /// Where to count: by k, and what ties.
    pub(crate) fn counter(&mut self) -> Counter<'_> {
        Counter { counts: &mut self.counts, ties: &mut self.ties, squared_ties: &mut self.squared_ties }
    }

    /// Forgets all, for a table of `len` scores.
    pub(crate) fn clear(&mut self, len: usize) {
        let mut counts = std::mem::take(&mut self.counts);
        counts.clear();
        counts.resize(len + 1, 0);
        *self = Self { counts, ..Self::default() };
    }

    /// The sums over those that asked; and the sums of squares of `below + up_to`, over them and over the table, where
    /// both are counted among those that asked.
    pub(crate) fn sums(&self) -> (Found, [u128; 2]) {
        let n: u64 = self.counts.iter().fold(0, |n, counts| n.wrapping_add(both(*counts)));
        let small = n < 1 << 21 && self.counts.len() < 1 << 20;
        let [total, squares, of_table] = if small { sums!(u64, self.counts) } else { sums!(u128, self.counts) };
        let found = Found { below: (total - self.ties) / 2, up_to: (total + self.ties) / 2 };
        // (below + up_to)^2 is twice the sum of both squares, less the square of their difference.
        (found, [2 * squares - self.squared_ties, of_table])
    }
}
