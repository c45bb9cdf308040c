//! A monotone map from scores to buckets, fitted to a sample.

use crate::simd::fast;

/// The most scores that a map is fitted to.
pub(super) const SAMPLES: usize = 1 << 10;
/// The share of them in each tail, which does not set the range.
const TAIL: f64 = 1.0 / 256.0;
/// A map is good enough with fewer different scores than this in a bucket, on average.
const CROWD: f64 = 2.0;
/// The fewest buckets of a region, as bits: its scores and their index take half of a second-level cache.
const REGION_BITS: u32 = 14;
/// The most regions, as bits: a chunk should have many scores of each.
const MOST_REGIONS_BITS: u32 = 9;
/// 2^52: adding it to a smaller number rounds that to a whole number in the low bits.
const WHOLE: f64 = 4_503_599_627_370_496.0;
/// 1.5 times that: adding a whole number, possibly negative, to its bits adds it to the number.
const SIGNED: f64 = 1.5 * WHOLE;

/// A monotone map of scores to buckets, each with a few of the scores that it is fitted to.
///
/// Linear in `sign(x - center) log2(1 + |x - center| / width)`, with a piecewise linear logarithm, the bit pattern of a
/// float: uniform near the centre and logarithmic in the tails, so that light and heavy tails are spread evenly. Scores
/// that crowd at two ends, as saturated probabilities do, are spread by the same function of the distance from the
/// nearer end. A dozen operations, no table. Neighbouring buckets form regions that fit a cache.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Map {
    center: f64,
    width: f64,
    ends: Option<Ends>,
    low: f64,
    scale: f64,
    last: f64,
    region_bits: u32,
}

/// The second end of a map by the distance from two ends; its centre is the lower end.
#[derive(Debug, Clone, Copy)]
struct Ends {
    middle: f64,
    high: f64,
    /// The logarithm at the middle, the greatest.
    most: f64,
}

impl Map {
    /// Fits a map for `n` scores to `sample`, which is not empty.
    ///
    /// The usual centre is the median. Scores that crowd at one end, as probabilities do, are spread by their distance
    /// from it; those that crowd at both, by their distance from both.
    pub(crate) fn fit(sample: &mut [f64], n: usize) -> Self {
        sample.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| sample[(share * (sample.len() - 1) as f64) as usize];
        let (first, last) = (at(TAIL), at(1.0 - TAIL));
        let maps = [
            Self::around(at(0.5), (at(0.75) - at(0.25)) / 2.0),
            Self::around(at(0.5), (last - first) / 16.0),
            Self::around(first, at(2.0 * TAIL) - first),
            Self::around(last, last - at(1.0 - 2.0 * TAIL)),
            Self::between(sample),
        ];
        let mut best = (f64::INFINITY, Self::default());
        for map in maps.into_iter().filter(|map| map.width.is_normal()) {
            let crowd = map.onto(first, last, sample.len()).crowd(sample);
            if crowd < best.0 {
                best = (crowd, map.onto(first, last, n));
            }
            if crowd < CROWD {
                break;
            }
        }
        best.1
    }

    /// Fits a map to exactly `n` buckets, possibly more than 2^32: see [`Map::cell`].
    pub(crate) fn fit_cells(sample: &mut [f64], n: u64) -> Self {
        let map = Self::fit(sample, n as usize / 2);
        Self { last: f64::max(map.last - 1.0, 0.0), ..map }
    }

    /// A map of [`Map::fit_cells`] to another number of buckets.
    pub(crate) fn onto_cells(self, n: u64) -> Self {
        Self { scale: self.scale * (n as f64 / (self.last + 1.0)), last: n as f64 - 1.0, ..self }
    }

    /// The mean number of other, different scores in the bucket of a score; `scores` ascend.
    fn crowd(&self, scores: &[f64]) -> f64 {
        let mut buckets = vec![0; scores.len()];
        self.buckets(scores, 0.0, &mut buckets);
        let mut from = 0;
        let pairs = buckets.chunk_by(|x, y| x == y).map(|bucket| {
            let own = &scores[from..from + bucket.len()];
            from += own.len();
            own.len() * own.windows(2).filter(|pair| pair[0] != pair[1]).count()
        });
        pairs.sum::<usize>() as f64 / scores.len() as f64
    }

    /// By the distance from a centre.
    fn around(center: f64, width: f64) -> Self {
        Self { center, width, ..Self::default() }
    }

    /// By the distance from the nearer end of the ascending `sample`; the width is the least distance of another value
    /// from an end.
    fn between(sample: &[f64]) -> Self {
        let (low, high) = (sample[0], sample[sample.len() - 1]);
        let inside = |&&score: &&f64| low < score && score < high;
        let (Some(next), Some(previous)) = (sample.iter().find(inside), sample.iter().rev().find(inside)) else {
            return Self::default();
        };
        let map = Self::around(low, f64::min(next - low, high - previous));
        let middle = low / 2.0 + high / 2.0;
        let most = u64::max(map.logarithm(middle - low), map.logarithm(high - middle)) as f64;
        Self { ends: Some(Ends { middle, high, most }), ..map }
    }

    /// The map to twice `n` buckets, given scores beyond which there are few.
    fn onto(self, first: f64, last: f64, n: usize) -> Self {
        let (low, high) = match self.ends {
            Some(ends) => (-ends.most, ends.most),
            // The tails extend beyond the sample; scores further out go to the outermost buckets.
            None => {
                let [low, high] = [first, last].map(|end| self.place(end));
                let beyond = (high - low) / 4.0;
                (low - beyond, high + beyond)
            }
        };
        let buckets = (2 * n) as f64;
        let bits = usize::BITS - (2 * n).leading_zeros();
        let region_bits = if bits <= REGION_BITS + 1 { 63 } else { REGION_BITS.max(bits - MOST_REGIONS_BITS) };
        Self { low, scale: buckets / (high - low), last: buckets, region_bits, ..self }
    }

    /// The logarithm of a distance, relative to that of 0: the top 52 bits of a difference, without the sign.
    #[inline(always)]
    fn logarithm(&self, distance: f64) -> u64 {
        (distance + self.width).to_bits().wrapping_sub(self.width.to_bits()) >> 12
    }

    /// Where a score lies among all.
    #[inline(always)]
    fn place(&self, score: f64) -> f64 {
        let signed = |whole: u64| f64::from_bits(whole.wrapping_add(SIGNED.to_bits())) - SIGNED;
        match self.ends {
            None => {
                let from_center = score - self.center;
                // Inverted for scores below, and so one less than the negative.
                signed(self.logarithm(from_center.abs()) ^ if from_center < 0.0 { u64::MAX } else { 0 })
            }
            Some(Ends { middle, high, most }) => {
                let from_end = if score < middle { score - self.center } else { high - score };
                let from_end = if from_end > 0.0 { from_end } else { 0.0 };
                (most - signed(self.logarithm(from_end))).copysign(score - middle)
            }
        }
    }

    #[inline(always)]
    pub(crate) fn bucket(&self, score: f64) -> u32 {
        self.cell(score) as u32
    }

    /// The bucket of a map to more than 2^32.
    #[inline(always)]
    pub(crate) fn cell(&self, score: f64) -> u64 {
        let at = (self.place(score) - self.low) * self.scale;
        // Not f64::clamp, which handles NaN.
        let at = if at > 0.0 { at } else { 0.0 };
        let at = if at < self.last { at } else { self.last };
        (at + WHOLE).to_bits() ^ WHOLE.to_bits()
    }

    /// Calls `f` with the map, in one of two places, so that the compiler makes a loop for each kind of map.
    #[inline(always)]
    pub(crate) fn chosen<T>(self, mut f: impl FnMut(Self) -> T) -> T {
        if self.ends.is_none() { f(Self { ends: None, ..self }) } else { f(self) }
    }

    /// The buckets of `scores` plus `shift`.
    pub(crate) fn buckets(&self, scores: &[f64], shift: f64, to: &mut [u32]) {
        fast!({
            for (to, score) in to.iter_mut().zip(scores) {
                *to = self.bucket(score + shift);
            }
        });
    }

    /// One more than the last bucket.
    pub(crate) fn n_buckets(&self) -> usize {
        self.last as usize + 1
    }

    /// The region of a bucket.
    #[inline]
    pub(crate) fn region(&self, bucket: u32) -> usize {
        (u64::from(bucket) >> self.region_bits) as usize
    }

    /// One more than the last region.
    pub(crate) fn n_regions(&self) -> usize {
        (self.last as u64 >> self.region_bits) as usize + 1
    }

    /// Number of buckets of every region but the last.
    pub(crate) fn region_len(&self) -> usize {
        1 << self.region_bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_ascend_with_scores_from_any_sample() {
        let scores =
            [f64::MIN, -1e300, -7.0, -1.0, -0.3, -1e-9, -5e-324, 0.0, 5e-324, 1e-300, 0.2, 1.0, 7.0, 1e9, f64::MAX];
        let saturated: Vec<f64> = (-400..400).map(|k| 1.0 / (1.0 + (-f64::from(k) / 10.0).exp())).collect();
        let samples: [&[f64]; 8] = [
            &[0.0],
            &[1e-320, 2e-320],
            &[-1.0, 0.0, 0.5, 3.0],
            &[f64::MIN, f64::MAX],
            &[7.0; 50],
            &saturated,
            &[1e308, 1.1e308],
            &scores,
        ];
        for sample in samples {
            for n in [1, 1000, 3_000_000] {
                let map = Map::fit(&mut sample.to_vec(), n);
                let buckets = scores.map(|s| map.bucket(s));
                assert!(buckets.is_sorted(), "{sample:?} {n}: {buckets:?}");
                assert!((buckets[scores.len() - 1] as usize) < map.n_buckets());
                assert!(buckets.iter().all(|&b| map.region(b) < map.n_regions()));
                assert!(map.n_regions() <= 1 << MOST_REGIONS_BITS || map.region_len() == 1 << REGION_BITS);
                assert!(map.n_regions() == 1 || map.region_len() >= 1 << REGION_BITS);
                assert!(n < 1 << REGION_BITS || map.width == 0.0 || map.n_regions() >= 1 << 6);
            }
        }
    }

    #[test]
    fn most_buckets_hold_few_scores_whatever_the_tails() {
        let n = 100_000;
        let uniform = |k: usize| (k as f64 + 0.5) / n as f64;
        let shapes: [&dyn Fn(f64) -> f64; 8] = [
            &|u| u,
            &|u| (u / (1.0 - u)).ln(),
            &|u| (std::f64::consts::PI * (u - 0.5)).tan(),
            &|u| u.powi(40),
            &|u| 1e6 - u.ln(),
            &|u| 1.0 / (1.0 + (60.0 * (0.5 - u)).exp()),
            // Close to either end, and close to the middle but for a few.
            &|u| if u < 0.5 { 10f64.powf(24.0 * u - 12.0) } else { 2.0 - 10f64.powf(12.0 - 24.0 * u) },
            &|u| if (0.1..0.9).contains(&u) { 1e-6 * u } else { u },
        ];
        // What was found, so that a worse map is noticed.
        let most =
            [[0.11, 1.7], [0.12, 1.9], [1.1, 3.6], [5.1, 5.0], [0.47, 2.5], [0.12, 1.2], [0.09, 1.2], [4.9, 11.5]];
        for (k, shape) in shapes.iter().enumerate() {
            let scores: Vec<f64> = (0..n).map(|k| shape(uniform(k))).collect();
            let mut sample: Vec<f64> = scores.iter().copied().step_by(n / SAMPLES).collect();
            let map = Map::fit(&mut sample, n);
            let mut counts = vec![0usize; map.n_buckets()];
            scores.iter().for_each(|&s| counts[map.bucket(s) as usize] += 1);
            // The mean number of others in the bucket of a score.
            let crowd = counts.iter().map(|c| c * c.saturating_sub(1)).sum::<usize>() as f64 / n as f64;
            assert!(crowd < 1.25 * most[k][0], "shape {k}: {crowd}");
            // The same map to cells: exactly so many, as evenly filled.
            for n_cells in [n as u64 / 50, n as u64 / 4] {
                let own = Map::fit_cells(&mut sample, n_cells);
                assert!(scores.iter().step_by(97).all(|&s| own.cell(s) == own.onto_cells(n_cells).cell(s)));
                for map in [own, map.onto_cells(n_cells), Map::fit_cells(&mut sample, 64).onto_cells(n_cells)] {
                    assert_eq!(map.n_buckets() as u64, n_cells);
                    let mut counts = vec![0usize; map.n_buckets()];
                    scores.iter().for_each(|&s| counts[map.cell(s) as usize] += 1);
                    let crowd =
                        counts.iter().map(|c| c * c).sum::<usize>() as f64 / n as f64 * n_cells as f64 / n as f64;
                    assert!(crowd < 1.1 * most[k][1], "shape {k}: {crowd}");
                }
            }
        }
    }
}
