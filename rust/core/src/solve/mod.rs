//! Solvers: a quadratic program over cuts, least squares by held-out pairs, and Newton's equations of some samples.

mod newton;
mod rls;
mod simplex_qp;

pub use newton::{Features, Number, newton_step, spring_pull};
pub use rls::{Cross, Side, leave_pair_out};
pub use simplex_qp::minimise_on_simplex;
