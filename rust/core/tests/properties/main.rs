//! The fast oracles and measures against their naive twins, on scores with and without ties.
#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;

use proptest::prelude::*;
use rocmax_core::curve::{self, Measure, Normalize, Scratch};
use rocmax_core::risk::{Naive, Oracle, PairLoss, PairRange, Rank, Term, Tight, TopHinge, Workspace, pair_loss};
use rocmax_core::{Ctx, Labels, Problem, RateRange};

mod curves;
mod cuts;
mod data;
mod domains;
mod intervals;
mod left_out_pairs;
pub mod naive;
mod newton;
mod pair_losses;
mod pairs;
mod papers;
mod roc;
mod samples;
mod screening;
mod simplex;
pub mod testing;
mod variances;

use pair_losses::pair_losses;
use samples::{hash, plain, range, sample};

const TOLERANCE: f64 = 1e-12;

fn evaluate(oracle: &Oracle, scores: &[f64]) -> (f64, Vec<f64>, f64) {
    let mut coef = vec![f64::NAN; scores.len()];
    let found = oracle.evaluate(scores.into(), &mut coef, &mut Workspace::default(), &Ctx::serial()).unwrap();
    (found.value, coef, found.partial_auc)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn term(weight: f64, end: Rank, margin: f64) -> Term {
    Term { weight, end, margin }
}

fn terms(problem: &Arc<Problem>, range: RateRange, terms: &[Term]) -> Oracle {
    Oracle::new(problem.clone(), range, TopHinge::new(terms.to_vec()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn structural_risks_match_their_definitions_and_their_cuts_lie_below(s in sample()) {
        let risks: [(Oracle, bool); 2] = [
            (Oracle::new(s.problem.clone(), s.range, Tight), false),
            (Oracle::new(s.problem.clone(), s.range, Naive), true),
        ];
        let mut values = Vec::new();
        for (oracle, to_bottom) in risks {
            let (value, coef, partial_auc) = evaluate(&oracle, &s.scores);
            prop_assert!((value - naive::structural(&s.problem, &s.scores, s.range, to_bottom)).abs() < TOLERANCE);
            let share = naive::mean_pair_loss(&s.problem, &s.scores, s.range, |u| f64::from(u8::from(u > 0.0)));
            prop_assert!((partial_auc - share).abs() < TOLERANCE);
            prop_assert!(coef.iter().sum::<f64>().abs() < TOLERANCE);
            for (&c, &positive) in coef.iter().zip(s.problem.labels()) {
                prop_assert!((positive && c <= 0.0) || (!positive && c >= 0.0));
            }
            let elsewhere = naive::structural(&s.problem, &s.other, s.range, to_bottom);
            prop_assert!(elsewhere >= value + dot(&coef, &s.other) - dot(&coef, &s.scores) - TOLERANCE);
            values.push(value);
        }
        prop_assert!(values[0] <= values[1] + TOLERANCE);
    }

    #[test]
    fn whole_weights_are_repetitions(s in plain(), weights in prop::collection::vec(0usize..4, 40)) {
        let weights = &weights[..s.scores.len()];
        let of = weights.iter().map(|&w| w as f64).collect();
        let repeated = weights.iter().enumerate().flat_map(|(i, &w)| vec![i; w]);
        let (labels, scores): (Vec<bool>, Vec<f64>) = repeated.map(|i| (s.problem.labels()[i], s.scores[i])).unzip();
        let (Ok(problem), Ok(weighted)) = (Problem::new(labels), Problem::weighted(s.problem.labels().to_vec(), of))
        else {
            return Ok(());
        };
        for to_bottom in [false, true] {
            let ours = Arc::new(weighted.clone());
            let oracle = if to_bottom { Oracle::new(ours, s.range, Naive) } else { Oracle::new(ours, s.range, Tight) };
            let expected = naive::structural(&problem, &scores, s.range, to_bottom);
            let (value, coef, _) = evaluate(&oracle, &s.scores);
            prop_assert!((value - expected).abs() < TOLERANCE);
            prop_assert!(weights.iter().zip(coef).all(|(&w, c)| w > 0 || c == 0.0));
        }
        let range = RateRange::new(0.0, s.range.high()).unwrap();
        let smoothed = |problem: &Problem, scores: &[f64]| {
            let mut coef = vec![f64::NAN; scores.len()];
            let oracle = Oracle::new(Arc::new(problem.clone()), range, Tight);
            let cut = oracle.smooth(scores, 0.5, &mut coef, &mut Workspace::default(), &Ctx::serial());
            (cut.unwrap().unwrap().offset, dot(&coef, scores))
        };
        // Where all negatives are looked at: what is the lowest of these limits the width.
        if problem.n_neg() <= 32 {
            let (ours, theirs) = (smoothed(&weighted, &s.scores), smoothed(&problem, &scores));
            prop_assert!((ours.0 - theirs.0).abs() < 1e-8 && (ours.1 - theirs.1).abs() < 1e-8, "{ours:?} {theirs:?}");
        }
    }

    #[test]
    fn hinge_and_ramp_are_sums_of_terms(s in sample()) {
        let sum = |of: &[Term]| evaluate(&terms(&s.problem, s.range, of), &s.scores).0;
        let hinge = sum(&[term(1.0, Rank::High, 1.0), term(-1.0, Rank::Low, 1.0)]);
        let ramp = hinge + sum(&[term(1.0, Rank::Low, 0.0), term(-1.0, Rank::High, 0.0)]);
        let loss = |of: &dyn Fn(f64) -> f64| naive::mean_pair_loss(&s.problem, &s.scores, s.range, of);
        prop_assert!((hinge - loss(&|u| f64::max(0.0, 1.0 - u))).abs() < 1e-11);
        prop_assert!((ramp - loss(&|u| f64::clamp(1.0 - u, 0.0, 1.0))).abs() < 1e-11);
        let risk = loss(&|u| f64::from(u8::from(u <= 0.0)));
        prop_assert!(risk <= ramp + 1e-11 && ramp <= hinge + 1e-11);
    }

    #[test]
    fn a_convex_term_lies_above_its_cut(s in sample(), margin in 0.0..2.0) {
        let oracle = terms(&s.problem, s.range, &[term(0.5, Rank::High, margin)]);
        let (value, coef, _) = evaluate(&oracle, &s.scores);
        let (elsewhere, _, _) = evaluate(&oracle, &s.other);
        prop_assert!(elsewhere >= value + dot(&coef, &s.other) - dot(&coef, &s.scores) - TOLERANCE);
        prop_assert!(coef.iter().sum::<f64>().abs() < TOLERANCE);
    }

    #[test]
    fn a_smoothed_cut_lies_below_the_risk_and_not_far_below(s in sample(), width in 1e-3..2.0, margin in 0.0..2.0) {
        let (j_a, j_b) = s.problem.ranks(s.range);
        let parts = [term(1.0, Rank::High, 1.0), term(0.5, Rank::Low, margin)];
        let weight = 1.5 * j_b / (j_b - j_a);
        let oracle = terms(&s.problem, s.range, &parts);
        let mut coef = vec![f64::NAN; s.scores.len()];
        let cut = oracle.smooth(&s.scores, width, &mut coef, &mut Workspace::default(), &Ctx::serial()).unwrap();
        let at = |scores: &[f64]| cut.as_ref().unwrap().offset + dot(&coef, scores);
        let here = evaluate(&oracle, &s.scores).0;
        prop_assert!(at(&s.scores) <= here + TOLERANCE, "{} > {here}", at(&s.scores));
        prop_assert!(at(&s.scores) >= here - 1.25 * width * weight - TOLERANCE, "{} << {here}", at(&s.scores));
        prop_assert!(at(&s.other) <= evaluate(&oracle, &s.other).0 + TOLERANCE);
        prop_assert!(coef.iter().sum::<f64>().abs() < TOLERANCE);
    }

    #[test]
    fn a_proximal_point_is_where_its_cut_touches_the_risk(
        s in sample(),
        margin in prop_oneof![Just(0.0), Just(1.0), 0.0..2.0],
        stiffness in (-9.0..3.0, -9.0..3.0),
    ) {
        let oracle = terms(&s.problem, s.range, &[term(0.5, Rank::High, margin)]);
        let hinges = oracle.hinges().unwrap();
        prop_assert_eq!(hinges.len(), 1);
        let stiffness = [f64::exp(stiffness.0), f64::exp(stiffness.1)];
        let mut coef = vec![f64::NAN; s.scores.len()];
        let found = oracle.proximal(&hinges[0], &s.scores, stiffness, &mut coef, &Ctx::serial()).unwrap();
        let of = |i: usize| stiffness[usize::from(!s.problem.labels()[i])] * s.weights[i];
        prop_assert!((0..coef.len()).all(|i| s.weights[i] > 0.0 || coef[i] == 0.0));
        let moved = |i: usize| if s.weights[i] > 0.0 { coef[i] / of(i) } else { 0.0 };
        let point: Vec<f64> = (0..coef.len()).map(|i| s.scores[i] - moved(i)).collect();
        // A cut that lies below the risk everywhere and touches it at the point: the point is the least of its sum.
        let at = |scores: &[f64]| found.offset + dot(&coef, scores);
        let scale = 1.0 + point.iter().fold(0.0, |most, p| f64::max(most, p.abs()));
        prop_assert!((evaluate(&oracle, &point).0 - at(&point)).abs() < 1e-10 * scale);
        prop_assert!(at(&s.other) <= evaluate(&oracle, &s.other).0 + TOLERANCE);
        prop_assert!(coef.iter().sum::<f64>().abs() < TOLERANCE);
        let levels: Vec<f64> =
            (0..coef.len()).map(|i| point[i] - if s.problem.labels()[i] { margin } else { 0.0 }).collect();
        // A sample that moved to the level of the other class is in a group.
        for i in (0..coef.len()).filter(|&i| coef[i].abs() > 1e-9) {
            let meets = |j: usize| coef[i] * coef[j] < -1e-18 && (levels[i] - levels[j]).abs() < 1e-13 * scale;
            prop_assert!(!(0..coef.len()).any(meets) || found.rows.contains(&(i as u32)));
        }
        for (k, &start) in found.starts.iter().enumerate() {
            let end = found.starts.get(k + 1).map_or(found.rows.len(), |&end| end as usize);
            let group = &found.rows[start as usize..end];
            prop_assert!(group.len() > 1);
            prop_assert!(group.iter().all(|&i| (levels[i as usize] - levels[group[0] as usize]).abs() < 1e-9 * scale));
        }
    }

    #[test]
    fn every_cut_of_every_risk_lies_below_it(s in sample(), width in 1e-3..2.0, stiffness in (-9.0..3.0, -9.0..3.0)) {
        let stiffness = [f64::exp(stiffness.0), f64::exp(stiffness.1)];
        let ramp = [term(1.0, Rank::High, 1.0), term(1.0, Rank::Low, 0.0)];
        let minus_ramp = [term(1.0, Rank::High, 0.0), term(1.0, Rank::Low, 1.0)];
        let risks: [(&str, Oracle); 4] = [
            ("tight", Oracle::new(s.problem.clone(), s.range, Tight)),
            ("naive", Oracle::new(s.problem.clone(), s.range, Naive)),
            ("convex part", terms(&s.problem, s.range, &ramp)),
            ("concave part", terms(&s.problem, s.range, &minus_ramp)),
        ];
        for (name, oracle) in risks {
            let mut ws = Workspace::default();
            let mut coef = vec![f64::NAN; s.scores.len()];
            let found = oracle.evaluate(s.scores.as_slice().into(), &mut coef, &mut ws, &Ctx::serial()).unwrap();
            let mut cuts = vec![(found.offset, coef.clone())];
            prop_assert!((found.offset + dot(&coef, &s.scores) - found.value).abs() < TOLERANCE);
            if let Some(cut) = oracle.smooth(&s.scores, width, &mut coef, &mut ws, &Ctx::serial()).unwrap() {
                cuts.push((cut.offset, coef.clone()));
            }
            let mut sum = (0.0, vec![0.0; coef.len()]);
            for hinge in oracle.hinges().unwrap_or_default() {
                sum.0 += oracle.proximal(&hinge, &s.scores, stiffness, &mut coef, &Ctx::serial()).unwrap().offset;
                sum.1.iter_mut().zip(&coef).for_each(|(sum, c)| *sum += c);
            }
            cuts.push(sum);
            for scale in [0.0, 0.1, 1.0, 30.0] {
                let other: Vec<f64> = s.other.iter().map(|x| scale * x).collect();
                let value = evaluate(&oracle, &other).0;
                for (offset, coef) in &cuts {
                    let cut = offset + dot(coef, &other);
                    prop_assert!(cut <= value + TOLERANCE * (1.0 + scale), "{name}, {scale}: {cut} > {value}");
                }
            }
        }
    }

    #[test]
    fn a_proximal_point_of_large_scores_keeps_its_slopes(s in sample(), stiffness in (-9.0..3.0, -9.0..3.0)) {
        let stiffness = [f64::exp(stiffness.0), f64::exp(stiffness.1)];
        let oracle = terms(&s.problem, s.range, &[term(1.0, Rank::High, 1.0)]);
        let (mut coef, hinge) = (vec![f64::NAN; s.scores.len()], oracle.hinges().unwrap()[0]);
        for shift in [0.0, 1e8] {
            let scores: Vec<f64> = s.scores.iter().map(|x| x + shift).collect();
            oracle.proximal(&hinge, &scores, stiffness, &mut coef, &Ctx::serial()).unwrap();
            // Shifts of the scores are not to count, however large.
            prop_assert!(coef.iter().sum::<f64>().abs() < TOLERANCE, "{}", coef.iter().sum::<f64>());
        }
    }

    #[test]
    fn tight_is_the_hinge_when_the_range_starts_at_zero(s in sample()) {
        let range = RateRange::new(0.0, s.range.high()).unwrap();
        let hinge = terms(&s.problem, range, &[term(1.0, Rank::High, 1.0)]);
        let tight = Oracle::new(s.problem.clone(), range, Tight);
        prop_assert!((evaluate(&hinge, &s.scores).0 - evaluate(&tight, &s.scores).0).abs() < TOLERANCE);
    }

    #[test]
    fn measures_match_their_definitions(s in plain()) {
        let ctx = Ctx::serial();
        let labels = Labels::from(&*s.problem);
        let measure = |measure| curve::measure(&labels, s.scores.as_slice().into(), None, measure, &mut Scratch::default(), &ctx).unwrap();
        let auc = curve::auc(&labels, s.scores.as_slice().into(), &mut Scratch::default(), &ctx).unwrap();
        prop_assert!((auc - naive::auc(&s.problem, &s.scores)).abs() < TOLERANCE);
        let ranked = measure(Measure::Ranked(s.range));
        prop_assert!((ranked - naive::partial_auc_ranked(&s.problem, &s.scores, s.range)).abs() < TOLERANCE);
        let area = measure(Measure::Partial(s.range, Normalize::None));
        prop_assert!((area - naive::partial_auc_curve(&s.problem, &s.scores, s.range)).abs() < TOLERANCE);
        let curve = curve::Curve::new(&labels, &s.scores, None, &ctx).unwrap();
        let moments = curve::auc_moments(&labels, s.scores.as_slice().into(), &mut Scratch::default(), &ctx).unwrap();
        prop_assert_eq!(curve.auc_moments(), moments);
        for of in [Measure::Scored, Measure::AveragePrecision(None), Measure::AveragePrecision(Some(0.1))] {
            prop_assert_eq!(curve.moments(of).unwrap().estimate, curve.measure(of).unwrap());
        }
        let flipped: Vec<f64> = s.scores.iter().map(|x| -x).collect();
        prop_assert!((curve::auc(&labels, flipped.as_slice().into(), &mut Scratch::default(), &ctx).unwrap() - (1.0 - auc)).abs() < TOLERANCE);
    }

    #[test]
    fn any_bit_pattern_gives_a_result_or_an_error(bits in prop::collection::vec(any::<u64>(), 2..30), s in range()) {
        let scores: Vec<f64> = bits.iter().map(|&b| f64::from_bits(b)).collect();
        let labels = bits.iter().enumerate().map(|(i, _)| i % 3 == 0).collect();
        let problem = Arc::new(Problem::new(labels).unwrap());
        let mut coef = vec![0.0; scores.len()];
        let found = Oracle::new(problem.clone(), s, Tight).evaluate(scores.as_slice().into(), &mut coef, &mut Workspace::default(), &Ctx::serial());
        prop_assert!(found.is_err() || (found.unwrap().value.is_finite() && coef.iter().all(|c| c.is_finite())));
        let mut hessian = coef.clone();
        for loss in [PairLoss::SquaredHinge, PairLoss::SmoothedHinge] {
            let found = pair_loss(&problem, &scores, (loss, PairRange::Fpr(s)), 1.0, [&mut coef, &mut hessian], &Ctx::serial());
            prop_assert!(found.is_err() || coef.iter().chain(&hessian).all(|c| c.is_finite()));
        }
        if let Ok(auc) = curve::auc(&Labels::from(&*problem), scores.as_slice().into(), &mut Scratch::default(), &Ctx::serial()) {
            prop_assert!((0.0..=1.0).contains(&auc));
        }
    }
}

#[test]
fn two_threads_give_the_same_bits() {
    let pool = crate::testing::pool(2);
    let n = 140_000u64;
    let hash = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11;
    let labels: Vec<bool> = (0..n).map(|i| hash(i) % 7 == 0).collect();
    let weights: Vec<f64> = (0..n).map(|i| (hash(i * 17 + 3) % 1000) as f64 / 300.0).collect();
    let whole = weights.iter().map(|w| w.floor()).collect();
    let scores: Vec<f64> = (0..n).map(|i| (hash(i * 31 + 5) % 20_011) as f64 / 9_000.0).collect();
    let problems =
        [Problem::new(labels.clone()), Problem::weighted(labels.clone(), whole), Problem::weighted(labels, weights)];
    for (other, problem) in problems.map(|problem| Arc::new(problem.unwrap())).into_iter().enumerate() {
        // Every problem with two of the ranges, every range with two of the problems.
        for (low, high) in [[(0.0, 0.05), (0.02, 0.05)], [(0.0, 1.0), (0.02, 0.05)], [(0.0, 1.0), (0.0, 0.05)]][other] {
            let range = RateRange::new(low, high).unwrap();
            let risks: [Oracle; 2] =
                [Oracle::new(problem.clone(), range, Naive), Oracle::new(problem.clone(), range, Tight)];
            for oracle in risks {
                let run = |ctx: Ctx<'_>| {
                    let mut coef = vec![0.0; scores.len()];
                    let found =
                        oracle.evaluate(scores.as_slice().into(), &mut coef, &mut Workspace::default(), &ctx).unwrap();
                    (found.value.to_bits(), found.partial_auc.to_bits(), coef)
                };
                assert_eq!(run(Ctx::serial()), run(Ctx::new(pool.as_ref(), None)));
            }
            let run =
                |ctx: Ctx<'_>| pair_losses(&problem, &scores, PairLoss::SquaredHinge, PairRange::Fpr(range), &ctx);
            assert!(run(Ctx::serial()) == run(Ctx::new(pool.as_ref(), None)));
        }
    }
    let (problem, range) = (Problem::new((0..n).map(|i| hash(i) % 7 == 0).collect()).unwrap(), RateRange::FULL);
    for measure in [Measure::Auc, Measure::Partial(range, Normalize::Width)] {
        let run = |ctx: Ctx<'_>| {
            curve::measure(
                &Labels::from(&problem),
                scores.as_slice().into(),
                None,
                measure,
                &mut Scratch::default(),
                &ctx,
            )
            .unwrap()
            .to_bits()
        };
        assert_eq!(run(Ctx::serial()), run(Ctx::new(pool.as_ref(), None)));
    }
}

#[test]
fn whole_weights_are_repetitions_in_every_chunk_and_region() {
    let n = 150_000u64;
    let hash = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11;
    let labels: Vec<bool> = (0..n).map(|i| hash(i) % 3 == 0).collect();
    let weights: Vec<f64> = (0..n).map(|i| (hash(i * 17 + 3) % 4) as f64).collect();
    let scores: Vec<f64> = (0..n).map(|i| (hash(i * 31 + 5) % 70_001) as f64 / 30_000.0).collect();
    let rows: Vec<usize> = (0..scores.len()).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let repeated = Problem::new(rows.iter().map(|&i| labels[i]).collect()).map(Arc::new).unwrap();
    let weighted = Problem::weighted(labels, weights.clone()).map(Arc::new).unwrap();
    let repeated_scores: Vec<f64> = rows.iter().map(|&i| scores[i]).collect();
    for (low, high) in [(0.0, 1.0), (0.0, 0.05), (0.02, 0.3)] {
        let range = RateRange::new(low, high).unwrap();
        let (value, coef, partial_auc) = evaluate(&Oracle::new(weighted.clone(), range, Tight), &scores);
        let (expected, by_row, share) = evaluate(&Oracle::new(repeated.clone(), range, Tight), &repeated_scores);
        assert!((value - expected).abs() < TOLERANCE && (partial_auc - share).abs() < TOLERANCE);
        let mut summed = vec![0.0; coef.len()];
        rows.iter().zip(by_row).for_each(|(&i, c)| summed[i] += c);
        assert!(coef.iter().zip(&summed).all(|(ours, theirs)| (ours - theirs).abs() < 1e-15), "{range:?}");
    }
}

#[test]
fn a_margin_that_is_no_number_is_refused() {
    use rocmax_core::Error;
    let labels = [true, false];
    let labels = Labels::new(&labels).unwrap();
    let found = curve::measure(
        &labels,
        [1.0, 0.0].as_slice().into(),
        None,
        Measure::Margin(f64::NAN),
        &mut Scratch::default(),
        &Ctx::serial(),
    );
    assert!(matches!(found, Err(Error::Domain { name: "margin", .. })));
}

#[test]
fn springs_of_no_stiffness_are_refused() {
    let problem = Arc::new(Problem::new(vec![true, false]).unwrap());
    let oracle = Oracle::new(problem, RateRange::FULL, Tight);
    let hinge = oracle.hinges().unwrap()[0];
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for stiffness in [[1.0, bad], [bad, 1.0]] {
            let found = oracle.proximal(&hinge, &[0.0, 1.0], stiffness, &mut [0.0; 2], &Ctx::serial());
            assert!(matches!(found, Err(rocmax_core::Error::Domain { name: "stiffness", .. })), "{stiffness:?}");
        }
    }
}

#[test]
fn weights_of_many_positives_far_from_zero_are_those_of_the_definition() {
    let m = 70_000;
    let labels: Vec<bool> = (0..m + 8).map(|i| i < m).collect();
    let weights = (0..m + 8).map(|i| (4.0 * hash(i)).floor() / 2.0 + 0.5).collect();
    let problem = Arc::new(Problem::weighted(labels, weights).unwrap());
    let scores: Vec<f64> = (0..m + 8).map(|i| (1 << 20) as f64 + 2.0 * hash(3 * i + 1)).collect();
    let range = RateRange::new(0.0, 0.7).unwrap();
    let (value, ..) = evaluate(&terms(&problem, range, &[term(1.0, Rank::High, 1.0)]), &scores);
    let expected = naive::mean_pair_loss(&problem, &scores, range, |u| f64::max(0.0, 1.0 - u));
    assert!((value - expected).abs() < 1e-11, "{value} {expected}");
}
