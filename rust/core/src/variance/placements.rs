//! Placements, the components of the AUC: for every sample the share of the other class that it beats, by table
//! look-ups instead of a sort (DeLong, DeLong and Clarke-Pearson, 1988).

use crate::ctx::CHUNK;
use crate::curve::measure::Measure;
use crate::data::Column;
use crate::data::float::Score;
use crate::data::labels::{Labels, TILE};
use crate::simd::fast;
use crate::variance::components::Components;
use crate::variance::covariance::{Covariance, WeightKind, covariance};
use crate::variance::placing::Placer;
use crate::{Ctx, Error, Result};

/// A measure of several models, and its DeLong covariance: by [`Placements`] if they are the components, else from a
/// curve of each model.
///
/// # Errors
/// Those of [`Placements::covariance`], and of [`Components::new`] and [`covariance`].
pub fn covariance_of_models(
    labels: &Labels<'_>,
    models: &[Column<'_>],
    weights: Option<&[f64]>,
    kind: WeightKind,
    measure: Measure,
    kept: &mut Placements,
    ctx: &Ctx<'_>,
) -> Result<Covariance> {
    if Placements::suit(measure, weights) {
        return kept.covariance(labels, models, ctx);
    }
    let of_model = |model: &Column<'_>| Components::new(labels, &model.wide(), weights, measure, ctx);
    let components = ctx.try_map(models.iter().collect(), of_model)?;
    covariance(labels, &components, weights, kind, ctx)
}

/// Memory kept from call to call.
#[derive(Debug, Default)]
pub struct Placements {
    placers: Vec<(Placer<f64>, Placer<f32>, Vec<f32>)>,
    /// For every model `2 #{t < s_i} + #{t = s_i}` of a positive i, `2 #{s > t_j} + #{s = t_j}` of a negative j.
    values: Vec<Vec<u32>>,
}

impl Placements {
    /// Whether placements are the components of a measure; they take a fourth of the time of a curve.
    pub fn suit(measure: Measure, weights: Option<&[f64]>) -> bool {
        measure == Measure::Auc && weights.is_none()
    }

    /// The AUC of every model, and their DeLong covariance. O(N) per model for smooth distributions, O(N K^2) for K
    /// models; holds 4 bytes per sample and model, and 10 per sample and thread.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::NonFinite`] naming `scores`, [`Error::Domain`] for a class of one sample and for
    /// 2^31 samples or more, [`Error::Interrupted`].
    pub fn covariance(&mut self, labels: &Labels<'_>, models: &[Column<'_>], ctx: &Ctx<'_>) -> Result<Covariance> {
        let sizes = [labels.n_pos() as u128, labels.n_neg() as u128];
        for (size, name) in sizes.into_iter().zip(["the number of positives", "the number of negatives"]) {
            if size < 2 {
                return Err(Error::domain(name, "above 1 for a variance", size.to_string()));
            }
        }
        let doubled = self.place(labels, models, ctx)?;
        let pairs = 2 * sizes[0] * sizes[1];
        let estimates = doubled.iter().map(|&won| won as f64 / pairs as f64).collect();
        let k = models.len();
        let sums = products(labels, &self.values, ctx)?;
        let part = |class: usize| {
            let (size, other) = (sizes[class], sizes[1 - class]);
            let scale = (2 * other).pow(2) as f64 * (size * size * (size - 1)) as f64;
            // The sum of centred products, times the size: in integers, nothing cancels.
            let of_pair = |(pair, sums): (usize, &[u128; 2])| {
                let [a, b] = [pair / k, pair % k].map(|model| u128::from(doubled[model]));
                (size * sums[class]) as i128 - (a * b) as i128
            };
            sums.iter().enumerate().map(|pair| of_pair(pair) as f64 / scale).collect()
        };
        Ok(Covariance { estimates, pos: part(0), neg: part(1) })
    }

    /// Sets the values of every model and returns twice the pairs that each wins. Threads share the models and the work
    /// on each.
    fn place(&mut self, labels: &Labels<'_>, models: &[Column<'_>], ctx: &Ctx<'_>) -> Result<Vec<u64>> {
        // Values of up to twice the number of samples have 32 bits.
        if labels.n_samples() >= 1 << 31 {
            let value = labels.n_samples().to_string();
            return Err(Error::domain("the number of samples", "below 2^31 for several models", value));
        }
        let n_placers = models.len().clamp(1, ctx.n_threads());
        self.placers.resize_with(usize::max(n_placers, self.placers.len()), Default::default);
        self.values.resize_with(models.len(), Vec::new);
        let of_one = models.len().div_ceil(n_placers).max(1);
        let parts = models.chunks(of_one).zip(self.values.chunks_mut(of_one)).zip(&mut self.placers);
        let won = ctx.try_map(parts.collect(), |((models, values), (wide, of_narrow, narrow))| {
            let each = models.iter().zip(values).map(|(scores, values)| match scores {
                Column::F32(scores) => of_narrow.place(labels, scores, values, ctx),
                // Single precision makes ties cheaper.
                Column::F64(scores) if f64::narrow(scores, narrow, ctx)? => {
                    of_narrow.place(labels, &narrow[..scores.len()], values, ctx)
                }
                Column::F64(scores) => wide.place(labels, scores, values, ctx),
            });
            each.collect::<Result<Vec<u64>>>()
        })?;
        Ok(won.concat())
    }
}

/// For every two models, row by row, the sums over positives and negatives of the products of their values. O(N K^2).
fn products(labels: &Labels<'_>, values: &[Vec<u32>], ctx: &Ctx<'_>) -> Result<Vec<[u128; 2]>> {
    let k = values.len();
    let pairs: Vec<(usize, usize)> = (0..k).flat_map(|a| (a..k).map(move |b| (a, b))).collect();
    let few = few(usize::max(labels.n_pos(), labels.n_neg()));
    let parts = ctx.map((0..labels.n_samples()).step_by(CHUNK).collect(), |from| {
        let mut sums = vec![[0; 2]; pairs.len()];
        let mut positive = [false; TILE];
        let end = usize::min(from + CHUNK, labels.n_samples());
        for from in (from..end).step_by(TILE) {
            let tile = from..usize::min(from + TILE, end);
            let positive = &mut positive[..tile.len()];
            labels.fill(from, positive);
            for (sums, &(a, b)) in sums.iter_mut().zip(&pairs) {
                let [a, b] = [a, b].map(|model| &values[model][tile.clone()]);
                let found = of_two(a, b, positive, few);
                sums.iter_mut().zip(found).for_each(|(sum, found): (&mut u128, u128)| *sum += found);
            }
        }
        sums
    })?;
    let mut matrix = vec![[0; 2]; k * k];
    for (pair, &(a, b)) in pairs.iter().enumerate() {
        let total = [0, 1].map(|class| parts.iter().map(|sums| sums[pair][class]).sum());
        (matrix[a * k + b], matrix[b * k + a]) = (total, total);
    }
    Ok(matrix)
}

/// How many products of values, at most twice the `size` of a class, may be summed in 64 bits; at most a tile.
fn few(size: usize) -> usize {
    usize::min((u64::MAX / (2 * size as u64).pow(2)) as usize, TILE)
}

/// The sums of the products over positives and over negatives; sums over `few` samples fit 64 bits.
fn of_two(a: &[u32], b: &[u32], positive: &[bool], few: usize) -> [u128; 2] {
    fast!({
        let mut sums = [0; 2];
        let tiles = a.chunks(few).zip(b.chunks(few)).zip(positive.chunks(few));
        for ((a, b), positive) in tiles {
            let (mut all, mut pos) = (0u64, 0u64);
            for ((&a, &b), &positive) in a.iter().zip(b).zip(positive) {
                let product = u64::from(a).wrapping_mul(b.into());
                all = all.wrapping_add(product);
                pos = pos.wrapping_add(product & u64::from(positive).wrapping_neg());
            }
            sums[0] += u128::from(pos);
            sums[1] += u128::from(all - pos);
        }
        sums
    })
}

#[cfg(test)]
#[path = "../../tests/unit/variance_placements.rs"]
mod tests;
