//! The bootstrap: as many samples as there are, drawn with replacement, class by class or from all at once.
//!
//! Replicate r draws from a stream of its own, made from the seed and r, so that replicates are the same whatever the
//! number of threads; several models share their draws, so that they are paired.

use super::curve::{Curve, Step};
use super::labels::Labels;
use super::measure::Measure;
use super::table::Score;
use crate::{Ctx, Result};

/// One score vector, sorted once: what every replicate walks through.
struct Ranking {
    /// Numbers of the positives, and of the negatives, within their class, by descending score.
    members: [Vec<u32>; 2],
    /// The score of every block of ties, and where its members end in either class.
    blocks: Vec<(f64, [u32; 2])>,
}

impl Ranking {
    fn new<S: Score>(labels: &Labels<'_>, numbers: &[u32], scores: &[S], ctx: &Ctx<'_>) -> Result<Self> {
        let positive = labels.positives(0, scores.len());
        let mut members = [Vec::with_capacity(labels.n_pos()), Vec::with_capacity(labels.n_neg())];
        let place = |sample: usize, _: usize| members[usize::from(!positive[sample])].push(numbers[sample]);
        let curve = Curve::build(labels, scores, None, place, ctx)?;
        let mut ends = [0u32; 2];
        let mut end = |step: &Step| {
            ends[0] += step.pos as u32;
            ends[1] += step.neg as u32;
            (step.score, ends)
        };
        let blocks = curve.steps.iter().map(&mut end).collect();
        Ok(Self { members, blocks })
    }

    /// The curve of the samples repeated `counts` times.
    fn resampled(&self, counts: &[Vec<u16>; 2], weights: Option<&[Vec<f64>; 2]>) -> Result<Curve> {
        let mut from = [0u32; 2];
        let step = |&(score, ends): &(f64, [u32; 2])| {
            let sum = |class: usize| -> f64 {
                let block = &self.members[class][from[class] as usize..ends[class] as usize];
                match weights {
                    None => block.iter().map(|&k| u32::from(counts[class][k as usize])).sum::<u32>().into(),
                    Some(w) => block.iter().map(|&k| f64::from(counts[class][k as usize]) * w[class][k as usize]).sum(),
                }
            };
            let step = Step { score, pos: sum(0), neg: sum(1) };
            from = ends;
            step
        };
        let steps = self.blocks.iter().map(step).filter(|s| s.pos > 0.0 || s.neg > 0.0).collect();
        Curve::from_steps(steps, (0, 0))
    }
}

/// A stream of uniform numbers (Steele, Lea and Flood's SplitMix64).
struct Stream(u64);

impl Stream {
    fn new(seed: u64, replicate: u64) -> Self {
        let mut start = Stream(seed);
        let key = start.next();
        Stream(Stream(key ^ replicate.wrapping_mul(0xD134_2543_DE82_EF95)).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Counts of `counts.len()` draws, each of one of as many members; exactly uniform (Lemire, 2019).
    fn draw(&mut self, counts: &mut [u16]) {
        counts.fill(0);
        let n = counts.len() as u32;
        let reject = n.wrapping_neg() % n;
        let mut drawn = 0;
        while drawn < n {
            let bits = self.next();
            for half in [bits >> 32, bits & u64::from(u32::MAX)] {
                let product = half * u64::from(n);
                if product as u32 >= reject && drawn < n {
                    counts[(product >> 32) as usize] += 1;
                    drawn += 1;
                }
            }
        }
    }
}

/// What stays fixed from replicate to replicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// The size of either class.
    Stratified,
    /// The number of samples only; a draw of a single class is drawn again.
    Pooled,
}

/// How often and how samples are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resampling {
    /// What stays fixed.
    pub scheme: Scheme,
    /// Number of replicates.
    pub n_resamples: usize,
    /// Seed of all streams.
    pub seed: u64,
}

/// `measure` of every model, for every replicate: `n_resamples` rows of `models.len()` values.
///
/// O(N log N) once a model, then O(N) a replicate and model.
///
/// # Errors
/// Those of [`Curve::new`]; with weights [`crate::Error::OneClass`] for a replicate without weight in a class.
pub fn bootstrap<S: Score>(
    labels: &Labels<'_>,
    models: &[&[S]],
    weights: Option<&[f64]>,
    measure: Measure,
    resampling: Resampling,
    ctx: &Ctx<'_>,
) -> Result<Vec<f64>> {
    let positive = labels.positives(0, labels.n_samples());
    let mut sizes = [0u32; 2];
    let mut numbers = Vec::with_capacity(positive.len());
    // A single model numbers the members of a class by rank, so that its walk reads the counts in order.
    for &positive in &positive {
        let size = &mut sizes[usize::from(!positive)];
        numbers.push(*size);
        *size += 1;
    }
    let by_class = weights.map(|w| {
        let mut classes = [Vec::new(), Vec::new()];
        positive.iter().zip(w).for_each(|(&p, &w)| classes[usize::from(!p)].push(w));
        classes
    });
    let mut rankings = Vec::with_capacity(models.len());
    for scores in models {
        rankings.push(Ranking::new(labels, &numbers, scores, ctx)?);
    }
    if let ([ranking], None) = (rankings.as_mut_slice(), weights) {
        for class in &mut ranking.members {
            class.iter_mut().zip(0..).for_each(|(member, rank)| *member = rank);
        }
    }
    let replicate = |r: usize| -> Result<Vec<f64>> {
        let mut counts = sizes.map(|size| vec![0u16; size as usize]);
        let mut stream = Stream::new(resampling.seed, r as u64);
        match resampling.scheme {
            Scheme::Stratified => counts.iter_mut().for_each(|class| stream.draw(class)),
            Scheme::Pooled => {
                let mut pooled = vec![0u16; positive.len()];
                loop {
                    stream.draw(&mut pooled);
                    for ((&count, &positive), &number) in pooled.iter().zip(&positive).zip(&numbers) {
                        counts[usize::from(!positive)][number as usize] = count;
                    }
                    if counts.iter().all(|class| class.iter().any(|&count| count > 0)) {
                        break;
                    }
                }
            }
        }
        let value = |ranking: &Ranking| Ok(ranking.resampled(&counts, by_class.as_ref())?.measure(measure));
        rankings.iter().map(value).collect()
    };
    let rows = ctx.map((0..resampling.n_resamples).collect(), replicate)?;
    let rows: Vec<Vec<f64>> = rows.into_iter().collect::<Result<_>>()?;
    Ok(rows.into_iter().flatten().collect())
}
