//! Boosting of the smoothed partial AUC by stumps, on a grid of scores that makes all sums over pairs exact.

use std::ops::Range;

use crate::papers::{TIE, first_best};
use crate::{Ctx, Error, Problem, RateRange, Result};

/// Cells per width of smoothing; scores and coefficients are whole numbers of cells.
pub const CELLS: i64 = 16;

/// The margin of a pair. Without it a constant score would have `Phi(0) = 1/2` and beat all others on most data, and
/// boosting would return to it.
const MARGIN: i64 = 2 * CELLS;

/// Each sample's bin in each of the features, column by column.
#[derive(Debug, Clone, Copy)]
pub struct Codes<'a> {
    /// The bins.
    pub bins: &'a [u8],
    /// How many bins each feature has.
    pub n_bins: &'a [usize],
}

/// A round: adds `steps / CELLS` to the scores of all samples in bin `bin` of a feature, and above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// The feature.
    pub feature: usize,
    /// The lowest bin that is raised.
    pub bin: usize,
    /// The change in cells, at most [`CELLS`] up or down.
    pub steps: i64,
    /// The objective before.
    pub before: f64,
    /// The objective after, over the same negatives.
    pub after: f64,
}

impl Round {
    fn undone_by(&self, feature: usize, bin: usize, steps: i64) -> bool {
        (self.feature, self.bin, self.steps) == (feature, bin, -steps)
    }
}

impl<'a> Codes<'a> {
    /// The bins of each feature, checked.
    fn columns(&self, n_samples: usize) -> Result<Vec<&'a [u8]>> {
        Error::check_len("codes", n_samples * self.n_bins.len(), self.bins.len())?;
        let columns: Vec<_> = self.bins.chunks_exact(n_samples).collect();
        for (column, &n_bins) in columns.iter().zip(self.n_bins) {
            if let Some(bin) = column.iter().find(|&&bin| usize::from(bin) >= n_bins) {
                return Err(Error::domain("codes", "below the bins", bin.to_string()));
            }
        }
        Ok(columns)
    }
}

/// Boosts `n_rounds`, or fewer if no stump gains anything or the best one undoes the round before.
///
/// A round selects the negatives of the range: those ranked `j_a + 1 ..= j_b` by the scores F so far, and the share in
/// the range of a tie at its ends. With all positives, the objective is the mean of `Phi(F_i - F_j - 2)`, Phi being the
/// normal distribution function; pairs weigh `w_i w_j`. Among all stumps and coefficients of whole cells up to 1, the
/// one with the largest objective is added (among equal ones the first feature, the highest threshold, the smallest
/// change), so that the objective never falls within a round. On the negatives of the next round it may be lower, and
/// the best stump there may undo this one, and so on for ever. Then boosting ends, with the stump or without it,
/// whichever has the larger objective on its own negatives.
///
/// O(N d + T d K L) per round for T thresholds, K cells of scores and L cells of the range; memory N d bytes, and
/// 8 T (K + L) per thread. The same bits for any number of threads.
///
/// # Errors
/// [`Error::Length`] and [`Error::Domain`] of codes, [`Error::Interrupted`].
pub fn partial_boost(
    codes: &Codes<'_>,
    problem: &Problem,
    range: RateRange,
    n_rounds: usize,
    ctx: &Ctx<'_>,
) -> Result<Vec<Round>> {
    let columns = codes.columns(problem.n_samples())?;
    let mut scores = vec![0i64; problem.n_samples()];
    let mut rounds = Vec::new();
    for _ in 0..n_rounds {
        ctx.check()?;
        let pairs = Pairs::new(&scores, problem, range);
        let features = columns.iter().zip(codes.n_bins).collect();
        let found = ctx.try_map(features, |(column, &n_bins): (&&[u8], _)| pairs.best(column, n_bins, ctx))?;
        let gains: Vec<f64> = found.iter().map(|best| best.after).collect();
        let Some((feature, _)) = first_best(&gains) else { break };
        let Best { bin, steps, after } = found[feature];
        if after <= pairs.objective + TIE {
            break;
        }
        if let Some(last) = rounds.last().filter(|last: &&Round| last.undone_by(feature, bin, steps)) {
            if last.before > pairs.objective {
                rounds.pop();
            }
            break;
        }
        for (score, &code) in scores.iter_mut().zip(columns[feature]) {
            *score += if usize::from(code) >= bin { steps } else { 0 };
        }
        rounds.push(Round { feature, bin, steps, before: pairs.objective, after });
    }
    Ok(rounds)
}

/// The best stump of a feature.
#[derive(Clone, Copy)]
struct Best {
    bin: usize,
    steps: i64,
    after: f64,
}

/// A sample: its row, the cell of its score, and its weight, which sums to 1 over each class.
struct Placed {
    row: usize,
    cell: usize,
    weight: f64,
}

/// The pairs of a round, and their objective.
struct Pairs {
    pos: Vec<Placed>,
    /// The negatives of the range; cells count from [`CELLS`] below the first of them.
    neg: Vec<Placed>,
    n_cells: usize,
    /// The number of cells from there to [`CELLS`] above the last.
    window: usize,
    /// The first of these cells in the count of the positives' cells; possibly negative.
    first: i64,
    /// The value of a pair by the difference of cells, from `lowest` on.
    table: Vec<f64>,
    lowest: i64,
    /// What all positives win against a negative in each cell of the window.
    won: Vec<f64>,
    objective: f64,
}

impl Pairs {
    fn new(scores: &[i64], problem: &Problem, range: RateRange) -> Self {
        let least = scores.iter().copied().min().unwrap_or(0);
        let most = scores.iter().copied().max().unwrap_or(0);
        let n_cells = (most - least + 1) as usize;
        let weight = |row: usize| problem.sample_weight().map_or(1.0, |weights| weights[row]);
        let mut masses = vec![0.0; n_cells];
        let (mut pos, mut neg, mut total) = (Vec::new(), Vec::new(), 0.0);
        for (row, &score) in scores.iter().enumerate() {
            let (cell, weight) = ((score - least) as usize, weight(row));
            if problem.labels()[row] {
                total += weight;
                pos.push(Placed { row, cell, weight });
            } else {
                masses[cell] += weight;
                neg.push(Placed { row, cell, weight });
            }
        }
        let (low, high) = problem.ranks(range);
        let shares = shares(&masses, low, high);
        neg.retain(|sample| shares[sample.cell] > 0.0);
        let inside = |share: &f64| *share > 0.0;
        let first = shares.iter().position(inside).unwrap_or(0);
        let last = shares.iter().rposition(inside).unwrap_or(0);
        for sample in &mut neg {
            sample.weight *= shares[sample.cell] / (high - low);
            sample.cell = sample.cell - first + CELLS as usize;
        }
        pos.iter_mut().for_each(|sample| sample.weight /= total);
        let window = last - first + 1 + 2 * CELLS as usize;
        let first = first as i64 - CELLS;
        let lowest = -(first + window as i64 - 1);
        let highest = n_cells as i64 - 1 - first;
        let table =
            (0..(highest - lowest + 1) as usize).map(|k| normal(k as i64 + lowest - MARGIN)).collect::<Vec<_>>();
        let won = vec![0.0; window];
        let mut pairs = Self { pos, neg, n_cells, window, first, table, lowest, won, objective: 0.0 };
        let mut masses = vec![0.0; n_cells];
        pairs.pos.iter().for_each(|sample| masses[sample.cell] += sample.weight);
        let mut won = vec![0.0; window];
        pairs.win(&masses, &mut won);
        pairs.objective = pairs.neg.iter().map(|sample| sample.weight * won[sample.cell]).sum();
        pairs.won = won;
        pairs
    }

    /// Adds what positives with these masses by cell win against a negative in each cell of the window.
    fn win(&self, masses: &[f64], won: &mut [f64]) {
        for (cell, &mass) in masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            // Differences fall as the cells of the window rise.
            let top = (cell as i64 - self.first - self.lowest) as usize;
            let table = &self.table[top + 1 - self.window..=top];
            for (won, phi) in won.iter_mut().zip(table.iter().rev()) {
                *won += mass * phi;
            }
        }
    }

    /// The best stump of a feature, and its coefficient.
    fn best(&self, codes: &[u8], n_bins: usize, ctx: &Ctx<'_>) -> Result<Best> {
        let mut pos = vec![0.0; n_bins * self.n_cells];
        let mut neg = vec![0.0; n_bins * self.window];
        for sample in &self.pos {
            pos[usize::from(codes[sample.row]) * self.n_cells + sample.cell] += sample.weight;
        }
        for sample in &self.neg {
            neg[usize::from(codes[sample.row]) * self.window + sample.cell] += sample.weight;
        }
        let below = || neg.chunks_exact(self.window);
        let mut lower = vec![0.0; self.window];
        below().for_each(|bin| lower.iter_mut().zip(bin).for_each(|(lower, mass)| *lower += mass));
        let mut upper = vec![0.0; self.window];
        let mut won = vec![0.0; self.window];
        let mut best = Best { bin: 0, steps: 0, after: self.objective };
        for bin in (1..n_bins).rev() {
            ctx.check()?;
            self.win(&pos[bin * self.n_cells..(bin + 1) * self.n_cells], &mut won);
            let raised = &neg[bin * self.window..(bin + 1) * self.window];
            for ((lower, upper), mass) in lower.iter_mut().zip(&mut upper).zip(raised) {
                *lower -= mass;
                *upper += mass;
            }
            for steps in (1..=CELLS).flat_map(|steps| [steps, -steps]) {
                let after = self.after(&won, &lower, &upper, steps);
                if after > best.after + TIE {
                    best = Best { bin, steps, after };
                }
            }
        }
        Ok(best)
    }

    /// The objective when the positives that win `won`, and the negatives `upper`, are raised by so many steps.
    fn after(&self, won: &[f64], lower: &[f64], upper: &[f64], steps: i64) -> f64 {
        let inside = CELLS as usize..self.window - CELLS as usize;
        let moved =
            |by: i64| -> Range<usize> { (inside.start as i64 + by) as usize..(inside.end as i64 + by) as usize };
        let (down, up) = (moved(-steps), moved(steps));
        let mut sum = 0.0;
        for k in 0..inside.len() {
            let at = inside.start + k;
            // Raised positives against the other negatives, and the other positives against raised negatives.
            sum += lower[at] * (self.won[at] - won[at] + won[down.start + k]);
            sum += upper[at] * (won[at] + self.won[up.start + k] - won[up.start + k]);
        }
        sum
    }
}

/// The share of each cell's mass that lies in `low..high`, counted from the highest cell down.
fn shares(masses: &[f64], low: f64, high: f64) -> Vec<f64> {
    let mut shares = vec![0.0; masses.len()];
    let mut seen = 0.0;
    for (share, &mass) in shares.iter_mut().zip(masses).rev() {
        if mass > 0.0 {
            *share = (f64::min(high, seen + mass) - f64::max(low, seen)).max(0.0) / mass;
        }
        seen += mass;
    }
    shares
}

/// The normal distribution function at so many cells.
fn normal(cells: i64) -> f64 {
    if cells < 0 {
        return 1.0 - normal(-cells);
    }
    let x = cells as f64 / CELLS as f64;
    if x > 8.5 {
        return 1.0;
    }
    // 1/2 + phi(x) (x + x^3/3 + x^5/(3 5) + ...): all terms have one sign.
    let (mut term, mut sum, mut k) = (x, x, 1.0);
    while term > 1e-17 * sum {
        k += 2.0;
        term *= x * x / k;
        sum += term;
    }
    f64::min(1.0, 0.5 + sum * (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt())
}

#[cfg(test)]
#[path = "../../tests/unit/papers_partial_boost.rs"]
mod tests;
