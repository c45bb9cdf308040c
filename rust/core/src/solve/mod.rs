//! Solvers: a quadratic program over cuts, least squares by held-out pairs, and Newton's equations of some samples; and
//! sums over all features.

mod features;
mod newton;
mod rls;
mod simplex_qp;
mod sums;

pub use features::{Features, Number, adjoint, scores};
pub use newton::{COPIED, Curved, conjugate, newton_step};
pub use rls::{Cross, Side, leave_pair_out};
pub use simplex_qp::minimise_on_simplex;
pub use sums::{digest, moments};
