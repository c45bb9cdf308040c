//! Early recognition: how early the positives come in the ranking of all samples, of which few will be examined.
//!
//! The samples, by descending score, are laid side by side on [0, 1], each as wide as its share of the weight. All
//! orders of a tie are equally likely, so that its positives are spread evenly over its place.

use crate::curve::empirical::Curve;
use crate::curve::sum::Sum;
use crate::curve::walk::Placed;
use crate::{Error, Result};

/// A block of ties: the weight above it, its own, which a difference of sums would round, and its share of each class.
#[derive(Clone, Copy)]
struct Block {
    above: f64,
    weight: f64,
    classes: [f64; 2],
}

/// A measure of early recognition.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Screening {
    /// The share of the positives found in the first samples, divided by the share of samples, which is given: above 0
    /// and at most 1.
    Enrichment(f64),
    /// The mean of `exp(-alpha x)` over the positives, divided by the mean over all samples (Sheridan et al., 2001), for
    /// an alpha of at least 0.001.
    Rie(f64),
    /// RIE, mapped to [0, 1] (Truchon and Bayly, 2007).
    Bedroc(f64),
}

/// The least alpha: for smaller ones only the rounding of differences would be left.
const LEAST_ALPHA: f64 = 1e-3;

impl Screening {
    /// See `Measure::check`.
    pub(crate) fn check(self) -> Result<()> {
        match self {
            Screening::Enrichment(share) => {
                let holds = (f64::MIN_POSITIVE..=1.0).contains(&share);
                Error::check_number("fraction", "above 0 and at most 1", share, holds)
            }
            Screening::Rie(alpha) | Screening::Bedroc(alpha) => {
                let holds = (LEAST_ALPHA..f64::INFINITY).contains(&alpha);
                Error::check_number("alpha", "finite and at least 0.001", alpha, holds)
            }
        }
    }

    /// The value on a curve. O(number of distinct scores).
    pub(crate) fn of(self, curve: &Curve) -> f64 {
        let (total, sizes) = (curve.pos() + curve.neg(), [curve.pos(), curve.neg()]);
        match self {
            Screening::Enrichment(fraction) => {
                let inside = |b: Block| ((fraction * total - b.above) / b.weight).clamp(0.0, 1.0);
                f64::min(blocks(curve).map(|b| b.classes[0] * inside(b)).collect::<Sum>().value(), 1.0) / fraction
            }
            Screening::Rie(alpha) => early(curve, 0, alpha) / fall(0.0, 1.0, alpha),
            Screening::Bedroc(alpha) => {
                // By the rarer class, beside whose share no difference of the others is rounded.
                let class = usize::from(sizes[1] < sizes[0]);
                let share = sizes[class] / total;
                let (last, first) = (fall(1.0 - share, share, alpha), fall(0.0, share, alpha));
                let value = (early(curve, class, alpha) - last) / (first - last);
                (if class == 0 { value } else { 1.0 - value }).clamp(0.0, 1.0)
            }
        }
    }
}

fn blocks(curve: &Curve) -> impl Iterator<Item = Block> {
    let (pos, neg) = (curve.pos(), curve.neg());
    curve.walk().map(move |Placed { step, above, .. }| {
        let classes = [step.pos / pos, step.neg / neg];
        Block { above: above[0] + above[1], weight: step.pos + step.neg, classes }
    })
}

/// The mean of `alpha exp(-alpha x)` over a width, from `from` on.
fn fall(from: f64, width: f64, alpha: f64) -> f64 {
    let slope = if width > 0.0 { -(-alpha * width).exp_m1() / width } else { alpha };
    (-alpha * from).exp() * slope
}

/// The mean of `alpha exp(-alpha x)` over the places of a class.
fn early(curve: &Curve, class: usize, alpha: f64) -> f64 {
    let total = curve.pos() + curve.neg();
    let mean = |b: Block| b.classes[class] * fall(b.above / total, b.weight / total, alpha);
    blocks(curve).map(mean).collect::<Sum>().value()
}
