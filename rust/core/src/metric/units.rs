//! Random draws with replacement of the units that weighted samples stand for, as counts of how often each is drawn.
//!
//! A sample of weight w is w equal units, so that a class of total weight W is drawn W times, rounded, and the counts
//! are multinomial with probabilities in proportion to the weights: one by one binomial, given those before.

use super::draw::Stream;
use crate::ctx::CHUNK;
use crate::{Ctx, Error, Result};

/// What is drawn together: the samples, the share of each in the weight of those not before it, and the draws.
#[derive(Debug, Clone)]
struct Stratum {
    members: Vec<u32>,
    shares: Vec<f64>,
    n_draws: f64,
}

/// As many draws of each stratum as it has units.
#[derive(Debug, Clone)]
pub(crate) struct Units(Vec<Stratum>);

impl Units {
    /// Of samples with these weights, those of the same of `classes` together.
    pub(crate) fn new(weights: &[f64], classes: &[u8]) -> Result<Self> {
        let total = |class| weights.iter().zip(classes).filter(|&(_, &of)| of == class).map(|(w, _)| w).sum::<f64>();
        let mut present = classes.to_vec();
        present.sort_unstable();
        present.dedup();
        if let [neg, pos] = present[..] {
            Error::check_totals(total(pos), total(neg))?;
        }
        let stratum = |&class: &u8| {
            let members: Vec<u32> =
                classes.iter().zip(0..).filter(|&(&of, _)| of == class).map(|(_, sample)| sample).collect();
            let mut left = 0.0;
            let mut shares: Vec<f64> = members
                .iter()
                .rev()
                .map(|&sample| {
                    let weight = weights[sample as usize];
                    left += weight;
                    if left > 0.0 { weight / left } else { 0.0 }
                })
                .collect();
            shares.reverse();
            Stratum { members, shares, n_draws: left.round() }
        };
        Ok(Self(present.iter().map(stratum).collect()))
    }

    /// Sets the counts of all samples.
    pub(crate) fn fill(&self, stream: &mut Stream, counts: &mut [f64], ctx: &Ctx<'_>) -> Result<()> {
        for Stratum { members, shares, n_draws } in &self.0 {
            let mut left = *n_draws;
            for (members, shares) in members.chunks(CHUNK).zip(shares.chunks(CHUNK)) {
                ctx.check()?;
                for (&sample, &share) in members.iter().zip(shares) {
                    let drawn = binomial(stream, left, share);
                    counts[sample as usize] = drawn;
                    left -= drawn;
                }
            }
        }
        Ok(())
    }
}

/// A uniform number between 0 and 1, neither of them.
fn uniform(stream: &mut Stream) -> f64 {
    ((stream.next() >> 11) as f64 + 0.5) / 2f64.powi(53)
}

/// Below this mean, values are looked for one by one.
const SMALL: f64 = 10.0;
/// Above all values that a binomial variable of a small mean takes, but for a chance below 1e-60.
const MOST: f64 = 110.0;

/// The number of successes in n trials, a whole number, of probability p.
fn binomial(stream: &mut Stream, n: f64, p: f64) -> f64 {
    if p >= 1.0 || n == 0.0 {
        n
    } else if p > 0.5 {
        n - binomial(stream, n, 1.0 - p)
    } else if n * p < SMALL {
        one_by_one(stream, n, p)
    } else {
        rejected(stream, n, p)
    }
}

/// By inversion: the probabilities of 0, 1, ... are taken from a uniform number until it is used up.
fn one_by_one(stream: &mut Stream, n: f64, p: f64) -> f64 {
    let odds = p / (1.0 - p);
    let none = (n * (-p).ln_1p()).exp();
    loop {
        let (mut left, mut term, mut k) = (uniform(stream), none, 0.0);
        while k <= f64::min(n, MOST) {
            if left <= term {
                return k;
            }
            left -= term;
            k += 1.0;
            term *= odds * (n - k + 1.0) / k;
        }
    }
}

/// By transformed rejection (Hörmann, 1993, algorithm BTRS), p at most 1/2.
fn rejected(stream: &mut Stream, n: f64, p: f64) -> f64 {
    let odds = p / (1.0 - p);
    let spread = (n * p * (1.0 - p)).sqrt();
    let b = 1.15 + 2.53 * spread;
    let a = -0.0873 + 0.0248 * b + 0.01 * p;
    let centre = n * p + 0.5;
    let sure = 0.92 - 4.2 / b;
    let alpha = (2.83 + 5.1 / b) * spread;
    let mode = ((n + 1.0) * p).floor();
    loop {
        let (u, v) = (uniform(stream) - 0.5, uniform(stream));
        let edge = 0.5 - u.abs();
        let k = ((2.0 * a / edge + b) * u + centre).floor();
        if edge >= 0.07 && v <= sure {
            return k;
        }
        if !(0.0..=n).contains(&k) {
            continue;
        }
        // The logarithm of the probability of k over that of the mode.
        let bound = (mode + 0.5) * ((mode + 1.0) / (odds * (n - mode + 1.0))).ln()
            + (n + 1.0) * ((k - mode) / (n - k + 1.0)).ln_1p()
            + (k + 0.5) * (odds * (n - k + 1.0) / (k + 1.0)).ln()
            + beyond_stirling(mode)
            + beyond_stirling(n - mode)
            - beyond_stirling(k)
            - beyond_stirling(n - k);
        if (v * alpha / (a / (edge * edge) + b)).ln() <= bound {
            return k;
        }
    }
}

/// What Stirling's formula leaves of the logarithm of `k!`: `ln k! - ((k + 1/2) ln(k + 1) - (k + 1) + ln(2 pi) / 2)`.
fn beyond_stirling(k: f64) -> f64 {
    let mut next = k + 1.0;
    let mut lead = 0.0;
    // The series is good from 10 on: ln k! = ln (k+1)! - ln (k+1).
    while next < 10.0 {
        lead += (next + 0.5) * (1.0 / next).ln_1p() - 1.0;
        next += 1.0;
    }
    let square = next * next;
    lead + (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / next
}

#[cfg(test)]
mod tests {
    use super::super::sequence::POSITIVE;
    use super::*;

    #[test]
    fn what_stirling_leaves_is_that_of_factorials() {
        let mut log_factorial = 0.0;
        for k in 0..40u32 {
            log_factorial += f64::from(k.max(1)).ln();
            let k = f64::from(k);
            let formula = (k + 0.5) * (k + 1.0).ln() - (k + 1.0) + 0.5 * (2.0 * std::f64::consts::PI).ln();
            assert!((beyond_stirling(k) - (log_factorial - formula)).abs() < 1e-9, "{k}");
        }
    }

    #[test]
    fn draws_are_binomial() {
        let mut stream = Stream::new(3, 0);
        for (n, p) in [(1.0, 0.3), (7.0, 0.5), (9.0, 0.9), (40.0, 0.2), (25.0, 0.5), (200.0, 0.07), (3000.0, 0.4)] {
            let n_draws = 200_000;
            let mut found = vec![0.0; n as usize + 1];
            (0..n_draws).for_each(|_| found[binomial(&mut stream, n, p) as usize] += 1.0);
            // Of the values that are to be expected five times or more.
            let (mut term, mut chi_square, mut freedom) = (f64::from(n_draws) * (n * (-p).ln_1p()).exp(), 0.0, 0);
            let mut k = 0.0;
            if n * p > 500.0 {
                // Too many values, the first of them too rare: the first two moments.
                let mean = found.iter().zip(0..).map(|(f, k)| f * f64::from(k)).sum::<f64>() / f64::from(n_draws);
                let square = |k: i32| (f64::from(k) - n * p).powi(2);
                let variance = found.iter().zip(0..).map(|(f, k)| f * square(k)).sum::<f64>() / f64::from(n_draws);
                let truth = n * p * (1.0 - p);
                assert!((mean - n * p).abs() < 4.0 * (truth / f64::from(n_draws)).sqrt(), "{mean}");
                assert!((variance / truth - 1.0).abs() < 4.0 * (2.0 / f64::from(n_draws)).sqrt(), "{variance}");
                continue;
            }
            for count in &found {
                if term >= 5.0 {
                    chi_square += (count - term).powi(2) / term;
                    freedom += 1;
                }
                term *= p / (1.0 - p) * (n - k) / (k + 1.0);
                k += 1.0;
            }
            let freedom = f64::from(freedom - 1);
            assert!(chi_square < freedom + 4.0 * (2.0 * freedom).sqrt(), "{n} {p}: {chi_square} of {freedom}");
        }
    }

    #[test]
    fn counts_are_as_many_as_the_units_of_each_class() {
        let weights = [3.0, 0.0, 1e9, 2.5, 4.0, 0.5];
        let classes = [POSITIVE, POSITIVE, 0, 0, POSITIVE, 0];
        let units = Units::new(&weights, &classes).unwrap();
        let mut sums = [0.0; 6];
        for replicate in 0..2000 {
            let mut counts = [9.0; 6];
            units.fill(&mut Stream::new(1, replicate), &mut counts, &Ctx::serial()).unwrap();
            assert_eq!(counts[0] + counts[1] + counts[4], 7.0);
            assert_eq!(counts[2] + counts[3] + counts[5], 1e9 + 3.0);
            assert_eq!(counts[1], 0.0);
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count / 2000.0);
        }
        for (mean, weight) in sums.into_iter().zip(weights) {
            assert!((mean - weight).abs() <= 4.0 * (weight.min(4.0) / 2000.0).sqrt(), "{mean} {weight}");
        }
    }

    #[test]
    fn sums_that_overflow_are_refused() {
        assert!(Units::new(&[1e200, 1e200], &[POSITIVE, 0]).is_err());
    }
}
