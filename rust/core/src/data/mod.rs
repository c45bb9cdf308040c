//! What is measured, checked once: labels, weights, scores and ranges of rates.

mod column;
pub(crate) mod float;
pub(crate) mod labels;
pub(crate) mod problem;
pub(crate) mod range;
pub(crate) mod scores;

pub use column::Column;
pub use labels::{Label, Labels};
pub use problem::Problem;
pub use range::{Negatives, RateRange};
pub use scores::Scores;
