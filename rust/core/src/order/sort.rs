//! Sorting on all threads, with checks of the stop flag.

use crate::{Ctx, Result, threads};

/// Items sorted between two checks of the stop flag, in well under a second.
const STEP: usize = 1 << 24;
/// Fewer items are faster on one thread.
const SMALL: usize = 1 << 12;

/// Items whose order is unique, since equal ones are identical.
pub(crate) trait Item: Copy + Default + Ord + Send + Sync {}

impl<T: Copy + Default + Ord + Send + Sync> Item for T {}

/// Sorts `items` in place. O(n log n).
///
/// The standard library's sort: 12 to 14 ns per key of 64 bits at 10^5 to 10^7 items, 19 to 25 for 128 bits.
pub(crate) fn sort<T: Item>(items: &mut [T], ctx: &Ctx<'_>) -> Result<()> {
    in_steps(items, STEP, ctx)
}

fn in_steps<T: Item>(items: &mut [T], step: usize, ctx: &Ctx<'_>) -> Result<()> {
    ctx.check()?;
    if items.len() > step {
        let (low, _, high) = items.select_nth_unstable(items.len() / 2);
        in_steps(low, step, ctx)?;
        return in_steps(high, step, ctx);
    }
    match ctx.pool() {
        Some(pool) if items.len() > SMALL => threads::sort(pool, items),
        _ => items.sort_unstable(),
    }
    Ok(())
}

#[cfg(test)]
#[path = "../../tests/unit/order_sort.rs"]
mod tests;
