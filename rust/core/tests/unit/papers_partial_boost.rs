//! Unit tests of `papers/partial_boost.rs`, which includes this file: against the definition, and by what rounds gain.

use proptest::prelude::*;

use super::*;
use crate::testing::uniform;

/// The mean over pairs, by definition; negatives weigh `share`.
fn objective(scores: &[i64], problem: &Problem, share: &[f64]) -> f64 {
    let weight = |i: usize| problem.sample_weight().map_or(1.0, |w| w[i]);
    let (mut sum, mut total) = (0.0, 0.0);
    for i in (0..scores.len()).filter(|&i| problem.labels()[i]) {
        for j in (0..scores.len()).filter(|&j| !problem.labels()[j]) {
            let pair = weight(i) * weight(j) * share[j];
            sum += pair * normal(scores[i] - scores[j] - MARGIN);
            total += pair;
        }
    }
    sum / total
}

/// The share of each negative that is ranked in the range.
fn in_range(scores: &[i64], problem: &Problem, range: RateRange) -> Vec<f64> {
    let weight = |i: usize| problem.sample_weight().map_or(1.0, |w| w[i]);
    let (low, high) = problem.ranks(range);
    let negatives = || (0..scores.len()).filter(|&j| !problem.labels()[j]);
    let mass = |keep: &dyn Fn(usize) -> bool| negatives().filter(|&j| keep(j)).map(weight).sum::<f64>();
    let share = |j: usize| {
        let above = mass(&|k| scores[k] > scores[j]);
        let here = mass(&|k| scores[k] == scores[j]);
        ((above + here).min(high) - above.max(low)).max(0.0) / here
    };
    (0..scores.len()).map(share).collect()
}

/// Goes on when a round is undone.
fn naive(codes: &Codes<'_>, problem: &Problem, range: RateRange, n_rounds: usize) -> Vec<Round> {
    let (mut scores, mut rounds) = (vec![0i64; problem.n_samples()], Vec::new());
    for _ in 0..n_rounds {
        let share = in_range(&scores, problem, range);
        let before = objective(&scores, problem, &share);
        let mut all = Vec::new();
        for feature in 0..codes.n_bins.len() {
            for bin in (1..codes.n_bins[feature]).rev() {
                for steps in (1..=CELLS).flat_map(|steps| [steps, -steps]) {
                    let raised = |i: usize| usize::from(codes.bins[feature * problem.n_samples() + i]) >= bin;
                    let moved: Vec<i64> =
                        (0..scores.len()).map(|i| scores[i] + if raised(i) { steps } else { 0 }).collect();
                    let after = objective(&moved, problem, &share);
                    all.push((Round { feature, bin, steps, before, after }, moved));
                }
            }
        }
        let largest = all.iter().map(|(round, _)| round.after).fold(0.0, f64::max);
        if largest <= before + TIE {
            break;
        }
        let Some((round, moved)) = all.into_iter().find(|(round, _)| round.after >= largest - TIE) else { break };
        rounds.push(round);
        scores = moved;
    }
    rounds
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_is_the_search_over_all_pairs(
        n in 2usize..16, d in 1usize..4, seed in 0u64..1000, weighted in any::<bool>(),
        low in 0usize..3, width in 1usize..4,
    ) {
        let mut random = uniform(seed);
        let mut labels: Vec<bool> = (0..n).map(|_| random() < 0.5).collect();
        (labels[0], labels[1]) = (true, false);
        let weights = (0..n).map(|_| if weighted { 0.5 + random() } else { 1.0 }).collect();
        let problem = Problem::weighted(labels, weights).unwrap();
        let bins: Vec<u8> = (0..n * d).map(|_| (4.0 * random()) as u8).collect();
        let codes = Codes { bins: &bins, n_bins: &vec![4; d] };
        let range = RateRange::new(low as f64 / 6.0, (low + width) as f64 / 6.0).unwrap();
        let found = partial_boost(&codes, &problem, range, 6, &Ctx::serial()).unwrap();
        let expected = naive(&codes, &problem, range, 6);
        prop_assert!(found.len() <= expected.len() && in_and_out(&expected[found.len()..]));
        for (a, b) in found.iter().zip(&expected) {
            prop_assert_eq!((a.feature, a.bin, a.steps), (b.feature, b.bin, b.steps), "{:?} {:?}", a, b);
            prop_assert!((a.before - b.before).abs() < 1e-12 && (a.after - b.after).abs() < 1e-12);
            prop_assert!(a.after > a.before);
        }
    }
}

fn in_and_out(rounds: &[Round]) -> bool {
    rounds.windows(2).all(|two| two[0].undone_by(two[1].feature, two[1].bin, two[1].steps))
}

#[test]
fn a_stump_that_goes_in_and_out_for_ever_ends_it() {
    let n = 30;
    let problem = Problem::new((0..n).map(|i| i * i % 7 < 3).collect()).unwrap();
    for (factor, high, n_rounds) in [(3, 0.2, 13), (7, 0.3, 29)] {
        let bins = (0..n).map(|i| (i * factor % 13 % 4) as u8);
        let bins: Vec<u8> = bins.chain((0..n).map(|i| (i * (factor + 2) % 11 % 4) as u8)).collect();
        let codes = Codes { bins: &bins, n_bins: &[4; 2] };
        let range = RateRange::new(0.0, high).unwrap();
        let found = partial_boost(&codes, &problem, range, usize::MAX, &Ctx::serial()).unwrap();
        assert_eq!(found.len(), n_rounds);
        let expected = naive(&codes, &problem, range, n_rounds + 8);
        let same = |(a, b): (&Round, &Round)| (a.feature, a.bin, a.steps) == (b.feature, b.bin, b.steps);
        assert!(found.iter().zip(&expected).all(same));
        let rest = &expected[n_rounds..];
        assert!(rest.len() == 8 && in_and_out(rest) && rest[0].before > rest[1].before);
    }
}

#[test]
fn the_distribution_function_is_the_normal_one() {
    let known = [(0, 0.5), (16, 0.841344746068543), (-32, 0.022750131948179), (-80, 2.866515718791939e-7)];
    known.iter().for_each(|&(cells, value)| assert!((normal(cells) - value).abs() < 1e-14, "{cells}"));
    assert!((-200..200).all(|k| normal(k) <= normal(k + 1) + 1e-15 && normal(k) + normal(-k) == 1.0));
}

#[test]
fn threads_change_nothing_and_bad_codes_are_refused() {
    let (n, d, mut random) = (3000, 5, uniform(9));
    let labels: Vec<bool> = (0..n).map(|_| random() < 0.3).collect();
    let bins: Vec<u8> = (0..n * d).map(|k| (60.0 * random()) as u8 + 9 * u8::from(labels[k % n])).collect();
    let problem = Problem::new(labels).unwrap();
    let codes = Codes { bins: &bins, n_bins: &[70; 5] };
    let range = RateRange::new(0.02, 0.1).unwrap();
    let pool = crate::testing::pool(3);
    let alone = partial_boost(&codes, &problem, range, 12, &Ctx::serial()).unwrap();
    assert_eq!(alone, partial_boost(&codes, &problem, range, 12, &Ctx::new(pool.as_ref(), None)).unwrap());
    assert_eq!(alone.len(), 12);
    let few = Codes { n_bins: &[10; 5], ..codes };
    assert!(matches!(partial_boost(&few, &problem, range, 1, &Ctx::serial()), Err(Error::Domain { .. })));
    let stop = std::sync::atomic::AtomicBool::new(true);
    let stopped = partial_boost(&codes, &problem, range, 1, &Ctx::new(None, Some(&stop)));
    assert_eq!(stopped, Err(Error::Interrupted));
}
