//! Bins of a curve with a bounded error.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use rocmax_core::internals::{Bin, pool};

use crate::gate::Need;

/// Bytes per bin: input, node, sorted and output.
const BIN: usize = 160;

/// Pools bins (lowest and highest score, weights of the positives and of the negatives) as far as `max_error` allows;
/// rows of the same four, by ascending lowest score. See `rocmax_core::internals::pool`.
#[pyfunction]
pub(crate) fn pool_bins<'py>(
    py: Python<'py>,
    low: PyReadonlyArray1<'_, f64>,
    high: PyReadonlyArray1<'_, f64>,
    pos: PyReadonlyArray1<'_, f64>,
    neg: PyReadonlyArray1<'_, f64>,
    max_error: f64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = [low.as_slice()?, high.as_slice()?, pos.as_slice()?, neg.as_slice()?];
    let n = rows.iter().map(|row| row.len()).min().unwrap_or(0);
    let kept = super::enter(py, 1, Need { work: n, bytes: BIN * n }, |ctx| {
        let bins: Vec<Bin> =
            (0..n).map(|i| Bin { low: rows[0][i], high: rows[1][i], pos: rows[2][i], neg: rows[3][i] }).collect();
        pool(&bins, max_error, ctx)
    })?;
    let of = |f: fn(&Bin) -> f64| kept.iter().map(f);
    let flat = of(|b| b.low).chain(of(|b| b.high)).chain(of(|b| b.pos)).chain(of(|b| b.neg));
    PyArray1::from_iter(py, flat).reshape([4, kept.len()])
}
