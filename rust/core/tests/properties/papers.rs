//! Methods of the papers against searches over all stumps and splits.

use proptest::prelude::*;
use rocmax_core::internals::papers::{Features, Limits, Stump, rank_boost, split_tree};
use rocmax_core::{Ctx, Error, Problem};

use crate::samples::hash;

/// Gains that differ by no more are equal.
const TIE: f64 = 1e-12;

/// Columns of up to three features, and labels of both classes, weighted or not.
fn samples(most: usize, value: impl Strategy<Value = f64> + Clone) -> impl Strategy<Value = (Vec<f64>, Problem)> {
    (2..most, 1usize..4, any::<bool>()).prop_flat_map(move |(n, d, weighted)| {
        let values = prop::collection::vec(value.clone(), n * d);
        let labels = prop::collection::vec(any::<bool>(), n);
        (values, labels, prop::collection::vec(0.5..1.5, n)).prop_map(move |(values, mut labels, mut weights)| {
            (labels[0], labels[1]) = (true, false);
            weights.iter_mut().filter(|_| !weighted).for_each(|w| *w = 1.0);
            (values, Problem::weighted(labels, weights).unwrap())
        })
    })
}

/// Labels, a share of them positive, and features with so many levels, higher for positives.
fn made(n: usize, d: usize, share: f64, levels: f64) -> (Problem, Vec<f64>) {
    let labels: Vec<bool> = (0..n).map(|i| hash(i + 1) < share).collect();
    let value = |k: usize| ((hash(31 * k + 7) + 0.2 * f64::from(u8::from(labels[k % n]))) * levels).floor() / levels;
    let values = (0..n * d).map(value).collect();
    (Problem::new(labels).unwrap(), values)
}

/// By definition: weights of all pairs, all stumps tried on all samples.
fn boosted(values: &[f64], problem: &Problem, n_rounds: usize) -> Vec<Stump> {
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
                    let h =
                        |i: usize| f64::from(u8::from(if x[i].is_nan() { missing_above } else { x[i] > threshold }));
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
        if largest >= 1.0 - 2.0 * TIE {
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
        assert!(a.edge.abs() > 1.0 - 1e-9 || (a.coef - b.coef).abs() < 1e-6, "{a:?} {b:?}");
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

/// The best split by trying all: areas under the curves of the two leaves, over all pairs.
fn best_split(values: &[f64], n: usize, members: &[usize], problem: &Problem, leaf: f64) -> Option<(usize, f64)> {
    let weight = |i: usize| problem.sample_weight().map_or(1.0, |w| w[i]);
    let sum = |rows: &[usize]| rows.iter().map(|&i| weight(i)).sum::<f64>();
    let (mut best, mut found) = (0.5 + TIE / 2.0, None);
    for feature in 0..values.len() / n {
        let mut cuts: Vec<f64> = members.iter().map(|&i| values[feature * n + i]).collect();
        cuts.sort_by(f64::total_cmp);
        cuts.dedup();
        for pair in cuts.windows(2) {
            let threshold = (pair[0] + pair[1]) / 2.0;
            let above = |i: usize| values[feature * n + i] > threshold;
            let (right, left): (Vec<usize>, Vec<usize>) = members.iter().partition(|&&i| above(i));
            if sum(&right) < leaf || sum(&left) < leaf {
                continue;
            }
            let (mut won, mut all) = (0.0, 0.0);
            for &i in members.iter().filter(|&&i| problem.labels()[i]) {
                for &j in members.iter().filter(|&&j| !problem.labels()[j]) {
                    let score = f64::from(u8::from(above(i))) - f64::from(u8::from(above(j)));
                    won += weight(i) * weight(j) * (1.0 + score) / 2.0;
                    all += weight(i) * weight(j);
                }
            }
            let area = f64::max(won / all, 1.0 - won / all);
            if area > best + TIE {
                (best, found) = (area, Some((feature, threshold)));
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rank_boost_is_boosting_over_all_pairs(
        (values, problem) in samples(14, prop_oneof![
            6 => (-2i32..3).prop_map(f64::from), 3 => -1.0..1.0, 1 => Just(f64::NAN)
        ])
    ) {
        let n = problem.n_samples();
        let dense = Features { values: &values, lists: None };
        let found = rank_boost(&dense, &problem, 8, &Ctx::serial()).unwrap();
        agree(&found, &boosted(&values, &problem, 8));
        let (starts, rows, stored) = sparse(&values, n);
        let lists = Features { values: &stored, lists: Some((&starts, &rows)) };
        agree(&rank_boost(&lists, &problem, 8, &Ctx::serial()).unwrap(), &found);
    }

    #[test]
    fn every_split_is_the_best_of_all(
        (values, problem) in samples(25, prop_oneof![(-2i32..3).prop_map(f64::from), -1.0..1.0]),
        leaf in 1u32..4,
    ) {
        let (n, leaf) = (problem.n_samples(), f64::from(leaf));
        let nodes = split_tree(&values, &problem, Limits { leaf, depth: 50 }, &Ctx::serial()).unwrap();
        let mut open = vec![(0, (0..n).collect::<Vec<usize>>())];
        while let Some((at, members)) = open.pop() {
            let weight = |class| {
                let of = members.iter().filter(|&&i| problem.labels()[i] == class);
                of.map(|&i| problem.sample_weight().map_or(1.0, |w| w[i])).sum::<f64>()
            };
            prop_assert!((nodes[at].pos - weight(true)).abs() < 1e-9 && (nodes[at].neg - weight(false)).abs() < 1e-9);
            let pure = weight(true) == 0.0 || weight(false) == 0.0;
            let expected = if pure { None } else { best_split(&values, n, &members, &problem, leaf) };
            let found = nodes[at].split.map(|split| (split.feature, split.threshold));
            prop_assert_eq!(found, expected);
            if let Some(split) = nodes[at].split {
                let above = |&i: &usize| values[split.feature * n + i] > split.threshold;
                let (right, left): (Vec<usize>, Vec<usize>) = members.into_iter().partition(above);
                open.extend([(split.left, left), (split.right, right)]);
            }
        }
    }
}

#[test]
fn threads_change_nothing() {
    let pool = crate::testing::pool(3);
    let contexts = [Ctx::serial(), Ctx::new(pool.as_ref(), None)];
    let (problem, values) = made(500, 7, 0.3, 1e9);
    let features = Features { values: &values, lists: None };
    let [alone, together] = contexts.map(|ctx| rank_boost(&features, &problem, 40, &ctx).unwrap());
    assert!(alone == together && alone.len() == 40);
    let (problem, values) = made(9000, 6, 0.4, 8.0);
    let grown = |limits, ctx: Ctx<'_>| split_tree(&values, &problem, limits, &ctx).unwrap();
    let [alone, together] = contexts.map(|ctx| grown(Limits { leaf: 20.0, depth: 9 }, ctx));
    assert!(alone == together && alone.len() > 50 && alone.iter().all(|node| node.pos + node.neg >= 20.0));
    assert_eq!(grown(Limits { leaf: 1.0, depth: 1 }, Ctx::serial()).len(), 3);
}

#[test]
fn bad_features_are_refused_and_a_set_flag_stops() {
    let (problem, values) = made(500, 7, 0.3, 1e9);
    let boost = |features: &Features<'_>, ctx: &Ctx<'_>| rank_boost(features, &problem, 1, ctx);
    assert!(boost(&Features { values: &[f64::INFINITY; 500], lists: None }, &Ctx::serial()).is_err());
    let bad = Features { values: &[1.0, 2.0], lists: Some((&[0, 2], &[0, 900])) };
    assert!(matches!(boost(&bad, &Ctx::serial()), Err(Error::Domain { .. })));
    let stop = std::sync::atomic::AtomicBool::new(true);
    let features = Features { values: &values, lists: None };
    assert_eq!(boost(&features, &Ctx::new(None, Some(&stop))), Err(Error::Interrupted));
    let (two, limits) = (Problem::new(vec![true, false]).unwrap(), Limits { leaf: 20.0, depth: 9 });
    for (bad, expected) in [(f64::NAN, true), (0.5, false)] {
        let found = split_tree(&[bad; 2], &two, limits, &Ctx::serial());
        assert_eq!(matches!(found, Err(Error::NonFinite { .. })), expected);
    }
    assert!(matches!(split_tree(&[0.5; 3], &two, limits, &Ctx::serial()), Err(Error::Length { .. })));
}
