//! The empirical ROC curve and the measures that depend on the order of the scores alone.

use crate::curve::ranked::{Samples, each_step};
use crate::curve::reach::{enough, sampled_bound};
use crate::curve::sum::{Share, Sum};
use crate::curve::walk::{Placed, Step, Walk};
use crate::data::labels::Labels;
use crate::order;
use crate::{Ctx, Error, Negatives, RateRange, Result};

/// The steps of samples, which are placed, and the size of each class. See [`Curve::build`].
fn placed(samples: Samples<'_>, mut place: impl FnMut(usize, usize), ctx: &Ctx<'_>) -> Result<(Vec<Step>, [usize; 2])> {
    let (mut steps, sample_of) = (Vec::new(), |item: &u128| *item as u64 as usize);
    let weight = |items: &[u128], w: &[f64]| items.iter().map(|item| w[sample_of(item)]).collect::<Sum>().value();
    let total = |items: &[u128]| samples.weights.map_or(items.len() as f64, |w| weight(items, w));
    let take = |step, items: &[u128]| {
        items.iter().for_each(|item| place(sample_of(item), steps.len()));
        steps.push(step);
    };
    let sizes = samples.each_step(|i| i as u64, total, take, ctx)?;
    Ok((steps, sizes))
}

/// What a partial area is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Normalize {
    /// Nothing: the raw area.
    None,
    /// The width of the range: 1 for a perfect ranking.
    Width,
    /// McClish's standardisation: 1 for a perfect ranking, 1/2 for a random one.
    McClish,
}

impl Normalize {
    /// The difference of the values at a share of 1 and of 0.
    pub(crate) fn span(self, range: RateRange) -> f64 {
        match self {
            Normalize::None => range.width(),
            Normalize::Width => 1.0,
            // With the area A, the width w and c = (a + b) / 2, so that chance gives c w, the value
            // (1 + (A - c w) / (w - c w)) / 2 is 1 - (1 - A / w) / (2 - a - b).
            Normalize::McClish => 1.0 / ((1.0 - range.low()) + (1.0 - range.high())),
        }
    }

    /// The value of a partial area that is this share of the range.
    pub(crate) fn apply(self, share: Share, range: RateRange) -> f64 {
        match self {
            Normalize::None | Normalize::Width => self.span(range) * share.value(),
            // Chance gives exactly 1/2.
            Normalize::McClish if share.value() == (range.low() + range.high()) / 2.0 => 0.5,
            Normalize::McClish => 1.0 - self.span(range) * share.rest(),
        }
    }
}

/// The weight of each class at every distinct score, descending. Counts are below 2^53, so that their sums are exact.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub(crate) steps: Vec<Step>,
    pub(crate) pos: f64,
    pub(crate) neg: f64,
}

impl Curve {
    /// Sorts the samples and adds up the weights at every score. O(N) for scores of a smooth distribution, O(N log N) at
    /// most. Samples of weight 0 are ignored.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::NonFinite`] and [`Error::Domain`] naming `scores` or `weights`,
    /// [`Error::OneClass`] if a class has no weight, [`Error::Interrupted`].
    pub fn new(labels: &Labels<'_>, scores: &[f64], weights: Option<&[f64]>, ctx: &Ctx<'_>) -> Result<Self> {
        let mut steps = Vec::with_capacity(labels.n_samples());
        let sizes = each_step(labels, scores, weights, |step| steps.push(step), ctx)?;
        steps.shrink_to_fit();
        Self::from_steps(steps, sizes)
    }

    /// [`Curve::new`] that also calls `place(sample, step)` for every sample of positive weight: step by step,
    /// positives first, by ascending index. Without weights, if only false positive rates up to `reach` matter, scores
    /// that are certainly beyond it become one last step, for which `place` is not called: O(N + k log k) for k scores
    /// above.
    pub(crate) fn build(
        reach: Option<f64>,
        labels: &Labels<'_>,
        scores: &[f64],
        weights: Option<&[f64]>,
        mut place: impl FnMut(usize, usize),
        ctx: &Ctx<'_>,
    ) -> Result<Self> {
        Error::check_len("scores", labels.n_samples(), scores.len())?;
        let (n_pos, n_neg) = (labels.n_pos(), labels.n_neg());
        if let Some(rate) = reach
            && weights.is_none()
            && let Some(least) = sampled_bound(labels, scores, rate, false)
        {
            let (mut steps, sizes) = placed(Samples { labels, scores, weights, least }, &mut place, ctx)?;
            let [pos, neg] = [n_pos - sizes[0], n_neg - sizes[1]].map(|n| n as f64);
            if n_neg as f64 - neg > enough(rate, n_neg) && neg > 0.0 {
                steps.push(Step { score: order::score_of(order::key(least) + 1), pos, neg });
                return Self::from_steps(steps, sizes);
            }
        }
        let (steps, sizes) = placed(Samples { labels, scores, weights, least: f64::NEG_INFINITY }, place, ctx)?;
        Self::from_steps(steps, sizes)
    }

    /// The curve of steps that the caller counted.
    ///
    /// # Errors
    /// [`Error::Domain`] unless the scores descend and the weights are finite and not negative; [`Error::OneClass`].
    pub fn of_steps(steps: Vec<Step>) -> Result<Self> {
        let weight = |w: f64| w >= 0.0 && w.is_finite();
        let descending = steps.windows(2).all(|pair| pair[0].score > pair[1].score);
        if !descending || !steps.iter().all(|s| s.score.is_finite() && weight(s.pos) && weight(s.neg)) {
            let value = format!("{} steps", steps.len());
            return Err(Error::domain("steps", "descending scores with weights", value));
        }
        Self::from_steps(steps, [0; 2])
    }

    /// The curve of `steps`, whose scores descend; `counts` are the sizes of the classes, for the error only.
    pub(crate) fn from_steps(steps: Vec<Step>, counts: [usize; 2]) -> Result<Self> {
        let curve = Self::summed(steps);
        Error::check_classes([curve.pos, curve.neg], counts)?;
        Ok(curve)
    }

    fn summed(steps: Vec<Step>) -> Self {
        let [pos, neg] = Walk::all(&steps).sums.map(Sum::value);
        Self { steps, pos, neg }
    }

    /// The steps from the highest score on, with the weights above each and up to it.
    pub(crate) fn walk(&self) -> impl ExactSizeIterator<Item = Placed<'_>> + Clone {
        let mut walk = Walk::default();
        self.steps.iter().map(move |step| walk.next(step))
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

    /// The curve with exchanged classes and negated scores: its FPR is 1 - TPR of this one.
    pub(crate) fn mirrored(&self) -> Self {
        let flip = |s: &Step| Step { score: -s.score, pos: s.neg, neg: s.pos };
        Self::summed(self.steps.iter().rev().map(flip).collect())
    }

    /// The share of `range` below the piecewise linear curve; a block of ties is one straight segment.
    pub(crate) fn partial(&self, range: RateRange) -> Share {
        let (from, to) = (range.low() * self.neg, range.high() * self.neg);
        let [mut won, mut lost] = [Sum::default(); 2];
        for Placed { step, above: [tp, fp], up_to: [pos, neg] } in self.walk() {
            if fp >= to {
                break;
            }
            let (left, right, below) = (f64::max(from, fp), f64::min(to, neg), self.pos - pos);
            // Twice the areas below the curve and above it.
            if left == fp && right == neg {
                won.add(step.neg * (2.0 * tp + step.pos));
                lost.add(step.neg * (2.0 * below + step.pos));
            } else if left < right {
                let height = |x: f64| tp + step.pos * ((x - fp) / step.neg);
                let depth = |x: f64| below + step.pos * ((neg - x) / step.neg);
                won.add((right - left) * (height(left) + height(right)));
                lost.add((right - left) * (depth(left) + depth(right)));
            }
        }
        Share { won: won.value(), lost: lost.value() }
    }

    /// The weighted mean, over positives and the negatives ranked `j_a + 1 ..= j_b`, of `1[s > t]`
    /// (Narasimhan and Agarwal, 2016, eq. 2); weights are frequency weights and must be whole.
    pub(crate) fn ranked_partial_auc(&self, range: RateRange) -> f64 {
        let (from, to) = range.ranks(Negatives::Whole(self.neg));
        let [mut won, mut lost] = [Sum::default(); 2];
        for Placed { above: [tp, fp], up_to: [_, up_to], .. } in self.walk() {
            let inside = f64::max(f64::min(to, up_to) - f64::max(from, fp), 0.0);
            won.add(tp * inside);
            lost.add((self.pos - tp) * inside);
        }
        Share { won: won.value(), lost: lost.value() }.value()
    }

    /// The greatest true positive rate of a threshold whose false positive rate is at most `fpr`.
    pub(crate) fn tpr_at_fpr(&self, fpr: f64) -> f64 {
        self.called(fpr).0 / self.pos
    }

    /// The least false positive rate of a threshold whose true positive rate is at least `tpr`.
    pub(crate) fn fpr_at_tpr(&self, tpr: f64) -> f64 {
        let n_called = self.steps.len() - self.mirrored().called(1.0 - tpr).1;
        self.steps[..n_called].iter().map(|step| step.neg).collect::<Sum>().value() / self.neg
    }

    /// The weight of the positives, and the number of steps, at or above the lowest threshold with an FPR of at most
    /// `fpr`.
    pub(crate) fn called(&self, fpr: f64) -> (f64, usize) {
        let most = most_called(self.neg, fpr);
        let passed = self.walk().enumerate().find(|(_, placed)| placed.up_to[1] > most);
        passed.map_or((self.pos, self.steps.len()), |(k, placed)| (placed.above[0], k))
    }
}

/// The weight of negatives that a false positive rate allows, of a total of `neg`; likewise for positives and a false
/// negative rate. Rates that differ by rounding are equal, whatever the unit of the weights.
pub(crate) fn most_called(neg: f64, fpr: f64) -> f64 {
    const ROUNDING: f64 = 1e-10;
    neg * (fpr * (1.0 + ROUNDING))
}

#[cfg(test)]
#[path = "../../tests/unit/curve_empirical.rs"]
mod tests;
