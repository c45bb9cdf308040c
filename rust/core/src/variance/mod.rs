//! Components of measures by sample, and the variances and covariances that follow.

mod components;
mod covariance;
pub(crate) mod merged;
mod placements;
mod placing;

pub use components::Components;
pub use covariance::{Covariance, Moments, WeightKind, covariance};
pub use placements::{Placements, covariance_of_models};
