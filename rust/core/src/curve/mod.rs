//! The empirical ROC curve: the weight of either class at every distinct score.
//!
//! Every measure of one score vector is a sum over its [`Curve`]; [`measure`] takes the shorter ways that some have.

pub(crate) mod bins;
pub(crate) mod cutoff;
pub(crate) mod empirical;
pub(crate) mod mean;
pub(crate) mod measure;
mod partial;
mod points;
pub(crate) mod ranked;
pub(crate) mod reach;
mod scored;
mod screening;
pub(crate) mod sum;
pub(crate) mod walk;

pub use cutoff::{Cut, Rule};
pub use empirical::{Curve, Normalize};
pub use measure::{Measure, Scratch, auc, auc_moments, measure};
pub use points::Points;
pub use screening::Screening;
pub use walk::Step;
