//! The slope of the curve at a rate, by which the components of one class are multiplied.
//!
//! For R, the true positive rate at a false positive rate f of n negatives, the curve is a line of slope b between
//! normal quantiles near f, so that `dR/df = b phi(Phi^-1(R)) / phi(Phi^-1(q))` at `q = (floor(n f) + 1) / (n + 1)`,
//! the mean of the true false positive rate at that threshold. b is the quotient B of the curve's rise between the ends
//! of Wilson's interval of f (z = 2) moved towards 1, `(1 + c B) / (1 + c)`, c the number of positives or of negatives
//! between the ends, the smaller. The false positive rate at a true positive rate is 1 - R with the classes exchanged.

use super::wilson::wilson;
use crate::curve::{Curve, Measure};
use crate::interval::quantile;
use crate::{Error, Result};

/// Half the width of the window for the slope, in standard errors.
const WINDOW: f64 = 2.0;
/// The greatest rate below 1.
const LAST: f64 = 1.0 - f64::EPSILON / 2.0;

/// The factors of the components of positives and of negatives, `[1, 1]` but for rates.
pub(super) fn factors(curve: &Curve, measure: Measure) -> Result<[f64; 2]> {
    let (m, n) = (curve.pos(), curve.neg());
    measure.check()?;
    match measure {
        Measure::TprAtFpr(fpr) => {
            Error::check_number("fpr", "at least 0 and below 1 for a variance", fpr, fpr < 1.0)?;
            Ok([1.0, steepness(|x| curve.tpr_at_fpr(x), fpr, m, n)])
        }
        Measure::FprAtTpr(tpr) => {
            Error::check_number("tpr", "above 0 and at most 1 for a variance", tpr, tpr > 0.0)?;
            Ok([steepness(|x| 1.0 - curve.fpr_at_tpr(1.0 - x), f64::min(1.0 - tpr, LAST), n, m), 1.0])
        }
        _ => Ok([1.0; 2]),
    }
}

/// dR/df at a rate of a class of `n`, R the share of a class of `m`.
fn steepness(height: impl Fn(f64) -> f64, rate: f64, m: f64, n: f64) -> f64 {
    // Rates that are neither 0 nor 1.
    let inner = |height: f64| quantile(f64::min((height * m + 0.5) / (m + 1.0), LAST));
    let true_rate = |x: f64| f64::min(f64::min((n * x + 1e-9).floor() + 1.0, n) / (n + 1.0), LAST);
    let ends = wilson(rate * n, n, WINDOW).map(|end| end.clamp(0.0, 1.0));
    let [low, high] = ends.map(&height);
    let [first, last] = ends.map(true_rate);
    let (across, count) = (last - first, f64::min((high - low) * m, (last - first) * (n + 1.0)));
    let run = quantile(last) - quantile(first);
    let quotient = if across > 0.0 { (inner(high) - inner(low)) / run } else { 1.0 };
    let slope = (1.0 + count * quotient) / (1.0 + count);
    let (to, from) = (inner(height(rate)), quantile(true_rate(rate)));
    slope * ((from * from - to * to) / 2.0).exp()
}
