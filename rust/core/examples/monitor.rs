//! A service that scores: it keeps the last outcomes of two models and answers how they rank, and whether they differ.
//!
//! `cargo run --example monitor`
#![allow(clippy::print_stdout, reason = "that is what it is for")]

use std::collections::VecDeque;

use rocmax_core::curve::Measure;
use rocmax_core::{Difference, Interval, Result, Roc};

/// A case whose outcome is known by now, and what both models had scored.
struct Outcome {
    positive: bool,
    deployed: f32,
    candidate: f32,
}

/// What the service answers.
struct Report {
    deployed: Interval,
    candidate: Interval,
    gain: Difference,
}

/// The last outcomes.
struct Monitor {
    window: usize,
    outcomes: VecDeque<Outcome>,
}

impl Monitor {
    fn push(&mut self, outcome: Outcome) {
        if self.outcomes.len() == self.window {
            self.outcomes.pop_front();
        }
        self.outcomes.push_back(outcome);
    }

    /// Bad scores and a single class are errors, whose text can be sent as it is.
    fn report(&self, measure: Measure) -> Result<Report> {
        let labels: Vec<bool> = self.outcomes.iter().map(|outcome| outcome.positive).collect();
        let deployed: Vec<f32> = self.outcomes.iter().map(|outcome| outcome.deployed).collect();
        let candidate: Vec<f32> = self.outcomes.iter().map(|outcome| outcome.candidate).collect();
        let (old, new) = (Roc::new(&labels, &deployed)?, Roc::new(&labels, &candidate)?);
        Ok(Report {
            deployed: old.interval(measure, 0.95)?,
            candidate: new.interval(measure, 0.95)?,
            gain: new.compare(&old, measure)?,
        })
    }
}

fn main() -> Result<()> {
    let mut monitor = Monitor { window: 1_000, outcomes: VecDeque::new() };
    if let Err(error) = monitor.report(Measure::Auc) {
        println!("no report yet: {error}");
    }
    let mut uniform = made_up();
    for day in 1..=3 {
        for _ in 0..600 {
            let positive = uniform() < 0.1;
            let (shift, common) = (f32::from(u8::from(positive)), uniform());
            let [deployed, candidate] = [0.45, 0.55].map(|gain| common + uniform() + gain * shift);
            monitor.push(Outcome { positive, deployed, candidate });
        }
        let Report { deployed, candidate, gain } = monitor.report(Measure::partial_auc(0.0..=0.2)?)?;
        println!("day {day}, {} outcomes: partial AUC, FPR 0-0.2", monitor.outcomes.len());
        for (name, found) in [("deployed", deployed), ("candidate", candidate)] {
            println!("  {name:<10}{:.3} [{:.3}, {:.3}]", found.estimate, found.low, found.high);
        }
        println!("  difference {:+.3}, p = {:.4}", gain.difference, gain.p_value);
    }
    Ok(())
}

/// Numbers in [0, 1).
fn made_up() -> impl FnMut() -> f32 {
    let mut state = 1u64;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    }
}
