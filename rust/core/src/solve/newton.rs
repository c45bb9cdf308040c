//! Newton's equations whose curvature comes from the scores of a few samples: `(I + X'HX) step = -gradient`.

use std::ops::{AddAssign, Mul};

use crate::simd::fast;
use crate::{Ctx, Error, Result};

/// Sums that run side by side in a product of two rows.
const LANES: usize = 32;

/// A floating-point type of features, and of the products with them.
pub trait Number: Copy + Default + AddAssign + Mul<Output = Self> + Into<f64> + Send + Sync {
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
    Sparse(&'a [f64], &'a [i32], &'a [i32]),
}

impl<T: Number> Features<'_, T> {
    /// The product of each row with a vector.
    fn scores(self, rows: &[usize], vector: &[f64]) -> Vec<f64> {
        match self {
            Self::Dense(values) => {
                let (vector, mut scores) = (numbers::<T>(vector), vec![0.0; rows.len()]);
                let (vector, found) = (&vector[..], &mut scores[..]);
                fast!({
                    for (score, &row) in found.iter_mut().zip(rows) {
                        *score = dot(row_of(values, row, vector.len()), vector);
                    }
                });
                scores
            }
            Self::Sparse(values, columns, starts) => (rows.iter())
                .map(|&row| stored(values, columns, starts, row).map(|(k, x)| x * vector[k]).sum())
                .collect(),
        }
    }

    /// The sum of the rows, each times a coefficient.
    fn adjoint(self, rows: &[usize], coefs: &[f64], dim: usize) -> Vec<f64> {
        match self {
            Self::Dense(values) => {
                let (coefs, mut sums) = (numbers::<T>(coefs), vec![T::default(); dim]);
                let (coefs, found) = (&coefs[..], &mut sums[..]);
                fast!({
                    for (&row, &coef) in rows.iter().zip(coefs) {
                        for (sum, &x) in found.iter_mut().zip(row_of(values, row, dim)) {
                            *sum += coef * x;
                        }
                    }
                });
                sums.into_iter().map(Into::into).collect()
            }
            Self::Sparse(values, columns, starts) => {
                let mut sums = vec![0.0; dim];
                for (&row, &coef) in rows.iter().zip(coefs) {
                    stored(values, columns, starts, row).for_each(|(k, x)| sums[k] += coef * x);
                }
                sums
            }
        }
    }
}

fn numbers<T: Number>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::of(value)).collect()
}

#[inline(always)]
fn row_of<T>(values: &[T], row: usize, dim: usize) -> &[T] {
    &values[row * dim..][..dim]
}

/// The columns and the values of a sparse row.
fn stored<'a>(
    values: &'a [f64],
    columns: &'a [i32],
    starts: &[i32],
    row: usize,
) -> impl Iterator<Item = (usize, f64)> + 'a {
    let all = starts[row] as usize..starts[row + 1] as usize;
    columns[all.clone()].iter().zip(&values[all]).map(|(&k, &x)| (k as usize, x))
}

#[inline(always)]
fn dot<T: Number>(x: &[T], y: &[T]) -> f64 {
    let mut sums = [T::default(); LANES];
    let (x, y) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest: f64 = x.remainder().iter().zip(y.remainder()).map(|(&x, &y)| (x * y).into()).sum();
    for (x, y) in x.zip(y) {
        for k in 0..LANES {
            sums[k] += x[k] * y[k];
        }
    }
    rest + sums.into_iter().map(Into::into).sum::<f64>()
}

/// The pull of springs between samples and the means of their groups, in order: `starts` of the groups, and the
/// stiffness of each spring.
///
/// # Errors
/// [`Error::Length`] unless there is a change of the score for each spring.
pub fn spring_pull(starts: &[usize], stiffness: &[f64], change: &[f64]) -> Result<Vec<f64>> {
    Error::check_len("change", stiffness.len(), change.len())?;
    let mut pull = Vec::with_capacity(change.len());
    for (k, &start) in starts.iter().enumerate() {
        let end = starts.get(k + 1).copied().unwrap_or(change.len());
        let (stiffness, change) = (&stiffness[start..end], &change[start..end]);
        let sum: f64 = stiffness.iter().zip(change).map(|(s, c)| s * c).sum();
        let mean = sum / stiffness.iter().sum::<f64>();
        pull.extend(stiffness.iter().zip(change).map(|(s, c)| s * (c - mean)));
    }
    Ok(pull)
}

/// A step with `|(I + X'HX) step + gradient| <= residual |gradient|`, or that of the last of so many products, by
/// conjugate gradients. `pull` is the product with H, over the given rows of the features. O(stored values) a product.
///
/// # Errors
/// Those of `pull`; [`Error::Interrupted`].
pub fn newton_step<T: Number>(
    features: Features<'_, T>,
    rows: &[usize],
    pull: impl Fn(&[f64]) -> Result<Vec<f64>>,
    gradient: &[f64],
    (residual, products): (f64, usize),
    ctx: &Ctx<'_>,
) -> Result<Vec<f64>> {
    let mut step = vec![0.0; gradient.len()];
    let mut left: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut direction = left.clone();
    let first = dot(&left, &left);
    let mut now = first;
    for _ in 0..products {
        ctx.check()?;
        if now <= residual * residual * first {
            break;
        }
        let pulled = features.adjoint(rows, &pull(&features.scores(rows, &direction))?, gradient.len());
        let curvature = dot(&direction, &direction) + dot(&direction, &pulled);
        if !(0.0 < curvature && curvature < f64::INFINITY) {
            break;
        }
        let length = now / curvature;
        for (((step, left), d), p) in step.iter_mut().zip(&mut left).zip(&direction).zip(&pulled) {
            *step += length * d;
            *left -= length * (d + p);
        }
        let before = std::mem::replace(&mut now, dot(&left, &left));
        let kept = now / before;
        direction.iter_mut().zip(&left).for_each(|(d, left)| *d = left + kept * *d);
    }
    Ok(step)
}
