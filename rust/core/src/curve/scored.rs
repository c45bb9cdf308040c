//! Measures that read the scores themselves and not only their order (Wu, Flach and Ferri, 2007).

use crate::curve::empirical::Curve;
use crate::curve::sum::{Share, Sum};
use crate::curve::walk::Step;
use crate::{Error, Result};

impl Curve {
    /// The weighted mean over pairs of `max(0, s - t)`. Ties contribute 0.
    pub(crate) fn scored_auc(&self) -> Result<f64> {
        // The distance of two neighbouring scores counts for every pair that straddles them: nothing cancels.
        let shares =
            self.walk().zip(self.below()).map(|(placed, below)| placed.up_to[0] / self.pos * (below / self.neg));
        let unit = self.unit();
        let mean = shares.zip(self.gaps(unit)).map(|(share, gap)| share * gap).collect::<Sum>().value() / unit;
        if mean.is_finite() { Ok(mean) } else { Err(self.too_far_apart()) }
    }

    /// A power of two that makes differences of the scores finite.
    pub(crate) fn unit(&self) -> f64 {
        let ends = self.steps.first().zip(self.steps.last());
        if ends.is_none_or(|(high, low)| (high.score - low.score).is_finite()) { 1.0 } else { 0.25 }
    }

    /// The distance from each score to the next, times `unit`.
    pub(crate) fn gaps(&self, unit: f64) -> impl DoubleEndedIterator<Item = f64> + ExactSizeIterator {
        self.steps.windows(2).map(move |pair| pair[0].score * unit - pair[1].score * unit)
    }

    /// The weight of the negatives below each step.
    fn below(&self) -> Vec<f64> {
        let (mut below, mut sum) = (vec![0.0; self.steps.len()], Sum::default());
        for (below, step) in below.iter_mut().zip(&self.steps).rev() {
            *below = sum.value();
            sum.add(step.neg);
        }
        below
    }

    pub(crate) fn too_far_apart(&self) -> Error {
        let score = |step: Option<&Step>| step.map_or(f64::NAN, |step| step.score);
        let domain = "small enough for the mean of their differences to be finite (rescale them)";
        Error::domain("scores", domain, format!("{:e} to {:e}", score(self.steps.last()), score(self.steps.first())))
    }

    /// The weighted mean over pairs of `1[s - t > margin]`, the difference in floating-point arithmetic.
    pub(crate) fn margin_auc(&self, margin: f64) -> f64 {
        let won = self.steps.iter().zip(self.beating(margin)).map(|(step, pos)| step.neg * pos);
        let lost = self.steps.iter().zip(self.not_beaten(margin)).map(|(step, neg)| step.pos * neg);
        Share { won: won.collect::<Sum>().value(), lost: lost.collect::<Sum>().value() }.value()
    }

    /// The weight of the positives that beat each score by more than the margin.
    pub(crate) fn beating(&self, margin: f64) -> impl ExactSizeIterator<Item = f64> {
        let (mut ahead, mut sum) = (self.steps.iter().peekable(), Sum::default());
        self.steps.iter().map(move |t| {
            while let Some(step) = ahead.next_if(|step| step.score - t.score > margin) {
                sum.add(step.pos);
            }
            sum.value()
        })
    }

    /// The weight of the negatives that each score does not beat by more than the margin.
    pub(crate) fn not_beaten(&self, margin: f64) -> impl ExactSizeIterator<Item = f64> {
        let (mut ahead, mut sum) = (self.steps.iter().peekable(), Sum::default());
        self.steps.iter().map(move |s| {
            while let Some(step) = ahead.next_if(|step| s.score - step.score <= margin) {
                sum.add(step.neg);
            }
            sum.value()
        })
    }
}
