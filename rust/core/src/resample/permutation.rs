//! A permutation test that two ROC curves are equal (Venkatraman and Begg, 1996, for two scores of the same samples;
//! Venkatraman, 2000, for scores of different samples).
//!
//! Both curves are compared at the same share t of samples called positive, t = k TPR + (1 - k) FPR with k the share of
//! positives among all samples. The distance of the curves is the mean over t of the absolute difference of their error
//! rates, `2 k int_0^1 |TPR_1(t) - TPR_2(t)| dt`. If the curves are equal, a sample's place on its curve, the middle t
//! of its block of ties, means the same on both. So places are exchanged at random, between the two scores of a sample
//! or between the samples of a class, and the distances of the resulting curves are the null distribution.

use crate::ctx::CHUNK;
use crate::curve::Curve;
use crate::curve::walk::Step;
use crate::data::labels::Labels;
use crate::resample::bootstrap::in_batches;
use crate::resample::multinomial::Stream;
use crate::{Ctx, Error, Result, order};

/// Labels and scores of one curve.
pub type Scored<'a> = (&'a [bool], &'a [f64]);

/// The samples at one place: positives and negatives of the first curve, then of the second.
type Cell = [u32; 4];

/// What is exchanged; sorted, so that the order of the samples does not matter.
enum Exchange {
    /// Each sample's places by the first and the second score, and whether it is positive.
    Scores(Vec<(u32, u32, bool)>),
    /// For each class, the places, and how many of them belong to the first curve.
    Samples([(Vec<u32>, usize); 2]),
}

/// The distance of two curves, and of `n_resamples` pairs of curves with exchanged places. O(N log N), then O(N) each.
///
/// # Errors
/// Those of [`Curve::new`]; [`Error::Length`] if `paired` curves differ in length, [`Error::Domain`] if they differ in
/// labels; [`Error::TooLarge`] if products of five numbers of samples pass 2^127.
pub fn permuted_distances(
    curves: [Scored<'_>; 2],
    paired: bool,
    n_resamples: usize,
    seed: u64,
    ctx: &Ctx<'_>,
) -> Result<(f64, Vec<f64>)> {
    let [(first, scores), (second, others)] = curves;
    if paired {
        Error::check_len("the other scores", scores.len(), others.len())?;
        if first != second {
            return Err(Error::domain("the other labels", "equal to the first, as samples are paired", "others"));
        }
    }
    Error::check_count("n_resamples", n_resamples)?;
    let labels = [Labels::new(first)?, Labels::new(second)?];
    let sizes = labels.each_ref().map(|l| [l.n_pos(), l.n_neg()]);
    let mut places = [vec![0u32; first.len()], vec![0u32; second.len()]];
    let mut keys = [Vec::new(), Vec::new()];
    for (k, scores) in [scores, others].into_iter().enumerate() {
        let of = &mut places[k];
        let curve = Curve::build(None, &labels[k], scores, None, |sample, step| of[sample] = step as u32, ctx)?;
        keys[k] = middles(&curve, sizes[k], sizes[1 - k])?;
    }
    let (of_steps, n_places) = merged(&keys, ctx)?;
    drop(keys);
    for (places, of_steps) in places.iter_mut().zip(&of_steps) {
        for places in places.chunks_mut(CHUNK) {
            ctx.check()?;
            places.iter_mut().for_each(|place| *place = of_steps[*place as usize]);
        }
    }
    let mut observed = vec![[0; 4]; n_places];
    for (k, labels) in [first, second].into_iter().enumerate() {
        for (places, labels) in places[k].chunks(CHUNK).zip(labels.chunks(CHUNK)) {
            ctx.check()?;
            for (&place, &positive) in places.iter().zip(labels) {
                observed[place as usize][2 * k + usize::from(!positive)] += 1;
            }
        }
    }
    let exchange = Exchange::new(&places, [first, second], paired, ctx)?;
    let batch = |from: usize, to: usize| -> Result<Vec<f64>> {
        let (mut cells, mut memory) = (vec![[0; 4]; n_places], Default::default());
        let mut one = |replicate: usize| {
            ctx.check()?;
            exchange.fill(&mut Stream::new(seed, replicate as u64), &mut cells, ctx)?;
            distance(&cells, sizes, &mut memory, ctx)
        };
        let mut found = Vec::with_capacity(to - from);
        (from..to).try_for_each(|replicate| one(replicate).map(|distance| found.push(distance)))?;
        Ok(found)
    };
    let permuted = in_batches(n_resamples, batch, ctx)?;
    Ok((distance(&observed, sizes, &mut Default::default(), ctx)?, permuted))
}

/// The middle t of every step, times an integer that is the same for both curves.
fn middles(curve: &Curve, [m, n]: [usize; 2], [m_other, n_other]: [usize; 2]) -> Result<Vec<u128>> {
    let too_large = || Error::TooLarge { n_samples: m + n + m_other + n_other };
    let product = |factors: [usize; 5]| factors.into_iter().try_fold(1u128, |p, f| p.checked_mul(f as u128));
    let unit = |[own, other, all]: [usize; 3]| product([own, other, all, m_other, n_other]).ok_or_else(too_large);
    let (of_pos, of_neg) = (unit([1, n, m + m_other])?, unit([1, m, n + n_other])?);
    if [(of_pos, m), (of_neg, n)].iter().any(|&(unit, size)| unit.checked_mul(4 * size as u128).is_none()) {
        return Err(too_large());
    }
    let (mut pos, mut neg) = (0u128, 0u128);
    let middle = |step: &Step| {
        let before = (pos, neg);
        pos += step.pos as u128;
        neg += step.neg as u128;
        (before.0 + pos) * of_pos + (before.1 + neg) * of_neg
    };
    Ok(curve.steps().iter().map(middle).collect())
}

/// For two ascending sequences, the rank of each number among all distinct ones; and how many these are.
fn merged(keys: &[Vec<u128>; 2], ctx: &Ctx<'_>) -> Result<([Vec<u32>; 2], usize)> {
    let mut places = keys.each_ref().map(|keys| Vec::with_capacity(keys.len()));
    let mut n = 0;
    loop {
        if (n as usize).is_multiple_of(CHUNK) {
            ctx.check()?;
        }
        let next = [0, 1].map(|k| keys[k].get(places[k].len()).copied());
        let Some(least) = next.into_iter().flatten().min() else { return Ok((places, n as usize)) };
        places.iter_mut().zip(next).filter(|(_, next)| *next == Some(least)).for_each(|(places, _)| places.push(n));
        n += 1;
    }
}

impl Exchange {
    fn new(places: &[Vec<u32>; 2], labels: [&[bool]; 2], paired: bool, ctx: &Ctx<'_>) -> Result<Self> {
        if paired {
            let mut all =
                places[0].iter().zip(&places[1]).zip(labels[0]).map(|((&x, &y), &p)| (x, y, p)).collect::<Vec<_>>();
            order::sort(&mut all, ctx)?;
            return Ok(Exchange::Scores(all));
        }
        let of = |class: bool| {
            let own = |k: usize| places[k].iter().zip(labels[k]).filter(move |&(_, &of)| of == class).map(|(&p, _)| p);
            let (mut all, n_first) = (own(0).chain(own(1)).collect::<Vec<_>>(), own(0).count());
            order::sort(&mut all, ctx)?;
            Ok((all, n_first))
        };
        Ok(Exchange::Samples([of(true)?, of(false)?]))
    }

    fn fill(&self, stream: &mut Stream, cells: &mut [Cell], ctx: &Ctx<'_>) -> Result<()> {
        cells.fill([0; 4]);
        match self {
            Exchange::Scores(samples) => {
                for (block, samples) in samples.chunks(64).enumerate() {
                    if block.is_multiple_of(1024) {
                        ctx.check()?;
                    }
                    let mut bits = stream.next();
                    for &(first, second, positive) in samples {
                        let (x, y) = if bits & 1 == 0 { (first, second) } else { (second, first) };
                        cells[x as usize][usize::from(!positive)] += 1;
                        cells[y as usize][2 + usize::from(!positive)] += 1;
                        bits >>= 1;
                    }
                }
            }
            Exchange::Samples(classes) => {
                for (class, (places, n_first)) in classes.iter().enumerate() {
                    let mut wanted = *n_first as u128;
                    for (&place, left) in places.iter().zip((1..=places.len() as u128).rev()) {
                        if left.is_multiple_of(CHUNK as u128) {
                            ctx.check()?;
                        }
                        let taken = (u128::from(stream.next()) * left) >> 64 < wanted;
                        wanted -= u128::from(taken);
                        cells[place as usize][class + if taken { 0 } else { 2 }] += 1;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Points (t, TPR) of both curves.
type Points = [Vec<[f64; 2]>; 2];

/// `2 k int_0^1 |TPR_1(t) - TPR_2(t)| dt` of the curves of `cells`, exactly: both are straight between their points.
fn distance(cells: &[Cell], sizes: [[usize; 2]; 2], points: &mut Points, ctx: &Ctx<'_>) -> Result<f64> {
    let total = |class: usize| (sizes[0][class] + sizes[1][class]) as f64;
    let share = total(0) / (total(0) + total(1));
    for (k, points) in points.iter_mut().enumerate() {
        let [m, n] = sizes[k].map(|size| size as f64);
        let (mut pos, mut neg) = (0u64, 0u64);
        points.clear();
        points.push([0.0; 2]);
        for cells in cells.chunks(CHUNK) {
            ctx.check()?;
            for cell in cells {
                let (p, q) = (cell[2 * k], cell[2 * k + 1]);
                if p + q > 0 {
                    pos += u64::from(p);
                    neg += u64::from(q);
                    let height = pos as f64 / m;
                    points.push([share * height + (1.0 - share) * neg as f64 / n, height]);
                }
            }
        }
        if let Some(last) = points.last_mut() {
            *last = [1.0; 2];
        }
    }
    let (mut area, mut next, mut before) = (0.0, [1, 1], [0.0; 2]);
    while let (Some(&x), Some(&y)) = (points[0].get(next[0]), points[1].get(next[1])) {
        let t = f64::min(x[0], y[0]);
        let height = |k: usize, [t1, h1]: [f64; 2]| {
            let [t0, h0] = points[k][next[k] - 1];
            if t1 <= t { h1 } else { h0 + (h1 - h0) * (t - t0) / (t1 - t0) }
        };
        let apart = height(0, x) - height(1, y);
        area += (t - before[0]) * mean_size(before[1], apart);
        before = [t, apart];
        next = [next[0] + usize::from(x[0] <= t), next[1] + usize::from(y[0] <= t)];
        if next[0].is_multiple_of(CHUNK) {
            ctx.check()?;
        }
    }
    Ok(2.0 * share * area)
}

/// The mean absolute value between x and y.
fn mean_size(x: f64, y: f64) -> f64 {
    let sum = x.abs() + y.abs();
    if x * y >= 0.0 { sum / 2.0 } else { (x * x + y * y) / (2.0 * sum) }
}
