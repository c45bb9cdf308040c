//! The AUC of two columns of a csv file and the area up to a false positive rate of 0.5, with 95 % intervals.
//!
//! `cargo run --example auc_of_csv -- rust/core/examples/scores.csv label score`
#![allow(clippy::print_stdout, reason = "that is what it is for")]

use std::error::Error;

use rocmax_core::Roc;
use rocmax_core::curve::Measure;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, label, score] = arguments.as_slice() else {
        return Err("usage: auc_of_csv FILE LABEL SCORE".into());
    };
    let (labels, scores) = columns(path, label, score)?;

    let roc = Roc::new(&labels, &scores)?;
    println!("{} positive, {} negative samples", roc.curve().pos(), roc.curve().neg());
    for (name, measure) in [("AUC", Measure::Auc), ("partial AUC, FPR 0-0.5", Measure::partial_auc(0.0..=0.5)?)] {
        let found = roc.interval(measure, 0.95)?;
        println!("{name} {:.3} [{:.3}, {:.3}]", found.estimate, found.low, found.high);
    }
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
