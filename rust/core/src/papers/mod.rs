//! Methods of the papers, for comparisons: boosted stumps and trees. They see features themselves.

mod features;
mod partial_boost;
mod rank_boost;
mod split_tree;

pub use features::{Features, Stump};
pub use partial_boost::{CELLS, Codes, Round, partial_boost};
pub use rank_boost::rank_boost;
pub use split_tree::{Limits, Node, Split, split_tree};

/// Gains that differ by no more are equal, so that rounding does not choose between features.
const TIE: f64 = 1e-12;

/// The first of `gains` within rounding of the largest, and the least such gain; `None` if there is none.
fn first_best(gains: &[f64]) -> Option<(usize, f64)> {
    let least = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max) - TIE;
    gains.iter().position(|&gain| gain >= least).map(|at| (at, least))
}

/// The midpoint, rounded to be at least `low` and less than `high`.
fn midpoint(low: f64, high: f64) -> f64 {
    let middle = low / 2.0 + high / 2.0;
    if low <= middle && middle < high { middle } else { low }
}
