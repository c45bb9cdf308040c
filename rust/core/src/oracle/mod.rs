//! Risks seen from the scores: a value, and one coefficient per sample.
//!
//! An oracle never sees features. If `s = X w`, the subgradient of `R(X w)` with respect to `w` is `X' coef`; the cut
//! `R(s') >= value + coef . (s' - s)` holds for every convex risk. All risks here depend on differences of scores only,
//! so the coefficients sum to zero and no intercept enters training.

mod naive;
mod pairs;
mod tight;
mod top_hinge;

pub use naive::Naive;
pub use pairs::Pairs;
pub use tight::Tight;
pub use top_hinge::{Term, TopHinge};

use crate::order::cells::{Cells, size};
use crate::order::sorted::Sorted;
use crate::{Ctx, Error, Problem, Result};

/// What one oracle call finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// R(s).
    pub value: f64,
    /// The ranked partial AUC of the same scores, ties counting 0: what is really wanted, and cheap beside the risk.
    pub partial_auc: f64,
}

/// Buffers kept from call to call, so that repeated calls on one problem allocate little.
#[derive(Debug, Default)]
pub struct Workspace {
    cells: Cells,
    sorted: Sorted,
    neg: Vec<f64>,
    pos: Vec<f64>,
}

/// A risk of the scores of a [`Problem`].
pub trait Oracle: Sync {
    /// The labels that the scores belong to.
    fn problem(&self) -> &Problem;

    /// The ranks `(j_a, j_b)` of the false positive range.
    fn ranks(&self) -> (usize, usize);

    /// Further ranks that the risk distinguishes.
    fn cuts(&self) -> Vec<usize> {
        Vec::new()
    }

    /// R(s), adding its derivatives to those of `pairs`.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    fn sweep(&self, pairs: &mut Pairs<'_>, ctx: &Ctx<'_>) -> Result<f64>;

    /// R(scores), and a subgradient in `coef`.
    ///
    /// The positives are sorted and indexed, each of the negatives up to the last rank then finds its own rank among them
    /// in a few table look-ups: O(N + m log m) time at most, O(N) for scores of any smooth distribution.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::NonFinite`] for bad scores, [`Error::Domain`] if their differences overflow,
    /// [`Error::Interrupted`].
    fn evaluate(&self, scores: &[f64], coef: &mut [f64], ws: &mut Workspace, ctx: &Ctx<'_>) -> Result<Evaluation> {
        Error::check_len("coef", self.problem().n_samples(), coef.len())?;
        let (j_a, j_b) = self.ranks();
        let mut tops = self.cuts();
        tops.extend([j_a, j_b]);
        tops.sort_unstable();
        tops.dedup();
        tops.retain(|&top| top > 0);
        let Workspace { cells, sorted, neg, pos } = ws;
        cells.gather(self.problem(), scores, &tops, &mut sorted.map, ctx)?;
        sorted.build(&cells.positives(), ctx)?;
        size(neg, scores.len());
        let mut pairs = Pairs::new(cells, sorted, &tops, neg, pos);
        let partial_auc = pairs.partial_auc((j_a, j_b), ctx)?;
        let value = self.sweep(&mut pairs, ctx)?;
        if !value.is_finite() {
            return Err(Error::Domain {
                name: "scores",
                domain: "small enough for the sum of their differences to be finite",
                value: format!("a risk of {value}"),
            });
        }
        pairs.finish(ctx)?;
        cells.scatter(neg, coef, ctx)?;
        Ok(Evaluation { value, partial_auc })
    }
}
