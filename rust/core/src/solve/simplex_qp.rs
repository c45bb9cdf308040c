//! The small dense quadratic program of every cutting-plane step.
//!
//! `min 1/2 l'Gl - d'l` over `l >= 0`, `sum l = total`: G holds the inner products of the cuts, d their offsets. A
//! primal active set method with an updated Cholesky factor: Newton steps on the support; a variable enters when the
//! support is optimal, and variables that reach 0 leave. Every iterate is feasible, so that stopping early is safe.
//!
//! On the plane `sum l = total`, G and `H = G + sigma 11'` give the same program; H is definite even if a cut is 0.
//! Where H is singular on the support, the program is linear along some direction: a small ridge makes the step there
//! very long, and it ends where a variable reaches 0.

use ndarray::ArrayView1;

use crate::{Ctx, Error, Result};

/// Added to each pivot, relative to its diagonal entry. The first step then ends slightly short of the minimum, where
/// the margins of pairs tend to be exactly 1, and on the same side for data in any order; further steps close the gap.
const RIDGE: f64 = 1e-13;
/// The least sigma relative to the largest diagonal entry of G.
const SIGMA: f64 = 1e-8;
/// The most steps per variable; fewer than two are usual.
const STEPS: usize = 50;

/// Replaces the feasible weights `start` by the minimiser of `1/2 l'Gl - gain'l` over `l >= 0`, `sum l = total`.
///
/// Ends when the duality gap `l'g - total min(g)`, `g = Gl - gain`, is at most `tol`, or when rounding keeps it and the
/// value from falling, so that it ends for every `tol`. A step costs O(k p), with p the size of the support (at most
/// the dimension of the model plus one); from the solution for all but the last few cuts, a few steps suffice. Returns
/// the number of steps.
///
/// # Errors
/// [`Error::Length`] for a `gram` that is not k x k or weights that are not k, [`Error::Domain`] if its entries, the
/// gradient or `total` are not finite, [`Error::Interrupted`].
pub fn minimise_on_simplex(
    gram: &[f64],
    gain: &[f64],
    total: f64,
    start: &mut [f64],
    tol: f64,
    ctx: &Ctx<'_>,
) -> Result<usize> {
    Error::check_len("gram", gain.len() * gain.len(), gram.len())?;
    Error::check_len("start", gain.len(), start.len())?;
    Error::check_number("total", "finite and at least 0", total, total >= 0.0 && total.is_finite())?;
    Error::check_number("tol", "a number", tol, !tol.is_nan())?;
    gram.iter().try_for_each(|&entry| check_finite(4.0 * entry))?; // sums of a few are finite too
    let weights = start;
    let mut face = Face::new(gram, gain, total, weights);
    let mut gradient = vec![0.0; gain.len()];
    let (mut settled, mut least_value, mut least_gap) = (false, f64::INFINITY, f64::INFINITY);
    let most = STEPS * gain.len();
    for n_steps in 0..most {
        ctx.check()?;
        face.gradient(weights, &mut gradient);
        let (best, steepest) = lowest(&gradient);
        let slope = dot(weights, &gradient);
        let gap = slope - total * steepest;
        check_finite(gap)?;
        if gap <= tol {
            return Ok(n_steps);
        }
        if settled {
            let value = 0.5 * (slope - dot(weights, gain));
            if value >= least_value && gap > 0.5 * least_gap {
                return Ok(n_steps); // the rest is rounding
            }
            (least_value, least_gap) = (least_value.min(value), least_gap.min(gap));
        }
        let enters = settled && weights[best] == 0.0;
        if enters {
            face.admit(best);
        }
        let mut step = face.newton_step(&gradient);
        if enters && step.last().is_some_and(|&rise| rise <= 0.0) {
            face.remove(face.support.len() - 1); // the others are not yet optimal to the last digit
            step = face.newton_step(&gradient);
        }
        // A step keeps the sum of the weights: one that raises none is rounding.
        settled = step.iter().all(|&rise| rise <= 0.0) || face.follow(&step, weights);
    }
    Ok(most)
}

/// The variables above zero, and the Cholesky factor of their block of H.
struct Face<'a> {
    gram: &'a [f64],
    gain: &'a [f64],
    total: f64,
    sigma: f64,
    support: Vec<usize>,
    factor: Factor,
}

impl<'a> Face<'a> {
    fn new(gram: &'a [f64], gain: &'a [f64], total: f64, weights: &[f64]) -> Self {
        let size = gain.len();
        let diagonal = (0..size).map(|i| gram[i * size + i]);
        let largest = diagonal.clone().fold(0.0, f64::max);
        let smallest = diagonal.filter(|&g| g > SIGMA * largest).fold(largest, f64::min);
        // Close to the smallest entry, so that it does not dominate; any scale will do if all are 0.
        let sigma = if largest > 0.0 { smallest } else { 1.0 };
        let mut face = Self { gram, gain, total, sigma, support: Vec::new(), factor: Factor::default() };
        (0..size).filter(|&i| weights[i] > 0.0).for_each(|i| face.admit(i));
        face
    }

    fn row(&self, i: usize) -> &'a [f64] {
        let size = self.gain.len();
        &self.gram[i * size..(i + 1) * size]
    }

    /// Writes `G weights - gain`.
    fn gradient(&self, weights: &[f64], gradient: &mut [f64]) {
        for (g, d) in gradient.iter_mut().zip(self.gain) {
            *g = -d;
        }
        for (i, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            add_scaled(gradient, weight, self.row(i));
        }
    }

    /// Puts a variable into the support.
    fn admit(&mut self, entering: usize) {
        let row = self.row(entering);
        let mut column: Vec<f64> = self.support.iter().map(|&i| row[i] + self.sigma).collect();
        self.factor.forward(&mut column);
        let diagonal = row[entering] + self.sigma;
        // Not negative but for rounding.
        let pivot = f64::max(diagonal - dot(&column, &column), 0.0);
        self.factor.push(column, (pivot + RIDGE * diagonal).sqrt());
        self.support.push(entering);
    }

    fn remove(&mut self, position: usize) {
        self.support.remove(position);
        self.factor.remove(position);
    }

    /// The step to the minimum on the support that keeps the sum of the weights.
    fn newton_step(&self, gradient: &[f64]) -> Vec<f64> {
        // A constant in the gradient changes no step on the plane, but its rounding, divided by sigma, may exceed it.
        let level = self.support.first().map_or(0.0, |&i| gradient[i]);
        let mut down: Vec<f64> = self.support.iter().map(|&i| gradient[i] - level).collect();
        let mut ones = vec![1.0; down.len()];
        for right in [&mut down, &mut ones] {
            self.factor.forward(right);
            self.factor.backward(right);
        }
        let shift = down.iter().sum::<f64>() / ones.iter().sum::<f64>();
        ones.iter().zip(&down).map(|(one, d)| shift * one - d).collect()
    }

    /// Moves the weights of the support along `step` to its end or until one is 0; returns whether to the end.
    fn follow(&mut self, step: &[f64], weights: &mut [f64]) -> bool {
        let limit = |(&i, &d): (&usize, &f64)| if d < 0.0 { -weights[i] / d } else { f64::INFINITY };
        let limits: Vec<f64> = self.support.iter().zip(step).map(limit).collect();
        let length = limits.iter().copied().fold(1.0, f64::min);
        for ((&i, &d), &limit) in self.support.iter().zip(step).zip(&limits) {
            weights[i] = if limit <= length { 0.0 } else { f64::max(weights[i] + length * d, 0.0) };
        }
        for position in (0..self.support.len()).rev() {
            if weights[self.support[position]] == 0.0 {
                self.remove(position);
            }
        }
        let scale = self.total / weights.iter().sum::<f64>();
        for weight in weights {
            *weight *= scale;
        }
        length == 1.0
    }
}

/// A lower triangular L by rows, row i of i + 1 entries.
#[derive(Default)]
struct Factor {
    size: usize,
    entries: Vec<f64>,
}

impl Factor {
    fn start(row: usize) -> usize {
        row * (row + 1) / 2
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.entries[Self::start(i)..Self::start(i + 1)]
    }

    /// Adds a last row.
    fn push(&mut self, left: Vec<f64>, diagonal: f64) {
        self.entries.extend_from_slice(&left);
        self.entries.push(diagonal);
        self.size += 1;
    }

    /// Makes L the factor of LL' without a row and column; plane rotations make the rows below triangular again.
    fn remove(&mut self, removed: usize) {
        let mut rotations: Vec<(f64, f64)> = Vec::with_capacity(self.size);
        for i in removed + 1..self.size {
            let (from, to) = (Self::start(i), Self::start(i - 1));
            self.entries.copy_within(from..=from + i, to);
            let row = &mut self.entries[to..=to + i];
            for (column, &(cos, sin)) in (removed..).zip(&rotations) {
                let (a, b) = (row[column], row[column + 1]);
                (row[column], row[column + 1]) = (cos * a + sin * b, cos * b - sin * a);
            }
            let (a, b) = (row[i - 1], row[i]);
            let length = a.hypot(b);
            rotations.push((a / length, b / length));
            row[i - 1] = length;
        }
        self.size -= 1;
        self.entries.truncate(Self::start(self.size));
    }

    /// Replaces x by L^-1 x.
    fn forward(&self, x: &mut [f64]) {
        for i in 0..x.len() {
            let row = self.row(i);
            x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
        }
    }

    /// Replaces x by L'^-1 x.
    fn backward(&self, x: &mut [f64]) {
        for i in (0..x.len()).rev() {
            let row = self.row(i);
            x[i] /= row[i];
            let scale = -x[i];
            add_scaled(&mut x[..i], scale, &row[..i]);
        }
    }
}

fn check_finite(value: f64) -> Result<()> {
    Error::check_number("the inner products of the cuts", "finite", value, value.is_finite())
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    ArrayView1::from(x).dot(&ArrayView1::from(y))
}

/// y += scale x.
fn add_scaled(y: &mut [f64], scale: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += scale * x;
    }
}

fn lowest(values: &[f64]) -> (usize, f64) {
    values.iter().copied().enumerate().fold((0, f64::INFINITY), |a, b| if b.1 < a.1 { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_without_a_row_is_that_of_the_smaller_matrix() {
        let matrix = [[4.0, 1.0, 0.5, 0.2], [1.0, 3.0, 0.7, 0.1], [0.5, 0.7, 2.0, 0.3], [0.2, 0.1, 0.3, 1.0]];
        for removed in 0..4 {
            let mut factor = Factor::default();
            for (i, row) in matrix.iter().enumerate() {
                let mut left = row[..i].to_vec();
                factor.forward(&mut left);
                let pivot = row[i] - dot(&left, &left);
                factor.push(left, pivot.sqrt());
            }
            factor.remove(removed);
            let kept: Vec<usize> = (0..4).filter(|&i| i != removed).collect();
            for (a, &i) in kept.iter().enumerate() {
                for (b, &j) in kept.iter().enumerate().take(a + 1) {
                    assert!((dot(&factor.row(a)[..=b], factor.row(b)) - matrix[i][j]).abs() < 1e-14);
                }
            }
        }
    }
}
