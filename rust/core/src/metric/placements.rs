//! Placements: for every sample the share of the other class that it beats, by table look-ups instead of a sort.
//!
//! They are the components of the AUC (DeLong, DeLong and Clarke-Pearson, 1988); several models share the labels.

use std::borrow::Cow;

use super::covariance::{Covariance, products};
use super::labels::Labels;
use crate::order::cells::{Cells, Class, Task, size};
use crate::order::sorted::Sorted;
use crate::{Ctx, Error, Problem, Result};

/// The scores of one model.
#[derive(Debug, Clone)]
pub enum Column<'a> {
    /// Of double precision.
    F64(Cow<'a, [f64]>),
    /// Of single precision.
    F32(Cow<'a, [f32]>),
}

/// Memory kept from call to call.
#[derive(Debug, Default)]
pub struct Placements {
    rankers: Vec<Ranker>,
    /// For every model `2 #{t < s_i} + #{t = s_i}` of a positive i, `2 #{s > t_j} + #{s = t_j}` of a negative j.
    values: Vec<Vec<f64>>,
}

impl Placements {
    /// Bytes that are held.
    pub fn bytes(&self) -> usize {
        // A ranker holds each score, its index and its place twice, and what is found.
        let of_rankers = self.rankers.iter().map(|ranker| 40 * ranker.found.capacity()).sum::<usize>();
        of_rankers + self.values.iter().map(|values| 8 * values.capacity()).sum::<usize>()
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
        let problem = &Problem::new(labels.positives(0, labels.n_samples()))?;
        let sizes = [problem.n_pos() as f64, problem.n_neg() as f64];
        for (size, name) in sizes.into_iter().zip(["the number of positives", "the number of negatives"]) {
            if size < 2.0 {
                let value = size.to_string();
                return Err(Error::Domain { name, domain: "above 1 for a variance", value });
            }
        }
        let doubled = self.rank(problem, models, ctx)?;
        let pairs = 2 * problem.n_pos() as u128 * problem.n_neg() as u128;
        let estimates = doubled.iter().map(|&won| won as f64 / pairs as f64).collect();
        let means: Vec<[f64; 2]> = doubled.iter().map(|&won| sizes.map(|size| won as f64 / size)).collect();
        let values: Vec<&[f64]> = self.values.iter().map(Vec::as_slice).collect();
        let sums = products(problem.labels(), &values, &means, &|_| 1.0, ctx)?;
        let scale = |class: usize| {
            let (size, other) = (sizes[class], sizes[1 - class]);
            (2.0 * other).powi(2) * size * (size - 1.0)
        };
        let part = |class: usize| sums.iter().map(|sums| sums[class] / scale(class)).collect();
        Ok((estimates, Covariance { pos: part(0), neg: part(1) }))
    }

    /// Sets the values of every model; twice the pairs that each wins. Threads share the models and the work on each.
    fn rank(&mut self, problem: &Problem, models: &[Column<'_>], ctx: &Ctx<'_>) -> Result<Vec<u64>> {
        let n_rankers = models.len().clamp(1, ctx.n_threads());
        self.rankers.resize_with(n_rankers, Ranker::default);
        self.values.resize_with(models.len(), Vec::new);
        let of_one = models.len().div_ceil(n_rankers).max(1);
        let parts = models.chunks(of_one).zip(self.values.chunks_mut(of_one)).zip(&mut self.rankers);
        let won = ctx.map(parts.collect(), |((models, values), ranker)| {
            let each = models.iter().zip(values);
            each.map(|(scores, values)| ranker.rank(problem, scores, values, ctx)).collect::<Result<Vec<u64>>>()
        })?;
        Ok(won.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }
}

/// Scores ranked at a time.
const TILE: usize = 1 << 10;

/// Ranks the samples of one model.
#[derive(Debug, Default)]
struct Ranker {
    cells: Cells,
    sorted: Sorted,
    /// By place in the cells.
    found: Vec<f64>,
    wide: Vec<f64>,
}

impl Ranker {
    fn rank(&mut self, problem: &Problem, scores: &Column<'_>, values: &mut Vec<f64>, ctx: &Ctx<'_>) -> Result<u64> {
        let Self { cells, sorted, found, wide } = self;
        let scores = match scores {
            Column::F64(scores) => &**scores,
            Column::F32(scores) => {
                wide.clear();
                wide.extend(scores.iter().map(|&s| f64::from(s)));
                wide
            }
        };
        Error::check_len("y_score", problem.n_samples(), scores.len())?;
        cells.gather(problem, scores, &[problem.n_neg()], &mut sorted.map, ctx).map_err(|error| match error {
            Error::NonFinite { index, value, .. } => Error::NonFinite { name: "y_score", index, value },
            other => other,
        })?;
        sorted.build(&cells.positives(), ctx)?;
        size(found, scores.len());
        size(values, scores.len());
        let tallies = ctx.map(cells.tasks(&Class::Negatives(0..1), found), |task| place_negatives(sorted, task))?;
        let mut above = vec![0u64; problem.n_pos() + 1];
        let mut lost = 0;
        for tally in tallies {
            lost += tally.lost;
            above[tally.first..].iter_mut().zip(tally.counts).for_each(|(count, more)| *count += more);
        }
        let mut beaten = 0;
        for count in &mut above {
            beaten += *count;
            *count = beaten;
        }
        ctx.map(cells.tasks(&Class::Positives, found), |task| place_positives(sorted, &above, task))?;
        cells.scatter(found, values, ctx)?;
        Ok(2 * (problem.n_pos() * problem.n_neg()) as u64 - lost)
    }
}

/// How many negatives are below, and how many at most at, each of the positives from `first`: the differences of their
/// sum.
struct Tally {
    first: usize,
    counts: Vec<u64>,
    lost: u64,
}

fn place_negatives(sorted: &Sorted, task: Task<'_>) -> Tally {
    let all = || task.iter().flat_map(|(scores, _)| *scores).copied();
    let ends = [all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max)];
    let (mut first, mut last) = ([0; 2], [0; 2]);
    sorted.below(&ends, 0.0, &mut first);
    sorted.up_to(&ends, &mut last);
    let first = first[0] as usize;
    let mut tally = Tally { first, counts: vec![0; last[1] as usize - first + 1], lost: 0 };
    let n_pos = sorted.scores().len() as u64;
    let (mut below, mut up_to) = ([0u32; TILE], [0u32; TILE]);
    for (scores, found) in task {
        for (scores, found) in scores.chunks(TILE).zip(found.chunks_mut(TILE)) {
            let (below, up_to) = (&mut below[..scores.len()], &mut up_to[..scores.len()]);
            sorted.below(scores, 0.0, below);
            let tied = |(score, &rank): (&f64, &u32)| sorted.scores().get(rank as usize) == Some(score);
            if scores.iter().zip(&*below).any(tied) {
                sorted.up_to(scores, up_to);
            } else {
                up_to.copy_from_slice(below);
            }
            for ((&below, &up_to), found) in below.iter().zip(&*up_to).zip(found) {
                tally.counts[below as usize - first] += 1;
                tally.counts[up_to as usize - first] += 1;
                let lost = u64::from(below) + u64::from(up_to);
                tally.lost += lost;
                *found = (2 * n_pos - lost) as f64;
            }
        }
    }
    tally
}

fn place_positives(sorted: &Sorted, above: &[u64], task: Task<'_>) {
    let mut below = [0u32; TILE];
    for (scores, found) in task {
        for (scores, found) in scores.chunks(TILE).zip(found.chunks_mut(TILE)) {
            sorted.below(scores, 0.0, &mut below[..scores.len()]);
            for (found, &rank) in found.iter_mut().zip(&below) {
                *found = above[rank as usize] as f64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{Components, Measure, WeightKind, covariance};

    #[test]
    fn as_by_the_curve_on_any_number_of_threads() {
        let mut state = 5u64;
        let mut next = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
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
