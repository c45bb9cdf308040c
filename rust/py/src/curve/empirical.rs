//! The empirical ROC curve of one score vector, and rules that choose a threshold on it.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;
use rocmax_core::curve;
use rocmax_core::internals::merged;

use super::measure::Measure;
use super::{COUNT, CURVE, enter};
use crate::data::array::{LabelArray, ScoreArray, Weights, weights};
use crate::error::to_python;
use crate::gate::{Need, room};
use crate::values::values;

/// The weight of each class at every distinct score; see `rocmax_core::curve::Curve`.
#[pyclass(frozen, module = "rocmax._core")]
pub(crate) struct Curve {
    pub(crate) inner: curve::Curve,
}

impl Curve {
    /// The need of a measure.
    fn need(&self) -> Need {
        Need { work: self.inner.steps().len(), bytes: CURVE * self.inner.steps().len() }
    }

    /// The need of a walk along the steps, which takes an eighth of the time of the sort.
    fn walk(&self) -> Need {
        Need { work: self.inner.steps().len() / 8, ..self.need() }
    }
}

values! {
    /// A rule that chooses a threshold; see `rocmax_core::curve::Rule`.
    Rule: curve::Rule,
    at(threshold: f64) => curve::Rule::At(threshold);
    fpr(rate: f64) => curve::Rule::Fpr(rate);
    specificity(rate: f64) => curve::Rule::Specificity(rate);
    sensitivity(rate: f64) => curve::Rule::Sensitivity(rate);
    eer() => curve::Rule::Eer;
    youden(weight: f64) => curve::Rule::Youden(weight);
    closest(weight: f64) => curve::Rule::Closest(weight);
    cost(ratio: f64) => curve::Rule::Cost(ratio);
    midpoint() => curve::Rule::Midpoint;
    alerts(budget: f64) => curve::Rule::Alerts(budget);
}

/// Three arrays.
type Points<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The points that `write` writes for `n` samples or steps, in memory of NumPy, which large pages make several times as
/// fast.
fn points<'py>(
    py: Python<'py>,
    what: curve::Points,
    n: usize,
    write: impl FnOnce([&mut [f64]; 3]) -> PyResult<usize>,
) -> PyResult<Points<'py>> {
    room(CURVE * n)?;
    let arrays = [(); 3].map(|()| PyArray1::zeros(py, n + 1, false));
    let n_points = {
        let [mut x, mut y, mut z] = arrays.each_ref().map(|array| array.readwrite());
        write([x.as_slice_mut()?, y.as_slice_mut()?, z.as_slice_mut()?])?
    };
    let how = [("refcheck", false)].into_py_dict(py)?;
    let n_thresholds = n_points - usize::from(what == curve::Points::PrecisionRecall);
    for (array, len) in arrays.iter().zip([n_points, n_points, n_thresholds]) {
        array.call_method("resize", (len,), Some(&how))?;
    }
    let [x, y, z] = arrays;
    Ok((x, y, z))
}

fn what(precision_recall: bool) -> curve::Points {
    if precision_recall { curve::Points::PrecisionRecall } else { curve::Points::Roc }
}

/// False and true positive rates and thresholds, or precision, recall and finite thresholds; see
/// `rocmax_core::curve::Points`.
#[pyfunction]
pub(crate) fn curve_points<'py>(
    py: Python<'py>,
    y_true: LabelArray<'_>,
    y_score: ScoreArray<'_>,
    sample_weight: Weights<'_>,
    precision_recall: bool,
    drop: bool,
    n_threads: usize,
) -> PyResult<Points<'py>> {
    let (labels, scores, weights) = (y_true.labels()?, y_score.column()?, weights(&sample_weight)?);
    let (n, what) = (labels.n_samples(), what(precision_recall));
    points(py, what, n, |to| {
        enter(py, n_threads, Need { work: n, bytes: CURVE * n }, |ctx| {
            what.of_samples(&labels, &scores.wide(), weights, drop, to, ctx)
        })
    })
}

#[pymethods]
impl Curve {
    #[new]
    fn new(
        py: Python<'_>,
        y_true: LabelArray<'_>,
        y_score: ScoreArray<'_>,
        sample_weight: Weights<'_>,
        n_threads: usize,
    ) -> PyResult<Self> {
        let (labels, scores, weights) = (y_true.labels()?, y_score.column()?, weights(&sample_weight)?);
        let n = labels.n_samples();
        let inner = enter(py, n_threads, Need { work: n, bytes: CURVE * n }, |ctx| {
            curve::Curve::new(&labels, &scores.wide(), weights, ctx)
        })?;
        Ok(Self { inner })
    }

    /// The curve of steps that the caller counted, by descending score.
    #[staticmethod]
    fn of_steps(
        score: PyReadonlyArray1<'_, f64>,
        pos: PyReadonlyArray1<'_, f64>,
        neg: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let (score, pos, neg) = (score.as_slice()?, pos.as_slice()?, neg.as_slice()?);
        let steps = score.iter().zip(pos).zip(neg);
        let step = |((&score, &pos), &neg)| curve::Step { score, pos, neg };
        room(CURVE * score.len())?;
        Ok(Self { inner: curve::Curve::of_steps(steps.map(step).collect()).map_err(to_python)? })
    }

    /// The curve of samples with one step for all negatives between two positives; see `rocmax_core::internals::merged`.
    #[staticmethod]
    fn merged(py: Python<'_>, y_true: LabelArray<'_>, y_score: ScoreArray<'_>, n_threads: usize) -> PyResult<Self> {
        let (labels, scores) = (y_true.labels()?, y_score.column()?);
        let n = labels.n_samples();
        let inner = enter(py, n_threads, Need { work: n / 2, bytes: COUNT * n }, |ctx| {
            Ok(merged(&labels, &scores.wide(), ctx)?.0)
        })?;
        Ok(Self { inner })
    }

    /// Total weight of the positives and of the negatives.
    #[getter]
    fn weights(&self) -> (f64, f64) {
        (self.inner.pos(), self.inner.neg())
    }

    /// The value of a measure.
    fn measure(&self, py: Python<'_>, measure: &Measure) -> PyResult<f64> {
        enter(py, 1, self.walk(), |_| self.inner.measure(measure.0))
    }

    /// The AUC of samples without weights and, by class, the sums of squares of its centred components: those of
    /// `auc_moments`, to the bit.
    fn auc_moments(&self, py: Python<'_>) -> PyResult<(f64, [f64; 2])> {
        enter(py, 1, self.walk(), |_| Ok(self.inner.auc_moments()))
    }

    /// The value of a measure, and by class the sums of squares and of cubes of its centred components.
    fn moments(&self, py: Python<'_>, measure: &Measure) -> PyResult<(f64, [f64; 2], [f64; 2])> {
        let found = enter(py, 1, self.need(), |_| self.inner.moments(measure.0))?;
        Ok((found.estimate, found.squares, found.cubes))
    }

    /// The slope of the line through the curve between normal quantiles; see `rocmax_core::curve::Curve::slope`.
    fn slope(&self, py: Python<'_>, mirrored: bool, each: bool) -> PyResult<Option<f64>> {
        enter(py, 1, self.walk(), |_| Ok(self.inner.slope(mirrored, each)))
    }

    /// Distinct scores, descending, and the weights of the positives and of the negatives that have them.
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Points<'py>> {
        room(size_of_val(self.inner.steps()))?;
        let of = |f: fn(&curve::Step) -> f64| PyArray1::from_iter(py, self.inner.steps().iter().map(f));
        Ok((of(|s| s.score), of(|s| s.pos), of(|s| s.neg)))
    }

    /// The same points as `curve_points` of the samples.
    fn points<'py>(&self, py: Python<'py>, precision_recall: bool, drop: bool) -> PyResult<Points<'py>> {
        let what = what(precision_recall);
        points(py, what, self.inner.steps().len(), |to| {
            enter(py, 1, self.need(), |_| what.of_curve(&self.inner, drop, to))
        })
    }

    /// The threshold of a rule, the number of distinct scores that reach it, and the weight of the positives and of the
    /// negatives there.
    fn cut(&self, py: Python<'_>, rule: &Rule) -> PyResult<(f64, usize, f64, f64)> {
        let found = enter(py, 1, self.walk(), |_| rule.0.cut(&self.inner))?;
        Ok((found.threshold, found.n_called, found.called[0], found.called[1]))
    }
}
