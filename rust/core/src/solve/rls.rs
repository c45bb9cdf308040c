//! Leave-pair-out cross-validation of regularised least squares: one comparison per pair, without retraining.
//!
//! AUC-RLS and RLS are Gaussian regressions whose noise covariance S restricts to every subset of the samples, so that
//! holding samples out is marginalisation. With `P` the inverse of `K + lambda S` (bordered by the free shift of
//! AUC-RLS) and `c = P y`, the model trained without the pair (i, j) has
//!
//! `f_i - f_j = 2 - g_i + g_j + 2 k (tau - c_i g_i - c_j g_j)`, where `g = P_BB^-1 c_B`, `B = {i, j}`, `tau = y'c`
//!
//! and `k = lambda / (4 (m - 1) (n - 1))` for AUC-RLS, 0 for RLS. Multiplied by `det P_BB > 0` this is a quadratic in
//! `P_ij`, so the sign costs about ten multiplications and no division.
//!
//! Most of the work is the matrix product that forms `P_ij` for all pairs. Single precision takes half the time and
//! decides nearly every sign, since its error is bounded; for the few pairs in doubt `P_ij` is computed in double
//! precision. So outcomes are those of double precision. The caller computes the product, one [`Cross`] tile at a time.

use crate::{Ctx, Error, Result};

/// Held-out scores closer than this, relative to the terms of their difference, are tied: what is equal in exact
/// arithmetic, such as the scores of a model that is zero, is computed only up to rounding.
const TIE: f64 = 1e-11;
/// Positives between two checks of the stop flag.
const ROWS: usize = 1 << 4;
/// The unit roundoff of single precision.
const ROUNDOFF: f64 = 1.0 / (1 << 24) as f64;
/// The error by underflow in a product of rows and columns with entries of at most 1.
const UNDERFLOW: f64 = 1e-30;
/// Partial sums of a row, enough for the compiler to vectorise.
const LANES: usize = 8;

/// The terms of the pair formula for one class.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// `P_ii`, positive.
    pub diagonal: &'a [f64],
    /// `c_i`.
    pub coef: &'a [f64],
    /// The weight of the sample in its pairs.
    pub weight: &'a [f64],
    /// Their product for a pair bounds the sum of `|p_ik q_jk|` over the factors of [`Cross`].
    pub norm: &'a [f64],
    /// A number that equal inputs share: they are tied, however much rounding a tiny lambda amplifies.
    pub row: &'a [i64],
}

/// `P_ij = base + p_i' q_j` for a tile of positives i and all negatives j.
#[derive(Debug, Clone, Copy)]
pub struct Cross<'a> {
    /// `p_i' q_j / unit` by rows: the single-precision product of the factors divided by their largest entries.
    pub coarse: &'a [f32],
    /// The product of the largest entries of the two factors.
    pub unit: f64,
    /// An offset of every product.
    pub base: f64,
    /// The factor of the positives by rows, `rank` numbers each.
    pub rows: &'a [f64],
    /// The factor of the negatives by rows.
    pub cols: &'a [f64],
    /// Length of the rows of both factors.
    pub rank: usize,
}

impl Cross<'_> {
    fn check(&self, m: usize, n: usize) -> Result<()> {
        Error::check_len("coarse", m * n, self.coarse.len())?;
        Error::check_len("rows", m * self.rank, self.rows.len())?;
        Error::check_len("cols", n * self.rank, self.cols.len())
    }

    fn exact(&self, i: usize, j: usize) -> f64 {
        let row = &self.rows[i * self.rank..(i + 1) * self.rank];
        let col = &self.cols[j * self.rank..(j + 1) * self.rank];
        let (mut lanes, mut rest) = ([0.0; LANES], 0.0);
        let (row, col) = (row.chunks_exact(LANES), col.chunks_exact(LANES));
        for (x, y) in row.remainder().iter().zip(col.remainder()) {
            rest += x * y;
        }
        for (x, y) in row.zip(col) {
            for k in 0..LANES {
                lanes[k] += x[k] * y[k];
            }
        }
        self.base + rest + lanes.iter().sum::<f64>()
    }
}

impl Side<'_> {
    fn check(&self, name: &'static str) -> Result<usize> {
        let n = self.diagonal.len();
        Error::check_len(name, n, self.coef.len())?;
        Error::check_len(name, n, self.weight.len())?;
        Error::check_len(name, n, self.norm.len())?;
        Error::check_len(name, n, self.row.len())?;
        for values in [self.diagonal, self.coef, self.weight, self.norm] {
            if !values.iter().all(|v| v.is_finite()) {
                return Err(Error::first_non_finite(name, values));
            }
        }
        Ok(n)
    }
}

/// For every positive the weight of the negatives it beats when both are held out, and for every negative the weight of
/// the positives that beat it; ties count 1/2.
///
/// `coupling` is k and `tau` is y'c of the module's formula. With unit weights all sums are whole halves, hence exact.
/// O(m n), and O(rank) for each pair in doubt; memory at most that of the tile. The same bits for any number of
/// threads.
///
/// # Errors
/// [`Error::Length`] and [`Error::NonFinite`] for bad input, [`Error::Interrupted`].
pub fn leave_pair_out(
    cross: Cross<'_>,
    pos: Side<'_>,
    neg: Side<'_>,
    coupling: f64,
    tau: f64,
    ctx: &Ctx<'_>,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let (m, n) = (pos.check("pos")?, neg.check("neg")?);
    cross.check(m, n)?;
    let scale = 1.0 + coupling * tau;
    let relative = (cross.rank as f64 + 4.0) * ROUNDOFF;
    let negatives = (0..n)
        .map(|j| {
            let (p, c) = (neg.diagonal[j], neg.coef[j]);
            let slack = relative * neg.norm[j];
            Negative { p, c, own: c - 2.0 * coupling * c * c, weight: neg.weight[j], slack, row: neg.row[j] }
        })
        .collect::<Vec<_>>();
    let chunks = (0..m).step_by(ROWS).map(|first| first..(first + ROWS).min(m)).collect();
    let parts = ctx.map(chunks, |chunk: std::ops::Range<usize>| {
        let mut won = Vec::with_capacity(chunk.len());
        let mut lost = vec![0.0; n];
        for i in chunk {
            let c = pos.coef[i];
            let own = -c - 2.0 * coupling * c * c;
            let (p, norm, row) = (pos.diagonal[i], pos.norm[i], pos.row[i]);
            let positive = Positive { i, p, c, own, coupling, scale, norm, row };
            won.push(positive.row(&cross, &negatives, pos.weight[i], &mut lost));
        }
        (won, lost)
    })?;
    let (mut won, mut lost) = (Vec::with_capacity(m), vec![0.0; n]);
    for (won_part, lost_part) in parts {
        won.extend(won_part);
        lost.iter_mut().zip(lost_part).for_each(|(sum, part)| *sum += part);
    }
    Ok((won, lost))
}

#[derive(Clone, Copy)]
struct Negative {
    p: f64,
    c: f64,
    own: f64,
    weight: f64,
    slack: f64,
    row: i64,
}

#[derive(Clone, Copy)]
struct Positive {
    i: usize,
    p: f64,
    c: f64,
    own: f64,
    coupling: f64,
    scale: f64,
    norm: f64,
    row: i64,
}

impl Positive {
    /// A multiple of `f_i - f_j`, the rounding of its terms, and a bound of its slope in `P_ij` on `x` and nearby.
    #[inline(always)]
    fn margin(&self, neg: Negative, x: f64) -> (f64, f64, f64) {
        let both = 2.0 * self.scale * self.p * neg.p;
        let (mine, theirs) = (self.own * neg.p, neg.own * self.p);
        let linear = neg.c - self.c + 4.0 * self.coupling * self.c * neg.c;
        let curved = 2.0 * self.scale * x;
        let margin = both + mine + theirs + (linear - curved) * x;
        (margin, TIE * (both.abs() + mine.abs() + theirs.abs()), linear.abs() + 2.0 * curved.abs())
    }

    fn row(&self, cross: &Cross<'_>, negatives: &[Negative], weight: f64, lost: &mut [f64]) -> f64 {
        let n = negatives.len();
        let coarse = &cross.coarse[self.i * n..(self.i + 1) * n];
        let curvature = 2.0 * self.scale.abs();
        let mut lanes = [0.0; LANES];
        let mut one = |lane: &mut f64, j: usize| {
            let neg = negatives[j];
            let error = self.norm * neg.slack + UNDERFLOW * cross.unit;
            let (mut margin, mut rounding, slope) = self.margin(neg, cross.base + cross.unit * f64::from(coarse[j]));
            // NaN is in doubt too.
            let certain = margin.abs() > rounding + error * (slope + curvature * error);
            if !certain {
                (margin, rounding, _) = self.margin(neg, cross.exact(self.i, j));
            }
            margin = if neg.row == self.row { 0.0 } else { margin };
            let outcome = 0.5 * f64::from(u8::from(margin > rounding)) + 0.5 * f64::from(u8::from(margin >= -rounding));
            *lane += outcome * neg.weight;
            lost[j] += outcome * weight;
        };
        let whole = n - n % LANES;
        for first in (0..whole).step_by(LANES) {
            for (k, lane) in lanes.iter_mut().enumerate() {
                one(lane, first + k);
            }
        }
        for j in whole..n {
            one(&mut lanes[j - whole], j);
        }
        lanes.iter().sum()
    }
}
