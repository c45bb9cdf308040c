//! Measures of early recognition against what was published, and against the mean of all orders of ties.

use rocmax_core::curve::{Curve, Measure, Screening};
use rocmax_core::{Ctx, Labels};

use crate::testing::uniform;

fn value(measure: Screening, labels: &[bool], scores: &[f64]) -> f64 {
    let curve = Curve::new(&Labels::new(labels).unwrap(), scores, None, &Ctx::serial()).unwrap();
    curve.measure(Measure::Screening(measure)).unwrap()
}

/// Truchon and Bayly, 2007, equations 18 and 36, of labels in the order of a ranking without ties.
fn published(ranked: &[bool], alpha: f64) -> [f64; 2] {
    let (total, n) = (ranked.len() as f64, ranked.iter().filter(|&&p| p).count() as f64);
    let ranks = ranked.iter().zip(1..).filter(|(p, _)| **p).map(|(_, r)| f64::from(r));
    let sum: f64 = ranks.map(|r| (-alpha * r / total).exp()).sum();
    let rie = sum / n / ((1.0 - (-alpha).exp()) / ((alpha / total).exp() - 1.0) / total);
    let share = n / total;
    let factor = share * (alpha / 2.0).sinh() / ((alpha / 2.0).cosh() - (alpha / 2.0 - alpha * share).cosh());
    [rie, rie * factor + 1.0 / (1.0 - (alpha * (1.0 - share)).exp())]
}

#[test]
fn a_ranking_has_the_published_values() {
    let mut next = uniform(2);
    for n in [2, 5, 40, 300] {
        let ranked: Vec<bool> = (0..n).map(|i| if i < 2 { i == 1 } else { next() < 0.3 }).collect();
        let scores: Vec<f64> = (0..n).map(|i| -f64::from(i)).collect();
        for alpha in [0.1, 1.0, 20.0, 160.9] {
            let [rie, bedroc] = published(&ranked, alpha);
            let found = [Screening::Rie(alpha), Screening::Bedroc(alpha)].map(|s| value(s, &ranked, &scores));
            assert!((found[0] - rie).abs() < 1e-10 * rie.abs() && (found[1] - bedroc).abs() < 1e-9, "{found:?}");
        }
        let half = ranked[..n as usize / 2].iter().filter(|&&p| p).count() as f64;
        let positives = ranked.iter().filter(|&&p| p).count() as f64;
        if n % 2 == 0 {
            let found = value(Screening::Enrichment(0.5), &ranked, &scores);
            assert!((found - half / positives / 0.5).abs() < 1e-12);
        }
    }
}

#[test]
fn ties_have_the_mean_of_all_orders() {
    // All orders of four that tie, behind one and before one.
    let labels = [false, true, false, false, true, true];
    let scores = [2.0, 1.0, 1.0, 1.0, 1.0, 0.0];
    for measure in [Screening::Enrichment(0.5), Screening::Enrichment(0.4), Screening::Rie(5.0), Screening::Bedroc(5.0)]
    {
        let (mut sum, mut count) = (0.0, 0);
        for order in 0..24 {
            let mut left = vec![1.1, 1.2, 1.3, 1.4];
            let mut apart = scores;
            let mut code = order;
            for (k, score) in apart[1..5].iter_mut().enumerate() {
                *score = left.remove(code % (4 - k));
                code /= 4 - k;
            }
            sum += value(measure, &labels, &apart);
            count += 1;
        }
        assert!((sum / f64::from(count) - value(measure, &labels, &scores)).abs() < 1e-12, "{measure:?}");
    }
}
