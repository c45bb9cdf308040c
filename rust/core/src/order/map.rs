//! A monotone map from scores to buckets, fitted to a sample.

use crate::simd::fast;

/// Scores that a map is fitted to: all of few, one in so many of others, within limits.
const SAMPLE_EVERY: usize = 1 << 2;
const SAMPLES: (usize, usize) = (1 << 8, 1 << 10);
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

/// The whole number next to `at`, from 0 to `last`.
#[inline(always)]
pub(crate) fn whole(at: f64, last: f64) -> u64 {
    // Not f64::clamp, which handles NaN.
    let at = if at > 0.0 { at } else { 0.0 };
    let at = if at < last { at } else { last };
    (at + WHOLE).to_bits() ^ WHOLE.to_bits()
}

/// How many of `n` scores to fit a map to.
pub(super) fn n_sampled(n: usize) -> usize {
    (n / SAMPLE_EVERY).clamp(SAMPLES.0, SAMPLES.1).min(n)
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
        whole((self.place(score) - self.low) * self.scale, self.last)
    }

    /// Calls `f` with the map, in one of two places, so that the compiler makes a loop for each kind of map.
    #[inline(always)]
    pub(crate) fn chosen<T>(self, mut f: impl FnMut(Self) -> T) -> T {
        if self.ends.is_none() { f(Self { ends: None, ..self }) } else { f(self) }
    }

    /// The buckets of `scores` plus `shift`.
    pub(crate) fn buckets(&self, scores: &[f64], shift: f64, to: &mut [u32]) {
        // A copy, since the compiler must think that `to` overlaps what is behind a reference.
        let map = *self;
        fast!({
            map.chosen(|map| {
                for (to, score) in to.iter_mut().zip(scores) {
                    *to = map.bucket(score + shift);
                }
            });
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
#[path = "../../tests/unit/order_map.rs"]
mod tests;
