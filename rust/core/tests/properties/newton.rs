//! Newton steps, products and sums of features, against dense equations sum by sum.

use proptest::prelude::*;
use rocmax_core::solve::{Curved, Features, adjoint, conjugate, digest, moments, newton_step, scores};
use rocmax_core::{Ctx, Error};

/// Dense and sparse features of some rows, their springs, and a gradient.
#[derive(Debug, Clone)]
struct Case {
    values: Vec<f64>,
    rows: Vec<usize>,
    starts: Vec<usize>,
    stiffness: Vec<f64>,
    gradient: Vec<f64>,
}

fn case() -> impl Strategy<Value = Case> {
    // Of 20 groups to one of 60 springs, so that some are large.
    let groups = prop_oneof![Just(0.5), Just(0.03)]
        .prop_flat_map(|new| prop::collection::vec((0_usize..12, 0.01..2.0, proptest::bool::weighted(new)), 1..60));
    (1_usize..80, 1_usize..12, groups).prop_flat_map(|(dim, n, springs)| {
        let value = prop_oneof![Just(0.0), -1.0..1.0];
        let all = (prop::collection::vec(value, n * dim), prop::collection::vec(-1.0..1.0, dim));
        all.prop_map(move |(values, gradient)| Case {
            values,
            gradient,
            rows: springs.iter().map(|&(row, ..)| row % n).collect(),
            stiffness: springs.iter().map(|&(_, stiffness, _)| stiffness).collect(),
            starts: (0..springs.len()).filter(|&k| k == 0 || springs[k].2).collect(),
        })
    })
}

/// (I + X'HX) step, sum by sum.
fn image(case: &Case, step: &[f64]) -> Vec<f64> {
    let dim = step.len();
    let row = |k: usize| &case.values[case.rows[k] * dim..][..dim];
    let scores: Vec<f64> = (0..case.rows.len()).map(|k| row(k).iter().zip(step).map(|(x, v)| x * v).sum()).collect();
    let mut image = step.to_vec();
    for (g, &start) in case.starts.iter().enumerate() {
        let group = start..case.starts.get(g + 1).copied().unwrap_or(scores.len());
        let total: f64 = group.clone().map(|k| case.stiffness[k]).sum();
        let mean = group.clone().map(|k| case.stiffness[k] * scores[k]).sum::<f64>() / total;
        for k in group {
            let pull = case.stiffness[k] * (scores[k] - mean);
            image.iter_mut().zip(row(k)).for_each(|(image, x)| *image += pull * x);
        }
    }
    image
}

/// The features without their zeros.
fn sparse(values: &[f64], dim: usize) -> (Vec<f64>, Vec<i32>, Vec<i32>) {
    let (mut kept, mut columns, mut starts) = (vec![], vec![], vec![0]);
    for row in values.chunks(dim) {
        for (k, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            kept.push(x);
            columns.push(k as i32);
        }
        starts.push(kept.len() as i32);
    }
    (kept, columns, starts)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn steps_solve_the_dense_equations(case in case(), until in prop_oneof![Just(0.3), Just(1e-6)]) {
        let pull = Curved::Springs(&case.starts, &case.stiffness);
        let (rows, gradient, end) = (&case.rows, &case.gradient, (until, 1000));
        let (kept, columns, starts) = sparse(&case.values, gradient.len());
        let single: Vec<f32> = case.values.iter().map(|&x| x as f32).collect();
        let steps = [
            newton_step(Features::Dense(&case.values), rows, pull, gradient, end, &Ctx::serial()).unwrap(),
            newton_step(Features::<f64>::Sparse(&kept, &columns, &starts), rows, pull, gradient, end, &Ctx::serial()).unwrap(),
            newton_step(Features::Dense(&single), rows, pull, gradient, end, &Ctx::serial()).unwrap(),
        ];
        let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        for (step, rounding) in steps.iter().zip([1e-9, 1e-9, 1e-4]) {
            let left: Vec<f64> = image(&case, step).iter().zip(gradient).map(|(i, g)| i + g).collect();
            prop_assert!(length(&left) <= (until + rounding) * length(gradient));
        }

        let (dim, n) = (gradient.len(), case.values.len() / gradient.len());
        let products = [
            scores(Features::Dense(&case.values), gradient, &Ctx::serial()).unwrap(),
            scores(Features::<f64>::Sparse(&kept, &columns, &starts), gradient, &Ctx::serial()).unwrap(),
            scores(Features::Dense(&single), gradient, &Ctx::serial()).unwrap(),
        ];
        for (products, rounding) in products.iter().zip([1e-12, 1e-12, 1e-4]) {
            for (row, product) in case.values.chunks(dim).zip(products) {
                let all: f64 = row.iter().zip(gradient).map(|(x, g)| x * g).sum();
                prop_assert!((product - all).abs() <= rounding);
            }
        }
        // Three sums, of which the first two share their rows.
        let coefs: Vec<Vec<f64>> = (0..3).map(|k| (0..n).map(|i| f64::from((i * 7 + k * 5) as i32 % 4 - 1)).collect()).collect();
        let coefs: Vec<&[f64]> = coefs.iter().map(|coefs| &coefs[..]).collect();
        let sums = [
            adjoint(Features::Dense(&case.values), &coefs, dim, &Ctx::serial()).unwrap(),
            adjoint(Features::<f64>::Sparse(&kept, &columns, &starts), &coefs, dim, &Ctx::serial()).unwrap(),
            adjoint(Features::Dense(&single), &coefs, dim, &Ctx::serial()).unwrap(),
        ];
        for (sums, rounding) in sums.iter().zip([1e-12, 1e-12, 1e-4]) {
            for (sums, coefs) in sums.chunks(dim).zip(&coefs) {
                for (k, sum) in sums.iter().enumerate() {
                    let all: f64 = coefs.iter().enumerate().map(|(row, coef)| coef * case.values[row * dim + k]).sum();
                    prop_assert!((sum - all).abs() <= rounding);
                }
            }
        }

        let digest = |values: &[f64], dim, first| digest(Features::Dense(values), dim, first, false, &Ctx::serial());
        let sparse = Features::<f64>::Sparse(&kept, &columns, &starts);
        let all = digest(&case.values, dim, 5).unwrap();
        prop_assert_eq!(rocmax_core::solve::digest(sparse, dim, 5, false, &Ctx::serial()).unwrap(), all);
        let of_rows = case.values.chunks(dim).zip(5..).map(|(row, first)| digest(row, dim, first).unwrap());
        prop_assert_eq!(of_rows.fold(0, u64::wrapping_add), all);
        let origin = &case.values[..dim];
        let found = [
            moments(Features::Dense(&case.values), origin, &Ctx::serial()).unwrap(),
            moments(Features::<f64>::Sparse(&kept, &columns, &starts), origin, &Ctx::serial()).unwrap(),
        ];
        for k in 0..dim {
            let apart: Vec<f64> = case.values.iter().skip(k).step_by(dim).map(|x| x - origin[k]).collect();
            let all = [apart.iter().sum::<f64>(), apart.iter().map(|x| x * x).sum()];
            for found in &found {
                prop_assert!((found[k] - all[0]).abs() <= 1e-12 && (found[dim + k] - all[1]).abs() <= 1e-12);
            }
        }
    }
}

#[test]
fn steps_end_with_the_products_the_pull_and_ctrl_c() {
    let (values, rows, gradient) = ([1.0, 2.0, 0.0, 1.0], [0, 1], [1.0, 1.0]);
    let steps = |pull: fn(&[f64]) -> rocmax_core::Result<Vec<f64>>, n| {
        newton_step(Features::Dense(&values), &rows, Curved::Product(&pull), &gradient, (0.0, n), &Ctx::serial())
    };
    let strong = |change: &[f64]| Ok(change.to_vec());
    assert_eq!(steps(strong, 0).unwrap(), [0.0, 0.0]);
    // X'X g = [3, 7]: the step along the gradient is g.g / (g.g + g.X'X g).
    assert_eq!(steps(strong, 1).unwrap(), [-2.0 / 12.0, -2.0 / 12.0]);
    assert_eq!(steps(|change| Ok(change.iter().map(|c| -10.0 * c).collect()), 9).unwrap(), [0.0, 0.0]);
    assert_eq!(steps(|change| Ok(vec![f64::INFINITY; change.len()]), 9).unwrap(), [0.0, 0.0]);
    let failure = Error::Interrupted;
    assert_eq!(steps(|_| Err(Error::Interrupted), 1), Err(failure));
    let stop = std::sync::atomic::AtomicBool::new(true);
    let stopped = Ctx::new(None, Some(&stop));
    let (features, springs) = (Features::Dense(&values), Curved::Springs(&[0], &[1.0; 3]));
    let wrong = newton_step(features, &rows, springs, &gradient, (0.0, 1), &Ctx::serial());
    assert_eq!(wrong, Err(Error::Length { name: "stiffness", expected: 2, got: 3 }));
    let springs = Curved::Springs(&[0], &[1.0; 2]);
    assert_eq!(newton_step(features, &rows, springs, &gradient, (0.1, 5), &stopped), Err(Error::Interrupted));
    assert_eq!(adjoint(features, &[&[1.0; 2]], 2, &stopped), Err(Error::Interrupted));
    assert_eq!(scores(features, &[1.0; 2], &stopped), Err(Error::Interrupted));
    assert_eq!(digest(features, 2, 0, false, &stopped), Err(Error::Interrupted));
    assert_eq!(moments(features, &[1.0; 2], &stopped), Err(Error::Interrupted));
    let wrong = adjoint(features, &[&[1.0]], 2, &Ctx::serial());
    assert_eq!(wrong, Err(Error::Length { name: "coefs", expected: 2, got: 1 }));
}

#[test]
fn gradients_end_where_rounding_wins() {
    // Inner products in single precision, and a curvature from 1 to 1e4.
    let gradient = [1.0; 40];
    let mut products = 0;
    let product = |v: &[f64]| {
        products += 1;
        Ok(v.iter().enumerate().map(|(k, x)| x * (1e4f64.powf(k as f64 / 39.0) - 1.0)).collect())
    };
    let rough = |x: &[f64], y: &[f64]| Ok(x.iter().zip(y).map(|(x, y)| (x * y) as f32).sum::<f32>().into());
    let step = conjugate(&gradient, (0.0, 100_000), product, rough).unwrap();
    for (k, step) in step.iter().enumerate() {
        assert!((step * 1e4f64.powf(k as f64 / 39.0) + 1.0).abs() < 1e-2);
    }
    assert!(products < 2000, "{products}");
}

#[test]
fn much_that_all_scores_have_in_common_costs_no_digits() {
    // Rows far from 0 in single precision: the pulls are of the differences of their scores.
    let (n, dim) = (40, 24);
    let near: Vec<f32> = (0..n * dim).map(|k| ((k * 7919) % 97) as f32 / 97.0 - 0.5).collect();
    let far: Vec<f32> = near.iter().map(|x| x + 64.0).collect();
    let (rows, stiffness): (Vec<usize>, Vec<f64>) = ((0..n).collect(), vec![0.5; n]);
    let gradient: Vec<f64> = (0..dim).map(|k| (k as f64).sin()).collect();
    let step = |values: &[f32]| {
        let springs = Curved::Springs(&[0], &stiffness);
        newton_step(Features::Dense(values), &rows, springs, &gradient, (1e-4, 100), &Ctx::serial()).unwrap()
    };
    for (a, b) in step(&near).iter().zip(step(&far)) {
        assert!((a - b).abs() < 2e-3);
    }
}
