//! Bindings of `rocmax_core::interval`.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use rocmax_core::interval::{self, Draws, Few, Limits, Pair, Part, Span};
use rocmax_core::{Ctx, Error, Result};

use crate::error::to_python;
use crate::gate::{self, Need};
use crate::values::values;
use crate::variance::Array;

/// Work of the limits of one model, and of a draw, as samples that are sorted; bytes of a model's curves.
const WORK: usize = 1 << 10;
const DRAW: usize = 1 << 4;
const BYTES: usize = 1 << 14;
/// The most models that take up a draw at once.
const MODELS: usize = 16;

type Numbers<'py> = PyReadonlyArray1<'py, f64>;
type Model = Box<dyn Limits + Send>;

values! {
    /// What a positive gains by its place; see `rocmax_core::interval::Gain`.
    Gain: interval::Gain,
    precision(prevalence: f64) => interval::Gain::Precision(prevalence);
    log(low: f64, high: f64) => interval::Gain::Log(low, high);
    early(alpha: f64, prevalence: f64, top: f64, base: f64) => interval::Gain::Early { alpha, prevalence, top, base };
}

/// Limits of models; see `rocmax_core::interval::Limits`.
#[pyclass(frozen, module = "rocmax._core")]
pub(crate) struct ScoreLimits {
    models: Vec<Model>,
    variance: Vec<f64>,
    n_threads: usize,
}

/// What `of` returns for numbers below `n`.
fn each<T, F>(py: Python<'_>, n_threads: usize, n: usize, of: F) -> PyResult<Vec<T>>
where
    T: Send,
    F: Fn(usize) -> Result<T> + Sync + Send,
{
    let need = Need { work: n.saturating_mul(WORK), bytes: n.saturating_mul(BYTES) };
    gate::enter(py, n_threads, need, |ctx: &Ctx<'_>| ctx.try_map((0..n).collect(), of))
}

/// Arrays of one length.
fn alike<'a, const N: usize>(arrays: [&'a Numbers<'_>; N]) -> PyResult<[&'a [f64]; N]> {
    let mut found = [&[][..]; N];
    for (found, array) in found.iter_mut().zip(arrays) {
        *found = array.as_slice()?;
    }
    if let Some(other) = found.iter().find(|one| one.len() != found[0].len()) {
        return Err(to_python(Error::Length { name: "limits", expected: found[0].len(), got: other.len() }));
    }
    Ok(found)
}

#[pymethods]
impl ScoreLimits {
    /// Of areas over FPR in [low, high], with their variances; `pos` and `neg` are the parts of either class.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "called from the Python package only")]
    fn area(
        py: Python<'_>,
        share: Numbers<'_>,
        pos: Numbers<'_>,
        neg: Numbers<'_>,
        slope: Numbers<'_>,
        sizes: [f64; 2],
        span: [f64; 2],
        n_threads: usize,
    ) -> PyResult<Self> {
        let [share, pos, neg, slope] = alike([&share, &pos, &neg, &slope])?;
        let area = interval::Area::new(sizes, span[0], span[1]).map_err(to_python)?;
        let part = |k: usize| Part { share: share[k], variance: [pos[k], neg[k]], slope: slope[k] };
        let found = each(py, n_threads, share.len(), |k| area.limits(part(k)))?;
        let (variance, models) = found.into_iter().unzip();
        Ok(Self { models, variance, n_threads })
    }

    /// Of rates at a threshold that the other class sets, with their variances.
    #[staticmethod]
    fn rate(
        py: Python<'_>,
        share: Numbers<'_>,
        shift: Numbers<'_>,
        error: Numbers<'_>,
        n_called: f64,
        n_threads: usize,
    ) -> PyResult<Self> {
        let [share, shift, error] = alike([&share, &shift, &error])?;
        let law = |k: usize| interval::Rate { shift: shift[k], error: error[k], n_called };
        let found = each(py, n_threads, share.len(), |k| law(k).limits(share[k]))?;
        let (variance, models) = found.into_iter().unzip();
        Ok(Self { models, variance, n_threads })
    }

    /// Of mean heights over a span, or of heights at its ends if these are equal, that few negatives decide.
    #[staticmethod]
    fn few(
        py: Python<'_>,
        share: Numbers<'_>,
        slope: Numbers<'_>,
        sizes: [f64; 2],
        span: [f64; 2],
        n_threads: usize,
    ) -> PyResult<Self> {
        let [share, slope] = alike([&share, &slope])?;
        let of_all = Span::new(sizes, span).map_err(to_python)?;
        let model = |k: usize| -> Result<Model> { Ok(Box::new(Few::new(share[k], slope[k], &of_all)?)) };
        Ok(Self { models: each(py, n_threads, share.len(), model)?, variance: vec![], n_threads })
    }

    /// The variances of areas at the estimates.
    #[getter]
    fn variance<'py>(&self, py: Python<'py>) -> Array<'py> {
        PyArray1::from_slice(py, &self.variance)
    }

    /// The lower limits at normal quantiles of shape (n_levels, n_models), then the upper ones.
    fn ends<'py>(&self, py: Python<'py>, z: Numbers<'_>) -> PyResult<Array<'py>> {
        let (z, n) = (z.as_slice()?, self.models.len());
        let of_model = |k: usize| Ok(self.models[k].ends(&z.iter().skip(k).step_by(n).copied().collect::<Vec<_>>()));
        let found = each(py, self.n_threads, n, of_model)?;
        let end = |of: usize| (0..z.len()).map(move |i| (of, i / n, i % n));
        let ends = end(0).chain(end(1)).map(|(of, level, k)| found[k][level][of]);
        Ok(PyArray1::from_vec(py, ends.collect()))
    }

    /// The distances of the estimates from a true value, in standard errors.
    fn distances<'py>(&self, py: Python<'py>, value: f64) -> PyResult<Array<'py>> {
        let found = each(py, self.n_threads, self.models.len(), |k| Ok(self.models[k].distance(value)))?;
        Ok(PyArray1::from_vec(py, found))
    }
}

/// Limits of estimates at levels, and of their differences; see `rocmax_core::interval::Profiles`.
#[pyclass(frozen, module = "rocmax._core")]
pub(crate) struct Profiles(interval::Profiles);

type Places<'py> = PyReadonlyArray1<'py, isize>;

/// What `of` returns for pairs of estimates, each with a number.
fn of_pairs<'py>(
    py: Python<'py>,
    pairs: [&Places<'_>; 2],
    numbers: [&Numbers<'_>; 2],
    of: impl Fn(Pair, f64) -> Result<f64> + Sync + Send,
) -> PyResult<Array<'py>> {
    let [angle, number] = alike(numbers)?;
    let (first, second) = (pairs[0].as_slice()?, pairs[1].as_slice()?);
    if let Some(other) = [first, second].iter().find(|places| places.len() != angle.len()) {
        return Err(to_python(Error::Length { name: "pairs", expected: angle.len(), got: other.len() }));
    }
    let pair = |k: usize| Pair { first: first[k] as usize, second: second[k] as usize, angle: angle[k] };
    Ok(PyArray1::from_vec(py, each(py, 1, angle.len(), |k| of(pair(k), number[k]))?))
}

#[pymethods]
impl Profiles {
    /// Of limits at `level(0)`, `level(1)`, ...
    #[new]
    fn new(n: usize, low: Numbers<'_>, high: Numbers<'_>) -> PyResult<Self> {
        interval::Profiles::new(n, low.as_slice()?, high.as_slice()?).map(Self).map_err(to_python)
    }

    /// The normal quantile of a level.
    #[staticmethod]
    fn level(k: usize) -> f64 {
        interval::Profiles::level(k)
    }

    /// The least differences of pairs, at normal quantiles.
    fn ends<'py>(
        &self,
        py: Python<'py>,
        first: Places<'_>,
        second: Places<'_>,
        angle: Numbers<'_>,
        z: Numbers<'_>,
    ) -> PyResult<Array<'py>> {
        of_pairs(py, [&first, &second], [&angle, &z], |pair, z| self.0.end(pair, z))
    }

    /// The normal quantiles, up to the greatest one, at which the least differences fall below values.
    fn distances<'py>(
        &self,
        py: Python<'py>,
        first: Places<'_>,
        second: Places<'_>,
        angle: Numbers<'_>,
        value: Numbers<'_>,
        farthest: f64,
    ) -> PyResult<Array<'py>> {
        of_pairs(py, [&first, &second], [&angle, &value], |pair, value| self.0.distance(pair, value, farthest))
    }
}

/// The variance of means over the positives on the curves of draws, and the normal quantiles of their quantiles, model
/// after model; see `rocmax_core::interval::mean_tables`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from the Python package only")]
pub(crate) fn mean_tables<'py>(
    py: Python<'py>,
    gains: (PyRef<'_, Gain>, PyRef<'_, Gain>),
    n_pos: usize,
    ranks: [Numbers<'_>; 2],
    positives: Numbers<'_>,
    jumps: Numbers<'_>,
    negatives: Numbers<'_>,
    log_slopes: Numbers<'_>,
    share: Numbers<'_>,
    slope: Numbers<'_>,
    n_threads: usize,
) -> PyResult<Array<'py>> {
    let [share, slope] = alike([&share, &slope])?;
    let [tpr, weights] = alike([&ranks[0], &ranks[1]])?;
    let draws = Draws {
        n_pos,
        tpr,
        weights,
        positives: positives.as_slice()?,
        jumps: jumps.as_slice()?,
        negatives: negatives.as_slice()?,
        log_slopes: log_slopes.as_slice()?,
    };
    let gains = [gains.0.0, gains.1.0];
    let work = share.len().saturating_mul(draws.log_slopes.len()).saturating_mul(DRAW);
    let found = gate::enter(py, n_threads, Need { work, bytes: BYTES }, |ctx| {
        let models: Vec<_> = share.iter().zip(slope).map(|(&share, &slope)| [share, slope]).collect();
        let some = |models: &[[f64; 2]]| interval::mean_tables(gains, draws, models, &ctx.alone());
        let at_once = models.len().div_ceil(ctx.n_threads()).clamp(1, MODELS);
        ctx.try_map(models.chunks(at_once).collect(), some)
    })?;
    let numbers = found.into_iter().flatten().flat_map(|table| [vec![table.variance], table.low, table.high].concat());
    Ok(PyArray1::from_vec(py, numbers.collect()))
}

/// What a function of the core is for each number.
fn mapped<'py>(py: Python<'py>, numbers: &Numbers<'_>, of: fn(f64) -> f64) -> PyResult<Array<'py>> {
    Ok(PyArray1::from_iter(py, numbers.as_slice()?.iter().map(|&x| of(x))))
}

/// Probabilities of the standard normal distribution.
#[pyfunction]
pub(crate) fn normal_cdf<'py>(py: Python<'py>, x: Numbers<'_>) -> PyResult<Array<'py>> {
    mapped(py, &x, interval::cdf)
}

/// Quantiles of the standard normal distribution.
#[pyfunction]
pub(crate) fn normal_quantile<'py>(py: Python<'py>, p: Numbers<'_>) -> PyResult<Array<'py>> {
    mapped(py, &p, interval::quantile)
}

/// What a function of the core is for each pair of numbers.
fn both<'py>(py: Python<'py>, df: &Numbers<'_>, x: &Numbers<'_>, of: fn(f64, f64) -> f64) -> PyResult<Array<'py>> {
    let [df, x] = alike([df, x])?;
    Ok(PyArray1::from_iter(py, df.iter().zip(x).map(|(&df, &x)| of(df, x))))
}

/// Probabilities of Student's distribution.
#[pyfunction]
pub(crate) fn student_cdf<'py>(py: Python<'py>, df: Numbers<'_>, t: Numbers<'_>) -> PyResult<Array<'py>> {
    both(py, &df, &t, interval::student)
}

/// Quantiles of Student's distribution.
#[pyfunction]
pub(crate) fn student_quantile<'py>(py: Python<'py>, df: Numbers<'_>, p: Numbers<'_>) -> PyResult<Array<'py>> {
    both(py, &df, &p, interval::student_quantile)
}

/// Gains at shares of the positives and of the negatives.
#[pyfunction]
pub(crate) fn gains<'py>(py: Python<'py>, gain: &Gain, tpr: Numbers<'_>, fpr: Numbers<'_>) -> PyResult<Array<'py>> {
    let [tpr, fpr] = alike([&tpr, &fpr])?;
    Ok(PyArray1::from_iter(py, tpr.iter().zip(fpr).map(|(&tpr, &fpr)| gain.0.of(tpr, fpr))))
}

/// True positive rates where curves call a share of all samples.
#[pyfunction]
pub(crate) fn rates_of_called<'py>(
    py: Python<'py>,
    share: f64,
    prevalence: f64,
    a: Numbers<'_>,
    b: Numbers<'_>,
) -> PyResult<Array<'py>> {
    let found = interval::called(share, prevalence, a.as_slice()?, b.as_slice()?).map_err(to_python)?;
    Ok(PyArray1::from_vec(py, found))
}

/// The same table of shares on the first and on the last curves.
#[pyfunction]
pub(crate) fn share_table<'py>(py: Python<'py>, first: Numbers<'_>, last: Numbers<'_>) -> PyResult<Array<'py>> {
    let [first, last] = alike([&first, &last])?;
    let table = interval::table(first, last);
    Ok(PyArray1::from_vec(py, [vec![table.variance], table.low, table.high].concat()))
}
