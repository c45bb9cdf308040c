//! Components of measures by sample, and the variances and covariances that follow.

mod components;
mod covariance;
mod merged;
mod placements;
mod placing;

pub use components::Components;
pub use covariance::{Covariance, Moments, WeightKind, covariance};
pub use merged::merged;
pub use placements::{Placements, covariance_of_models};
