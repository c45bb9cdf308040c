//! Python bindings of `rocmax-core`: translation only. Users' documentation is in the Python package.

mod error;
mod gate;
mod metric;
mod neighbors;
mod oracle;
mod pair_loss;
mod papers;
mod pool;
mod problem;
mod rls;
mod simplex_qp;

#[pyo3::pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::metric::{
        Curve, auc, auc_moments, bootstrap, bootstrap_cuts, components, covariance, measure, permuted_distances,
        placements, pool_bins,
    };
    #[pymodule_export]
    use crate::neighbors::nearest;
    #[pymodule_export]
    use crate::oracle::{Curvature, Oracle};
    #[pymodule_export]
    use crate::pair_loss::pair_loss;
    #[pymodule_export]
    use crate::papers::{partial_boost, rank_boost, split_tree};
    #[pymodule_export]
    use crate::problem::Problem;
    #[pymodule_export]
    use crate::rls::leave_pair_out;
    #[pymodule_export]
    use crate::simplex_qp::minimise_on_simplex;
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
