//! Small samples with ties, weights and ranges of every kind.

use std::sync::Arc;

use proptest::prelude::*;
use rocmax_core::{Problem, RateRange};

#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) problem: Arc<Problem>,
    pub(crate) weights: Vec<f64>,
    pub(crate) scores: Vec<f64>,
    pub(crate) other: Vec<f64>,
    pub(crate) range: RateRange,
}

fn score() -> impl Strategy<Value = f64> {
    prop_oneof![(-4i32..5).prop_map(|k| f64::from(k) / 2.0), -3.0..3.0, Just(-0.0)]
}

pub(crate) fn range() -> impl Strategy<Value = RateRange> {
    prop_oneof![
        Just((0.0, 1.0)),
        (0.01..1.0).prop_map(|high| (0.0, high)),
        (0.0..0.9, 0.01..0.1).prop_map(|(low, width)| (low, low + width)),
        (0u32..10, 1u32..10).prop_map(|(low, width)| (f64::from(low) / 10.0, f64::from((low + width).min(10)) / 10.0)),
    ]
    .prop_filter_map("a range", |(low, high)| RateRange::new(low, high).ok())
}

/// Samples without weights.
pub(crate) fn plain() -> impl Strategy<Value = Sample> {
    sample_of(Just(0))
}

/// Samples without weights, with whole ones and with others; some are zero.
pub(crate) fn sample() -> impl Strategy<Value = Sample> {
    sample_of(0..3)
}

fn sample_of(kind: impl Strategy<Value = i32>) -> impl Strategy<Value = Sample> {
    (2usize..40, range(), kind).prop_flat_map(|(n, range, kind)| {
        let scores = || prop::collection::vec(score(), n);
        let weights = prop::collection::vec(0.0..3.0, n);
        (prop::collection::vec(any::<bool>(), n), weights, scores(), scores()).prop_filter_map(
            "two classes",
            move |(labels, weights, scores, other)| {
                let weight = |w: &f64| match kind {
                    0 => 1.0,
                    1 => w.floor(),
                    _ => f64::max(0.0, w - 0.5),
                };
                let weights: Vec<f64> = weights.iter().map(weight).collect();
                let problem = Problem::weighted(labels, weights.clone()).ok()?;
                Some(Sample { problem: Arc::new(problem), weights, scores, other, range })
            },
        )
    })
}

/// A number in [0, 1) for each index.
pub(crate) fn hash(i: usize) -> f64 {
    ((i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64 / (1u64 << 53) as f64
}
