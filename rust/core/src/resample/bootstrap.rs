//! The bootstrap: samples are drawn with replacement, as many as there are, by class or from all. A sample with a
//! frequency weight is drawn as that many samples.
//!
//! Replicate r uses a random stream of its own, from the seed and r, so that replicates do not depend on the number of
//! threads. Models share the draws, so that they are paired.

use std::cmp::Ordering;

use crate::ctx::CHUNK;
use crate::curve::measure::Measure;
use crate::curve::walk::Step;
use crate::data::Column;
use crate::data::labels::Labels;
use crate::resample::multinomial::{Draws, Stream};
use crate::resample::ranks::POSITIVE;
use crate::resample::replicate::{Ranking, Walk, repeated};
use crate::resample::weighted_draws::Units;
use crate::variance::WeightKind;
use crate::{Ctx, Error, Result};

/// What stays fixed from replicate to replicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// The size of each class.
    Stratified,
    /// The number of samples only; a replicate with one class is drawn again.
    Pooled,
}

/// How samples are drawn, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resampling {
    /// What stays fixed.
    pub scheme: Scheme,
    /// The meaning of weights: equal samples are drawn one by one, probabilities stay with their sample.
    pub weight_kind: WeightKind,
    /// Number of replicates.
    pub n_resamples: usize,
    /// Seed of all streams.
    pub seed: u64,
}

/// Batches of replicates per thread; the replicates of a batch share buffers.
const BATCHES: usize = 4;

/// One model: what its replicates walk through, and the ranks of its samples in the first model, for which counts are
/// drawn.
pub(super) struct Model<W> {
    pub(super) walk: W,
    pub(super) order: Option<Vec<u32>>,
}

/// `measure` of every model, for every replicate: `n_resamples` rows of `models.len()` values.
///
/// O(N log N) per model, then O(N) per replicate and model, for the area under the curve or a part of it less than 1 ns
/// per score. Counts of draws are exactly multinomial, and without weights all sums over them are integers.
///
/// # Errors
/// Those of [`crate::curve::measure`]; with weights [`crate::Error::OneClass`] for a replicate without weight in a
/// class.
pub fn bootstrap(
    labels: &Labels<'_>,
    models: &[Column<'_>],
    weights: Option<&[f64]>,
    measure: Measure,
    resampling: Resampling,
    ctx: &Ctx<'_>,
) -> Result<Vec<f64>> {
    Error::check_count("n_resamples", resampling.n_resamples)?;
    measure.check()?;
    let models = models.iter().map(Column::wide).collect::<Vec<_>>();
    let models = &models.iter().map(|scores| &scores[..]).collect::<Vec<_>>()[..];
    if let Some(weights) = weights {
        Error::check_weights(labels.n_samples(), weights)?;
        if resampling.weight_kind == WeightKind::Frequency {
            let (order, classes, models) = prepared(labels, models, Some(weights), Ranking::distinct, ctx)?;
            let weights = order.iter().map(|&sample| weights[sample as usize]).collect::<Vec<_>>();
            let units = Units::new(&weights, &strata(&classes, resampling.scheme))?;
            let fill = |stream: &mut Stream, counts: &mut [f64]| units.fill(stream, counts, ctx);
            let value = |steps: &Vec<Step>, masses: &[f64], _: &mut Vec<f64>| {
                repeated(steps, |block| masses[block].iter().sum())?.measure(measure)
            };
            return rows(&models, &classes, resampling, fill, value, ctx);
        }
    }
    let (_, classes, models) = prepared(labels, models, weights, |ranking| ranking.walk(measure, weights), ctx)?;
    let draws = Draws::new(strata(&classes, resampling.scheme));
    let fill = |stream: &mut Stream, counts: &mut [u8]| draws.fill(stream, counts, ctx);
    rows(&models, &classes, resampling, fill, Walk::measure, ctx)
}

/// The samples that are drawn together, as a mask of the first stratum.
pub(super) fn strata(classes: &[u8], scheme: Scheme) -> Vec<u8> {
    match scheme {
        Scheme::Stratified => classes.to_vec(),
        Scheme::Pooled => vec![POSITIVE; classes.len()],
    }
}

/// All replicates, row by row: `fill` draws the counts of the samples by rank in the first model; `measure` gets them
/// by rank in a model, and a buffer.
pub(super) fn rows<T, W, F, M, R>(
    models: &[Model<W>],
    classes: &[u8],
    resampling: Resampling,
    fill: F,
    measure: M,
    ctx: &Ctx<'_>,
) -> Result<Vec<R>>
where
    R: Copy + Send,
    T: Copy + Default + PartialOrd,
    W: Sync,
    F: Fn(&mut Stream, &mut [T]) -> Result<()> + Sync,
    M: Fn(&W, &[T], &mut Vec<T>) -> Result<R> + Sync,
{
    let batch = |from: usize, to: usize| -> Result<Vec<R>> {
        let [mut counts, mut of_model] = [(); 2].map(|()| vec![T::default(); classes.len()]);
        let (mut values, mut room) = (Vec::with_capacity((to - from).saturating_mul(models.len())), Vec::new());
        for replicate in from..to {
            let mut stream = Stream::new(resampling.seed, replicate as u64);
            let has = |counts: &[T], class: u8| {
                counts.iter().zip(classes).any(|(&count, &of)| count > T::default() && of == class)
            };
            loop {
                fill(&mut stream, &mut counts)?;
                if has(&counts, POSITIVE) && has(&counts, 0) {
                    break;
                }
            }
            for model in models {
                ctx.check()?;
                let counts = match &model.order {
                    None => &counts,
                    Some(order) => {
                        for (to, order) in of_model.chunks_mut(CHUNK).zip(order.chunks(CHUNK)) {
                            ctx.check()?;
                            to.iter_mut().zip(order).for_each(|(to, &rank)| *to = counts[rank as usize]);
                        }
                        &of_model
                    }
                };
                values.push(measure(&model.walk, counts, &mut room)?);
            }
        }
        Ok(values)
    };
    in_batches(resampling.n_resamples, batch, ctx)
}

/// The results of `batch` for `total` replicates, from and to given ones, in order.
pub(super) fn in_batches<R: Clone + Send>(
    total: usize,
    batch: impl Fn(usize, usize) -> Result<Vec<R>> + Sync + Send,
    ctx: &Ctx<'_>,
) -> Result<Vec<R>> {
    let n_batches = usize::min(BATCHES * ctx.n_threads(), total);
    let ends = |k: usize| (k * total / n_batches, (k + 1) * total / n_batches);
    Ok(ctx.try_map((0..n_batches).map(ends).collect(), |(from, to)| batch(from, to))?.concat())
}

/// The samples by rank of the first model, their classes, and all models.
pub(super) type Prepared<W> = (Vec<u32>, Vec<u8>, Vec<Model<W>>);

/// Sorts every model. Ties are ordered by the other models and by weight, so that draws do not depend on the order of
/// the rows.
pub(super) fn prepared<W>(
    labels: &Labels<'_>,
    models: &[&[f64]],
    weights: Option<&[f64]>,
    walk: impl Fn(&Ranking) -> W,
    ctx: &Ctx<'_>,
) -> Result<Prepared<W>> {
    let mut ranks = vec![0u32; labels.n_samples()];
    let (mut first, mut classes, mut prepared) = (Vec::new(), Vec::new(), Vec::with_capacity(models.len()));
    for scores in models {
        let mut ranking = Ranking::new(labels, scores, ctx)?;
        let order = if prepared.is_empty() {
            if models.len() > 1 || weights.is_some() {
                let compare = |a: usize, b: usize| {
                    let by_scores =
                        models[1..].iter().map(|scores| scores[a].partial_cmp(&scores[b]).unwrap_or(Ordering::Equal));
                    let by_weight = weights.map(|w| w[a].total_cmp(&w[b]));
                    by_scores.chain(by_weight).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
                };
                ranking.order_ties(compare, ctx)?;
            }
            for (order, from) in ranking.order.chunks(CHUNK).zip((0..).step_by(CHUNK)) {
                ctx.check()?;
                order.iter().zip(from..).for_each(|(&sample, rank)| ranks[sample as usize] = rank);
            }
            (first, classes) = (ranking.order.to_vec(), ranking.classes());
            None
        } else {
            ranking.order_ties(|a, b| ranks[a].cmp(&ranks[b]), ctx)?;
            Some(ranking.order.iter().map(|&sample| ranks[sample as usize]).collect::<Vec<_>>())
        };
        prepared.push(Model { walk: walk(&ranking), order });
    }
    Ok((first, classes, prepared))
}
