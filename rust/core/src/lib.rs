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
//! - [`Problem`], [`Labels`], [`Scores`], [`RateRange`]: data, checked once. [`Ctx`]: threads and cancellation.
//! - [`curve`]: the ROC curve, its measures, and thresholds.
//! - [`count`]: the AUC without a sort.
//! - [`variance`]: components, variances and covariances.
//! - [`resample`]: the bootstrap and a permutation test.
//! - [`risk`]: surrogate risks as a value and one coefficient per sample; they never see features.
//! - [`solve`]: the quadratic program over the cuts of a risk; leave-pair-out cross-validation of least squares.
//! - [`papers`]: methods of the papers, to compare with.

#![forbid(unsafe_code)]

#[cfg(test)]
extern crate self as rocmax_core;

pub mod count;
mod ctx;
pub mod curve;
mod data;
mod error;
#[cfg(test)]
#[path = "../tests/properties/naive.rs"]
pub mod naive;
mod order;
pub mod papers;
pub mod resample;
pub mod risk;
mod simd;
pub mod solve;
#[cfg(test)]
#[path = "../tests/properties/testing.rs"]
pub mod testing;
pub mod variance;

pub use ctx::{CHUNK, Ctx};
pub use data::{Column, Label, Labels, Negatives, Problem, RateRange, Scores};
pub use error::{Error, Result};
