//! Components of measures by sample, and the variances, covariances, intervals and tests that follow.

mod components;
mod covariance;
mod interval;
mod placements;
mod placing;

pub use components::Components;
pub use covariance::{Covariance, Moments, WeightKind, covariance};
pub use interval::{Comparison, Interval, auc_interval, compare_auc};
pub use placements::{Placements, covariance_of_models};
