//! Bindings of `rocmax_core::solve`.

use std::cell::Cell;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use rocmax_core::Error;
use rocmax_core::solve::{self, Cross, Curved, Features, Side};

use crate::data::array::FeatureArray;
use crate::error;
use crate::gate::{self, Need};
use crate::risk::Curvature;

type Column<'py> = PyReadonlyArray1<'py, f64>;
type Columns<'py> = (Column<'py>, Column<'py>, Column<'py>, Column<'py>, PyReadonlyArray1<'py, i64>);
type Sums<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Weight won by every positive, and lost by every negative; `cross` is (coarse, unit, base, rows, cols), each side
/// (diagonal, coef, weight, norm, row). See `rocmax_core::solve::leave_pair_out`.
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
    let (won, lost) =
        gate::enter(py, n_threads, need, |ctx| solve::leave_pair_out(tile, pos, neg, coupling, tau, ctx))?;
    Ok((won.into_pyarray(py), lost.into_pyarray(py)))
}

fn side<'a>(columns: &'a Columns<'_>) -> PyResult<Side<'a>> {
    let (diagonal, coef, weight, norm, row) = columns;
    Ok(Side {
        diagonal: diagonal.as_slice()?,
        coef: coef.as_slice()?,
        weight: weight.as_slice()?,
        norm: norm.as_slice()?,
        row: row.as_slice()?,
    })
}
/// The minimiser of `1/2 l'Gl - gain'l` over `l >= 0`, `sum l = total`, from a feasible start.
#[pyfunction]
pub(crate) fn minimise_on_simplex<'py>(
    py: Python<'py>,
    gram: PyReadonlyArray2<'py, f64>,
    gain: PyReadonlyArray1<'py, f64>,
    total: f64,
    start: PyReadonlyArray1<'py, f64>,
    tol: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (gram, gain) = (gram.as_slice()?, gain.as_slice()?);
    let mut weights = start.as_slice()?.to_vec();
    let need = Need { work: gram.len(), bytes: 16 * gram.len() };
    gate::enter(py, 1, need, |ctx| solve::minimise_on_simplex(gram, gain, total, &mut weights, tol, ctx))?;
    Ok(weights.into_pyarray(py))
}

type Indices<'py> = PyReadonlyArray1<'py, i32>;

/// Features of all samples: dense, or the values, columns and starts of the rows of a sparse matrix.
#[derive(FromPyObject)]
pub(crate) enum Matrix<'py> {
    Dense(FeatureArray<'py>),
    Sparse((Column<'py>, Indices<'py>, Indices<'py>)),
}

/// The value of an expression for the features of a matrix, whatever their type.
macro_rules! with_features {
    ($matrix:expr, $features:ident => $value:expr) => {
        match $matrix {
            Matrix::Dense(FeatureArray::Single(all)) => {
                let $features = Features::Dense(all.as_slice()?);
                $value
            }
            Matrix::Dense(FeatureArray::Double(all)) => {
                let $features = Features::Dense(all.as_slice()?);
                $value
            }
            Matrix::Sparse((values, columns, starts)) => {
                let $features = Features::<f64>::Sparse(values.as_slice()?, columns.as_slice()?, starts.as_slice()?);
                $value
            }
        }
    };
}

/// The work of a call that reads all values once: a millisecond for a few millions.
fn reading<T>(features: Features<'_, T>) -> usize {
    let (Features::Dense(values) | Features::Sparse(values, ..)) = features;
    values.len() / 32
}

fn indices(rows: &PyReadonlyArray1<'_, isize>) -> PyResult<Vec<usize>> {
    Ok(rows.as_slice()?.iter().map(|&row| row as usize).collect())
}

/// The product of each row with a vector; see `rocmax_core::solve::scores`.
#[pyfunction]
pub(crate) fn scores<'py>(
    py: Python<'py>,
    features: Matrix<'py>,
    vector: Column<'py>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let vector = vector.as_slice()?;
    let found = with_features!(&features, all => {
        let need = Need { work: reading(all), bytes: 8 * vector.len() };
        gate::enter(py, 1, need, |ctx| solve::scores(all, vector, ctx))
    });
    Ok(found?.into_pyarray(py))
}

/// Sums of all rows, each times a coefficient, a row for each; see `rocmax_core::solve::adjoint`.
#[pyfunction]
pub(crate) fn adjoint<'py>(
    py: Python<'py>,
    features: Matrix<'py>,
    coefs: Vec<Column<'py>>,
    dim: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let coefs = coefs.iter().map(|coefs| Ok(coefs.as_slice()?)).collect::<PyResult<Vec<_>>>()?;
    let n_samples = coefs.first().map_or(0, |coefs| coefs.len());
    let sums = with_features!(&features, all => {
        let need = Need { work: reading(all) * coefs.len(), bytes: 16 * coefs.len() * dim + 8 * n_samples };
        gate::enter(py, 1, need, |ctx| solve::adjoint(all, &coefs, dim, ctx))
    });
    sums?.into_pyarray(py).reshape([coefs.len(), dim])
}

/// The sum of the bits of all values, each times numbers of its row and column; see `rocmax_core::solve::digest`.
#[pyfunction]
pub(crate) fn digest<'py>(py: Python<'py>, features: Matrix<'py>, dim: usize, first: u64, list: bool) -> PyResult<u64> {
    with_features!(&features, all => {
        let need = Need { work: reading(all), bytes: 8 * dim };
        gate::enter(py, 1, need, |ctx| solve::digest(all, dim, first, list, ctx))
    })
}

/// The sums and the sums of squares of columns less an origin; see `rocmax_core::solve::moments`.
#[pyfunction]
pub(crate) fn moments<'py>(
    py: Python<'py>,
    features: Matrix<'py>,
    origin: Column<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let origin = origin.as_slice()?;
    let found = with_features!(&features, all => {
        let need = Need { work: reading(all), bytes: 24 * origin.len() };
        gate::enter(py, 1, need, |ctx| solve::moments(all, origin, ctx))
    });
    found?.into_pyarray(py).reshape([2, origin.len()])
}

/// Springs between samples and the means of their groups (starts, stiffness), or a curvature and its factor.
#[derive(FromPyObject)]
pub(crate) enum Pull<'py> {
    Springs((PyReadonlyArray1<'py, isize>, Column<'py>)),
    Smoothed((PyRef<'py, Curvature>, f64)),
}

/// A step that solves Newton's equations; see `rocmax_core::solve::newton_step`.
#[pyfunction]
pub(crate) fn newton_step<'py>(
    py: Python<'py>,
    features: Matrix<'py>,
    rows: PyReadonlyArray1<'py, isize>,
    pull: Pull<'py>,
    gradient: Column<'py>,
    until: (f64, usize),
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (rows, gradient) = (&indices(&rows)?[..], gradient.as_slice()?);
    let starts = match &pull {
        Pull::Springs((starts, _)) => indices(starts)?,
        Pull::Smoothed(_) => vec![],
    };
    let product;
    let curved = match &pull {
        Pull::Springs((_, stiffness)) => Curved::Springs(&starts, stiffness.as_slice()?),
        Pull::Smoothed((curvature, factor)) => {
            let curvature = &curvature.0;
            product = move |change: &[f64]| {
                let mut pull = curvature.product(change)?;
                pull.iter_mut().for_each(|pull| *pull *= factor);
                Ok(pull)
            };
            Curved::Product(&product)
        }
    };
    let step = with_features!(&features, all => {
        let (read, means) = match all {
            Features::Dense(_) => (rows.len() * gradient.len(), 8 * rows.len() * gradient.len() / 16),
            Features::Sparse(_, _, starts) => (rows.iter().map(|&row| (starts[row + 1] - starts[row]) as usize).sum(), 0),
        };
        let copied = 16 * read.min(solve::COPIED.end);
        let need = Need { work: read / 8, bytes: means + copied + 64 * (gradient.len() + rows.len()) };
        gate::enter(py, 1, need, |ctx| solve::newton_step(all, rows, curved, gradient, until, ctx))
    });
    Ok(step?.into_pyarray(py))
}

/// The weights of moves, changes of the gradient and the gradient in a step; see `rocmax_core::solve::quasi_newton`.
#[pyfunction]
pub(crate) fn quasi_newton<'py>(
    py: Python<'py>,
    products: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let k = products.shape()[1].saturating_sub(1);
    Ok(solve::quasi_newton(products.as_slice()?, k).map_err(error::to_python)?.into_pyarray(py))
}

/// A solution of `(I + H) step = -gradient` by a product with H and an inner product of Python, both of arrays; see
/// `rocmax_core::solve::conjugate`. The loop itself takes no time, and so it keeps the interpreter.
#[pyfunction]
pub(crate) fn conjugate<'py>(
    py: Python<'py>,
    gradient: Column<'py>,
    until: (f64, usize),
    product: Bound<'py, PyAny>,
    inner: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let raised = Cell::new(None);
    let stop = |error: PyErr| {
        raised.set(Some(error));
        Error::Interrupted
    };
    let array = |vector: &[f64]| PyArray1::from_slice(py, vector);
    let step = solve::conjugate(
        gradient.as_slice()?,
        until,
        |vector| {
            let pulled = product
                .call1((array(vector),))
                .and_then(|found| Ok(found.extract::<Column<'py>>()?.as_slice()?.to_vec()));
            pulled.map_err(stop)
        },
        |x, y| inner.call1((array(x), array(y))).and_then(|found| found.extract()).map_err(stop),
    );
    match raised.take() {
        Some(error) => Err(error),
        None => Ok(step.map_err(error::to_python)?.into_pyarray(py)),
    }
}
