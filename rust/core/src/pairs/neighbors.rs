//! The pairs of near samples.

use super::PairList;
use super::list::classes;
use super::nearest::{keep, nearest};
use crate::{Ctx, Error, Problem, Result};

/// Which of the near samples of the other class make pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Near {
    /// The positives among the k nearest of any negative, each with its k nearest negatives (Rakotomamonjy, 2004).
    TwoStep,
    /// Every sample with its k nearest of the other class (Wang, Chen and Xue, 2010).
    Symmetric,
}

/// What distances are measured by.
#[derive(Debug, Clone, Copy)]
pub enum Space<'a> {
    /// Rows of features, row after row: Euclidean distances.
    Features(&'a [f64]),
    /// A kernel matrix: distances in its space.
    Kernel(&'a [f64]),
}

/// The pairs of a rule, each once. Of equally near samples the lower row is nearer; all of a class with fewer than `k`
/// samples are near.
///
/// O(m n d) time for d features, O(m n) with a kernel matrix; O(N (d + k)) memory.
///
/// # Errors
/// [`Error::Length`] if `space` has no row for each sample; those of [`nearest`]; [`Error::Domain`] if `k` is 0.
pub fn neighbors(problem: &Problem, space: Space<'_>, k: usize, near: Near, ctx: &Ctx<'_>) -> Result<PairList> {
    let [positives, negatives] = classes(problem);
    let n_samples = problem.n_samples();
    let (Space::Features(values) | Space::Kernel(values)) = space;
    let dim = values.len() / n_samples;
    let expected = if matches!(space, Space::Kernel(_)) { n_samples } else { dim } * n_samples;
    Error::check_len("space", expected, values.len())?;
    let pairs_of = |queries: &[u32], targets: &[u32]| -> Result<Vec<(u32, u32)>> {
        let found = match space {
            Space::Features(_) => {
                let [of_queries, of_targets] = [queries, targets].map(|rows| {
                    rows.iter().flat_map(|&row| &values[row as usize * dim..][..dim]).copied().collect::<Vec<_>>()
                });
                nearest(&of_queries, &of_targets, dim, k, ctx)?
            }
            Space::Kernel(_) => nearest_by_kernel(values, queries, targets, k, ctx)?,
        };
        let each = found.len() / queries.len().max(1);
        let pair = |(at, &target): (usize, &u32)| (queries[at / each], targets[target as usize]);
        Ok(found.iter().enumerate().map(pair).collect())
    };
    let of_negatives = pairs_of(&negatives, &positives)?;
    let pairs = match near {
        Near::TwoStep => {
            let mut used: Vec<u32> = of_negatives.into_iter().map(|(_, i)| i).collect();
            used.sort_unstable();
            used.dedup();
            pairs_of(&used, &negatives)?
        }
        Near::Symmetric => {
            let mut pairs = pairs_of(&positives, &negatives)?;
            pairs.extend(of_negatives.into_iter().map(|(j, i)| (i, j)));
            pairs
        }
    };
    PairList::union(problem, pairs, ctx)
}

/// As [`nearest`], in the space of a kernel matrix.
fn nearest_by_kernel(gram: &[f64], queries: &[u32], targets: &[u32], k: usize, ctx: &Ctx<'_>) -> Result<Vec<u32>> {
    if !gram.iter().all(|v| v.is_finite()) {
        return Err(Error::first_non_finite("space", gram));
    }
    let n_samples = gram.len().isqrt();
    let of_query = |query: u32| {
        let (row, mut found) = (&gram[query as usize * n_samples..][..n_samples], Vec::new());
        for (&target, index) in targets.iter().zip(0..) {
            let target = target as usize;
            let squared = row[query as usize] + gram[target * n_samples + target] - 2.0 * row[target];
            keep(&mut found, k, squared, index);
        }
        found.into_iter().map(|(_, index)| index).collect::<Vec<_>>()
    };
    Ok(ctx.map(queries.to_vec(), of_query)?.concat())
}
