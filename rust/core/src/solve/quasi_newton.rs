//! Steps by the last moves of a model and the changes of its gradient.

use crate::{Error, Result};

/// The weights of `k` moves, of the changes of the gradient along these, and of the gradient itself: their sum is the
/// step (Liu and Nocedal, 1989). `products` has a row for each of these vectors, of its inner products with the changes
/// and the gradient. O(k^2).
///
/// # Errors
/// [`Error::Length`].
pub fn quasi_newton(products: &[f64], k: usize) -> Result<Vec<f64>> {
    Error::check_len("products", (2 * k + 1) * (k + 1), products.len())?;
    let of = |i: usize, j: usize| products[i * (k + 1) + j];
    // Of the changes, and of the gradient.
    let mut back = vec![0.0; k + 1];
    back[k] = -1.0;
    for i in (0..k).rev() {
        let sum: f64 = (i + 1..=k).map(|j| of(i, j) * back[j]).sum();
        back[i] = -sum / of(i, i);
    }
    let scale = if k == 0 { 1.0 } else { of(k - 1, k - 1) / of(2 * k - 1, k - 1) };
    let mut weights = vec![0.0; k];
    for i in 0..k {
        let of_moves: f64 = (0..i).map(|j| of(j, i) * weights[j]).sum();
        let of_changes: f64 = (0..=k).map(|j| of(k + i, j) * back[j]).sum();
        weights[i] = -back[i] - (of_moves + scale * of_changes) / of(i, i);
    }
    weights.extend(back.iter().map(|weight| scale * weight));
    Ok(weights)
}
