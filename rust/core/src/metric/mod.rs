//! Exact measures: each a pure function of labels, scores and weights.
//!
//! Every measure of one score vector is a sum over its [`Curve`], the weight of either class at each distinct score;
//! [`measure`] takes the shorter ways that some of them have.

mod classes;
mod count;
mod curve;
mod cutoff;
mod labels;
mod measure;
mod partial;
mod pool;
mod reach;
mod resample;
mod score;
mod screening;
mod simd;
mod sum;
mod variance;
mod walk;

pub use count::Limits;
pub use curve::{Curve, Normalize};
pub use cutoff::{Cut, Rule};
pub use labels::{Label, Labels};
pub use measure::{Measure, Measured, Scratch, auc, auc_moments, measure};
pub use pool::{Bin, pool};
pub use resample::{Rates, Resampling, Scheme, Scored, bootstrap, bootstrap_cuts, permuted_distances};
pub use score::Score;
pub use screening::Screening;
pub use sum::Share;
pub use variance::{Column, Components, Covariance, Moments, Placements, WeightKind, covariance, covariance_of_models};
pub use walk::Step;
