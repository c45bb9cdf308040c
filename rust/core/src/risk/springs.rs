//! The second derivative of a sum of smoothed hinges, from a sample of the scores.
//!
//! A pair whose difference lies in the smoothed stretch of the hinge is a spring between its two scores; negatives in
//! the stretch around the threshold of a selection are tied to their mean.

use crate::order::Map;
use crate::order::sorted::Sorted;
use crate::{Ctx, Error, Result};

/// The scores to which an index of them is fitted.
const SAMPLES: usize = 256;

/// Scores of one class with counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample<'a> {
    /// The scores, ascending for positives.
    pub(super) scores: &'a [f64],
    /// The weight of each, or how often it was drawn.
    pub(super) counts: &'a [f64],
}

/// How a hinge was smoothed (see [`super::SmoothedHinge`]).
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
    /// The score difference from which a pair costs nothing.
    pub margin: f64,
    /// The differences below the margin over which the share of a pair rises.
    pub width: f64,
    /// The score of a negative with a share of one half.
    pub threshold: f64,
    /// The width over which the share of a negative rises; 0 if a tie is cut.
    pub selection: f64,
    /// The share of a cut tie.
    pub tied: f64,
}

/// The second derivative over the positives of a sample, followed by the negatives of each hinge.
#[derive(Debug, Clone)]
pub struct Curvature {
    n_pos: usize,
    hinges: Vec<(f64, Springs)>,
}

impl Curvature {
    /// The curvature of hinges: factor, smoothing and negatives of each. O(N) for scores of a smooth distribution,
    /// O(N log m) at most.
    pub(super) fn new(pos: Sample<'_>, hinges: &[(f64, Stretch, Sample<'_>)]) -> Result<Self> {
        let sorted = indexed(pos.scores)?;
        let springs =
            |(factor, stretch, neg): &(f64, Stretch, _)| Ok((*factor, Springs::new((pos, &sorted), *neg, stretch)?));
        Ok(Self { n_pos: pos.scores.len(), hinges: hinges.iter().map(springs).collect::<Result<_>>()? })
    }

    /// The product with a change of the scores. O(N).
    ///
    /// # Errors
    /// [`Error::Length`] unless there are as many changes as scores.
    pub fn product(&self, change: &[f64]) -> Result<Vec<f64>> {
        let n_samples = self.n_pos + self.hinges.iter().map(|(_, springs)| springs.share.len()).sum::<usize>();
        Error::check_len("change", n_samples, change.len())?;
        let mut product = vec![0.0; n_samples];
        let ((u, mut t), (on_pos, mut on_neg)) = (change.split_at(self.n_pos), product.split_at_mut(self.n_pos));
        for (factor, springs) in &self.hinges {
            let (now, later) = t.split_at(springs.share.len());
            let (on_now, on_later) = on_neg.split_at_mut(springs.share.len());
            springs.add_product((u, now), *factor, (on_pos, on_now));
            (t, on_neg) = (later, on_later);
        }
        Ok(product)
    }
}

/// The springs of one hinge, not yet divided by `width`.
#[derive(Debug, Clone)]
struct Springs {
    of_pos: Vec<f64>,
    /// The total strength of the springs at each positive, and at each negative.
    per_pos: Vec<f64>,
    per_neg: Vec<f64>,
    /// The positives `low .. high` that each negative is tied to, and how strongly.
    ends: Vec<(u32, u32)>,
    share: Vec<f64>,
    /// How strongly each negative is tied to the mean of all; the sum.
    slope: Vec<f64>,
    total: f64,
}

impl Springs {
    fn new((pos, sorted): (Sample<'_>, &Sorted), neg: Sample<'_>, stretch: &Stretch) -> Result<Self> {
        Error::check_len("counts", pos.scores.len(), pos.counts.len())?;
        Error::check_len("counts", neg.scores.len(), neg.counts.len())?;
        let &Stretch { margin, width, threshold, selection, tied } = stretch;
        let below = sums(pos.counts.iter().copied());
        let n_neg = neg.scores.len();
        let [lows, highs] = [margin - width, margin].map(|shift| {
            let mut below = vec![0; n_neg];
            sorted.below(neg.scores, shift, &mut below);
            below
        });
        let (mut ends, mut share, mut slope) = (Vec::with_capacity(n_neg), Vec::with_capacity(n_neg), vec![0.0; n_neg]);
        let mut per_neg = Vec::with_capacity(n_neg);
        for (((&t, &count), slope), (low, high)) in
            neg.scores.iter().zip(neg.counts).zip(&mut slope).zip(lows.into_iter().zip(highs))
        {
            let mut of_one = if t == threshold { tied } else { 1.0 };
            if selection > 0.0 {
                of_one = ((t - threshold) / selection + 0.5).clamp(0.0, 1.0);
                if of_one > 0.0 && of_one < 1.0 {
                    // The slope of a negative's share, times the number of positives it affects.
                    *slope = 0.5 * (below[low as usize] + below[high as usize]) * count * (width / selection);
                }
            }
            ends.push((low, high));
            share.push(of_one * count);
            per_neg.push(of_one * count * (below[high as usize] - below[low as usize]));
        }
        let total = slope.iter().sum();
        let mut springs = Self { of_pos: pos.counts.to_vec(), per_pos: Vec::new(), per_neg, ends, share, slope, total };
        springs.per_pos = springs.on_positives(|_| 1.0);
        Ok(springs)
    }

    /// For each positive, its count times the sum of `share * of(j)` over the negatives it is tied to.
    fn on_positives(&self, of: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut rises = vec![0.0; self.of_pos.len() + 1];
        for (j, (&(low, high), share)) in self.ends.iter().zip(&self.share).enumerate() {
            rises[low as usize] += share * of(j);
            rises[high as usize] -= share * of(j);
        }
        let mut sum = 0.0;
        let times = |(rise, count): (&f64, &f64)| {
            sum += rise;
            sum * count
        };
        rises.iter().zip(&self.of_pos).map(times).collect::<Vec<_>>()
    }

    /// Adds `factor` times the product with changes of the scores of positives and of negatives.
    fn add_product(&self, (u, t): (&[f64], &[f64]), factor: f64, out: (&mut [f64], &mut [f64])) {
        let below = sums(u.iter().zip(&self.of_pos).map(|(u, count)| u * count));
        let on_pos = self.on_positives(|j| t[j]);
        for (i, (out, pulled)) in out.0.iter_mut().zip(&on_pos).enumerate() {
            *out += factor * (self.per_pos[i] * u[i] - pulled);
        }
        let mean = if self.total > 0.0 { dot(&self.slope, t) / self.total } else { 0.0 };
        for (j, (out, &(low, high))) in out.1.iter_mut().zip(&self.ends).enumerate() {
            let pulled = self.share[j] * (below[high as usize] - below[low as usize]);
            *out += factor * (self.per_neg[j] * t[j] - pulled + self.slope[j] * (t[j] - mean));
        }
    }
}

/// Ascending scores with an index.
fn indexed(scores: &[f64]) -> Result<Sorted> {
    let mut sample: Vec<f64> = scores.iter().copied().step_by(scores.len() / SAMPLES + 1).collect();
    let mut sorted = Sorted::default();
    if !sample.is_empty() {
        sorted.map = Map::fit(&mut sample, scores.len());
    }
    let map = sorted.map;
    let mut from = 0;
    let region = |region| {
        let to = scores.partition_point(|&score| map.region(map.bucket(score)) <= region);
        vec![&scores[std::mem::replace(&mut from, to)..to]]
    };
    let regions: Vec<_> = (0..map.n_regions()).map(region).collect();
    sorted.build(&regions, &Ctx::serial())?;
    Ok(sorted)
}

/// Cumulative sums, beginning with 0.
fn sums(values: impl ExactSizeIterator<Item = f64>) -> Vec<f64> {
    let mut sums = Vec::with_capacity(values.len() + 1);
    let mut sum = 0.0;
    sums.push(sum);
    sums.extend(values.map(|value| {
        sum += value;
        sum
    }));
    sums
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    #[test]
    fn the_product_is_that_of_springs_between_pairs_and_of_negatives_to_their_mean() {
        let mut next = uniform(3);
        for (selection, tied) in [(0.0, 1.0), (0.0, 0.25), (0.6, 1.0)] {
            let mut draw = |n: usize| (0..n).map(|_| next()).collect::<Vec<_>>();
            let (mut pos, of_pos, mut neg, of_neg) = (draw(7), draw(7), draw(9), draw(9));
            let (u, t) = (draw(7), draw(9));
            pos.sort_by(f64::total_cmp);
            neg[4] = neg[2]; // a tie, cut by the threshold
            let (margin, width, threshold) = (0.3, 0.4, neg[2]);
            let stretch = Stretch { margin, width, threshold, selection, tied };
            let (positives, negatives) =
                (Sample { scores: &pos, counts: &of_pos }, Sample { scores: &neg, counts: &of_neg });
            let hinges = [(2.0, stretch, negatives), (0.5, stretch, negatives)];
            let product =
                Curvature::new(positives, &hinges).unwrap().product(&[u.clone(), t.clone(), t.clone()].concat());
            let product = product.unwrap();

            let (mut pos_twin, mut neg_twin) = (vec![0.0; 7], vec![0.0; 9]);
            let mut slopes = [0.0; 9];
            for j in 0..9 {
                let of_one = if selection > 0.0 {
                    ((neg[j] - threshold) / selection + 0.5).clamp(0.0, 1.0)
                } else if neg[j] == threshold {
                    tied
                } else {
                    1.0
                };
                for i in 0..7 {
                    let difference = pos[i] - neg[j];
                    if difference >= margin - width && difference < margin {
                        let strength = of_one * of_neg[j] * of_pos[i];
                        pos_twin[i] += strength * (u[i] - t[j]);
                        neg_twin[j] += strength * (t[j] - u[i]);
                    }
                    if of_one > 0.0 && of_one < 1.0 && selection > 0.0 {
                        let concerned =
                            f64::from(u8::from(difference < margin)) + f64::from(u8::from(difference < margin - width));
                        slopes[j] += 0.5 * concerned * of_pos[i] * of_neg[j] * width / selection;
                    }
                }
            }
            let total: f64 = slopes.iter().sum();
            for j in 0..9 {
                let moment = slopes.iter().zip(&t).map(|(slope, t)| slope * t).sum::<f64>();
                let mean = if total > 0.0 { moment / total } else { 0.0 };
                neg_twin[j] += slopes[j] * (t[j] - mean);
            }
            let twins = pos_twin.iter().map(|twin| 2.5 * twin);
            let twins =
                twins.chain(neg_twin.iter().map(|twin| 2.0 * twin)).chain(neg_twin.iter().map(|twin| 0.5 * twin));
            assert_eq!(product.len(), 7 + 2 * 9);
            for (ours, twin) in product.iter().zip(twins) {
                assert!((ours - twin).abs() < 1e-12, "{ours} {twin}");
            }
        }
    }
}
