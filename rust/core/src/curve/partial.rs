//! Measures of a range of false positive rates without a sort: the ends of the range are selected, and the pairs
//! between them are counted.

use crate::count::{Counting, PairCounts, Wanted, pair_counts};
use crate::ctx::CHUNK;
use crate::curve::empirical::most_called;
use crate::curve::reach::{enough, sampled_bound};
use crate::curve::sum::{Share, Sum};
use crate::data::float::Score;
use crate::data::labels::{Labels, TILE};
use crate::order::chunk::grown;
use crate::order::collect::{DENSE, bits, positions};
use crate::order::select::nth_highest;
use crate::simd::fast;
use crate::{Ctx, Error, Negatives, RateRange, Result};

/// Memory kept from call to call.
#[derive(Debug, Default)]
pub(crate) struct Room<S> {
    gathered: Vec<S>,
    pub(super) classes: [Vec<S>; 2],
    inside: Vec<S>,
    positive: Vec<bool>,
}

/// The highest scores of each class, down to a false positive rate.
pub(crate) struct Tail<'a, S: Score> {
    /// Scores of the positives and of the negatives.
    classes: &'a mut [Vec<S>; 2],
    /// The scores between the ends of a range, positives first, and whether each is of a positive.
    inside: &'a mut Vec<S>,
    positive: &'a mut Vec<bool>,
    counting: &'a mut Counting<S>,
    n_pos: usize,
    n_neg: usize,
}

/// The block of ties that contains the negative of some rank; empty, at the curve's end, if there are not as many.
#[derive(Debug, Clone, Copy)]
struct Block<S> {
    score: Option<S>,
    /// Positives and negatives above the block.
    above: [usize; 2],
    /// Positives and negatives in the block.
    size: [usize; 2],
}

impl<S> Block<S> {
    /// Twice the areas below and above the curve over the ranks `left` to `right` inside the block, in pairs.
    fn areas(&self, left: f64, right: f64, n_pos: usize) -> [f64; 2] {
        if left >= right {
            return [0.0; 2];
        }
        let [tp, fp] = self.above.map(|n| n as f64);
        let [pos, neg] = self.size.map(|n| n as f64);
        let below = (n_pos - self.above[0] - self.size[0]) as f64;
        let height = |x: f64| tp + pos * ((x - fp) / neg);
        let depth = |x: f64| below + pos * ((fp + neg - x) / neg);
        [height(left) + height(right), depth(left) + depth(right)].map(|ends| (right - left) * ends)
    }

    /// The first and the last rank of the block's negatives.
    fn ranks(&self) -> (f64, f64) {
        (self.above[1] as f64, (self.above[1] + self.size[1]) as f64)
    }
}

impl<'a, S: Score> Tail<'a, S> {
    /// The scores that decide at false positive rates up to `rate`, and a few more; if `mirrored`, with exchanged
    /// classes and negated scores. O(N).
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::NonFinite`] for bad scores, [`Error::Interrupted`].
    pub(crate) fn new(
        labels: &Labels<'_>,
        scores: &[S],
        rate: f64,
        mirrored: bool,
        (room, counting): (&'a mut Room<S>, &'a mut Counting<S>),
        ctx: &Ctx<'_>,
    ) -> Result<Self> {
        Error::check_len("scores", labels.n_samples(), scores.len())?;
        let (n_pos, n_neg) = if mirrored { (labels.n_neg(), labels.n_pos()) } else { (labels.n_pos(), labels.n_neg()) };
        let Room { gathered: room, classes, inside, positive } = room;
        let mut gathered = |bound| {
            let to = grown(room, scores.len());
            let chunks = (0..).step_by(CHUNK).zip(scores.chunks(CHUNK)).zip(to.chunks_mut(CHUNK));
            let parts = ctx.map(chunks.collect(), |((from, scores), to)| {
                let counts = gather(labels, from, scores, (bound, mirrored), to);
                counts.map(|[n_pos, n_neg]| [&to[..n_pos], &to[to.len() - n_neg..]])
            })?;
            let parts = parts
                .into_iter()
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| Error::first_non_finite("scores", scores))?;
            for (class, gathered) in classes.iter_mut().enumerate() {
                gathered.clear();
                for part in &parts {
                    ctx.check()?;
                    gathered.extend_from_slice(part[class]);
                }
            }
            Ok(classes[1].len())
        };
        let bound = sampled_bound(labels, scores, rate, mirrored);
        if gathered(bound)? as f64 <= enough(rate, n_neg) && bound.is_some() {
            gathered(None)?;
        }
        Ok(Self { classes, inside, positive, counting, n_pos, n_neg })
    }

    /// As [`crate::curve::Curve::measure`] of a partial area: the share of `range` below the curve.
    pub(crate) fn partial(mut self, range: RateRange, ctx: &Ctx<'_>) -> Result<Share> {
        let (from, to) = (range.low() * self.n_neg as f64, range.high() * self.n_neg as f64);
        let (first, last) = (self.block(from, ctx)?, self.block(to, ctx)?);
        let (start, end) = (f64::max(from, first.ranks().0), f64::min(to, first.ranks().1));
        let mut areas = vec![first.areas(start, end, self.n_pos)];
        if first.above != last.above {
            areas.push(last.areas(last.ranks().0, to, self.n_pos));
            let between = self.between(first, last, ctx)?.doubled();
            let n_between = last.above[1] - first.above[1] - first.size[1];
            let all = 2 * self.n_pos as u128 * n_between as u128;
            areas.push([between as f64, (all - between) as f64]);
        }
        let [won, lost] = [0, 1].map(|k| areas.iter().map(|areas| areas[k]).collect::<Sum>().value());
        Ok(Share { won, lost })
    }

    /// The mean, over positives and the negatives ranked `j_a + 1 ..= j_b`, of `1[s > t]`.
    pub(crate) fn ranked_partial_auc(mut self, range: RateRange, ctx: &Ctx<'_>) -> Result<f64> {
        let (from, to) = range.ranks(Negatives::Whole(self.n_neg as f64));
        let (first, last) = (self.block(from, ctx)?, self.block(to, ctx)?);
        let (j_a, j_b) = (from as usize, to as usize);
        let inside = usize::min(first.above[1] + first.size[1], j_b) - j_a;
        let mut won = first.above[0] as u128 * inside as u128;
        if first.above != last.above {
            won += last.above[0] as u128 * (j_b - last.above[1]) as u128;
            won += self.between(first, last, ctx)?.won;
        }
        Ok(won as f64 / (self.n_pos as f64 * (j_b - j_a) as f64))
    }

    /// The greatest true positive rate of a threshold whose false positive rate is at most `fpr`.
    pub(crate) fn tpr_at_fpr(self, fpr: f64, ctx: &Ctx<'_>) -> Result<f64> {
        Ok(self.called(fpr, ctx)? as f64 / self.n_pos as f64)
    }

    /// The least false positive rate of a threshold whose true positive rate is at least `tpr`, from a mirrored tail.
    pub(crate) fn fpr_at_tpr(self, tpr: f64, ctx: &Ctx<'_>) -> Result<f64> {
        Ok((self.n_pos - self.called(1.0 - tpr, ctx)?) as f64 / self.n_pos as f64)
    }

    /// The number of positives above the lowest threshold whose false positive rate is at most `fpr`.
    fn called(&self, fpr: f64, ctx: &Ctx<'_>) -> Result<usize> {
        Ok(self.block(most_called(self.n_neg as f64, fpr), ctx)?.above[0])
    }

    /// The block that contains the negative with `rank`, rounded down, negatives before it.
    fn block(&self, rank: f64, ctx: &Ctx<'_>) -> Result<Block<S>> {
        let rank = rank as usize;
        if rank >= self.n_neg {
            return Ok(Block { score: None, above: [self.n_pos, self.n_neg], size: [0, 0] });
        }
        let [pos, neg] = &*self.classes;
        let (parts, ends) = (neg.chunks(CHUNK).collect::<Vec<_>>(), (S::INFINITY.negated(), S::INFINITY));
        let (score, neg_above, neg_tied) = nth_highest(&parts, neg.len(), rank + 1, ends, ctx)?;
        let counts = ctx.map(pos.chunks(CHUNK).collect(), |part| {
            part.iter().fold([0; 2], |[above, size]: [u32; 2], &x| {
                [above.wrapping_add(u32::from(x > score)), size.wrapping_add(u32::from(x == score))]
            })
        })?;
        let [pos_above, pos_tied] = [0, 1].map(|k| counts.iter().map(|part| part[k] as usize).sum());
        Ok(Block { score: Some(score), above: [pos_above, neg_above], size: [pos_tied, neg_tied] })
    }

    /// Counts the pairs of all positives and the negatives between the `first` block and the `last`.
    fn between(&mut self, first: Block<S>, last: Block<S>, ctx: &Ctx<'_>) -> Result<PairCounts> {
        let inside = |&x: &S| first.score.is_none_or(|high| x < high) & last.score.is_none_or(|low| x > low);
        self.inside.clear();
        self.positive.clear();
        for (class, positive) in self.classes.iter().zip([true, false]) {
            for part in class.chunks(CHUNK) {
                ctx.check()?;
                self.inside.extend(part.iter().copied().filter(inside));
            }
            self.positive.resize(self.inside.len(), positive);
        }
        let n_pos = self.positive.partition_point(|&positive| positive);
        let n_neg = self.positive.len() - n_pos;
        let mut counts = PairCounts::default();
        if n_pos > 0 && n_neg > 0 {
            let labels = Labels::of_bools(self.positive, n_pos);
            counts = pair_counts(&labels, self.inside, Wanted::Pairs, self.counting, ctx)?;
        }
        counts.won += (first.above[0] + first.size[0]) as u128 * n_neg as u128;
        Ok(counts)
    }
}

/// Copies the positives that reach a bound to the front of `to`, and the negatives, backwards, to its end. Returns
/// their numbers, or `None` if a score is not finite.
fn gather<S: Score>(
    labels: &Labels<'_>,
    from: usize,
    scores: &[S],
    (bound, mirrored): (Option<S>, bool),
    to: &mut [S],
) -> Option<[usize; 2]> {
    fast!({
        let (mut positive, mut reaches) = ([false; TILE], [0u8; TILE]);
        let (mut next_pos, mut next_neg) = (0usize, to.len().wrapping_sub(1));
        let bound = bound.unwrap_or(S::INFINITY.negated());
        let seen = |x: S| if mirrored { x.negated() } else { x };
        for (tile, from) in scores.chunks(TILE).zip((from..).step_by(TILE)) {
            let positive = &mut positive[..tile.len()];
            labels.fill(from, positive);
            if !tile.iter().fold(true, |finite, x| finite & x.finite()) {
                return None;
            }
            let reaches = &mut reaches[..tile.len()];
            reaches.iter_mut().zip(tile).for_each(|(reaches, &x)| *reaches = u8::from(seen(x) >= bound));
            let mut put = |i: usize, reaches: bool| {
                // Written to both ends, and overwritten where unwanted: no branch to mispredict.
                let (x, positive) = (seen(tile[i]), positive[i] != mirrored);
                to[next_pos] = x;
                to[next_neg] = x;
                next_pos = next_pos.wrapping_add(usize::from(positive & reaches));
                next_neg = next_neg.wrapping_sub(usize::from(!positive & reaches));
            };
            let (blocks, rest) = reaches.as_chunks::<64>();
            for (block, from) in blocks.iter().zip((0..).step_by(64)) {
                let wanted = bits(block);
                if wanted.count_ones() > DENSE {
                    (0..64).for_each(|i| put(from + i, block[i] != 0));
                } else {
                    positions(wanted).for_each(|i| put(from + i, true));
                }
            }
            rest.iter().zip(64 * blocks.len()..).for_each(|(&reaches, i)| put(i, reaches != 0));
        }
        Some([next_pos, to.len().wrapping_sub(1).wrapping_sub(next_neg)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::reach::SAMPLES;
    use crate::curve::{Curve, Measure, Normalize, Scratch, measure};
    use crate::order::misleading;
    use crate::testing::{sample, uniform};

    #[test]
    fn values_are_those_of_the_sorted_curve() {
        let mut next = uniform(5);
        let mut scratch = Scratch::default();
        let pool = crate::testing::pool(2);
        let shapes = [(30, 0.5, 4.0), (400, 0.1, 1e9), (40_000, 0.3, 1e9), (40_000, 0.7, 30.0)].map(|of| (of, 0.0));
        // And of which a sample shows the highest scores, or the lowest, alone.
        let misled = [-1.0, 1.0].map(|shift| ((40_000, 0.3, 1e9), shift));
        for ((n, share, levels), shift) in shapes.into_iter().chain(misled) {
            let (labels, scores) = sample(n, share, levels, &mut next);
            let mut scores: Vec<f64> = scores.iter().map(|x| x - 0.5).collect();
            if shift != 0.0 {
                scores = misleading(n, SAMPLES, shift, &mut next);
            }
            let classes = Labels::new(&labels).unwrap();
            let curve = Curve::new(&classes, &scores, None, &Ctx::serial()).unwrap();
            for (low, high) in [(0.0, 1.0), (0.0, 0.05), (0.01, 0.013), (0.3, 0.61), (0.9, 1.0)] {
                let range = RateRange::new(low, high).unwrap();
                let measures = [
                    Measure::Partial(range, Normalize::McClish),
                    Measure::PartialTpr(range, Normalize::Width),
                    Measure::Ranked(range),
                    Measure::TprAtFpr(low),
                    Measure::TprAtFpr(high),
                    Measure::FprAtTpr(low),
                    Measure::FprAtTpr(high),
                ];
                for what in measures {
                    let mut value = |ctx: Ctx<'_>| {
                        let scores = scores.as_slice().into();
                        measure(&classes, scores, None, what, &mut scratch, &ctx).unwrap()
                    };
                    let (found, expected) = (value(Ctx::serial()), curve.measure(what).unwrap());
                    assert!((found - expected).abs() < 1e-13, "{what:?} of {n}: {found}, not {expected}");
                    let again = value(Ctx::new(pool.as_ref(), None));
                    assert_eq!(found.to_bits(), again.to_bits());
                }
            }
        }
    }
}
