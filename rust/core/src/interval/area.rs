//! Score intervals of an AUC or a partial AUC, which take the variance at the interval's ends.
//!
//! The components of few positives that are all ranked alike do not vary, and the variance is near 0 if the estimate is
//! near 0 or 1: intervals from them are far too short. As Newcombe does for an AUC, a family of curves gives the variance
//! at each value: `R(x) = Phi(a + b Phi^-1(x))` for all a. Over FPR in [l, h] of width w, with U the false positive rate
//! at a positive's score and G that at a negative's, a curve has
//!
//! ```text
//! theta = int_l^h R(x) dx / w
//! V10   = var min(1, max(0, (h - U) / w))
//! V01   = var R(min(h, max(l, G))) / w^2
//! ```
//!
//! The mean of the empirical curve is not that curve: with k of n negatives above the threshold, the next one sets it,
//! and the false positive rate is Beta(k + 1, n - k). The mean of the estimate is
//!
//! ```text
//! E = int_0^1 R(u) (B(h, u) - B(l, u)) du / w,    B(x, u) = P(X < j) + (n x - j) P(X = j),
//! ```
//!
//! j = floor(n x), X binomial of n - 1 trials of probability u; with one or two negatives in the range that is far from
//! theta. The positives' part of the estimate is skewed, too: a z above 1 grows by `(z^2 - 1) / 6` of the skewness
//! (Cornish and Fisher) at the end that the skewness makes easier to reach.
//!
//! Many components are a better guide: the model's variance of each class is multiplied by `(p + (k - 1) ratio) /
//! (p + k - 1)`, where ratio is the variance of the k components over the model's at the estimate. For the negatives
//! k = n w, the number in the range. Of 40 and more p = 10. Of fewer, a smaller variance is believed later, with p up to
//! 50, and a greater one sooner, with p down to 3: among ten, a kind of sample that is one of ten is missing in one case
//! of three, and the variance with it.

use std::sync::Arc;

use super::beta::Binomial;
use super::distance::{Distance, Held, Law, ROUNDING};
use super::few::{Few, Span, few};
use super::normal::heights;
use super::search::last_held;
use super::{LAST, LEAST, Limits, NODES, check_model, check_sizes, probit, quadrature, quantile, whole};
use crate::curve::Curve;
use crate::{Error, Result};

/// Samples that the model's variance counts for, where the components' is greater, and where it is less; components,
/// from which on either counts as the first.
const PRIOR: f64 = 10.0;
const GREATER: f64 = 3.0;
const LESS: f64 = 50.0;
const SEVERAL: f64 = 40.0;
/// Distance of a from a curve of height 1/2 in the middle of the range: beyond it areas are 0 or 1.
const EDGE: f64 = 12.0;
/// Negatives in the range: with more, E is theta to all purposes.
const KNOWN: f64 = 400.0;
/// Points are enough for a line.
const LINE: usize = 4096;
/// Heights that are tried if distances may fall again.
const PLACES: usize = 48;

impl Curve {
    /// The slope of the line through the curve between normal quantiles, by least squares; none without one.
    ///
    /// The line is that through the points at all distinct scores or, if `each`, at all negatives between two positives.
    /// If `mirrored`, the classes are exchanged.
    pub fn slope(&self, mirrored: bool, each: bool) -> Option<f64> {
        let (steps, n) = (self.steps(), self.steps().len());
        // Weight of the class on the axis of the true rate, and of the other; steps from the end where both are 0.
        let parts = |k: usize| {
            let step = &steps[if mirrored { n - 1 - k } else { k }];
            if mirrored { (step.neg, step.pos) } else { (step.pos, step.neg) }
        };
        let points = |k: usize| {
            let step = &steps[if mirrored { n - 1 - k } else { k }];
            if each && step.pos == 0.0 { step.neg as usize } else { 1 }
        };
        // Rates ascend: those between 0 and 1 are neighbours.
        let first = |of: fn((f64, f64)) -> f64| (0..n).position(|k| of(parts(k)) > 0.0);
        let last = |of: fn((f64, f64)) -> f64| (0..n).rposition(|k| of(parts(k)) > 0.0);
        let start = usize::max(first(|part| part.0)?, first(|part| part.1)?);
        let stop = usize::min(last(|part| part.0)?, last(|part| part.1)?);
        let begin: usize = (0..start).map(points).sum();
        let end = if each { begin + (start..=stop).map(points).sum::<usize>() - 1 } else { stop };
        if end < begin {
            return None;
        }
        let every = 1 + (end - begin) / LINE;
        let (mut sums, mut up_to, mut k) = ((0.0, 0.0), 0, 0);
        let totals = (0..n).map(parts).fold((0.0, 0.0), |(tpr, fpr), (pos, neg)| (tpr + pos, fpr + neg));
        let (mut x, mut y) = (vec![], vec![]);
        for point in (begin..end).step_by(every) {
            while up_to <= point {
                let (pos, neg) = parts(k);
                sums = (sums.0 + pos, sums.1 + neg);
                up_to += points(k);
                k += 1;
            }
            let left = (up_to - 1 - point) as f64; // negatives of the step that are not reached
            let (tpr, fpr) = if mirrored { (sums.0 - left, sums.1) } else { (sums.0, sums.1 - left) };
            let (tpr, fpr) = (tpr / totals.0, fpr / totals.1);
            if tpr < 1.0 && fpr < 1.0 {
                x.push(quantile(fpr));
                y.push(quantile(tpr));
            }
        }
        if x.len() < 2 {
            return None;
        }
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let (mut products, mut spread) = (0.0, 0.0);
        for (x, y) in x.iter().zip(&y) {
            products += (x - mean) * y;
            spread += (x - mean) * (x - mean);
        }
        Some(if spread > 1e-12 { products / spread } else { 1.0 })
    }
}

/// A range of the curve and the size of the class that its rate is of: what all models share.
struct Range {
    low: f64,
    high: f64,
    /// Normal quantiles of the nodes, then of both ends; the nodes' weights of the mean, and of the highest of two and
    /// of three negatives.
    probits: Vec<f64>,
    weights: Vec<[f64; 3]>,
    plain: Vec<f64>,
    /// Normal quantiles and weights of the mean of the estimate, where it is not theta and decides.
    exact: Option<(Vec<f64>, Vec<f64>)>,
}

/// Properties of a curve.
struct Values {
    theta: f64,
    v10: f64,
    v01: f64,
    skew10: f64,
}

impl Range {
    fn new(n_neg: f64, low: f64, high: f64, few: bool) -> Self {
        let width = high - low;
        let (x, plain): (Vec<f64>, Vec<f64>) = quadrature(low, high).unzip();
        let ends = [low, high].map(|end| end.clamp(LEAST, LAST));
        let weights = x.iter().zip(&plain).map(|(x, weight)| {
            let above = (high - x) / width;
            [1, 2, 3].map(|power| weight * f64::from(power) * above.powi(power - 1) / width)
        });
        let exact = (!few && n_neg * width <= KNOWN && width < 1.0).then(|| mean_weights(whole(n_neg), low, high));
        let weights = weights.collect();
        let probits = x.into_iter().chain(ends).map(quantile).collect();
        Self { low, high, probits, weights, plain, exact }
    }

    fn theta(&self, a: f64, b: f64) -> f64 {
        let mut rates = [0.0; NODES];
        heights(a, b, &self.probits[..NODES], &mut rates);
        rates.iter().zip(&self.weights).map(|(rate, weight)| rate * weight[0]).sum()
    }

    /// The mean of the estimate.
    fn mean(&self, a: f64, b: f64) -> f64 {
        let Some((probits, weights)) = &self.exact else { return self.theta(a, b) };
        let mut rates = [0.0; 4 * NODES];
        heights(a, b, probits, &mut rates);
        rates.iter().zip(weights).map(|(rate, weight)| rate * weight).sum()
    }

    fn values(&self, a: f64, b: f64) -> Values {
        let mut rates = [0.0; NODES + 2];
        heights(a, b, &self.probits, &mut rates);
        let (low, high, width) = (self.low, self.high, self.high - self.low);
        let first = if low > 0.0 { rates[NODES] } else { 0.0 };
        let last = if high < 1.0 { rates[NODES + 1] } else { 1.0 };
        let ([mut theta, mut square, mut cube], mut squares) = ([0.0; 3], 0.0);
        for ((rate, weight), plain) in rates.iter().zip(&self.weights).zip(&self.plain) {
            theta += rate * weight[0];
            square += rate * weight[1];
            cube += rate * weight[2];
            squares += rate * rate * plain;
        }
        let lowest = low / width * first + theta + (1.0 - high) / width * last;
        let squares = (low * first * first + squares + (1.0 - high) * last * last) / (width * width);
        Values {
            theta,
            v10: f64::max(square - theta * theta, 0.0),
            v01: f64::max(squares - lowest * lowest, 0.0),
            skew10: cube - 3.0 * theta * square + 2.0 * theta.powi(3),
        }
    }
}

/// Normal quantiles and weights of the mean of the estimate among n negatives.
fn mean_weights(n: f64, low: f64, high: f64) -> (Vec<f64>, Vec<f64>) {
    let reach = |rate: f64| 6.0 * (rate * (1.0 - rate) / n).sqrt() + 12.0 / n;
    let cuts = [low - reach(low), low, (low + high) / 2.0, high, high + reach(high)].map(|cut| cut.clamp(0.0, 1.0));
    let [first, last] = [low, high].map(|rate| Reached::new(rate, n));
    let pieces = cuts.windows(2).filter(|ends| ends[0] < ends[1]);
    let nodes = pieces.flat_map(|ends| quadrature(ends[0], ends[1]));
    let (probits, mut weights): (Vec<f64>, Vec<f64>) =
        nodes.map(|(u, weight)| (quantile(u), weight * (last.share(u) - first.share(u)))).unzip();
    // They sum to the width but for what lies beyond: so that the mean of a perfect ranking is 1.
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    (probits, weights)
}

/// B(x, u): the mean share of a step that has begun when the false positive rate is u, in steps of 1 / n.
struct Reached {
    below: Binomial,
    part: f64,
}

impl Reached {
    fn new(rate: f64, n: f64) -> Self {
        let j = (n * rate + 1e-9).floor();
        Self { below: Binomial::new(n - 1.0, j - 1.0), part: f64::max(n * rate - j, 0.0) }
    }

    fn share(&self, u: f64) -> f64 {
        self.below.up_to(u) + if self.part > 0.0 { self.part * self.below.next(u) } else { 0.0 }
    }
}

/// The curves of one slope.
struct OfArea {
    range: Arc<Range>,
    slope: f64,
    ratios: [f64; 2],
    sizes: [f64; 2],
}

impl OfArea {
    fn variance(&self, values: &Values) -> f64 {
        self.ratios[0] * values.v10 / self.sizes[0] + self.ratios[1] * values.v01 / self.sizes[1]
    }
}

impl Law for OfArea {
    fn at(&self, a: f64) -> Held {
        let values = self.range.values(a, self.slope);
        Held {
            mean: if self.range.exact.is_some() { self.range.mean(a, self.slope) } else { values.theta },
            variance: self.variance(&values),
            third: self.ratios[0].powf(1.5) * values.skew10 / (self.sizes[0] * self.sizes[0]),
        }
    }

    fn theta(&self, a: f64) -> f64 {
        self.range.theta(a, self.slope)
    }
}

/// What is measured of one model: its area as a share of the greatest, the parts of either class in its variance, and
/// the slope of its curve.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Part {
    pub share: f64,
    pub variance: [f64; 2],
    pub slope: f64,
}

/// Score limits of areas of models of the same samples.
pub struct Area {
    range: Arc<Range>,
    sizes: [f64; 2],
    /// Of few negatives.
    few: Option<Arc<Span>>,
}

impl Area {
    /// Of a range of the rate of the second class, for effective sizes of both.
    ///
    /// # Errors
    /// [`Error::Domain`] for sizes that are not above 0, or ends that are no rates or not apart.
    pub fn new(sizes: [f64; 2], low: f64, high: f64) -> Result<Self> {
        check_sizes(sizes)?;
        Error::check_number("low", "a rate below high", low, 0.0 <= low && low < high && high <= 1.0)?;
        let few = high - low < 1.0 && few(sizes[1], low, high);
        let few = few.then(|| Span::new(sizes, [low, high])).transpose()?;
        Ok(Self { range: Arc::new(Range::new(sizes[1], low, high, few.is_some())), sizes, few })
    }

    /// The variance at the estimate, and the limits, of one model.
    ///
    /// # Errors
    /// [`Error::Domain`] for a share beyond 0 and 1, a variance below 0, or a slope that is not above 0.
    pub fn limits(&self, model: Part) -> Result<(f64, Box<dyn Limits + Send>)> {
        let Part { share, variance, slope } = model;
        check_model(share, slope)?;
        let least = variance[0].min(variance[1]);
        Error::check_number("variance", "of at least 0", least, variance.iter().all(|&part| part >= 0.0))?;
        let (range, sizes) = (&self.range, self.sizes);
        let (low, high) = (range.low, range.high);
        let middle = -slope * probit((low + high) / 2.0);
        let outer = [middle - EDGE, middle + EDGE];
        let of_area = last_held(outer[0], outer[1], |a| share + ROUNDING - range.theta(a, slope));
        let known = [sizes[0], f64::max(1.0, sizes[1] * (high - low))];
        let found = range.values(of_area, slope);
        let ratios = [0, 1].map(|k| ratio(variance[k] * sizes[k], [found.v10, found.v01][k], known[k]));
        let law = OfArea { range: Arc::clone(range), slope, ratios, sizes };
        let at_estimate = law.variance(&found);
        if let Some(few) = &self.few {
            return Ok((at_estimate, Box::new(Few::new(share, slope, few)?)));
        }
        let start = match range.exact {
            None => of_area,
            Some(_) => last_held(outer[0], outer[1], |a| share + ROUNDING - range.mean(a, slope)),
        };
        // The distance of steep curves over a range near 0 or 1 can fall again on the way out.
        let steps = [low, 1.0 - high].into_iter().filter(|rate| *rate > 0.0).map(|rate| sizes[1] * rate);
        let falls = steps.fold(f64::INFINITY, f64::min) < 4.0 * slope * slope;
        let n_places = if falls { PLACES } else { 0 };
        Ok((at_estimate, Box::new(Distance::new(law, share, start, outer, n_places))))
    }
}

/// Variance of the components over the model's, shrunk towards 1 if there are few.
fn ratio(found: f64, modelled: f64, count: f64) -> f64 {
    let ratio = if modelled > 1e-12 { found / modelled } else { 1.0 };
    let (scarcity, known) = (f64::max(0.0, 1.0 - count / SEVERAL), f64::max(count - 1.0, 0.0));
    let prior = PRIOR + scarcity * (if ratio > 1.0 { GREATER } else { LESS } - PRIOR);
    (prior + known * ratio) / (prior + known)
}
