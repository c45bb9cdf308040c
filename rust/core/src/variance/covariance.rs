//! Variances and covariances of measures from their structural components.

use crate::ctx::CHUNK;
use crate::curve::Curve;
use crate::curve::measure::Measure;
use crate::curve::sum::Sum;
use crate::data::labels::Labels;
use crate::simd::fast;
use crate::variance::components::Components;
use crate::{Ctx, Error, Result};

/// What a weight means for variances; estimates do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WeightKind {
    /// A number of equal samples: the variance is that of the repeated data.
    Frequency,
    /// An inverse sampling probability: scaling all weights changes nothing.
    Sampling,
}

/// Second and third central moments of the components of one measure, by class.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Moments {
    /// The value of the measure.
    pub estimate: f64,
    /// `[sum w (V10 - mean)^2, sum w (V01 - mean)^2]`.
    pub squares: [f64; 2],
    /// `[sum w (V10 - mean)^3, sum w (V01 - mean)^3]`.
    pub cubes: [f64; 2],
}

impl Curve {
    /// The moments of the components of `measure`. O(number of distinct scores).
    ///
    /// # Errors
    /// Those of [`Curve::measure`]; [`Error::Domain`] for measures without components.
    pub fn moments(&self, measure: Measure) -> Result<Moments> {
        let (estimate, components) = self.components(measure)?;
        // The weight and the component of each class; both classes in one walk, whose sums do not wait for each other.
        let terms = || self.steps.iter().zip(&components).map(|(step, v)| [(step.pos, v[0]), (step.neg, v[1])]);
        // Relative to one of the values, so that equal values have variance 0.
        let origin = |class: usize| terms().map(|term| term[class]).find(|&(w, _)| w > 0.0).map_or(0.0, |(_, v)| v);
        let origins = [origin(0), origin(1)];
        let (mut sums, mut squares, mut cubes) = ([Sum::default(); 2], [Sum::default(); 2], [Sum::default(); 2]);
        for term in terms() {
            for (class, (w, v)) in term.into_iter().enumerate() {
                sums[class].add(w * (v - origins[class]));
            }
        }
        let mean = |class: usize, total: f64| origins[class] + sums[class].value() / total;
        let means = [mean(0, self.pos), mean(1, self.neg)];
        for term in terms() {
            for (class, (w, v)) in term.into_iter().enumerate() {
                squares[class].add(w * (v - means[class]).powi(2));
                cubes[class].add(w * (v - means[class]).powi(3));
            }
        }
        Ok(Moments { estimate, squares: squares.map(Sum::value), cubes: cubes.map(Sum::value) })
    }
}

/// Covariances of several measures of the same samples.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Covariance {
    /// The measure of every model.
    pub estimates: Vec<f64>,
    /// `n_models` by `n_models`, row by row: the part of the positives, the covariance of the means of V10.
    pub pos: Vec<f64>,
    /// The part of the negatives; the covariance is the sum of both.
    pub neg: Vec<f64>,
}

impl Covariance {
    /// The variance of the estimate of model `k`.
    pub fn variance(&self, k: usize) -> f64 {
        let at = k * (self.estimates.len() + 1);
        self.pos[at] + self.neg[at]
    }
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
    let (mut totals, mut divisors, mut origins) = ([0.0; 2], [0.0; 2], [0; 2]);
    for (class, name) in ["the weight of the positives", "the weight of the negatives"].into_iter().enumerate() {
        let held = || (0..n).filter(|&i| positive[i] == (class == 0) && weight(i) > 0.0);
        let total = held().map(weight).collect::<Sum>().value();
        let size = held().count() as f64;
        totals[class] = total;
        origins[class] = held().next().unwrap_or(0);
        // Weights that sum to 1, up to rounding, leave nothing to divide by.
        divisors[class] = match kind {
            WeightKind::Frequency if total > 1.0 + 1e-9 => total - 1.0,
            WeightKind::Sampling if size > 1.0 => (size - 1.0) / size,
            _ => return Err(Error::domain(name, "above 1 for a variance", total.to_string())),
        };
    }
    let mean = |component: &Components| {
        // Relative to one of the values, so that equal values have variance 0.
        let origins = origins.map(|i| component.values[i]);
        let mut sums = [Sum::default(); 2];
        for (i, value) in component.values.iter().enumerate() {
            let class = usize::from(!positive[i]);
            sums[class].add(weight(i) * (value - origins[class]));
        }
        [0, 1].map(|class| origins[class] + sums[class].value() / totals[class])
    };
    let means = ctx.map(components.iter().collect(), mean)?;
    let values: Vec<&[f64]> = components.iter().map(|c| c.values.as_slice()).collect();
    let share = |i: usize| {
        let share = weight(i) / totals[usize::from(!positive[i])];
        if kind == WeightKind::Frequency { share } else { share * share }
    };
    let sums = products(&positive, &values, &means, &share, ctx)?;
    let part = |class: usize| sums.iter().map(|sums| sums[class] / divisors[class]).collect();
    Ok(Covariance { estimates: components.iter().map(|of| of.estimate).collect(), pos: part(0), neg: part(1) })
}

/// For every two models, the weighted sums over positives and over negatives of the products of their centred values.
/// O(N K^2).
pub(crate) fn products(
    positive: &[bool],
    values: &[&[f64]],
    means: &[[f64; 2]],
    weight: &(impl Fn(usize) -> f64 + Sync),
    ctx: &Ctx<'_>,
) -> Result<Vec<[f64; 2]>> {
    let k = values.len();
    let pairs: Vec<(usize, usize)> = (0..k).flat_map(|a| (a..k).map(move |b| (a, b))).collect();
    let parts = ctx.map((0..positive.len()).step_by(CHUNK).collect(), |from| {
        let mut sums = vec![[Sum::default(); 2]; pairs.len()];
        let (mut centred, mut weights) = (vec![[0.0; TILE]; k], [[0.0; TILE]; 2]);
        let end = usize::min(from + CHUNK, positive.len());
        for from in (from..end).step_by(TILE) {
            let tile = from..usize::min(from + TILE, end);
            let positive = &positive[tile.clone()];
            weights[0][tile.len()..].fill(0.0);
            weights[1][tile.len()..].fill(0.0);
            for (k, (i, &positive)) in tile.clone().zip(positive).enumerate() {
                let weight = weight(i);
                weights[0][k] = if positive { weight } else { 0.0 };
                weights[1][k] = if positive { 0.0 } else { weight };
            }
            for ((to, values), &means) in centred.iter_mut().zip(values).zip(means) {
                centre(&values[tile.clone()], positive, means, to);
            }
            for (sums, &(a, b)) in sums.iter_mut().zip(&pairs) {
                let found = weighted_products(&centred[a], &centred[b], &weights);
                sums.iter_mut().zip(found).for_each(|(sum, found)| sum.add(found));
            }
        }
        sums.into_iter().map(|sums| sums.map(Sum::value)).collect::<Vec<_>>()
    })?;
    let mut matrix = vec![[0.0; 2]; k * k];
    for (pair, &(a, b)) in pairs.iter().enumerate() {
        let total = [0, 1].map(|class| parts.iter().map(|sums| sums[pair][class]).collect::<Sum>().value());
        (matrix[a * k + b], matrix[b * k + a]) = (total, total);
    }
    Ok(matrix)
}

/// Samples whose products are summed at a time.
const TILE: usize = 1 << 10;

/// Writes the values less the mean of their class.
fn centre(values: &[f64], positive: &[bool], means: [f64; 2], to: &mut [f64; TILE]) {
    fast!({
        for ((to, value), &positive) in to.iter_mut().zip(values).zip(positive) {
            *to = value - if positive { means[0] } else { means[1] };
        }
    });
}

/// The sums of the weighted products over positives and over negatives. Weights beyond the end of a short tile are 0.
fn weighted_products(a: &[f64; TILE], b: &[f64; TILE], weights: &[[f64; TILE]; 2]) -> [f64; 2] {
    fast!({
        // In lanes, since the compiler must not reorder a sum.
        let mut sums = [[0.0; 8]; 2];
        let (a, b) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
        let [pos, neg] = weights.each_ref().map(|weights| weights.as_chunks::<8>().0);
        for (((a, b), pos), neg) in a.iter().zip(b).zip(pos).zip(neg) {
            for lane in 0..8 {
                let product = a[lane] * b[lane];
                sums[0][lane] += pos[lane] * product;
                sums[1][lane] += neg[lane] * product;
            }
        }
        sums.map(|lanes| lanes.iter().sum())
    })
}
