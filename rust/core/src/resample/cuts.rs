//! The bootstrap of thresholds: a rule chooses anew on every replicate.

use std::ops::Range;

use crate::curve::cutoff::Rule;
use crate::curve::walk::Step;
use crate::data::labels::Labels;
use crate::resample::bootstrap::{Model, Resampling, Scheme, prepared, rows, strata};
use crate::resample::multinomial::{Draws, Stream};
use crate::resample::replicate::{Ranking, mass};
use crate::resample::weighted_draws::Units;
use crate::variance::WeightKind;
use crate::{Ctx, Error, Result};

/// The threshold of a rule on a replicate, and the rates there.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Rates {
    /// The threshold; infinite if no sample is called positive.
    pub threshold: f64,
    /// The true positive rate.
    pub tpr: f64,
    /// The false positive rate.
    pub fpr: f64,
    /// The share of positives in the replicate.
    pub prevalence: f64,
}

/// The threshold of every rule on every replicate: `n_resamples` rows of `rules.len()`.
///
/// O(N log N) once, then O(N) per replicate and rule.
///
/// # Errors
/// Those of [`crate::resample::bootstrap`] and [`Rule::cut`].
pub fn bootstrap_cuts(
    labels: &Labels<'_>,
    scores: &[f64],
    weights: Option<&[f64]>,
    rules: &[Rule],
    resampling: Resampling,
    ctx: &Ctx<'_>,
) -> Result<Vec<Rates>> {
    Error::check_count("n_resamples", resampling.n_resamples)?;
    rules.iter().try_for_each(|rule| rule.check())?;
    if let Some(weights) = weights {
        Error::check_weights(labels.n_samples(), weights)?;
    }
    let (order, classes, mut ranked) = prepared(labels, &[scores], weights, Ranking::distinct, ctx)?;
    let steps = ranked.pop().map(|model| model.walk).unwrap_or_default();
    let models: Vec<_> = rules.iter().map(|&walk| Model { walk, order: None }).collect();
    let weights = weights.map(|weights| order.iter().map(|&sample| weights[sample as usize]).collect::<Vec<_>>());
    let strata = strata(&classes, resampling.scheme);
    if let (Some(weights), WeightKind::Frequency) = (&weights, resampling.weight_kind) {
        let units = Units::new(weights, &strata)?;
        let fill = |stream: &mut Stream, masses: &mut [f64]| units.fill(stream, masses, ctx);
        let found = |rule: &Rule, masses: &[f64], _: &mut Vec<f64>| {
            Ok(found(*rule, &steps, None, &|ranks| masses[ranks].iter().sum()))
        };
        return rows(&models, &classes, resampling, fill, found, ctx);
    }
    let draws = Draws::new(strata);
    let fill = |stream: &mut Stream, counts: &mut [u8]| draws.fill(stream, counts, ctx);
    let kept = match (&weights, resampling.scheme) {
        (None, Scheme::Stratified) => Some([labels.n_pos() as f64, labels.n_neg() as f64]),
        _ => None,
    };
    let found = |rule: &Rule, counts: &[u8], _: &mut Vec<u8>| {
        let mass = |ranks: Range<usize>| mass(&counts[ranks.clone()], weights.as_ref().map(|w| &w[ranks]));
        Ok(found(*rule, &steps, kept, &mass))
    };
    rows(&models, &classes, resampling, fill, found, ctx)
}

/// The threshold of a rule when the samples of a range of ranks have some `mass`; `totals` are those of the classes, if
/// known.
fn found(rule: Rule, steps: &[Step], totals: Option<[f64; 2]>, mass: &impl Fn(Range<usize>) -> f64) -> Rates {
    let (mut from, mut sums) = (0, [0.0; 2]);
    let points = steps.iter().map(move |step| {
        for (sum, size) in sums.iter_mut().zip([step.pos, step.neg]) {
            let to = from + size as usize;
            *sum += mass(from..to);
            from = to;
        }
        sums
    });
    let [pos, neg] = totals.or_else(|| points.clone().last()).unwrap_or_default();
    let cut = rule.choose(steps, points, [pos, neg]);
    Rates {
        threshold: cut.threshold,
        tpr: cut.called[0] / pos,
        fpr: cut.called[1] / neg,
        prevalence: pos / (pos + neg),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Curve;
    use crate::testing::{sample, uniform};

    #[test]
    fn a_replicate_is_the_cut_of_the_samples_repeated() {
        let mut next = uniform(9);
        let rules = [
            Rule::At(0.6),
            Rule::Fpr(0.2),
            Rule::Specificity(0.7),
            Rule::Sensitivity(0.8),
            Rule::Eer,
            Rule::Youden(1.0),
            Rule::Closest(0.5),
            Rule::Cost(2.0),
            Rule::Midpoint,
            Rule::Alerts(5.0),
            Rule::Alerts(0.1),
        ];
        for (n, levels) in [(8, 3.0), (60, 8.0), (400, 1e9)] {
            let (labels, scores) = sample(n, 0.4, levels, &mut next);
            let classes = Labels::new(&labels).unwrap();
            let (order, _, mut ranked) =
                prepared(&classes, &[&scores[..]], None, Ranking::distinct, &Ctx::serial()).unwrap();
            let steps = ranked.pop().unwrap().walk;
            let repeats: Vec<u8> = (0..n).map(|i| if i < 2 { 1 } else { (3.0 * next()) as u8 }).collect();
            let rows = || (0..n).flat_map(|i| std::iter::repeat_n(i, repeats[i].into()));
            let (y, s): (Vec<bool>, Vec<f64>) = rows().map(|i| (labels[i], scores[i])).unzip();
            let curve = Curve::new(&Labels::new(&y).unwrap(), &s, None, &Ctx::serial()).unwrap();
            for rule in rules {
                let mass = |ranks: Range<usize>| order[ranks].iter().map(|&i| f64::from(repeats[i as usize])).sum();
                let own = found(rule, &steps, None, &mass);
                let cut = rule.cut(&curve).unwrap();
                let expected = (cut.threshold, cut.called[0] / curve.pos(), cut.called[1] / curve.neg());
                assert_eq!((own.threshold, own.tpr, own.fpr), expected, "{rule:?}");
                assert_eq!(own.prevalence, curve.pos() / s.len() as f64);
            }
        }
    }

    #[test]
    fn replicates_do_not_depend_on_how_samples_are_weighed() {
        // A weight of 1 is a sample, in whatever way it is drawn: the means and spreads agree.
        let mut next = uniform(4);
        let labels: Vec<bool> = (0..300).map(|_| next() < 0.4).collect();
        let scores: Vec<f64> = labels.iter().map(|&p| next() + 0.3 * f64::from(u8::from(p))).collect();
        let (labels, ones) = (Labels::new(&labels).unwrap(), vec![1.0; 300]);
        let moments = |weights: Option<&[f64]>, weight_kind, scheme| {
            let resampling = Resampling { scheme, weight_kind, n_resamples: 2000, seed: 1 };
            let found =
                bootstrap_cuts(&labels, &scores, weights, &[Rule::Youden(1.0)], resampling, &Ctx::serial()).unwrap();
            let mean = found.iter().map(|r| r.tpr).sum::<f64>() / 2000.0;
            (mean, (found.iter().map(|r| (r.tpr - mean).powi(2)).sum::<f64>() / 2000.0).sqrt())
        };
        for scheme in [Scheme::Stratified, Scheme::Pooled] {
            let plain = moments(None, WeightKind::Frequency, scheme);
            assert_eq!(plain, moments(Some(&ones), WeightKind::Sampling, scheme));
            let weighed = moments(Some(&ones), WeightKind::Frequency, scheme);
            assert!((plain.0 - weighed.0).abs() < 5.0 * plain.1 / 42.0, "{plain:?} {weighed:?}");
            assert!((plain.1 / weighed.1 - 1.0).abs() < 0.1, "{plain:?} {weighed:?}");
        }
    }
}
