//! A rare class made one table of its scores as they come, which the other asks where it lies.

use super::lanes::{Cells, Ranking};
use super::rank_sums::{Found, Ranks};
use super::sums::{PairCounts, Wanted};
use super::table::{Table, fit};
use crate::metric::labels::{Labels, TILE};
use crate::metric::score::Score;
use crate::order::fast;
use crate::{Ctx, Result, alloc};

/// The larger class asks a table of the other, where it lies; `None` for a score that is not finite.
pub(crate) fn count<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    wanted: Wanted,
    least_share: usize,
    ctx: &Ctx<'_>,
) -> Result<Option<PairCounts>> {
    let asking = usize::from(labels.n_pos() < labels.n_neg());
    let grain = scores.len().div_ceil(4 * ctx.n_threads()).clamp(least_share, 1 << 22);
    let parts: Vec<(usize, &[S])> = (0..).step_by(grain).zip(scores.chunks(grain)).collect();
    let pick = |(from, part)| fast(Pick { labels, from, scores: part, positive: asking == 1 });
    let Some(picked) = ctx.map(parts.clone(), pick)?.into_iter().collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let picked = alloc::concat(&picked);
    let mut table = Table::default();
    table.fill(fit(&picked), &picked);
    let ask = |(from, scores): (usize, &[S])| {
        let (mut asks, mut cells, mut found) = ([false; TILE], [0; TILE], [0u64; 2]);
        let mut ranks = Ranks::of(if wanted == Wanted::Squares { table.len() } else { 0 });
        let mut counter = ranks.counter();
        for (scores, from) in scores.chunks(TILE).zip((from..).step_by(TILE)) {
            let (asks, cells) = (&mut asks[..scores.len()], &mut cells[..scores.len()]);
            labels.fill(from, asks);
            fast(Cells { map: table.map, scores, cells: &mut *cells });
            // Scores that do not ask weigh 0: no branch to mispredict.
            let weight = |k: usize| u64::from(asks[k] == (asking == 0));
            match wanted {
                Wanted::Pairs => table.each(cells, scores, |k, rank| {
                    found = [0, 1].map(|end| found[end].wrapping_add(weight(k).wrapping_mul(rank[end].into())));
                }),
                Wanted::Squares => table.each(cells, scores, |k, rank| counter.weigh(rank, weight(k))),
            }
        }
        let [below, up_to] = found.map(u128::from);
        (Found { below, up_to }, ranks)
    };
    let (mut found, mut ranks) = (Found::default(), Ranks::of(table.len()));
    for (more, more_ranks) in ctx.map(parts, ask)? {
        found.add(more);
        ranks.add(&more_ranks);
    }
    let (found, squares) = if wanted == Wanted::Squares { ranks.sums() } else { (found, [0; 2]) };
    Ok(Some(PairCounts::of_found(asking, [labels.n_pos(), labels.n_neg()], found, squares)))
}

/// Copies the scores of one class; `None` if any score is not finite.
struct Pick<'a, S> {
    labels: &'a Labels<'a>,
    from: usize,
    scores: &'a [S],
    positive: bool,
}

impl<S: Score> pulp::NullaryFnOnce for Pick<'_, S> {
    type Output = Option<Vec<S>>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let mut positive = [false; TILE];
        let mut to = [S::default(); TILE];
        let mut picked = Vec::new();
        for (tile, from) in self.scores.chunks(TILE).zip((self.from..).step_by(TILE)) {
            let positive = &mut positive[..tile.len()];
            self.labels.fill(from, positive);
            if !tile.iter().fold(true, |finite, x| finite & x.finite()) {
                return None;
            }
            // All are written, each over the last if that was not picked: no branch to mispredict.
            let mut n = 0usize;
            for (&x, &positive) in tile.iter().zip(&*positive) {
                to[n & (TILE - 1)] = x;
                n = n.wrapping_add(usize::from(positive == self.positive));
            }
            alloc::append(&mut picked, &to[..n]);
        }
        Some(picked)
    }
}
