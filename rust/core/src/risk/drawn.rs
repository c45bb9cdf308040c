//! Samples of the rows from which the curvature of a smoothed risk is estimated.

use super::springs::{Curvature, Sample, Stretch};
use crate::order::Entry;
use crate::resample::Stream;
use crate::{Ctx, Error, Problem, Result};

/// Rows that were drawn by weight, one of each stretch of equal weight, and how often.
struct Drawn {
    rows: Vec<usize>,
    counts: Vec<f64>,
    /// Their share of the total weight.
    share: f64,
}

impl Drawn {
    /// Up to `size` of the `wanted` rows of positive weight; all, with their weights, if there are no more.
    fn new(problem: &Problem, wanted: impl Fn(usize) -> bool, size: usize, stream: &mut Stream) -> Self {
        let weight = |i: usize| problem.sample_weight().map_or(1.0, |weights| weights[i]);
        let rows: Vec<usize> = (0..problem.n_samples()).filter(|&i| wanted(i) && weight(i) > 0.0).collect();
        if rows.len() <= size {
            return Self { counts: rows.iter().map(|&i| weight(i)).collect(), rows, share: 1.0 };
        }
        let total = rows.iter().map(|&i| weight(i)).sum::<f64>();
        let mut drawn = Self { rows: Vec::new(), counts: Vec::new(), share: size as f64 / total };
        let (mut at, mut below) = (0, 0.0);
        for k in 0..size {
            let uniform = (stream.next() >> 11) as f64 / (1_u64 << 53) as f64;
            let place = (k as f64 + uniform) / drawn.share;
            while at + 1 < rows.len() && below + weight(rows[at]) <= place {
                below += weight(rows[at]);
                at += 1;
            }
            if drawn.rows.last() == Some(&rows[at])
                && let Some(count) = drawn.counts.last_mut()
            {
                *count += 1.0;
            } else {
                drawn.rows.push(rows[at]);
                drawn.counts.push(1.0);
            }
        }
        drawn
    }

    /// The same by ascending score.
    fn ascending(self, scores: &[f64]) -> Self {
        let mut order: Vec<Entry> = self.rows.iter().zip(0..).map(|(&i, place)| Entry::new(scores[i], place)).collect();
        order.sort_unstable();
        let (rows, counts) =
            order.iter().rev().map(|entry| (self.rows[entry.index()], self.counts[entry.index()])).unzip();
        Self { rows, counts, ..self }
    }
}

impl Curvature {
    /// Draws about `size` rows by a seed: returns them, and the estimate of the curvature over their scores, given the
    /// scale and the smoothing of each hinge.
    ///
    /// At most half of the rows are positives, the others negatives that have a share in a hinge, and at least one of
    /// each; all have positive weights. O(N) beside sorting the positives that are drawn.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a score for each sample; [`Error::Interrupted`].
    pub fn drawn(
        problem: &Problem,
        scores: &[f64],
        hinges: &[(f64, Stretch)],
        size: usize,
        seed: u64,
        ctx: &Ctx<'_>,
    ) -> Result<(Vec<usize>, Self)> {
        Error::check_len("scores", problem.n_samples(), scores.len())?;
        let (labels, mut stream) = (problem.labels(), Stream::new(0, seed));
        let pos = Drawn::new(problem, |i| labels[i], (size / 2).max(1), &mut stream).ascending(scores);
        let each = (size.saturating_sub(pos.rows.len()) / hinges.len().max(1)).max(1);
        let of = |rows: &[usize]| rows.iter().map(|&i| scores[i]).collect::<Vec<f64>>();
        let mut drawn = Vec::with_capacity(hinges.len());
        for &(scale, stretch) in hinges {
            ctx.check()?;
            let least = stretch.threshold - 0.5 * stretch.selection;
            let neg = Drawn::new(problem, |i| !labels[i] && scores[i] >= least, each, &mut stream);
            drawn.push((scale / (stretch.width * pos.share * neg.share), stretch, of(&neg.rows), neg));
        }
        let of_pos = of(&pos.rows);
        let found: Vec<_> = drawn
            .iter()
            .map(|(factor, stretch, scores, neg)| (*factor, *stretch, Sample { scores, counts: &neg.counts }))
            .collect();
        let curvature = Self::new(Sample { scores: &of_pos, counts: &pos.counts }, &found)?;
        let rows = drawn.into_iter().fold(pos.rows, |rows, (.., neg)| [rows, neg.rows].concat());
        Ok((rows, curvature))
    }
}
