//! Counts of pairs.

use crate::count::rank_sums::Found;

/// Sums over all pairs of a positive and a negative sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PairCounts {
    /// Pairs whose positive scores higher.
    pub(crate) won: u128,
    /// Pairs of equal scores.
    pub(crate) tied: u128,
    /// By class, the sum over its samples of `(2 below + tied)^2`, counted in the other class; 0 unless wanted.
    pub(crate) squares: [u128; 2],
}

impl PairCounts {
    /// Twice the number of won pairs, tied ones counting half.
    pub(crate) fn doubled(&self) -> u128 {
        2 * self.won + self.tied
    }

    pub(crate) fn add(&mut self, other: PairCounts) {
        self.won += other.won;
        self.tied += other.tied;
        self.squares.iter_mut().zip(other.squares).for_each(|(sum, more)| *sum += more);
    }

    /// The counts of blocks of equal scores, by ascending score: the positives and the negatives of each.
    pub(crate) fn of_blocks(blocks: impl Iterator<Item = [u64; 2]>) -> Self {
        let (mut below, mut counts) = ([0u64; 2], Self::default());
        for [n_pos, n_neg] in blocks {
            // Twice the numbers of the other class below, ties counted half: less than 2^33.
            let [of_pos, of_neg] = [2 * below[1] + n_neg, 2 * below[0] + n_pos].map(u128::from);
            counts.won += u128::from(n_pos * below[1]);
            counts.tied += u128::from(n_pos * n_neg);
            counts.squares[0] += u128::from(n_pos) * of_pos.pow(2);
            counts.squares[1] += u128::from(n_neg) * of_neg.pow(2);
            below = [below[0] + n_pos, below[1] + n_neg];
        }
        counts
    }

    /// The counts from the look-ups of class `asking` (0 positive, 1 negative) in a table of the other, and the squares
    /// of both sides.
    pub(crate) fn of_found(asking: usize, sizes: [usize; 2], found: Found, squares: [u128; 2]) -> Self {
        let tied = found.up_to - found.below;
        let won = if asking == 0 { found.below } else { sizes[0] as u128 * sizes[1] as u128 - found.up_to };
        Self { won, tied, squares: [squares[asking], squares[1 - asking]] }
    }

    /// Adds the pairs of these samples, `sizes` of each class, with those in the buckets `below`.
    pub(crate) fn above(self, sizes: [usize; 2], below: [u64; 2]) -> Self {
        let [n_pos, n_neg] = sizes.map(|size| size as u128);
        let [pos_below, neg_below] = below.map(u128::from);
        let [pos, neg] = [self.doubled(), 2 * n_pos * n_neg - self.doubled()];
        let shifted = |squares: u128, sum: u128, by: u128, n: u128| squares + 2 * by * sum + by * by * n;
        let squares =
            [shifted(self.squares[0], pos, 2 * neg_below, n_pos), shifted(self.squares[1], neg, 2 * pos_below, n_neg)];
        Self { won: self.won + n_pos * neg_below, squares, ..self }
    }
}

/// Which sums to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The pairs.
    Pairs,
    /// The pairs and the squares.
    Squares,
}
