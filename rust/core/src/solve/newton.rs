//! Newton's equations whose curvature comes from the scores of a few samples: `(I + X'HX) step = -gradient`.

use std::cell::OnceCell;
use std::ops::Range;

use super::features::{Factor, Features, Number, ROWS, numbers, of_row, stored};
use crate::simd::fast;
use crate::{Ctx, Error, Result};

/// Springs of whole groups that share a pass over dense rows, which stay in the cache between scores and product.
const BATCH: usize = 16;

/// Conjugate gradients look at the true residual after so many products, and go on if the function that they minimise
/// has fallen by this share. Rounding of kernels alone moves it by 1e-6.
const CHECKED: usize = 16;
const GAIN: f64 = 1e-3;

/// A step whose residual is at least this needs few digits: rows in single precision, half the bytes or two thirds.
const FEW_DIGITS: f64 = 0.01;
/// From this residual on one product is often enough, and reads the rows where they are.
const ROUGH: f64 = 0.1;
/// The numbers of values in double precision that a step may copy to single precision.
pub const COPIED: Range<usize> = 1 << 16..1 << 23;
/// A copy of sparse rows is dense from one value in so many on: its products take whole vectors.
const STORED: usize = 4;
/// Where the largest of these values, dense ones less the first row, lies; others lose digits or overflow.
const SIZES: Range<f32> = 1e-6..1e12;

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
    /// The mean row of each group of more than [`BATCH`] springs over dense rows; the first product takes them.
    means: Vec<Vec<T>>,
}

impl<T: Number> Products<'_, T> {
    fn of(&mut self, vector: &[f64], ctx: &Ctx<'_>) -> Result<Vec<f64>> {
        let (vector, mut sums) = (numbers::<T>(vector), vec![T::default(); vector.len()]);
        let (vector, found) = (&vector[..], &mut sums[..]);
        let (features, rows, mut scores) = (self.features, self.rows, vec![0.0; self.rows.len()]);
        let change = &mut scores[..];
        match self.curved {
            Curved::Springs(starts, stiffness) => {
                let ends = starts.iter().skip(1).copied().chain([stiffness.len()]);
                let groups: Vec<_> = starts.iter().zip(ends).map(|(&start, end)| start..end).collect();
                fast!({ self.add_springs(&groups, stiffness, vector, change, found, ctx) })?;
            }
            Curved::Product(product) => {
                fast!({ features.scores(rows, vector, change) });
                let pull = numbers::<T>(&product(&scores)?);
                fast!({ features.add(rows, &pull, found) });
            }
        }
        Ok(sums.into_iter().map(Into::into).collect())
    }

    /// Adds the product by springs, given room for the scores of all.
    #[inline(always)]
    fn add_springs(
        &mut self,
        groups: &[Range<usize>],
        stiffness: &[f64],
        vector: &[T],
        scores: &mut [f64],
        sums: &mut [T],
        ctx: &Ctx<'_>,
    ) -> Result<()> {
        // Sparse rows are short, and a mean row would not be.
        let most = if let Features::Dense(_) = self.features { BATCH } else { usize::MAX };
        let (mut next, mut large) = (0, 0);
        while let Some(group) = groups.get(next) {
            ctx.check()?;
            let few = groups[next..].iter().take_while(|other| other.end - group.start <= most).count();
            if few == 0 {
                self.add_large(group.clone(), large, stiffness, vector, sums, ctx)?;
                (next, large) = (next + 1, large + 1);
            } else {
                self.add_small(&groups[next..next + few], stiffness, vector, scores, sums);
                next += few;
            }
        }
        Ok(())
    }

    /// Adds the product by springs of some groups: first all scores, then the sum of the rows.
    #[inline(always)]
    fn add_small(&self, groups: &[Range<usize>], stiffness: &[f64], vector: &[T], scores: &mut [f64], sums: &mut [T]) {
        let all = groups[0].start..groups[groups.len() - 1].end;
        let rows = &self.rows[all.clone()];
        self.features.scores(rows, vector, &mut scores[all.clone()]);
        for group in groups {
            let (stiffness, scores) = (&stiffness[group.clone()], &mut scores[group.clone()]);
            let sum: f64 = stiffness.iter().zip(&*scores).map(|(s, c)| s * c).sum();
            let mean = sum / stiffness.iter().sum::<f64>();
            scores.iter_mut().zip(stiffness).for_each(|(score, s)| *score = s * (*score - mean));
        }
        for (rows, pull) in rows.chunks(BATCH).zip(scores[all].chunks(BATCH)) {
            let mut coefs = [T::default(); BATCH];
            coefs.iter_mut().zip(pull).for_each(|(coef, &pull)| *coef = T::of(pull));
            self.features.add(rows, &coefs[..rows.len()], sums);
        }
    }

    /// Adds the product by springs of a large group, whose rows are read once: what the mean of the scores takes from the
    /// pulls is subtracted afterwards, as a multiple of the mean row.
    #[inline(always)]
    fn add_large(
        &mut self,
        group: Range<usize>,
        large: usize,
        stiffness: &[f64],
        vector: &[T],
        sums: &mut [T],
        ctx: &Ctx<'_>,
    ) -> Result<()> {
        let (features, total) = (self.features, stiffness[group.clone()].iter().sum::<f64>());
        let is_new = large == self.means.len();
        if is_new {
            self.means.push(vec![T::default(); sums.len()]);
        }
        let (mean, mut origin, mut moment) = (&mut self.means[large][..], None, 0.0);
        for (rows, stiffness) in self.rows[group.clone()].chunks(ROWS).zip(stiffness[group].chunks(ROWS)) {
            ctx.check()?;
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
        Ok(())
    }
}

/// A step with `|(I + X'HX) step + gradient| <= residual |gradient|`, or that of the last of so many products, by
/// [`conjugate`] gradients. H is over the given rows of the features. O(stored values) a product; of dense features, in
/// memory the mean row of each large group of springs: at most 1/16 of the rows; a copy of rows of at most 64 MB.
///
/// # Errors
/// [`Error::Length`] unless there is a row for each spring; those of the product with H; [`Error::Interrupted`].
pub fn newton_step<T: Number>(
    features: Features<'_, T>,
    rows: &[usize],
    curved: Curved<'_>,
    gradient: &[f64],
    until: (f64, usize),
    ctx: &Ctx<'_>,
) -> Result<Vec<f64>> {
    if let Curved::Springs(_, stiffness) = curved {
        Error::check_len("stiffness", rows.len(), stiffness.len())?;
    }
    let in_place = if until.0 < FEW_DIGITS { usize::MAX } else { usize::from(until.0 >= ROUGH) };
    let (copied, of_copy) = (OnceCell::new(), (0..rows.len()).collect::<Vec<_>>());
    let (mut exact, mut rough, mut done) = (Products { features, rows, curved, means: vec![] }, None, 0);
    let product = |vector: &[f64]| {
        ctx.check()?;
        done += 1;
        if done > in_place
            && let Some(copy) = copied.get_or_init(|| Copied::new(features, rows, gradient.len()))
        {
            let new = || Products { features: copy.features(), rows: &of_copy, curved, means: vec![] };
            let found = rough.get_or_insert_with(new).of(vector, ctx)?;
            if found.iter().all(|x| x.is_finite()) {
                return Ok(found);
            }
        }
        exact.of(vector, ctx)
    };
    conjugate(gradient, until, product, |x, y| Ok(Factor::new(y).dot(x)))
}

/// Some rows in single precision, less what all have in common, which no curvature notices.
struct Copied {
    values: Vec<f32>,
    /// Of sparse rows.
    places: Option<(Vec<i32>, Vec<i32>)>,
}

impl Copied {
    /// `None` if that does not pay, or if digits would be lost.
    fn new<T: Number>(features: Features<'_, T>, rows: &[usize], dim: usize) -> Option<Self> {
        let all = rows.len() * dim;
        let n_values = match features {
            Features::Dense(_) => all,
            Features::Sparse(_, _, starts) => {
                let n: usize = rows.iter().map(|&row| (starts[row + 1] - starts[row]) as usize).sum();
                if STORED * n < all { n } else { all }
            }
        };
        if size_of::<T>() <= size_of::<f32>() || !COPIED.contains(&n_values) {
            return None;
        }
        let mut copy = Self { values: Vec::with_capacity(n_values), places: None };
        let mut largest = vec![0.0; dim];
        match features {
            Features::Dense(values) => {
                let (origin, mut apart) = (of_row(values, rows[0], dim), vec![0.0; dim]);
                let (to, largest) = (&mut copy.values, &mut largest[..]);
                fast!({
                    for &row in rows {
                        let all = apart.iter_mut().zip(&mut *largest).zip(of_row(values, row, dim)).zip(origin);
                        for (((apart, largest), &x), &o) in all {
                            *apart = (x.into() - o.into()) as f32;
                            *largest = f32::max(*largest, apart.abs());
                        }
                        to.extend_from_slice(&apart);
                    }
                });
            }
            Features::Sparse(values, columns, starts) => {
                let (mut own, mut ends, mut counts) = (vec![], vec![0], vec![0; dim]);
                for &row in rows {
                    let (columns, values) = stored(values, columns, starts, row);
                    columns.iter().for_each(|&k| counts[k as usize] += 1);
                    let values = values.iter().map(|&x| x.into() as f32);
                    if n_values == all {
                        let end = copy.values.len();
                        copy.values.resize(end + dim, 0.0);
                        columns.iter().zip(values).for_each(|(&k, x)| copy.values[end + k as usize] += x);
                    } else {
                        copy.values.extend(values);
                        own.extend_from_slice(columns);
                        ends.push(own.len() as i32);
                    }
                }
                if counts.contains(&rows.len()) {
                    return None; // a column without zeros may vary much less than it is large
                }
                copy.places = (n_values < all).then_some((own, ends));
            }
        }
        let sizes = if let Features::Dense(_) = features { &largest } else { &copy.values };
        SIZES.contains(&sizes.iter().fold(0.0, |most: f32, x| most.max(x.abs()))).then_some(copy)
    }

    fn features(&self) -> Features<'_, f32> {
        match &self.places {
            None => Features::Dense(&self.values),
            Some((columns, starts)) => Features::Sparse(&self.values, columns, starts),
        }
    }
}

/// A solution of `(I + H) step = -gradient`, H positive semidefinite, by conjugate gradients: to a residual relative to
/// the gradient, or until so many products with H. The vectors may have any inner product.
///
/// Rounding may win before: residuals that are updated from step to step then grow without limit. So every 16 products
/// one more finds the true residual. If neither it nor the quadratic function that the steps minimise has fallen, the
/// best step at such a point is returned. Residuals alone would end too early: those of exact steps may rise at first.
///
/// # Errors
/// Those of the product and the inner product.
pub fn conjugate(
    gradient: &[f64],
    (residual, products): (f64, usize),
    mut product: impl FnMut(&[f64]) -> Result<Vec<f64>>,
    mut inner: impl FnMut(&[f64], &[f64]) -> Result<f64>,
) -> Result<Vec<f64>> {
    let mut step = vec![0.0; gradient.len()];
    let mut left: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut direction = left.clone();
    let first = inner(&left, &left)?;
    let (mut now, mut best, mut least, mut lowest) = (first, step.clone(), first, 0.0);
    for done in 1..=products {
        if now <= residual * residual * first {
            break;
        }
        let pulled = product(&direction)?;
        let curvature = inner(&direction, &direction)? + inner(&direction, &pulled)?;
        // H lengthens no step: but for rounding, the curvature is at least the squared residual.
        if !(0.5 * now < curvature && curvature < f64::INFINITY) {
            break;
        }
        let length = now / curvature;
        for (((step, left), d), p) in step.iter_mut().zip(&mut left).zip(&direction).zip(&pulled) {
            *step += length * d;
            *left -= length * (d + p);
        }
        let before = std::mem::replace(&mut now, inner(&left, &left)?);
        let kept = now / before;
        direction.iter_mut().zip(&left).for_each(|(d, left)| *d = left + kept * *d);
        if done % CHECKED == 0 {
            let pulled = product(&step)?;
            let off: Vec<f64> = gradient.iter().zip(&step).zip(&pulled).map(|((g, s), p)| g + s + p).collect();
            let both: Vec<f64> = gradient.iter().zip(&off).map(|(g, off)| g + off).collect();
            let (square, value) = (inner(&off, &off)?, 0.5 * inner(&step, &both)?);
            if !(square < least || value < (1.0 + GAIN) * lowest) {
                return Ok(best);
            }
            best.clone_from(&step);
            (least, lowest) = (least.min(square), lowest.min(value));
        }
    }
    Ok(step)
}
