//! The area under the ROC curve.

use crate::order::{Workspace, rank};
use crate::{Ctx, Problem, Result};

/// The mean over all pairs of `1[s > t] + 1/2 1[s = t]`.
///
/// Twice the number of won pairs is counted in integers and divided once. O(N log N).
///
/// # Errors
/// [`crate::Error::Length`] and [`crate::Error::NonFinite`] for bad scores, [`crate::Error::Interrupted`].
pub fn auc(problem: &Problem, scores: &[f64], ctx: &Ctx<'_>) -> Result<f64> {
    let mut ws = Workspace::default();
    rank(problem, scores, problem.n_neg(), &mut ws, ctx)?;
    let (mut above, mut reached) = (0, 0);
    let mut lost = 0u128;
    for entry in &ws.pos {
        while above < ws.neg.len() && ws.neg[above].score() > entry.score() {
            above += 1;
        }
        reached = reached.max(above);
        while reached < ws.neg.len() && ws.neg[reached].ties(*entry) {
            reached += 1;
        }
        lost += (above + reached) as u128;
    }
    let pairs = 2 * problem.n_pos() as u128 * problem.n_neg() as u128;
    Ok((pairs - lost) as f64 / pairs as f64)
}
