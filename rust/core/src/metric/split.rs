//! Scores in two parts or more, without a branch that depends on any of them.

use super::labels::{Labels, TILE};
use super::score::Score;
use crate::order::fast;

/// Writes the scores, whose first is sample `from`, to `to` in runs: first the positives below the first of the bounds,
/// between it and the second and so on, then the negatives likewise; where each run begins, and the end, or `None` if a
/// score is not finite.
///
/// The bounds ascend, and there is one less of them than a power of two. `spare` is of the length of both.
pub(super) fn split<S: Score>(
    labels: &Labels<'_>,
    from: usize,
    scores: &[S],
    bounds: &[S],
    to: &mut [S],
    spare: &mut [S],
) -> Option<Vec<u32>> {
    let n_steps = (bounds.len() + 1).ilog2();
    // Each step goes from one memory to the other, the last to `to`.
    let (first, second) = if n_steps.is_multiple_of(2) { (to, spare) } else { (spare, to) };
    let mut positive = [false; TILE];
    let mut free = (0, scores.len());
    for (tile, from) in scores.chunks(TILE).zip((from..).step_by(TILE)) {
        let positive = &mut positive[..tile.len()];
        labels.fill(from, positive);
        if !fast(Finite(tile)) {
            return None;
        }
        free = part(tile, Positive(positive), first, free);
    }
    let mut starts = vec![0, free.0 as u32, scores.len() as u32];
    let (mut from, mut to) = (first, second);
    for step in 0..n_steps {
        let n_runs = 1 << step;
        let mut next = vec![0];
        for (run, ends) in starts.windows(2).enumerate() {
            let (start, end) = (ends[0] as usize, ends[1] as usize);
            // Of the bounds between those passed, the middle one.
            let bound = bounds[(2 * (run % n_runs) + 1) * (bounds.len() + 1) / (2 * n_runs) - 1];
            let (middle, _) = part(&from[start..end], Below(bound), &mut to[start..end], (0, end - start));
            next.extend([(start + middle) as u32, end as u32]);
        }
        starts = next;
        std::mem::swap(&mut from, &mut to);
    }
    Some(starts)
}

/// Whether all scores are finite.
struct Finite<'a, S>(&'a [S]);

impl<S: Score> pulp::NullaryFnOnce for Finite<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        self.0.iter().fold(true, |finite, x| finite & x.finite())
    }
}

/// Which scores go to the front.
trait Front<S> {
    /// Whether the k-th does.
    fn one(&self, k: usize, score: S) -> bool;

    /// By bits, which of the four from the k-th on do.
    #[cfg(target_arch = "x86_64")]
    fn four(&self, simd: pulp::x86::V3, k: usize, scores: [S; 4]) -> usize;
}

/// The positives.
struct Positive<'a>(&'a [bool]);

impl<S> Front<S> for Positive<'_> {
    #[inline(always)]
    fn one(&self, k: usize, _: S) -> bool {
        self.0[k]
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn four(&self, _: pulp::x86::V3, k: usize, _: [S; 4]) -> usize {
        (u32::from_le_bytes(self.0.as_chunks::<4>().0[k / 4].map(u8::from)).wrapping_mul(0x0102_0408) >> 24) as usize
            & 15
    }
}

/// Those below a bound.
struct Below<S>(S);

impl<S: Score> Front<S> for Below<S> {
    #[inline(always)]
    fn one(&self, _: usize, score: S) -> bool {
        score < self.0
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn four(&self, simd: pulp::x86::V3, _: usize, scores: [S; 4]) -> usize {
        S::below(simd, scores, self.0)
    }
}

/// Copies the scores between the given ends of what is free in `to`; what is free then.
fn part<S: Score>(scores: &[S], front: impl Front<S>, to: &mut [S], free: (usize, usize)) -> (usize, usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return pulp::Simd::vectorize(simd, ByFour { simd, scores, front, to, free });
    }
    one_by_one(scores, 0, front, to, free)
}

/// The same for those from the `done`-th on.
#[inline(always)]
fn one_by_one<S: Score>(
    scores: &[S],
    done: usize,
    front: impl Front<S>,
    to: &mut [S],
    (mut start, mut end): (usize, usize),
) -> (usize, usize) {
    for (&x, k) in scores[done..].iter().zip(done..) {
        // Written to both ends, over the last there: no branch to mispredict.
        to[start] = x;
        to[end.wrapping_sub(1)] = x;
        let first = front.one(k, x);
        start = start.wrapping_add(usize::from(first));
        end = end.wrapping_sub(usize::from(!first));
    }
    (start, end)
}

/// Four scores at a time, put in order by a permutation and copied to both ends.
#[cfg(target_arch = "x86_64")]
struct ByFour<'a, S, F> {
    simd: pulp::x86::V3,
    scores: &'a [S],
    front: F,
    to: &'a mut [S],
    free: (usize, usize),
}

#[cfg(target_arch = "x86_64")]
impl<S: Score, F: Front<S>> pulp::NullaryFnOnce for ByFour<'_, S, F> {
    type Output = (usize, usize);

    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self { simd, scores, front, to, free: (mut start, mut end) } = self;
        let mut done = 0usize;
        for four in scores.as_chunks::<4>().0 {
            // The copies must not meet, for each holds scores that belong to the other.
            let Some(free) = to.get_mut(start..end).filter(|free| free.len() >= 8) else { break };
            let first = front.four(simd, done, *four);
            let four = S::arrange(simd, *four, first);
            free.first_chunk_mut().into_iter().for_each(|free| *free = four);
            free.last_chunk_mut().into_iter().for_each(|free| *free = four);
            let n_first = first.count_ones() as usize;
            start = start.wrapping_add(n_first);
            end = end.wrapping_sub(4).wrapping_add(n_first);
            done = done.wrapping_add(4);
        }
        one_by_one(scores, done, front, to, (start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    #[test]
    fn runs_are_those_of_a_filter() {
        let mut next = uniform(2);
        for (n, levels) in [(0, 9.0), (1, 9.0), (7, 9.0), (40, 9.0), (5000, 9.0), (5001, 1e9)] {
            let labels: Vec<bool> = (0..n).map(|_| next() < 0.3).collect();
            let scores: Vec<f64> = (0..n).map(|_| (levels * next()).floor()).collect();
            let classes = Labels::of_bools(&labels, labels.iter().filter(|&&positive| positive).count());
            for n_runs in [1, 2, 4, 8] {
                let bounds: Vec<f64> = (1..n_runs).map(|k| (levels * k as f64 / n_runs as f64).floor()).collect();
                let (mut to, mut spare) = (vec![0.0; n], vec![0.0; n]);
                let starts = split(&classes, 0, &scores, &bounds, &mut to, &mut spare).unwrap();
                assert_eq!(starts.len(), 2 * n_runs + 1);
                for (id, ends) in starts.windows(2).enumerate() {
                    let mut found = to[ends[0] as usize..ends[1] as usize].to_vec();
                    let run = |x: f64| bounds.iter().filter(|&&bound| bound <= x).count();
                    let wanted = |i: &usize| id == usize::from(!labels[*i]) * n_runs + run(scores[*i]);
                    let mut expected: Vec<f64> = (0..n).filter(wanted).map(|i| scores[i]).collect();
                    found.sort_by(f64::total_cmp);
                    expected.sort_by(f64::total_cmp);
                    assert_eq!(found, expected, "{n} in {n_runs}");
                }
            }
        }
        let labels = Labels::of_bools(&[true, false], 1);
        assert!(split(&labels, 0, &[0.0, f64::NAN], &[], &mut [0.0; 2], &mut [0.0; 2]).is_none());
    }
}
