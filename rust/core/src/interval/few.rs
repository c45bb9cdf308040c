//! Limits of a partial AUC or a rate that depends on fewer than five negatives, by the distribution of the estimate.
//!
//! The estimate is `S = sum_k s_k K_k / m`: K_k of the m positives score above the negative with k negatives above it,
//! and s_k is the share of the range between k / n and (k + 1) / n; for a rate at f there is one step, k = floor(n f). On
//! the curve `R(x) = Phi(a + b Phi^-1(x))` the false positive rates U_k at these negatives are order statistics of n
//! uniform numbers. Given them, S is a mean of m independent terms, each with mean and variance
//!
//! ```text
//! mu = sum_k s_k R(U_k),    v = sum_kl s_k s_l R(min(U_k, U_l)) - mu^2.
//! ```
//!
//! S is treated as the share of successes among m mu (1 - mu) / v trials of probability mu, which is exact for one step.
//! The mean over U gives the probability that S is below the estimate, plus half that it equals it (mid-p). It decreases
//! with a, so the values that are not rejected form an interval, and the test is dual to it.
//!
//! A value is rejected if the curves of both slopes reject it: two standard errors of the logarithm of a ratio of
//! standard deviations, three where only the slope leads from the data to the range.

use std::cell::RefCell;
use std::sync::OnceLock;

use super::beta::Law;
use super::normal::heights;
use super::search::{last_between, last_held};
use super::{LAST, LEAST, Limits, around, check_model, check_sizes, probit, quadrature, whole};
use crate::{Error, Result};

const FEW: f64 = 5.0;
const EDGE: f64 = 12.0; // |a|: beyond it all rates are 0 or 1
const ERRORS: f64 = 2.0; // of the slope, to either side
const BEYOND: f64 = 3.0; // where the range lies beyond the data
const PRIOR: f64 = 5.0; // samples that the prior slope 1 counts for
const KNOWN: f64 = 10.0; // at most those of the whole curve
const POINTS: usize = 32; // for one step; twice as many for several
const ROUNDING: f64 = 1e-12;
const HEIGHTS: usize = 33; // of a table
const CLOSE: f64 = 1e-10; // heights
const SURE: f64 = 6.0; // quantiles above rounding
const MOST: f64 = 1e6; // trials per positive
const PRIMES: [f64; 5] = [2.0, 3.0, 5.0, 7.0, 11.0];

/// A rounded product that counts samples: 5 of them are not few, 5 less rounding would be.
fn counted(number: f64) -> f64 {
    let whole = number.round();
    if (number - whole).abs() < 1e-9 * number { whole } else { number }
}

/// How many negatives are expected in the range [low, high], or beyond the threshold at low = high.
fn n_limiting(n_neg: f64, low: f64, high: f64) -> f64 {
    counted(n_neg * if low < high { high - low } else { low.min(1.0 - low) })
}

/// Whether the area over [low, high], or the rate at low = high, depends on few negatives.
pub(crate) fn few(n_neg: f64, low: f64, high: f64) -> bool {
    n_limiting(n_neg, low, high) < FEW
}

/// The probability of fewer successes among `trials` than a share of them, plus half of that of as many.
enum MidP {
    None(Law),
    All(Law),
    /// Both probabilities follow from the integral with the other trials and the hits, and the part of its mass.
    Some(Law, f64),
}

impl MidP {
    fn new(trials: f64, share: f64) -> Self {
        let hits = trials * share;
        if share <= ROUNDING {
            Self::None(Law::new(trials - hits, hits + 1.0))
        } else if share >= 1.0 - ROUNDING {
            Self::All(Law::new(trials - hits + 1.0, hits))
        } else {
            Self::Some(Law::new(trials - hits, hits), (1.0 / hits - 1.0 / (trials - hits)) / 2.0)
        }
    }

    /// By the probability of a success, and the rest.
    fn at(&self, mean: f64, left: f64) -> f64 {
        match self {
            Self::None(law) => law.at(left, mean).below / 2.0,
            Self::All(law) => (1.0 + law.at(left, mean).below) / 2.0,
            Self::Some(law, part) => {
                let found = law.at(left, mean);
                found.below + found.mass * part
            }
        }
    }
}

/// Limits of the mean height over a span, or of the height at its ends if these are equal.
pub struct Few {
    share: f64,
    n_pos: f64,
    slopes: [f64; 2],
    /// Heights of curves that are 0 and 1 throughout, for both slopes.
    edges: [[f64; 2]; 2],
    /// Normal quantiles of the points of the order statistics, step by step; weights of the points; shares of the steps.
    probits: Vec<f64>,
    weights: Vec<f64>,
    shares: Vec<f64>,
    /// Normal quantiles and weights of the span.
    nodes: (Vec<f64>, Vec<f64>),
    /// Levels at heights from edge to edge, for both slopes, as far as they are known.
    levels: [[OnceLock<f64>; HEIGHTS]; 2],
}

/// Points of the order statistics, step by step, their weights, and the shares of the steps.
fn order_statistics(n: f64, [low, high]: [f64; 2]) -> (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) {
    let first = f64::min((n * low + 1e-9).floor(), n - 1.0);
    let last = if low < high { f64::max(first, f64::min((n * high - 1e-9).ceil(), n) - 1.0) } else { first };
    let steps: Vec<f64> = (0..=(last - first) as usize).map(|k| first + k as f64).collect();
    let part = |k: f64| f64::max(high.min((k + 1.0) / n) - low.max(k / n), 0.0);
    let total: f64 = steps.iter().copied().map(part).sum();
    let even = 1.0 / steps.len() as f64;
    let shares = steps.iter().map(|&k| if total > 0.0 { part(k) / total } else { even }).collect();
    // The last follows a regular grid, denser at both ends; the others below it follow Richtmyer's sequence.
    let n_points = POINTS * usize::min(2, steps.len());
    let count = |point: usize| point as f64 + 0.5;
    let at = |point: usize| std::f64::consts::PI * count(point) / n_points as f64;
    let law = Law::new(last + 1.0, n - last);
    let mut near = (last + 1.0) / (n + 1.0);
    let greatest = (0..n_points).map(|point| {
        near = law.quantile((1.0 - at(point).cos()) / 2.0, near);
        near
    });
    let mut u = vec![greatest.collect::<Vec<f64>>()];
    for (step, prime) in steps.iter().skip(1).rev().zip(PRIMES) {
        let of_step = |point: usize| u[0][point] * (count(point) * prime.sqrt() % 1.0).powf(1.0 / step);
        let of_step = (0..n_points).map(of_step).collect();
        u.insert(0, of_step);
    }
    let weights: Vec<f64> = (0..n_points).map(|point| at(point).sin()).collect();
    let total: f64 = weights.iter().sum();
    (u, weights.into_iter().map(|weight| weight / total).collect(), shares)
}

impl Few {
    /// Of one model with the fitted slope of its curve, and effective sizes of positives and negatives.
    ///
    /// # Errors
    /// [`Error::Domain`] for numbers that are none of these, or a span that does not lie between 0 and 1.
    pub fn new(share: f64, slope: f64, sizes: [f64; 2], span: [f64; 2]) -> Result<Self> {
        check_sizes(sizes)?;
        check_model(share, slope)?;
        let inside = 0.0 <= span[0] && span[0] <= span[1] && span[1] <= 1.0;
        Error::check_number("low", "a rate of at most high", span[0], inside)?;
        let (u, weights, shares) = order_statistics(whole(sizes[1]), span);
        let known = f64::min(sizes[0] * sizes[1] / (sizes[0] + sizes[1]), KNOWN);
        let errors = if n_limiting(sizes[1], span[0], span[1]) < 1.0 { BEYOND } else { ERRORS };
        let spread = (errors * (0.5 / (known + PRIOR)).sqrt()).exp();
        let rates = || u.iter().flatten().copied();
        let outer = [rates().fold(span[0], f64::min), rates().fold(span[1], f64::max)].map(probit);
        let slopes = [slope * (1.0 / spread), slope * spread];
        let edges = slopes.map(|b| [-EDGE - b * outer[1], EDGE - b * outer[0]]);
        let nodes = if span[0] == span[1] {
            (vec![probit(span[0])], vec![1.0])
        } else {
            quadrature(span[0], span[1]).map(|(x, weight)| (probit(x), weight / (span[1] - span[0]))).unzip()
        };
        let probits = rates().map(probit).collect();
        let levels = [(); 2].map(|()| [const { OnceLock::new() }; HEIGHTS]);
        Ok(Self { share, n_pos: sizes[0], slopes, edges, probits, weights, shares, nodes, levels })
    }

    /// The height that is measured.
    fn value(&self, a: f64, b: f64) -> f64 {
        let (probits, weights) = &self.nodes;
        let mut rates = [0.0; super::NODES];
        heights(a, b, probits, &mut rates);
        rates.iter().zip(weights).map(|(rate, weight)| rate * weight).sum()
    }

    /// The mid-p probability of an estimate below that of the model.
    fn less(&self, a: f64, b: f64) -> f64 {
        thread_local!(static RATES: RefCell<[Vec<f64>; 2]> = const { RefCell::new([vec![], vec![]]) });
        RATES.with_borrow_mut(|both| {
            let [rates, rests] = both;
            rates.resize(self.probits.len(), 0.0);
            rests.resize(self.probits.len(), 0.0);
            heights(a, b, &self.probits, rates);
            heights(-a, -b, &self.probits, rests); // 1 - rates cancels near 1
            let n = self.weights.len();
            let of_one = (self.shares.len() == 1).then(|| MidP::new(self.n_pos, self.share));
            let of_point = |(point, weight): (usize, &f64)| {
                // From the last step on: the variance is that of R(min(U, V)) - R(U) R(V), which is R(U) (1 - R(V)).
                let (mut mean, mut left, mut variance) = (0.0, 0.0, 0.0);
                for (k, share) in self.shares.iter().enumerate().rev() {
                    let (rate, rest) = (rates[k * n + point], share * rests[k * n + point]);
                    mean += share * rate;
                    variance += share * rate * (2.0 * left + rest);
                    left += rest;
                }
                let (mean, left) = (mean.clamp(LEAST, LAST), left.max(LEAST));
                let several = || self.n_pos * (mean * left / variance.max(LEAST)).clamp(1.0, MOST);
                weight
                    * of_one
                        .as_ref()
                        .map_or_else(|| MidP::new(several(), self.share).at(mean, left), |law| law.at(mean, left))
            };
            self.weights.iter().enumerate().map(of_point).sum()
        })
    }

    /// The height at which the probability is Phi(z), on the curves of one slope.
    fn height(&self, k: usize, z: f64) -> f64 {
        let (b, [low, high]) = (self.slopes[k], self.edges[k]);
        if z.abs() > SURE {
            let tail = |a: f64| if z > 0.0 { 1.0 - self.less(a, b) } else { self.less(a, b) };
            let gap = |a: f64| probit(tail(a)) + z.abs();
            return if z > 0.0 { last_held(high, low, gap) } else { last_held(low, high, gap) };
        }
        let level = |a: f64| probit(self.less(a, b));
        // Between neighbours of a table, whatever was searched before.
        let place = |j: usize| low + j as f64 / (HEIGHTS - 1) as f64 * (high - low);
        let gap_at = |j: usize| *self.levels[k][j].get_or_init(|| level(place(j))) - z;
        let (mut before, mut after) = (0, HEIGHTS - 1);
        if gap_at(before) < 0.0 || gap_at(after) >= 0.0 {
            return if gap_at(before) < 0.0 { low } else { high };
        }
        while after - before > 1 {
            let middle = before.midpoint(after);
            if gap_at(middle) >= 0.0 { before = middle } else { after = middle }
        }
        let [inner, outer] = [before, after].map(|j| [place(j), gap_at(j)]);
        let share = inner[1] / (inner[1] - outer[1]); // where a line is z
        last_between(inner, outer, share, CLOSE, |a| level(a) - z)
    }

    /// The probability on the curve of one slope that has this value.
    fn less_at(&self, k: usize, value: f64) -> f64 {
        let (b, [low, high]) = (self.slopes[k], self.edges[k]);
        self.less(last_held(low, high, |a| value - self.value(a, b)), b)
    }

    /// The outer one of both slopes' limits to a side: mostly the steep one's, at which the flat curve is rejected.
    fn end(&self, side: f64, z: f64) -> f64 {
        let of = |k: usize| self.value(self.height(k, side * z), self.slopes[k]).clamp(0.0, 1.0);
        let steep = of(1);
        if z <= SURE && side * probit(self.less_at(0, steep)) >= z {
            return steep;
        }
        if side > 0.0 { steep.min(of(0)) } else { steep.max(of(0)) }
    }
}

impl Limits for Few {
    fn ends(&self, z: f64) -> [f64; 2] {
        around(self.end(1.0, z), self.share, self.end(-1.0, z))
    }

    fn distance(&self, value: f64) -> f64 {
        let found = [0, 1].map(|k| self.less_at(k, value));
        if self.share < value {
            probit(f64::max(found[0], found[1]))
        } else {
            -probit(1.0 - f64::min(found[0], found[1]))
        }
    }
}
