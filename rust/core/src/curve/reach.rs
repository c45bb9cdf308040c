//! A bound of the scores that decide at low false positive rates, from a sample.

use crate::data::float::Score;
use crate::data::labels::Labels;
use crate::order;

/// How many negatives may lie within a false positive rate.
pub(crate) fn enough(rate: f64, n_neg: usize) -> f64 {
    rate * n_neg as f64 * (1.0 + 8.0 * f64::EPSILON) + 1.0
}

/// A score that slightly more than a share `rate` of the negatives reach, judging by a sample.
pub(crate) fn sampled_bound<S: Score>(labels: &Labels<'_>, scores: &[S], rate: f64, mirrored: bool) -> Option<S> {
    const SAMPLES: usize = 1 << 12;
    if scores.len() < 4 * SAMPLES || rate > 0.5 {
        return None;
    }
    let places = (0..SAMPLES).map(|k| order::spread(k, SAMPLES, scores.len()));
    let neg = places.filter(|&i| labels.is_positive(i) == mirrored);
    let mut sample: Vec<S> = neg.map(|i| if mirrored { scores[i].negated() } else { scores[i] }).collect();
    sample.retain(|x| x.finite());
    let size = sample.len() as f64;
    let rank = (size * rate + 4.0 * (size * rate * (1.0 - rate)).sqrt() + 2.0) as usize;
    (rank < sample.len()).then(|| *sample.select_nth_unstable_by(rank, |x, y| y.order(x)).1)
}
