//! Risks seen from the scores: a value, and one coefficient per sample.
//!
//! An oracle never sees features. If `s = X w`, the subgradient of `R(X w)` with respect to `w` is `X' coef`; the cut
//! `R(s') >= value + coef . (s' - s)` holds for every convex risk. All risks here depend on differences of scores only,
//! so the coefficients sum to zero and no intercept enters training.

mod tight;
mod top_hinge;

pub use tight::Tight;
pub use top_hinge::{Term, TopHinge};

use crate::order::{Entry, Workspace, rank};
use crate::{Ctx, Error, Problem, Result};

/// What one oracle call finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// R(s).
    pub value: f64,
    /// The ranked partial AUC of the same scores, ties counting 0: what is really wanted, and free once the scores are
    /// ranked.
    pub partial_auc: f64,
}

/// All positives and the highest negatives, both by descending score.
#[derive(Debug, Clone, Copy)]
pub struct Ranked<'a> {
    pos: &'a [Entry],
    neg: &'a [Entry],
}

/// A risk of the scores of a [`Problem`].
pub trait Oracle: Sync {
    /// The labels that the scores belong to.
    fn problem(&self) -> &Problem;

    /// The ranks `(j_a, j_b)` of the false positive range; the risk reads the `j_b` highest negatives.
    fn ranks(&self) -> (usize, usize);

    /// The value, adding the derivative for each ranked positive to `pos` and for each ranked negative to `neg`.
    ///
    /// `counts` is scratch of any content.
    fn sweep(&self, ranked: Ranked<'_>, pos: &mut [f64], neg: &mut [f64], counts: &mut Vec<u32>) -> f64;

    /// R(scores), and a subgradient in `coef`.
    ///
    /// O(N + (m + j_b) log(m + j_b)) time; the workspace holds 16 bytes for each sample and at most 40 for each ranked
    /// one.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::NonFinite`] for bad scores, [`Error::Domain`] if their differences overflow,
    /// [`Error::Interrupted`].
    fn evaluate(&self, scores: &[f64], coef: &mut [f64], ws: &mut Workspace, ctx: &Ctx<'_>) -> Result<Evaluation> {
        Error::check_len("coef", self.problem().n_samples(), coef.len())?;
        rank(self.problem(), scores, self.ranks().1, ws, ctx)?;
        ctx.check()?;
        let ranked = Ranked::new(&ws.pos, &ws.neg);
        ws.coef_pos.clear();
        ws.coef_pos.resize(ws.pos.len(), 0.0);
        ws.coef_neg.clear();
        ws.coef_neg.resize(ws.neg.len(), 0.0);
        let value = self.sweep(ranked, &mut ws.coef_pos, &mut ws.coef_neg, &mut ws.counts);
        if !value.is_finite() {
            return Err(Error::Domain {
                name: "scores",
                domain: "small enough for the sum of their differences to be finite",
                value: format!("a risk of {value}"),
            });
        }
        let partial_auc = ranked.partial_auc(self.ranks());
        ctx.check()?;
        coef.fill(0.0);
        for (entry, &c) in ws.pos.iter().zip(&ws.coef_pos).chain(ws.neg.iter().zip(&ws.coef_neg)) {
            coef[entry.index()] = c;
        }
        Ok(Evaluation { value, partial_auc })
    }
}

impl<'a> Ranked<'a> {
    /// Both slices sorted, as [`crate::order`] leaves them.
    pub(crate) fn new(pos: &'a [Entry], neg: &'a [Entry]) -> Self {
        Self { pos, neg }
    }

    /// Scores of the positives relative to the highest negative, which keeps sums of differences accurate.
    fn pos_scores(&self) -> impl Iterator<Item = f64> {
        let origin = self.neg[0].score();
        self.pos.iter().map(move |entry| entry.score() - origin)
    }

    /// Score of the negative of 0-based rank `k`, on the scale of [`Ranked::pos_scores`].
    #[inline]
    fn neg_score(&self, k: usize) -> f64 {
        self.neg[k].score() - self.neg[0].score()
    }

    /// Mean over positives and the negatives ranked `j_a + 1 ..= j_b` of 1[s > t].
    pub(crate) fn partial_auc(&self, (j_a, j_b): (usize, usize)) -> f64 {
        let mut reached = j_a;
        let mut lost = 0u64;
        for entry in self.pos {
            while reached < j_b && self.neg[reached].score() >= entry.score() {
                reached += 1;
            }
            lost += (reached - j_a) as u64;
        }
        let pairs = self.pos.len() as u64 * (j_b - j_a) as u64;
        (pairs - lost) as f64 / pairs as f64
    }
}

/// Adds to `neg[k]` `scale` times the number of positives whose prefix is longer than `k`, given how many prefixes end
/// at each length.
fn add_prefix_counts(neg: &mut [f64], ends: &[u32], scale: f64) {
    let mut longer = 0u32;
    for (coef, &end) in neg.iter_mut().zip(&ends[1..]).rev() {
        longer += end;
        *coef += scale * f64::from(longer);
    }
}

fn cleared(counts: &mut Vec<u32>, len: usize) -> &mut [u32] {
    counts.clear();
    counts.resize(len, 0);
    counts
}
