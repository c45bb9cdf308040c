//! The points of a curve, written while its steps are walked.

use crate::curve::empirical::Curve;
use crate::curve::ranked::each_step;
use crate::curve::walk::Step;
use crate::data::labels::Labels;
use crate::{Ctx, Error, Result};

/// Points to write to the first places of three slices, which have one more than there are samples, or steps of a
/// curve. The number of points is returned. O(N) for N steps, beside a sort of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Points {
    /// The false positive rates, the true positive rates and the thresholds of the vertices of the ROC curve: from
    /// (0, 0) to (1, 1), by descending threshold, the first of which is infinite. Those between two equal steps can be
    /// dropped.
    Roc,
    /// Precision, recall and thresholds, these ascending: the last precision is 1, at a recall of 0 and an infinite
    /// threshold. Points of the recall of both neighbours can be dropped.
    PrecisionRecall,
}

impl Points {
    /// Writes the points of samples.
    ///
    /// # Errors
    /// Those of [`Curve::new`]; [`Error::Length`] for slices of another length.
    pub fn of_samples(
        self,
        labels: &Labels<'_>,
        scores: &[f64],
        weights: Option<&[f64]>,
        drop: bool,
        to: [&mut [f64]; 3],
        ctx: &Ctx<'_>,
    ) -> Result<usize> {
        let mut points = Vertices::new(self, drop, to, labels.n_samples())?;
        let sizes = each_step(labels, scores, weights, |step| points.add(&step), ctx)?;
        Error::check_classes([points.last[1], points.last[0]], sizes)?;
        Ok(points.finish())
    }

    /// Writes the points of a curve.
    ///
    /// # Errors
    /// [`Error::Length`] for slices of another length.
    pub fn of_curve(self, curve: &Curve, drop: bool, to: [&mut [f64]; 3]) -> Result<usize> {
        let mut points = Vertices::new(self, drop, to, curve.steps.len())?;
        curve.steps.iter().for_each(|step| points.add(step));
        Ok(points.finish())
    }
}

/// The weights of the negatives and of the positives up to every step, and its score, after those of an infinite
/// threshold, 0.
struct Vertices<'a> {
    what: Points,
    drop: bool,
    to: [&'a mut [f64]; 3],
    /// How many points stay, so far, and the last, which may not.
    n: usize,
    last: [f64; 3],
    /// The weights at the last, and the steps to it; NaN, which differs from every step, so that the first points stay.
    from: [f64; 2],
    before: [f64; 2],
}

impl<'a> Vertices<'a> {
    fn new(what: Points, drop: bool, to: [&'a mut [f64]; 3], n_steps: usize) -> Result<Self> {
        to.iter().try_for_each(|values| Error::check_len("each slice of points", n_steps + 1, values.len()))?;
        let (last, nan) = ([0.0, 0.0, f64::INFINITY], [f64::NAN; 2]);
        Ok(Self { what, drop, to, n: 0, last, from: nan, before: nan })
    }

    #[inline(always)]
    fn add(&mut self, step: &Step) {
        let sums = [self.last[0] + step.neg, self.last[1] + step.pos];
        let after = [sums[0] - self.from[0], sums[1] - self.from[1]];
        let stays = match self.what {
            Points::Roc => (self.before[0] != after[0]) | (self.before[1] != after[1]),
            Points::PrecisionRecall => (self.before[1] != 0.0) | (after[1] != 0.0),
        };
        // Written whether it stays or not: no branch.
        self.put();
        self.n += usize::from(!self.drop | stays);
        (self.last, self.from, self.before) = ([sums[0], sums[1], step.score], sums, after);
    }

    #[inline(always)]
    fn put(&mut self) {
        self.to.iter_mut().zip(self.last).for_each(|(to, value)| to[self.n] = value);
    }

    /// Turns the weights to rates; the number of points.
    fn finish(mut self) -> usize {
        self.put();
        let [neg, pos, _] = self.last;
        let [x, tpr, thresholds] = self.to.map(|values| &mut values[..=self.n]);
        match self.what {
            Points::Roc => x.iter_mut().for_each(|fp| *fp /= neg),
            Points::PrecisionRecall => {
                x.iter_mut().zip(&*tpr).skip(1).for_each(|(fp, &tp)| *fp = tp / (tp + *fp));
                x[0] = 1.0;
            }
        }
        tpr.iter_mut().for_each(|tp| *tp /= pos);
        if self.what == Points::PrecisionRecall {
            [x, tpr, thresholds].into_iter().for_each(<[f64]>::reverse);
        }
        self.n + 1
    }
}
