//! What an oracle sees of weighted samples: both classes in order, with running sums of their weights.

use std::ops::{Add, Range};

use super::{Hinge, Rank, Selection, Sum, Sums};
use crate::order::{self, Entry, select};
use crate::problem::Weights;
use crate::{Ctx, Problem, RateRange, Result, Scores, alloc};

/// Samples handled in one go.
const GRAIN: usize = 1 << 14;

/// A sum of weights from one end of the order on, and of the weights times their scores.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    weight: f64,
    moment: f64,
}

/// One class in order, with running sums.
#[derive(Debug, Default)]
struct Ordered {
    scores: Vec<f64>,
    index: Vec<u32>,
    /// Of the first 0, 1, 2, ... samples.
    marks: Vec<Mark>,
}

impl Ordered {
    /// Scores are taken relative to `origin` in the moments, which keeps their differences accurate.
    fn fill(&mut self, entries: impl ExactSizeIterator<Item = Entry>, weights: &[f64], origin: f64) {
        self.scores.clear();
        self.index.clear();
        self.marks.clear();
        alloc::reserve(&mut self.scores, entries.len());
        alloc::reserve(&mut self.index, entries.len());
        alloc::reserve(&mut self.marks, entries.len() + 1);
        let mut mark = Mark::default();
        self.marks.push(mark);
        for entry in entries {
            let (score, weight) = (entry.score(), weights[entry.index()]);
            mark.weight += weight;
            mark.moment += weight * (score - origin);
            self.scores.push(score);
            self.index.push(entry.index() as u32);
            self.marks.push(mark);
        }
    }

    /// The weight of the k-th sample.
    fn weight(&self, k: usize) -> f64 {
        self.marks[k + 1].weight - self.marks[k].weight
    }

    /// The sums over the first samples that have `weight`, the last of them in part.
    fn mark_at(&self, weight: f64, origin: f64) -> Mark {
        let k = self.marks.partition_point(|mark| mark.weight <= weight) - 1;
        let part = self.scores.get(k).map_or(0.0, |score| (weight - self.marks[k].weight) * (score - origin));
        Mark { weight, moment: self.marks[k].moment + part }
    }

    /// Of negatives, highest first: the shares of those that weigh `top`.
    fn selection(&self, top: f64, width: f64) -> Selection {
        let last = self.scores.len() - 1;
        let nth = self.scores[self.marks[1..].partition_point(|mark| mark.weight < top).min(last)];
        // No negative that is not among these may have a share.
        let width = width.min(nth - self.scores[last]);
        let from = |score: f64| self.scores.partition_point(|&t| t > score);
        let up_to = |score: f64| self.scores.partition_point(|&t| t >= score);
        if !width.is_normal() {
            let (above, tied) = (self.marks[from(nth)].weight, self.marks[up_to(nth)].weight);
            return Selection::of_tie(nth, f64::min(1.0, (top - above) / (tied - above)));
        }
        let near = from(nth + width)..up_to(nth - width);
        let sum = |of: &Selection| near.clone().map(|k| self.weight(k) * of.share(self.scores[k])).sum::<f64>();
        Selection::around(nth, width, top, |of| self.marks[near.start].weight + sum(of))
    }
}

/// Buffers of [`WeightedPairs`].
#[derive(Debug, Default)]
pub(crate) struct Weighted {
    scratch: Vec<Entry>,
    pos: Ordered,
    neg: Ordered,
    found: [Vec<f64>; 2],
}

/// The positives by ascending score, the highest negatives by descending score, and the ends of the range among them.
///
/// A negative takes up as much of the order as it weighs, so that the end of a range may cut through it.
#[derive(Debug, Clone, Copy)]
struct Order<'a> {
    pos: &'a Ordered,
    neg: &'a Ordered,
    /// For each [`Rank`], what comes before it.
    ends: [Mark; 4],
    origin: f64,
}

/// The samples in order, and the derivatives found so far.
#[derive(Debug)]
pub(crate) struct WeightedPairs<'a> {
    order: Order<'a>,
    pos_found: &'a mut [f64],
    neg_found: &'a mut [f64],
}

impl Weighted {
    /// Sorts the positives, and the highest negatives that weigh `most`; samples without weight are left out.
    pub(crate) fn order(
        &mut self,
        problem: &Problem,
        weights: &Weights,
        scores: Scores<'_>,
        (range, most): (RateRange, f64),
        ctx: &Ctx<'_>,
    ) -> Result<WeightedPairs<'_>> {
        let (low, high) = problem.ranks(range);
        let bound = select::weighted_bound(problem.labels(), &weights.values, scores, most / weights.neg);
        let collected = |bound| order::entries(problem.labels(), Some(&weights.values), scores, bound, ctx);
        let sum = |entries: &[Entry]| entries.iter().map(|entry| weights.values[entry.index()]).sum::<f64>();
        let [mut neg_entries, mut pos_entries] = collected(bound)?;
        let mut weight = sum(&neg_entries);
        if bound > f64::NEG_INFINITY && weight < most {
            [neg_entries, pos_entries] = collected(f64::NEG_INFINITY)?;
            weight = sum(&neg_entries);
        }
        let Self { scratch, pos, neg, found: [pos_found, neg_found] } = self;
        order::sort_entries(&mut pos_entries, scratch, ctx)?;
        order::sort_entries(&mut neg_entries, scratch, ctx)?;
        let origin = pos_entries[pos_entries.len() / 2].score();
        pos.fill(pos_entries.iter().rev().copied(), &weights.values, origin);
        neg.fill(neg_entries.iter().copied(), &weights.values, origin);
        for (found, class) in [(&mut *pos_found, &*pos), (&mut *neg_found, &*neg)] {
            found.clear();
            alloc::resize(found, class.scores.len(), 0.0);
        }
        let ends = [0.0, low, high, f64::max(high, weight)].map(|weight| neg.mark_at(weight, origin));
        Ok(WeightedPairs { order: Order { pos, neg, ends, origin }, pos_found, neg_found })
    }
}

/// How many of the first `most` of `scores` are `within`; all of those come first. Fast where it is close to `most`.
fn count(scores: &[f64], most: usize, within: impl Fn(f64) -> bool) -> usize {
    for n in (most.saturating_sub(8)..most).rev() {
        if within(scores[n]) {
            return n + 1;
        }
    }
    scores[..most.saturating_sub(8)].partition_point(|&s| within(s))
}

/// What one sample is paired with: the weight of the others up to the first mark, and of those up to the second as far
/// as they exceed the margin, of which `excess` makes the sum of their weight and moment.
fn paired([whole, all]: [Mark; 2], excess: impl Fn(f64, f64) -> f64, width: f64) -> f64 {
    let weight = all.weight - whole.weight;
    whole.weight + (excess(weight, all.moment - whole.moment) / width).clamp(0.0, weight)
}

/// Has `visit` see stretches of `scores`: the number of the first score, the scores, and what is found for them.
fn visit<T: Send>(
    scores: &[f64],
    found: &mut [f64],
    visit: impl Fn(usize, &[f64], &mut [f64]) -> T + Sync + Send,
    ctx: &Ctx<'_>,
) -> Result<Vec<T>> {
    let stretches = scores.chunks(GRAIN).zip(found.chunks_mut(GRAIN)).zip((0..).step_by(GRAIN));
    ctx.map(stretches.collect(), |((scores, found), first)| visit(first, scores, found))
}

impl Order<'_> {
    /// What comes before the k-th negative, inside `ranks`.
    fn before(&self, k: usize, ranks: &Range<Rank>) -> Mark {
        let (from, to, mark) = (self.ends[ranks.start as usize], self.ends[ranks.end as usize], self.neg.marks[k]);
        match mark.weight {
            weight if weight <= from.weight => from,
            weight if weight >= to.weight => to,
            _ => mark,
        }
    }

    /// The weight of the k-th negative inside `ranks`.
    fn share(&self, k: usize, ranks: &Range<Rank>) -> f64 {
        self.before(k + 1, ranks).weight - self.before(k, ranks).weight
    }
}

impl WeightedPairs<'_> {
    /// Mean over the pairs of the range of 1[s > t].
    pub(crate) fn partial_auc(&mut self, ctx: &Ctx<'_>) -> Result<f64> {
        let (order, ranks) = (self.order, Rank::Low..Rank::High);
        let n_pos = order.pos.scores.len();
        let won = visit(
            &order.neg.scores,
            self.neg_found,
            |first, scores, _| {
                let (mut rank, mut won) = (n_pos, 0.0);
                for (&t, k) in scores.iter().zip(first..) {
                    rank = count(&order.pos.scores, rank, |s| s <= t);
                    won += order.share(k, &ranks) * (order.pos.marks[n_pos].weight - order.pos.marks[rank].weight);
                }
                won
            },
            ctx,
        )?;
        Ok(self.scale() * won.iter().sum::<f64>())
    }

    /// Writes the derivatives to `coef`, zero for samples that were left out.
    pub(crate) fn finish(self, coef: &mut [f64]) {
        coef.fill(0.0);
        for (class, found) in [(self.order.pos, self.pos_found), (self.order.neg, self.neg_found)] {
            for (&i, &found) in class.index.iter().zip(&*found) {
                coef[i as usize] = found;
            }
        }
    }
}

impl Sums for WeightedPairs<'_> {
    fn scale(&self) -> f64 {
        let [_, low, high, _] = self.order.ends;
        1.0 / (self.order.pos.marks[self.order.pos.scores.len()].weight * (high.weight - low.weight))
    }

    fn hinge(&mut self, ranks: Range<Rank>, margin: f64, scale: f64, ctx: &Ctx<'_>) -> Result<Sum> {
        let order = self.order;
        let (pos, neg) = (order.pos, order.neg);
        let totals = visit(
            &neg.scores,
            self.neg_found,
            |first, scores, found| {
                let (mut rank, mut total, mut counted) = (pos.scores.len(), 0.0, 0.0);
                for ((&t, found), k) in scores.iter().zip(found).zip(first..) {
                    rank = count(&pos.scores, rank, |s| s < t + margin);
                    let (below, share) = (pos.marks[rank], order.share(k, &ranks));
                    *found += scale * share * below.weight;
                    total += share * (below.weight * (t - order.origin + margin) - below.moment);
                    counted += share * below.weight;
                }
                Sum { value: scale * total, offset: scale * margin * counted }
            },
            ctx,
        )?;
        visit(
            &pos.scores,
            self.pos_found,
            |first, scores, found| {
                let mut rank = neg.scores.len();
                for ((&s, found), i) in scores.iter().zip(found).zip(first..) {
                    rank = count(&neg.scores, rank, |t| s < t + margin);
                    let above = order.before(rank, &ranks).weight - order.before(0, &ranks).weight;
                    *found -= scale * order.pos.weight(i) * above;
                }
            },
            ctx,
        )?;
        Ok(totals.into_iter().fold(Sum::default(), Sum::add))
    }

    fn tight(&mut self, margin: f64, scale: f64, ctx: &Ctx<'_>) -> Result<Sum> {
        let order = self.order;
        let (pos, neg, low) = (order.pos, order.neg, order.ends[Rank::Low as usize].weight);
        if low == 0.0 {
            return self.hinge(Rank::Top..Rank::High, margin, scale, ctx);
        }
        let (inner, outer) = (Rank::Top..Rank::Low, Rank::Low..Rank::High);
        let chosen = visit(
            &pos.scores,
            self.pos_found,
            |first, scores, found| {
                let (mut ranks, mut sum) = ([neg.scores.len(); 2], Sum::default());
                let mut takes_outer = alloc::with_capacity(scores.len());
                for ((&s, found), i) in scores.iter().zip(found).zip(first..) {
                    ranks = [count(&neg.scores, ranks[0], |t| s < t), count(&neg.scores, ranks[1], |t| s < t + margin)];
                    let (r0, r1) = (order.before(ranks[0], &inner), order.before(ranks[1], &outer));
                    let inner_gain = r0.moment - r0.weight * (s - order.origin);
                    let outer_gain = r1.moment - r1.weight * (s - order.origin) + margin * (r1.weight - low);
                    takes_outer.push(outer_gain >= inner_gain);
                    let r = if outer_gain >= inner_gain { r1.weight } else { r0.weight };
                    let own = scale * order.pos.weight(i);
                    sum.value += own * f64::max(inner_gain, outer_gain);
                    sum.offset += if outer_gain >= inner_gain { own * margin * (r1.weight - low) } else { 0.0 };
                    *found -= own * r;
                }
                (sum, takes_outer)
            },
            ctx,
        )?;
        // Weights of the positives below each rank that choose the maximiser of the inner and of the outer negatives.
        let (mut weights, mut choices) = ([0.0; 2], alloc::with_capacity(pos.scores.len() + 1));
        choices.push(weights);
        for (takes_outer, i) in chosen.iter().flat_map(|(_, takes_outer)| takes_outer).zip(0..) {
            weights[usize::from(*takes_outer)] += order.pos.weight(i);
            choices.push(weights);
        }
        visit(
            &neg.scores,
            self.neg_found,
            |first, scores, found| {
                let mut ranks = [pos.scores.len(); 2];
                for ((&t, found), k) in scores.iter().zip(found).zip(first..) {
                    ranks = [count(&pos.scores, ranks[0], |s| s < t), count(&pos.scores, ranks[1], |s| s < t + margin)];
                    *found += scale * order.share(k, &inner) * (weights[1] + choices[ranks[0]][0]);
                    *found += scale * order.share(k, &outer) * choices[ranks[1]][1];
                }
            },
            ctx,
        )?;
        Ok(chosen.iter().map(|(sum, _)| *sum).fold(Sum::default(), Sum::add))
    }

    fn smoothed(&mut self, hinge: Hinge, width: f64, ctx: &Ctx<'_>) -> Result<(Selection, f64)> {
        let Hinge { scale, margin, top } = hinge;
        let Order { pos, neg, origin, .. } = self.order;
        let inner = margin - width;
        let selection = neg.selection(top, width);
        let n_shared = neg.scores.partition_point(|&t| selection.share(t) > 0.0);
        let mut shared = alloc::with_capacity(n_shared + 1);
        shared.push(Mark::default());
        for (k, &t) in neg.scores[..n_shared].iter().enumerate() {
            let Mark { weight, moment } = shared[k];
            let own = selection.share(t) * neg.weight(k);
            shared.push(Mark { weight: weight + own, moment: moment + own * (t - origin) });
        }
        let (highest, shared) = (&neg.scores[..n_shared], &shared);
        let totals = visit(
            highest,
            &mut self.neg_found[..n_shared],
            |first, scores, found| {
                let (mut ranks, mut total) = ([pos.scores.len(); 2], 0.0);
                for ((&t, found), k) in scores.iter().zip(found).zip(first..) {
                    ranks = [
                        count(&pos.scores, ranks[0], |s| s < t + inner),
                        count(&pos.scores, ranks[1], |s| s < t + margin),
                    ];
                    let own = shared[k + 1].weight - shared[k].weight;
                    let excess = |weight, moment| weight * (t - origin + margin) - moment;
                    let pairs = own * paired(ranks.map(|rank| pos.marks[rank]), excess, width);
                    *found += scale * pairs;
                    total += pairs;
                }
                total
            },
            ctx,
        )?;
        visit(
            &pos.scores,
            self.pos_found,
            |first, scores, found| {
                let mut ranks = [n_shared; 2];
                for ((&s, found), i) in scores.iter().zip(found).zip(first..) {
                    ranks = [count(highest, ranks[0], |t| s < t + inner), count(highest, ranks[1], |t| s < t + margin)];
                    let excess = |weight, moment| moment - weight * (s - origin - margin);
                    *found -= scale * pos.weight(i) * paired(ranks.map(|rank| shared[rank]), excess, width);
                }
            },
            ctx,
        )?;
        Ok((selection, totals.iter().sum()))
    }
}
