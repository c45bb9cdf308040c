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
    features.check(problem.n_samples())?;
    let columns = ctx.map((0..features.n_columns()).collect(), |feature| features.column(feature))?;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Error;
    use crate::testing::uniform;

    /// By definition: weights of all pairs, all stumps tried on all samples.
    fn naive(values: &[f64], problem: &Problem, n_rounds: usize) -> Vec<Stump> {
        let (n, labels) = (problem.n_samples(), problem.labels());
        let weight = |i: usize| problem.sample_weight().map_or(1.0, |w| w[i]);
        let (pos, neg): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| labels[i]);
        let mut pairs: Vec<f64> = pos.iter().flat_map(|&i| neg.iter().map(move |&j| weight(i) * weight(j))).collect();
        let mut stumps: Vec<Stump> = Vec::new();
        for _ in 0..n_rounds {
            let sum: f64 = pairs.iter().sum();
            pairs.iter_mut().for_each(|pair| *pair /= sum);
            let mut all = Vec::new();
            for feature in 0..values.len() / n {
                let x = &values[feature * n..(feature + 1) * n];
                let mut distinct: Vec<f64> = x.iter().copied().filter(|v| !v.is_nan()).collect();
                distinct.sort_by(|a, b| b.total_cmp(a));
                distinct.dedup();
                let lowest = distinct.len().saturating_sub(1);
                for (k, &value) in distinct.iter().enumerate() {
                    let gap = x.iter().any(|v| v.is_nan());
                    let threshold = if k == lowest { f64::NEG_INFINITY } else { (distinct[k + 1] + value) / 2.0 };
                    let options: &[bool] = match (k == lowest, gap) {
                        (true, true) | (false, false) => &[false],
                        (true, false) => &[],
                        (false, true) => &[false, true],
                    };
                    for &missing_above in options {
                        let h = |i: usize| {
                            f64::from(u8::from(if x[i].is_nan() { missing_above } else { x[i] > threshold }))
                        };
                        let edges = pos.iter().flat_map(|&i| neg.iter().map(move |&j| h(i) - h(j)));
                        let edge: f64 = edges.zip(&pairs).map(|(difference, pair)| difference * pair).sum();
                        let coef = 0.5 * ((1.0 + edge) / (1.0 - edge)).ln();
                        all.push(Stump { feature, threshold, missing_above, coef, edge });
                    }
                }
            }
            let largest = all.iter().map(|stump| stump.edge.abs()).fold(0.0, f64::max);
            let Some(&stump) = all.iter().find(|stump| stump.edge.abs() >= largest - TIE) else { break };
            if largest <= TIE {
                break;
            }
            stumps.push(stump);
            if largest >= MOST - TIE {
                break;
            }
            let x = &values[stump.feature * n..(stump.feature + 1) * n];
            let h = |i: usize| if x[i].is_nan() { stump.missing_above } else { x[i] > stump.threshold };
            for (k, pair) in pairs.iter_mut().enumerate() {
                let (i, j) = (pos[k / neg.len()], neg[k % neg.len()]);
                *pair *= (stump.coef * (f64::from(u8::from(h(j))) - f64::from(u8::from(h(i))))).exp();
            }
        }
        stumps
    }

    fn agree(found: &[Stump], expected: &[Stump]) {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert_eq!((a.feature, a.threshold, a.missing_above), (b.feature, b.threshold, b.missing_above));
            assert!((a.edge - b.edge).abs() < 1e-9, "{a:?} {b:?}");
            assert!(a.edge.abs() > MOST - 1e-9 || (a.coef - b.coef).abs() < 1e-6, "{a:?} {b:?}");
        }
    }

    fn sparse(values: &[f64], n: usize) -> (Vec<u64>, Vec<u32>, Vec<f64>) {
        let (mut starts, mut rows, mut stored) = (vec![0], Vec::new(), Vec::new());
        for column in values.chunks(n) {
            for (row, &value) in column.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                rows.push(row as u32);
                stored.push(value);
            }
            starts.push(rows.len() as u64);
        }
        (starts, rows, stored)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_is_boosting_over_all_pairs(
            (n, values) in (2usize..14).prop_flat_map(|n| {
                let value = prop_oneof![6 => (-2i32..3).prop_map(f64::from), 3 => -1.0..1.0, 1 => Just(f64::NAN)];
                (Just(n), (1usize..4).prop_flat_map(move |d| prop::collection::vec(value.clone(), n * d)))
            }),
            seed in 0u64..1000,
            weighted in any::<bool>(),
        ) {
            let mut random = uniform(seed);
            let mut labels: Vec<bool> = (0..n).map(|_| random() < 0.5).collect();
            (labels[0], labels[1]) = (true, false);
            let weights = (0..n).map(|_| if weighted { 0.5 + random() } else { 1.0 }).collect();
            let problem = Problem::weighted(labels, weights).unwrap();
            let dense = Features::Dense { values: &values, n_rows: n };
            let found = rank_boost(&dense, &problem, 8, &Ctx::serial()).unwrap();
            agree(&found, &naive(&values, &problem, 8));
            let (starts, rows, stored) = sparse(&values, n);
            let lists = Features::Sparse { starts: &starts, rows: &rows, values: &stored, n_rows: n };
            agree(&rank_boost(&lists, &problem, 8, &Ctx::serial()).unwrap(), &found);
        }
    }

    #[test]
    fn threads_change_nothing_and_bad_features_are_refused() {
        let (n, d, mut random) = (500, 7, uniform(3));
        let labels: Vec<bool> = (0..n).map(|_| random() < 0.3).collect();
        let values: Vec<f64> = (0..n * d).map(|k| random() + 0.2 * f64::from(u8::from(labels[k % n]))).collect();
        let problem = Problem::new(labels).unwrap();
        let features = Features::Dense { values: &values, n_rows: n };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let alone = rank_boost(&features, &problem, 40, &Ctx::serial()).unwrap();
        assert_eq!(alone, rank_boost(&features, &problem, 40, &Ctx::new(Some(&pool), None)).unwrap());
        assert_eq!(alone.len(), 40);
        let bad = Features::Dense { values: &[f64::INFINITY], n_rows: 1 };
        assert!(rank_boost(&bad, &problem, 1, &Ctx::serial()).is_err());
        let bad = Features::Sparse { starts: &[0, 2], rows: &[0, 900], values: &[1.0, 2.0], n_rows: n };
        assert!(matches!(rank_boost(&bad, &problem, 1, &Ctx::serial()), Err(Error::Domain { .. })));
        let stop = std::sync::atomic::AtomicBool::new(true);
        assert_eq!(rank_boost(&features, &problem, 1, &Ctx::new(None, Some(&stop))), Err(Error::Interrupted));
    }
}
