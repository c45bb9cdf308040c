//! Measures of one score vector, sorted once, when its samples are repeated.

use std::cmp::Ordering;
use std::ops::Range;

use crate::curve::measure::Measure;
use crate::curve::walk::Step;
use crate::curve::{Curve, Normalize};
use crate::data::labels::Labels;
use crate::resample::ranks::Sequence;
use crate::{Ctx, RateRange, Result};

/// Samples by rank.
pub(crate) struct Ranking {
    /// All samples by descending score, with the positives first in a block of ties.
    pub(crate) order: Vec<u32>,
    curve: Curve,
}

impl Ranking {
    pub(crate) fn new(labels: &Labels<'_>, scores: &[f64], ctx: &Ctx<'_>) -> Result<Self> {
        let mut order = Vec::with_capacity(scores.len());
        let curve = Curve::build(None, labels, scores, None, |sample, _| order.push(sample as u32), ctx)?;
        Ok(Self { order, curve })
    }

    /// Those of [`Sequence`].
    pub(crate) fn classes(&self) -> Vec<u8> {
        Sequence::of_steps(&self.curve.steps).classes
    }

    /// Orders tied samples of one class by `compare`.
    pub(crate) fn order_ties(&mut self, compare: impl Fn(usize, usize) -> Ordering, ctx: &Ctx<'_>) -> Result<()> {
        let mut rest = &mut self.order[..];
        for size in self.curve.steps.iter().flat_map(|step| [step.pos, step.neg]) {
            let (block, tail) = rest.split_at_mut(size as usize);
            if block.len() > 1 {
                ctx.check()?;
                block.sort_unstable_by(|&a, &b| compare(a as usize, b as usize));
            }
            rest = tail;
        }
        Ok(())
    }

    /// The distinct scores.
    pub(crate) fn distinct(&self) -> Vec<Step> {
        self.curve.steps.to_vec()
    }

    /// What replicates of `measure` walk through, with weights of the samples.
    pub(crate) fn walk(&self, measure: Measure, weights: Option<&[f64]>) -> Walk {
        let steps = &self.curve.steps;
        match (measure, weights) {
            (Measure::Auc, None) => Walk::Area(Sequence::of_steps(steps), RateRange::FULL, Normalize::None),
            (Measure::Partial(range, normalize), None) => Walk::Area(Sequence::of_steps(steps), range, normalize),
            (Measure::PartialTpr(range, normalize), None) => {
                Walk::Mirrored(Sequence::of_steps(&self.curve.mirrored().steps), range, normalize)
            }
            (Measure::AveragePrecision(prevalence), None) => {
                let (mut blocks, mut end) = (Vec::new(), 0);
                for step in steps.iter() {
                    let (first, negative) = (end, end + step.pos as u32);
                    end = negative + step.neg as u32;
                    if first < negative {
                        blocks.push([first, negative, end]);
                    }
                }
                Walk::Precision(blocks, prevalence)
            }
            _ => {
                let by_rank = |w: &[f64]| self.order.iter().map(|&i| w[i as usize]).collect::<Vec<_>>();
                Walk::Steps(steps.to_vec(), weights.map(by_rank), measure)
            }
        }
    }
}

/// What a replicate walks through.
pub(crate) enum Walk {
    /// An area, from integer counts.
    Area(Sequence, RateRange, Normalize),
    /// An area with exchanged classes and reversed order.
    Mirrored(Sequence, RateRange, Normalize),
    /// The average precision, for a prevalence if it is given, by the ranks of every score that positives have.
    Precision(Vec<[u32; 3]>, Option<f64>),
    /// Distinct scores and weights by rank: a new curve for each replicate.
    Steps(Vec<Step>, Option<Vec<f64>>, Measure),
}

impl Walk {
    /// The measure when samples are repeated `counts` times, by rank; `reversed` is a buffer.
    pub(crate) fn measure(&self, counts: &[u8], reversed: &mut Vec<u8>) -> Result<f64> {
        match self {
            Walk::Area(sequence, range, normalize) => Ok(normalize.apply(sequence.share(counts, *range), *range)),
            Walk::Mirrored(sequence, range, normalize) => {
                reversed.clear();
                reversed.reserve(counts.len());
                reversed.extend(counts.iter().rev());
                Ok(normalize.apply(sequence.share(reversed, *range), *range))
            }
            Walk::Precision(blocks, prevalence) => Ok(precision(blocks, *prevalence, counts)),
            Walk::Steps(steps, weights, measure) => {
                let mass = |block: Range<usize>| mass(&counts[block.clone()], weights.as_ref().map(|w| &w[block]));
                repeated(steps, mass)?.measure(*measure)
            }
        }
    }
}

/// The average precision of samples by rank that are repeated, from integer counts; `blocks` are the ranks of the first
/// positive and of the first negative of every score that positives have, and the end of its ranks.
fn precision(blocks: &[[u32; 3]], prevalence: Option<f64>, counts: &[u8]) -> f64 {
    let mut above = Vec::with_capacity(counts.len() + 1); // how many are drawn above every rank
    above.push(0);
    above.extend(counts.iter().scan(0u32, |sum, &count| {
        *sum = sum.wrapping_add(u32::from(count));
        Some(*sum)
    }));
    let drawn = |&[first, negative, end]: &[u32; 3]| {
        let [first, negative, end] = [first, negative, end].map(|rank| above[rank as usize]);
        [negative.wrapping_sub(first), end]
    };
    // What a false positive weighs beside a true one.
    let odds = prevalence.map_or(1.0, |share| {
        let pos = blocks.iter().map(|block| u64::from(drawn(block)[0])).sum::<u64>() as f64;
        (1.0 - share) / share * pos / (f64::from(above[counts.len()]) - pos)
    });
    let (mut hits, mut sums) = (0.0, [0.0; 2]);
    for (k, block) in blocks.iter().enumerate() {
        let [pos, called] = drawn(block).map(f64::from);
        hits += pos;
        // Of no positive that is drawn, 0 over 0 is not added up.
        sums[k % 2] += pos * (hits / f64::max(hits + odds * (called - hits), f64::MIN_POSITIVE));
    }
    (sums[0] + sums[1]) / hits
}

/// The mass of samples that are drawn `counts` times.
pub(super) fn mass(counts: &[u8], weights: Option<&[f64]>) -> f64 {
    match weights {
        None => counts.iter().map(|&k| u32::from(k)).sum::<u32>().into(),
        Some(weights) => counts.iter().zip(weights).map(|(&k, w)| f64::from(k) * w).sum(),
    }
}

/// The curve when a range of ranks has some `mass`.
pub(super) fn repeated(steps: &[Step], mass: impl Fn(Range<usize>) -> f64) -> Result<Curve> {
    let mut from = 0;
    let mut next = |size: f64| {
        let block = from..from + size as usize;
        from = block.end;
        mass(block)
    };
    let step = |s: &Step| Step { score: s.score, pos: next(s.pos), neg: next(s.neg) };
    let steps = steps.iter().map(step).filter(|s| s.pos > 0.0 || s.neg > 0.0).collect::<Vec<_>>();
    Curve::from_steps(steps, [0; 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{sample, uniform};

    #[test]
    fn a_replicate_is_the_curve_of_the_samples_repeated() {
        let mut next = uniform(3);
        let range = |low, high| RateRange::new(low, high).unwrap();
        let mut measures = vec![Measure::Auc, Measure::Scored, Measure::TprAtFpr(0.3), Measure::FprAtTpr(0.6)];
        measures.extend([None, Some(0.03)].map(Measure::AveragePrecision));
        for (low, high) in [(0.0, 1.0), (0.0, 0.05), (0.02, 0.3), (0.4, 0.41), (0.5, 1.0)] {
            for normalize in [Normalize::None, Normalize::Width, Normalize::McClish] {
                measures.extend([Measure::Partial, Measure::PartialTpr].map(|of| of(range(low, high), normalize)));
            }
        }
        for (n, levels, most) in [
            (4, 2.0, 3.0),
            (9, 3.0, 3.0),
            (40, 4.0, 3.0),
            (40, 1e9, 3.0),
            (100, 8.0, 255.9),
            (300, 20.0, 3.0),
            (300, 1e9, 40.0),
            (3000, 1e5, 3.0),
            (5000, 3.0, 2.0),
            (5000, 300.0, 3.0),
        ] {
            let (labels, scores) = sample(n, 0.4, levels, &mut next);
            let classes = Labels::new(&labels).unwrap();
            let ranking = Ranking::new(&classes, &scores, &Ctx::serial()).unwrap();
            for &measure in &measures {
                let repeats: Vec<u8> = (0..n).map(|i| if i < 2 { 1 } else { (most * next()) as u8 }).collect();
                let counts: Vec<u8> = ranking.order.iter().map(|&i| repeats[i as usize]).collect();
                let found = ranking.walk(measure, None).measure(&counts, &mut vec![]).unwrap();
                let rows = || (0..n).flat_map(|i| std::iter::repeat_n(i, repeats[i].into()));
                let (y, s): (Vec<bool>, Vec<f64>) = rows().map(|i| (labels[i], scores[i])).unzip();
                let curve = Curve::new(&Labels::new(&y).unwrap(), &s, None, &Ctx::serial()).unwrap();
                let expected = curve.measure(measure).unwrap();
                assert!((found - expected).abs() < 1e-12, "{measure:?}, {n} of {levels}: {found} {expected}");
            }
        }
    }
}
