//! Variances and covariances of measures from their structural components.

use super::components::Components;
use super::curve::Curve;
use super::labels::Labels;
use super::measure::Measure;
use super::sum::Sum;
use crate::ctx::CHUNK;
use crate::{Ctx, Error, Result};

/// What a weight stands for in a variance; the estimate is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightKind {
    /// So many equal samples: the variance is that of the repeated data.
    Frequency,
    /// An inverse sampling probability: scaling all weights changes nothing.
    Sampling,
}

/// Second and third central moments of the components of one measure, by class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// The value of the measure.
    pub estimate: f64,
    /// `[sum w (V10 - mean)^2, sum w (V01 - mean)^2]`.
    pub squares: [f64; 2],
    /// `[sum w (V10 - mean)^3, sum w (V01 - mean)^3]`.
    pub cubes: [f64; 2],
    /// Total weight of either class.
    pub weights: [f64; 2],
}

impl Curve {
    /// The moments of the components of `measure`. O(number of distinct scores).
    ///
    /// # Errors
    /// Those of [`Curve::components`].
    pub fn moments(&self, measure: Measure) -> Result<Moments> {
        let components = self.components(measure)?;
        let weights = [self.pos, self.neg];
        let mut found = Moments { estimate: self.measure(measure), squares: [0.0; 2], cubes: [0.0; 2], weights };
        for (class, total) in weights.into_iter().enumerate() {
            let terms = || {
                let weight = |step: &super::Step| if class == 0 { step.pos } else { step.neg };
                self.steps.iter().zip(&components).map(move |(step, v)| (weight(step), v[class]))
            };
            let mean = terms().map(|(w, v)| w * v).collect::<Sum>().value() / total;
            found.squares[class] = terms().map(|(w, v)| w * (v - mean).powi(2)).collect::<Sum>().value();
            found.cubes[class] = terms().map(|(w, v)| w * (v - mean).powi(3)).collect::<Sum>().value();
        }
        Ok(found)
    }
}

/// Covariances of several measures of the same samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariance {
    /// `n_models` by `n_models`, row by row: the part of the positives, of the variance of the mean of V10.
    pub pos: Vec<f64>,
    /// The part of the negatives; the covariance is the sum of both.
    pub neg: Vec<f64>,
}

/// The DeLong covariance of measures with the given components. O(N K^2) for K models.
///
/// With frequency weights of total W, the part of a class is `sum w (V_a - mean)(V_b - mean) / (W (W - 1))`; with
/// sampling weights `k/(k-1) sum w^2 (V_a - mean)(V_b - mean) / W^2` for k samples of positive weight.
///
/// # Errors
/// [`Error::Domain`] if a class has too little weight for a variance; [`Error::Interrupted`].
pub fn covariance(
    labels: &Labels<'_>,
    components: &[Components],
    weights: Option<&[f64]>,
    kind: WeightKind,
    ctx: &Ctx<'_>,
) -> Result<Covariance> {
    let n = labels.n_samples();
    let positive = labels.positives(0, n);
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let part = |class: bool| -> Result<Vec<f64>> {
        let of_class = |i: &usize| positive[*i] == class && weight(*i) > 0.0;
        let total = (0..n).filter(of_class).map(weight).collect::<Sum>().value();
        let size = (0..n).filter(of_class).count() as f64;
        let (divisor, power) = match kind {
            WeightKind::Frequency => (total * (total - 1.0), 1),
            WeightKind::Sampling => (total * total * (size - 1.0) / size, 2),
        };
        if divisor <= 0.0 {
            return Err(Error::Domain {
                name: if class { "the weight of the positives" } else { "the weight of the negatives" },
                domain: "above 1 for a variance",
                value: total.to_string(),
            });
        }
        let means: Vec<f64> = components
            .iter()
            .map(|c| (0..n).filter(of_class).map(|i| weight(i) * c.values[i]).collect::<Sum>().value() / total)
            .collect();
        let k = components.len();
        let pairs: Vec<(usize, usize)> = (0..k).flat_map(|a| (a..k).map(move |b| (a, b))).collect();
        let items: Vec<_> = pairs.iter().flat_map(|&ab| (0..n).step_by(CHUNK).map(move |from| (ab, from))).collect();
        let sums = ctx.map(items, |((a, b), from)| {
            let chunk = (from..usize::min(from + CHUNK, n)).filter(of_class);
            let term =
                |i| weight(i).powi(power) * (components[a].values[i] - means[a]) * (components[b].values[i] - means[b]);
            chunk.map(term).collect::<Sum>().value()
        })?;
        let mut matrix = vec![0.0; k * k];
        for (&(a, b), parts) in pairs.iter().zip(sums.chunks(n.div_ceil(CHUNK))) {
            let value = parts.iter().copied().collect::<Sum>().value() / divisor;
            matrix[a * k + b] = value;
            matrix[b * k + a] = value;
        }
        Ok(matrix)
    };
    Ok(Covariance { pos: part(true)?, neg: part(false)? })
}
