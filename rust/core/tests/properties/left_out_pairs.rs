//! Leave-pair-out comparisons of least squares against a solve for each pair.

use proptest::prelude::*;
use rocmax_core::solve::{Cross, Side, leave_pair_out};
use rocmax_core::{Ctx, Error, Result};

use crate::naive;

/// Numbers of one class: diagonal, coefficient, weight, and the rows of a factor.
#[derive(Debug, Clone)]
struct Class {
    diagonal: Vec<f64>,
    coef: Vec<f64>,
    weight: Vec<f64>,
    factor: Vec<f64>,
    norm: Vec<f64>,
    row: Vec<i64>,
}

impl Class {
    fn new(rank: usize, diagonal: Vec<f64>, coef: Vec<f64>, weight: Vec<f64>, factor: Vec<f64>) -> Self {
        let norm = factor.chunks(rank).map(|row| row.iter().map(|x| x * x).sum::<f64>().sqrt()).collect();
        let row = coef.iter().zip(&factor).map(|(c, x)| (c + 7.0 * x).to_bits().cast_signed()).collect();
        Self { diagonal, coef, weight, factor, norm, row }
    }

    fn side(&self) -> Side<'_> {
        Side { diagonal: &self.diagonal, coef: &self.coef, weight: &self.weight, norm: &self.norm, row: &self.row }
    }
}

fn coarse(pos: &Class, neg: &Class, rank: usize) -> Vec<f32> {
    let single = |class: &Class| class.factor.iter().map(|&x| x as f32).collect::<Vec<_>>();
    let (rows, cols) = (single(pos), single(neg));
    let product = |row: &[f32], col: &[f32]| row.iter().zip(col).map(|(x, y)| x * y).sum::<f32>();
    rows.chunks(rank).flat_map(|row| cols.chunks(rank).map(move |col| product(row, col))).collect()
}

fn run(pos: &Class, neg: &Class, rank: usize, coupling: f64, tau: f64, ctx: &Ctx<'_>) -> Result<(Vec<f64>, Vec<f64>)> {
    let tile = coarse(pos, neg, rank);
    let cross = Cross { coarse: &tile, unit: 1.0, base: 0.0, rows: &pos.factor, cols: &neg.factor, rank };
    leave_pair_out(cross, pos.side(), neg.side(), coupling, tau, ctx)
}

fn column(n: usize, low: f64, high: f64) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(low..high, n)
}

fn class(n: usize, rank: usize) -> impl Strategy<Value = Class> {
    (
        column(n, 1.0, 3.0),
        column(n, -2.0, 2.0),
        column(n, 0.5, 2.0),
        column(n * rank, -0.8 / (rank as f64).sqrt(), 0.8 / (rank as f64).sqrt()),
    )
        .prop_map(move |(diagonal, coef, weight, factor)| Class::new(rank, diagonal, coef, weight, factor))
}

proptest! {
    #[test]
    fn agrees_with_a_solve_for_each_pair(
        (rank, pos, mut neg) in (1usize..12, 1usize..30, 1usize..20)
            .prop_flat_map(|(m, n, rank)| (Just(rank), class(m, rank), class(n, rank))),
        coupling in 0.0..0.1,
        tau in -1.0..3.0,
        (unit, base) in (0.1..9.0, -0.3..0.3),
        (doubted, equal) in any::<(bool, bool)>(),
    ) {
        if equal {
            neg.row[0] = pos.row[0];
        }
        let single = |x: f32| if doubted && x > 0.0 { f32::NAN } else { (f64::from(x) / unit) as f32 };
        let tile: Vec<f32> = coarse(&pos, &neg, rank).into_iter().map(single).collect();
        let cross = Cross { coarse: &tile, unit, base, rows: &pos.factor, cols: &neg.factor, rank };
        let (won, lost) = leave_pair_out(cross, pos.side(), neg.side(), coupling, tau, &Ctx::serial()).unwrap();
        let mut expected = (vec![0.0; won.len()], vec![0.0; lost.len()]);
        for (i, p_i) in pos.factor.chunks(rank).enumerate() {
            for (j, q_j) in neg.factor.chunks(rank).enumerate() {
                let x = base + p_i.iter().zip(q_j).map(|(p, q)| p * q).sum::<f64>();
                let p = [[pos.diagonal[i], x], [x, neg.diagonal[j]]];
                let held_out = naive::held_out_difference(p, [pos.coef[i], neg.coef[j]], coupling, tau);
                prop_assume!(held_out.abs() > 1e-9);
                let outcome = if equal && i + j == 0 { 0.5 } else { f64::from(u8::from(held_out > 0.0)) };
                expected.0[i] += outcome * neg.weight[j];
                expected.1[j] += outcome * pos.weight[i];
            }
        }
        for (got, want) in won.iter().chain(&lost).zip(expected.0.iter().chain(&expected.1)) {
            prop_assert!((got - want).abs() < 1e-12, "{got} {want}");
        }
    }

    #[test]
    fn rounding_makes_no_difference_of_a_tie(
        (p, c, x) in ([1.0..3.0, 1.0..3.0], [-2.0..2.0, -2.0..2.0], -0.9..0.9),
        coupling in 0.05..0.5,
    ) {
        // The tau for which both held-out scores are equal.
        let (p, c) = (p as [f64; 2], c as [f64; 2]);
        let matrix = [[p[0], x], [x, p[1]]];
        let at_zero = naive::held_out_difference(matrix, c, coupling, 0.0);
        let tau = -at_zero / (2.0 * coupling);
        let class = |k: usize, x: f64| Class::new(1, vec![p[k]], vec![c[k]], vec![1.0], vec![x]);
        let det = p[0] * p[1] - x * x;
        let terms = 1.0 / (1e-3 + (p[0] * p[1] * (1.0 + coupling * tau)).abs() / det);
        prop_assume!(terms < 50.0);
        let (won, lost) = run(&class(0, x), &class(1, 1.0), 1, coupling, tau, &Ctx::serial()).unwrap();
        prop_assert_eq!((won[0], lost[0]), (0.5, 0.5));
    }
}

fn pair(coef: f64, product: f64) -> (Class, Class) {
    let class = |c, x| Class::new(1, vec![1.5], vec![c], vec![1.0], vec![x]);
    (class(coef, product), class(-1.0, 1.0))
}

#[test]
fn equal_samples_tie() {
    // g = c / (P_ii - P_ij) = (1, -1): both held-out scores are 0.
    let (pos, neg) = pair(1.0, 0.5);
    assert_eq!(run(&pos, &neg, 1, 0.0, 0.0, &Ctx::serial()).unwrap(), (vec![0.5], vec![0.5]));
}

#[test]
fn single_precision_never_decides_what_it_cannot_see() {
    // One part in 1e9 off the tie: lost in the single-precision product.
    for (shift, outcome) in [(1e-9, 0.0), (-1e-9, 1.0)] {
        let (pos, neg) = pair(1.0, 0.5 + shift);
        assert_eq!(run(&pos, &neg, 1, 0.0, 0.0, &Ctx::serial()).unwrap().0, vec![outcome]);
    }
}

#[test]
fn single_precision_decides_all_but_what_its_rounding_hides() {
    // Coefficients 1 and -1 and diagonals 1 + x tie.
    let x = 0.25;
    for rank in [1, 20, 300] {
        let outcome = |product: f64, coarse: f64| {
            let class = |c, y| Class::new(rank, vec![1.0 + x], vec![c], vec![1.0], vec![y; rank]);
            let (pos, neg) = (class(1.0, product / rank as f64), class(-1.0, 1.0));
            let (coarse, rows, cols) = ([coarse as f32], &pos.factor, &neg.factor);
            let cross = Cross { coarse: &coarse, unit: 1.0, base: 0.0, rows, cols, rank };
            leave_pair_out(cross, pos.side(), neg.side(), 0.0, 0.0, &Ctx::serial()).unwrap().0[0]
        };
        let most = x * rank as f64 / f64::from(1 << 24);
        for (sign, expected) in [(1.0, 0.0), (-1.0, 1.0)] {
            assert_eq!(outcome(x + 1e-9 * sign, x + (1e-9 - most) * sign), expected);
            // Of products further off the tie itself is not looked at.
            assert_eq!(outcome(x, x + sign * (2.0 * most + 8.0 * x / f64::from(1 << 24))), expected);
            // Terms of 45/8, whose difference grows by 3 with the product: up to 1e-11 of them is a tie.
            assert_eq!([0.97, 1.03].map(|part| outcome(x + 1.875e-11 * part * sign, f64::NAN)), [0.5, expected]);
        }
    }
}

#[test]
fn the_error_of_single_precision_bounds_how_far_a_difference_may_bend() {
    let outcome = |(norm, unit): (f64, f64), tau: f64, (coarse, product): (f64, f64)| {
        let class = |y| Class::new(1, vec![1.0], vec![0.0], vec![1.0], vec![y]);
        let (mut pos, mut neg) = (class(product), class(1.0));
        (pos.norm, neg.norm) = (vec![norm], vec![f64::from(1 << 24) / 5.0]);
        let (coarse, rows, cols) = ([(coarse / unit) as f32], &pos.factor, &neg.factor);
        let cross = Cross { coarse: &coarse, unit, base: 0.0, rows, cols, rank: 1 };
        leave_pair_out(cross, pos.side(), neg.side(), 1.0, tau, &Ctx::serial()).unwrap().0[0]
    };
    // A product x makes a difference of 8 - 8 x^2. An error e changes it by up to e (16 x + 8 e).
    let (trusts, asks) = (1.0, 0.0);
    for (error, coarse, expected) in [(0.9, 0.0, trusts), (1.05, 0.0, asks), (0.85, 0.1, trusts), (1.05, 0.1, asks)] {
        assert_eq!(outcome((error, 1.0), 3.0, (coarse, 1.02)), expected, "{error} {coarse}");
        // By underflow alone.
        assert_eq!(outcome((0.0, 1e30 * error), 3.0, (coarse, 1.02)), expected, "{error} {coarse}");
    }
    // Up to 1e-11 of terms of 8, and 0 of 0 for any product, is a tie.
    assert_eq!([7e-12, 3e-12].map(|short| outcome((0.0, 1.0), 3.0, (f64::NAN, 1.0 - short))), [1.0, 0.5]);
    assert_eq!(outcome((0.1, 1.0), -1.0, (0.3, 1.02)), 0.5);
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let (m, n, rank) = (701, 403, 3);
    let wave = |len: usize, by: f64, to: f64| (0..len).map(|k| to + (k as f64 * by).sin()).collect::<Vec<_>>();
    let pos = Class::new(rank, wave(m, 0.37, 2.0), wave(m, 1.7, 0.5), wave(m, 2.9, 1.1), wave(m * rank, 0.11, 0.0));
    let neg = Class::new(rank, wave(n, 0.73, 2.0), wave(n, 1.3, -0.5), wave(n, 3.1, 1.3), wave(n * rank, 0.17, 0.0));
    let serial = run(&pos, &neg, rank, 0.01, 1.0, &Ctx::serial()).unwrap();
    for threads in [2, 5] {
        let pool = crate::testing::pool(threads);
        assert_eq!(run(&pos, &neg, rank, 0.01, 1.0, &Ctx::new(pool.as_ref(), None)).unwrap(), serial);
    }
}

#[test]
fn refuses_bad_input_and_stops() {
    let (pos, neg) = pair(1.0, 0.5);
    let cross = Cross { coarse: &[], unit: 1.0, base: 0.0, rows: &[0.5], cols: &[1.0], rank: 1 };
    let short = leave_pair_out(cross, pos.side(), neg.side(), 0.0, 0.0, &Ctx::serial());
    assert_eq!(short, Err(Error::Length { name: "coarse", expected: 1, got: 0 }));
    let nan = run(&pair(f64::NAN, 0.5).0, &neg, 1, 0.0, 0.0, &Ctx::serial());
    assert!(matches!(nan, Err(Error::NonFinite { name: "pos", index: 0, .. })));
    let stop = std::sync::atomic::AtomicBool::new(true);
    let stopped = run(&pos, &neg, 1, 0.0, 0.0, &Ctx::new(None, Some(&stop)));
    assert_eq!(stopped, Err(Error::Interrupted));
}
