//! Named cases with fixed inputs, each run a few times: what `benches/compare.py` counts the instructions of.
//!
//! `cargo run --release -p rocmax-benches --example cases -- NAME [REPEATS [WITHOUT]]` prints the value and the least time
//! of a call in nanoseconds a score, without one of the ways of counting; without a name, all names.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "a program whose inputs are its own")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rocmax_benches::{Shape, scores_of};
use rocmax_core::curve::{self, Measure, Normalize, Points, Scratch};
use rocmax_core::internals::Limits;
use rocmax_core::resample::{self, Resampling, Scheme};
use rocmax_core::risk::{Oracle, Rank, Term, Tight, TopHinge, Workspace};
use rocmax_core::solve::{Curved, Features, Number, newton_step};
use rocmax_core::variance::{Placements, WeightKind};
use rocmax_core::{Column, Ctx, Labels, Problem, RateRange};

/// What is done with labels and scores.
const WORKS: [&str; 21] = [
    "auc",
    "auc2",
    "moments",
    "partial",
    "paired",
    "replicates",
    "curve",
    "average_precision",
    "roc_points",
    "pr_points",
    "tight",
    "between",
    "hinge",
    "smooth",
    "proximal",
    "newton",
    "weighted_tight",
    "weighted_between",
    "weighted_hinge",
    "weighted_smooth",
    "weighted_proximal",
];
/// Share of positives, in thousandths.
const SHARES: [u32; 2] = [300, 5];
const SIZES: [usize; 6] = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

fn names() -> impl Iterator<Item = String> {
    let of_work = |work| Shape::ALL.into_iter().flat_map(move |shape| ["f64", "f32"].map(|float| (work, shape, float)));
    let of_size = |(work, shape, float)| {
        SIZES.into_iter().flat_map(move |n| SHARES.map(|share| format!("{work}-{shape:?}-{float}-{share}-{n}")))
    };
    WORKS.into_iter().flat_map(of_work).flat_map(of_size).map(|name| name.to_lowercase())
}

/// The limits by which one way of counting is never taken.
fn without(way: &str) -> Limits {
    let all = Limits::default();
    match way {
        "nothing" => all,
        "few" => Limits { few: 0, ..all },
        "few_values" => Limits { few_values: usize::MAX, ..all },
        "narrow" => Limits { narrow: usize::MAX, ..all },
        "one_table" => Limits { one_table: 0, ..all },
        "buckets" => Limits { few: usize::MAX, one_table: 0, ..all },
        other => panic!("no such way: {other}"),
    }
}

/// The one call that is counted.
#[inline(never)]
fn measured(call: &mut dyn FnMut() -> f64) -> f64 {
    black_box(call())
}

/// Calls once unseen, so that memory is at hand, then as often as asked for; the value and the least time.
fn run(repeats: usize, call: &mut dyn FnMut() -> f64) -> (f64, Duration) {
    let mut value = call();
    let mut least = Duration::MAX;
    for _ in 0..repeats {
        let start = Instant::now();
        value = measured(call);
        least = least.min(start.elapsed());
    }
    (value, least)
}

fn measures(work: &str, labels: &[bool], scores: Column<'_>, (repeats, limits): (usize, Limits)) -> (f64, Duration) {
    // What each call borrows anew.
    let scores = || match &scores {
        Column::F64(scores) => Column::from(&scores[..]),
        Column::F32(scores) => Column::from(&scores[..]),
    };
    let classes = Labels::new(labels).expect("both classes");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("two threads");
    let (serial, both) = (Ctx::serial(), Ctx::new(Some(&pool), None));
    let mut scratch = Scratch::with_limits(limits);
    let weights: Vec<f64> = (0..labels.len()).map(|i| 1.0 + (i % 3) as f64).collect();
    let mut to = [(); 3].map(|()| vec![0.0; labels.len() + 1]);
    let mut points = |what: Points| {
        let Column::F64(scores) = &scores() else { panic!("points are of f64") };
        let to = to.each_mut().map(|values| &mut values[..]);
        what.of_samples(&classes, scores, None, true, to, &serial).expect("points") as f64
    };
    let range = RateRange::new(0.0, 0.05).expect("a range");
    let resampling =
        Resampling { scheme: Scheme::Stratified, weight_kind: WeightKind::Frequency, n_resamples: 10, seed: 1 };
    run(repeats, &mut || match work {
        "auc" => curve::auc(&classes, scores(), &mut scratch, &serial).expect("an AUC"),
        "auc2" => curve::auc(&classes, scores(), &mut scratch, &both).expect("an AUC"),
        "moments" => {
            let (_, squares) = curve::auc_moments(&classes, scores(), &mut scratch, &serial).expect("moments");
            squares[0] + squares[1]
        }
        "partial" => {
            let what = Measure::Partial(range, Normalize::Width);
            curve::measure(&classes, scores(), None, what, &mut scratch, &serial).expect("a partial AUC")
        }
        "replicates" => {
            let found = resample::bootstrap(&classes, &[scores()], None, Measure::Auc, resampling, &serial);
            found.expect("replicates").iter().sum()
        }
        "curve" => {
            curve::measure(&classes, scores(), Some(&weights), Measure::Auc, &mut scratch, &serial).expect("an AUC")
        }
        "average_precision" => {
            curve::measure(&classes, scores(), None, Measure::AveragePrecision(None), &mut scratch, &serial)
                .expect("AP")
        }
        "roc_points" => points(Points::Roc),
        "pr_points" => points(Points::PrecisionRecall),
        other => panic!("no such work: {other}"),
    })
}

fn paired(labels: &[bool], scores: Column<'_>, repeats: usize) -> (f64, Duration) {
    let classes = Labels::new(labels).expect("both classes");
    let (mut kept, columns) = (Placements::default(), [scores.clone(), scores]);
    run(repeats, &mut || {
        let found = kept.covariance(&classes, &columns, &Ctx::serial()).expect("a covariance");
        found.pos.iter().chain(&found.neg).sum()
    })
}

/// A risk at the scores: "tight" up to a rate of 0.05 or "between" two rates, the "hinge" over all pairs, or the first
/// of these made "smooth", or its "proximal" point; of samples with weights by the prefix.
fn risk(work: &str, labels: Vec<bool>, scores: &[f64], repeats: usize) -> (f64, Duration) {
    let weights = (0..scores.len()).map(|i| 0.5 + (i % 3) as f64).collect();
    let (work, problem) = match work.strip_prefix("weighted_") {
        Some(work) => (work, Problem::weighted(labels, weights)),
        None => (work, Problem::new(labels)),
    };
    let problem = Arc::new(problem.expect("both classes"));
    let range = |low, high| RateRange::new(low, high).expect("a range");
    let all = vec![Term { weight: 1.0, end: Rank::Bottom, margin: 1.0 }];
    let oracle = match work {
        "hinge" => Oracle::new(problem, RateRange::FULL, TopHinge::new(all).expect("finite terms")),
        "between" => Oracle::new(problem, range(0.02, 0.05), Tight),
        _ => Oracle::new(problem, range(0.0, 0.05), Tight),
    };
    let (mut ws, mut coef, ctx) = (Workspace::default(), vec![0.0; scores.len()], Ctx::serial());
    let stiffness = [5.0 / scores.len() as f64; 2];
    run(repeats, &mut || match work {
        "proximal" => {
            let hinge = oracle.hinges().expect("hinges")[0];
            oracle.proximal(&hinge, scores, stiffness, &mut coef, &ctx).expect("a point").offset
        }
        "smooth" => oracle.smooth(scores, 0.5, &mut coef, &mut ws, &ctx).expect("a cut").expect("hinges").offset,
        _ => oracle.evaluate(scores.into(), &mut coef, &mut ws, &ctx).expect("an evaluation").value,
    })
}

/// A Newton step of ten products. The numbers are features, 250 a row; springs are in two groups.
fn newton<T: Number>(features: &[T], repeats: usize) -> (f64, Duration) {
    let (dim, n_rows) = (250, features.len() / 250);
    let (rows, stiffness): (Vec<usize>, Vec<f64>) = ((0..n_rows).collect(), vec![0.01; n_rows]);
    let (starts, gradient) = ([0, n_rows / 3], vec![1.0; dim]);
    let springs = Curved::Springs(&starts, &stiffness);
    run(repeats, &mut || {
        let found = newton_step(Features::Dense(features), &rows, springs, &gradient, (0.0, 10), &Ctx::serial());
        found.expect("a step").iter().sum()
    })
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(name) = arguments.first() else { return names().for_each(|name| println!("{name}")) };
    let repeats = arguments.get(1).map_or(1, |repeats| repeats.parse().expect("a number of repeats"));
    let limits = without(arguments.get(2).map_or("nothing", |way| way));
    let parts: Vec<&str> = name.split('-').collect();
    let &[work, shape, float, share, n] = &parts[..] else { panic!("no such case: {name}") };
    let shape = Shape::ALL.into_iter().find(|of| format!("{of:?}").to_lowercase() == shape).expect("a shape");
    let share = share.parse::<u32>().expect("thousandths");
    let (labels, scores) = scores_of(shape, n.parse().expect("a size"), f64::from(share) / 1000.0);
    let narrow: Vec<f32> = scores.iter().map(|&x| x as f32).collect();
    let n = scores.len() as f64;
    let (value, least) = match (work, float) {
        ("tight" | "between" | "hinge" | "smooth" | "proximal", _) => risk(work, labels, &scores, repeats),
        (work, _) if work.starts_with("weighted_") => risk(work, labels, &scores, repeats),
        ("newton", "f32") => newton(&narrow, repeats),
        ("newton", _) => newton(&scores, repeats),
        ("paired", "f32") => paired(&labels, Column::F32(narrow.into()), repeats),
        ("paired", _) => paired(&labels, Column::F64(scores.into()), repeats),
        (_, "f32") => measures(work, &labels, narrow.as_slice().into(), (repeats, limits)),
        _ => measures(work, &labels, scores.as_slice().into(), (repeats, limits)),
    };
    println!("{name} {value:?} {:.3}", least.as_nanos() as f64 / n);
}
