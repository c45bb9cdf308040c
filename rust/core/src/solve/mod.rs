//! Solvers: a quadratic program over cuts, least squares by held-out pairs, Newton's equations of some samples, and steps
//! without them; and sums over all features.

mod features;
mod newton;
mod quasi_newton;
mod rls;
mod simplex_qp;
mod sums;

pub use features::{Features, Number, adjoint, scores};
pub use newton::{COPIED, Curved, conjugate, newton_step};
pub use quasi_newton::quasi_newton;
pub use rls::{Cross, Side, leave_pair_out};
pub use simplex_qp::minimise_on_simplex;
pub use sums::{digest, moments};
