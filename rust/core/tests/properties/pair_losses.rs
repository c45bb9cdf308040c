//! The losses of pairs and their derivatives.

use proptest::prelude::*;
use rocmax_core::risk::{PairLoss, PairRange, pair_loss};
use rocmax_core::{Ctx, Negatives, Problem, RateRange};

use crate::TOLERANCE;
use crate::naive;
use crate::samples::{plain, sample};

/// The loss of a pair, its derivative and the curvature that is taken for its second one.
fn of_pair(loss: PairLoss, u: f64) -> [f64; 3] {
    let short = f64::max(0.0, 1.0 - u);
    let counts = f64::from(u8::from(u < 1.0));
    match loss {
        PairLoss::SquaredHinge => [short * short, -2.0 * short, 2.0 * counts],
        PairLoss::SmoothedHinge if u < 0.0 => [0.5 - u, -1.0, 1.0],
        PairLoss::SmoothedHinge => [short * short / 2.0, -short, counts],
        other => panic!("no twin of {other:?}"),
    }
}

pub(crate) type Derived = (f64, Vec<f64>, Vec<f64>);

pub(crate) fn pair_losses(
    problem: &Problem,
    scores: &[f64],
    loss: PairLoss,
    range: PairRange,
    ctx: &Ctx<'_>,
) -> Derived {
    let (mut gradient, mut hessian) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
    let value = pair_loss(problem, scores, (loss, range), 1.0, [&mut gradient, &mut hessian], ctx).unwrap();
    (value, gradient, hessian)
}

fn close((ours, theirs): (&Derived, &Derived), tolerance: f64) -> bool {
    let far = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    let value = (ours.0 - theirs.0).abs() / (1.0 + theirs.0);
    value.max(far(&ours.1, &theirs.1)).max(far(&ours.2, &theirs.2)) < tolerance
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pair_losses_match_their_definitions(s in sample(), shift in prop_oneof![Just(0.0), Just(1e8)]) {
        // Dyadic scores, of which a shift changes no difference.
        let scores: Vec<f64> = s.scores.iter().map(|x| (x * 1024.0).round() / 1024.0).collect();
        let shifted: Vec<f64> = scores.iter().map(|x| x + shift).collect();
        let flipped: Vec<f64> = scores.iter().map(|x| -x).collect();
        let others = s.problem.labels().iter().map(|label| !label).collect();
        let mirror = Problem::weighted(others, s.weights.clone()).unwrap();
        for loss in [PairLoss::SquaredHinge, PairLoss::SmoothedHinge] {
            let twin = naive::pair_loss(&s.problem, &scores, s.range, |u| of_pair(loss, u));
            let ours = pair_losses(&s.problem, &shifted, loss, PairRange::Fpr(s.range), &Ctx::serial());
            prop_assert!(close((&ours, &twin), TOLERANCE), "{ours:?} {twin:?}");
            prop_assert!(ours.1.iter().sum::<f64>().abs() < TOLERANCE);
            let mean = naive::mean_pair_loss(&s.problem, &scores, s.range, |u| of_pair(loss, u)[0]);
            prop_assert!((mean - ours.0).abs() < TOLERANCE * (1.0 + mean));
            // The mirror's positives are ranked from the other end; unless rounding moves an end, by the same ranks.
            let Ok(range) = RateRange::new(1.0 - s.range.high(), 1.0 - s.range.low()) else { continue };
            let ((low, high), n) = (s.problem.ranks(s.range), s.problem.ranks(RateRange::FULL).1);
            let (from, to) = range.ranks(if s.weights.iter().all(|w| w.fract() == 0.0) {
                Negatives::Whole(n)
            } else {
                Negatives::Shares(n)
            });
            if (low + to - n).abs() > 1e-12 || (high + from - n).abs() > 1e-12 {
                continue;
            }
            let turned = pair_losses(&mirror, &flipped, loss, PairRange::Tpr(range), &Ctx::serial());
            let minus = turned.1.iter().map(|x| -x).collect();
            prop_assert!(close((&(turned.0, minus, turned.2), &twin), 1e-10));
        }
    }

    #[test]
    fn whole_weights_repeat_pairs(s in plain(), weights in prop::collection::vec(0usize..4, 40), loss in any::<bool>()) {
        let weights = &weights[..s.scores.len()];
        let rows: Vec<usize> = weights.iter().enumerate().flat_map(|(i, &w)| vec![i; w]).collect();
        let of = weights.iter().map(|&w| w as f64).collect();
        let (labels, scores): (Vec<bool>, Vec<f64>) = rows.iter().map(|&i| (s.problem.labels()[i], s.scores[i])).unzip();
        let (Ok(problem), Ok(weighted)) = (Problem::new(labels), Problem::weighted(s.problem.labels().to_vec(), of))
        else {
            return Ok(());
        };
        let loss = if loss { PairLoss::SquaredHinge } else { PairLoss::SmoothedHinge };
        for range in [PairRange::Fpr(s.range), PairRange::Tpr(s.range)] {
            let ours = pair_losses(&weighted, &s.scores, loss, range, &Ctx::serial());
            let repeated = pair_losses(&problem, &scores, loss, range, &Ctx::serial());
            let mut summed = (repeated.0, vec![0.0; weights.len()], vec![0.0; weights.len()]);
            for (k, &i) in rows.iter().enumerate() {
                summed.1[i] += repeated.1[k];
                summed.2[i] += repeated.2[k];
            }
            prop_assert!(close((&ours, &summed), TOLERANCE), "{ours:?} {summed:?}");
        }
    }

    #[test]
    fn pair_losses_are_added_to_what_is_there(s in sample(), scale in 0.0..4.0) {
        let range = PairRange::Fpr(s.range);
        let (value, gradient, hessian) = pair_losses(&s.problem, &s.scores, PairLoss::SquaredHinge, range, &Ctx::serial());
        let start: Vec<f64> = (0..s.scores.len()).map(|i| i as f64 - 3.5).collect();
        let mut found = [start.clone(), start.clone()];
        let [to, to_diagonal] = &mut found;
        let derivatives: [&mut [f64]; 2] = [to, to_diagonal];
        let again =
            pair_loss(&s.problem, &s.scores, (PairLoss::SquaredHinge, range), scale, derivatives, &Ctx::serial());
        prop_assert_eq!(again, Ok(value));
        for (found, added) in found.iter().zip([gradient, hessian]) {
            let sum: Vec<f64> = start.iter().zip(&added).map(|(start, added)| start + scale * added).collect();
            prop_assert_eq!(found, &sum);
        }
    }
}
