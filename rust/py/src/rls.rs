//! Binding of `rocmax_core::rls`.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rocmax_core::rls::{self, Cross, Side};

use crate::gate::{self, Need};

type Column<'py> = PyReadonlyArray1<'py, f64>;
type Columns<'py> = (Column<'py>, Column<'py>, Column<'py>, Column<'py>);
type Sums<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Weight won by every positive, and lost by every negative (see `rocmax_core::rls::leave_pair_out`); `cross` is
/// (coarse, unit, base, rows, cols), each side (diagonal, coef, weight, norm).
#[pyfunction]
pub(crate) fn leave_pair_out<'py>(
    py: Python<'py>,
    cross: (PyReadonlyArray2<'py, f32>, f64, f64, PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f64>),
    pos: Columns<'py>,
    neg: Columns<'py>,
    coupling: f64,
    tau: f64,
    n_threads: usize,
) -> PyResult<Sums<'py>> {
    let (coarse, unit, base, rows, cols) = &cross;
    let tile = Cross {
        coarse: coarse.as_slice()?,
        unit: *unit,
        base: *base,
        rows: rows.as_slice()?,
        cols: cols.as_slice()?,
        rank: rows.shape()[1],
    };
    let (pos, neg) = (side(&pos)?, side(&neg)?);
    let (m, n) = (rows.shape()[0], cols.shape()[0]);
    let need = Need { work: coarse.len(), bytes: 4 * coarse.len() + 64 * (m + n) };
    let (won, lost) = gate::enter(py, n_threads, need, |ctx| rls::leave_pair_out(tile, pos, neg, coupling, tau, ctx))?;
    Ok((won.into_pyarray(py), lost.into_pyarray(py)))
}

fn side<'a>(columns: &'a Columns<'_>) -> PyResult<Side<'a>> {
    let (diagonal, coef, weight, norm) = columns;
    Ok(Side {
        diagonal: diagonal.as_slice()?,
        coef: coef.as_slice()?,
        weight: weight.as_slice()?,
        norm: norm.as_slice()?,
    })
}
