//! The mean hinge over a list of pairs.

use std::ops::Range;

use super::PairList;
use crate::risk::Evaluation;
use crate::{CHUNK, Ctx, Error, Result};

/// The least pairs of a task; for each task the counts of all samples are cleared and added up.
const PAIRS: usize = 4 * CHUNK;

/// What the pairs of some positives add up to.
struct Part {
    /// The hinge.
    sum: f64,
    /// The pairs in the right order.
    won: usize,
    /// How many pairs of each of the positives count.
    of_rows: Vec<u32>,
    /// How many pairs of each sample count, as the negative.
    of_samples: Vec<u32>,
}

impl PairList {
    /// R(s) = 1/p sum over the p pairs (i, j) of (1 - s_i + s_j)_+, a subgradient in `coef`. O(N + p).
    ///
    /// A pair counts in the subgradient if `s_j > s_i - 1` in double precision. `partial_auc` is the share of the pairs
    /// in the right order.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::NonFinite`] for bad scores, [`Error::Domain`] if their differences overflow,
    /// [`Error::Interrupted`].
    pub fn hinge(&self, scores: &[f64], coef: &mut [f64], ctx: &Ctx<'_>) -> Result<Evaluation> {
        Error::check_len("scores", self.n_samples(), scores.len())?;
        Error::check_len("coef", self.n_samples(), coef.len())?;
        if !scores.iter().all(|score| score.is_finite()) {
            return Err(Error::first_non_finite("scores", scores));
        }
        let parts = self.parts(PAIRS.max(4 * scores.len()));
        let one = |rows: Range<usize>| (rows.start, self.part(rows, scores));
        let (mut sum, mut won, mut active) = (0.0, 0, 0);
        coef.fill(0.0);
        // Whole numbers up to 2^53 are exact in any order.
        ctx.fold(parts, one, |(first, part)| {
            sum += part.sum;
            won += part.won;
            for (&row, &count) in self.rows[first..].iter().zip(&part.of_rows) {
                active += u64::from(count);
                coef[row as usize] -= f64::from(count);
            }
            coef.iter_mut().zip(&part.of_samples).for_each(|(coef, &count)| *coef += f64::from(count));
        })?;
        if !sum.is_finite() {
            let domain = "small enough for the sum of their differences to be finite";
            return Err(Error::domain("scores", domain, format!("a risk of {sum}")));
        }
        let p = self.n_pairs() as f64;
        coef.iter_mut().for_each(|coef| *coef /= p);
        Ok(Evaluation { value: sum / p, offset: active as f64 / p, partial_auc: won as f64 / p })
    }

    fn part(&self, rows: Range<usize>, scores: &[f64]) -> Part {
        let of_rows = Vec::with_capacity(rows.len());
        let mut part = Part { sum: 0.0, won: 0, of_rows, of_samples: vec![0; scores.len()] };
        for row in rows {
            let s = scores[self.rows[row] as usize];
            let (limit, mut sum, mut count) = (s - 1.0, 0.0, 0);
            for &j in &self.negatives[self.of_row(row)] {
                let t = scores[j as usize];
                let counts = u32::from(t > limit);
                sum += f64::max(t - limit, 0.0);
                count += counts;
                part.of_samples[j as usize] += counts;
                part.won += usize::from(s > t);
            }
            part.sum += sum;
            part.of_rows.push(count);
        }
        part
    }
}
