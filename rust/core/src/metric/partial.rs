//! The partial area under the ROC curve, by ranks and by the curve.

use crate::order::{Workspace, rank};
use crate::{Ctx, Problem, RateRange, Result};

/// What a partial area is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalize {
    /// Nothing: the raw area.
    None,
    /// The width of the range: 1 for a perfect ranking.
    Width,
    /// McClish's standardisation: 1 for a perfect ranking, 1/2 for a random one.
    McClish,
}

impl Normalize {
    fn apply(self, area: f64, range: RateRange) -> f64 {
        match self {
            Normalize::None => area,
            Normalize::Width => area / range.width(),
            Normalize::McClish => {
                let chance = (range.high() + range.low()) * range.width() / 2.0;
                0.5 * (1.0 + (area - chance) / (range.width() - chance))
            }
        }
    }
}

/// Mean over positives and the negatives ranked `j_a + 1 ..= j_b` of 1[s > t] (Narasimhan and Agarwal 2016, eq. 2).
///
/// Ties count 0. O(N + (m + j_b) log(m + j_b)).
///
/// # Errors
/// [`crate::Error::Length`] and [`crate::Error::NonFinite`] for bad scores, [`crate::Error::Interrupted`].
pub fn partial_auc_ranked(problem: &Problem, scores: &[f64], range: RateRange, ctx: &Ctx<'_>) -> Result<f64> {
    let (j_a, j_b) = range.ranks(problem.n_neg());
    let mut ws = Workspace::default();
    rank(problem, scores, j_b, &mut ws, ctx)?;
    Ok(crate::oracle::Ranked::new(&ws.pos, &ws.neg).partial_auc((j_a, j_b)))
}

/// Area under the piecewise linear ROC curve between two false positive rates.
///
/// A block of tied scores is one straight segment, as in the usual trapezoid. O(N + (m + n b) log(m + n b)).
///
/// # Errors
/// [`crate::Error::Length`] and [`crate::Error::NonFinite`] for bad scores, [`crate::Error::Interrupted`].
pub fn partial_auc_curve(
    problem: &Problem,
    scores: &[f64],
    range: RateRange,
    normalize: Normalize,
    ctx: &Ctx<'_>,
) -> Result<f64> {
    let mut ws = Workspace::default();
    rank(problem, scores, problem.n_neg(), &mut ws, ctx)?;
    let (m, n) = (problem.n_pos(), problem.n_neg());
    let (from, to) = (range.low() * n as f64, range.high() * n as f64);
    // Segments that lie inside the range are summed in integers (twice the area); the at most two cut ones in floats.
    let (mut whole, mut cut) = (0u128, 0.0);
    let (mut tp, mut fp) = (0, 0);
    while fp < n && (fp as f64) < to {
        let top = ws.pos.get(tp).map_or(ws.neg[fp], |&p| p.min(ws.neg[fp]));
        let width = ws.neg[fp..].iter().take_while(|t| t.ties(top)).count();
        let rise = ws.pos[tp..].iter().take_while(|s| s.ties(top)).count();
        let (left, right) = (from.max(fp as f64), to.min((fp + width) as f64));
        if left == fp as f64 && right == (fp + width) as f64 {
            whole += width as u128 * (2 * tp + rise) as u128;
        } else if left < right {
            let height = |x: f64| tp as f64 + rise as f64 * (x - fp as f64) / width as f64;
            cut += (right - left) * (height(left) + height(right));
        }
        fp += width;
        tp += rise;
    }
    let area = (whole as f64 + cut) / (2.0 * m as f64 * n as f64);
    Ok(normalize.apply(area, range))
}
