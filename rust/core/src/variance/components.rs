//! Structural components: what every sample contributes to a measure (DeLong, DeLong and Clarke-Pearson, 1988).
//!
//! For the mean of a kernel k over pairs, `V10_i = mean_j k(s_i, t_j)` and `V01_j = mean_i k(s_i, t_j)`. A partial area
//! is no such mean, since its range moves with the negatives. Its components are the influence functions of the two
//! empirical distributions, which are DeLong's on [0, 1]: with G the false positive rate and R the curve,
//! `V10_i = min(b - a, max(0, b - G(s_i)))` and `V01_j = R(min(b, max(a, G(t_j))))`, averaged over a block of ties. For
//! the TPR at an FPR, with the threshold c, `V10_i = 1[s_i >= c]` and `V01_j = 1[t_j < c]` times the slope of the curve
//! there, which is left to the caller; for the FPR at a TPR likewise, with the factor on V10.

use crate::curve::Curve;
use crate::curve::mean::Mean;
use crate::curve::measure::Measure;
use crate::curve::sum::Sum;
use crate::curve::walk::Overlap;
use crate::data::labels::Labels;
use crate::variance::merged::{merged, merges};
use crate::{Ctx, Error, RateRange, Result};

/// A measure and the component of every sample, V10 of the positives and V01 of the negatives.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Components {
    /// The value of the measure.
    pub estimate: f64,
    /// One component per sample; 0 for samples of weight 0.
    pub values: Vec<f64>,
}

impl Components {
    /// The components of one score vector. O(N log N); for measures of low false positive rates O(N + k log k) for the
    /// k scores that reach them, for average precision of few positives O(N + m log m) for m of them.
    ///
    /// # Errors
    /// Those of [`Curve::new`] and [`Curve::measure`]; [`Error::Domain`] for measures without components.
    pub fn new(
        labels: &Labels<'_>,
        scores: &[f64],
        weights: Option<&[f64]>,
        measure: Measure,
        ctx: &Ctx<'_>,
    ) -> Result<Self> {
        const ABSENT: u32 = u32::MAX;
        measure.check()?;
        let (curve, step_of) = if merges(measure, labels, weights) {
            merged(labels, scores, ctx)?
        } else {
            let mut step_of = vec![ABSENT; scores.len()];
            let place = |sample: usize, step: usize| step_of[sample] = step as u32;
            (Curve::build(measure.reach(), labels, scores, weights, place, ctx)?, step_of)
        };
        let (estimate, of_step) = curve.components(measure)?;
        // Samples of weight 0 have no step, and neither have those of a last step that stands for the rest.
        let of_absent = if weights.is_some() { [0.0; 2] } else { of_step[of_step.len() - 1] };
        let positive = labels.positives(0, scores.len());
        let value = |(&step, &positive): (&u32, &bool)| match step {
            ABSENT => of_absent[usize::from(!positive)],
            step => of_step[step as usize][usize::from(!positive)],
        };
        Ok(Self { estimate, values: step_of.iter().zip(&positive).map(value).collect::<Vec<_>>() })
    }
}

impl Curve {
    /// The value of `measure`, and `[V10, V01]` of the positives and the negatives of every step; an error for measures
    /// without components.
    pub(crate) fn components(&self, measure: Measure) -> Result<(f64, Vec<[f64; 2]>)> {
        measure.check()?;
        let values = match measure {
            Measure::Auc => self.partial_components(RateRange::FULL, 1.0),
            Measure::Partial(range, normalize) => self.partial_components(range, normalize.span(range)),
            Measure::PartialTpr(range, normalize) => {
                let mut mirrored = self.mirrored().partial_components(range, normalize.span(range));
                mirrored.reverse();
                mirrored.iter_mut().for_each(|both| both.reverse());
                mirrored
            }
            Measure::Scored => return self.scored_components(),
            Measure::Margin(margin) => self.margin_components(margin),
            Measure::TprAtFpr(fpr) => self.rate_components(fpr),
            Measure::FprAtTpr(tpr) => {
                let mut mirrored = self.mirrored().rate_components(1.0 - tpr);
                mirrored.reverse();
                mirrored.iter_mut().for_each(|both| *both = [1.0 - both[1], 1.0 - both[0]]);
                mirrored
            }
            Measure::AveragePrecision(prevalence) => return Ok(self.precision_components(prevalence)),
            Measure::Ranked(_) | Measure::Screening(_) => {
                let domain = "one with structural components (use the bootstrap)";
                return Err(Error::domain("measure", domain, format!("{measure:?}")));
            }
        };
        Ok((self.measure(measure)?, values))
    }

    /// Whether a positive is above the threshold, and whether a negative is not.
    fn rate_components(&self, fpr: f64) -> Vec<[f64; 2]> {
        let (_, n_called) = self.called(fpr);
        (0..self.steps.len()).map(|k| if k < n_called { [1.0, 0.0] } else { [0.0, 1.0] }).collect::<Vec<_>>()
    }

    /// With the share p of the positives, and the rates A and B at the k-th score, of which a_k is the share of the
    /// positives that have it, the precision `p A_k / (p A_k + (1 - p) B_k)` plus, and minus, the sums over this score
    /// and those below of `a_k p (1 - p) / (p A_k + (1 - p) B_k)^2` times B_k, and times A_k.
    fn precision_components(&self, prevalence: Option<f64>) -> (f64, Vec<[f64; 2]>) {
        let p = prevalence.unwrap_or(self.pos / (self.pos + self.neg));
        let mut mean = self.precision(prevalence);
        let up_to = |step| {
            mean.add(step);
            mean.walk().values
        };
        let mut values = self.steps.iter().map(up_to).collect::<Vec<_>>();
        let [mut gained, mut lost] = [Sum::default(); 2];
        for (value, step) in values.iter_mut().zip(&self.steps).rev() {
            let mut precision = 0.0;
            // Only positives have a precision, and only their scores a slope.
            if step.pos > 0.0 {
                let [a, b] = [value[0] / self.pos, value[1] / self.neg];
                let called = p * a + (1.0 - p) * b;
                let slope = p * (1.0 - p) * (step.pos / self.pos / called / called);
                gained.add(slope * b);
                lost.add(slope * a);
                precision = p * a / called;
            }
            *value = [precision + gained.value(), -lost.value()];
        }
        (mean.value(), values)
    }

    /// `span` is [`Normalize::span`](crate::curve::Normalize).
    fn partial_components(&self, range: RateRange, span: f64) -> Vec<[f64; 2]> {
        let rates = self.rates();
        // An end that rounding moved off a vertex is put back: where the curve rises there, its height would jump.
        let snapped = |x: f64| {
            let near = rates.iter().map(|r| r[1]).filter(|x1| (x1 - x).abs() < 1e-12 * x);
            near.min_by(|p, q| (p - x).abs().total_cmp(&(q - x).abs())).unwrap_or(x)
        };
        let (low, high) = (range.low(), range.high());
        let [a, b] = Some([snapped(low), snapped(high)]).filter(|[a, b]| a < b).unwrap_or([low, high]);
        let at_low = height(&rates, |[x0, x1, ..]| x0 <= a && a < x1, a);
        let at_high = height(&rates, |[x0, x1, ..]| x0 < b && b <= x1, b);
        let outside = |won: f64, height: f64| [span * won, height * span / (b - a)];
        let component = |&[x0, x1, y0, y1]: &[f64; 4]| {
            // Most segments lie wholly on one side of a narrow range.
            if x0 > b {
                return outside(0.0, at_high);
            }
            if x1 < a {
                return outside(1.0, at_low);
            }
            let Overlap { parts, ends, won } = Overlap::new([a, b], x0, x1);
            let place = if x0 < x1 { ((ends[0] - x0) + (ends[1] - x0)) / 2.0 / (x1 - x0) } else { 0.5 };
            let heights = [at_low, y0 + (y1 - y0) * place.clamp(0.0, 1.0), at_high];
            // Relative to one of the heights, so that the mean of equal heights is exact.
            let first = heights[parts.iter().position(|&part| part > 0.0).unwrap_or(1)];
            let above = parts.iter().zip(heights).map(|(part, height)| part * (height - first)).sum::<f64>();
            [span * won, (first + above) * span / (b - a)]
        };
        rates.iter().map(component).collect::<Vec<_>>()
    }

    /// The segment `[x0, x1, y0, y1]` of the curve at every step.
    fn rates(&self) -> Vec<[f64; 4]> {
        let of = |[y, x]: [f64; 2]| (x / self.neg, y / self.pos);
        let ends = self.walk().map(|placed| (of(placed.above), of(placed.up_to)));
        ends.map(|((x0, y0), (x1, y1))| [x0, x1, y0, y1]).collect::<Vec<_>>()
    }

    fn margin_components(&self, margin: f64) -> Vec<[f64; 2]> {
        let v10 = self.not_beaten(margin).map(|neg| (self.neg - neg) / self.neg);
        let v01 = self.beating(margin).map(|pos| pos / self.pos);
        v10.zip(v01).map(|(v10, v01)| [v10, v01]).collect::<Vec<_>>()
    }

    fn scored_components(&self) -> Result<(f64, Vec<[f64; 2]>)> {
        let unit = self.unit();
        let mut values = vec![[0.0; 2]; self.steps.len()];
        // From one distinct score to the next higher, V10 grows by the gap for every negative below; V01 likewise
        // downwards. Neither ever falls: one that is finite at its end is so everywhere.
        let [mut value, mut below] = [Sum::default(); 2];
        for ((found, step), gap) in values.iter_mut().zip(&self.steps[1..]).zip(self.gaps(unit)).rev() {
            below.add(step.neg);
            let share = below.value() / self.neg;
            value.add(share * gap);
            *found = [value.value() / unit, share];
        }
        let [mut value, mut mean] = [Sum::default(); 2];
        for ((found, placed), gap) in values.iter_mut().zip(self.walk()).zip(self.gaps(unit)) {
            let share = placed.up_to[0] / self.pos;
            mean.add(share * found[1] * gap);
            found[1] = value.value() / unit;
            value.add(share * gap);
        }
        let last = values.len() - 1;
        values[last][1] = value.value() / unit;
        let estimate = mean.value() / unit;
        let finite = [values[0][0], values[last][1], estimate].into_iter().all(f64::is_finite);
        if finite { Ok((estimate, values)) } else { Err(self.too_far_apart()) }
    }
}

/// The height of the curve at `x`, in the first segment that `holds` it.
fn height(rates: &[[f64; 4]], holds: impl Fn([f64; 4]) -> bool, x: f64) -> f64 {
    let segment = rates.iter().find(|&&segment| holds(segment));
    segment.map_or(1.0, |[x0, x1, y0, y1]| y0 + (y1 - y0) * ((x - x0) / (x1 - x0)))
}

#[cfg(test)]
#[path = "../../tests/unit/variance_components.rs"]
mod tests;
