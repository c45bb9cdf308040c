//! Products with some rows of features.

use std::ops::{Add, AddAssign, Mul};

use crate::simd::fast;
use crate::{Ctx, Error, Result};

/// Rows between two looks at the stop flag.
const LOOK: usize = 1 << 10;

/// Rows that a product takes at once: their values are read once for every use of the vector.
pub(super) const ROWS: usize = 4;
/// Sums that run side by side in the product of a row.
const LANES: usize = 16;

/// A floating-point type of features, and of the products with them.
pub trait Number:
    Copy + Default + Add<Output = Self> + AddAssign + Mul<Output = Self> + Into<f64> + Send + Sync
{
    /// The nearest number of this type.
    fn of(value: f64) -> Self;
}

impl Number for f32 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }
}

impl Number for f64 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }
}

/// The features of samples.
#[derive(Debug, Clone, Copy)]
pub enum Features<'a, T> {
    /// Every value, row after row.
    Dense(&'a [T]),
    /// The values that are stored, their columns, and where those of each row start and the last ones end.
    Sparse(&'a [T], &'a [i32], &'a [i32]),
}

impl<T: Number> Features<'_, T> {
    /// Writes the product of each row with a vector.
    #[inline(always)]
    pub(super) fn scores(self, rows: &[usize], vector: &[T], scores: &mut [f64]) {
        match self {
            Self::Dense(values) => {
                for (rows, scores) in rows.chunks(ROWS).zip(scores.chunks_mut(ROWS)) {
                    if let &[a, b, c, d] = rows {
                        let rows = [a, b, c, d].map(|row| of_row(values, row, vector.len()));
                        scores.copy_from_slice(&dots(rows, vector));
                    } else {
                        for (score, &row) in scores.iter_mut().zip(rows) {
                            [*score] = dots([of_row(values, row, vector.len())], vector);
                        }
                    }
                }
            }
            Self::Sparse(values, columns, starts) => {
                for (score, &row) in scores.iter_mut().zip(rows) {
                    *score = stored(values, columns, starts, row).map(|(k, x)| (x * vector[k]).into()).sum();
                }
            }
        }
    }

    /// Adds the rows, each times a coefficient, to the sums.
    #[inline(always)]
    pub(super) fn add(self, rows: &[usize], coefs: &[T], sums: &mut [T]) {
        match self {
            Self::Dense(values) => {
                for (rows, coefs) in rows.chunks(ROWS).zip(coefs.chunks(ROWS)) {
                    if let (&[a, b, c, d], &[p, q, r, s]) = (rows, coefs) {
                        let [a, b, c, d] = [a, b, c, d].map(|row| of_row(values, row, sums.len()));
                        for ((((sum, &a), &b), &c), &d) in sums.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                            *sum += p * a + q * b + (r * c + s * d);
                        }
                    } else {
                        for (&row, &coef) in rows.iter().zip(coefs) {
                            let row = of_row(values, row, sums.len());
                            sums.iter_mut().zip(row).for_each(|(sum, &x)| *sum += coef * x);
                        }
                    }
                }
            }
            Self::Sparse(values, columns, starts) => {
                for (&row, &coef) in rows.iter().zip(coefs) {
                    stored(values, columns, starts, row).for_each(|(k, x)| sums[k] += coef * x);
                }
            }
        }
    }
}

/// The product of each of some rows with a vector. O(stored values of these rows).
///
/// # Errors
/// [`Error::Interrupted`].
pub fn scores<T: Number>(features: Features<'_, T>, rows: &[usize], vector: &[f64], ctx: &Ctx<'_>) -> Result<Vec<f64>> {
    let (vector, mut scores) = (numbers::<T>(vector), vec![0.0; rows.len()]);
    for (rows, scores) in rows.chunks(LOOK).zip(scores.chunks_mut(LOOK)) {
        ctx.check()?;
        let vector = &vector[..];
        fast!({ features.scores(rows, vector, scores) });
    }
    Ok(scores)
}

/// The sum of some rows of `dim` features, each times a coefficient. O(stored values of these rows).
///
/// # Errors
/// [`Error::Length`] unless there is a coefficient for each row; [`Error::Interrupted`].
pub fn adjoint<T: Number>(
    features: Features<'_, T>,
    rows: &[usize],
    coefs: &[f64],
    dim: usize,
    ctx: &Ctx<'_>,
) -> Result<Vec<f64>> {
    Error::check_len("coefs", rows.len(), coefs.len())?;
    let (coefs, mut sums) = (numbers::<T>(coefs), vec![T::default(); dim]);
    for (rows, coefs) in rows.chunks(LOOK).zip(coefs.chunks(LOOK)) {
        ctx.check()?;
        let sums = &mut sums[..];
        fast!({ features.add(rows, coefs, sums) });
    }
    Ok(sums.into_iter().map(Into::into).collect())
}

pub(super) fn numbers<T: Number>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::of(value)).collect()
}

#[inline(always)]
pub(super) fn of_row<T>(values: &[T], row: usize, dim: usize) -> &[T] {
    &values[row * dim..][..dim]
}

/// The columns and the values of a sparse row.
#[inline(always)]
fn stored<'a, T: Number>(
    values: &'a [T],
    columns: &'a [i32],
    starts: &[i32],
    row: usize,
) -> impl Iterator<Item = (usize, T)> + 'a {
    let all = starts[row] as usize..starts[row + 1] as usize;
    columns[all.clone()].iter().zip(&values[all]).map(|(&k, &x)| (k as usize, x))
}

/// The products of rows with a vector of their length.
#[inline(always)]
pub(super) fn dots<T: Number, const N: usize>(rows: [&[T]; N], y: &[T]) -> [f64; N] {
    let (parts, rest_of_y) = y.as_chunks::<LANES>();
    let parts_of = rows.map(|row| &row.as_chunks::<LANES>().0[..parts.len()]);
    let mut sums = [[T::default(); LANES]; N];
    for (at, y) in parts.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(&parts_of) {
            add_products(sums, &row[at], y);
        }
    }
    let mut found = [0.0; N];
    for ((found, sums), row) in found.iter_mut().zip(sums).zip(rows) {
        let rest = row[y.len() - rest_of_y.len()..].iter().zip(rest_of_y);
        let rest: f64 = rest.map(|(&x, &y)| (x * y).into()).sum();
        *found = rest + sums.into_iter().map(Into::into).sum::<f64>();
    }
    found
}

#[inline(always)]
fn add_products<T: Number>(sums: &mut [T; LANES], x: &[T; LANES], y: &[T; LANES]) {
    for k in 0..LANES {
        sums[k] += x[k] * y[k];
    }
}
