//! One score vector, sorted once, and its measures when samples are repeated.

use std::ops::Range;

use super::curve::{Curve, Normalize, Step, first_non_finite};
use super::labels::Labels;
use super::measure::Measure;
use super::scattered::negatives_below;
use super::score::Score;
use crate::order::fast;
use crate::{Ctx, Error, RateRange, Result};

/// How often each positive and each negative is repeated, by descending score.
pub(crate) type Counts<'a> = [&'a [u8]; 2];

/// Samples by rank.
pub(crate) struct Ranking {
    /// The positives, and the negatives, by descending score.
    pub(crate) members: [Vec<u32>; 2],
    curve: Curve,
}

impl Ranking {
    pub(crate) fn new<S: Score>(labels: &Labels<'_>, scores: &[S], ctx: &Ctx<'_>) -> Result<Self> {
        let positive = labels.positives(0, scores.len());
        let mut members = [Vec::with_capacity(labels.n_pos()), Vec::with_capacity(labels.n_neg())];
        let place = |sample: usize, _: usize| members[usize::from(!positive[sample])].push(sample as u32);
        let curve = Curve::build(labels, scores, None, place, ctx)?;
        Ok(Self { members, curve })
    }

    /// What replicates of `measure` walk through; `weights` are those of the samples.
    pub(crate) fn walk(&self, measure: Measure, weights: Option<&[f64]>) -> Walk {
        let steps = &self.curve.steps;
        match (measure, weights) {
            (Measure::Auc, None) => Walk::Area(Area::new(steps, RateRange::FULL, Normalize::None)),
            (Measure::Partial(range, normalize), None) => Walk::Area(Area::new(steps, range, normalize)),
            (Measure::PartialTpr(range, normalize), None) => {
                Walk::Mirrored(Area::new(&self.curve.mirrored().steps, range, normalize))
            }
            _ => {
                let of = |class: usize, w: &[f64]| self.members[class].iter().map(|&i| w[i as usize]).collect();
                Walk::Steps(steps.clone(), weights.map(|w| [of(0, w), of(1, w)]), measure)
            }
        }
    }
}

/// The walk of a single model whose area is wanted: samples of a class are drawn alike, so none needs its name.
pub(crate) fn nameless<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    measure: Measure,
    ctx: &Ctx<'_>,
) -> Result<Option<Walk>> {
    let (range, normalize) = match measure {
        Measure::Auc => (RateRange::FULL, Normalize::None),
        Measure::Partial(range, normalize) => (range, normalize),
        _ => return Ok(None),
    };
    Error::check_len("y_score", labels.n_samples(), scores.len())?;
    let below = negatives_below(labels, scores, ctx)?.ok_or_else(|| first_non_finite(scores))?;
    let n_neg = labels.n_neg() as u32;
    let below = below.into_iter().rev();
    let above = below.map(|[below, up_to]| [n_neg - up_to, n_neg - below]).collect();
    Ok(Some(Walk::Area(Area { above, range, normalize })))
}

/// What a replicate walks through.
pub(crate) enum Walk {
    /// Counts alone decide, in integers.
    Area(Area),
    /// The same with the classes exchanged and the order reversed.
    Mirrored(Area),
    /// The distinct scores and the weights of either class by rank: the curve is made anew.
    Steps(Vec<Step>, Option<[Vec<f64>; 2]>, Measure),
}

impl Walk {
    /// The measure of the samples repeated `counts` times; `buffers` are kept from replicate to replicate.
    pub(crate) fn measure(&self, counts: Counts<'_>, buffers: &mut Buffers) -> Result<f64> {
        match self {
            Walk::Area(area) => Ok(area.measure(counts, &mut buffers.sums)),
            Walk::Mirrored(area) => {
                for (class, reversed) in buffers.reversed.iter_mut().enumerate() {
                    reversed.clear();
                    reversed.extend(counts[1 - class].iter().rev());
                }
                let [pos, neg] = &buffers.reversed;
                Ok(area.measure([pos, neg], &mut buffers.sums))
            }
            Walk::Steps(steps, weights, measure) => Ok(repeated(steps, weights.as_ref(), counts)?.measure(*measure)),
        }
    }
}

/// Memory of [`Walk::measure`].
#[derive(Default)]
pub(crate) struct Buffers {
    sums: Vec<u32>,
    reversed: [Vec<u8>; 2],
}

/// The curve of the samples repeated `counts` times.
fn repeated(steps: &[Step], weights: Option<&[Vec<f64>; 2]>, counts: Counts<'_>) -> Result<Curve> {
    let mut from = [0; 2];
    let mut mass = |class: usize, size: f64| -> f64 {
        let block = from[class]..from[class] + size as usize;
        from[class] = block.end;
        let counts = counts[class][block.clone()].iter();
        match weights {
            None => counts.map(|&k| u32::from(k)).sum::<u32>().into(),
            Some(w) => counts.zip(&w[class][block]).map(|(&k, w)| f64::from(k) * w).sum(),
        }
    };
    let step = |s: &Step| Step { score: s.score, pos: mass(0, s.pos), neg: mass(1, s.neg) };
    let steps = steps.iter().map(step).filter(|s| s.pos > 0.0 || s.neg > 0.0).collect();
    Curve::from_steps(steps, (0, 0))
}

/// The area under the curve over a range, `sum_i c_i (b - max(a, G_i))_+` for false positive rates in [a, b]: c_i is how
/// often the i-th positive is repeated, G_i the repeated negatives above it.
pub(crate) struct Area {
    /// For each positive, the highest first: how many negatives are above it, and how many above it or tied.
    above: Vec<[u32; 2]>,
    range: RateRange,
    normalize: Normalize,
}

impl Area {
    /// From the distinct scores, the highest first, with counts for weights.
    fn new(steps: &[Step], range: RateRange, normalize: Normalize) -> Self {
        let mut above = Vec::new();
        let mut from = 0;
        for step in steps {
            let to = from + step.neg as u32;
            above.resize(above.len() + step.pos as usize, [from, to]);
            from = to;
        }
        Self { above, range, normalize }
    }

    fn measure(&self, counts: Counts<'_>, sums: &mut Vec<u32>) -> f64 {
        let [pos, neg] = counts;
        let n_neg = total(neg) as f64;
        let (a, b) = (self.range.low() * n_neg, self.range.high() * n_neg);
        running_sums(neg, b, sums);
        // Nothing of the curve beyond b is needed, but where a block of ties that begins before it ends.
        let sum = |k: u32| sums.get(k as usize).copied().unwrap_or(u32::MAX);
        let end = |k: u32| match sum(k) {
            u32::MAX => f64::from(sums[sums.len() - 1]) + total(&neg[sums.len() - 1..k as usize]) as f64,
            sum => sum.into(),
        };
        // Positives come left of the range, across its beginning, inside, across its end and right of it, in this order.
        let until = |passes: &dyn Fn([u32; 2]) -> bool| self.above.partition_point(|&above| passes(above));
        let left = until(&|[_, to]| f64::from(sum(to)) <= a);
        let first = until(&|[from, _]| f64::from(sum(from)) < a).max(left);
        let last = until(&|[_, to]| f64::from(sum(to)) <= b).max(first);
        let right = until(&|[from, _]| f64::from(sum(from)) < b).max(last);
        // Those that are across one rate are tied with each other.
        let across = |tied: Range<usize>| match self.above[tied.clone()].first() {
            None => 0.0,
            Some(&[from, to]) => total(&pos[tied]) as f64 * mean_reach(end(from), end(to), a, b),
        };
        let twice = inside(&self.above[first..last], &pos[first..last], sums);
        let area = (b - a) * total(&pos[..left]) as f64 + b * total(&pos[first..last]) as f64 - 0.5 * twice as f64
            + across(left..first)
            + across(last..right);
        self.normalize.apply(area / (total(pos) as f64 * n_neg), self.range)
    }
}

/// The number of samples drawn.
fn total(counts: &[u8]) -> u64 {
    counts.chunks(1 << 16).map(|counts| u64::from(fast(Total { counts }))).sum()
}

struct Total<'a> {
    counts: &'a [u8],
}

impl pulp::NullaryFnOnce for Total<'_> {
    type Output = u32;

    #[inline(always)]
    fn call(self) -> u32 {
        self.counts.iter().fold(0, |sum, &count| sum.wrapping_add(count.into()))
    }
}

/// The sums of the first k `counts`, for k = 0, 1, ... until they reach `most`.
fn running_sums(counts: &[u8], most: f64, sums: &mut Vec<u32>) {
    sums.resize(counts.len() + 1, 0);
    let (mut sum, mut len) = (0, 1);
    for (counts, sums) in counts.chunks(CHUNK).zip(sums[1..].chunks_mut(CHUNK)) {
        if f64::from(sum) >= most {
            break;
        }
        sum = fast(RunningSums { from: sum, counts, sums });
        len += counts.len();
    }
    sums.truncate(len);
}

/// Counts whose sums are taken at a time; they wait in the first-level cache.
const CHUNK: usize = 1 << 12;

/// Writes `from` plus the sums of the first 1, 2, ... counts; the last of them.
struct RunningSums<'a> {
    from: u32,
    counts: &'a [u8],
    sums: &'a mut [u32],
}

impl pulp::NullaryFnOnce for RunningSums<'_> {
    type Output = u32;

    #[inline(always)]
    fn call(self) -> u32 {
        let Self { from: mut sum, counts, sums } = self;
        let ((words, rest), (octets, ends)) = (counts.as_chunks::<8>(), sums.as_chunks_mut::<8>());
        let one_by_one = |sum: &mut u32, counts: &[u8], sums: &mut [u32]| {
            for (to, &count) in sums.iter_mut().zip(counts) {
                *sum = sum.wrapping_add(count.into());
                *to = *sum;
            }
        };
        for (word, octet) in words.iter().zip(octets) {
            let bits = u64::from_le_bytes(*word);
            if bits & 0xE0E0_E0E0_E0E0_E0E0 != 0 {
                one_by_one(&mut sum, word, octet);
                continue;
            }
            // Eight counts below 32: one product holds their eight sums, each in a byte.
            let partial = bits.wrapping_mul(0x0101_0101_0101_0101);
            for (to, byte) in octet.iter_mut().zip(partial.to_le_bytes()) {
                *to = sum.wrapping_add(byte.into());
            }
            sum = sum.wrapping_add((partial >> 56) as u32);
        }
        one_by_one(&mut sum, rest, ends);
        sum
    }
}

/// `sum_i c_i (G_i + H_i)`, G_i the repeated negatives above positive i and H_i those above it or tied.
fn inside(above: &[[u32; 2]], counts: &[u8], sums: &[u32]) -> u64 {
    let term = |(&[from, to], &count): (&[u32; 2], &u8)| {
        u64::from(count).wrapping_mul(u64::from(sums[from as usize]).wrapping_add(sums[to as usize].into()))
    };
    above.iter().zip(counts).map(term).fold(0, u64::wrapping_add)
}

/// The mean of `(b - max(a, x))_+` over x from x0 to x1 > x0.
fn mean_reach(x0: f64, x1: f64, a: f64, b: f64) -> f64 {
    let (left, right) = (x0.clamp(a, b), x1.clamp(a, b));
    let before = f64::min(x1, a) - f64::min(x0, a);
    (before * (b - a) + (right - left) * (b - (left + right) / 2.0)) / (x1 - x0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    #[test]
    fn a_replicate_is_the_curve_of_the_samples_repeated() {
        let mut next = uniform(3);
        let range = |low, high| RateRange::new(low, high).unwrap();
        let mut measures = vec![Measure::Auc, Measure::Scored, Measure::TprAtFpr(0.3), Measure::FprAtTpr(0.6)];
        for (low, high) in [(0.0, 1.0), (0.0, 0.05), (0.02, 0.3), (0.4, 0.41), (0.5, 1.0)] {
            for normalize in [Normalize::None, Normalize::Width, Normalize::McClish] {
                measures.extend([Measure::Partial, Measure::PartialTpr].map(|of| of(range(low, high), normalize)));
            }
        }
        for (n, levels) in [(4, 2.0), (9, 3.0), (40, 4.0), (40, 1e9), (300, 20.0), (300, 1e9), (3000, 1e5)] {
            let labels: Vec<bool> = (0..n).map(|i| if i < 2 { i == 0 } else { next() < 0.4 }).collect();
            let scores: Vec<f64> =
                labels.iter().map(|&p| ((next() + 0.3 * f64::from(u8::from(p))) * levels).floor() / levels).collect();
            let classes = Labels::new(&labels).unwrap();
            let ranking = Ranking::new(&classes, &scores, &Ctx::serial()).unwrap();
            for &measure in &measures {
                let repeats: Vec<u8> = (0..n).map(|i| if i < 2 { 1 } else { (3.0 * next()) as u8 }).collect();
                let of =
                    |class: usize| -> Vec<u8> { ranking.members[class].iter().map(|&i| repeats[i as usize]).collect() };
                let found = ranking.walk(measure, None).measure([&of(0), &of(1)], &mut Buffers::default()).unwrap();
                let rows = || (0..n).flat_map(|i| std::iter::repeat_n(i, repeats[i].into()));
                let (y, s): (Vec<bool>, Vec<f64>) = rows().map(|i| (labels[i], scores[i])).unzip();
                let curve = Curve::new(&Labels::new(&y).unwrap(), &s, None, &Ctx::serial()).unwrap();
                let expected = curve.measure(measure);
                assert!((found - expected).abs() < 1e-12, "{measure:?}, {n} of {levels}: {found} {expected}");
                if let Some(walk) = nameless(&classes, &scores, measure, &Ctx::serial()).unwrap() {
                    assert_eq!(walk.measure([&of(0), &of(1)], &mut Buffers::default()).unwrap(), found);
                }
            }
        }
    }
}
