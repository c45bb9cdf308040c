//! Draws with replacement of samples with frequency weights, as counts of how often each is drawn.
//!
//! A sample of weight w is w equal units, so that a class of total weight W is drawn W times, rounded, and the counts
//! are multinomial with probabilities in proportion to the weights: binomial one by one, given those before.

use std::convert::Infallible;

use rand_core::TryRng;
use rand_distr::{Binomial, Distribution};

use crate::ctx::CHUNK;
use crate::resample::multinomial::Stream;
use crate::{Ctx, Error, Result};

/// Samples drawn together: the share of each in the weight of itself and those after it, and the number of draws.
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
    /// The units of samples with these weights, by class.
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
                classes.iter().zip(0..).filter(|&(&of, _)| of == class).map(|(_, sample)| sample).collect::<Vec<_>>();
            let mut left = 0.0;
            let mut shares = members
                .iter()
                .rev()
                .map(|&sample| {
                    let weight = weights[sample as usize];
                    left += weight;
                    if left > 0.0 { weight / left } else { 0.0 }
                })
                .collect::<Vec<_>>();
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

/// The number of successes in n trials, a whole number, of probability p.
fn binomial(stream: &mut Stream, n: f64, p: f64) -> f64 {
    // It fails only for probabilities outside [0, 1].
    Binomial::new(n as u64, p).map_or(0.0, |binomial| binomial.sample(stream) as f64)
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> std::result::Result<u32, Infallible> {
        Ok((self.next() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> std::result::Result<u64, Infallible> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> std::result::Result<(), Infallible> {
        for bytes in bytes.chunks_mut(8) {
            bytes.copy_from_slice(&self.next().to_le_bytes()[..bytes.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resample::ranks::POSITIVE;

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
