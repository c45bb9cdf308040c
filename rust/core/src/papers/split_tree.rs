//! Decision trees whose splits maximise the area under the ROC curve.

use std::ops::Range;

use crate::papers::{TIE, first_best, midpoint};
use crate::{Ctx, Error, Problem, Result};

/// Nodes with fewer values are split on one thread.
const SMALL: usize = 1 << 15;

/// A node of a tree; a leaf has no `split`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// The weight of the positives.
    pub pos: f64,
    /// The weight of the negatives.
    pub neg: f64,
    /// The split, unless it is a leaf.
    pub split: Option<Split>,
}

/// Samples whose value exceeds a threshold go right, the others left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// The column.
    pub feature: usize,
    /// The threshold.
    pub threshold: f64,
    /// The left node.
    pub left: usize,
    /// The right node.
    pub right: usize,
}

/// Limits of a tree.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The least weight of a leaf.
    pub leaf: f64,
    /// The most splits between the root and a leaf.
    pub depth: usize,
}

/// Grows a tree; the first node is the root, children come after their parents.
///
/// The value of a split of a node with weights (P, N) into (p, n) and the rest is the area under the curve of its two
/// leaves, ordered by their share of positives: `1/2 (1 + |p/P - n/N|)`. The best split over all features and
/// thresholds, the first of equal ones, is made while its value is above 1/2, the node has both classes and the limits
/// allow it.
///
/// O(N d log N) to sort and O(N d) per level of the tree; 12 bytes per value. The same bits for any number of threads.
///
/// # Errors
/// [`Error::Length`] unless `values` are whole columns, [`Error::NonFinite`], [`Error::Interrupted`].
pub fn split_tree(values: &[f64], problem: &Problem, limits: Limits, ctx: &Ctx<'_>) -> Result<Vec<Node>> {
    let n_rows = problem.n_samples();
    let columns: Vec<&[f64]> = values.chunks_exact(n_rows).collect();
    Error::check_len("features", columns.len() * n_rows, values.len())?;
    if !values.iter().all(|value| value.is_finite()) {
        return Err(Error::first_non_finite("features", values));
    }
    let mut grower =
        Grower { orders: ctx.map(columns.clone(), sorted)?, right: vec![false; n_rows], columns, problem, limits };
    let mut nodes = vec![grower.node(0..n_rows)];
    let mut open = vec![(0, 0..n_rows, 0)];
    while let Some((at, members, depth)) = open.pop() {
        ctx.check()?;
        let Some((feature, end)) = grower.best(&nodes[at], members.clone(), depth, ctx)? else { continue };
        let order = &grower.orders[feature];
        let value = |k: usize| grower.columns[feature][order[k] as usize];
        let threshold = midpoint(value(end - 1), value(end));
        grower.part(feature, members.clone(), end, ctx)?;
        let (left, right) = (nodes.len(), nodes.len() + 1);
        nodes[at].split = Some(Split { feature, threshold, left, right });
        for (child, members) in [(left, members.start..end), (right, end..members.end)] {
            nodes.push(grower.node(members.clone()));
            open.push((child, members, depth + 1));
        }
    }
    Ok(nodes)
}

/// The samples in ascending order of a column.
fn sorted(column: &[f64]) -> Vec<u32> {
    let mut order = (0..column.len() as u32).collect::<Vec<_>>();
    let value = |row: u32| column[row as usize] + 0.0;
    order.sort_unstable_by(|&a, &b| value(a).total_cmp(&value(b)).then(a.cmp(&b)));
    order
}

struct Grower<'a> {
    columns: Vec<&'a [f64]>,
    problem: &'a Problem,
    limits: Limits,
    /// The samples in the order of each column, with those of a node side by side.
    orders: Vec<Vec<u32>>,
    right: Vec<bool>,
}

impl Grower<'_> {
    fn weight(&self, row: u32) -> f64 {
        self.problem.sample_weight().map_or(1.0, |weights| weights[row as usize])
    }

    /// A leaf.
    fn node(&self, members: Range<usize>) -> Node {
        let (mut pos, mut neg) = (0.0, 0.0);
        for &row in self.orders.first().map_or(&[][..], |order| &order[members]) {
            *(if self.problem.labels()[row as usize] { &mut pos } else { &mut neg }) += self.weight(row);
        }
        Node { pos, neg, split: None }
    }

    /// The feature of the best split of a node, and where its left part ends.
    fn best(&self, node: &Node, members: Range<usize>, depth: usize, ctx: &Ctx<'_>) -> Result<Option<(usize, usize)>> {
        if node.pos <= 0.0 || node.neg <= 0.0 || depth >= self.limits.depth {
            return Ok(None);
        }
        let small = members.len() * self.orders.len() < SMALL;
        let ctx = if small { ctx.alone() } else { *ctx };
        let gains = ctx.map((0..self.orders.len()).collect(), |feature| {
            let mut largest = 0.0;
            self.visit(node, members.clone(), feature, |_, gain| largest = f64::max(largest, gain));
            largest
        })?;
        let Some((feature, least)) = first_best(&gains).filter(|(_, least)| *least > 0.0) else { return Ok(None) };
        let mut found = None;
        self.visit(node, members, feature, |end, gain| {
            if found.is_none() && gain >= least {
                found = Some((feature, end));
            }
        });
        Ok(found)
    }

    /// Calls `take(end, |p/P - n/N|)` for every split by a column, the lowest threshold first.
    fn visit(&self, node: &Node, members: Range<usize>, feature: usize, mut take: impl FnMut(usize, f64)) {
        let column = self.columns[feature];
        let order = &self.orders[feature][members.clone()];
        let (mut pos, mut neg) = (0.0, 0.0);
        // Sums of fractional weights may be too small by rounding.
        let least = self.limits.leaf * (1.0 - TIE);
        for (k, pair) in order.windows(2).enumerate() {
            let (row, next) = (pair[0], pair[1]);
            *(if self.problem.labels()[row as usize] { &mut pos } else { &mut neg }) += self.weight(row);
            if column[row as usize] < column[next as usize]
                && pos + neg >= least
                && node.pos - pos + node.neg - neg >= least
            {
                take(members.start + k + 1, (pos / node.pos - neg / node.neg).abs());
            }
        }
    }

    /// Moves the right samples of a node behind the left ones, in the order of each column.
    fn part(&mut self, feature: usize, members: Range<usize>, end: usize, ctx: &Ctx<'_>) -> Result<()> {
        for k in members.clone() {
            self.right[self.orders[feature][k] as usize] = k >= end;
        }
        let right = &self.right;
        let small = members.len() * self.orders.len() < SMALL;
        let ctx = if small { ctx.alone() } else { *ctx };
        ctx.map(self.orders.iter_mut().collect(), |order: &mut Vec<u32>| {
            let mut behind = Vec::with_capacity(members.end - end);
            let mut at = members.start;
            for k in members.clone() {
                let row = order[k];
                if right[row as usize] {
                    behind.push(row);
                } else {
                    order[at] = row;
                    at += 1;
                }
            }
            order[end..members.end].copy_from_slice(&behind);
        })?;
        Ok(())
    }
}
