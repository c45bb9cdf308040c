//! Binding of `rocmax_core::rls`.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rocmax_core::rls::{self, Side};

use crate::gate;

type Column<'py> = PyReadonlyArray1<'py, f64>;
type Sums<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Weight won by every row, and lost by every column (see `rocmax_core::rls::leave_pair_out`); each side is
/// (diagonal, coef, weight).
#[pyfunction]
pub(crate) fn leave_pair_out<'py>(
    py: Python<'py>,
    cross: PyReadonlyArray2<'py, f64>,
    pos: (Column<'py>, Column<'py>, Column<'py>),
    neg: (Column<'py>, Column<'py>, Column<'py>),
    coupling: f64,
    tau: f64,
    n_threads: usize,
) -> PyResult<Sums<'py>> {
    let size = cross.len();
    let cross = cross.as_slice()?;
    let pos = Side { diagonal: pos.0.as_slice()?, coef: pos.1.as_slice()?, weight: pos.2.as_slice()? };
    let neg = Side { diagonal: neg.0.as_slice()?, coef: neg.1.as_slice()?, weight: neg.2.as_slice()? };
    let (won, lost) = gate::enter(py, n_threads, size, |ctx| rls::leave_pair_out(cross, pos, neg, coupling, tau, ctx))?;
    Ok((won.into_pyarray(py), lost.into_pyarray(py)))
}
