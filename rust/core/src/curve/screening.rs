//! Early recognition: how early the positives come in the ranking of all samples, of which few will be examined.
//!
//! The samples, by descending score, are laid side by side on [0, 1], each as wide as its share of the weight. All
//! orders of a tie are equally likely, so that its positives are spread evenly over its place.

use crate::curve::empirical::Curve;
use crate::curve::sum::Sum;

/// A block of ties: its ends, as shares of all samples, and its share of positives.
struct Block {
    from: f64,
    to: f64,
    positive: f64,
}

/// A measure of early recognition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Screening {
    /// The share of the positives found in the first samples, divided by the share of samples, which is given.
    Enrichment(f64),
    /// The mean of `exp(-alpha x)` over the positives, divided by the mean over all samples (Sheridan et al., 2001).
    Rie(f64),
    /// RIE, mapped to [0, 1] (Truchon and Bayly, 2007).
    Bedroc(f64),
}

impl Screening {
    /// The value on a curve. O(number of distinct scores).
    pub(crate) fn of(self, curve: &Curve) -> f64 {
        let share = curve.pos() / (curve.pos() + curve.neg());
        match self {
            Screening::Enrichment(fraction) => {
                let inside = blocks(curve).map(|b| b.positive * f64::max(f64::min(b.to, fraction) - b.from, 0.0));
                f64::min(inside.collect::<Sum>().value() / share, 1.0) / fraction
            }
            Screening::Rie(alpha) => early(curve, alpha) / share / -(-alpha).exp_m1(),
            Screening::Bedroc(alpha) => {
                let (least, most) = (fall(1.0 - share, 1.0, alpha), fall(0.0, share, alpha));
                ((early(curve, alpha) - least) / (most - least)).clamp(0.0, 1.0)
            }
        }
    }
}

fn blocks(curve: &Curve) -> impl Iterator<Item = Block> {
    let total = curve.pos() + curve.neg();
    curve.walk().map(move |placed| {
        let [from, to] = [placed.above, placed.up_to].map(|[pos, neg]| (pos + neg) / total);
        let step = placed.step;
        Block { from, to, positive: step.pos / (step.pos + step.neg) }
    })
}

/// `exp(-alpha from) - exp(-alpha to)`.
fn fall(from: f64, to: f64, alpha: f64) -> f64 {
    (-alpha * from).exp() * -(-alpha * (to - from)).exp_m1()
}

/// The integral of `alpha exp(-alpha x)` over the places of the positives.
fn early(curve: &Curve, alpha: f64) -> f64 {
    blocks(curve).map(|b| b.positive * fall(b.from, b.to, alpha)).collect::<Sum>().value()
}
