//! Lists of pairs of a positive and a negative sample: all, random ones, those of neighbours or a caller's own; the
//! hinge over a list, and the multipliers of pairs.
//!
//! Risks over all pairs need no list (see [`crate::risk`]): a list is for machines over some of the pairs, and for those
//! who want the pairs themselves.

mod cuts;
mod hinge;
mod list;
mod nearest;
mod neighbors;
mod shuffle;

pub use cuts::Cuts;
pub use list::PairList;
pub use nearest::nearest;
pub use neighbors::{Near, Space, neighbors};
