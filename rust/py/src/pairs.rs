//! Bindings of `rocmax_core::pairs`.

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray1,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use rocmax_core::pairs::{self, Cuts, Near, Space, neighbors};

use crate::data::problem::Problem;
use crate::error::to_python;
use crate::gate::{self, Need};

/// Bytes of a pair while a list is made.
const PAIR: usize = 24;

type Array<'py, T> = Bound<'py, PyArray1<T>>;
/// Indices of NumPy's own type.
type Table<'py> = Bound<'py, PyArray2<isize>>;

/// A list of pairs; see `rocmax_core::pairs::PairList`.
#[pyclass(frozen, module = "rocmax._core")]
pub(crate) struct PairList(pairs::PairList);

fn made(n_pairs: usize) -> Need {
    Need { work: n_pairs, bytes: PAIR.saturating_mul(n_pairs) }
}

/// A table of pairs.
fn table<'py>(py: Python<'py>, pairs: impl Iterator<Item = (u32, u32)>) -> PyResult<Table<'py>> {
    let flat = PyArray1::from_iter(py, pairs.flat_map(|(i, j)| [i as isize, j as isize]));
    let rows = flat.len() / 2;
    flat.reshape([rows, 2])
}

#[pymethods]
impl PairList {
    #[staticmethod]
    fn all(py: Python<'_>, problem: &Problem, n_threads: usize) -> PyResult<Self> {
        let n_pairs = problem.inner.n_pos().saturating_mul(problem.inner.n_neg());
        let need = Need { work: n_pairs, bytes: n_pairs.saturating_mul(4) };
        gate::enter(py, n_threads, need, |ctx| pairs::PairList::all(&problem.inner, ctx)).map(Self)
    }

    #[staticmethod]
    fn random(py: Python<'_>, problem: &Problem, n_pairs: usize, seed: u64, n_threads: usize) -> PyResult<Self> {
        let most = problem.inner.n_pos().saturating_mul(problem.inner.n_neg());
        let need = made(n_pairs.min(most));
        gate::enter(py, n_threads, need, |ctx| pairs::PairList::random(&problem.inner, n_pairs, seed, ctx)).map(Self)
    }

    /// Pairs of the nearest samples by rows of features, or by a kernel matrix.
    #[staticmethod]
    fn neighbors(
        py: Python<'_>,
        problem: &Problem,
        space: (PyReadonlyArray2<'_, f64>, bool),
        k: usize,
        two_step: bool,
        n_threads: usize,
    ) -> PyResult<Self> {
        let (values, is_kernel) = &space;
        let (n_samples, is_kernel) = (values.shape()[0], *is_kernel);
        let space = if is_kernel { Space::Kernel(values.as_slice()?) } else { Space::Features(values.as_slice()?) };
        let near = if two_step { Near::TwoStep } else { Near::Symmetric };
        let dim = if is_kernel { 0 } else { values.shape()[1] };
        let bytes = n_samples.saturating_mul(k.min(n_samples)).saturating_mul(3 * PAIR);
        let need =
            Need { work: n_samples.saturating_mul(n_samples), bytes: bytes.saturating_add(24 * n_samples * dim) };
        gate::enter(py, n_threads, need, |ctx| neighbors(&problem.inner, space, k, near, ctx)).map(Self)
    }

    /// The given rows of positives and negatives.
    #[staticmethod]
    fn listed(py: Python<'_>, problem: &Problem, rows: PyReadonlyArray2<'_, i64>, n_threads: usize) -> PyResult<Self> {
        let rows = rows.as_slice()?;
        // A negative number becomes one beyond all rows.
        let pairs = rows.chunks_exact(2).map(|pair| (pair[0] as usize, pair[1] as usize));
        gate::enter(py, n_threads, made(rows.len() / 2), |ctx| pairs::PairList::new(&problem.inner, pairs, ctx))
            .map(Self)
    }

    fn __len__(&self) -> usize {
        self.0.n_pairs()
    }

    /// The pairs as rows (i, j).
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Table<'py>> {
        gate::room(16 * self.0.n_pairs())?;
        table(py, self.0.iter())
    }

    /// Writes a subgradient of the mean hinge to `coef`; returns the value, the share of the pairs in the right order,
    /// and the value at scores zero of the cut.
    fn hinge(
        &self,
        py: Python<'_>,
        scores: PyReadonlyArray1<'_, f64>,
        mut coef: PyReadwriteArray1<'_, f64>,
        n_threads: usize,
    ) -> PyResult<(f64, f64, f64)> {
        let (scores, coef) = (scores.as_slice()?, coef.as_slice_mut()?);
        let need = Need { work: self.0.n_pairs(), bytes: 32 * n_threads * scores.len() };
        let found = gate::enter(py, n_threads, need, |ctx| self.0.hinge(scores, coef, ctx))?;
        Ok((found.value, found.partial_auc, found.offset))
    }

    /// The multiplier of each pair; see `rocmax_core::pairs::Cuts::of_list`.
    fn multipliers<'py>(
        &self,
        py: Python<'py>,
        weights: PyReadonlyArray1<'_, f64>,
        levels: PyReadonlyArray2<'_, f64>,
        n_threads: usize,
    ) -> PyResult<Array<'py, f64>> {
        let (weights, levels) = (weights.as_slice()?, levels.as_slice()?);
        let work = self.0.n_pairs().saturating_mul(weights.len());
        let need = Need { work, bytes: 16 * self.0.n_pairs() };
        let found = gate::enter(py, n_threads, need, |ctx| Cuts::new(weights, levels)?.of_list(&self.0, ctx))?;
        Ok(found.into_pyarray(py))
    }
}

/// The level of each sample in each cut; see `rocmax_core::pairs::Cuts::of_sums`.
#[pyfunction]
pub(crate) fn pair_levels<'py>(
    py: Python<'py>,
    problem: &Problem,
    sums: PyReadonlyArray2<'_, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let [n_cuts, n_samples] = [sums.shape()[0], sums.shape()[1]];
    gate::room(16 * n_cuts * n_samples)?;
    let mut levels = vec![0.0; n_cuts * n_samples];
    for (k, sums) in sums.as_slice()?.chunks_exact(n_samples.max(1)).enumerate() {
        let of_cut = Cuts::of_sums(&problem.inner, sums).map_err(to_python)?;
        levels.iter_mut().skip(k).step_by(n_cuts).zip(of_cut).for_each(|(to, level)| *to = level);
    }
    levels.into_pyarray(py).reshape([n_samples, n_cuts])
}

/// The multipliers of pairs of rows that exist.
#[pyfunction]
pub(crate) fn pair_multipliers<'py>(
    py: Python<'py>,
    weights: PyReadonlyArray1<'_, f64>,
    levels: PyReadonlyArray2<'_, f64>,
    i: PyReadonlyArray1<'_, i64>,
    j: PyReadonlyArray1<'_, i64>,
) -> PyResult<Array<'py, f64>> {
    let weights = weights.as_slice()?;
    let cuts = Cuts::new(weights, levels.as_slice()?).map_err(to_python)?;
    let (i, j) = (i.as_slice()?, j.as_slice()?);
    let need = Need { work: i.len().saturating_mul(weights.len()), bytes: 8 * i.len() };
    let multiplier = |(&i, &j): (&i64, &i64)| cuts.multiplier((i as u32, j as u32));
    let found = gate::enter(py, 1, need, |_| Ok(i.iter().zip(j).map(multiplier).collect::<Vec<_>>()))?;
    Ok(found.into_pyarray(py))
}

/// At most `limit` of the pairs with a positive multiplier, and how many there are; see
/// `rocmax_core::pairs::Cuts::support`.
#[pyfunction]
pub(crate) fn pair_support<'py>(
    py: Python<'py>,
    problem: &Problem,
    weights: PyReadonlyArray1<'_, f64>,
    levels: PyReadonlyArray2<'_, f64>,
    limit: usize,
    n_threads: usize,
) -> PyResult<(Table<'py>, usize)> {
    let (weights, levels) = (weights.as_slice()?, levels.as_slice()?);
    let all = problem.inner.n_pos().saturating_mul(problem.inner.n_neg());
    let need = Need { work: all.saturating_mul(weights.len()), bytes: PAIR.saturating_mul(limit.min(all)) };
    let (found, total) =
        gate::enter(py, n_threads, need, |ctx| Cuts::new(weights, levels)?.support(&problem.inner, limit, ctx))?;
    Ok((table(py, found.into_iter())?, total))
}
