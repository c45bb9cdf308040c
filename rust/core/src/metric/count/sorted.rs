//! Counting by a sort: scores that are few, or of which many tie.

use super::sums::{PairCounts, Wanted};
use crate::metric::classes::sorted_classes;
use crate::metric::labels::Labels;
use crate::metric::score::Score;
use crate::{Ctx, Result};

/// The pairs of all samples. O(N log N).
///
/// # Errors
/// Those of [`crate::metric::auc`].
pub(crate) fn count<S: Score>(labels: &Labels<'_>, scores: &[S], wanted: Wanted, ctx: &Ctx<'_>) -> Result<PairCounts> {
    // Keys ascend as scores descend.
    let [pos, neg] = sorted_classes(labels, &S::wide(scores), None, |key, _| key, ctx)?;
    let above = |of: &[u64], among: &[u64]| [0, 1].map(|tied| ranks(of, among, tied));
    let of_neg = above(&neg, &pos);
    let sum = |ranks: &[u32]| ranks.iter().map(|&rank| u64::from(rank)).sum::<u64>();
    let [won, up_to] = of_neg.each_ref().map(|ranks| u128::from(sum(ranks)));
    let mut counts = PairCounts { won, tied: up_to - won, squares: [0; 2] };
    if wanted == Wanted::Squares {
        let squares = |[above, up_to]: [Vec<u32>; 2], all: usize| {
            let both = above.iter().zip(up_to).map(|(&above, up_to)| u128::from(above) + u128::from(up_to));
            both.map(|both| (2 * all as u128 - both).pow(2)).sum()
        };
        counts.squares = [squares(above(&pos, &neg), neg.len()), squares(of_neg, pos.len())];
    }
    Ok(counts)
}

/// For each key of one class how many of the other are less, or with `tied` 1 no greater; both ascend.
fn ranks(of: &[u64], among: &[u64], tied: u64) -> Vec<u32> {
    let mut ranks = vec![0; of.len()];
    let (mut i, mut j) = (0, 0);
    while i < of.len() && j < among.len() {
        // Written until it is right: no branch depends on which is less.
        ranks[i] = j as u32;
        let less = usize::from(among[j] < of[i] + tied);
        (i, j) = (i + 1 - less, j + less);
    }
    ranks[i..].fill(j as u32);
    ranks
}
