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
//! - [`Problem`]: labels, checked once. [`RateRange`]: a range and its ranks. [`Ctx`]: threads and cancellation.
//! - [`order`]: the total order on scores, parallel sorting, selection of the highest negatives.
//! - [`oracle`]: surrogate risks as a value and one coefficient per sample; they never see features.
//! - [`neighbors`]: exact nearest neighbours.
//! - [`metric`]: exact measures.
//! - [`inference`]: intervals of the AUC, and the test of two models.
//! - [`papers`]: boosted stumps and trees, to compare with.
//! - [`rls`]: exact leave-pair-out cross-validation of regularised least squares.
//! - [`simplex_qp`]: the quadratic program over the cuts of a risk.

#![forbid(unsafe_code)]

mod ctx;
mod error;
mod problem;
mod range;
mod scores;

pub mod inference;
pub mod metric;
#[cfg(any(test, feature = "naive"))]
pub mod naive;
pub mod neighbors;
pub mod oracle;
pub mod order;
pub mod papers;
pub mod rls;
pub mod simplex_qp;
#[cfg(test)]
mod testing;

pub use ctx::{CHUNK, Ctx};
pub use error::{Error, Result};
pub use problem::Problem;
pub use range::{Negatives, RateRange};
pub use scores::Scores;
