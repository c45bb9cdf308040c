//! A bound of the scores that decide at low false positive rates, from a sample.

use crate::data::float::Score;
use crate::data::labels::Labels;
use crate::order;
use crate::order::select::bracket;

/// The number of scores in a sample.
pub(crate) const SAMPLES: usize = 1 << 12;

/// How many negatives may lie within a false positive rate.
pub(crate) fn enough(rate: f64, n_neg: usize) -> f64 {
    rate * n_neg as f64 * (1.0 + 8.0 * f64::EPSILON) + 1.0
}

/// A score that slightly more than a share `rate` of the negatives reach, judging by a sample.
pub(crate) fn sampled_bound<S: Score>(labels: &Labels<'_>, scores: &[S], rate: f64, mirrored: bool) -> Option<S> {
    if scores.len() < 4 * SAMPLES || rate > 0.5 {
        return None;
    }
    let neg = order::places(SAMPLES, scores.len()).filter(|&i| labels.is_positive(i) == mirrored);
    let mut sample: Vec<S> = neg.map(|i| if mirrored { scores[i].negated() } else { scores[i] }).collect();
    sample.retain(|x| x.finite());
    let [rank, _] = bracket(sample.len(), rate);
    rank.map(|rank| *sample.select_nth_unstable_by(rank, |x, y| y.order(x)).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    #[test]
    fn a_bound_is_reached_by_slightly_more_than_the_rate() {
        let mut next = uniform(6);
        for (n, rate) in [(16_384, 0.001), (16_384, 0.5), (100_000, 0.02), (100_000, 0.3)] {
            for mirrored in [false, true] {
                let labels: Vec<bool> = (0..n).map(|_| (next() < 0.2) != mirrored).collect();
                let classes = Labels::new(&labels).unwrap();
                let scores: Vec<f64> = (0..n).map(|_| next()).collect();
                let bound = sampled_bound(&classes, &scores, rate, mirrored).unwrap();
                let scores = scores.iter().map(|&x| if mirrored { -x } else { x });
                let own: Vec<f64> = scores.zip(&labels).filter(|(_, l)| **l == mirrored).map(|(x, _)| x).collect();
                let reach = own.iter().filter(|&&x| x >= bound).count() as f64;
                assert!(reach >= enough(rate, own.len()), "{n} {rate}");
                let most = rate + 9.0 * (rate / 3200.0).sqrt() + 8.0 / 3200.0;
                assert!(reach <= most * own.len() as f64, "{n} {rate} {mirrored}: {reach} of {}", own.len());
                assert_eq!(sampled_bound(&classes, &vec![0.0; n], 0.51, mirrored), None);
            }
        }
        let labels: Vec<bool> = (0..20_000).map(|i| i % 2000 != 0).collect();
        let (few, scores) = (Labels::new(&labels).unwrap(), vec![0.0; 20_000]);
        assert_eq!(sampled_bound(&few, &scores, 0.4, false), None);
        assert_eq!(sampled_bound(&Labels::new(&labels[..16_383]).unwrap(), &scores[..16_383], 0.4, true), None);
    }

    #[test]
    fn few_negatives_of_a_sample_have_no_bound() {
        let (n, n_sampled) = (20_000, SAMPLES);
        for size in 1..60 {
            let mut labels = vec![true; n];
            order::places(n_sampled, n).take(size).for_each(|i| labels[i] = false);
            let found = sampled_bound(&Labels::new(&labels).unwrap(), &vec![1.0; n], 0.5, false);
            assert_eq!(found.is_some(), size > 23, "{size}");
        }
    }

    #[test]
    fn no_more_negatives_than_the_rate_and_one_lie_within_it() {
        for n in [1, 7, 100, 12_345] {
            for k in 0..=n {
                let found = enough(k as f64 / n as f64, n);
                assert!((k + 1) as f64 <= found && found < k as f64 + 1.5, "{k} of {n}: {found}");
            }
        }
    }
}
