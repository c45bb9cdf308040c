//! Bindings of `rocmax_core::risk`.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rocmax_core::Scores;
use rocmax_core::risk::{
    self, Curvature as CoreCurvature, Naive, Rank, Selection, SmoothedHinge, Stretch, Surrogate, Term, Tight, TopHinge,
    Workspace,
};

use crate::data::problem::Problem;
use crate::data::range;
use crate::error::to_python;
use crate::gate::{self, Need};
use crate::values::values;

/// Scale, margin; threshold, stretch, and share of a tie at the threshold.
type Hinge = (f64, f64, (f64, f64, f64));

/// The need of a risk of so many samples.
fn need(n_samples: usize) -> Need {
    Need { work: n_samples, bytes: 160 * n_samples }
}

/// Indices of NumPy's own type.
type Rows<'py> = Bound<'py, PyArray1<isize>>;

/// A risk of the scores of one problem; see `rocmax_core::risk::Oracle`.
#[pyclass(frozen, module = "rocmax._core")]
pub(crate) struct Oracle {
    inner: risk::Oracle,
    #[pyo3(get)]
    problem: Py<Problem>,
}

impl Oracle {
    fn of(
        problem: Bound<'_, Problem>,
        low: f64,
        high: f64,
        risk: impl Surrogate + Send + Sync + 'static,
    ) -> PyResult<Self> {
        let inner = risk::Oracle::new(Arc::clone(&problem.get().inner), range(low, high)?, risk);
        Ok(Self { inner, problem: problem.unbind() })
    }

    /// Calls with the problem's workspace, or with a new one while another thread uses that.
    fn with_workspace<T>(&self, call: impl FnOnce(&mut Workspace) -> T) -> T {
        match self.problem.get().workspace.try_lock() {
            Ok(mut workspace) => call(&mut workspace),
            Err(_) => call(&mut Workspace::default()),
        }
    }
}

#[pymethods]
impl Oracle {
    #[staticmethod]
    fn tight(problem: Bound<'_, Problem>, low: f64, high: f64) -> PyResult<Self> {
        Self::of(problem, low, high, Tight)
    }

    #[staticmethod]
    fn naive(problem: Bound<'_, Problem>, low: f64, high: f64) -> PyResult<Self> {
        Self::of(problem, low, high, Naive)
    }

    #[staticmethod]
    fn top_hinge(problem: Bound<'_, Problem>, low: f64, high: f64, terms: Vec<(f64, bool, f64)>) -> PyResult<Self> {
        let end = |high| if high { Rank::High } else { Rank::Low };
        let terms = terms.into_iter().map(|(weight, high, margin)| Term { weight, end: end(high), margin }).collect();
        Self::of(problem, low, high, TopHinge::new(terms).map_err(to_python)?)
    }

    /// Writes the coefficients at `scores`, or at `scores + step * change`, to `coef`; returns the value, the ranked
    /// partial AUC, and the value at scores zero of the cut that the coefficients make.
    #[pyo3(signature = (scores, coef, n_threads, *, step=0.0, change=None))]
    fn evaluate(
        &self,
        py: Python<'_>,
        scores: PyReadonlyArray1<'_, f64>,
        mut coef: PyReadwriteArray1<'_, f64>,
        n_threads: usize,
        step: f64,
        change: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<(f64, f64, f64)> {
        let (scores, coef) = (scores.as_slice()?, coef.as_slice_mut()?);
        let scores = match &change {
            None => Scores::from(scores),
            Some(change) => Scores::on_ray(scores, step, change.as_slice()?).map_err(to_python)?,
        };
        let found = gate::enter(py, n_threads, need(coef.len()), |ctx| {
            self.with_workspace(|workspace| self.inner.evaluate(scores, coef, workspace, ctx))
        })?;
        Ok((found.value, found.partial_auc, found.offset))
    }

    /// Writes the slopes of a smoothed cut to `coef`; returns its value at scores zero, and its hinges; None if the
    /// risk is not a sum of hinges.
    fn smooth(
        &self,
        py: Python<'_>,
        scores: PyReadonlyArray1<'_, f64>,
        mut coef: PyReadwriteArray1<'_, f64>,
        width: f64,
        n_threads: usize,
    ) -> PyResult<Option<(f64, Vec<Hinge>)>> {
        let (scores, coef) = (scores.as_slice()?, coef.as_slice_mut()?);
        let found = gate::enter(py, n_threads, need(scores.len()), |ctx| {
            self.with_workspace(|workspace| self.inner.smooth(scores, width, coef, workspace, ctx))
        })?;
        Ok(found.map(|found| {
            let hinges = found.hinges.iter().map(|SmoothedHinge { hinge, selection, .. }| {
                let Selection { threshold, width, tied, .. } = *selection;
                (hinge.scale, hinge.margin, (threshold, width, tied))
            });
            (found.offset, hinges.collect())
        }))
    }

    /// The scale and the number (or weight) of negatives of each hinge; None if the risk is no sum of hinges.
    fn hinges(&self) -> Option<Vec<(f64, f64)>> {
        Some(self.inner.hinges()?.iter().map(|hinge| (hinge.scale, hinge.top)).collect())
    }

    /// Writes the slopes of the envelope of one hinge around multipliers to `coef`; returns the value at scores zero of
    /// the cut, half the squared change of the multipliers, the tied samples, and where each group of them begins.
    fn envelope<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        scores: PyReadonlyArray1<'_, f64>,
        multipliers: PyReadonlyArray1<'_, f64>,
        stiffness: (f64, f64),
        mut coef: PyReadwriteArray1<'_, f64>,
        n_threads: usize,
    ) -> PyResult<(f64, f64, Rows<'py>, Rows<'py>)> {
        let (scores, multipliers, coef) = (scores.as_slice()?, multipliers.as_slice()?, coef.as_slice_mut()?);
        let hinges = self.inner.hinges().unwrap_or_default();
        let hinge =
            hinges.get(index).ok_or_else(|| PyValueError::new_err(format!("there is no hinge of index {index}")))?;
        let (found, moved) = gate::enter(py, n_threads, need(scores.len()), |ctx| {
            self.inner.envelope(hinge, scores, multipliers, [stiffness.0, stiffness.1], coef, ctx)
        })?;
        let rows = |rows: Vec<u32>| PyArray1::from_iter(py, rows.into_iter().map(|row| row as isize));
        Ok((found.offset, moved, rows(found.rows), rows(found.starts)))
    }
}

/// The curvature of a smoothed risk over a sample; see `rocmax_core::risk::Curvature`.
#[pyclass(frozen, module = "rocmax._core")]
pub(crate) struct Curvature(pub(crate) CoreCurvature);

#[pymethods]
impl Curvature {
    /// About `size` rows drawn by a seed, the positives and then the negatives of each hinge, and the curvature over
    /// their scores.
    #[staticmethod]
    fn drawn<'py>(
        py: Python<'py>,
        problem: &Problem,
        scores: PyReadonlyArray1<'_, f64>,
        hinges: Vec<Hinge>,
        width: f64,
        size: usize,
        seed: u64,
    ) -> PyResult<(Rows<'py>, Self)> {
        let stretch = |(scale, margin, (threshold, selection, tied))| {
            (scale, Stretch { margin, width, threshold, selection, tied })
        };
        let (scores, hinges) = (scores.as_slice()?, hinges.into_iter().map(stretch).collect::<Vec<_>>());
        let (rows, found) = gate::enter(py, 1, need(scores.len()), |ctx| {
            CoreCurvature::drawn(&problem.inner, scores, &hinges, size, seed, ctx)
        })?;
        Ok((PyArray1::from_iter(py, rows.into_iter().map(|row| row as isize)), Self(found)))
    }

    /// The product with changes of the scores of the positives and of the negatives, hinge after hinge.
    fn product<'py>(&self, py: Python<'py>, change: PyReadonlyArray1<'_, f64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let change = change.as_slice()?;
        let found = gate::enter(py, 1, need(change.len()), |_| self.0.product(change))?;
        Ok(found.into_pyarray(py))
    }
}
values! {
    /// The loss of a pair; see `rocmax_core::risk::PairLoss`.
    PairLoss: risk::PairLoss,
    squared_hinge() => risk::PairLoss::SquaredHinge;
    smoothed_hinge() => risk::PairLoss::SmoothedHinge;
}

values! {
    /// Which pairs count; see `rocmax_core::risk::PairRange`.
    PairRange: risk::PairRange,
    fpr(low: f64, high: f64) => risk::PairRange::Fpr(range(low, high)?);
    tpr(low: f64, high: f64) => risk::PairRange::Tpr(range(low, high)?);
}

/// The value of a pair loss; adds `scale` times the gradient and the diagonal of the Hessian to `derivatives`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from the Python package only")]
pub(crate) fn pair_loss(
    py: Python<'_>,
    problem: &Problem,
    scores: PyReadonlyArray1<'_, f64>,
    loss: &PairLoss,
    range: &PairRange,
    scale: f64,
    derivatives: (PyReadwriteArray1<'_, f64>, PyReadwriteArray1<'_, f64>),
    n_threads: usize,
) -> PyResult<f64> {
    let (mut gradient, mut hessian) = derivatives;
    let (scores, gradient, hessian) = (scores.as_slice()?, gradient.as_slice_mut()?, hessian.as_slice_mut()?);
    let need = Need { work: scores.len(), bytes: 128 * scores.len() };
    gate::enter(py, n_threads, need, |ctx| {
        risk::pair_loss(&problem.inner, scores, (loss.0, range.0), scale, [gradient, hessian], ctx)
    })
}
