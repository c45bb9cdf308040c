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
use std::sync::Arc;

use super::beta::{Law, Laws, each};
use super::normal::{LANES, MANY, both_heights, heights};
use super::search::{Levels, last_held};
use super::{LAST, LEAST, Limits, at_levels, check_model, check_sizes, probit, quadrature, whole};
use crate::simd::fast;
use crate::{Error, Result};

const FEW: f64 = 5.0;
const EDGE: f64 = 12.0; // |a|: beyond it all rates are 0 or 1
const ERRORS: f64 = 2.0; // of the slope, to either side
const BEYOND: f64 = 3.0; // where the range lies beyond the data
const PRIOR: f64 = 5.0; // samples that the prior slope 1 counts for
const KNOWN: f64 = 10.0; // at most those of the whole curve
const POINTS: usize = MANY; // for one step; twice as many for several
const ROUNDING: f64 = 1e-12;
const CLOSE: f64 = 1e-12; // heights
const SURE: f64 = 6.0; // quantiles above rounding
const MOST: f64 = 1e6; // trials per positive
/// Fewer than 5 negatives, of a size rounded up to a whole one, touch at most 7 steps.
const PRIMES: [f64; 6] = [2.0, 3.0, 5.0, 7.0, 11.0, 13.0];

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

/// The probability of fewer successes than a share of some trials, plus half of that of as many: both follow from the
/// distribution with these trials and hits, and the part of its mass that counts, or from that with one more of either.
struct MidP {
    share: f64,
    more: [f64; 2],
    least: f64,
    part: f64,
    tied: bool,
}

impl MidP {
    fn new(share: f64) -> Self {
        if share <= ROUNDING {
            Self { share, more: [0.0, 1.0], least: 0.0, part: 0.5, tied: false }
        } else if share >= 1.0 - ROUNDING {
            Self { share, more: [1.0, 0.0], least: 0.5, part: 0.5, tied: false }
        } else {
            Self { share, more: [0.0; 2], least: 0.0, part: 1.0, tied: true }
        }
    }

    /// By the numbers of trials, the probabilities of a success, and the rests.
    #[inline(always)]
    fn at(&self, trials: [f64; LANES], mean: [f64; LANES], left: [f64; LANES]) -> [f64; LANES] {
        let hits = trials.map(|n| n * self.share + self.more[1]);
        let misses = trials.map(|n| n * (1.0 - self.share) + self.more[0]);
        let [below, mass] = Laws::new(misses, hits).at(left, mean);
        let tied = if self.tied { 0.5 } else { 0.0 };
        each([below, mass, hits, misses], |[below, mass, hits, misses]| {
            self.least + self.part * below + tied * mass * (1.0 / hits - 1.0 / misses)
        })
    }
}

/// What all models of the same samples share: the effective number of positives, the order statistics and the span.
pub struct Span {
    n_pos: f64,
    /// The factors of the slopes.
    spreads: [f64; 2],
    /// The normal quantiles of the least and the greatest rate.
    outer: [f64; 2],
    /// Normal quantiles of the points of the order statistics, step by step; weights of the points; shares of the steps.
    probits: Vec<[f64; POINTS]>,
    weights: Vec<[f64; LANES]>,
    shares: Vec<f64>,
    /// Normal quantiles and weights of the span.
    nodes: (Vec<f64>, Vec<f64>),
}

/// Limits of the mean height over a span, or of the height at its ends if these are equal.
pub struct Few {
    span: Arc<Span>,
    share: f64,
    law: MidP,
    slopes: [f64; 2],
    /// Heights of curves that are 0 and 1 throughout, for both slopes.
    edges: [[f64; 2]; 2],
}

/// What known levels tell of others: heights of both slopes, and of each side those of flat curves with the steep ones'
/// limits, and the levels whose limit the flat curve rejects, up to which one.
#[derive(Default)]
struct Known {
    slopes: [Levels; 2],
    same: [Levels; 2],
    rejected: [Vec<[f64; 2]>; 2],
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

impl Span {
    /// Of effective sizes of positives and negatives.
    ///
    /// # Errors
    /// [`Error::Domain`] for sizes that are not above 0, or a span that does not lie between 0 and 1.
    pub fn new(sizes: [f64; 2], span: [f64; 2]) -> Result<Arc<Self>> {
        check_sizes(sizes)?;
        let inside = 0.0 <= span[0] && span[0] <= span[1] && span[1] <= 1.0;
        Error::check_number("low", "a rate of at most high", span[0], inside)?;
        let (u, weights, shares) = order_statistics(whole(sizes[1]), span);
        let known = f64::min(sizes[0] * sizes[1] / (sizes[0] + sizes[1]), KNOWN);
        let errors = if n_limiting(sizes[1], span[0], span[1]) < 1.0 { BEYOND } else { ERRORS };
        let spread = (errors * (0.5 / (known + PRIOR)).sqrt()).exp();
        let rates = || u.iter().flatten().copied();
        let outer = [rates().fold(span[0], f64::min), rates().fold(span[1], f64::max)].map(probit);
        let nodes = if span[0] == span[1] {
            (vec![probit(span[0])], vec![1.0])
        } else {
            quadrature(span[0], span[1]).map(|(x, weight)| (probit(x), weight / (span[1] - span[0]))).unzip()
        };
        let probits = rates().map(probit).collect::<Vec<_>>().as_chunks().0.to_vec();
        let (n_pos, spreads, weights) = (sizes[0], [1.0 / spread, spread], weights.as_chunks().0.to_vec());
        Ok(Arc::new(Self { n_pos, spreads, outer, probits, weights, shares, nodes }))
    }
}

impl Few {
    /// Of one model with the fitted slope of its curve.
    ///
    /// # Errors
    /// [`Error::Domain`] for a share beyond 0 and 1, or a slope that is not above 0.
    pub fn new(share: f64, slope: f64, span: &Arc<Span>) -> Result<Self> {
        check_model(share, slope)?;
        let slopes = span.spreads.map(|spread| slope * spread);
        let edges = slopes.map(|b| [-EDGE - b * span.outer[1], EDGE - b * span.outer[0]]);
        Ok(Self { span: Arc::clone(span), share, law: MidP::new(share), slopes, edges })
    }

    /// The height that is measured.
    fn value(&self, a: f64, b: f64) -> f64 {
        let (probits, weights) = &self.span.nodes;
        let mut rates = [0.0; super::NODES];
        heights(a, b, probits, &mut rates);
        rates.iter().zip(weights).map(|(rate, weight)| rate * weight).sum()
    }

    /// The mid-p probability of an estimate below that of the model.
    fn less(&self, a: f64, b: f64) -> f64 {
        type Groups = Vec<[f64; POINTS]>;
        thread_local!(static RATES: RefCell<[Groups; 2]> = const { RefCell::new([vec![], vec![]]) });
        let Span { n_pos, probits, weights, shares, .. } = &*self.span;
        RATES.with_borrow_mut(|both| {
            both.iter_mut().for_each(|rates| rates.resize(probits.len(), [0.0; POINTS]));
            both_heights(a, b, probits, both);
            let [rates, rests] = both.each_ref().map(|rates| rates.as_flattened().as_chunks::<LANES>().0);
            fast!({
                let mut sums = [0.0; LANES];
                for (group, weight) in weights.iter().enumerate() {
                    // From the last step on: the variance is that of R(min(U, V)) - R(U) R(V), R(U) (1 - R(V)).
                    let (mut mean, mut left, mut variance) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
                    for (k, share) in shares.iter().enumerate().rev() {
                        let (rates, rests) = (&rates[k * weights.len() + group], &rests[k * weights.len() + group]);
                        for lane in 0..LANES {
                            let (rate, rest) = (rates[lane], share * rests[lane]);
                            mean[lane] += share * rate;
                            variance[lane] += share * rate * (2.0 * left[lane] + rest);
                            left[lane] += rest;
                        }
                    }
                    let mut trials = [*n_pos; LANES];
                    for lane in 0..LANES {
                        mean[lane] = mean[lane].clamp(LEAST, LAST);
                        left[lane] = left[lane].max(LEAST);
                        if shares.len() > 1 {
                            trials[lane] *= (mean[lane] * left[lane] / variance[lane].max(LEAST)).clamp(1.0, MOST);
                        }
                    }
                    let found = self.law.at(trials, mean, left);
                    for lane in 0..LANES {
                        sums[lane] += weight[lane] * found[lane];
                    }
                }
                sums.iter().sum()
            })
        })
    }

    /// The height at which the probability is Phi(z), on the curves of one slope.
    fn height(&self, k: usize, z: f64, levels: &mut Levels) -> f64 {
        let (b, [low, high]) = (self.slopes[k], self.edges[k]);
        levels.start.get_or_insert_with(|| self.height_of(k, self.share));
        if z.abs() > SURE {
            let tail = |a: f64| if z > 0.0 { 1.0 - self.less(a, b) } else { self.less(a, b) };
            let gap = |a: f64| probit(tail(a)) + z.abs();
            return if z > 0.0 { last_held(high, low, gap) } else { last_held(low, high, gap) };
        }
        levels.last_held(z, low, high, CLOSE, |a| probit(self.less(a, b)) - z)
    }

    /// The height of the curve of one slope that has this value.
    fn height_of(&self, k: usize, value: f64) -> f64 {
        let (b, [low, high]) = (self.slopes[k], self.edges[k]);
        last_held(low, high, |a| value - self.value(a, b))
    }

    /// The probability on this curve.
    fn less_at(&self, k: usize, value: f64) -> f64 {
        self.less(self.height_of(k, value), self.slopes[k])
    }

    /// The outer one of both slopes' limits to a side: mostly the steep one's, at which the flat curve is rejected.
    fn end(&self, end: usize, z: f64, known: &mut Known) -> f64 {
        let side = [1.0, -1.0][end];
        let of = |k: usize, levels: &mut Levels| {
            self.value(self.height(k, side * z, levels), self.slopes[k]).clamp(0.0, 1.0)
        };
        let limit = of(1, &mut known.slopes[1]);
        if z <= SURE {
            if known.rejected[end].iter().any(|[from, to]| (from..=to).contains(&&z)) {
                return limit;
            }
            let ([low, high], b) = (self.edges[0], self.slopes[0]);
            let height = known.same[end].last_held(z, low, high, CLOSE, |a| limit - self.value(a, b));
            let distance = side * probit(self.less(height, b));
            if distance >= z {
                known.rejected[end].push([z, distance]);
                return limit;
            }
        }
        let flat = of(0, &mut known.slopes[0]);
        if end == 0 { limit.min(flat) } else { limit.max(flat) }
    }
}

impl Limits for Few {
    fn ends(&self, z: &[f64]) -> Vec<[f64; 2]> {
        let mut known = Known::default();
        at_levels(self.share, z, |end, z| self.end(end, z, &mut known))
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
