//! Curves of few positives among many negatives: only positives are sorted, and negatives are counted between them.

use crate::curve::measure::Measure;
use crate::curve::{Curve, Step};
use crate::data::labels::Labels;
use crate::order::Entry;
use crate::variance::placing::Placer;
use crate::{Ctx, Error, Result};

/// Negatives for each positive, from which on it is faster than a sort,
const MANY: usize = 4;
/// and the fewest samples: below, both take next to no time.
const LEAST: usize = 1 << 14;

/// Whether the measure and its components depend on [`merged`] steps alone, and these are worth it.
pub(crate) fn merges(measure: Measure, labels: &Labels<'_>, weights: Option<&[f64]>) -> bool {
    let counts = LEAST.max(MANY * labels.n_pos())..1 << 31;
    matches!(measure, Measure::AveragePrecision(_)) && weights.is_none() && counts.contains(&labels.n_neg())
}

/// The curve with one step for all negatives between two positives, which has the score of the lower one, and the step
/// of every sample: the curve is the same, and so is every measure that reads no score. O(N + m log m) for m positives.
///
/// # Errors
/// Those of [`Curve::new`]; [`Error::Domain`](crate::Error) for 2^31 samples or more.
pub fn merged(labels: &Labels<'_>, scores: &[f64], ctx: &Ctx<'_>) -> Result<(Curve, Vec<u32>)> {
    let (n_pos, n_neg) = (labels.n_pos(), labels.n_neg());
    if scores.len() >= 1 << 31 {
        return Err(Error::domain("the number of samples", "below 2^31 to count them", scores.len().to_string()));
    }
    let mut step_of = Vec::new();
    // Of a negative, twice the positives above it plus those that have its score.
    Placer::<f64>::default().place(labels, scores, &mut step_of, ctx)?;
    let positive = labels.positives(0, scores.len());
    let mut counts = vec![0u32; 2 * n_pos + 1];
    for (&place, _) in step_of.iter().zip(&positive).filter(|(_, positive)| !**positive) {
        counts[place as usize] += 1;
    }
    let mut entries = Vec::with_capacity(n_pos);
    entries.extend((0..).zip(scores).zip(&positive).filter(|(_, own)| **own).map(|((i, &s), _)| Entry::new(s, i)));
    ctx.check()?;
    entries.sort_unstable();
    ctx.check()?;
    let (mut steps, mut step_at, mut above) = (Vec::with_capacity(2 * n_pos + 1), vec![0; counts.len()], 0);
    let mut push = |steps: &mut Vec<Step>, score, place: usize, pos: usize| {
        step_at[place] = steps.len() as u32;
        let step = Step { score, pos: pos as f64, neg: counts[place].into() };
        if step.pos + step.neg > 0.0 {
            steps.push(step);
        }
    };
    for block in entries.chunk_by(|a, b| a.ties(*b)) {
        push(&mut steps, block[0].score(), 2 * above, 0);
        push(&mut steps, block[0].score(), 2 * above + block.len(), block.len());
        block.iter().for_each(|entry| step_of[entry.index()] = steps.len() as u32 - 1);
        above += block.len();
    }
    push(&mut steps, f64::MIN, 2 * n_pos, 0);
    for (place, _) in step_of.iter_mut().zip(&positive).filter(|(_, positive)| !**positive) {
        *place = step_at[*place as usize];
    }
    Ok((Curve::from_steps(steps, [n_pos, n_neg])?, step_of))
}

#[cfg(test)]
#[path = "../../tests/unit/variance_merged.rs"]
mod tests;
