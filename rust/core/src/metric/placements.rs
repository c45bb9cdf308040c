//! Placements: for every sample the share of the other class that it beats, by table look-ups instead of a sort.
//!
//! They are the components of the AUC (DeLong, DeLong and Clarke-Pearson, 1988); several models share the labels.

use std::borrow::Cow;

use super::covariance::{Covariance, products};
use super::labels::Labels;
use super::placer::Placer;
use crate::{Ctx, Error, Result};

/// The scores of one model.
#[derive(Debug, Clone)]
pub enum Column<'a> {
    /// Of double precision.
    F64(Cow<'a, [f64]>),
    /// Of single precision.
    F32(Cow<'a, [f32]>),
}

impl Column<'_> {
    fn wide(&self) -> Cow<'_, [f64]> {
        match self {
            Self::F64(scores) => Cow::Borrowed(scores),
            Self::F32(scores) => scores.iter().map(|&s| f64::from(s)).collect(),
        }
    }
}

/// Memory kept from call to call.
#[derive(Debug, Default)]
pub struct Placements {
    placers: Vec<Placer>,
    /// For every model `2 #{t < s_i} + #{t = s_i}` of a positive i, `2 #{s > t_j} + #{s = t_j}` of a negative j.
    values: Vec<Vec<f64>>,
}

impl Placements {
    /// Bytes that are held.
    pub fn bytes(&self) -> usize {
        self.placers.iter().map(Placer::bytes).sum::<usize>()
            + self.values.iter().map(|values| 8 * values.capacity()).sum::<usize>()
    }

    /// The AUC of every model, and their DeLong covariance. O(N) a model for smooth distributions, O(N K^2) for K models.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::NonFinite`] naming `y_score`, [`Error::Domain`] for a class of one sample,
    /// [`Error::Interrupted`].
    pub fn covariance(
        &mut self,
        labels: &Labels<'_>,
        models: &[Column<'_>],
        ctx: &Ctx<'_>,
    ) -> Result<(Vec<f64>, Covariance)> {
        let sizes = [labels.n_pos() as f64, labels.n_neg() as f64];
        for (size, name) in sizes.into_iter().zip(["the number of positives", "the number of negatives"]) {
            if size < 2.0 {
                let value = size.to_string();
                return Err(Error::Domain { name, domain: "above 1 for a variance", value });
            }
        }
        let doubled = self.place(labels, models, ctx)?;
        let pairs = 2 * labels.n_pos() as u128 * labels.n_neg() as u128;
        let estimates = doubled.iter().map(|&won| won as f64 / pairs as f64).collect();
        let means: Vec<[f64; 2]> = doubled.iter().map(|&won| sizes.map(|size| won as f64 / size)).collect();
        let values: Vec<&[f64]> = self.values.iter().map(Vec::as_slice).collect();
        let sums = products(&labels.positives(0, labels.n_samples()), &values, &means, &|_| 1.0, ctx)?;
        let scale = |class: usize| {
            let (size, other) = (sizes[class], sizes[1 - class]);
            (2.0 * other).powi(2) * size * (size - 1.0)
        };
        let part = |class: usize| sums.iter().map(|sums| sums[class] / scale(class)).collect();
        Ok((estimates, Covariance { pos: part(0), neg: part(1) }))
    }

    /// Sets the values of every model; twice the pairs that each wins. Threads share the models and the work on each.
    fn place(&mut self, labels: &Labels<'_>, models: &[Column<'_>], ctx: &Ctx<'_>) -> Result<Vec<u64>> {
        let n_placers = models.len().clamp(1, ctx.n_threads());
        self.placers.resize_with(n_placers, Placer::default);
        self.values.resize_with(models.len(), Vec::new);
        let of_one = models.len().div_ceil(n_placers).max(1);
        let parts = models.chunks(of_one).zip(self.values.chunks_mut(of_one)).zip(&mut self.placers);
        let won = ctx.map(parts.collect(), |((models, values), placer)| {
            let each = models.iter().zip(values);
            each.map(|(scores, values)| placer.place(labels, &scores.wide(), values, ctx)).collect::<Result<Vec<u64>>>()
        })?;
        Ok(won.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{Components, Measure, WeightKind, covariance};
    use crate::testing::uniform;

    #[test]
    fn as_by_the_curve_on_any_number_of_threads() {
        let mut next = uniform(5);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let mut kept = Placements::default();
        for (n, levels, k) in
            [(4, 3.0, 2), (50, 5.0, 3), (3000, 1e9, 2), (3000, 40.0, 1), (200_000, 1e9, 2), (200_000, 300.0, 2)]
        {
            let labels: Vec<bool> = (0..n).map(|i| if i < 4 { i < 2 } else { next() < 0.3 }).collect();
            let mut model = || -> Vec<f64> {
                labels
                    .iter()
                    .map(|&p| ((next() + 0.2 * f64::from(u8::from(p))) * levels).floor() / levels - 0.5)
                    .collect()
            };
            let models: Vec<Vec<f64>> = (0..k).map(|_| model()).collect();
            let classes = Labels::new(&labels).unwrap();
            let serial = Ctx::serial();
            let components: Vec<_> =
                models.iter().map(|s| Components::new(&classes, s, None, Measure::Auc, &serial).unwrap()).collect();
            let expected = covariance(&classes, &components, None, WeightKind::Frequency, &serial).unwrap();
            let columns: Vec<Column<'_>> = models.iter().map(|s| Column::F64(s.into())).collect();
            let (estimates, found) = kept.covariance(&classes, &columns, &serial).unwrap();
            for (estimate, components) in estimates.iter().zip(&components) {
                assert!((estimate - components.estimate).abs() < 1e-15);
            }
            for (found, expected) in [(&found.pos, &expected.pos), (&found.neg, &expected.neg)] {
                for (x, y) in found.iter().zip(expected) {
                    assert!((x - y).abs() <= 1e-11 * expected[0].abs() + 1e-16, "{n} of {levels}: {x} {y}");
                }
            }
            let again = kept.covariance(&classes, &columns, &Ctx::new(Some(&pool), None)).unwrap();
            assert_eq!(again, (estimates, found));
        }
    }

    #[test]
    fn a_bad_score_is_named() {
        let labels = [true, false, true, false];
        let column = Column::F64(vec![0.0, 1.0, f64::NAN, 2.0].into());
        let found = Placements::default().covariance(&Labels::new(&labels).unwrap(), &[column], &Ctx::serial());
        assert!(matches!(found, Err(Error::NonFinite { name: "y_score", index: 2, .. })));
    }
}
