//! Sums over all values of features, in one pass.

use crate::resample::Stream;
use crate::simd::fast;
use crate::solve::features::{Features, Number, of_row, stored};
use crate::{Ctx, Result};

/// Rows between two looks at the stop flag.
const LOOK: usize = 1 << 10;

/// An odd number of 64 random bits for a place.
#[inline(always)]
fn odd(place: u64) -> u64 {
    Stream::at(place).next() | 1
}

/// The bits of a value in double precision, times the number of its column; -0 counts as 0.
#[inline(always)]
fn bits<T: Number>(x: T, column: u64) -> u64 {
    let x: f64 = x.into();
    (x + 0.0).to_bits().wrapping_mul(column)
}

/// The sum of the bits of all values, each times the odd numbers of its row and its column, modulo 2^64: that of dense
/// features and of the same without zeros. The rows begin at the place `first`, the columns at 2^40; the values of a
/// `list`, a single column, are multiplied by the number of their row alone. O(stored values and columns).
///
/// # Errors
/// [`crate::Error::Interrupted`].
pub fn digest<T: Number>(features: Features<'_, T>, dim: usize, first: u64, list: bool, ctx: &Ctx<'_>) -> Result<u64> {
    let columns: Vec<u64> = (1 << 40..).take(dim).map(|place| if list { 1 } else { odd(place) }).collect();
    let (columns, n_rows) = (&columns[..], features.n_rows(dim));
    let mut total = 0_u64;
    for from in (0..n_rows).step_by(LOOK) {
        ctx.check()?;
        let (total, to) = (&mut total, n_rows.min(from + LOOK));
        fast!({
            for at in from..to {
                let of_row = match features {
                    Features::Dense(values) => {
                        let values = of_row(values, at, columns.len()).iter().zip(columns);
                        values.fold(0_u64, |sum, (&x, &column)| sum.wrapping_add(bits(x, column)))
                    }
                    Features::Sparse(values, places, starts) => {
                        let (places, values) = stored(values, places, starts, at);
                        let values = values.iter().zip(places);
                        values.fold(0_u64, |sum, (&x, &k)| sum.wrapping_add(bits(x, columns[k as usize])))
                    }
                };
                *total = total.wrapping_add(of_row.wrapping_mul(odd(first + at as u64)));
            }
        });
    }
    Ok(total)
}

/// The sum of each column less its origin, then those of the squares. O(stored values and columns).
///
/// # Errors
/// [`crate::Error::Interrupted`].
pub fn moments<T: Number>(features: Features<'_, T>, origin: &[f64], ctx: &Ctx<'_>) -> Result<Vec<f64>> {
    let (dim, n_rows) = (origin.len(), features.n_rows(origin.len()));
    let (mut sums, mut squares, mut zeros) = (vec![0.0; dim], vec![0.0; dim], vec![n_rows as f64; dim]);
    for from in (0..n_rows).step_by(LOOK) {
        ctx.check()?;
        let (sums, squares, zeros, to) = (&mut sums[..], &mut squares[..], &mut zeros[..], n_rows.min(from + LOOK));
        fast!({
            for at in from..to {
                match features {
                    Features::Dense(values) => {
                        let sums = sums.iter_mut().zip(squares.iter_mut());
                        for (((sum, square), &x), origin) in sums.zip(of_row(values, at, dim)).zip(origin) {
                            let apart = x.into() - origin;
                            *sum += apart;
                            *square += apart * apart;
                        }
                    }
                    Features::Sparse(values, columns, starts) => {
                        let (columns, values) = stored(values, columns, starts, at);
                        for (&k, &x) in columns.iter().zip(values) {
                            let (k, apart) = (k as usize, x.into() - origin[k as usize]);
                            zeros[k] -= 1.0;
                            sums[k] += apart;
                            squares[k] += apart * apart;
                        }
                    }
                }
            }
        });
    }
    if let Features::Sparse(..) = features {
        for (((sum, square), zeros), origin) in sums.iter_mut().zip(&mut squares).zip(zeros).zip(origin) {
            *sum -= zeros * origin;
            *square += zeros * (origin * origin);
        }
    }
    sums.append(&mut squares);
    Ok(sums)
}
