//! Structural components: how much every sample contributes to a measure (DeLong, DeLong and Clarke-Pearson, 1988).
//!
//! For a mean over pairs of a kernel k, `V10_i = mean_j k(s_i, t_j)` and `V01_j = mean_i k(s_i, t_j)`. A partial area
//! is no such mean, since its range moves with the negatives; its components are the influence functions of the two
//! empirical distributions, which at [0, 1] are DeLong's: with G the false positive rate and R the curve, `V10_i =
//! min(b - a, max(0, b - G(s_i)))` and `V01_j = R(min(b, max(a, G(t_j))))`, averaged over a block of ties. So are those
//! of the true positive rate at a false positive rate, `V10_i = 1[s_i >= c]` and, up to a factor, the slope of the
//! curve there, `V01_j = 1[t_j < c]` with c the threshold; those of the false positive rate at a true positive rate
//! likewise, with the factor on V10.

use super::curve::Curve;
use super::labels::Labels;
use super::measure::Measure;
use super::score::Score;
use crate::{Ctx, Error, RateRange, Result};

/// A measure and the component of every sample, V10 of the positives and V01 of the negatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Components {
    /// The value of the measure.
    pub estimate: f64,
    /// One component a sample; 0 for samples of weight zero.
    pub values: Vec<f64>,
}

impl Components {
    /// The components of one score vector. O(N log N).
    ///
    /// # Errors
    /// Those of [`Curve::new`]; [`Error::Domain`] for measures without components.
    pub fn new<S: Score>(
        labels: &Labels<'_>,
        scores: &[S],
        weights: Option<&[f64]>,
        measure: Measure,
        ctx: &Ctx<'_>,
    ) -> Result<Self> {
        const ABSENT: u32 = u32::MAX;
        let mut step_of = vec![ABSENT; scores.len()];
        let curve = Curve::build(labels, scores, weights, |sample, step| step_of[sample] = step as u32, ctx)?;
        let of_step = curve.components(measure)?;
        let positive = labels.positives(0, scores.len());
        let value = |(&step, &positive): (&u32, &bool)| match step {
            ABSENT => 0.0,
            step => of_step[step as usize][usize::from(!positive)],
        };
        Ok(Self { estimate: curve.measure(measure), values: step_of.iter().zip(&positive).map(value).collect() })
    }
}

impl Curve {
    /// `[V10, V01]` of the positives and the negatives of every step.
    ///
    /// # Errors
    /// [`Error::Domain`] for [`Measure::Ranked`], which has none.
    pub fn components(&self, measure: Measure) -> Result<Vec<[f64; 2]>> {
        Ok(match measure {
            Measure::Auc => self.partial_components(RateRange::FULL, 1.0),
            Measure::Partial(range, normalize) => self.partial_components(range, normalize.slope(range)),
            Measure::PartialTpr(range, normalize) => {
                let mut mirrored = self.mirrored().partial_components(range, normalize.slope(range));
                mirrored.reverse();
                mirrored.iter().map(|&[v10, v01]| [v01, v10]).collect()
            }
            Measure::Scored => self.scored_components(),
            Measure::Margin(margin) => self.margin_components(margin),
            Measure::TprAtFpr(fpr) => self.rate_components(fpr),
            Measure::FprAtTpr(tpr) => {
                let mut mirrored = self.mirrored().rate_components(1.0 - tpr);
                mirrored.reverse();
                mirrored.iter().map(|&[v10, v01]| [1.0 - v01, 1.0 - v10]).collect()
            }
            Measure::Ranked(_) => {
                return Err(Error::Domain {
                    name: "metric",
                    domain: "one with structural components (use the bootstrap)",
                    value: format!("{measure:?}"),
                });
            }
        })
    }

    /// Of a positive whether it is above the threshold, of a negative whether it is not: the influence of the negatives
    /// is that times the slope of the curve, which is left to the caller.
    fn rate_components(&self, fpr: f64) -> Vec<[f64; 2]> {
        let (_, n_called) = self.called(fpr);
        (0..self.steps.len()).map(|k| if k < n_called { [1.0, 0.0] } else { [0.0, 1.0] }).collect()
    }

    fn partial_components(&self, range: RateRange, scale: f64) -> Vec<[f64; 2]> {
        let rates = self.rates();
        // An end that rounding has moved off a vertex goes back: where the curve rises there, its height would jump.
        let snapped = |x: f64| rates.iter().map(|r| r[1]).find(|&x1| (x1 - x).abs() < 1e-12).unwrap_or(x);
        let (a, b) = (snapped(range.low()), snapped(range.high()));
        let at_low = height(&rates, |[x0, x1, ..]| x0 <= a && a < x1, a);
        let at_high = height(&rates, |[x0, x1, ..]| x0 < b && b <= x1, b);
        let component = |&[x0, x1, y0, y1]: &[f64; 4]| {
            // Shares of the block left of, inside and right of the range; a block of positives only is one point.
            let (left, right) = (x0.clamp(a, b), x1.clamp(a, b));
            let width = x1 - x0;
            if width <= 0.0 {
                return [scale * (b - left), 0.0];
            }
            let inside = right - left;
            let (before, after) = ((left - x0).clamp(0.0, width), (x1 - right).clamp(0.0, width));
            let v10 = before * (b - a) + inside * (b - (left + right) / 2.0);
            let rise = (y1 - y0) / width;
            let middle = y0 + rise * ((left - x0) + (right - x0)) / 2.0;
            let v01 = before * at_low + inside * middle + after * at_high;
            [scale * v10 / width, scale * v01 / width]
        };
        rates.iter().map(component).collect()
    }

    /// `[x0, x1, y0, y1]`: the segment of the curve that every step is.
    fn rates(&self) -> Vec<[f64; 4]> {
        let (mut fp, mut tp) = (0.0, 0.0);
        let segment = |step: &super::Step| {
            let (x0, y0) = (fp, tp);
            fp += step.neg;
            tp += step.pos;
            [x0 / self.neg, f64::min(fp / self.neg, 1.0), y0 / self.pos, f64::min(tp / self.pos, 1.0)]
        };
        self.steps.iter().map(segment).collect()
    }

    fn margin_components(&self, margin: f64) -> Vec<[f64; 2]> {
        let scores = || self.steps.iter().map(|step| step.score);
        // Going down, a positive beats by the margin fewer and fewer negatives, a negative loses to more positives.
        let (mut kept, mut not_beaten) = (self.steps.iter().peekable(), 0.0);
        let v10 = scores().map(|s| {
            while let Some(step) = kept.next_if(|step| s - step.score <= margin) {
                not_beaten += step.neg;
            }
            f64::max(self.neg - not_beaten, 0.0) / self.neg
        });
        let (mut ahead, mut beating) = (self.steps.iter().peekable(), 0.0);
        let v01 = scores().map(|t| {
            while let Some(step) = ahead.next_if(|step| step.score - t > margin) {
                beating += step.pos;
            }
            beating / self.pos
        });
        v10.zip(v01).map(|(v10, v01)| [v10, v01]).collect()
    }

    fn scored_components(&self) -> Vec<[f64; 2]> {
        let mut values = vec![[0.0; 2]; self.steps.len()];
        // Going up by one distinct score, V10 grows by the gap for every negative below; V01 likewise going down.
        let (mut below, mut value) = (0.0, 0.0);
        for k in (0..self.steps.len()).rev() {
            values[k][0] = value;
            below += self.steps[k].neg;
            if k > 0 {
                value += below / self.neg * (self.steps[k - 1].score - self.steps[k].score);
            }
        }
        let (mut above, mut value) = (0.0, 0.0);
        for (k, (step, found)) in self.steps.iter().zip(&mut values).enumerate() {
            found[1] = value;
            above += step.pos;
            if let Some(next) = self.steps.get(k + 1) {
                value += above / self.pos * (step.score - next.score);
            }
        }
        values
    }
}

/// The height of the curve at `x`, in the first segment that `holds` it.
fn height(rates: &[[f64; 4]], holds: impl Fn([f64; 4]) -> bool, x: f64) -> f64 {
    let segment = rates.iter().find(|&&segment| holds(segment));
    segment.map_or(1.0, |[x0, x1, y0, y1]| y0 + (y1 - y0) * ((x - x0) / (x1 - x0)))
}
