//! Ranks of the positives of one model: they are sorted and indexed, and negatives counted by look-ups.

use crate::order::cells::{Cells, Class, Task};
use crate::order::sorted::Sorted;
use crate::{Ctx, Error, Problem, Result};

/// Scores ranked at a time.
const TILE: usize = 1 << 10;

/// For each positive, the lowest first, how many negatives are below it or tied, and how many below it; then both for
/// none. O(N) for smooth distributions, O(N log N) for all.
pub(crate) fn negatives_below(problem: &Problem, scores: &[f64], ctx: &Ctx<'_>) -> Result<Vec<[u32; 2]>> {
    let (mut cells, mut sorted) = (Cells::default(), Sorted::default());
    cells.gather(problem, scores.into(), &[problem.n_neg()], &mut sorted.map, ctx).map_err(|error| match error {
        Error::NonFinite { index, value, .. } => Error::NonFinite { name: "y_score", index, value },
        other => other,
    })?;
    sorted.build(&cells.positives(), ctx)?;
    // Nothing is written there: what is found is counted.
    let mut room = vec![0.0; scores.len()];
    let tallies = ctx.map(cells.tasks(&Class::Negatives(0..1), &mut room), |task| tally(&sorted, &task))?;
    let mut counts = vec![[0; 2]; sorted.scores().len() + 1];
    for tally in tallies {
        ctx.check()?;
        for (count, more) in counts[tally.first..].iter_mut().zip(tally.counts) {
            *count = [count[0] + more[0], count[1] + more[1]];
        }
    }
    let mut sum = [0u32; 2];
    for count in &mut counts {
        sum = [sum[0].wrapping_add(count[0]), sum[1].wrapping_add(count[1])];
        *count = sum;
    }
    Ok(counts)
}

/// Of the negatives of a task, how many have so many positives below, and how many so many below or tied; both from
/// `first` positives on.
struct Tally {
    first: usize,
    counts: Vec<[u32; 2]>,
}

fn tally(sorted: &Sorted, task: &Task<'_>) -> Tally {
    let n = task.iter().map(|(scores, _)| scores.len()).sum();
    let (mut below, mut up_to) = (vec![0u32; n], vec![0u32; n]);
    let mut from = 0;
    for scores in task.iter().flat_map(|(scores, _)| scores.chunks(TILE)) {
        let tile = from..from + scores.len();
        from = tile.end;
        let (below, up_to) = (&mut below[tile.clone()], &mut up_to[tile]);
        sorted.below(scores, 0.0, below);
        let tied = |(score, &rank): (&f64, &u32)| sorted.scores().get(rank as usize).is_some_and(|s| s == score);
        if scores.iter().zip(&*below).map(tied).fold(false, |any, tied| any | tied) {
            sorted.up_to(scores, up_to);
        } else {
            up_to.copy_from_slice(below);
        }
    }
    let first = below.iter().copied().min().unwrap_or(0);
    let last = up_to.iter().copied().max().unwrap_or(0);
    let mut counts = vec![[0u32; 2]; (last - first) as usize + 1];
    for (&below, &up_to) in below.iter().zip(&up_to) {
        let count = &mut counts[below.wrapping_sub(first) as usize][0];
        *count = count.wrapping_add(1);
        let count = &mut counts[up_to.wrapping_sub(first) as usize][1];
        *count = count.wrapping_add(1);
    }
    Tally { first: first as usize, counts }
}
