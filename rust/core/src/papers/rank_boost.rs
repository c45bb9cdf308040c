//! RankBoost for two classes: stumps boosted on all pairs, whose weights are products.

use crate::papers::features::{Column, Features, Stump};
use crate::papers::{TIE, first_best};
use crate::{Ctx, Problem, Result};

/// An edge of 1 would have an infinite coefficient.
const MOST: f64 = 1.0 - 1e-12;

/// Boosts `n_rounds` stumps, or fewer if one ranks all pairs or none is better than chance.
///
/// Pair (i, j) weighs `v_i u_j`, where v and u sum to 1 and start from the sample weights. A round takes the stump h
/// with the largest `|r|`, `r = sum_i v_i h(x_i) - sum_j u_j h(z_j)`, with the coefficient
/// `alpha = 1/2 ln((1 + r) / (1 - r))`, and sets `v_i ~ v_i exp(-alpha h(x_i))`, `u_j ~ u_j exp(alpha h(z_j))`. Among
/// stumps that are equal up to rounding it takes the first feature, and there the highest threshold.
///
/// O(k) per round and 12 bytes per value, for k stored values, after sorting these once. The same bits for any number
/// of threads.
///
/// # Errors
/// [`crate::Error`]: `Length`, `NonFinite` and `Domain` of features, `Interrupted`.
pub fn rank_boost(features: &Features<'_>, problem: &Problem, n_rounds: usize, ctx: &Ctx<'_>) -> Result<Vec<Stump>> {
    let n_samples = problem.n_samples();
    features.check(n_samples)?;
    let columns = (0..features.n_columns(n_samples)).collect();
    let columns = ctx.map(columns, |feature| features.column(feature, n_samples))?;
    let mut signed = Signed::new(problem);
    let mut stumps = Vec::new();
    for _ in 0..n_rounds {
        let total = signed.values.iter().sum();
        let edges = ctx.map(columns.iter().collect(), |column| {
            let mut largest = 0.0;
            visit(column, &signed.values, total, |_, _, r| largest = f64::max(largest, r.abs()));
            largest
        })?;
        let Some((feature, least)) = first_best(&edges) else { break };
        if least <= 0.0 {
            break;
        }
        let mut found = None;
        visit(&columns[feature], &signed.values, total, |b, missing, r| {
            if found.is_none() && r.abs() >= least {
                found = Some((b, missing, r));
            }
        });
        let Some((b, missing_above, edge)) = found else { break };
        let r = edge.clamp(-MOST, MOST);
        let coef = 0.5 * ((1.0 + r) / (1.0 - r)).ln();
        let threshold = columns[feature].threshold(b);
        stumps.push(Stump { feature, threshold, missing_above, coef, edge });
        if edge.abs() >= MOST - TIE {
            break;
        }
        signed.update(&columns[feature], b, missing_above, coef);
    }
    Ok(stumps)
}

/// Calls `take(b, missing_above, r)` for every stump of a column, which the blocks from `b` on exceed, from the highest
/// threshold down; `total` is the sum of all signed weights.
fn visit(column: &Column, signed: &[f64], total: f64, mut take: impl FnMut(usize, bool, f64)) {
    let sum = |rows: &[u32]| rows.iter().map(|&row| signed[row as usize]).sum::<f64>();
    let missing = sum(column.missing());
    let implied = column.implied().map_or(0.0, |_| {
        let listed: f64 = (0..column.n_blocks()).map(|b| sum(column.members(b))).sum();
        total - listed - missing
    });
    let mut above = 0.0;
    for b in (0..column.n_blocks()).rev() {
        above += sum(column.members(b)) + if column.implied() == Some(b) { implied } else { 0.0 };
        if b > 0 || !column.missing().is_empty() {
            take(b, false, above);
        }
        if b > 0 && !column.missing().is_empty() {
            take(b, true, above + missing);
        }
    }
}

/// The weights: v of the positives, -u of the negatives.
struct Signed<'a> {
    labels: &'a [bool],
    values: Vec<f64>,
    above: Vec<bool>,
}

impl<'a> Signed<'a> {
    fn new(problem: &'a Problem) -> Self {
        let n = problem.n_samples();
        let values = problem.sample_weight().map_or_else(|| vec![1.0; n], <[_]>::to_vec);
        let mut signed = Self { labels: problem.labels(), values, above: vec![false; n] };
        signed.normalise();
        signed
    }

    /// Scales both classes to sums of 1 and -1.
    fn normalise(&mut self) {
        let (mut pos, mut neg) = (0.0, 0.0);
        for (value, &positive) in self.values.iter().zip(self.labels) {
            *(if positive { &mut pos } else { &mut neg }) += value.abs();
        }
        for (value, &positive) in self.values.iter_mut().zip(self.labels) {
            *value = if positive { value.abs() / pos } else { -value.abs() / neg };
        }
    }

    fn update(&mut self, column: &Column, b: usize, missing_above: bool, coef: f64) {
        self.above.fill(column.implied().is_some_and(|implied| implied >= b));
        for block in 0..column.n_blocks() {
            column.members(block).iter().for_each(|&row| self.above[row as usize] = block >= b);
        }
        column.missing().iter().for_each(|&row| self.above[row as usize] = missing_above);
        let (pos, neg) = ((-coef).exp(), coef.exp());
        let raised = self.values.iter_mut().zip(self.labels).zip(&self.above).filter(|(_, above)| **above);
        raised.for_each(|((value, &positive), _)| *value *= if positive { pos } else { neg });
        self.normalise();
    }
}
