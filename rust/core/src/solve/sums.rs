//! Sums over all values of dense features, in one pass.

use crate::simd::fast;
use crate::solve::Number;
use crate::{Ctx, Error, Result};

/// Rows between two looks at the stop flag.
const LOOK: usize = 1 << 10;

/// The sum of the bits of all values in double precision, each times the numbers of its row and its column, modulo
/// 2^64; -0 counts as 0. O(values).
///
/// # Errors
/// [`Error::Length`] unless there is a value for each row and column; [`Error::Interrupted`].
pub fn digest<T: Number>(values: &[T], rows: &[u64], columns: &[u64], ctx: &Ctx<'_>) -> Result<u64> {
    Error::check_len("values", rows.len() * columns.len(), values.len())?;
    let mut total = 0_u64;
    for (values, rows) in values.chunks(LOOK * columns.len().max(1)).zip(rows.chunks(LOOK)) {
        ctx.check()?;
        let total = &mut total;
        fast!({
            for (values, row) in values.chunks_exact(columns.len().max(1)).zip(rows) {
                let of_row = values.iter().zip(columns).fold(0_u64, |sum, (&x, column)| {
                    let x: f64 = x.into();
                    sum.wrapping_add((x + 0.0).to_bits().wrapping_mul(*column))
                });
                *total = total.wrapping_add(of_row.wrapping_mul(*row));
            }
        });
    }
    Ok(total)
}

/// The sum of each column less its origin, then those of the squares. O(values).
///
/// # Errors
/// [`Error::Interrupted`].
pub fn moments<T: Number>(values: &[T], origin: &[f64], ctx: &Ctx<'_>) -> Result<Vec<f64>> {
    let dim = origin.len();
    let mut found = vec![0.0; 2 * dim];
    for values in values.chunks(LOOK * dim.max(1)) {
        ctx.check()?;
        let (sums, squares) = found.split_at_mut(dim);
        fast!({
            for row in values.chunks_exact(dim.max(1)) {
                for (((sum, square), &x), origin) in sums.iter_mut().zip(squares.iter_mut()).zip(row).zip(origin) {
                    let apart = x.into() - origin;
                    *sum += apart;
                    *square += apart * apart;
                }
            }
        });
    }
    Ok(found)
}
