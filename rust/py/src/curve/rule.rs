//! Rules that choose a threshold.

use rocmax_core::curve;

use crate::values::values;

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
