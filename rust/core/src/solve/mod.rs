//! Solvers that see neither features nor scores: a quadratic program over cuts, and least squares by held-out pairs.

mod rls;
mod simplex_qp;

pub use rls::{Cross, Side, leave_pair_out};
pub use simplex_qp::minimise_on_simplex;
