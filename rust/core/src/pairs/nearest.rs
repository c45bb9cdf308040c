//! Exact nearest neighbours by brute force.

use crate::simd::fast;
use crate::{Ctx, Error, Result};

/// Queries of a task.
const QUERIES: usize = 64;
/// Targets processed together: their distances fit the first-level cache.
const TARGETS: usize = 512;

/// The `k` targets nearest to each query, by ascending Euclidean distance, then index.
///
/// `queries` and `targets` hold rows of `dim` features; returns `k` indices per query (all targets if there are fewer).
///
/// O(q t d) time for q queries and t targets, O(t d + q k) memory.
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
    // Feature by feature, so that the distances of many targets are summed at once.
    let by_columns = |tile: &[f64]| (0..dim).flat_map(|of| tile[of..].iter().step_by(dim).copied()).collect::<Vec<_>>();
    let tiles = targets.chunks(TARGETS * dim).map(by_columns).collect::<Vec<_>>();
    let of_block = |block: &[f64]| {
        let mut found = vec![Vec::new(); block.len() / dim];
        let mut squared = [0.0; TARGETS];
        for (tile, first) in tiles.iter().zip((0..).step_by(TARGETS)) {
            ctx.check()?;
            for (query, found) in block.chunks_exact(dim).zip(&mut found) {
                let squared = &mut squared[..tile.len() / dim];
                squared_distances(query, tile, squared);
                squared.iter().zip(first..).for_each(|(&squared, index)| keep(found, k, squared, index));
            }
        }
        Ok(found.into_iter().flatten().map(|(_, index)| index).collect::<Vec<_>>())
    };
    Ok(ctx.try_map(queries.chunks(QUERIES * dim).collect(), of_block)?.concat())
}

/// Writes the squared distances of the query to the targets of a tile, summed in the order of the features.
fn squared_distances(query: &[f64], tile: &[f64], squared: &mut [f64]) {
    fast!({
        squared.fill(0.0);
        for (x, column) in query.iter().zip(tile.chunks_exact(squared.len())) {
            for (sum, z) in squared.iter_mut().zip(column) {
                *sum += (x - z) * (x - z);
            }
        }
    });
}

/// Adds a target to the `k` nearest so far, unless all of them are as near; targets come by ascending index.
#[inline(always)]
pub(super) fn keep(found: &mut Vec<(f64, u32)>, k: usize, squared: f64, index: u32) {
    if found.len() < k || found.last().is_some_and(|farthest| squared < farthest.0) {
        found.insert(found.partition_point(|near| near.0 <= squared), (squared, index));
        found.truncate(k);
    }
}
