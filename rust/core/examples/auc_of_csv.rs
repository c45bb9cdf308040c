//! The AUC of two columns of a csv file, and of the part of the curve up to a false positive rate of 0.1.
//!
//! `cargo run --example auc_of_csv -- rust/core/examples/scores.csv label score`
#![allow(clippy::print_stdout, reason = "that is what it is for")]

use std::error::Error;

use rocmax_core::curve::{Measure, Normalize, Scratch, measure};
use rocmax_core::variance::Placements;
use rocmax_core::{Ctx, Labels, RateRange};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, label, score] = arguments.as_slice() else {
        return Err("usage: auc_of_csv FILE LABEL SCORE".into());
    };
    let (labels, scores) = columns(path, label, score)?;

    let ctx = Ctx::serial();
    let labels = Labels::new(&labels)?;
    let scores = scores.as_slice();
    let (aucs, covariance) = Placements::default().covariance(&labels, &[scores.into()], &ctx)?;
    let standard_error = (covariance.pos[0] + covariance.neg[0]).sqrt();
    println!("{} positive, {} negative samples", labels.n_pos(), labels.n_neg());
    println!("AUC {:.3}, standard error {standard_error:.2}", aucs[0]);

    let top = Measure::Partial(RateRange::new(0.0, 0.1)?, Normalize::Width);
    let partial = measure(&labels, scores.into(), None, top, &mut Scratch::default(), &ctx)?;
    println!("partial AUC, FPR 0-0.1: {partial:.3}");
    Ok(())
}

/// The labels and the scores of a file with a line of names.
fn columns(path: &str, label: &str, score: &str) -> Result<(Vec<i64>, Vec<f64>), Box<dyn Error>> {
    let mut reader = csv::Reader::from_path(path)?;
    let names = reader.headers()?.clone();
    let place = |name: &str| names.iter().position(|found| found == name).ok_or(format!("no column {name} in {path}"));
    let (label, score) = (place(label)?, place(score)?);
    let (mut labels, mut scores) = (Vec::new(), Vec::new());
    for row in reader.records() {
        let row = row?;
        labels.push(row[label].trim().parse()?);
        scores.push(row[score].trim().parse()?);
    }
    Ok((labels, scores))
}
