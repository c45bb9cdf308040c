//! The empirical ROC curve: the weight of either class at every distinct score. All measures of one score vector that
//! need an order are sums over it.

use super::labels::Labels;
use super::score::Score;
use super::sum::Sum;
use crate::ctx::CHUNK;
use crate::order::{self, Entry};
use crate::{Ctx, Error, Negatives, RateRange, Result};

/// What a partial area is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalize {
    /// Nothing: the raw area.
    None,
    /// The width of the range: 1 for a perfect ranking.
    Width,
    /// McClish's standardisation: 1 for a perfect ranking, 1/2 for a random one.
    McClish,
}

impl Normalize {
    /// What the normalised value gains for every unit of raw area.
    pub(crate) fn slope(self, range: RateRange) -> f64 {
        self.apply(1.0, range) - self.apply(0.0, range)
    }

    /// The normalised value of the raw area `area`.
    pub fn apply(self, area: f64, range: RateRange) -> f64 {
        match self {
            Normalize::None => area,
            Normalize::Width => area / range.width(),
            Normalize::McClish => {
                let chance = (range.high() + range.low()) * range.width() / 2.0;
                0.5 * (1.0 + (area - chance) / (range.width() - chance))
            }
        }
    }
}

/// One distinct score and the weight of the samples that have it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The score.
    pub score: f64,
    /// Weight of the positives with this score.
    pub pos: f64,
    /// Weight of the negatives with this score.
    pub neg: f64,
}

/// The distinct scores, descending. Counts are whole numbers below 2^53, so that they and their sums are exact.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub(crate) steps: Vec<Step>,
    pub(crate) pos: f64,
    pub(crate) neg: f64,
}

impl Curve {
    /// Sorts the scores of either class and merges them. O(N log N). Samples of weight zero are as if absent.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::NonFinite`] and [`Error::Domain`] naming `y_score` or `sample_weight`,
    /// [`Error::OneClass`] if a class has no weight, [`Error::Interrupted`].
    pub fn new<S: Score>(labels: &Labels<'_>, scores: &[S], weights: Option<&[f64]>, ctx: &Ctx<'_>) -> Result<Self> {
        Self::build(labels, scores, weights, |_, _| (), ctx)
    }

    /// [`Curve::new`] that calls `place(sample, step)` for every sample of positive weight.
    pub(crate) fn build<S: Score>(
        labels: &Labels<'_>,
        scores: &[S],
        weights: Option<&[f64]>,
        place: impl FnMut(usize, usize),
        ctx: &Ctx<'_>,
    ) -> Result<Self> {
        let [pos, neg] = sorted_classes(labels, scores, weights, ctx)?;
        Self::from_steps(Self::merge(&pos, &neg, weights, place), (pos.len(), neg.len()))
    }

    fn merge(pos: &[Entry], neg: &[Entry], weights: Option<&[f64]>, mut place: impl FnMut(usize, usize)) -> Vec<Step> {
        let weight = |entry: &Entry| weights.map_or(1.0, |w| w[entry.index()]);
        let mut steps: Vec<Step> = Vec::new();
        let (mut p, mut n) = (pos, neg);
        loop {
            let top = match (p.first(), n.first()) {
                (Some(&x), Some(&y)) => x.min(y),
                (Some(&x), None) | (None, Some(&x)) => x,
                (None, None) => break,
            };
            let mut take = |class: &mut &[Entry]| {
                let count = class.iter().take_while(|e| e.ties(top)).count();
                let (block, rest) = class.split_at(count);
                *class = rest;
                block.iter().for_each(|e| place(e.index(), steps.len()));
                if weights.is_none() { count as f64 } else { block.iter().map(weight).collect::<Sum>().value() }
            };
            let (pos, neg) = (take(&mut p), take(&mut n));
            steps.push(Step { score: top.score(), pos, neg });
        }
        steps
    }

    /// The curve of steps that were counted elsewhere.
    ///
    /// # Errors
    /// [`Error::Domain`] unless the scores descend and the weights are finite and not negative; [`Error::OneClass`].
    pub fn of_steps(steps: Vec<Step>) -> Result<Self> {
        let weight = |w: f64| w >= 0.0 && w.is_finite();
        let descending = steps.windows(2).all(|pair| pair[0].score > pair[1].score);
        if !descending || !steps.iter().all(|s| s.score.is_finite() && weight(s.pos) && weight(s.neg)) {
            let value = format!("{} steps", steps.len());
            return Err(Error::Domain { name: "steps", domain: "descending scores with weights", value });
        }
        Self::from_steps(steps, (0, 0))
    }

    /// The curve of `steps`, whose scores descend; `counts` are the samples of either class, for the error only.
    pub(crate) fn from_steps(steps: Vec<Step>, counts: (usize, usize)) -> Result<Self> {
        let pos = steps.iter().map(|s| s.pos).collect::<Sum>().value();
        let neg = steps.iter().map(|s| s.neg).collect::<Sum>().value();
        if pos == 0.0 || neg == 0.0 {
            return Err(Error::OneClass { n_pos: counts.0, n_neg: counts.1 });
        }
        Error::check_totals(pos, neg)?;
        Ok(Self { steps, pos, neg })
    }

    /// The distinct scores with their weights, by descending score.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Total weight of the positives.
    pub fn pos(&self) -> f64 {
        self.pos
    }

    /// Total weight of the negatives.
    pub fn neg(&self) -> f64 {
        self.neg
    }

    /// The curve with the classes exchanged and the scores negated: its false positive rate is 1 - TPR of this one.
    pub fn mirrored(&self) -> Self {
        let flip = |s: &Step| Step { score: -s.score, pos: s.neg, neg: s.pos };
        Self { steps: self.steps.iter().rev().map(flip).collect(), pos: self.neg, neg: self.pos }
    }

    /// The area under the curve: the weighted mean over pairs of `1[s > t] + 1/2 1[s = t]`.
    pub fn auc(&self) -> f64 {
        let mut above = 0.0;
        let mut twice = Sum::default();
        for step in &self.steps {
            twice.add(step.neg * (2.0 * above + step.pos));
            above += step.pos;
        }
        twice.value() / (2.0 * self.pos * self.neg)
    }

    /// The area under the piecewise linear curve over `range`; a block of ties is one straight segment.
    pub fn partial_auc(&self, range: RateRange) -> f64 {
        let (from, to) = (range.low() * self.neg, range.high() * self.neg);
        let (mut tp, mut fp) = (0.0, 0.0);
        let mut twice = Sum::default();
        for step in &self.steps {
            if fp >= to {
                break;
            }
            let end = fp + step.neg;
            let (left, right) = (f64::max(from, fp), f64::min(to, end));
            if left == fp && right == end {
                twice.add(step.neg * (2.0 * tp + step.pos));
            } else if left < right {
                let height = |x: f64| tp + step.pos * ((x - fp) / step.neg);
                twice.add((right - left) * (height(left) + height(right)));
            }
            fp = end;
            tp += step.pos;
        }
        twice.value() / (2.0 * self.pos * self.neg)
    }

    /// The weighted mean, over positives and the negatives ranked `j_a + 1 ..= j_b`, of `1[s > t]`
    /// (Narasimhan and Agarwal, 2016, eq. 2); weights count as repetitions and must be whole.
    pub fn ranked_partial_auc(&self, range: RateRange) -> f64 {
        let (from, to) = range.ranks(Negatives::Whole(self.neg));
        let (mut tp, mut fp) = (0.0, 0.0);
        let mut won = Sum::default();
        for step in &self.steps {
            won.add(tp * (f64::min(to, fp + step.neg) - f64::max(from, fp)).max(0.0));
            fp += step.neg;
            tp += step.pos;
        }
        won.value() / (self.pos * (to - from))
    }

    /// The greatest true positive rate of a threshold whose false positive rate is at most `fpr`.
    pub fn tpr_at_fpr(&self, fpr: f64) -> f64 {
        f64::min(self.called(fpr).0 / self.pos, 1.0)
    }

    /// The least false positive rate of a threshold whose true positive rate is at least `tpr`.
    pub fn fpr_at_tpr(&self, tpr: f64) -> f64 {
        f64::max((self.neg - self.mirrored().called(1.0 - tpr).0) / self.neg, 0.0)
    }

    /// The weight of the positives, and the number of steps, above the lowest threshold whose false positive rate is at
    /// most `fpr`.
    pub(crate) fn called(&self, fpr: f64) -> (f64, usize) {
        let most = most_called(self.neg, fpr);
        let (mut tp, mut fp) = (0.0, 0.0);
        for (k, step) in self.steps.iter().enumerate() {
            fp += step.neg;
            if fp > most {
                return (tp, k);
            }
            tp += step.pos;
        }
        (tp, self.steps.len())
    }
}

/// The weight of negatives that a false positive rate of `fpr` allows, of a total of `neg`; a whole number that
/// rounding has moved goes back.
pub(crate) fn most_called(neg: f64, fpr: f64) -> f64 {
    let most = neg * fpr;
    let whole = (most - most.round()).abs() <= 1e-9 * most.max(1.0);
    (if whole { most.round() } else { most }) * (1.0 + 4.0 * f64::EPSILON)
}

/// The entries of positive weight, of the positives and of the negatives, each in order.
fn sorted_classes<S: Score>(
    labels: &Labels<'_>,
    scores: &[S],
    weights: Option<&[f64]>,
    ctx: &Ctx<'_>,
) -> Result<[Vec<Entry>; 2]> {
    Error::check_len("y_score", labels.n_samples(), scores.len())?;
    if let Some(weights) = weights {
        Error::check_weights(labels.n_samples(), weights)?;
    }
    let chunks: Vec<usize> = (0..scores.len()).step_by(CHUNK).collect();
    let parts = ctx.map(chunks, |from| {
        let to = usize::min(from + CHUNK, scores.len());
        let positive = labels.positives(from, to);
        let mut classes = [Vec::new(), Vec::new()];
        let mut finite = true;
        for (i, (&score, &positive)) in (from..to).zip(scores[from..to].iter().zip(&positive)) {
            let score: f64 = score.into();
            finite &= score.is_finite();
            if weights.is_none_or(|w| w[i] > 0.0) {
                classes[usize::from(!positive)].push(Entry::new(score, i as u32));
            }
        }
        finite.then_some(classes)
    })?;
    let mut classes = [Vec::new(), Vec::new()];
    for part in parts {
        let Some(part) = part else {
            return Err(first_non_finite(scores));
        };
        for (class, entries) in classes.iter_mut().zip(part) {
            class.extend(entries);
        }
    }
    let mut scratch = Vec::new();
    for class in &mut classes {
        order::sort(class, &mut scratch, ctx)?;
    }
    Ok(classes)
}

pub(crate) fn first_non_finite<S: Score>(scores: &[S]) -> Error {
    let values = scores.iter().map(|&s| s.into());
    let (index, value) = values.enumerate().find(|(_, v)| !v.is_finite()).unwrap_or((0, f64::NAN));
    Error::NonFinite { name: "y_score", index, value }
}
