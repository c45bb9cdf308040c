//! Confidence intervals of the AUC, and the paired test of two models.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::curve::{Scratch, auc_moments};
use crate::data::Column;
use crate::data::Labels;
use crate::variance::Placements;
use crate::{Ctx, Error, Result};

/// In smaller classes the variance of the components is too uncertain.
const FEW: usize = 5;
/// Halvings to full precision.
const HALVINGS: usize = 60;

/// An estimate, its standard error and a confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The lower confidence limit.
    pub low: f64,
    /// The upper confidence limit.
    pub high: f64,
}

/// The AUC of two models on the same samples, and the test of their difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// The AUC of each model.
    pub auc: [f64; 2],
    /// The first AUC minus the second.
    pub difference: Interval,
    /// The difference in standard errors; 0 for equal models.
    pub statistic: f64,
    /// The two-sided p-value.
    pub p_value: f64,
}

/// The AUC and an interval of confidence `level`. O(N) expected.
///
/// With A the AUC and v its variance (DeLong, DeLong and Clarke-Pearson, 1988), the sum of a part of each class, the
/// limits are `logit(A) -+ t sqrt(v) / (A (1 - A))`, with the quantile t of Student's distribution of
/// `v^2 / sum (part^2 / (size - 1))` degrees of freedom. With fewer than five samples in a class, or if v is 0, the
/// interval holds all B with `|B - A| <= z sqrt(V(B))`, where V is Newcombe's variance (2006, method 5)
/// `B (1 - B) / (m n) (1 + ((m + n) / 2 - 1) ((1 - B) / (2 - B) + B / (1 + B)))`.
///
/// ```
/// use rocmax_core::{Ctx, Labels, variance::auc_interval};
///
/// let labels = Labels::new(&[0u8, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0])?;
/// let scores = [0.1, 0.4, 0.35, 0.8, 0.7, 0.9, 0.2, 0.6, 0.3, 0.55, 0.95, 0.5];
/// let found = auc_interval(&labels, &scores, 0.95, &Ctx::serial())?;
/// assert_eq!(format!("{:.3} [{:.3}, {:.3}]", found.estimate, found.low, found.high), "0.833 [0.379, 0.976]");
/// # Ok::<(), rocmax_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Domain`] for a level that is not between 0 and 1, and those of [`crate::curve::auc`].
pub fn auc_interval(labels: &Labels<'_>, scores: &[f64], level: f64, ctx: &Ctx<'_>) -> Result<Interval> {
    check_level(level)?;
    let (auc, squares) = auc_moments(labels, scores.into(), &mut Scratch::default(), ctx)?;
    let sizes = [labels.n_pos(), labels.n_neg()];
    let lone = sizes.contains(&1);
    let parts =
        [0, 1].map(|class| if lone { 0.0 } else { squares[class] / (sizes[class] as f64 * (sizes[class] - 1) as f64) });
    let variance = parts[0] + parts[1];
    let standard_error = if lone { newcombe_variance(auc, sizes) } else { variance }.sqrt();
    let (low, high) = if variance > 0.0 && auc > 0.0 && auc < 1.0 && sizes.iter().all(|&size| size >= FEW) {
        let spent = |class: usize| (parts[class] / variance).powi(2) / (sizes[class] - 1) as f64;
        // At least four degrees of freedom, as each class has five samples.
        let t = StudentsT::new(0.0, 1.0, 1.0 / (spent(0) + spent(1)));
        let t = t.map_or(f64::INFINITY, |law| law.inverse_cdf(0.5 + level / 2.0));
        let reach = t * standard_error / (auc * (1.0 - auc));
        let middle = (auc / (1.0 - auc)).ln();
        [middle - reach, middle + reach].map(|x| 1.0 / (1.0 + (-x).exp())).into()
    } else {
        let z = Normal::standard().inverse_cdf(0.5 + level / 2.0);
        let holds = |b: f64| (b - auc).abs() <= z * newcombe_variance(b, sizes).sqrt();
        (last_held(auc, 0.0, holds), last_held(auc, 1.0, holds))
    };
    Ok(Interval { estimate: auc, standard_error, low, high })
}

/// The paired test of DeLong, DeLong and Clarke-Pearson (1988) for two models on the same samples, and an interval of
/// confidence `level` for the difference of their AUCs. O(N) for scores of smooth distributions.
///
/// # Errors
/// [`Error::Domain`] for a level that is not between 0 and 1, and those of [`Placements::covariance`].
pub fn compare_auc(labels: &Labels<'_>, a: &[f64], b: &[f64], level: f64, ctx: &Ctx<'_>) -> Result<Comparison> {
    check_level(level)?;
    let models = [a, b].map(Column::from);
    let (auc, covariance) = Placements::default().covariance(labels, &models, ctx)?;
    let between = |row: usize, column: usize| covariance.pos[2 * row + column] + covariance.neg[2 * row + column];
    let difference = auc[0] - auc[1];
    let standard_error = (between(0, 0) + between(1, 1) - 2.0 * between(0, 1)).max(0.0).sqrt();
    let statistic = if difference == 0.0 { 0.0 } else { difference / standard_error };
    let reach = Normal::standard().inverse_cdf(0.5 + level / 2.0) * standard_error;
    Ok(Comparison {
        auc: [auc[0], auc[1]],
        difference: Interval {
            estimate: difference,
            standard_error,
            low: f64::max(difference - reach, -1.0),
            high: f64::min(difference + reach, 1.0),
        },
        statistic,
        p_value: 2.0 * Normal::standard().cdf(-statistic.abs()),
    })
}

fn check_level(level: f64) -> Result<()> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    Err(Error::Domain { name: "level", domain: "between 0 and 1", value: level.to_string() })
}

fn newcombe_variance(auc: f64, sizes: [usize; 2]) -> f64 {
    let [m, n] = sizes.map(|size| size as f64);
    let spread = (1.0 - auc) / (2.0 - auc) + auc / (1.0 + auc);
    auc * (1.0 - auc) * (1.0 + ((m + n) / 2.0 - 1.0) * spread) / (m * n)
}

/// The last point from `inner` to `outer` where `holds`, which it does at `inner`.
fn last_held(inner: f64, outer: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut inner, mut outer) = (inner, outer);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (inner + outer);
        if holds(middle) { inner = middle } else { outer = middle }
    }
    0.5 * (inner + outer)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LABELS: [u8; 12] = [0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0];
    const A: [f64; 12] = [0.1, 0.4, 0.35, 0.8, 0.7, 0.9, 0.2, 0.6, 0.3, 0.55, 0.95, 0.5];
    const B: [f64; 12] = [0.2, 0.1, 0.6, 0.7, 0.3, 0.8, 0.4, 0.9, 0.35, 0.5, 0.65, 0.45];

    fn close(x: f64, y: f64, error: f64) -> bool {
        (x - y).abs() <= error * f64::max(1.0, y.abs())
    }

    fn interval(labels: &[u8], scores: &[f64], level: f64) -> [f64; 4] {
        let labels = Labels::new(labels).unwrap();
        let found = auc_interval(&labels, scores, level, &Ctx::serial()).unwrap();
        [found.estimate, found.standard_error, found.low, found.high]
    }

    fn components(labels: &[u8], scores: &[f64]) -> [Vec<f64>; 2] {
        [1, 0].map(|class| {
            let others: Vec<f64> = (0..scores.len()).filter(|&j| labels[j] != class).map(|j| scores[j]).collect();
            let wins = |s: f64, t: f64| match class {
                1 => f64::from(u8::from(s > t)) + 0.5 * f64::from(u8::from(s == t)),
                _ => f64::from(u8::from(t > s)) + 0.5 * f64::from(u8::from(s == t)),
            };
            let mine = (0..scores.len()).filter(|&i| labels[i] == class);
            mine.map(|i| others.iter().map(|&t| wins(scores[i], t)).sum::<f64>() / others.len() as f64).collect()
        })
    }

    /// The covariance of two means of paired values.
    fn covariance_of_means(a: &[f64], b: &[f64]) -> f64 {
        let n = a.len() as f64;
        let [mean_a, mean_b] = [a, b].map(|values| values.iter().sum::<f64>() / n);
        a.iter().zip(b).map(|(x, y)| (x - mean_a) * (y - mean_b)).sum::<f64>() / (n * (n - 1.0))
    }

    #[test]
    fn many_samples_have_the_interval_on_the_logit_scale() {
        // Of scipy's quantiles: t with 8.82 degrees of freedom.
        let expected = [0.8333333333333334, 0.12909944487358055, 0.37912274862880635, 0.9761573825329957];
        assert!(interval(&LABELS, &A, 0.95).iter().zip(expected).all(|(x, y)| close(*x, y, 1e-9)));
    }

    #[test]
    fn few_or_certain_samples_have_newcombes_interval() {
        let found = interval(&LABELS[..6], &A[..6], 0.95);
        let expected = [0.6666666666666666, 0.2721655269759087, 0.24488852229486816, 0.9215344669506151];
        assert!(found.iter().zip(expected).all(|(x, y)| close(*x, y, 1e-9)), "{found:?}");
        let certain = interval(&[0, 0, 0, 0, 0, 1, 1, 1, 1, 1], &[0., 1., 2., 3., 4., 5., 6., 7., 8., 9.], 0.95);
        assert!(close(certain[2], 0.6427028239310392, 1e-9) && certain[3] == 1.0, "{certain:?}");
        let lone = interval(&[0, 0, 0, 0, 0, 1], &[1., 2., 3., 4., 5., 3.5], 0.95);
        let expected = [0.6, 0.333809184158512, 0.14493057746051827, 0.9280300243471314];
        assert!(lone.iter().zip(expected).all(|(x, y)| close(*x, y, 1e-9)), "{lone:?}");
    }

    #[test]
    fn two_models_are_compared() {
        let labels = Labels::new(&LABELS).unwrap();
        let found = compare_auc(&labels, &A, &B, 0.95, &Ctx::serial()).unwrap();
        assert!(close(found.statistic, 0.21718612138153473, 1e-9));
        assert!(close(found.p_value, 0.8280633000904197, 1e-9));
        assert!(close(found.difference.low, -0.22289866355596544, 1e-9));
        let same = compare_auc(&labels, &A, &A, 0.95, &Ctx::serial()).unwrap();
        assert_eq!((same.statistic, same.p_value, same.difference.high), (0.0, 1.0, 0.0));
    }

    #[test]
    fn refuses_levels_that_are_none() {
        let labels = Labels::new(&LABELS).unwrap();
        for level in [0.0, 1.0, 95.0, f64::NAN] {
            let error = auc_interval(&labels, &A, level, &Ctx::serial()).unwrap_err();
            assert!(error.to_string().starts_with("level must be between 0 and 1, got"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_all_pairs(
            samples in prop::collection::vec((0u8..2, -4i8..5, -4i8..5), 12..40),
            level in 0.1..0.99,
        ) {
            let labels: Vec<u8> = samples.iter().map(|s| s.0).collect();
            let [a, b] = [0, 1].map(|k| samples.iter().map(|s| f64::from([s.1, s.2][k])).collect::<Vec<f64>>());
            let n_pos = labels.iter().filter(|&&y| y == 1).count();
            prop_assume!(n_pos.min(labels.len() - n_pos) >= FEW);
            let [of_a, of_b] = [&a, &b].map(|scores| components(&labels, scores));
            let var = |x: &[Vec<f64>; 2], y: &[Vec<f64>; 2]| {
                covariance_of_means(&x[0], &y[0]) + covariance_of_means(&x[1], &y[1])
            };
            let [estimate, error, low, high] = interval(&labels, &a, level);
            prop_assert!(close(error * error, var(&of_a, &of_a), 1e-9));
            prop_assert!(low <= estimate && estimate <= high && 0.0 <= low && high <= 1.0);
            let found = compare_auc(&Labels::new(&labels).unwrap(), &a, &b, level, &Ctx::serial()).unwrap();
            let of_difference = var(&of_a, &of_a) + var(&of_b, &of_b) - 2.0 * var(&of_a, &of_b);
            prop_assert!(close(found.difference.standard_error.powi(2), of_difference.max(0.0), 1e-9));
            prop_assert!(close(found.difference.estimate, found.auc[0] - found.auc[1], 1e-12));
        }
    }
}
