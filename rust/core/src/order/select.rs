//! Selection of the score with a given rank, by sampling and one pass.

use std::cmp::Ordering;

use crate::order::{Entry, spread};
use crate::{Ctx, Problem, Result, Scores};

/// The sample: one in so many scores, within limits.
const SAMPLE_EVERY: usize = 1 << 8;
const SAMPLE_LIMITS: (usize, usize) = (1 << 11, 1 << 16);

/// From so many scores on it pays to look for a bracket first.
const MANY: usize = 1 << 14;

/// The number of scores to sample from `n`.
fn sample_len(n: usize) -> usize {
    (n / SAMPLE_EVERY).clamp(SAMPLE_LIMITS.0, SAMPLE_LIMITS.1)
}

/// Two ranks in a sample of `n` that bracket, by four standard deviations, the lowest of the highest `share` of all
/// scores.
fn bracket(n: usize, share: f64) -> [Option<usize>; 2] {
    let n = n as f64;
    let slack = 4.0 * (n * share * (1.0 - share)).sqrt() + 2.0;
    [n * share + slack, n * share - slack].map(|rank| (0.0..n).contains(&rank).then_some(rank as usize))
}

/// A score, and an index in its tie, that the negatives which reach it weigh a little more than `top`, almost
/// certainly; `None` if they would be a large part.
pub(crate) fn bound(problem: &Problem, scores: Scores<'_>, top: f64) -> Option<(f64, usize)> {
    let (n, share) = (scores.len(), top / problem.totals().1);
    let (n_sampled, labels, weights) = (sample_len(n), problem.labels(), problem.sample_weight());
    if n < 4 * n_sampled || share > 0.5 {
        return None;
    }
    let counts = |&i: &usize| !labels[i] && weights.is_none_or(|weights| weights[i] > 0.0);
    let sampled = (0..n_sampled).map(|k| spread(k, n_sampled, n)).filter(counts);
    let mut sample: Vec<Entry> = sampled.map(|i| Entry::new(scores.get(i), i as u32)).collect();
    let found = match weights {
        None => bracket(sample.len(), share)[0].map(|rank| *sample.select_nth_unstable(rank).1),
        Some(weights) => {
            sample.sort_unstable();
            let of_sample = || sample.iter().map(|entry| weights[entry.index()]);
            let squares = of_sample().map(|w| w * w).sum::<f64>();
            // Four standard deviations of the sample's weight above the bound, and two samples.
            let slack = 4.0 * (share * (1.0 - share) * squares).sqrt() + 2.0 * (squares / sample.len() as f64).sqrt();
            let mut left = share * of_sample().sum::<f64>() + slack;
            let passes = |w: f64| {
                left -= w;
                left < 0.0
            };
            of_sample().position(passes).map(|rank| sample[rank])
        }
    };
    found.map(|entry| (entry.score(), entry.index()))
}

/// The first of `items`, in the order of `compare`, at which their total weight reaches `top`, or the last; and the
/// weight of those before.
pub(crate) fn weighted_nth<T: Copy>(
    mut items: &mut [T],
    top: f64,
    compare: impl Fn(&T, &T) -> Ordering,
    weight: impl Fn(&T) -> f64,
) -> (T, f64) {
    let mut before = 0.0;
    while items.len() > 1 {
        let half = items.len() / 2;
        items.select_nth_unstable_by(half, &compare);
        let first = items[..half].iter().map(&weight).sum::<f64>();
        let passed = before + first < top;
        before += if passed { first } else { 0.0 };
        items = if passed { &mut items[half..] } else { &mut items[..half] };
    }
    (items[0], before)
}

/// The `top`-th highest of the `n` scores in `parts`, which lie between `ends`; how many are higher, and how many
/// equal.
///
/// One pass counts the scores above a bracket and keeps those inside it, in which the standard library selects.
pub(crate) fn nth_highest<S: Copy + Default + PartialOrd + Send + Sync>(
    parts: &[&[S]],
    n: usize,
    top: usize,
    ends: (S, S),
    ctx: &Ctx<'_>,
) -> Result<(S, usize, usize)> {
    let mut limits = limits(parts, n, top, ends);
    loop {
        let (low, high) = limits;
        let found = ctx.map(parts.to_vec(), |part| {
            let above = part.iter().map(|&s| u32::from(s > high)).sum::<u32>();
            let mut inside = vec![S::default(); part.len()];
            let mut n_inside = 0;
            for &s in part {
                inside[n_inside] = s;
                n_inside += usize::from((s >= low) & (s <= high));
            }
            inside.truncate(n_inside);
            inside.shrink_to_fit();
            (above as usize, inside)
        })?;
        let above = found.iter().map(|(above, _)| above).sum::<usize>();
        let mut inside = Vec::with_capacity(found.iter().map(|(_, inside)| inside.len()).sum());
        found.iter().for_each(|(_, part)| inside.extend_from_slice(part));
        if above < top && top <= above + inside.len() {
            let (_, &mut score, _) = inside.select_nth_unstable_by(top - above - 1, descending::<S>);
            let count = |of: &dyn Fn(S) -> bool| inside.iter().filter(|&&s| of(s)).count();
            return Ok((score, above + count(&|s| s > score), count(&|s| s == score)));
        }
        limits = ends;
    }
}

fn descending<S: PartialOrd>(x: &S, y: &S) -> Ordering {
    y.partial_cmp(x).unwrap_or(Ordering::Equal)
}

/// Two scores that the `top`-th highest lies between, almost certainly: `ends`, or closer if there are many.
fn limits<S: Copy + PartialOrd>(parts: &[&[S]], n: usize, top: usize, ends: (S, S)) -> (S, S) {
    if n < MANY {
        return ends;
    }
    let mut sample = sampled(parts, n, sample_len(n)).collect::<Vec<_>>();
    let [last, first] = bracket(sample.len(), top as f64 / n as f64);
    let mut at = |rank: usize| *sample.select_nth_unstable_by(rank, descending).1;
    (last.map_or(ends.0, &mut at), first.map_or(ends.1, &mut at))
}

/// `n_sampled` of the `n` scores in `parts`, evenly spread.
pub(super) fn sampled<S: Copy>(parts: &[&[S]], n: usize, n_sampled: usize) -> impl Iterator<Item = S> {
    let (mut passed, mut part): (usize, &[S]) = (0, &[]);
    let mut parts = parts.iter();
    (0..n_sampled).map_while(move |k| {
        let at = spread(k, n_sampled, n);
        while at - passed >= part.len() {
            passed += part.len();
            part = parts.next()?;
        }
        Some(part[at - passed])
    })
}

#[cfg(test)]
mod tests {
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
            for (n, share) in [(8192, 0.02), (60_000, 0.004), (60_000, 0.3), (300_000, 0.05)] {
                let labels: Vec<bool> = (0..n).map(|_| next() < 0.2).collect();
                let scores: Vec<f64> = (0..n).map(|_| next()).collect();
                let weights: Vec<f64> =
                    (0..n).map(|_| [1.0, (4.0 * next()).floor(), -1e-3 * next().ln()][kind]).collect();
                let problem =
                    if kind == 0 { Problem::new(labels)? } else { Problem::weighted(labels, weights.clone())? };
                let total = problem.totals().1;
                let found = bound(&problem, scores[..].into(), share * total);
                let Some((score, index)) = found else { panic!("no bound of {n} at {share}") };
                assert_eq!(scores[index], score);
                let reach = (0..n).filter(|&i| !problem.labels()[i] && scores[i] >= score);
                let reach = reach.map(|i| weights[i]).sum::<f64>() / total;
                let n_sampled = 0.8 * sample_len(n) as f64;
                let most = share + 9.0 * (3.0 * share / n_sampled).sqrt() + 16.0 / n_sampled;
                assert!(share <= reach && reach <= most, "{kind} {n} {share}: {reach}");
                assert!(bound(&problem, scores[..].into(), 0.51 * total).is_none());
            }
        }
        let few: Vec<f64> = (0..8191).map(|_| next()).collect();
        let problem = Problem::new((0..8191).map(|i| i % 2 == 0).collect())?;
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
    fn a_sample_is_one_in_so_many_within_limits() {
        assert_eq!(
            [1, 1 << 19, 1 << 20, 3 << 21, 1 << 24, 1 << 30].map(sample_len),
            [2048, 2048, 4096, 24_576, 65_536, 65_536]
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
}
