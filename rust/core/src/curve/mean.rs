//! Measures that are sums over the steps, computed while these are walked, without keeping them.

use crate::curve::empirical::Curve;
use crate::curve::ranked::each_step;
use crate::curve::sum::{Share, Sum};
use crate::curve::walk::{Placed, Step, Walk};
use crate::data::labels::Labels;
use crate::{Ctx, Error, Result};

/// A sum over the steps, the highest score first.
pub(crate) trait Mean {
    fn add(&mut self, step: &Step);
    fn walk(&self) -> &Walk;
    fn value(&self) -> f64;

    fn of(mut self, steps: &[Step]) -> f64
    where
        Self: Sized,
    {
        steps.iter().for_each(|step| self.add(step));
        self.value()
    }

    fn of_samples(mut self, labels: &Labels<'_>, scores: &[f64], weights: Option<&[f64]>, ctx: &Ctx<'_>) -> Result<f64>
    where
        Self: Sized,
    {
        let sizes = each_step(labels, scores, weights, |step| self.add(&step), ctx)?;
        Error::check_classes(self.walk().sums.map(Sum::value), sizes)?;
        Ok(self.value())
    }
}

/// The area under the curve: the weighted mean over pairs of `1[s > t] + 1/2 1[s = t]`.
#[derive(Default)]
pub(crate) struct Area {
    walk: Walk,
    won: Sum,
    lost: Sum,
}

impl Mean for Area {
    #[inline(always)]
    fn add(&mut self, step: &Step) {
        let Placed { above: [tp, fp], .. } = self.walk.next(step);
        let tied = step.pos * step.neg / 2.0;
        self.won.add(step.neg * tp + tied);
        self.lost.add(step.pos * fp + tied);
    }

    fn walk(&self) -> &Walk {
        &self.walk
    }

    fn value(&self) -> f64 {
        Share { won: self.won.value(), lost: self.lost.value() }.value()
    }
}

/// The weighted mean of the precision at the scores of the positives.
#[derive(Default)]
pub(crate) struct Precision {
    /// What a negative weighs beside a positive.
    odds: f64,
    walk: Walk,
    sum: Sum,
}

impl Precision {
    pub(crate) fn of_odds(odds: f64) -> Self {
        Self { odds, ..Self::default() }
    }
}

impl Curve {
    /// Average precision at a share of positives, if given, or that of the samples.
    pub(crate) fn precision(&self, prevalence: Option<f64>) -> Precision {
        Precision::of_odds(prevalence.map_or(1.0, |share| (1.0 - share) / share * (self.pos / self.neg)))
    }
}

impl Mean for Precision {
    #[inline(always)]
    fn add(&mut self, step: &Step) {
        let [tp, fp] = self.walk.next(step).up_to;
        self.sum.add(if step.pos > 0.0 { step.pos * (tp / (tp + self.odds * fp)) } else { 0.0 });
    }

    fn walk(&self) -> &Walk {
        &self.walk
    }

    fn value(&self) -> f64 {
        self.sum.value() / self.walk.sums[0].value()
    }
}
