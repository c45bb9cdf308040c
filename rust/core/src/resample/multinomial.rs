//! Draws with replacement, as exactly multinomial counts of how often each sample of a class is drawn.
//!
//! Single draws cost a random access each. Instead, counts are drawn from a Poisson distribution with a mean slightly
//! below 1, many at once from 16 random bits each: given their total T in a class of n samples, they are distributed as
//! T uniform draws. The other n - T are drawn one by one, or all n if T exceeds n. Neither depends on where the T draws
//! fell, so that the result is multinomial.

use crate::ctx::CHUNK;
use crate::resample::ranks::{POSITIVE, totals};
use crate::simd::fast;
use crate::{Ctx, Result};

/// By how many of its standard deviations the mean of the total is below the size of a class.
const SPARE: f64 = 3.0;
/// Values of a distribution function, the last of them 1 to the last bit.
const VALUES: usize = 24;

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of uniform numbers (Steele, Lea and Flood's SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Stream(u64);

impl Stream {
    pub(crate) fn new(seed: u64, replicate: u64) -> Self {
        let mut start = Stream(seed);
        let key = start.next();
        Stream(Stream(key ^ replicate.wrapping_mul(0xD134_2543_DE82_EF95)).next())
    }

    /// The stream of seed 0 after so many numbers.
    #[inline(always)]
    pub(crate) fn at(place: u64) -> Self {
        Self(place.wrapping_mul(STEP))
    }

    #[inline(always)]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Draws `n_draws` of the `members`, each exactly uniform (Lemire, 2019), and adds them to their counts.
    fn scatter(&mut self, n_draws: u64, members: &[u32], counts: &mut [u8]) {
        let n = members.len() as u32;
        let reject = n.wrapping_neg().checked_rem(n).unwrap_or(0);
        let mut drawn = 0;
        while drawn < n_draws {
            let bits = self.next();
            for half in [bits >> 32, bits & u64::from(u32::MAX)] {
                let product = half * u64::from(n);
                if product as u32 >= reject && drawn < n_draws {
                    let count = &mut counts[members[(product >> 32) as usize] as usize];
                    *count = count.saturating_add(1);
                    drawn += 1;
                }
            }
        }
    }
}

/// Streams side by side: fewer would be unrolled instead of vectorised.
const LANES: usize = 32;
/// Counts drawn together, from 16 bits each.
const TILE: usize = 4 * LANES;

/// Streams of uniform numbers (Blackman and Vigna's xoroshiro128++, 2021).
struct Streams([[u64; LANES]; 2]);

impl Streams {
    fn new(stream: &mut Stream) -> Self {
        let mut words = [[0; LANES]; 2];
        words.as_flattened_mut().iter_mut().for_each(|word| *word = stream.next());
        Self(words)
    }

    #[inline(always)]
    fn next(&mut self) -> [u64; LANES] {
        let mut found = [0; LANES];
        let [a, b] = &mut self.0;
        for k in 0..LANES {
            found[k] = a[k].wrapping_add(b[k]).rotate_left(17).wrapping_add(a[k]);
            let both = a[k] ^ b[k];
            a[k] = a[k].rotate_left(49) ^ both ^ (both << 21);
            b[k] = both.rotate_left(28);
        }
        found
    }
}

/// Draws of each class, as many as it has members.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    poisson: Poisson,
    /// A mask of the first class.
    classes: Vec<u8>,
    members: [Vec<u32>; 2],
}

impl Draws {
    /// Of samples of the first class, where `classes` is [`POSITIVE`], and of the second, where it is 0.
    pub(crate) fn new(classes: Vec<u8>) -> Self {
        let n_first = classes.iter().filter(|&&class| class == POSITIVE).count();
        let mut members = [n_first, classes.len() - n_first].map(Vec::with_capacity);
        classes.iter().zip(0..).for_each(|(&class, sample)| members[usize::from(class == 0)].push(sample));
        let sizes = members.each_ref().map(|members: &Vec<u32>| members.len() as f64);
        let [few, many] = [f64::min(sizes[0], sizes[1]), f64::max(sizes[0], sizes[1])];
        // One mean for both classes: that of the smaller one leaves more single draws of the larger one; that of the
        // larger one leaves all of the smaller one.
        let all_left = |size: f64| SPARE / size.sqrt() * (few + many);
        let mean = 1.0 - SPARE / if all_left(few) < few { few } else { many }.sqrt();
        Self { poisson: Poisson::new(f64::max(mean, 0.0)), classes, members }
    }

    /// Sets the counts of all samples. A count above 255 has a probability below 1e-500.
    pub(crate) fn fill(&self, stream: &mut Stream, counts: &mut [u8], ctx: &Ctx<'_>) -> Result<()> {
        let mut streams = Streams::new(stream);
        for counts in counts.chunks_mut(CHUNK) {
            ctx.check()?;
            self.poisson.fill(&mut streams, stream, counts);
        }
        for (members, mut drawn) in self.members.iter().zip(totals(counts, &self.classes)) {
            let size = members.len() as u64;
            if drawn > size {
                members.iter().for_each(|&sample| counts[sample as usize] = 0);
                drawn = 0;
            }
            while drawn < size {
                ctx.check()?;
                let some = u64::min(size - drawn, CHUNK as u64);
                stream.scatter(some, members, counts);
                drawn += some;
            }
        }
        Ok(())
    }
}

/// A Poisson distribution as a mixture: one that 16 bits decide, and a remainder with a probability of a few in 2^16.
#[derive(Debug, Clone)]
struct Poisson {
    /// 2^16 P(X <= k), each term rounded down, less 2^15 and 1: greater numbers mean more than k, or the remainder
    /// beyond the last edge.
    edges: [i16; 8],
    /// 2^64 times the distribution function of the remainder.
    rest: [u64; VALUES],
}

impl Poisson {
    /// Of a mean of at most 1, so that values of 8 and more belong to the remainder.
    fn new(mean: f64) -> Self {
        let (mut term, mut edge) = ((-mean).exp() * 2f64.powi(16), 0.0);
        let (mut edges, mut left) = ([i16::MAX; 8], [0.0; VALUES]);
        for (k, left) in left.iter_mut().enumerate() {
            edge += term.floor();
            *left = term.fract();
            if let Some(to) = edges.get_mut(k) {
                *to = (edge - 32_769.0) as i16;
            }
            term *= mean / (k + 1) as f64;
        }
        let total = left.iter().sum::<f64>();
        let mut sum = 0.0;
        let mut rest = left.map(|left| {
            sum += left;
            (sum / total * 2f64.powi(64)) as u64
        });
        rest[VALUES - 1] = u64::MAX;
        Self { edges, rest }
    }

    /// Sets `counts` to draws.
    fn fill(&self, streams: &mut Streams, stream: &mut Stream, counts: &mut [u8]) {
        fast!({
            for counts in counts.chunks_mut(TILE) {
                let bits: [i16; TILE] = pulp::cast(streams.next());
                let mut rest = 0u16;
                for (count, bits) in counts.iter_mut().zip(&bits) {
                    let mut passed = 0u16;
                    for &edge in &self.edges {
                        passed = passed.wrapping_add(u16::from(*bits > edge));
                    }
                    rest |= passed;
                    *count = passed as u8;
                }
                if rest & 8 != 0 {
                    of_rest(self, stream, counts);
                }
            }
        });
    }
}

/// Draws from the remainder where all edges are passed.
#[cold]
#[inline(never)]
fn of_rest(poisson: &Poisson, stream: &mut Stream, counts: &mut [u8]) {
    for count in counts.iter_mut().filter(|count| **count == 8) {
        let number = stream.next();
        *count = poisson.rest.iter().filter(|&&step| number >= step).count() as u8;
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
        // Every outcome of 3 draws of 3 has its probability 3! / (a! b! c!) / 27, whatever the size of the other class.
        for others in [0, 2, 40, 300] {
            let classes: Vec<u8> = (0..3 + others).map(|i| if i < 3 { POSITIVE } else { 0 }).collect();
            let draws = Draws::new(classes);
            let mut found = [[0.0; 4]; 4];
            for replicate in 0..27_000 {
                let mut counts = vec![9; 3 + others];
                draws.fill(&mut Stream::new(7, replicate), &mut counts, &Ctx::serial()).unwrap();
                assert_eq!(counts[..3].iter().sum::<u8>(), 3);
                found[usize::from(counts[0])][usize::from(counts[1])] += 1.0;
            }
            let factorial = [1.0, 1.0, 2.0, 6.0];
            let outcomes = (0..4usize).flat_map(|a| (0..4 - a).map(move |b| (a, b)));
            let probability = |a: usize, b: usize| 6000.0 / (factorial[a] * factorial[b] * factorial[3 - a - b]);
            let (observed, expected): (Vec<f64>, Vec<f64>) =
                outcomes.map(|(a, b)| (found[a][b], probability(a, b))).unzip();
            assert!(chi_square(&observed, &expected) < 2.5, "{others} others: {observed:?}");
        }
    }

    #[test]
    fn counts_of_many_members_are_binomial_each_and_negatively_correlated() {
        let n = 400;
        for others in [0, 40, 1000] {
            // Without another class, with a smaller and with a larger one: the members of both lie mixed.
            let classes: Vec<u8> =
                (0..n + others).map(|i| if (i * n) % (n + others) < n { POSITIVE } else { 0 }).collect();
            let members: Vec<usize> = (0..n + others).filter(|&i| classes[i] == POSITIVE).collect();
            assert_eq!(members.len(), n);
            let draws = Draws::new(classes);
            let (mut levels, mut pairs) = ([0.0; 7], 0.0);
            let replicates = 5_000;
            for replicate in 0..replicates {
                let mut all = vec![0; n + others];
                draws.fill(&mut Stream::new(1, replicate), &mut all, &Ctx::serial()).unwrap();
                let counts: Vec<u8> = members.iter().map(|&i| all[i]).collect();
                let total = |counts: &[u8]| counts.iter().map(|&c| usize::from(c)).sum::<usize>();
                assert_eq!((total(&counts), total(&all)), (n, n + others));
                counts.iter().for_each(|&c| levels[usize::from(c).min(6)] += 1.0);
                pairs += counts.chunks(2).map(|c| f64::from(c[0]) * f64::from(c[1])).sum::<f64>();
            }
            let total = (n * replicates as usize) as f64;
            let share = 1.0 / n as f64;
            let mut term = (1.0 - share).powi(n as i32);
            let mut expected = Vec::new();
            for k in 0..6 {
                expected.push(term * total);
                term *= (n - k) as f64 / (k + 1) as f64 * share / (1.0 - share);
            }
            expected.push(total - expected.iter().sum::<f64>());
            // Counts that exclude each other spread a little less than independent ones: the statistic stays below 1.
            assert!(chi_square(&levels, &expected) < 2.5, "{levels:?} {expected:?}");
            // E c_i c_j = (n - 1) / n.
            assert!((pairs / (total / 2.0) - (1.0 - share)).abs() < 4e-3);
        }
    }

    #[test]
    fn sixteen_bits_and_the_rest_make_one_distribution() {
        for mean in [0.0, 0.01, 0.5, 0.97, 1.0] {
            let Poisson { edges, rest } = Poisson::new(mean);
            assert!(edges.is_sorted() && rest.is_sorted() && rest[VALUES - 1] == u64::MAX);
            // Of all numbers of 16 bits, how many are each value, and how many of the rest.
            let mut numbers = [0.0; 9];
            for bits in i16::MIN..=i16::MAX {
                numbers[edges.iter().filter(|&&edge| bits > edge).count()] += 1.0;
            }
            let mut term = (-mean).exp();
            for k in 0..VALUES - 1 {
                let of_rest = rest[k] - if k > 0 { rest[k - 1] } else { 0 };
                let decided = if k < 8 { numbers[k] } else { 0.0 };
                let found = (decided + numbers[8] * of_rest as f64 / 2f64.powi(64)) / 2f64.powi(16);
                assert!((found - term).abs() < 1e-15, "{mean}, {k}: {found} {term}");
                term *= mean / (k + 1) as f64;
            }
        }
    }
}
