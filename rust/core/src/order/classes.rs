//! The samples of each class in order.

use crate::ctx::CHUNK;
use crate::data::labels::Labels;
use crate::order;
use crate::order::Keyed;
use crate::{Ctx, Error, Result};

/// The positives and the negatives, each sorted: `entry` of the key and the index of every sample with a positive
/// weight and a score of at least `least`.
pub(crate) fn sorted_classes<K: Keyed>(
    labels: &Labels<'_>,
    scores: &[f64],
    weights: Option<&[f64]>,
    least: f64,
    entry: impl Fn(u64, usize) -> K + Sync + Send,
    ctx: &Ctx<'_>,
) -> Result<[Vec<K>; 2]> {
    Error::check_len("scores", labels.n_samples(), scores.len())?;
    if let Some(weights) = weights {
        Error::check_weights(labels.n_samples(), weights)?;
    }
    let chunks: Vec<usize> = (0..scores.len()).step_by(CHUNK).collect();
    let mut classes = [labels.n_pos(), labels.n_neg()].map(Vec::with_capacity);
    let mut finite = true;
    let of_chunk = |from: usize| {
        let to = usize::min(from + CHUNK, scores.len());
        let positive = labels.positives(from, to);
        let mut found = [(); 2].map(|()| vec![K::default(); to - from]);
        let (mut sizes, mut finite) = ([0; 2], true);
        for (i, (&score, &positive)) in (from..to).zip(scores[from..to].iter().zip(&positive)) {
            finite &= score.is_finite();
            // Written to both classes and counted in one: no branch.
            let counts = weights.is_none_or(|w| w[i] > 0.0) & (score >= least);
            for (class, own) in [positive, !positive].into_iter().enumerate() {
                found[class][sizes[class]] = entry(order::key(score), i);
                sizes[class] += usize::from(own & counts);
            }
        }
        (found, sizes, finite)
    };
    ctx.fold(chunks, of_chunk, |(found, sizes, all_finite)| {
        finite &= all_finite;
        for (class, (found, size)) in classes.iter_mut().zip(found.iter().zip(sizes)) {
            class.extend_from_slice(&found[..size]);
        }
    })?;
    if !finite {
        return Err(Error::first_non_finite("scores", scores));
    }
    for class in &mut classes {
        order::sort(class, ctx)?;
    }
    Ok(classes)
}
