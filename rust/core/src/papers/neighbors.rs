//! Exact nearest neighbours by brute force, at the speed of a single-precision matrix product.

use std::collections::BinaryHeap;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, Axis, Slice};

use crate::{Ctx, Error, Result};

/// Queries and targets processed together: their products fit the second-level cache.
const QUERIES: usize = 64;
const TARGETS: usize = 1024;
/// Products checked together: most stretches contain no neighbour.
const STRETCH: usize = 32;

/// A target, ordered by distance, then by index.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Found {
    squared: f64,
    index: u32,
}

impl Eq for Found {}

impl Ord for Found {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.squared.total_cmp(&other.squared).then(self.index.cmp(&other.index))
    }
}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The squared Euclidean distance, summed in the order of the features.
#[inline]
pub(crate) fn squared_distance(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The `k` targets nearest to each query, by ascending distance, then index.
///
/// `queries` and `targets` hold rows of `dim` features; returns `k` indices per query (all targets if there are fewer).
/// Distances are computed in double precision, but only for targets that a product in single precision, with a bound of
/// its rounding, cannot exclude.
///
/// O(q t d) time for q queries and t targets, O((q + t) d) memory.
///
/// # Errors
/// [`Error::Length`] if an array is no whole number of rows, [`Error::NonFinite`], [`Error::TooLarge`],
/// [`Error::Interrupted`].
pub fn nearest(queries: &[f64], targets: &[f64], dim: usize, k: usize, ctx: &Ctx<'_>) -> Result<Vec<u32>> {
    for (name, rows) in [("queries", queries), ("targets", targets)] {
        Error::check_len(name, rows.len() / dim.max(1) * dim, rows.len())?;
        if !rows.iter().all(|v| v.is_finite()) {
            return Err(Error::first_non_finite(name, rows));
        }
    }
    let n_targets = targets.len().checked_div(dim).unwrap_or(0);
    if n_targets >= u32::MAX as usize {
        return Err(Error::TooLarge { n_samples: n_targets });
    }
    if n_targets == 0 || queries.is_empty() {
        return Ok(Vec::new());
    }
    let filter = Filter::new(queries, targets, dim);
    let blocks = queries.chunks(QUERIES * dim).collect();
    let found = ctx.try_map(blocks, |block| nearest_block(block, targets, dim, k.min(n_targets), &filter, ctx))?;
    Ok(found.concat())
}

/// Features in single precision, scaled to size at most 1, and the error bound of their products.
struct Filter {
    origin: Vec<f64>,
    scale: f64,
    /// The error of |x - z|^2 relative to |x|^2 + |z|^2.
    error: f64,
    targets: Array2<f32>,
    /// |z|^2 less its error.
    norms: Vec<f32>,
}

/// The absolute error, from underflow.
const UNDERFLOW: f64 = 1e-30;

impl Filter {
    fn new(queries: &[f64], targets: &[f64], dim: usize) -> Self {
        let n = targets.len() / dim;
        let mut origin = vec![0.0; dim];
        for row in targets.chunks_exact(dim) {
            origin.iter_mut().zip(row).for_each(|(sum, v)| *sum += v / n as f64);
        }
        let rows = queries.chunks_exact(dim).chain(targets.chunks_exact(dim));
        let size = |row: &[f64]| row.iter().zip(&origin).map(|(v, o)| (v - o).abs()).fold(0.0, f64::max);
        let largest = rows.map(size).fold(0.0, f64::max);
        let scale = if largest > 0.0 && largest.is_finite() { 1.0 / largest } else { 1.0 };
        // A product of d terms errs by at most about d + 2 roundings of 2^-24 times |x||z|; doubled to be safe.
        let error = (dim as f64 + 8.0) * 2f64.powi(-22);
        let (small, norms) = shrink(targets, dim, &origin, scale);
        let norms = norms.iter().map(|norm| (norm * (1.0 - error) - UNDERFLOW) as f32).collect::<Vec<_>>();
        Self { origin, scale, error, targets: small, norms }
    }

    /// The largest single-precision |z|^2 - 2 x'z of a target at a squared distance of at most `squared`.
    fn limit(&self, squared: f64, norm: f64) -> f32 {
        (squared * self.scale * self.scale * (1.0 + self.error) - norm * (1.0 - self.error) + UNDERFLOW) as f32
    }
}

/// Rows of zeros.
fn zeros(n_rows: usize, dim: usize) -> Array2<f32> {
    Array2::from_shape_vec((n_rows, dim), vec![0.0; n_rows * dim]).unwrap_or_default()
}

/// The rows, centred and scaled, in single precision; and their squared lengths.
fn shrink(rows: &[f64], dim: usize, origin: &[f64], scale: f64) -> (Array2<f32>, Vec<f64>) {
    let mut small = zeros(rows.len() / dim, dim);
    let mut norms = Vec::with_capacity(rows.len() / dim);
    for (row, mut to) in rows.chunks_exact(dim).zip(small.rows_mut()) {
        let mut norm = 0.0;
        for ((v, o), to) in row.iter().zip(origin).zip(&mut to) {
            let moved = (v - o) * scale;
            norm += moved * moved;
            *to = moved as f32;
        }
        norms.push(norm);
    }
    (small, norms)
}

fn nearest_block(
    queries: &[f64],
    targets: &[f64],
    dim: usize,
    k: usize,
    filter: &Filter,
    ctx: &Ctx<'_>,
) -> Result<Vec<u32>> {
    let (small, norms) = shrink(queries, dim, &filter.origin, filter.scale);
    let n_queries = norms.len();
    let mut heaps: Vec<_> = (0..n_queries).map(|_| BinaryHeap::from(Vec::<Found>::with_capacity(k + 1))).collect();
    let mut products = zeros(n_queries, TARGETS);
    for first in (0..filter.norms.len()).step_by(TARGETS) {
        ctx.check()?;
        let last = (first + TARGETS).min(filter.norms.len());
        let block: ArrayView2<'_, f32> = filter.targets.slice_axis(Axis(0), Slice::from(first..last));
        let mut products = products.slice_axis_mut(Axis(1), Slice::from(..last - first));
        general_mat_mul(-2.0, &small, &block.t(), 0.0, &mut products);
        for (q, heap) in heaps.iter_mut().enumerate() {
            let Some(products) = products.row_mut(q).into_slice() else { continue };
            let query = &queries[q * dim..][..dim];
            scan(
                products,
                &filter.norms[first..last],
                heap,
                k,
                norms[q],
                filter,
                |index| squared_distance(query, &targets[(first + index) * dim..][..dim]),
                first as u32,
            );
        }
    }
    let mut nearest = Vec::with_capacity(n_queries * k);
    nearest.extend(heaps.into_iter().flat_map(|heap| heap.into_sorted_vec().into_iter().map(|found| found.index)));
    Ok(nearest)
}

/// Adds targets that may be near enough to `heap`, which keeps the `k` nearest.
#[allow(clippy::too_many_arguments, reason = "the state of one inner loop")]
fn scan(
    products: &[f32],
    norms: &[f32],
    heap: &mut BinaryHeap<Found>,
    k: usize,
    norm: f64,
    filter: &Filter,
    distance: impl Fn(usize) -> f64,
    first: u32,
) {
    let limit_of = |heap: &BinaryHeap<Found>| match heap.peek() {
        Some(worst) if heap.len() == k => filter.limit(worst.squared, norm),
        _ => f32::INFINITY,
    };
    let mut limit = limit_of(heap);
    for (stretch, (products, norms)) in products.chunks(STRETCH).zip(norms.chunks(STRETCH)).enumerate() {
        // Not "<=": NaN must be checked.
        let beyond = |p: f32, n: f32| p + n > limit;
        if products.iter().zip(norms).fold(true, |all, (&p, &n)| all & beyond(p, n)) {
            continue;
        }
        for (offset, (&p, &n)) in products.iter().zip(norms).enumerate() {
            if p + n > limit {
                continue;
            }
            let index = stretch * STRETCH + offset;
            let found = Found { squared: distance(index), index: first + index as u32 };
            if heap.len() < k {
                heap.push(found);
            } else if heap.peek().is_some_and(|worst| found < *worst) {
                heap.pop();
                heap.push(found);
            } else {
                continue;
            }
            limit = limit_of(heap);
        }
    }
}
