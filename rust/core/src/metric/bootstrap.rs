//! The bootstrap: as many samples as there are, drawn with replacement, class by class or from all at once.
//!
//! Replicate r draws from a stream of its own, made from the seed and r, so that replicates are the same whatever the
//! number of threads; several models share their draws, so that they are paired.

use super::draw::{Draws, Stream};
use super::labels::Labels;
use super::measure::Measure;
use super::replicate::{Buffers, Ranking, Walk, nameless};
use super::score::Score;
use crate::{Ctx, Result};

/// What stays fixed from replicate to replicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// The size of either class.
    Stratified,
    /// The number of samples only; a draw of a single class is drawn again.
    Pooled,
}

/// How often and how samples are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resampling {
    /// What stays fixed.
    pub scheme: Scheme,
    /// Number of replicates.
    pub n_resamples: usize,
    /// Seed of all streams.
    pub seed: u64,
}

/// Batches of replicates a thread gets, which share their memory.
pub(super) const BATCHES: usize = 4;

/// One model: its walk, and where the samples of each class stand in the order of the first model.
struct Model {
    walk: Walk,
    order: Option<[Vec<u32>; 2]>,
}

/// `measure` of every model, for every replicate: `n_resamples` rows of `models.len()` values.
///
/// O(N log N) once a model, then O(N) a replicate and model: for the area under the curve or a part of it 1 to 2 ns a
/// score. The counts of the draws are exactly multinomial, and all sums over them are integers.
///
/// # Errors
/// Those of [`crate::metric::Curve::new`]; with weights [`crate::Error::OneClass`] for a replicate without weight in a
/// class.
pub fn bootstrap<S: Score>(
    labels: &Labels<'_>,
    models: &[&[S]],
    weights: Option<&[f64]>,
    measure: Measure,
    resampling: Resampling,
    ctx: &Ctx<'_>,
) -> Result<Vec<f64>> {
    let models = prepared(labels, models, weights, measure, ctx)?;
    let (n_pos, n) = (labels.n_pos(), labels.n_samples());
    let draws = match resampling.scheme {
        Scheme::Stratified => vec![(0..n_pos, Draws::new(n_pos as u32)), (n_pos..n, Draws::new(labels.n_neg() as u32))],
        Scheme::Pooled => vec![(0..n, Draws::new(n as u32))],
    };
    let batch = |from: usize, to: usize| -> Result<Vec<f64>> {
        let (mut counts, mut of_model) = (vec![0u8; n], [Vec::new(), Vec::new()]);
        let mut buffers = Buffers::default();
        let mut values = Vec::with_capacity((to - from) * models.len());
        for replicate in from..to {
            let mut stream = Stream::new(resampling.seed, replicate as u64);
            let both = |counts: &[u8]| [&counts[..n_pos], &counts[n_pos..]].iter().all(|c| c.iter().any(|&c| c > 0));
            loop {
                for (part, draws) in &draws {
                    draws.fill(&mut stream, &mut counts[part.clone()], ctx)?;
                }
                if both(&counts) {
                    break;
                }
            }
            let counts = [&counts[..n_pos], &counts[n_pos..]];
            for model in &models {
                ctx.check()?;
                let Some(order) = &model.order else {
                    values.push(model.walk.measure(counts, &mut buffers)?);
                    continue;
                };
                for ((to, order), from) in of_model.iter_mut().zip(order).zip(counts) {
                    to.clear();
                    to.extend(order.iter().map(|&rank| from[rank as usize]));
                }
                values.push(model.walk.measure([&of_model[0], &of_model[1]], &mut buffers)?);
            }
        }
        Ok(values)
    };
    let total = resampling.n_resamples;
    let n_batches = usize::min(BATCHES * ctx.n_threads(), total);
    let ends = |k: usize| (k * total / n_batches, (k + 1) * total / n_batches);
    let rows = ctx.map((0..n_batches).map(ends).collect(), |(from, to)| batch(from, to))?;
    Ok(rows.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

/// Sorts every model; samples are numbered by their rank in the first, whose walk then reads the counts in order.
fn prepared<S: Score>(
    labels: &Labels<'_>,
    models: &[&[S]],
    weights: Option<&[f64]>,
    measure: Measure,
    ctx: &Ctx<'_>,
) -> Result<Vec<Model>> {
    if let ([scores], None) = (models, weights)
        && let Some(walk) = nameless(labels, scores, measure, ctx)?
    {
        return Ok(vec![Model { walk, order: None }]);
    }
    let mut numbers = vec![0u32; labels.n_samples()];
    let mut prepared = Vec::with_capacity(models.len());
    for scores in models {
        let ranking = Ranking::new(labels, scores, ctx)?;
        let order = if prepared.is_empty() {
            for class in &ranking.members {
                class.iter().zip(0..).for_each(|(&sample, rank)| numbers[sample as usize] = rank);
            }
            None
        } else {
            Some(ranking.members.each_ref().map(|class| class.iter().map(|&i| numbers[i as usize]).collect()))
        };
        prepared.push(Model { walk: ranking.walk(measure, weights), order });
    }
    Ok(prepared)
}
