//! Python bindings of `rocmax-core`: translation only, in files of the core's names. Users' documentation is in the
//! Python package.
#![allow(clippy::too_many_arguments, reason = "as Python calls functions")]

mod curve;
mod data;
mod error;
mod gate;
mod interval;
mod pairs;
mod papers;
mod resample;
mod risk;
mod solve;
mod threads;
mod values;
mod variance;

#[pyo3::pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::curve::measure::{Measure, Normalize, auc_moments, measure};
    #[pymodule_export]
    use crate::curve::{Curve, Rule, curve_points, pool_bins};
    #[pymodule_export]
    use crate::data::problem::Problem;
    #[pymodule_export]
    use crate::data::texts::{two_rows, two_slices, two_texts};
    #[pymodule_export]
    use crate::interval::{Gain, Profiles, ScoreLimits, gains, mean_tables, rates_of_called, share_table};
    #[pymodule_export]
    use crate::interval::{normal_cdf, normal_quantile, student_cdf, student_quantile};
    #[pymodule_export]
    use crate::pairs::{PairList, pair_levels, pair_multipliers, pair_support};
    #[pymodule_export]
    use crate::papers::{partial_boost, rank_boost, split_tree};
    #[pymodule_export]
    use crate::resample::{band_distances, bootstrap, bootstrap_cuts, permuted_distances};
    #[pymodule_export]
    use crate::risk::{Curvature, Oracle, PairLoss, PairRange, pair_loss};
    #[pymodule_export]
    use crate::solve::{
        adjoint, conjugate, digest, leave_pair_out, minimise_on_simplex, moments, newton_step, quasi_newton, scores,
    };
    #[pymodule_export]
    use crate::threads::n_cores;
    #[pymodule_export]
    use crate::variance::{components, covariance};
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Looks up NumPy's functions: the crate would panic if Ctrl-C came while the first call does.
    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        module.py().import("numpy")?;
        numpy::dtype::<f64>(module.py());
        Ok(())
    }
}
