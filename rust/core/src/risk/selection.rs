//! The shares of the highest negatives, smoothed around a threshold.

use super::weights::Weights;

/// Bisection steps to the threshold, at most; `shrink` corrects what error is left.
const STEPS: usize = 60;

/// The share of each negative that counts among the highest: 0 below `threshold - width / 2`, 1 above
/// `threshold + width / 2`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Selection {
    /// The score with a share of one half.
    pub threshold: f64,
    /// The width over which the share rises; 0 if a tie is cut, all of which then has one share.
    pub width: f64,
    /// The share of a tie at the threshold, if the width is 0.
    pub tied: f64,
    /// Scales the shares to sum to at most `top`.
    shrink: f64,
}

impl Selection {
    pub(super) const ALL: Self = Self { threshold: f64::NEG_INFINITY, width: 0.0, tied: 1.0, shrink: 1.0 };

    /// Selects the highest of `scores`, of total weight `top`, with at most this width; `scores` are these and some
    /// more.
    pub(super) fn new<W: Weights>(scores: &mut [(f64, W::One)], top: f64, width: f64) -> Self {
        let lowest = scores.iter().map(|score| score.0).fold(f64::INFINITY, f64::min);
        let nth = W::nth(scores, top);
        let weight = |of: &dyn Fn(f64) -> bool| -> f64 {
            let mut sum = W::Sum::default();
            scores.iter().filter(|score| of(score.0)).for_each(|&(_, own)| sum += own);
            sum.into()
        };
        // Negatives outside `scores` have no share.
        let width = width.min(nth - lowest);
        if !width.is_normal() {
            // All above a tie, and a share of the tie.
            let (above, tied) = (weight(&|t| t > nth), weight(&|t| t == nth));
            return Self { threshold: nth, tied: ((top - above) / tied).clamp(0.0, 1.0), ..Self::ALL };
        }
        let near = scores.iter().copied().filter(|&(t, _)| t >= nth - width && t <= nth + width).collect::<Vec<_>>();
        let sure = weight(&|t| t > nth + width);
        Self::around(nth, width, top, |of| sure + near.iter().map(|&(t, own)| own.into() * of.share(t)).sum::<f64>())
    }

    /// The threshold near `nth`, the `top`-th score, at which the shares sum to `top`; `sum` computes their sum.
    fn around(nth: f64, width: f64, top: f64, sum: impl Fn(&Self) -> f64) -> Self {
        // At the upper end all scores with a share are above the `top`-th; at the lower end the highest `top` count
        // fully.
        let (mut low, mut high) = (nth - width / 2.0, nth + width / 2.0);
        let mut found = Self { threshold: high, width, ..Self::ALL };
        for _ in 0..STEPS {
            let threshold = f64::midpoint(low, high);
            let middle = Self { threshold, ..found };
            let excess = sum(&middle) - top;
            found = middle;
            if excess.abs() <= 1e-9 * top {
                break;
            }
            *(if excess > 0.0 { &mut low } else { &mut high }) = threshold;
        }
        Self { shrink: f64::min(1.0, top / sum(&found)), ..found }
    }

    /// The share of a negative of score `t`.
    #[inline]
    pub fn share(&self, t: f64) -> f64 {
        if self.width > 0.0 {
            self.shrink * ((t - self.threshold) / self.width + 0.5).clamp(0.0, 1.0)
        } else if t == self.threshold {
            self.tied
        } else {
            f64::from(u8::from(t > self.threshold))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::weights::{One, Unit};
    use crate::testing::uniform;

    #[test]
    fn shares_sum_to_the_weight_selected_whether_smoothed_or_a_tie_is_cut() {
        let mut next = uniform(3);
        for levels in [4.0, 1e9] {
            for (top, width) in [(20, 0.0), (20, 0.1), (50, 0.4), (77, 1e-3)] {
                let mut scores: Vec<(f64, _)> = (0..200).map(|_| ((levels * next()).floor() / levels, One)).collect();
                let found = Selection::new::<Unit>(&mut scores, f64::from(top), width);
                let sum = scores.iter().map(|&(t, _)| found.share(t)).sum::<f64>();
                assert!((sum / f64::from(top) - 1.0).abs() < 1e-8, "{levels} {top} {width}: {sum}");
            }
        }
    }
}
