//! Walks along a curve: the weights above each step, and the overlap of a segment with a range.

use crate::curve::sum::Sum;

/// One distinct score and the weight of the samples that have it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Step {
    /// The score.
    pub score: f64,
    /// Weight of the positives with this score.
    pub pos: f64,
    /// Weight of the negatives with this score.
    pub neg: f64,
}

/// A step, the weight of each class above it, and the weight up to and including it. At the last step the latter are
/// the totals of the curve to the last bit, since they are the same sums.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed<'a> {
    pub(crate) step: &'a Step,
    pub(crate) above: [f64; 2],
    pub(crate) up_to: [f64; 2],
}

/// The weights so far, which never descend.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Walk {
    pub(super) sums: [Sum; 2],
    pub(crate) values: [f64; 2],
}

impl Walk {
    pub(super) fn all(steps: &[Step]) -> Self {
        let mut walk = Self::default();
        steps.iter().for_each(|step| _ = walk.next(step));
        walk
    }

    #[inline]
    pub(super) fn next<'a>(&mut self, step: &'a Step) -> Placed<'a> {
        let above = self.values;
        self.sums[0].add(step.pos);
        self.sums[1].add(step.neg);
        self.values = self.sums.map(Sum::value);
        Placed { step, above, up_to: self.values }
    }
}

/// The overlap of a range with a segment of the curve, over false positive rates `x0` to `x1`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Overlap {
    /// The parts of the segment before the range, inside and after it; a single point is in one of them.
    pub(crate) parts: [f64; 3],
    /// The ends of the part inside.
    pub(crate) ends: [f64; 2],
    /// The share of the range that lies after a positive of the segment, on average.
    pub(crate) won: f64,
}

impl Overlap {
    pub(crate) fn new([a, b]: [f64; 2], x0: f64, x1: f64) -> Self {
        let (range, width) = (b - a, x1 - x0);
        let [left, right] = [x0, x1].map(|x| x.clamp(a, b));
        if width <= 0.0 {
            // Also for a block whose weight vanishes beside the others' in rounding.
            let parts = [x0 < a, (a..=b).contains(&x0), x0 > b].map(|here| f64::from(u8::from(here)));
            return Self { parts, ends: [left; 2], won: (b - left) / range };
        }
        let before = f64::max(f64::min(x1, a) - x0, 0.0) / width;
        let after = f64::max(x1 - f64::max(x0, b), 0.0) / width;
        let inside = (right - left) / width;
        let won = before + inside * (((b - left) + (b - right)) / range / 2.0);
        Self { parts: [before, inside, after], ends: [left, right], won }
    }
}
