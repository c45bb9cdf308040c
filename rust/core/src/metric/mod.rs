//! Exact measures: each a pure function of labels, scores and weights.
//!
//! Every measure of one score vector is a sum over its [`Curve`], the weight of either class at each distinct score;
//! [`measure`] takes the shorter ways that some of them have.

mod bootstrap;
mod compare;
mod components;
mod counts;
mod covariance;
mod curve;
mod draw;
mod eight;
mod keyed;
mod labels;
mod levels;
mod measure;
#[cfg(target_arch = "x86_64")]
mod octets;
mod permutation;
mod placements;
mod placer;
mod ranks;
mod replicate;
mod scatter;
mod scattered;
mod score;
mod scored;
mod sequence;
mod slots;
mod split;
mod spread;
mod sum;
mod table;
mod tail;
mod units;
mod worker;

pub use bootstrap::{Resampling, Scheme, bootstrap};
pub use components::Components;
pub use counts::Scratch;
pub use covariance::{Covariance, Moments, WeightKind, covariance};
pub use curve::{Curve, Normalize, Step};
pub use labels::{Label, Labels};
pub use measure::{Measure, auc, auc_moments, measure};
pub use permutation::{Scored, permuted_distances};
pub use placements::{Column, Placements};
pub use score::Score;
pub use sum::Share;
