//! Exact measures: each a pure function of labels and scores.

mod auc;
mod partial;

pub use auc::auc;
pub use partial::{Normalize, partial_auc_curve, partial_auc_ranked};
