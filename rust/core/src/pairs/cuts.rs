//! Multipliers of pairs, from those of cuts.
//!
//! A cut counts the pairs with `s_j > s_i - 1` at some scores s, and its multiplier is that of all of them: so a pair has
//! the sum of the multipliers of the cuts that count it. A *level* is a number for each sample and cut: the cut counts
//! (i, j) if the level of i exceeds that of j.

use std::ops::Range;

use super::PairList;
use super::list::classes;
use crate::{CHUNK, Ctx, Error, Problem, Result};

/// The cuts of a model: the multiplier of each, and its level of each sample, sample after sample.
#[derive(Debug, Clone, Copy)]
pub struct Cuts<'a> {
    weights: &'a [f64],
    levels: &'a [f64],
}

impl<'a> Cuts<'a> {
    /// # Errors
    /// [`Error::Length`] if `levels` is no whole number of samples.
    pub fn new(weights: &'a [f64], levels: &'a [f64]) -> Result<Self> {
        let whole = levels.len() / weights.len().max(1) * weights.len();
        Error::check_len("levels", whole, levels.len())?;
        Ok(Self { weights, levels })
    }

    /// The levels of a cut over all pairs, given its coefficients times the number of pairs, or the sum of their weights.
    ///
    /// Sorted by score, the pairs of a cut form a staircase, which its row sums determine: with r_i the sum of a positive,
    /// the cut counts (i, j) if the negatives with a larger sum than j weigh less than r_i. Half the weight of j is added,
    /// so that rounding does not decide. O(N log N).
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn of_sums(problem: &Problem, sums: &[f64]) -> Result<Vec<f64>> {
        Error::check_len("sums", problem.n_samples(), sums.len())?;
        let own = |i: usize| problem.sample_weight().map_or(1.0, |weights| weights[i]);
        let each = |i: usize| sums[i].abs() / if own(i) > 0.0 { own(i) } else { 1.0 };
        let mut levels: Vec<f64> = (0..sums.len()).map(each).collect();
        let [_, mut order] = classes(problem);
        order.sort_by(|&a, &b| levels[b as usize].total_cmp(&levels[a as usize]));
        let mut ahead = 0.0;
        for run in order.chunk_by(|&a, &b| each(a as usize) == each(b as usize)) {
            for &j in run {
                levels[j as usize] = ahead + own(j as usize) / 2.0;
            }
            ahead += run.iter().map(|&j| own(j as usize)).sum::<f64>();
        }
        Ok(levels)
    }

    fn level(&self, sample: u32) -> &[f64] {
        &self.levels[sample as usize * self.weights.len()..][..self.weights.len()]
    }

    /// The sum of the multipliers of the cuts that count a pair of rows.
    pub fn multiplier(&self, (i, j): (u32, u32)) -> f64 {
        let each = self.level(i).iter().zip(self.level(j)).zip(self.weights);
        each.map(|((of_i, of_j), &weight)| if of_i > of_j { weight } else { 0.0 }).sum()
    }

    /// The multiplier of each pair of a list; cut by cut in order. O(cuts) a pair.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Interrupted`].
    pub fn of_list(&self, list: &PairList, ctx: &Ctx<'_>) -> Result<Vec<f64>> {
        Error::check_len("levels", list.n_samples() * self.weights.len(), self.levels.len())?;
        let of_rows = |rows: Range<usize>| {
            let of_pair = |row: usize| list.negatives[list.of_row(row)].iter().map(move |&j| (list.rows[row], j));
            rows.flat_map(of_pair).map(|pair| self.multiplier(pair)).collect::<Vec<_>>()
        };
        let mut found = Vec::with_capacity(list.n_pairs());
        ctx.fold(list.parts(CHUNK), of_rows, |part| found.extend(part))?;
        Ok(found)
    }

    /// The pairs, of all, with a positive multiplier: at most `limit`, and how many there are. O(cuts) for each of the
    /// m n pairs, 8 bytes for each that is listed.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Interrupted`].
    pub fn support(&self, problem: &Problem, limit: usize, ctx: &Ctx<'_>) -> Result<(Vec<(u32, u32)>, usize)> {
        Error::check_len("levels", problem.n_samples() * self.weights.len(), self.levels.len())?;
        let [positives, negatives] = classes(problem);
        let own = |i: u32| problem.sample_weight().map_or(1.0, |weights| weights[i as usize]);
        let of_row = |i: u32| {
            let counted = |&j: &u32| own(i) * own(j) > 0.0 && self.multiplier((i, j)) > 0.0;
            negatives.iter().copied().filter(counted).map(|j| (i, j)).collect::<Vec<_>>()
        };
        let (mut found, mut total) = (Vec::new(), 0);
        ctx.fold(positives, of_row, |part| {
            total += part.len();
            found.extend(part.into_iter().take(limit - found.len()));
        })?;
        Ok((found, total))
    }
}
