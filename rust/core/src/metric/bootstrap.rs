//! The bootstrap: as many samples as there are, drawn with replacement, class by class or from all at once.
//!
//! Replicate r draws from a stream of its own, made from the seed and r, so that replicates are the same whatever the
//! number of threads; several models share their draws, so that they are paired.

use super::draw::{Draws, Stream};
use super::labels::Labels;
use super::measure::Measure;
use super::replicate::{Ranking, Walk, nameless};
use super::score::Score;
use super::sequence::POSITIVE;
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

/// One model: its walk, and the ranks of its samples by the first model, for which counts are drawn.
struct Model {
    walk: Walk,
    order: Option<Vec<u32>>,
}

/// `measure` of every model, for every replicate: `n_resamples` rows of `models.len()` values.
///
/// O(N log N) once a model, then O(N) a replicate and model: for the area under the curve or a part of it below
/// 1 ns a score. The counts of the draws are exactly multinomial, and all sums over them are integers.
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
    let (classes, models) = prepared(labels, models, weights, measure, ctx)?;
    let n = classes.len();
    let draws = match resampling.scheme {
        Scheme::Stratified => Draws::new(classes.clone()),
        Scheme::Pooled => Draws::new(vec![POSITIVE; n]),
    };
    let batch = |from: usize, to: usize| -> Result<Vec<f64>> {
        let (mut counts, mut of_model, mut reversed) = (vec![0u8; n], vec![0u8; n], Vec::new());
        let mut values = Vec::with_capacity((to - from) * models.len());
        for replicate in from..to {
            let mut stream = Stream::new(resampling.seed, replicate as u64);
            let has = |counts: &[u8], class: u8| counts.iter().zip(&classes).any(|(&c, &of)| c > 0 && of == class);
            loop {
                draws.fill(&mut stream, &mut counts, ctx)?;
                if has(&counts, POSITIVE) && has(&counts, 0) {
                    break;
                }
            }
            for model in &models {
                ctx.check()?;
                let counts = match &model.order {
                    None => &counts,
                    Some(order) => {
                        of_model.iter_mut().zip(order).for_each(|(to, &rank)| *to = counts[rank as usize]);
                        &of_model
                    }
                };
                values.push(model.walk.measure(counts, &mut reversed)?);
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

/// Sorts every model: the classes by rank of the first, and all models.
fn prepared<S: Score>(
    labels: &Labels<'_>,
    models: &[&[S]],
    weights: Option<&[f64]>,
    measure: Measure,
    ctx: &Ctx<'_>,
) -> Result<(Vec<u8>, Vec<Model>)> {
    if let ([scores], None) = (models, weights)
        && let Some((classes, walk)) = nameless(labels, scores, measure, ctx)?
    {
        return Ok((classes, vec![Model { walk, order: None }]));
    }
    let (mut ranks, mut classes) = (vec![0u32; labels.n_samples()], Vec::new());
    let mut prepared = Vec::with_capacity(models.len());
    for scores in models {
        let ranking = Ranking::new(labels, scores, ctx)?;
        let order = if prepared.is_empty() {
            classes = ranking.classes();
            ranking.order.iter().zip(0..).for_each(|(&sample, rank)| ranks[sample as usize] = rank);
            None
        } else {
            Some(ranking.order.iter().map(|&sample| ranks[sample as usize]).collect())
        };
        prepared.push(Model { walk: ranking.walk(measure, weights), order });
    }
    Ok((classes, prepared))
}
