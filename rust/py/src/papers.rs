//! Bindings of `rocmax_core::internals::papers`.

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use rocmax_core::internals::papers::{self, CELLS, Codes, Features, Limits};

use crate::data::problem::Problem;
use crate::data::range;
use crate::gate::{self, Need};

/// The most bytes per sorted value.
const SORTED: usize = 48;
/// Rounds that memory is reserved for: boosting mostly ends long before the most that a call allows.
const ROUNDS: usize = 1 << 20;

type Array<'py, T> = Bound<'py, PyArray1<T>>;
/// Feature, threshold, whether missing values are above it, coefficient and edge of each stump.
type Stumps<'py> = (Array<'py, i64>, Array<'py, f64>, Array<'py, bool>, Array<'py, f64>, Array<'py, f64>);
/// Weights of positives and negatives, feature (-1 for a leaf), threshold and children of each node.
type Tree<'py> = (Array<'py, f64>, Array<'py, f64>, Array<'py, i64>, Array<'py, f64>, Array<'py, i64>, Array<'py, i64>);
/// Feature, bin, coefficient, and the objective before and after each round.
type Rounds<'py> = (Array<'py, i64>, Array<'py, i64>, Array<'py, f64>, Array<'py, f64>, Array<'py, f64>);

/// RankBoost, with `values` by columns, all or those that `lists` (starts, rows) name; see
/// `rocmax_core::internals::papers::rank_boost`.
#[pyfunction]
#[pyo3(signature = (problem, values, lists, n_rounds, n_threads))]
pub(crate) fn rank_boost<'py>(
    py: Python<'py>,
    problem: &Problem,
    values: PyReadonlyArray1<'py, f64>,
    lists: Option<(PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u32>)>,
    n_rounds: usize,
    n_threads: usize,
) -> PyResult<Stumps<'py>> {
    let lists = match &lists {
        None => None,
        Some((starts, rows)) => Some((starts.as_slice()?, rows.as_slice()?)),
    };
    let features = Features { values: values.as_slice()?, lists };
    let (n_stored, n_rows) = (features.values.len(), problem.inner.n_samples());
    let need = Need {
        work: n_stored.saturating_mul(n_rounds),
        bytes: SORTED * (n_stored + n_rows) + 128 * n_rounds.min(ROUNDS),
    };
    let found = gate::enter(py, n_threads, need, |ctx| papers::rank_boost(&features, &problem.inner, n_rounds, ctx))?;
    Ok((
        column(py, &found, |stump| stump.feature as i64),
        column(py, &found, |stump| stump.threshold),
        column(py, &found, |stump| stump.missing_above),
        column(py, &found, |stump| stump.coef),
        column(py, &found, |stump| stump.edge),
    ))
}

/// A tree of splits by the area under the curve; see `rocmax_core::internals::papers::split_tree`.
#[pyfunction]
pub(crate) fn split_tree<'py>(
    py: Python<'py>,
    problem: &Problem,
    values: PyReadonlyArray1<'py, f64>,
    min_leaf: f64,
    max_depth: usize,
    n_threads: usize,
) -> PyResult<Tree<'py>> {
    let (values, limits) = (values.as_slice()?, Limits { leaf: min_leaf, depth: max_depth });
    let need = Need { work: values.len().saturating_mul(8), bytes: 2 * SORTED * values.len() };
    let found = gate::enter(py, n_threads, need, |ctx| papers::split_tree(values, &problem.inner, limits, ctx))?;
    Ok((
        column(py, &found, |node| node.pos),
        column(py, &found, |node| node.neg),
        column(py, &found, |node| node.split.map_or(-1, |split| split.feature as i64)),
        column(py, &found, |node| node.split.map_or(0.0, |split| split.threshold)),
        column(py, &found, |node| node.split.map_or(0, |split| split.left as i64)),
        column(py, &found, |node| node.split.map_or(0, |split| split.right as i64)),
    ))
}

/// Boosting of the smoothed partial AUC, with one row of `codes` per feature; see `rocmax_core::internals::papers::partial_boost`.
#[pyfunction]
pub(crate) fn partial_boost<'py>(
    py: Python<'py>,
    problem: &Problem,
    codes: PyReadonlyArray2<'py, u8>,
    n_bins: PyReadonlyArray1<'py, u64>,
    low: f64,
    high: f64,
    n_rounds: usize,
    n_threads: usize,
) -> PyResult<Rounds<'py>> {
    let range = range(low, high)?;
    let n_bins: Vec<usize> = n_bins.as_slice()?.iter().map(|&n| n as usize).collect();
    let codes = Codes { bins: codes.as_slice()?, n_bins: &n_bins };
    let work = codes.bins.len().saturating_mul(n_rounds).saturating_mul(8);
    let need = Need { work, bytes: SORTED * problem.inner.n_samples() + 128 * n_rounds.min(ROUNDS) };
    let found =
        gate::enter(py, n_threads, need, |ctx| papers::partial_boost(&codes, &problem.inner, range, n_rounds, ctx))?;
    Ok((
        column(py, &found, |round| round.feature as i64),
        column(py, &found, |round| round.bin as i64),
        column(py, &found, |round| round.steps as f64 / CELLS as f64),
        column(py, &found, |round| round.before),
        column(py, &found, |round| round.after),
    ))
}

/// One field of each row of a table.
fn column<'py, R, T: numpy::Element>(py: Python<'py>, rows: &[R], field: impl Fn(&R) -> T) -> Array<'py, T> {
    PyArray1::from_iter(py, rows.iter().map(field))
}
