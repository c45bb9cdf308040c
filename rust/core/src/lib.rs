#![doc = include_str!("../README.md")]
//!
//! # Notation
//! | here | meaning |
//! |---|---|
//! | `m`, `n`, `N` | number of positive, negative and all samples |
//! | `s_i`, `t_j` | score of a positive, of a negative; `t_(k)` the k-th highest |
//! | `[a, b]` | range of false positive rates, [`RateRange`] |
//! | `j_a`, `j_b` | `floor(n a)`, `ceil(n b)`: the negatives ranked `j_a + 1 ..= j_b` are the range |
//! | `M` | `m (j_b - j_a)`, the number of pairs in the range |
//! | `R(s)`, `coef` | a risk of the scores, and its derivative for each score |
//!
//! # Map
//! - [`Roc`]: one model, its measures, intervals and paired tests. All else is the long form.
//! - [`Problem`], [`Labels`], [`Scores`], [`RateRange`]: data, checked once. [`Ctx`]: threads and cancellation.
//! - [`curve`]: the ROC curve, its measures, and thresholds.
//! - [`variance`]: components, variances and covariances.
//! - [`interval`]: confidence limits on binormal curves.
//! - [`resample`]: the bootstrap and a permutation test.
//! - [`risk`]: surrogate risks as a value and one coefficient per sample; they never see features.
//! - [`pairs`]: lists of pairs, the hinge over a list, nearest neighbours.
//! - [`solve`]: the quadratic program over the cuts of a risk; leave-pair-out cross-validation of least squares.

#![forbid(unsafe_code)]

#[cfg(test)]
extern crate self as rocmax_core;

mod count;
mod ctx;
pub mod curve;
mod data;
mod error;
pub mod interval;
#[cfg(test)]
#[path = "../tests/properties/naive.rs"]
pub mod naive;
mod order;
pub mod pairs;
mod papers;
pub mod resample;
pub mod risk;
mod roc;
mod simd;
pub mod solve;
#[cfg(test)]
#[path = "../tests/properties/testing.rs"]
pub mod testing;
mod threads;
pub mod variance;

pub(crate) use ctx::CHUNK;
pub use ctx::Ctx;
pub use data::{Column, Label, Labels, Negatives, Problem, RateRange, Scores};
pub use error::{Error, Result};
pub use roc::{Difference, Interval, Roc};

/// What only the Python package, its tests and its benchmarks use. It may change in any version.
#[doc(hidden)]
pub mod internals {
    pub use crate::count::Limits;
    pub use crate::curve::bins::{Bin, pool};
    pub use crate::variance::merged::merged;

    /// Methods of the papers, to compare with.
    pub mod papers {
        pub use crate::papers::*;
    }
}
