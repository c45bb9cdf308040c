//! Unit tests of `order/select.rs`, which includes this file.

use super::*;
use crate::order::misleading;
use crate::testing::uniform;

#[test]
fn brackets_of_a_sample_hold_the_rank_and_little_more() {
    let mut next = uniform(3);
    for (n, share) in [(2048, 0.001), (2048, 0.03), (4096, 0.5), (4096, 0.97)] {
        let deviation = (n as f64 * share * (1.0 - share)).sqrt();
        for _ in 0..300 {
            let above = (0..n).filter(|_| next() < share).count();
            let [last, first] = bracket(n, share);
            assert!(last.is_none_or(|last| above <= last) && first.is_none_or(|first| first <= above));
            let width = last.unwrap_or(n) - first.unwrap_or(0);
            assert!(width as f64 <= 9.0 * deviation + 5.0, "{n} {share}: {width}");
        }
    }
    assert_eq!(bracket(100, 0.0), [Some(2), None]);
    assert_eq!(bracket(100, 1.0), [None, Some(98)]);
}

#[test]
fn a_bound_lies_just_below_the_weight_sought() -> Result<()> {
    let mut next = uniform(9);
    for kind in 0..3 {
        for (n, share) in [(1024, 0.05), (8192, 0.02), (60_000, 0.004), (60_000, 0.3), (300_000, 0.05)] {
            let labels: Vec<bool> = (0..n).map(|_| next() < 0.2).collect();
            let scores: Vec<f64> = labels.iter().map(|&label| next() + f64::from(u8::from(label))).collect();
            let weights: Vec<f64> = (0..n).map(|_| [1.0, (4.0 * next()).floor(), -1e-3 * next().ln()][kind]).collect();
            let problem = if kind == 0 { Problem::new(labels)? } else { Problem::weighted(labels, weights.clone())? };
            let total = problem.totals().1;
            let found = bound(&problem, scores[..].into(), share * total);
            let Some((score, index)) = found else { panic!("no bound of {n} at {share}") };
            assert_eq!(scores[index], score);
            let reach = (0..n).filter(|&i| !problem.labels()[i] && scores[i] >= score);
            let reach = reach.map(|i| weights[i]).sum::<f64>() / total;
            let n_sampled = 0.8 * sample_len(n) as f64;
            let most = share + 9.0 * (3.0 * share / n_sampled).sqrt() + 16.0 / n_sampled;
            assert!(share <= reach && reach <= most, "{kind} {n} {share}: {reach}");
            let found = [0.5, 0.51].map(|share| bound(&problem, scores[..].into(), share * total).is_some());
            assert_eq!(found, [true, false]);
        }
    }
    let few: Vec<f64> = (0..1023).map(|_| next()).collect();
    let problem = Problem::new((0..1023).map(|i| i % 2 == 0).collect())?;
    assert!(bound(&problem, few[..].into(), 10.0).is_none());
    Ok(())
}

#[test]
fn a_rank_is_found_though_the_sample_misleads() -> Result<()> {
    let (n, mut next) = (20_000, uniform(5));
    for shift in [-1.0, 0.0, 1.0] {
        let scores = misleading(n, sample_len(n), shift, &mut next);
        let mut sorted = scores.clone();
        sorted.sort_by(|x, y| y.total_cmp(x));
        for top in [1, 500, 5000, 19_000, n] {
            let parts = [&scores[..777], &[], &scores[777..]];
            let found = nth_highest(&parts, n, top, (f64::NEG_INFINITY, f64::INFINITY), &Ctx::serial())?;
            assert_eq!(found, (sorted[top - 1], top - 1, 1), "{shift} {top}");
        }
    }
    Ok(())
}

#[test]
fn as_many_scores_above_a_misleading_bracket_as_are_sought_are_not_enough() -> Result<()> {
    let (n, mut next) = (20_000, uniform(5));
    let scores = misleading(n, sample_len(n), -1.0, &mut next);
    let mut sorted = scores.clone();
    sorted.sort_by(|x, y| y.total_cmp(x));
    let mut met = false;
    for top in n - 60..=n {
        let (_, high) = limits(&[&scores], n, top, (f64::NEG_INFINITY, f64::INFINITY));
        met |= sorted.partition_point(|&s| s > high) == top;
        let found = nth_highest(&[&scores], n, top, (f64::NEG_INFINITY, f64::INFINITY), &Ctx::serial())?;
        assert_eq!(found, (sorted[top - 1], top - 1, 1), "{top}");
    }
    assert!(met);
    Ok(())
}

#[test]
fn a_sample_of_parts_is_that_of_the_whole() {
    let whole: Vec<usize> = (0..900).collect();
    let parts = [&whole[..5], &[], &whole[5..60], &whole[60..700], &whole[700..]];
    let found: Vec<usize> = sampled(&parts, 900, 100).collect();
    assert_eq!(found, places(100, 900).collect::<Vec<_>>());
}

#[test]
fn a_sample_is_one_in_so_many_within_limits() {
    assert_eq!(
        [1 << 10, 1 << 14, 1 << 19, 1 << 20, 3 << 21, 1 << 24, 1 << 30].map(sample_len),
        [128, 2048, 2048, 4096, 24_576, 65_536, 65_536]
    );
}

#[test]
fn the_limits_of_a_rank_among_many_are_close() {
    let mut next = uniform(2);
    let scores: Vec<f64> = (0..MANY).map(|_| next()).collect();
    let of = |n: usize, top: usize| limits(&[&scores[..99], &scores[99..n]], n, top, (0.0, 1.0));
    assert_eq!(of(MANY - 1, 10), (0.0, 1.0));
    for top in [1, 10, MANY / 4, MANY / 2, MANY - 10, MANY] {
        let ((low, high), at) = (of(MANY, top), 1.0 - top as f64 / MANY as f64);
        assert!((low - 0.01..=high + 0.01).contains(&at) && high - low < 0.1, "{top}: {low} {high}");
    }
}
