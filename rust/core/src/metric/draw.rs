//! Random draws with replacement, as counts of how often each of n members is drawn: exactly multinomial.
//!
//! n draws one by one cost a random access each. Instead every count is drawn from a Poisson distribution of mean
//! slightly below 1, 16 random bits a count and many counts at once: given their total T they are those of T uniform
//! draws. The n - T that are left, about 3 sqrt(n), are drawn one by one; if T exceeds n, once in 700 times, all counts
//! are drawn again. Neither depends on where the T draws fell, so the result is multinomial.

use crate::ctx::CHUNK;
use crate::order::fast;
use crate::{Ctx, Result};

/// Counts that are drawn together.
const TILE: usize = 256;
/// Standard deviations of the total that its mean lies below n.
const SPARE: f64 = 3.0;
/// Values of a distribution function, the last of them 1 to the last bit.
const VALUES: usize = 24;

/// A stream of uniform numbers (Steele, Lea and Flood's SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Stream(u64);

impl Stream {
    pub(crate) fn new(seed: u64, replicate: u64) -> Self {
        let mut start = Stream(seed);
        let key = start.next();
        Stream(Stream(key ^ replicate.wrapping_mul(0xD134_2543_DE82_EF95)).next())
    }

    #[inline(always)]
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Adds `n_draws` members to `counts`, each exactly uniform (Lemire, 2019).
    fn scatter(&mut self, n_draws: u32, counts: &mut [u8]) {
        let n = counts.len() as u32;
        let reject = n.wrapping_neg() % n;
        let mut drawn = 0;
        while drawn < n_draws {
            let bits = self.next();
            for half in [bits >> 32, bits & u64::from(u32::MAX)] {
                let product = half * u64::from(n);
                if product as u32 >= reject && drawn < n_draws {
                    let count = &mut counts[(product >> 32) as usize];
                    *count = count.saturating_add(1);
                    drawn += 1;
                }
            }
        }
    }
}

/// As many draws as there are members.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    n: u32,
    /// 2^64 P(X <= k) for k = 0, 1, ..., X the Poisson variable: a uniform number of 64 bits counts those it reaches.
    steps: [u64; VALUES],
    /// Their leading 16 bits, less 2^15. Those of the eighth and beyond are all ones, for any mean of at most 1.
    edges: [i16; 8],
}

impl Draws {
    /// Of `n` members, at least one.
    pub(crate) fn new(n: u32) -> Self {
        let mean = f64::max(1.0 - SPARE / f64::from(n).sqrt(), 0.0);
        let (mut term, mut sum) = ((-mean).exp(), 0.0);
        let steps = std::array::from_fn(|k| {
            sum += term;
            term *= mean / (k + 1) as f64;
            if k + 1 < VALUES { (sum * 2f64.powi(64)) as u64 } else { u64::MAX }
        });
        let edge = |k: usize| ((steps[k] >> 48) as u16 ^ (1 << 15)) as i16;
        Self { n, steps, edges: std::array::from_fn(|k| if k < 7 { edge(k) } else { i16::MAX }) }
    }

    /// Sets `counts`, of which there are n, to those of n draws. No count is above 255, but for a chance below 1e-500.
    pub(crate) fn fill(&self, stream: &mut Stream, counts: &mut [u8], ctx: &Ctx<'_>) -> Result<()> {
        loop {
            let mut total = 0;
            for counts in counts.chunks_mut(CHUNK) {
                ctx.check()?;
                total += u64::from(fast(Poisson { draws: self, stream, counts }));
            }
            if total <= u64::from(self.n) {
                stream.scatter(self.n - total as u32, counts);
                return Ok(());
            }
        }
    }
}

/// Sets `counts` to Poisson variables; their total.
struct Poisson<'a> {
    draws: &'a Draws,
    stream: &'a mut Stream,
    counts: &'a mut [u8],
}

impl pulp::NullaryFnOnce for Poisson<'_> {
    type Output = u32;

    #[inline(always)]
    fn call(self) -> u32 {
        let Self { draws, stream, counts } = self;
        let mut total = 0u32;
        let mut bytes = [0u8; 2 * TILE];
        for counts in counts.chunks_mut(TILE) {
            for word in bytes.as_chunks_mut::<8>().0 {
                *word = stream.next().to_le_bytes();
            }
            let (bits, _) = bytes.as_chunks::<2>();
            let mut doubts = 0u16;
            for (count, bits) in counts.iter_mut().zip(bits) {
                let bits = i16::from_le_bytes(*bits);
                let mut passed = 0u16;
                for &edge in &draws.edges {
                    passed = passed.wrapping_add(u16::from(bits > edge));
                    doubts |= u16::from(bits == edge);
                }
                *count = passed as u8;
            }
            if doubts != 0 {
                decide(draws, stream, bits, counts);
            }
            total = counts.iter().fold(total, |total, &count| total.wrapping_add(u32::from(count)));
        }
        total
    }
}

/// Draws 48 more bits where 16 do not tell which side of an edge a number is.
#[cold]
#[inline(never)]
fn decide(draws: &Draws, stream: &mut Stream, bits: &[[u8; 2]], counts: &mut [u8]) {
    for (count, bits) in counts.iter_mut().zip(bits) {
        let bits = i16::from_le_bytes(*bits);
        if draws.edges.contains(&bits) {
            let number = u64::from(bits as u16 ^ (1 << 15)) << 48 | stream.next() >> 16;
            *count = draws.steps.iter().filter(|&&step| number >= step).count() as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chi-square statistic of `found` against `expected`, over its degrees of freedom.
    fn chi_square(found: &[f64], expected: &[f64]) -> f64 {
        let terms = found.iter().zip(expected).map(|(f, e)| (f - e).powi(2) / e);
        terms.sum::<f64>() / (found.len() - 1) as f64
    }

    #[test]
    fn counts_of_few_members_are_multinomial() {
        // Every outcome of 3 draws of 3 has its probability 3! / (a! b! c!) / 27.
        let draws = Draws::new(3);
        let mut found = [[0.0; 4]; 4];
        for replicate in 0..27_000 {
            let mut counts = [0; 3];
            draws.fill(&mut Stream::new(7, replicate), &mut counts, &Ctx::serial()).unwrap();
            assert_eq!(counts.iter().sum::<u8>(), 3);
            found[usize::from(counts[0])][usize::from(counts[1])] += 1.0;
        }
        let factorial = [1.0, 1.0, 2.0, 6.0];
        let outcomes = (0..4usize).flat_map(|a| (0..4 - a).map(move |b| (a, b)));
        let (observed, expected): (Vec<f64>, Vec<f64>) =
            outcomes.map(|(a, b)| (found[a][b], 6000.0 / (factorial[a] * factorial[b] * factorial[3 - a - b]))).unzip();
        assert!(chi_square(&observed, &expected) < 2.5);
    }

    #[test]
    fn counts_of_many_members_are_binomial_each_and_negatively_correlated() {
        let n = 400;
        let draws = Draws::new(n);
        let (mut levels, mut pairs) = ([0.0; 7], 0.0);
        let replicates = 5_000;
        for replicate in 0..replicates {
            let mut counts = vec![0; n as usize];
            draws.fill(&mut Stream::new(1, replicate), &mut counts, &Ctx::serial()).unwrap();
            assert_eq!(counts.iter().map(|&c| u32::from(c)).sum::<u32>(), n);
            counts.iter().for_each(|&c| levels[usize::from(c).min(6)] += 1.0);
            pairs += counts.chunks(2).map(|c| f64::from(c[0]) * f64::from(c[1])).sum::<f64>();
        }
        let total = f64::from(n) * replicates as f64;
        let share = 1.0 / f64::from(n);
        let mut term = (1.0 - share).powi(n as i32);
        let mut expected = Vec::new();
        for k in 0..6 {
            expected.push(term * total);
            term *= f64::from(n - k) / f64::from(k + 1) * share / (1.0 - share);
        }
        expected.push(total - expected.iter().sum::<f64>());
        // Counts that exclude each other spread a little less than independent ones: the statistic stays below 1.
        assert!(chi_square(&levels, &expected) < 2.5, "{levels:?} {expected:?}");
        // E c_i c_j = (n - 1) / n.
        assert!((pairs / (total / 2.0) - (1.0 - share)).abs() < 4e-3);
    }

    #[test]
    fn sixteen_bits_and_the_decided_rest_make_one_distribution() {
        // A stream of every number of 16 bits: each count but the doubtful ones is that of the distribution function.
        for n in [1, 9, 10, 50, 1000, 1_000_000] {
            let draws = Draws::new(n);
            assert_eq!(draws.steps[VALUES - 1], u64::MAX);
            assert!(draws.steps.is_sorted() && draws.steps[7] >> 48 == u64::from(u16::MAX));
            for bits in 0..=u16::MAX {
                let signed = (bits ^ (1 << 15)) as i16;
                if !draws.edges.contains(&signed) {
                    let below = draws.edges.iter().filter(|&&edge| signed > edge).count();
                    for rest in [0, (1u64 << 48) - 1] {
                        let number = u64::from(bits) << 48 | rest;
                        assert_eq!(draws.steps.iter().filter(|&&step| number >= step).count(), below);
                    }
                }
            }
        }
    }
}
