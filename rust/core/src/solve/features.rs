//! Products with some rows of features.

use std::hint::black_box;
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
                let factor = Factor::new(vector);
                for (score, &row) in scores.iter_mut().zip(rows) {
                    *score = factor.dot(of_row(values, row, vector.len()));
                }
            }
            Self::Sparse(values, columns, starts) => {
                for (score, &row) in scores.iter_mut().zip(rows) {
                    let (columns, values) = stored(values, columns, starts, row);
                    // In lanes, since the compiler must not reorder a sum.
                    let mut sums = [0.0; ROWS];
                    for (columns, values) in columns.chunks(ROWS).zip(values.chunks(ROWS)) {
                        for ((sum, &k), &x) in sums.iter_mut().zip(columns).zip(values) {
                            *sum += (x * vector[k as usize]).into();
                        }
                    }
                    *score = sums.iter().sum();
                }
            }
        }
    }

    /// Adds the rows, each times a coefficient, to the sums.
    #[inline(always)]
    pub(super) fn add(self, rows: &[usize], coefs: &[T], sums: &mut [T]) {
        self.add_to_each(rows, coefs.as_chunks::<1>().0, sums.as_chunks_mut().0);
    }

    /// Adds the rows, each times its coefficients, to as many sums.
    #[inline(always)]
    fn add_to_each<const N: usize>(self, rows: &[usize], coefs: &[[T; N]], sums: &mut [[T; N]]) {
        match self {
            Self::Dense(values) => {
                let (some, rest) = rows.as_chunks::<ROWS>();
                let (of_some, of_rest) = coefs.as_chunks::<ROWS>();
                for (&[a, b, c, d], [p, q, r, s]) in some.iter().zip(of_some) {
                    let row = |row: usize| of_row(values, row, sums.len());
                    let (a, b, c, d) = (row(a), row(b), row(c), row(d));
                    for ((((sums, &a), &b), &c), &d) in sums.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                        for n in 0..N {
                            sums[n] += p[n] * a + q[n] * b + (r[n] * c + s[n] * d);
                        }
                    }
                }
                for (&row, coefs) in rest.iter().zip(of_rest) {
                    let row = of_row(values, row, sums.len());
                    for (sums, &x) in sums.iter_mut().zip(row) {
                        sums.iter_mut().zip(coefs).for_each(|(sum, &coef)| *sum += coef * x);
                    }
                }
            }
            Self::Sparse(values, columns, starts) => {
                for (&row, coefs) in rows.iter().zip(coefs) {
                    let (columns, values) = stored(values, columns, starts, row);
                    for (&k, &x) in columns.iter().zip(values) {
                        sums[k as usize].iter_mut().zip(coefs).for_each(|(sum, &coef)| *sum += coef * x);
                    }
                }
            }
        }
    }

    /// How many rows of so many columns there are.
    pub(super) fn n_rows(self, dim: usize) -> usize {
        match self {
            Self::Dense(values) => values.len() / dim.max(1),
            Self::Sparse(_, _, starts) => starts.len() - 1,
        }
    }
}

/// The product of each row with a vector. O(stored values).
///
/// # Errors
/// [`Error::Interrupted`].
pub fn scores<T: Number>(features: Features<'_, T>, vector: &[f64], ctx: &Ctx<'_>) -> Result<Vec<f64>> {
    let rows: Vec<usize> = (0..features.n_rows(vector.len())).collect();
    let (vector, mut scores) = (numbers::<T>(vector), vec![0.0; rows.len()]);
    for (rows, scores) in rows.chunks(LOOK).zip(scores.chunks_mut(LOOK)) {
        ctx.check()?;
        let vector = &vector[..];
        fast!({ features.scores(rows, vector, scores) });
    }
    Ok(scores)
}

/// Sums of rows of `dim` features, each row times a coefficient, one sum after the other; reads those rows alone that
/// have a coefficient other than 0. O(stored values of these rows) for two sums.
///
/// # Errors
/// [`Error::Length`] unless there is a coefficient for each row; [`Error::Interrupted`].
pub fn adjoint<T: Number>(features: Features<'_, T>, coefs: &[&[f64]], dim: usize, ctx: &Ctx<'_>) -> Result<Vec<f64>> {
    let n_rows = features.n_rows(dim);
    coefs.iter().try_for_each(|coefs| Error::check_len("coefs", n_rows, coefs.len()))?;
    let rows: Vec<usize> = (0..n_rows).filter(|&row| coefs.iter().any(|coefs| coefs[row] != 0.0)).collect();
    let mut sums = Vec::with_capacity(coefs.len() * dim);
    let (pairs, last) = coefs.as_chunks::<2>();
    for &pair in pairs {
        add_sums(features, &rows, pair, dim, &mut sums, ctx)?;
    }
    if let &[last] = last {
        add_sums(features, &rows, [last], dim, &mut sums, ctx)?;
    }
    Ok(sums)
}

/// Appends the sums of some rows, which share the reading of these.
fn add_sums<T: Number, const N: usize>(
    features: Features<'_, T>,
    rows: &[usize],
    coefs: [&[f64]; N],
    dim: usize,
    to: &mut Vec<f64>,
    ctx: &Ctx<'_>,
) -> Result<()> {
    let mut sums = vec![[T::default(); N]; dim];
    for rows in rows.chunks(LOOK) {
        ctx.check()?;
        let own: Vec<[T; N]> = rows.iter().map(|&row| coefs.map(|coefs| T::of(coefs[row]))).collect();
        let (own, sums) = (&own[..], &mut sums[..]);
        fast!({ features.add_to_each(rows, own, sums) });
    }
    (0..N).for_each(|n| to.extend(sums.iter().map(|sums| -> f64 { sums[n].into() })));
    Ok(())
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
pub(super) fn stored<'a, T>(values: &'a [T], columns: &'a [i32], starts: &[i32], row: usize) -> (&'a [i32], &'a [T]) {
    let all = starts[row] as usize..starts[row + 1] as usize;
    (&columns[all.clone()], &values[all])
}

/// A vector, for its products with rows.
#[derive(Clone, Copy)]
pub(super) struct Factor<'a, T> {
    all: &'a [T],
    /// Its last values, 0 for those of whole parts.
    last: [T; LANES],
}

impl<'a, T: Number> Factor<'a, T> {
    #[inline(always)]
    pub(super) fn new(all: &'a [T]) -> Self {
        let (rest, mut last) = (all.as_chunks::<LANES>().1, [T::default(); LANES]);
        last[LANES - rest.len()..].copy_from_slice(rest);
        Self { all, last }
    }

    /// The product with a row of its length.
    #[inline(always)]
    pub(super) fn dot(&self, row: &[T]) -> f64 {
        let Some(last) = row.last_chunk::<LANES>() else {
            return row.iter().zip(self.all).map(|(&x, &y)| (x * y).into()).sum();
        };
        let mut sums = [T::default(); LANES];
        for (x, y) in row.as_chunks().0.iter().zip(self.all.as_chunks().0) {
            add_products(&mut sums, x, y);
        }
        add_products(&mut sums, last, &self.last);
        // In memory, or the compiler would make vectors of two of the numbers that are added last.
        let mut lanes = black_box(sums).map(Into::into);
        for half in [8, 4, 2, 1] {
            for k in 0..half {
                lanes[k] += lanes[k + half];
            }
        }
        lanes[0]
    }
}

#[inline(always)]
fn add_products<T: Number>(sums: &mut [T; LANES], x: &[T; LANES], y: &[T; LANES]) {
    for k in 0..LANES {
        sums[k] += x[k] * y[k];
    }
}
