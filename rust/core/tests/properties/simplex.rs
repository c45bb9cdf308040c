//! The quadratic program of the cutting planes against its optimality conditions and closed forms.

use proptest::prelude::*;
use rocmax_core::solve::minimise_on_simplex;
use rocmax_core::{Ctx, Error};

use crate::dot;
use crate::testing::uniform;

fn solve(gram: &[f64], gain: &[f64], total: f64, start: &[f64]) -> Vec<f64> {
    let mut weights = start.to_vec();
    minimise_on_simplex(gram, gain, total, &mut weights, 0.0, &Ctx::serial()).unwrap();
    weights
}

proptest! {
    #[test]
    fn no_weight_is_better_placed_elsewhere(
        (rank, rows) in (1usize..9).prop_flat_map(|rank| {
            // Any, whole, and whole but for a little, so that some nearly depend on others.
            let whole = (-1i8..2).prop_map(f64::from);
            let nearly = (-1i8..2, -1i8..2).prop_map(|(x, y)| f64::from(x) + 1e-8 * f64::from(y));
            let of = |entry: BoxedStrategy<f64>| prop::collection::vec(entry, rank);
            let row = prop_oneof![of((-2.0..2.0).boxed()), of(whole.boxed()), of(nearly.boxed())];
            (Just(rank), prop::collection::vec((row, -1.0..3.0, prop_oneof![Just(0.0), 0.1..1.0]), 2..30))
        }),
        total in 0.01..100.0,
    ) {
        let size = rows.len();
        let gram: Vec<f64> = rows.iter().flat_map(|a| rows.iter().map(move |b| dot(&a.0[..rank], &b.0))).collect();
        let gain: Vec<f64> = rows.iter().map(|row| row.1).collect();
        let sum = rows.iter().map(|row| row.2).sum::<f64>();
        prop_assume!(sum > 0.0);
        let start: Vec<f64> = rows.iter().map(|row| total * row.2 / sum).collect();
        let weights = solve(&gram, &gain, total, &start);
        prop_assert!(weights.iter().all(|&w| w >= 0.0) && (weights.iter().sum::<f64>() / total - 1.0).abs() < 1e-12);
        let slopes: Vec<f64> = (0..size).map(|i| dot(&gram[i * size..(i + 1) * size], &weights) - gain[i]).collect();
        let gap = dot(&weights, &slopes) - total * slopes.iter().copied().fold(f64::INFINITY, f64::min);
        let scale = total * (1.0 + total * gram.iter().fold(0.0, |most, g| f64::max(most, g.abs())));
        prop_assert!(gap.abs() <= 1e-13 * scale, "{} of {scale}", gap);
    }
}

#[test]
fn about_one_step_per_variable_is_enough_and_a_few_from_all_but_the_last_cut() {
    let mut next = uniform(8);
    for size in [2, 5, 10, 30] {
        for _ in 0..10 {
            let rows: Vec<Vec<f64>> =
                (0..=size).map(|_| (0..size + 9).map(|_| next() - 0.5).collect::<Vec<_>>()).collect();
            let gains: Vec<f64> = rows.iter().map(|_| 0.1 * next()).collect();
            let gram =
                |n: usize| rows[..n].iter().flat_map(|a| rows[..n].iter().map(|b| dot(a, b))).collect::<Vec<_>>();
            let steps = |n: usize, weights: &mut [f64]| {
                minimise_on_simplex(&gram(n), &gains[..n], 1.0, weights, 1e-12, &Ctx::serial()).unwrap()
            };
            let mut weights = vec![0.0; size + 1];
            weights[0] = 1.0;
            let cold = steps(size, &mut weights[..size]);
            let warm = steps(size + 1, &mut weights);
            assert!(cold <= size + 3 && warm <= 3 + size / 3, "{size}: {cold} {warm}");
        }
    }
}

#[test]
fn two_cuts_have_a_closed_form() {
    // 1/2 (4 x^2 + y^2) - x over x + y = 3: 4x - 1 = y.
    let weights = solve(&[4.0, 0.0, 0.0, 1.0], &[1.0, 0.0], 3.0, &[0.0, 3.0]);
    assert!((weights[0] - 0.8).abs() < 1e-15 && (weights[1] - 2.2).abs() < 1e-15);
}

#[test]
fn flat_directions_end_at_a_corner() {
    assert_eq!(solve(&[0.0; 9], &[1.0, 3.0, 2.0], 2.0, &[1.0, 0.5, 0.5]), [0.0, 2.0, 0.0]);
    // Three equal cuts, one of them offset most.
    assert_eq!(solve(&[1.0; 9], &[1.0, 2.0, 3.0], 6.0, &[2.0, 2.0, 2.0]), [0.0, 0.0, 6.0]);
    // Every step ends at a variable.
    let (gains, mut weights) = ([1.0, 2.0, 6.0, 3.0, 5.0, 4.0], [1.0; 6]);
    let steps = minimise_on_simplex(&[0.0; 36], &gains, 6.0, &mut weights, 0.0, &Ctx::serial()).unwrap();
    assert!(steps <= 6 && weights == [0.0, 0.0, 6.0, 0.0, 0.0, 0.0], "{steps} {weights:?}");
}

#[test]
fn cuts_that_are_next_to_nothing_leave_the_offsets_to_decide() {
    // Of two equal rows: all that is left of the features is rounding.
    let g = 3.8716434434493085e-30;
    let gram = [0.0, 0.0, 0.0, 0.0, g, 2.0 * g, 0.0, 2.0 * g, 4.0 * g];
    for total in [18.13365504437381, 1.0, 3.7, 1e3] {
        let found = solve(&gram, &[0.0, 4.25, 8.5], total, &[0.0, total, 0.0]);
        assert_eq!(found[..2], [0.0, 0.0]);
        assert!((found[2] / total - 1.0).abs() < 1e-15, "{found:?}");
    }
}

#[test]
fn entries_that_are_not_finite_are_refused() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MAX / 2.0] {
        for gram in [[0.0, 0.0, 0.0, bad], [bad, 0.0, 0.0, 1.0], [1.0, bad, bad, 1.0]] {
            let mut weights = [1.0, 0.0];
            let found = minimise_on_simplex(&gram, &[0.0, 1.0], 1.0, &mut weights, 1e-9, &Ctx::serial());
            assert!(matches!(found, Err(Error::Domain { .. })), "{gram:?}");
        }
    }
}

#[test]
fn bad_input_is_an_error() {
    let fail = |gram: &[f64], weights: &mut [f64]| {
        minimise_on_simplex(gram, &[1.0], 1.0, weights, 0.0, &Ctx::serial()).unwrap_err()
    };
    assert!(matches!(fail(&[1.0, 2.0], &mut [1.0]), Error::Length { name: "gram", .. }));
    assert!(matches!(fail(&[1.0], &mut [1.0, 0.0]), Error::Length { name: "start", .. }));
    assert!(matches!(fail(&[f64::NAN], &mut [1.0]), Error::Domain { .. }));
    assert!(matches!(fail(&[f64::INFINITY], &mut [1.0]), Error::Domain { .. }));
}
