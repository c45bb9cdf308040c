//! Distances of bootstrap ROC curves from the curve that they are drawn from.
//!
//! A move along `(-1 / sqrt(n), 1 / sqrt(m))` in (FPR, TPR), of m positives and n negatives, keeps `p = sqrt(n) FPR +
//! sqrt(m) TPR` and adds 2 to `q = sqrt(m) TPR - sqrt(n) FPR`. Curves are functions q of p with slopes from -1 to 1, so
//! the least c whose moves reach from one to the other is half the greatest distance of two such functions. Both are
//! straight between the distinct scores, so it is reached at one of these.

use std::ops::Range;

use super::bootstrap::{Model, Resampling, rows, strata};
use super::multinomial::{Draws, Stream};
use super::ranks::{Sequence, totals};
use crate::curve::walk::Step;
use crate::{Ctx, Error, Result};

/// The ranks whose counts are summed at once.
const BLOCK: usize = 48;

/// A curve, turned: p and q at the distinct scores, from the corner on.
struct Turned {
    p: Vec<f64>,
    q: Vec<f64>,
    /// The number of positives and of negatives at every distinct score, and its blocks: distinct scores and ranks.
    steps: Vec<[usize; 2]>,
    blocks: Vec<[Range<usize>; 2]>,
    classes: Vec<u8>,
    /// `1 / sqrt` of the number of positives and of negatives.
    scales: [f64; 2],
}

impl Turned {
    fn new(steps: &[Step], classes: Vec<u8>) -> Self {
        let steps: Vec<_> = steps.iter().map(|step| [step.pos as usize, step.neg as usize]).collect();
        let sizes = [0, 1].map(|class| steps.iter().map(|step| step[class]).sum::<usize>());
        let scales = sizes.map(|size| 1.0 / (size as f64).sqrt());
        let mut found = Self { p: vec![0.0], q: vec![0.0], steps, blocks: vec![], classes, scales };
        let (mut at, mut first) = ([0, 0], [0, 0]);
        for (k, step) in found.steps.iter().enumerate() {
            at = [at[0] + step[0], at[1] + step[1]];
            let [p, q] = found.turn(at.map(|count| count as u64));
            found.p.push(p);
            found.q.push(q);
            let last = [k + 1, at[0] + at[1]];
            if last[1] - first[1] >= BLOCK || last[0] == found.steps.len() {
                found.blocks.push([first[0]..last[0], first[1]..last[1]]);
                first = last;
            }
        }
        found
    }

    /// p and q above which so many positives and negatives lie.
    fn turn(&self, [pos, neg]: [u64; 2]) -> [f64; 2] {
        let (up, right) = (pos as f64 * self.scales[0], neg as f64 * self.scales[1]);
        [right + up, up - right]
    }

    /// q at p, between the places k - 1 and k.
    fn between(&self, k: usize, p: f64) -> f64 {
        let k = k.clamp(1, self.p.len() - 1);
        let slope = (self.q[k] - self.q[k - 1]) / (self.p[k] - self.p[k - 1]);
        self.q[k - 1] + slope * (p - self.p[k - 1])
    }

    /// The first place from `from` on beyond p.
    fn beyond(&self, p: f64, from: usize) -> usize {
        let mut reach = 1;
        while from + reach < self.p.len() && self.p[from + reach] <= p {
            reach *= 2;
        }
        let end = usize::min(from + reach, self.p.len());
        from + self.p[from..end].partition_point(|&at| at <= p)
    }

    /// Half the greatest distance of the curve of samples that are drawn `counts` times, by rank.
    ///
    /// Between two ends of a block a distance grows by at most twice the way, so most blocks are not looked into.
    fn distance(&self, counts: &[u8]) -> f64 {
        let mut ends = Vec::with_capacity(self.blocks.len() + 1);
        let (mut at, mut place, mut most) = ([0, 0], 0, 0.0);
        ends.push((at, [0.0, 0.0], 0.0, 0));
        for [_, ranks] in &self.blocks {
            let drawn = totals(&counts[ranks.clone()], &self.classes[ranks.clone()]);
            at = [at[0] + drawn[0], at[1] + drawn[1]];
            let [p, q] = self.turn(at);
            place = self.beyond(p, place);
            let apart = (self.between(place, p) - q).abs();
            most = f64::max(most, apart);
            ends.push((at, [p, q], apart, place));
        }
        for ([steps, ranks], two) in self.blocks.iter().zip(ends.windows(2)) {
            let ((from, start, before, place), (_, end, after, _)) = (two[0], two[1]);
            if (before + after) / 2.0 + end[0] - start[0] > most {
                most = f64::max(most, self.within(steps.clone(), &counts[ranks.clone()], from, start, place));
            }
        }
        most / 2.0
    }

    /// The greatest distance within a block, from the counts and the point at its start on.
    fn within(
        &self,
        steps: Range<usize>,
        mut counts: &[u8],
        mut at: [u64; 2],
        mut start: [f64; 2],
        mut place: usize,
    ) -> f64 {
        let mut most = 0.0;
        for step in &self.steps[steps] {
            for (drawn, &size) in at.iter_mut().zip(step) {
                let (own, rest) = counts.split_at(size);
                *drawn += own.iter().map(|&count| u64::from(count)).sum::<u64>();
                counts = rest;
            }
            let end = self.turn(at);
            if end[0] == start[0] {
                continue;
            }
            let slope = (end[1] - start[1]) / (end[0] - start[0]);
            while place < self.p.len() && self.p[place] <= end[0] {
                most = f64::max(most, (start[1] + slope * (self.p[place] - start[0]) - self.q[place]).abs());
                place += 1;
            }
            most = f64::max(most, (self.between(place, end[0]) - end[1]).abs());
            start = end;
        }
        most
    }
}

/// Half the greatest distances, in c, of bootstrap curves from the curve of these distinct scores, the highest first.
///
/// Samples are drawn within either class. O(n) a replicate, half of it to draw.
///
/// # Errors
/// [`Error::Domain`] for no replicates; [`Error::OneClass`] without samples of both classes.
pub fn band_distances(steps: &[Step], resampling: Resampling, ctx: &Ctx<'_>) -> Result<Vec<f64>> {
    Error::check_count("n_resamples", resampling.n_resamples)?;
    let classes = Sequence::of_steps(steps).classes;
    let draws = Draws::new(strata(&classes, resampling.scheme));
    let model = Model { walk: Turned::new(steps, classes.clone()), order: None };
    let fill = |stream: &mut Stream, counts: &mut [u8]| draws.fill(stream, counts, ctx);
    rows(&[model], &classes, resampling, fill, |curve: &Turned, counts, _| Ok(curve.distance(counts)), ctx)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    /// The greatest distance at the corners of both curves.
    fn naive(steps: &[[u64; 2]], drawn: &[[u64; 2]]) -> f64 {
        let points = |parts: &[[u64; 2]]| {
            let sizes = [0, 1].map(|class| (steps.iter().map(|step| step[class]).sum::<u64>() as f64).sqrt());
            let (mut at, mut found) = ([0.0, 0.0], vec![[0.0, 0.0]]);
            for part in parts {
                at = [0, 1].map(|class| at[class] + part[class] as f64 / sizes[class]);
                found.push([at[1] + at[0], at[0] - at[1]]);
            }
            found.dedup();
            found
        };
        let height = |curve: &[[f64; 2]], p: f64| {
            let k = curve.iter().position(|point| point[0] >= p).unwrap_or(curve.len() - 1).max(1);
            let ([x, y], [u, v]) = (curve[k - 1], curve[k]);
            y + (p - x) / (u - x) * (v - y)
        };
        let (own, other) = (points(steps), points(drawn));
        let apart = |of: &[[f64; 2]], from: &[[f64; 2]]| {
            of.iter().map(|point| (height(from, point[0]) - point[1]).abs()).fold(0.0, f64::max)
        };
        f64::max(apart(&own, &other), apart(&other, &own)) / 2.0
    }

    #[test]
    fn distances_are_those_at_all_corners() {
        let mut next = uniform(5);
        for (n_steps, ties) in [(2, 1.0), (7, 3.0), (40, 1.5), (300, 1.0), (900, 1.0), (900, 2.5), (300, 90.0)] {
            let one = |next: &mut dyn FnMut() -> f64| if next() < 0.4 { [1, 0] } else { [0, 1] };
            let mut sizes: Vec<[u64; 2]> = (0..n_steps).map(|_| one(&mut next)).collect();
            sizes.iter_mut().flatten().for_each(|size| *size += (ties * next()) as u64);
            (sizes[0], sizes[1]) = ([1, 0], [0, 1]);
            let step = |&[pos, neg]: &[u64; 2]| Step { score: 0.0, pos: pos as f64, neg: neg as f64 };
            let steps: Vec<Step> = sizes.iter().map(step).collect();
            let classes = Sequence::of_steps(&steps).classes;
            let draws = Draws::new(classes.clone());
            let curve = Turned::new(&steps, classes);
            let mut counts = vec![0; curve.classes.len()];
            for replicate in 0..20 {
                draws.fill(&mut Stream::new(1, replicate), &mut counts, &Ctx::serial()).unwrap();
                let mut rest = counts.iter().map(|&count| u64::from(count));
                let mut next = |size: u64| rest.by_ref().take(size as usize).sum();
                let drawn: Vec<[u64; 2]> = sizes.iter().map(|size| size.map(&mut next)).collect();
                let (found, expected) = (curve.distance(&counts), naive(&sizes, &drawn));
                assert!((found - expected).abs() < 1e-9, "{n_steps} {ties}: {found} {expected}");
            }
        }
    }
}
