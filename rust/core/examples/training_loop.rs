//! A linear model trained for the top of its ranking: the oracle sees scores, the loop owns the features.
//!
//! `cargo run --example training_loop`
#![allow(clippy::print_stdout, reason = "that is what it is for")]

use std::sync::Arc;

use rocmax_core::risk::{Oracle, Tight, Workspace};
use rocmax_core::{Ctx, Problem, RateRange, Result};

const N_SAMPLES: usize = 2_000;
const N_FEATURES: usize = 5;
const C: f64 = 10.0;

fn main() -> Result<()> {
    let (features, labels) = made_up();
    let oracle = Oracle::new(Arc::new(Problem::new(labels)?), RateRange::new(0.0, 0.1)?, Tight);

    let (mut ws, ctx) = (Workspace::default(), Ctx::serial());
    let mut w = [0.0; N_FEATURES];
    let mut coef = vec![0.0; N_SAMPLES];
    for step in 0..=20 {
        // Any model and any storage of features would do: what is needed are scores.
        let scores: Vec<f64> = features.iter().map(|row| dot(row, &w)).collect();
        let found = oracle.evaluate((&scores[..]).into(), &mut coef, &mut ws, &ctx)?;
        if step % 5 == 0 {
            let objective = 0.5 * dot(&w, &w) + C * found.value;
            println!("step {step:2}  objective {objective:.3}  partial AUC {:.3}", found.partial_auc);
        }
        // A subgradient of 1/2 |w|^2 + C R(Xw): the coefficients of the samples, back through the features.
        let mut slope = w;
        for (row, c) in features.iter().zip(&coef) {
            for (slope, x) in slope.iter_mut().zip(row) {
                *slope += C * c * x;
            }
        }
        for (w, slope) in w.iter_mut().zip(slope) {
            *w -= slope / (step + 2) as f64;
        }
    }
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Two classes that differ in the first two features.
fn made_up() -> (Vec<[f64; N_FEATURES]>, Vec<bool>) {
    let mut state = 1u64;
    // Sums of twelve uniform numbers are as good as normal ones here.
    let mut normal = || -> f64 {
        let mut uniform = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    };
    let labels: Vec<bool> = (0..N_SAMPLES).map(|i| i % 10 == 0).collect();
    let row = |&positive: &bool| {
        let mut row = [0.0; N_FEATURES];
        row.fill_with(&mut normal);
        row[0] += if positive { 2.0 } else { 0.0 };
        row[1] += if positive { 1.5 } else { 0.0 };
        row
    };
    (labels.iter().map(row).collect(), labels)
}
