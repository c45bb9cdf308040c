//! Variances and covariances: what every sample contributes to a measure, and sums of the products of that.

mod components;
mod covariance;
mod placements;
mod placing;

pub use components::Components;
pub use covariance::{Covariance, Moments, WeightKind, covariance};
pub use placements::{Column, Placements, covariance_of_models};
