//! Limits of a mean over the positives of what each gains by its place in the ranking, by the distribution of the
//! estimate on binormal curves.
//!
//! On the curve `R(x) = Phi(a + b Phi^-1(x))` positives are a + Z and negatives b W, of standard normal Z and W. Of every
//! draw of m + n of them the mean increases with a, so there is a first a at which draw j reaches the estimate, and a
//! last a at which it does not exceed it. What the mean is with all positives first is added exactly, or the ranks that
//! are not drawn would count where the classes are nearly separated.

use super::normal::{self, LANES, exponentials, logarithms};
use super::{NODES, quadrature, quantile};
use crate::simd::fast;
use crate::{Ctx, Error, Result};

const FIRST: f64 = -4.0; // deviates of negatives are rounded to a cell
const LAST: f64 = 6.0;
const CELLS: usize = 1000;
const ROOM: usize = 1024; // for the cells
const WIDE: usize = 32; // cells that are filled at once
const ROUND: f32 = 8388608.0; // a whole number that is added to it is in the last bits
const EDGE: f64 = 14.0; // |a|: beyond it all rates are 0 or 1
const STEPS: u32 = 1 << 16; // between the edges, in which a is found
const FLAT: f64 = 1e-4; // about the change of a mean by such a step
const SOME: usize = 16; // negatives that positives pass between both ends of a search
const WIDEN: f64 = 1.25; // a step to the other side
const ROUNDING: f64 = 0.02; // of a step, and as much times the slope
const TRIES: u32 = 12; // before bisection
const CLOSE: f64 = 1e-6; // to the estimate
const LEVELS: usize = 121; // normal quantiles of limits, from the least on in steps
const LOWEST: f64 = -3.0;
const STEP: f64 = 0.05;
const LEAST: f64 = 1e-15; // shares with finite probits
const LEARNT: usize = 300; // draws that show how heights depend on them
const LOOSE: f64 = 1e3; // the variance of what they show before the first
const AT_ONCE: usize = 50; // draws between two looks at the stop flag

/// What a positive gains, by the shares of the positives at or above it and of the negatives above it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gain {
    /// The precision at this prevalence.
    Precision(f64),
    /// The share of the logarithm of the false positive rate above its own, between two rates.
    Log(f64, f64),
    /// `top exp(-alpha (prevalence tpr + (1 - prevalence) fpr)) - base`.
    Early {
        /// The decay.
        alpha: f64,
        /// The share of the positives.
        prevalence: f64,
        /// The gain of the first sample, but for the base.
        top: f64,
        /// What is subtracted.
        base: f64,
    },
}

impl Gain {
    /// The gain at two shares.
    #[inline(always)]
    pub fn of(self, tpr: f64, fpr: f64) -> f64 {
        match self {
            Gain::Precision(pi) => pi * tpr / (pi * tpr + (1.0 - pi) * fpr),
            Gain::Log(low, high) => (high / fpr.clamp(low, high)).ln() / (high / low).ln(),
            Gain::Early { alpha, prevalence, top, base } => {
                top * (-alpha * (prevalence * tpr + (1.0 - prevalence) * fpr)).exp() - base
            }
        }
    }

    /// What gains by logarithms are multiplied by.
    fn scale(self) -> f64 {
        if let Gain::Log(low, high) = self { 1.0 / (high / low).ln() } else { 1.0 }
    }

    /// The gains of some positives.
    #[inline(always)]
    fn of_lanes(self, scale: f64, tpr: &[f64; LANES], fpr: [f64; LANES]) -> [f64; LANES] {
        let mut found = fpr;
        match self {
            Gain::Precision(pi) => {
                for (found, &tpr) in found.iter_mut().zip(tpr) {
                    *found = pi * tpr / (pi * tpr + (1.0 - pi) * *found);
                }
            }
            Gain::Early { alpha, prevalence, top, base } => {
                for (found, tpr) in found.iter_mut().zip(tpr) {
                    *found = f64::max(-alpha * (prevalence * tpr + (1.0 - prevalence) * *found), normal::LOWEST);
                }
                found = exponentials(found).map(|power| top * power - base);
            }
            Gain::Log(low, high) => {
                found = logarithms(found.map(|fpr| high / fpr.clamp(low, high))).map(|log| log * scale);
            }
        }
        found
    }
}

/// Places of positives, in groups for which a gain is computed at once.
struct Places {
    gain: Gain,
    scale: f64,
    tpr: Vec<[f64; LANES]>,
    weights: Vec<[f64; LANES]>,
}

impl Places {
    fn new(gain: Gain, tpr: &[f64], weights: &[f64]) -> Self {
        Self { gain, scale: gain.scale(), tpr: padded(tpr, 1.0), weights: padded(weights, 0.0) }
    }

    /// The mean gain, by the false positive rates of every group.
    #[inline(always)]
    fn mean(&self, mut fpr: impl FnMut(usize) -> [f64; LANES]) -> f64 {
        let mut sums = [0.0; LANES];
        for (k, (tpr, weights)) in self.tpr.iter().zip(&self.weights).enumerate() {
            let gains = self.gain.of_lanes(self.scale, tpr, fpr(k));
            for ((sum, weight), gain) in sums.iter_mut().zip(weights).zip(gains) {
                *sum += weight * gain;
            }
        }
        sums.iter().sum()
    }
}

/// Numbers in groups, the last filled up.
fn padded<T: Copy>(numbers: &[T], with: T) -> Vec<[T; LANES]> {
    numbers.chunks(LANES).map(|group| std::array::from_fn(|k| *group.get(k).unwrap_or(&with))).collect()
}

/// Draws of the order statistics of both classes at some ranks, as normal deviates, the greatest first, and the
/// logarithm of every draw's slope over the fitted one.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Draws<'a> {
    pub n_pos: usize,
    /// Shares of the positives at or above the ranks, and that each rank stands for.
    pub tpr: &'a [f64],
    pub weights: &'a [f64],
    /// Of shape (n_draws, n_ranks).
    pub positives: &'a [f64],
    /// Shares of the negatives that each rank stands for.
    pub jumps: &'a [f64],
    pub negatives: &'a [f64],
    pub log_slopes: &'a [f64],
}

/// True shares on the curves of all draws: their variance, and the normal quantiles of their quantiles, of the first
/// curves and of the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The variance of the shares on the first and the last curves together.
    pub variance: f64,
    /// Normal quantiles of the shares on the first curves, at normal quantiles from -3 to 3.
    pub low: Vec<f64>,
    /// The same on the last.
    pub high: Vec<f64>,
}

/// The [`Table`] of shares.
pub fn table(first: &[f64], last: &[f64]) -> Table {
    let n = (first.len() + last.len()) as f64;
    let both = || first.iter().chain(last);
    let mean = both().sum::<f64>() / n;
    let variance = both().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    let of = |values: &[f64]| {
        let mut ordered = values.to_vec();
        ordered.sort_unstable_by(f64::total_cmp);
        let level = |k| {
            let place = super::cdf(LOWEST + STEP * k as f64) * (ordered.len() - 1) as f64;
            let (low, part) = (place.floor() as usize, place.fract());
            let (low, high) = (ordered[low], ordered[usize::min(low + 1, ordered.len() - 1)]);
            quantile((low + part * (high - low)).clamp(LEAST, 1.0 - LEAST))
        };
        (0..LEVELS).map(level).collect()
    };
    let low: Vec<f64> = of(first);
    Table { variance, high: if first == last { low.clone() } else { of(last) }, low }
}

/// The search for the height of one draw after another.
struct Search {
    left_out: f64,
    /// The mean with all positives first.
    most: f64,
    /// What the places of every group add to the mean, by the number of drawn negatives that are not above it.
    parts: Vec<Vec<[f64; LANES]>>,
    /// The number of drawn negatives below the cells of the grid of their deviates, and the first cell above each.
    below: [u16; ROOM + WIDE],
    above: Vec<f32>,
    /// Cells of the positives, in groups, and those they are moved to.
    cells: Vec<[f32; LANES]>,
    moved: Vec<[u32; LANES]>,
    /// How many negatives each of them passes, at the height at hand and at both ends of the search.
    passed: Vec<[u16; LANES]>,
    ends: [Vec<[u16; LANES]>; 2],
    /// Cells per unit of a.
    unit: f64,
    /// The change of the mean by a step between the edges, as it was for the last draw.
    rise: f64,
}

impl Search {
    fn new(gain: Gain, draws: &Draws<'_>) -> Self {
        let m = draws.n_pos as f64;
        let (mut sum, mut shares) = (0.0, vec![0.0]);
        for jump in draws.jumps {
            sum += jump;
            shares.push(f64::from(sum as f32));
        }
        let groups = Places::new(gain, draws.tpr, draws.weights);
        let part = |tpr, weights: &[f64; LANES], fpr| {
            let mut found = gain.of_lanes(groups.scale, tpr, [fpr; LANES]);
            found.iter_mut().zip(weights).for_each(|(part, weight)| *part *= weight);
            found
        };
        let of_group = |(tpr, weights)| shares.iter().rev().map(|&fpr| part(tpr, weights, fpr)).collect::<Vec<_>>();
        let parts: Vec<_> = groups.tpr.iter().zip(&groups.weights).map(of_group).collect();
        let most = (1..=draws.n_pos).map(|k| gain.of(k as f64 / m, 0.0)).sum::<f64>() / m;
        let left_out = most - groups.mean(|_| [0.0; LANES]);
        let [passed, first, last] = [(); 3].map(|()| vec![[0; LANES]; parts.len()]);
        Self {
            left_out,
            most,
            below: [0; ROOM + WIDE],
            above: vec![0.0; draws.jumps.len()],
            cells: vec![[f32::NEG_INFINITY; LANES]; parts.len()],
            moved: vec![[0; LANES]; parts.len()],
            parts,
            passed,
            ends: [first, last],
            unit: 1.0,
            rise: FLAT,
        }
    }

    /// Takes up the negatives of a draw, the greatest first: how many lie below every cell.
    fn count(&mut self, negatives: &[f64]) {
        let (above, below) = (&mut self.above, &mut self.below);
        fast!({
            for (above, deviate) in above.iter_mut().zip(negatives) {
                let cell = (deviate - FIRST) * (CELLS as f64 / (LAST - FIRST));
                *above = (cell.clamp(0.0, (CELLS - 1) as f64).floor() + 1.0) as f32;
            }
            let mut from = 0;
            let mut fill = |to: usize, number: usize| {
                loop {
                    below[from..from + WIDE].fill(number as u16);
                    from += WIDE;
                    if from >= to {
                        break from = to;
                    }
                }
            };
            for (number, above) in above.iter().rev().enumerate() {
                fill((above + ROUND).to_bits() as usize % ROOM, number);
            }
            fill(ROOM, above.len());
        });
    }

    /// Takes up its positives, for the slope of a model.
    fn place(&mut self, positives: &[f64], slope: f64) {
        let (unit, cells) = (CELLS as f64 / ((LAST - FIRST) * slope), self.cells.as_flattened_mut());
        self.unit = unit;
        fast!({
            for (cell, deviate) in cells.iter_mut().zip(positives) {
                *cell = (deviate * unit - FIRST * CELLS as f64 / (LAST - FIRST) + 0.5) as f32;
            }
        });
    }

    /// The mean at a height.
    #[inline(always)]
    fn at(&mut self, a: f64) -> f64 {
        let by = (a * self.unit) as f32;
        for (moved, cell) in self.moved.as_flattened_mut().iter_mut().zip(self.cells.as_flattened()) {
            *moved = ((cell + by).clamp(0.0, (CELLS - 1) as f32).floor() + ROUND).to_bits();
        }
        let mut sums = [0.0; LANES];
        for ((moved, passed), parts) in self.moved.iter().zip(&mut self.passed).zip(&self.parts) {
            for lane in 0..LANES {
                passed[lane] = self.below[moved[lane] as usize % ROOM];
                sums[lane] += parts[usize::from(passed[lane])][lane];
            }
        }
        self.left_out + sums.iter().sum::<f64>()
    }

    /// The height between both ends of the search from which on the mean is `short` above that of the first end, and by
    /// how much it is then above; None if positives pass many negatives there.
    #[inline(always)]
    fn passing(&self, short: f64) -> Option<[f64; 2]> {
        let (mut by, mut gains, mut n) = ([f64::INFINITY; SOME], [0.0; SOME], 0);
        let passed = |end: usize| self.ends[end].as_flattened().iter();
        let number = passed(0).zip(passed(1)).map(|(first, last)| u32::from(last.wrapping_sub(*first)));
        if number.fold(0u32, u32::wrapping_add) > SOME as u32 {
            return None;
        }
        let groups = self.ends[0].iter().zip(&self.ends[1]).zip(&self.cells).zip(&self.parts);
        for (((first, last), cells), parts) in groups.filter(|(((first, last), _), _)| first != last) {
            for lane in 0..LANES {
                for k in usize::from(first[lane])..usize::from(last[lane]) {
                    by[n] = f64::from(self.above[self.above.len() - 1 - k] - cells[lane]);
                    gains[n] = parts[k + 1][lane] - parts[k][lane];
                    n += 1;
                }
            }
        }
        let (mut least, mut over) = (f64::INFINITY, 0.0);
        let groups = by.as_chunks::<LANES>().0.iter().zip(gains.as_chunks::<LANES>().0).take(n.div_ceil(LANES));
        for &moved in &by[..n] {
            let mut sums = [0.0; LANES];
            for (by, gains) in groups.clone() {
                for lane in 0..LANES {
                    sums[lane] += if by[lane] <= moved { gains[lane] } else { 0.0 };
                }
            }
            let apart = sums.iter().sum::<f64>() - short;
            if apart >= 0.0 && moved < least {
                (least, over) = (moved, apart);
            }
        }
        (over > 0.0).then(|| [least / self.unit, over])
    }

    /// The first height, in steps from `low` to the upper edge, whose mean reaches `goal`, or exceeds it, and by how much
    /// if that is known; the search starts near the height `from`.
    fn first(&mut self, low: f64, from: f64, goal: f64, exceeds: bool) -> (f64, Option<f64>) {
        if goal > self.most || exceeds && goal >= self.most {
            return (EDGE, None);
        }
        fast!({ self.searched(low, from, goal, exceeds) })
    }

    #[inline(always)]
    fn searched(&mut self, low: f64, from: f64, goal: f64, exceeds: bool) -> (f64, Option<f64>) {
        let width = EDGE - low;
        let height = |k: u32| low + f64::from(k) / f64::from(STEPS) * width;
        let step = |height: f64| ((height - low) / width).clamp(0.0, 1.0) * f64::from(STEPS);
        // Steps and gaps at both ends, below 0 at the first.
        let (mut below, mut reached) = ((0, None), (STEPS, None));
        let (mut at, mut widen, mut tried) = ((step(from) as u32).clamp(1, STEPS - 1), WIDEN, 0);
        while reached.0 - below.0 > 1 {
            let apart = self.at(height(at)) - goal;
            let held = if exceeds { apart > 0.0 } else { apart >= 0.0 };
            std::mem::swap(&mut self.passed, &mut self.ends[usize::from(held)]);
            *(if held { &mut reached } else { &mut below }) = (at, Some(apart));
            tried += 1;
            let both = below.1.zip(reached.1);
            at = if let Some([by, over]) = both.and_then(|(under, _)| self.passing(-under)) {
                let place = step(by);
                let rounding = ROUNDING * (1.0 + CELLS as f64 / ((LAST - FIRST) * self.unit));
                if (rounding..1.0 - rounding).contains(&place.fract()) && over > 2.0 * CLOSE {
                    return (height(place.ceil() as u32), Some(over));
                }
                place.ceil() as u32
            } else {
                if let Some((under, over)) = both {
                    (widen, self.rise) = (WIDEN, (over - under) / f64::from(reached.0 - below.0));
                }
                // A step to the other side, of growing length until both are known.
                let way = (widen * apart.abs() / self.rise + 2.0).min(f64::from(STEPS)) as u32;
                widen *= 3.0;
                let next = if held { at.saturating_sub(way) } else { at.saturating_add(way) };
                let inside = below.0 < next && next < reached.0 && tried <= TRIES;
                if both.is_some() && !inside { below.0.midpoint(reached.0) } else { next }
            };
            at = at.clamp(below.0 + 1, u32::max(reached.0 - 1, below.0 + 1));
        }
        (height(reached.0), reached.1)
    }
}

/// What a height depends on nearly as a line: 1, the slope, and of either class the means of the upper and the lower ranks.
type Means = [f64; 6];

/// The line through the heights of the first draws by least squares, one after the other.
struct Line {
    coef: Means,
    /// The inverse of the sum of products.
    spread: [Means; 6],
}

impl Line {
    fn new() -> Self {
        let spread = std::array::from_fn(|j| std::array::from_fn(|k| if j == k { LOOSE } else { 0.0 }));
        Self { coef: Means::default(), spread }
    }

    fn at(&self, x: &Means) -> f64 {
        dot(&self.coef, x)
    }

    fn learn(&mut self, x: &Means, height: f64) {
        let way = self.spread.map(|row| dot(&row, x));
        let (missed, share) = (height - self.at(x), 1.0 / (1.0 + dot(&way, x)));
        for (j, row) in self.spread.iter_mut().enumerate() {
            self.coef[j] += share * missed * way[j];
            row.iter_mut().zip(way).for_each(|(product, other)| *product -= share * way[j] * other);
        }
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// What is found draw by draw of a model, by its estimate and the fitted slope of its curve.
struct Found {
    estimate: f64,
    slope: f64,
    line: Line,
    rise: f64,
    first: Vec<f64>,
    last: Vec<f64>,
}

/// The [`Table`] of each model, by its estimate and the fitted slope of its curve; the gains are those of samples and of
/// curves. A draw is taken up once for all models.
///
/// # Errors
/// [`Error::Length`] and [`Error::Domain`] for draws that do not agree, [`Error::Interrupted`].
pub fn mean_tables(
    [gain, of_curves]: [Gain; 2],
    draws: Draws<'_>,
    models: &[[f64; 2]],
    ctx: &Ctx<'_>,
) -> Result<Vec<Table>> {
    let (n_ranks, n_negatives, n_draws) = (draws.tpr.len(), draws.jumps.len(), draws.log_slopes.len());
    Error::check_len("weights", n_ranks, draws.weights.len())?;
    Error::check_len("positives", n_ranks * n_draws, draws.positives.len())?;
    Error::check_len("negatives", n_negatives * n_draws, draws.negatives.len())?;
    Error::check_number("draws", "at least one of each class", n_draws as f64, n_draws * n_ranks * n_negatives > 0)?;
    Error::check_number("negatives", "ranks below 2^16", n_negatives as f64, n_negatives < 1 << 16)?;
    let mut search = Search::new(gain, &draws);
    let (nodes, weights): (Vec<f64>, Vec<f64>) = quadrature(0.0, 1.0).unzip();
    let above: [f64; NODES] = std::array::from_fn(|k| quantile(nodes[k]));
    let nodes = Places::new(of_curves, &nodes, &weights);
    let of_curve = |a: f64, b: f64| {
        // The false positive rate where the true one is a node: Phi((Phi^-1(tpr) - a) / b)
        let (nodes, mut at, shift, scale) = (&nodes, above, -a / b, 1.0 / b);
        fast!({
            at.iter_mut().for_each(|x| *x = shift + scale * *x);
            let fpr = normal::cdfs(at);
            nodes.mean(|k| fpr.as_chunks().0[k])
        })
    };
    let found = |&[estimate, slope]: &[f64; 2]| {
        let [first, last] = [(); 2].map(|()| Vec::with_capacity(n_draws));
        Found { estimate, slope, line: Line::new(), rise: FLAT, first, last }
    };
    let mut models: Vec<_> = models.iter().map(found).collect();
    let rows = draws.positives.chunks_exact(n_ranks).zip(draws.negatives.chunks_exact(n_negatives));
    for (j, ((positives, negatives), log_slope)) in rows.zip(draws.log_slopes).enumerate() {
        if j % AT_ONCE == 0 {
            ctx.check()?;
        }
        let spread = log_slope.exp();
        let means = [positives, negatives].map(|class| {
            let (upper, lower) = class.split_at(class.len().div_ceil(2));
            [upper, lower].map(|ranks| ranks.iter().sum::<f64>() / ranks.len().max(1) as f64)
        });
        search.count(negatives);
        for model in &mut models {
            let b = model.slope * spread;
            search.place(positives, b);
            search.rise = model.rise;
            let [[p, q], [v, w]] = means;
            let x = [1.0, b, p, q, b * v, b * w];
            let (a, beyond) = search.first(-EDGE, model.line.at(&x), model.estimate - CLOSE, false);
            if j < LEARNT && beyond.is_some() {
                model.line.learn(&x, a);
            }
            let value = of_curve(a, b);
            model.first.push(value);
            model.last.push(value);
            if beyond.is_none_or(|beyond| beyond <= 2.0 * CLOSE) {
                let (a, _) = search.first(a, a, model.estimate + CLOSE, true);
                model.last[j] = of_curve(a, b);
            }
            model.rise = search.rise;
        }
    }
    Ok(models.iter().map(|model| table(&model.first, &model.last)).collect())
}
