//! Lists of pairs, and what is summed over them, against every pair by itself.

use proptest::prelude::*;
use rocmax_core::pairs::{Cuts, Near, PairList, Space, nearest, neighbors};
use rocmax_core::risk::Evaluation;
use rocmax_core::{Ctx, Error, Problem};

use crate::samples::{hash, plain, sample};
use crate::{dot, naive};

fn rows(n: std::ops::Range<usize>, dim: usize) -> impl Strategy<Value = Vec<f64>> {
    // Few distinct values: many equal distances and equal rows.
    let value = prop_oneof![(-2i32..3).prop_map(f64::from), -3.0..3.0, Just(1e-300), Just(1e6)];
    n.prop_flat_map(move |n| prop::collection::vec(value.clone(), n * dim))
}

fn problem(n: usize, share: f64) -> Problem {
    Problem::new((0..n).map(|i| i == 0 || (i > 1 && hash(i + 1) < share)).collect()).unwrap()
}

fn listed(list: &PairList) -> Vec<(u32, u32)> {
    list.iter().collect()
}

fn hinge(list: &PairList, scores: &[f64], ctx: &Ctx<'_>) -> (Evaluation, Vec<f64>) {
    let mut coef = vec![f64::NAN; scores.len()];
    (list.hinge(scores, &mut coef, ctx).unwrap(), coef)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nearest_is_brute_force(
        (dim, queries, targets) in (1usize..6).prop_flat_map(|d| (Just(d), rows(0..70, d), rows(1..80, d))),
        k in 0usize..12,
        shift in prop_oneof![Just(0.0), Just(1e8), Just(1e150)],
    ) {
        let targets: Vec<f64> = targets.iter().map(|v| v + shift).collect();
        let found = nearest(&queries, &targets, dim, k, &Ctx::serial()).unwrap();
        prop_assert_eq!(found, naive::nearest(&queries, &targets, dim, k));
    }

    #[test]
    fn near_pairs_are_those_of_the_rules_in_both_spaces(
        (n, values) in (2usize..30).prop_flat_map(|n| (Just(n), prop::collection::vec(-2i32..3, 2 * n))),
        share in 0.1..0.9, k in 1usize..8, two_step in any::<bool>(),
    ) {
        let (problem, values) = (problem(n, share), values.into_iter().map(f64::from).collect::<Vec<_>>());
        let gram: Vec<f64> = (0..n * n).map(|at| dot(&values[at / n * 2..][..2], &values[at % n * 2..][..2])).collect();
        let near = if two_step { Near::TwoStep } else { Near::Symmetric };
        let expected = naive::neighbors(&problem, &values, 2, k, two_step);
        for space in [Space::Features(&values), Space::Kernel(&gram)] {
            let found = neighbors(&problem, space, k, near, &Ctx::serial()).unwrap();
            prop_assert_eq!(listed(&found), expected.clone());
        }
    }

    #[test]
    fn the_hinge_of_a_list_is_that_of_its_pairs_and_its_cut_lies_below(s in plain(), n_pairs in 1usize..60, seed: u64) {
        let list = PairList::random(&s.problem, n_pairs, seed, &Ctx::serial()).unwrap();
        let (found, coef) = hinge(&list, &s.scores, &Ctx::serial());
        let (expected, other) = (naive::pair_hinge(&listed(&list), &s.scores), naive::pair_hinge(&listed(&list), &s.other));
        let size = 1.0 + s.scores.iter().chain(&s.other).fold(0.0, |most: f64, score| most.max(score.abs()));
        prop_assert!((found.value - expected.0).abs() <= 1e-12 * size);
        prop_assert!((found.partial_auc - expected.1).abs() < 1e-12);
        prop_assert!((found.offset + dot(&coef, &s.scores) - found.value).abs() <= 1e-12 * size * coef.len() as f64);
        prop_assert!(found.offset + dot(&coef, &s.other) <= other.0 + 1e-12 * size * coef.len() as f64);
        prop_assert!(coef.iter().sum::<f64>().abs() < 1e-12);
    }

    #[test]
    fn multipliers_are_sums_over_the_cuts_that_count_a_pair(s in sample(), weights in prop::collection::vec(0.0..2.0, 1..4)) {
        let (n, labels) = (s.scores.len(), s.problem.labels());
        let own = |i: usize| s.problem.sample_weight().map_or(1.0, |weights| weights[i]);
        // Scores of one cut each: those of the sample, shifted for one class.
        let at = |k: usize, i: usize| s.scores[i] + if labels[i] { k as f64 / 3.0 } else { 0.0 };
        let counts = |k: usize, i: usize, j: usize| at(k, j) > at(k, i) - 1.0;
        let sums = |k: usize| -> Vec<f64> {
            let other = |i: usize| (0..n).filter(move |&j| labels[i] != labels[j]);
            let counted = |i: usize, j: usize| if labels[i] { counts(k, i, j) } else { counts(k, j, i) };
            (0..n).map(|i| own(i) * other(i).filter(|&j| counted(i, j)).map(own).sum::<f64>()).collect()
        };
        let mut levels = vec![0.0; n * weights.len()];
        for k in 0..weights.len() {
            for (i, level) in Cuts::of_sums(&s.problem, &sums(k)).unwrap().into_iter().enumerate() {
                levels[i * weights.len() + k] = level;
            }
        }
        let (cuts, all) = (Cuts::new(&weights, &levels).unwrap(), PairList::all(&s.problem, &Ctx::serial()).unwrap());
        let expected = |&(i, j): &(u32, u32)| {
            let (i, j) = (i as usize, j as usize);
            if own(i) * own(j) == 0.0 { return 0.0 }
            (0..weights.len()).filter(|&k| counts(k, i, j)).map(|k| weights[k]).sum::<f64>()
        };
        let of_list = cuts.of_list(&all, &Ctx::serial()).unwrap();
        let weighted = |&(i, j): &(u32, u32)| own(i as usize) * own(j as usize) > 0.0;
        for (pair, found) in all.iter().zip(of_list).filter(|(pair, _)| weighted(pair)) {
            prop_assert!((found - expected(&pair)).abs() < 1e-12, "{:?}", pair);
        }
        let positive: Vec<_> = all.iter().filter(|pair| expected(pair) > 0.0).collect();
        let (found, total) = cuts.support(&s.problem, positive.len().saturating_sub(1), &Ctx::serial()).unwrap();
        prop_assert_eq!(total, positive.len());
        prop_assert_eq!(&found[..], &positive[..positive.len().saturating_sub(1)]);
    }

    #[test]
    fn random_pairs_are_different_ones_and_the_first_of_more(n in 2usize..40, n_pairs in 1usize..500, seed: u64) {
        let problem = problem(n, 0.4);
        let all = listed(&PairList::all(&problem, &Ctx::serial()).unwrap());
        prop_assert_eq!(all.len(), problem.n_pos() * problem.n_neg());
        let draw = |n_pairs| listed(&PairList::random(&problem, n_pairs, seed, &Ctx::serial()).unwrap());
        let (some, more) = (draw(n_pairs), draw(n_pairs + 5));
        prop_assert_eq!(some.len(), n_pairs.min(all.len()));
        prop_assert!(some.windows(2).all(|two| two[0] < two[1]));
        prop_assert!(some.iter().all(|pair| all.contains(pair) && more.contains(pair)));
        prop_assert_eq!(draw(all.len()), all);
    }
}

/// Each set of pairs is as likely as the others of its size.
#[test]
fn random_pairs_are_uniform() {
    // The labels, the pairs drawn, the sets of so many, and the 99.9 % point of chi-squared.
    let cases = [(2, 5, 2, 15, 36.1), (1, 5, 1, 4, 16.3), (1, 5, 2, 6, 20.5), (1, 7, 3, 20, 43.8), (3, 6, 2, 36, 66.6)];
    for (n_pos, n, n_pairs, n_sets, most) in cases {
        let problem = Problem::new((0..n).map(|i| i < n_pos).collect()).unwrap();
        let mut counts = std::collections::HashMap::new();
        for seed in 0..500 * n_sets {
            let list = PairList::random(&problem, n_pairs, seed, &Ctx::serial()).unwrap();
            *counts.entry(listed(&list)).or_insert(0) += 1;
        }
        let chi2: f64 = counts.values().map(|&count: &i32| (f64::from(count) - 500.0).powi(2) / 500.0).sum();
        assert!(counts.len() as u64 == n_sets && chi2 < most, "{n_pos} {n} {n_pairs}: {chi2}");
    }
    // So many pairs that their order is computed: each row is drawn as often, and so is each difference of places.
    let problem = Problem::new((0..600).map(|i| i < 300).collect()).unwrap();
    let mut counts = [[0.0f64; 300]; 3];
    for seed in 0..300 {
        for (i, j) in listed(&PairList::random(&problem, 2000, seed, &Ctx::serial()).unwrap()) {
            let (i, j) = (i as usize, j as usize - 300);
            [i, j, (i + j) % 300].into_iter().zip(&mut counts).for_each(|(at, counts)| counts[at] += 1.0);
        }
    }
    for counts in counts {
        let chi2: f64 = counts.iter().map(|count| (count - 2000.0).powi(2) / 2000.0).sum();
        assert!(chi2 < 381.0, "{chi2}");
    }
}

#[test]
fn threads_change_nothing() {
    let pool = crate::testing::pool(3);
    let contexts = [Ctx::serial(), Ctx::new(pool.as_ref(), None)];
    let (problem, values) = (problem(2500, 0.4), (0..5000).map(hash).collect::<Vec<_>>());
    let scores: Vec<f64> = (0..2500).map(|i| 3.0 * hash(7 * i + 1)).collect();
    let [alone, together] = contexts.map(|ctx| {
        let all = PairList::all(&problem, &ctx).unwrap();
        let near = neighbors(&problem, Space::Features(&values), 5, Near::Symmetric, &ctx).unwrap();
        let random = PairList::random(&problem, 800_000, 3, &ctx).unwrap();
        let found = [&all, &near, &random].map(|list| hinge(list, &scores, &ctx));
        let levels: Vec<f64> =
            (0..2500).map(|i| if problem.labels()[i] { 1.0 - scores[i] } else { -scores[i] }).collect();
        let cuts = Cuts::new(&[1.0], &levels).unwrap();
        let support = cuts.support(&problem, usize::MAX, &ctx).unwrap();
        (near, random.clone(), found, cuts.of_list(&random, &ctx).unwrap(), support)
    });
    assert!(alone == together);
    let (value, won) = naive::pair_hinge(&listed(&alone.1), &scores);
    assert!((alone.2[2].0.value - value).abs() < 1e-12 && alone.2[2].0.partial_auc == won);
}

#[test]
fn bad_pairs_are_refused_and_a_set_flag_stops() {
    let problem = Problem::new(vec![true, false, false]).unwrap();
    let new = |pairs: &[(usize, usize)]| PairList::new(&problem, pairs.iter().copied(), &Ctx::serial());
    assert_eq!(listed(&new(&[(0, 2), (0, 1)]).unwrap()), [(0, 1), (0, 2)]);
    for pairs in [&[(0, 3)][..], &[(1, 2)], &[(0, 0)], &[(usize::MAX, 1)], &[], &[(0, 1), (0, 2), (0, 1)]] {
        assert!(matches!(new(pairs), Err(Error::Domain { name: "pairs", .. })), "{pairs:?}");
    }
    let list = new(&[(0, 1)]).unwrap();
    let of = |scores: &[f64]| list.hinge(scores, &mut [0.0; 3], &Ctx::serial());
    assert!(matches!(of(&[0.0, f64::NAN, 0.0]), Err(Error::NonFinite { name: "scores", index: 1, .. })));
    assert!(matches!(of(&[-1e308, 1e308, 0.0]), Err(Error::Domain { name: "scores", .. })));
    assert!(matches!(of(&[0.0; 2]), Err(Error::Length { .. })));
    let near = |space| neighbors(&problem, space, 1, Near::TwoStep, &Ctx::serial());
    assert!(matches!(near(Space::Features(&[0.0; 4])), Err(Error::Length { .. })));
    assert!(matches!(near(Space::Kernel(&[0.0; 3])), Err(Error::Length { .. })));
    assert!(matches!(near(Space::Kernel(&[f64::NAN; 9])), Err(Error::NonFinite { .. })));
    assert!(matches!(
        neighbors(&problem, Space::Features(&[]), 1, Near::TwoStep, &Ctx::serial()),
        Err(Error::Domain { .. })
    ));
    assert!(Cuts::new(&[1.0, 1.0], &[0.0; 3]).is_err());
    let found = nearest(&[0.0], &[1.0, f64::NAN], 1, 1, &Ctx::serial());
    assert!(matches!(found, Err(Error::NonFinite { name: "targets", index: 1, .. })));
    assert!(matches!(nearest(&[0.0; 3], &[1.0; 2], 2, 1, &Ctx::serial()), Err(Error::Length { .. })));
    let (stop, scores) = (std::sync::atomic::AtomicBool::new(true), [0.0; 3]);
    let stopped = Ctx::new(None, Some(&stop));
    assert_eq!(PairList::all(&problem, &stopped), Err(Error::Interrupted));
    assert_eq!(PairList::random(&problem, 2, 0, &stopped), Err(Error::Interrupted));
    assert_eq!(list.hinge(&scores, &mut [0.0; 3], &stopped), Err(Error::Interrupted));
}
