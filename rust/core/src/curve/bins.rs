//! Bins of a curve in bounded memory, with a bound of the error.
//!
//! A bin is a node of the binary tree over the bits of the [`order::key`]: the scores that share their leading bits, at
//! any of 65 levels. Bins may be nested, as in a q-digest (Shrivastava et al., 2004); so two sets of bins can be
//! merged, node by node, in any order without further error. Let S(x) be the weight of a class in the bins of several
//! scores that contain x: the samples that may lie on either side of x. [`pool`] keeps
//!
//! - S(x) at most `max_error` times the weight of the positives,
//! - S(x) at most `max_error` times the weight of the negatives above x, which is the relative error of a biased digest
//!   (Cormode et al., 2006): few negatives are above the thresholds of low false positive rates.
//!
//! With half of each bin put at either end, counts are within S(x) / 2 of the truth at every threshold, so that the
//! area under the curve over [0, b], divided by b, is within `max_error` for every b.
//!
//! Proof: both bounds are sums over samples, so that merges keep them. Call every bin free or small. The free bins on a
//! path together weigh at most 3/4 of the bound, a small one at most 1/256 of it, on 64 levels. A bin is made only if
//! all bins on its paths, itself included, weigh at most 3/4 (it is free), or it weighs at most 1/256 (it is small). In
//! a merge a bin is the sum of a free and a small part, and so are the bounds; a bin made of such parts is free or
//! small again.

use crate::{Ctx, Error, Result, order};

/// The scores from `low` to `high` and the weight of each class there; other bins may lie within.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// The lowest score it may contain.
    pub low: f64,
    /// The highest score it may contain.
    pub high: f64,
    /// Weight of the positives.
    pub pos: f64,
    /// Weight of the negatives.
    pub neg: f64,
}

/// Levels of bins of several scores.
const LEVELS: f64 = 64.0;
/// The share of a bound that is reserved for small bins, evenly by level.
const SMALL: f64 = 0.25;
/// The keys of the highest and of the lowest finite score, and the key of -0.0, which no score has.
const FIRST: u64 = 0x0010_0000_0000_0000;
const LAST: u64 = !FIRST;
const NOBODY: u64 = 1 << 63;

/// A node: the keys that differ from `first` in the last `level` bits only.
#[derive(Debug, Clone, Copy)]
struct Node {
    first: u64,
    level: u32,
    weight: [f64; 2],
}

impl Node {
    fn of_bin(bin: &Bin) -> Self {
        let (first, last) = (order::key(bin.high), order::key(bin.low));
        let level = 64 - (first ^ last).leading_zeros();
        Self { first: first & !mask(level), level, weight: [bin.pos, bin.neg] }
    }

    fn bin(&self) -> Bin {
        let first = if self.first == NOBODY { NOBODY + 1 } else { self.first };
        let (high, low) = (first.max(FIRST), (self.first | mask(self.level)).min(LAST));
        Bin { low: order::score_of(low), high: order::score_of(high), pos: self.weight[0], neg: self.weight[1] }
    }

    /// The order of nodes: ascending keys, a node before those within it.
    fn place(&self) -> (u64, u32) {
        (self.first, LEVELS as u32 - self.level)
    }

    fn holds(&self, other: &Self) -> bool {
        (self.first ^ other.first) & !mask(self.level) == 0
    }
}

fn mask(level: u32) -> u64 {
    if level == 64 { u64::MAX } else { (1 << level) - 1 }
}

fn added(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

fn larger(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0].max(b[0]), a[1].max(b[1])]
}

/// A node that may still be moved up, and the most weight on a path below it.
struct Top {
    node: Node,
    below: [f64; 2],
}

/// A reduced subtree: the most weight on a path of bins that stay, and the node that may move.
#[derive(Default)]
struct Subtree {
    most: [f64; 2],
    top: Option<Top>,
}

struct Pool {
    max_error: f64,
    pos: f64,
    /// Weight of the negatives above the current node.
    above: f64,
    kept: Vec<Node>,
}

/// Pools bins, in any order, from any number of summaries with the same or a smaller `max_error`: as far as the two
/// bounds of the module allow, node by node. O(N log N) for N bins; returns at most O(1 / `max_error`) of them for the
/// positives and O(log(n `max_error`) / `max_error`) for n negatives, whatever the scores.
///
/// # Errors
/// [`Error::Domain`] unless `max_error` lies between 0 and 1/2; [`Error::Interrupted`].
pub fn pool(bins: &[Bin], max_error: f64, ctx: &Ctx<'_>) -> Result<Vec<Bin>> {
    Error::check_number("max_error", "between 0 and 1/2", max_error, (0.0..=0.5).contains(&max_error))?;
    let mut nodes: Vec<Node> = bins.iter().map(Node::of_bin).collect();
    nodes.sort_by_key(Node::place);
    ctx.check()?;
    nodes.dedup_by(|next, node| {
        let same = next.place() == node.place();
        if same {
            node.weight = added(node.weight, next.weight);
        }
        same
    });
    let mut pool = Pool { max_error, pos: bins.iter().map(|bin| bin.pos).sum(), above: 0.0, kept: Vec::new() };
    if !nodes.is_empty() {
        let rest = pool.reduce(&nodes, [0.0; 2]);
        pool.kept.extend(rest.top.map(|top| top.node));
    }
    ctx.check()?;
    pool.kept.sort_unstable_by_key(|node| std::cmp::Reverse(node.place()));
    Ok(pool.kept.iter().map(Node::bin).collect())
}

impl Pool {
    /// Moves the nodes of a subtree up as far as possible, from the highest scores to the lowest; `over` is the weight
    /// of the nodes that contain the subtree.
    fn reduce(&mut self, nodes: &[Node], over: [f64; 2]) -> Subtree {
        let (head, tail) = (nodes[0], nodes[nodes.len() - 1]);
        if nodes.len() == 1 {
            self.above += head.weight[1];
            return Subtree { most: [0.0; 2], top: Some(Top { node: head, below: [0.0; 2] }) };
        }
        let whole = head.holds(&tail);
        let (level, inner) = match whole {
            true => (head.level, &nodes[1..]),
            false => (64 - (head.first ^ tail.first).leading_zeros(), nodes),
        };
        let first = head.first & !mask(level);
        let own = if whole { head.weight } else { [0.0; 2] };
        let middle = first | 1 << (level - 1);
        let (higher, lower) = inner.split_at(inner.partition_point(|node| node.first < middle));
        let limits = [self.pos, self.above].map(|weight| self.max_error * weight);
        let mut parts = [higher, lower].map(|half| match half {
            [] => Subtree::default(),
            _ => self.reduce(half, added(over, own)),
        });
        self.above += own[1];
        let mut most = larger(parts[0].most, parts[1].most);
        let tops = parts.each_mut().map(|part| part.top.take());
        let [a, b] = tops.each_ref().map(|top| top.as_ref().map_or([0.0; 2], |top| top.node.weight));
        match (tops, whole) {
            ([None, None], false) => return Subtree { most, top: None },
            ([Some(one), None] | [None, Some(one)], false) => return Subtree { most, top: Some(one) },
            ([None, None], true) => {
                return Subtree { most, top: Some(Top { node: Node { first, level, weight: own }, below: most }) };
            }
            (tops, _) => {
                let weight = added(own, added(a, b));
                let fits = (0..2).all(|class| {
                    let path = over[class] + weight[class] + most[class];
                    weight[class] <= limits[class] * SMALL / LEVELS || path <= limits[class] * (1.0 - SMALL)
                });
                if fits {
                    return Subtree { most, top: Some(Top { node: Node { first, level, weight }, below: most }) };
                }
                for Top { node, below } in tops.into_iter().flatten() {
                    self.kept.push(node);
                    if node.level > 0 {
                        most = larger(most, added(below, node.weight));
                    }
                }
                if whole {
                    self.kept.push(Node { first, level, weight: own });
                    most = added(most, own);
                }
            }
        }
        Subtree { most, top: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    const ERROR: f64 = 0.05;

    /// Scores that are hard to pool: of all magnitudes, in a few units of the last place, each block within one of the
    /// bins before, ever higher.
    fn streams(n: usize) -> Vec<Vec<Bin>> {
        let mut next = uniform(3);
        let mut sample = |score: &mut dyn FnMut(usize, f64) -> f64| {
            let one = |i: usize| {
                let (pos, x) = (f64::from(u8::from(next() < 0.4)), next());
                let score = score(i, x) + 0.0;
                Bin { low: score, high: score, pos, neg: 1.0 - pos }
            };
            (0..n).map(one).collect::<Vec<_>>()
        };
        let magnitudes = |i: usize, x: f64| [-1.0, 1.0][i % 2] * f64::from_bits((x * 9e18) as u64);
        vec![
            sample(&mut |_, x| x),
            sample(&mut |i, x| magnitudes(i, x)),
            sample(&mut |_, x| f64::from_bits(0.7f64.to_bits() + (x * 300.0) as u64)),
            sample(&mut |i, x| 1.0 + x * 0.5f64.powi((i * 40 / n) as i32)),
            sample(&mut |i, x| i as f64 + x),
            sample(&mut |i, _| -((i * i) as f64)),
            sample(&mut |i, x| if i % 2 == 0 { 0.25 } else { x }),
        ]
    }

    /// Checks the bounds: at every sample, the weight of each class in bins of several scores that contain it.
    fn check(pooled: &[Bin], samples: &[Bin]) {
        let sum = |bins: &[Bin], of: fn(&Bin) -> f64| bins.iter().map(of).sum::<f64>();
        let pos = sum(samples, |bin| bin.pos);
        for of in [|bin: &Bin| bin.pos, |bin: &Bin| bin.neg] {
            assert_eq!(sum(pooled, of), sum(samples, of));
        }
        for at in samples.iter().step_by(7) {
            let held: Vec<Bin> =
                pooled.iter().copied().filter(|b| b.low < b.high && b.low <= at.low && at.low <= b.high).collect();
            let above: f64 = samples.iter().filter(|b| b.low > at.low).map(|b| b.neg).sum();
            assert!(sum(&held, |b| b.pos) <= ERROR * pos);
            assert!(sum(&held, |b| b.neg) <= ERROR * above);
        }
        // Far fewer than the samples, and no sample is beyond them.
        assert!((pooled.len() as f64) < 200.0 / ERROR, "{}", pooled.len());
        for at in samples {
            assert!(pooled.iter().any(|b| b.low <= at.low && at.low <= b.high));
        }
        // Bins survive as numbers.
        assert!(pooled.iter().all(|b| b.low.is_finite() && b.high.is_finite() && Node::of_bin(b).bin() == *b));
    }

    #[test]
    fn bounds_hold_at_once_and_after_merges_of_any_shape() -> Result<()> {
        let ctx = Ctx::serial();
        for samples in streams(3000) {
            check(&pool(&samples, ERROR, &ctx)?, &samples);
            // One after the other, pooled each time.
            let mut held = Vec::new();
            for part in samples.chunks(200) {
                held.extend_from_slice(part);
                held = pool(&held, ERROR, &ctx)?;
            }
            check(&held, &samples);
            // Pairs of pairs.
            let mut level = samples.chunks(375).map(|part| pool(part, ERROR, &ctx)).collect::<Result<Vec<_>>>()?;
            while level.len() > 1 {
                level = level.chunks(2).map(|pair| pool(&pair.concat(), ERROR, &ctx)).collect::<Result<_>>()?;
            }
            check(&level[0], &samples);
        }
        assert!(pool(&[], ERROR, &ctx)?.is_empty());
        Ok(())
    }

    #[test]
    fn ends_of_the_numbers_are_bins_too() {
        for (low, high) in [(-f64::MAX, f64::MAX), (-f64::MAX, -5e-324), (0.0, f64::MAX), (-1e-310, -5e-324)] {
            let bin = Bin { low, high, pos: 1.0, neg: 2.0 };
            let node = Node::of_bin(&bin);
            let whole = node.bin();
            assert!(whole.low <= low && high <= whole.high && whole.low.is_finite() && whole.high.is_finite());
            assert_eq!(Node::of_bin(&whole).bin(), whole);
        }
    }
}
