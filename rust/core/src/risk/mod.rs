//! Risks as functions of the scores: a value, and one coefficient per sample.
//!
//! An oracle never sees features. If `s = X w`, the subgradient of `R(X w)` with respect to `w` is `X' coef`; the cut
//! `R(s') >= value + coef . (s' - s)` holds for every convex risk. All risks here depend on differences of scores only,
//! so the coefficients sum to zero and training needs no intercept.

mod drawn;
mod ends;
mod oracle;
mod pair_loss;
mod pairs;
mod proximal;
mod selection;
mod smoothed;
mod springs;
mod structural;
mod surrogate;
mod tally;
mod top_hinge;
mod weights;
mod workspace;

pub use oracle::{Evaluation, Oracle};
pub use pair_loss::{PairLoss, PairRange, pair_loss};
pub use proximal::Proximal;
pub use selection::Selection;
pub use smoothed::{Smoothed, SmoothedHinge};
pub use springs::{Curvature, Stretch};
pub use structural::{Naive, Tight};
pub use surrogate::{Hinge, Rank, Sum, Sums, Surrogate, Term};
pub use top_hinge::TopHinge;
pub use workspace::Workspace;
