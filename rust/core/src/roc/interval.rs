//! Intervals on the log-odds scale; Newcombe's and Wilson's where the components show no variance.

use super::slope;
use super::wilson::wilson;
use crate::curve::{Curve, Measure, Normalize};
use crate::interval::{cdf, quantile, student_quantile};
use crate::{Error, RateRange, Result};

/// Shares that differ from 0 or 1 by less are 0 or 1.
const ROUNDING: f64 = 1e-13;
/// With fewer samples in a class the variance of its components is unreliable.
const FEW: f64 = 5.0;
/// With fewer degrees of freedom quantiles overflow.
const LEAST_FREEDOM: f64 = 0.01;
/// Average precision: the least variance that is believed, as a share of a proportion's. With all positives last its
/// components vary, but not with the scores.
const LEAST_VARIANCE: f64 = 1e-3;

/// A measure with its confidence interval, by [`Roc::interval`](crate::Roc::interval).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Interval {
    /// The value of the measure.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// See [`Roc::interval`](crate::Roc::interval); `plain` curves are of samples without weights.
pub(super) fn interval(curve: &Curve, plain: bool, measure: Measure, level: f64) -> Result<Interval> {
    Error::check_number("level", "above 0 and below 1", level, level > 0.0 && level < 1.0)?;
    // Finite, for a level that rounds to 1 too.
    let (measure, z) = (whole(measure), quantile(f64::min(0.5 + level / 2.0, 1.0 - f64::EPSILON / 2.0)));
    let (sizes, bounds) = ([curve.pos(), curve.neg()], bounds(measure));
    let of_pairs = matches!(measure, Measure::Auc | Measure::Margin(_));
    if of_pairs && f64::min(sizes[0], sizes[1]) == 1.0 {
        let estimate = curve.measure(measure)?;
        let standard_error = newcombe_variance(estimate, sizes).sqrt();
        let [low, high] = newcombe(estimate, sizes, z);
        return Ok(Interval { estimate, standard_error, low, high });
    }
    for (size, name) in sizes.into_iter().zip(["the weight of the positives", "the weight of the negatives"]) {
        Error::check_number(name, "above 1 for a variance", size, size > 1.0 + 1e-9)?;
    }
    let factors = slope::factors(curve, measure)?;
    let (estimate, squares) = if plain && measure == Measure::Auc {
        curve.auc_moments()
    } else {
        let found = curve.moments(measure)?;
        (found.estimate, found.squares)
    };
    let parts = [0, 1].map(|k| factors[k].powi(2) * squares[k] / sizes[k] / (sizes[k] - 1.0));
    let variance = parts[0] + parts[1];
    check_variance(variance)?;
    let [low, high] = match log_odds(estimate, parts, sizes, bounds, z) {
        Some(ends) if of_pairs && sizes.iter().all(|&size| size >= FEW) => ends,
        _ if of_pairs => newcombe(estimate, sizes, z),
        Some(ends) if variance >= believed(measure, estimate) / f64::min(sizes[0], sizes[1]) => ends,
        _ if bounds[1].is_finite() => of_share(estimate, f64::min(sizes[0], sizes[1]), bounds, z),
        _ => return Err(Error::domain("scores", "such that the scored AUC varies", "a variance of 0")),
    };
    Ok(Interval { estimate, standard_error: variance.sqrt(), low, high })
}

/// The measure itself, or the AUC if it is its other name.
fn whole(measure: Measure) -> Measure {
    match measure {
        Measure::Partial(range, _) | Measure::PartialTpr(range, _) if range == RateRange::FULL => Measure::Auc,
        other => other,
    }
}

/// The least and the greatest value of a measure.
fn bounds(measure: Measure) -> [f64; 2] {
    match measure {
        Measure::Partial(range, how) | Measure::PartialTpr(range, how) => match how {
            Normalize::McClish => [1.0 - how.span(range), 1.0],
            Normalize::None | Normalize::Width => [0.0, how.span(range)],
        },
        Measure::Scored => [0.0, f64::INFINITY],
        _ => [0.0, 1.0],
    }
}

/// The greatest difference of two values.
pub(super) fn span(measure: Measure) -> f64 {
    let [least, most] = bounds(whole(measure));
    most - least
}

/// Checks that squared scores have not overflowed.
pub(super) fn check_variance(variance: f64) -> Result<()> {
    Error::check_number("scores", "small enough for a variance", variance, variance.is_finite())
}

/// The variance below which the classes are separated, for one sample.
fn believed(measure: Measure, estimate: f64) -> f64 {
    if matches!(measure, Measure::AveragePrecision(_)) { LEAST_VARIANCE * estimate * (1.0 - estimate) } else { 0.0 }
}

/// Log-odds of the estimate -+ t standard errors, or its logarithm without an upper bound; `None` if it has none or
/// does not vary.
fn log_odds(estimate: f64, parts: [f64; 2], sizes: [f64; 2], [least, most]: [f64; 2], z: f64) -> Option<[f64; 2]> {
    let variance = parts[0] + parts[1];
    let bounded = most.is_finite();
    let span = if bounded { most - least } else { 1.0 };
    let share = (estimate - least) / span;
    let (rest, rounding) = if bounded { (1.0 - share, ROUNDING) } else { (1.0, 0.0) };
    if !(share > rounding && rest > rounding && variance > (rounding * span).powi(2)) {
        return None;
    }
    // Satterthwaite's: a part of 0 spends none, even of one sample.
    let spent = |k: usize| if parts[k] > 0.0 { (parts[k] / variance).powi(2) / (sizes[k] - 1.0) } else { 0.0 };
    let freedom = 1.0 / (spent(0) + spent(1));
    let reach = if freedom > LEAST_FREEDOM { -student_quantile(freedom, cdf(-z)) } else { f64::INFINITY };
    let reach = reach * variance.sqrt() / (span * share * rest);
    let end = |reach: f64| {
        let share = if bounded { 1.0 / (1.0 + (-(share / rest).ln() - reach).exp()) } else { share * reach.exp() };
        least + span * share
    };
    Some([f64::min(end(-reach), estimate), f64::max(end(reach), estimate)])
}

/// Hanley and McNeil's variance of an AUC for exponential scores, made symmetric in the classes (Newcombe, 2006,
/// method 5).
fn newcombe_variance(auc: f64, [m, n]: [f64; 2]) -> f64 {
    let more = ((m + n) / 2.0 - 1.0) * ((1.0 - auc) / (2.0 - auc) + auc / (1.0 + auc));
    auc * (1.0 - auc) * (1.0 + more) / (m * n)
}

/// The ends of all A with `|A - auc| <= z sqrt(V(A))`, V Newcombe's variance.
fn newcombe(auc: f64, sizes: [f64; 2], z: f64) -> [f64; 2] {
    [0.0, 1.0].map(|bound| {
        let held = |a: f64| z * newcombe_variance(a, sizes).sqrt() >= (a - auc).abs();
        if held(bound) {
            return bound;
        }
        let (mut inner, mut outer) = (auc, bound);
        for _ in 0..60 {
            let middle = f64::midpoint(inner, outer);
            if held(middle) { inner = middle } else { outer = middle }
        }
        inner
    })
}

/// Wilson's interval of a measure between two bounds, as of a share of `size` samples.
fn of_share(estimate: f64, size: f64, [least, most]: [f64; 2], z: f64) -> [f64; 2] {
    let share = ((estimate - least) / (most - least)).clamp(0.0, 1.0);
    let [low, high] = wilson(share * size, size, z).map(|end| least + (most - least) * end);
    [f64::min(low, estimate), f64::max(high, estimate)]
}
