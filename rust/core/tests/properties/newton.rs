//! Newton steps over a few rows, against the residual of the dense equations.

use proptest::prelude::*;
use rocmax_core::solve::{Features, newton_step, spring_pull};
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
    (1_usize..80, 1_usize..12, prop::collection::vec((0_usize..12, 0.01..2.0, any::<bool>()), 1..30)).prop_flat_map(
        |(dim, n, springs)| {
            let value = prop_oneof![Just(0.0), -1.0..1.0];
            let all = (prop::collection::vec(value, n * dim), prop::collection::vec(-1.0..1.0, dim));
            all.prop_map(move |(values, gradient)| Case {
                values,
                gradient,
                rows: springs.iter().map(|&(row, ..)| row % n).collect(),
                stiffness: springs.iter().map(|&(_, stiffness, _)| stiffness).collect(),
                starts: (0..springs.len()).filter(|&k| k == 0 || springs[k].2).collect(),
            })
        },
    )
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
        let pull = |change: &[f64]| spring_pull(&case.starts, &case.stiffness, change);
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
    }
}

#[test]
fn steps_end_with_the_products_the_pull_and_ctrl_c() {
    let (values, rows, gradient) = ([1.0, 2.0, 0.0, 1.0], [0, 1], [1.0, 1.0]);
    let steps = |pull: fn(&[f64]) -> rocmax_core::Result<Vec<f64>>, n| {
        newton_step(Features::Dense(&values), &rows, pull, &gradient, (0.0, n), &Ctx::serial())
    };
    let strong = |change: &[f64]| Ok(change.to_vec());
    assert_eq!(steps(strong, 0).unwrap(), [0.0, 0.0]);
    // X'X g = [3, 7]: the step along the gradient is g.g / (g.g + g.X'X g).
    assert_eq!(steps(strong, 1).unwrap(), [-2.0 / 12.0, -2.0 / 12.0]);
    assert_eq!(steps(|change| Ok(change.iter().map(|c| -10.0 * c).collect()), 9).unwrap(), [0.0, 0.0]);
    assert_eq!(steps(|change| Ok(vec![f64::INFINITY; change.len()]), 9).unwrap(), [0.0, 0.0]);
    let failure = Error::Length { name: "change", expected: 3, got: 2 };
    assert_eq!(steps(|change| spring_pull(&[0], &[1.0; 3], change), 1), Err(failure));
    let stop = std::sync::atomic::AtomicBool::new(true);
    let stopped =
        newton_step(Features::Dense(&values), &rows, strong, &gradient, (0.1, 5), &Ctx::new(None, Some(&stop)));
    assert_eq!(stopped, Err(Error::Interrupted));
}
