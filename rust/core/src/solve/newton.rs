//! Newton's equations whose curvature comes from the scores of a few samples: `(I + X'HX) step = -gradient`.

use std::ops::Range;

use super::features::{Features, Number, ROWS, dots, numbers};
use crate::simd::fast;
use crate::{Ctx, Error, Result};

/// Springs of whole groups that share a pass: their rows stay in the cache between the scores and the product.
const BATCH: usize = 16;

/// The curvature H of a risk, over the scores of some samples.
#[derive(Clone, Copy)]
pub enum Curved<'a> {
    /// Springs between samples and the means of their groups: where each group starts, and the stiffness of each spring.
    Springs(&'a [usize], &'a [f64]),
    /// By its product with a change of the scores.
    Product(&'a (dyn Fn(&[f64]) -> Result<Vec<f64>> + Sync)),
}

/// Products X'HX v.
struct Products<'a, T> {
    features: Features<'a, T>,
    rows: &'a [usize],
    curved: Curved<'a>,
    /// The mean row of each group of more than [`BATCH`] springs; the first product takes them.
    means: Vec<Vec<T>>,
}

impl<T: Number> Products<'_, T> {
    fn of(&mut self, vector: &[f64]) -> Result<Vec<f64>> {
        let (vector, mut sums) = (numbers::<T>(vector), vec![T::default(); vector.len()]);
        let (vector, found) = (&vector[..], &mut sums[..]);
        match self.curved {
            Curved::Springs(starts, stiffness) => {
                let ends = starts.iter().skip(1).copied().chain([stiffness.len()]);
                let groups: Vec<_> = starts.iter().zip(ends).map(|(&start, end)| start..end).collect();
                fast!({ self.add_springs(&groups, stiffness, vector, found) });
            }
            Curved::Product(product) => {
                let (features, rows, mut scores) = (self.features, self.rows, vec![0.0; self.rows.len()]);
                let change = &mut scores[..];
                fast!({ features.scores(rows, vector, change) });
                let pull = numbers::<T>(&product(&scores)?);
                fast!({ features.add(rows, &pull, found) });
            }
        }
        Ok(sums.into_iter().map(Into::into).collect())
    }

    #[inline(always)]
    fn add_springs(&mut self, groups: &[Range<usize>], stiffness: &[f64], vector: &[T], sums: &mut [T]) {
        let (mut next, mut large) = (0, 0);
        while let Some(group) = groups.get(next) {
            let few = groups[next..].iter().take_while(|other| other.end - group.start <= BATCH).count();
            if few == 0 {
                self.add_large(group.clone(), large, stiffness, vector, sums);
                (next, large) = (next + 1, large + 1);
            } else {
                let some = &groups[next..next + few];
                self.add_small(some, group.start..some[few - 1].end, stiffness, vector, sums);
                next += few;
            }
        }
    }

    /// Adds the product by springs of a few groups.
    #[inline(always)]
    fn add_small(&self, groups: &[Range<usize>], all: Range<usize>, stiffness: &[f64], vector: &[T], sums: &mut [T]) {
        let (mut scores, mut pull) = ([0.0; BATCH], [T::default(); BATCH]);
        self.features.scores(&self.rows[all.clone()], vector, &mut scores[..all.len()]);
        for group in groups {
            let (start, end) = (group.start - all.start, group.end - all.start);
            let (stiffness, scores) = (&stiffness[group.clone()], &scores[start..end]);
            let sum: f64 = stiffness.iter().zip(scores).map(|(s, c)| s * c).sum();
            let mean = sum / stiffness.iter().sum::<f64>();
            let of_springs = stiffness.iter().zip(scores).map(|(s, c)| T::of(s * (c - mean)));
            pull[start..end].iter_mut().zip(of_springs).for_each(|(pull, own)| *pull = own);
        }
        self.features.add(&self.rows[all.clone()], &pull[..all.len()], sums);
    }

    /// Adds the product by springs of a large group, whose rows are read once: what the mean of the scores takes from the
    /// pulls is subtracted afterwards, as a multiple of the mean row.
    #[inline(always)]
    fn add_large(&mut self, group: Range<usize>, large: usize, stiffness: &[f64], vector: &[T], sums: &mut [T]) {
        let (features, total) = (self.features, stiffness[group.clone()].iter().sum::<f64>());
        let is_new = large == self.means.len();
        if is_new {
            self.means.push(vec![T::default(); sums.len()]);
        }
        let (mean, mut origin, mut moment) = (&mut self.means[large][..], None, 0.0);
        for (rows, stiffness) in self.rows[group.clone()].chunks(ROWS).zip(stiffness[group].chunks(ROWS)) {
            let (mut scores, mut coefs, n) = ([0.0; ROWS], [T::default(); ROWS], rows.len());
            features.scores(rows, vector, &mut scores[..n]);
            // Relative to the first score: little is lost if all have much in common.
            let origin = *origin.get_or_insert(scores[0]);
            for k in 0..n {
                let pull = stiffness[k] * (scores[k] - origin);
                moment += pull;
                coefs[k] = T::of(pull);
            }
            features.add(rows, &coefs[..n], sums);
            if is_new {
                coefs[..n].iter_mut().zip(stiffness).for_each(|(share, stiffness)| *share = T::of(stiffness / total));
                features.add(rows, &coefs[..n], mean);
            }
        }
        let moment = T::of(-moment);
        sums.iter_mut().zip(&*mean).for_each(|(sum, &mean)| *sum += moment * mean);
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    let [found] = dots([x], y);
    found
}

/// A step with `|(I + X'HX) step + gradient| <= residual |gradient|`, or that of the last of so many products, by
/// conjugate gradients. H is over the given rows of the features. O(stored values) a product; in memory a vector of the
/// features for each large group of springs, in all at most 1/16 of the rows.
///
/// # Errors
/// [`Error::Length`] unless there is a row for each spring; those of the product with H; [`Error::Interrupted`].
pub fn newton_step<T: Number>(
    features: Features<'_, T>,
    rows: &[usize],
    curved: Curved<'_>,
    gradient: &[f64],
    (residual, products): (f64, usize),
    ctx: &Ctx<'_>,
) -> Result<Vec<f64>> {
    if let Curved::Springs(_, stiffness) = curved {
        Error::check_len("stiffness", rows.len(), stiffness.len())?;
    }
    let mut curvature_of = Products { features, rows, curved, means: vec![] };
    let mut step = vec![0.0; gradient.len()];
    let mut left: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut direction = left.clone();
    let first = dot(&left, &left);
    let mut now = first;
    for _ in 0..products {
        ctx.check()?;
        if now <= residual * residual * first {
            break;
        }
        let pulled = curvature_of.of(&direction)?;
        let curvature = dot(&direction, &direction) + dot(&direction, &pulled);
        if !(0.0 < curvature && curvature < f64::INFINITY) {
            break;
        }
        let length = now / curvature;
        for (((step, left), d), p) in step.iter_mut().zip(&mut left).zip(&direction).zip(&pulled) {
            *step += length * d;
            *left -= length * (d + p);
        }
        let before = std::mem::replace(&mut now, dot(&left, &left));
        let kept = now / before;
        direction.iter_mut().zip(&left).for_each(|(d, left)| *d = left + kept * *d);
    }
    Ok(step)
}
