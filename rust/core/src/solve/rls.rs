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

/// Held-out scores closer than this, relative to the terms of their difference, are tied: equal inputs get equal scores
/// only up to rounding.
const TIE: f64 = 1e-11;
/// Pairs between two checks of the stop flag.
const PAIRS: usize = 1 << 16;
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
            Negative { p, c, own: c - 2.0 * coupling * c * c, weight: neg.weight[j], slack }
        })
        .collect::<Vec<_>>();
    let rows = (PAIRS / n.max(1)).max(1);
    let chunks = (0..m).step_by(rows).map(|first| first..(first + rows).min(m)).collect();
    let parts = ctx.map(chunks, |chunk: std::ops::Range<usize>| {
        let mut won = Vec::with_capacity(chunk.len());
        let mut lost = vec![0.0; n];
        for i in chunk {
            let c = pos.coef[i];
            let own = -c - 2.0 * coupling * c * c;
            let positive = Positive { i, p: pos.diagonal[i], c, own, coupling, scale, norm: pos.norm[i] };
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::naive;

    /// Numbers of one class: diagonal, coefficient, weight, and the rows of a factor.
    #[derive(Debug, Clone)]
    struct Class {
        diagonal: Vec<f64>,
        coef: Vec<f64>,
        weight: Vec<f64>,
        factor: Vec<f64>,
        norm: Vec<f64>,
    }

    impl Class {
        fn new(rank: usize, diagonal: Vec<f64>, coef: Vec<f64>, weight: Vec<f64>, factor: Vec<f64>) -> Self {
            let norm = factor.chunks(rank).map(|row| row.iter().map(|x| x * x).sum::<f64>().sqrt()).collect();
            Self { diagonal, coef, weight, factor, norm }
        }

        fn side(&self) -> Side<'_> {
            Side { diagonal: &self.diagonal, coef: &self.coef, weight: &self.weight, norm: &self.norm }
        }
    }

    fn coarse(pos: &Class, neg: &Class, rank: usize) -> Vec<f32> {
        let single = |class: &Class| class.factor.iter().map(|&x| x as f32).collect::<Vec<_>>();
        let (rows, cols) = (single(pos), single(neg));
        let product = |row: &[f32], col: &[f32]| row.iter().zip(col).map(|(x, y)| x * y).sum::<f32>();
        rows.chunks(rank).flat_map(|row| cols.chunks(rank).map(move |col| product(row, col))).collect()
    }

    fn run(
        pos: &Class,
        neg: &Class,
        rank: usize,
        coupling: f64,
        tau: f64,
        ctx: &Ctx<'_>,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let tile = coarse(pos, neg, rank);
        let cross = Cross { coarse: &tile, unit: 1.0, base: 0.0, rows: &pos.factor, cols: &neg.factor, rank };
        leave_pair_out(cross, pos.side(), neg.side(), coupling, tau, ctx)
    }

    fn column(n: usize, low: f64, high: f64) -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(low..high, n)
    }

    fn class(n: usize, rank: usize) -> impl Strategy<Value = Class> {
        (
            column(n, 1.0, 3.0),
            column(n, -2.0, 2.0),
            column(n, 0.5, 2.0),
            column(n * rank, -0.8 / (rank as f64).sqrt(), 0.8 / (rank as f64).sqrt()),
        )
            .prop_map(move |(diagonal, coef, weight, factor)| Class::new(rank, diagonal, coef, weight, factor))
    }

    proptest! {
        #[test]
        fn agrees_with_a_solve_for_each_pair(
            (rank, pos, neg) in (1usize..12, 1usize..30, 1usize..20)
                .prop_flat_map(|(m, n, rank)| (Just(rank), class(m, rank), class(n, rank))),
            coupling in 0.0..0.1,
            tau in -1.0..3.0,
            (unit, base) in (0.1..9.0, -0.3..0.3),
        ) {
            let tile: Vec<f32> = coarse(&pos, &neg, rank).iter().map(|&x| (f64::from(x) / unit) as f32).collect();
            let cross = Cross { coarse: &tile, unit, base, rows: &pos.factor, cols: &neg.factor, rank };
            let (won, lost) = leave_pair_out(cross, pos.side(), neg.side(), coupling, tau, &Ctx::serial()).unwrap();
            let mut expected = (vec![0.0; won.len()], vec![0.0; lost.len()]);
            for (i, p_i) in pos.factor.chunks(rank).enumerate() {
                for (j, q_j) in neg.factor.chunks(rank).enumerate() {
                    let x = base + p_i.iter().zip(q_j).map(|(p, q)| p * q).sum::<f64>();
                    let p = [[pos.diagonal[i], x], [x, neg.diagonal[j]]];
                    let held_out = naive::held_out_difference(p, [pos.coef[i], neg.coef[j]], coupling, tau);
                    prop_assume!(held_out.abs() > 1e-9);
                    expected.0[i] += f64::from(u8::from(held_out > 0.0)) * neg.weight[j];
                    expected.1[j] += f64::from(u8::from(held_out > 0.0)) * pos.weight[i];
                }
            }
            for (got, want) in won.iter().chain(&lost).zip(expected.0.iter().chain(&expected.1)) {
                prop_assert!((got - want).abs() < 1e-12, "{got} {want}");
            }
        }

        #[test]
        fn rounding_makes_no_difference_of_a_tie(
            (p, c, x) in ([1.0..3.0, 1.0..3.0], [-2.0..2.0, -2.0..2.0], -0.9..0.9),
            coupling in 0.05..0.5,
        ) {
            // The tau for which both held-out scores are equal.
            let (p, c) = (p as [f64; 2], c as [f64; 2]);
            let matrix = [[p[0], x], [x, p[1]]];
            let at_zero = naive::held_out_difference(matrix, c, coupling, 0.0);
            let tau = -at_zero / (2.0 * coupling);
            let class = |k: usize, x: f64| Class::new(1, vec![p[k]], vec![c[k]], vec![1.0], vec![x]);
            let det = p[0] * p[1] - x * x;
            let terms = 1.0 / (1e-3 + (p[0] * p[1] * (1.0 + coupling * tau)).abs() / det);
            prop_assume!(terms < 50.0);
            let (won, lost) = run(&class(0, x), &class(1, 1.0), 1, coupling, tau, &Ctx::serial()).unwrap();
            prop_assert_eq!((won[0], lost[0]), (0.5, 0.5));
        }
    }

    fn pair(coef: f64, product: f64) -> (Class, Class) {
        let class = |c, x| Class::new(1, vec![1.5], vec![c], vec![1.0], vec![x]);
        (class(coef, product), class(-1.0, 1.0))
    }

    #[test]
    fn equal_samples_tie() {
        // g = c / (P_ii - P_ij) = (1, -1): both held-out scores are 0.
        let (pos, neg) = pair(1.0, 0.5);
        assert_eq!(run(&pos, &neg, 1, 0.0, 0.0, &Ctx::serial()).unwrap(), (vec![0.5], vec![0.5]));
    }

    #[test]
    fn single_precision_never_decides_what_it_cannot_see() {
        // One part in 1e9 off the tie: lost in the single-precision product.
        for (shift, outcome) in [(1e-9, 0.0), (-1e-9, 1.0)] {
            let (pos, neg) = pair(1.0, 0.5 + shift);
            assert_eq!(run(&pos, &neg, 1, 0.0, 0.0, &Ctx::serial()).unwrap().0, vec![outcome]);
        }
    }

    #[test]
    fn same_bits_for_any_number_of_threads() {
        let (m, n, rank) = (701, 403, 3);
        let wave = |len: usize, by: f64, to: f64| (0..len).map(|k| to + (k as f64 * by).sin()).collect::<Vec<_>>();
        let pos = Class::new(rank, wave(m, 0.37, 2.0), wave(m, 1.7, 0.5), wave(m, 2.9, 1.1), wave(m * rank, 0.11, 0.0));
        let neg =
            Class::new(rank, wave(n, 0.73, 2.0), wave(n, 1.3, -0.5), wave(n, 3.1, 1.3), wave(n * rank, 0.17, 0.0));
        let serial = run(&pos, &neg, rank, 0.01, 1.0, &Ctx::serial()).unwrap();
        for threads in [2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(run(&pos, &neg, rank, 0.01, 1.0, &Ctx::new(Some(&pool), None)).unwrap(), serial);
        }
    }

    #[test]
    fn refuses_bad_input_and_stops() {
        let (pos, neg) = pair(1.0, 0.5);
        let cross = Cross { coarse: &[], unit: 1.0, base: 0.0, rows: &[0.5], cols: &[1.0], rank: 1 };
        let short = leave_pair_out(cross, pos.side(), neg.side(), 0.0, 0.0, &Ctx::serial());
        assert_eq!(short, Err(Error::Length { name: "coarse", expected: 1, got: 0 }));
        let nan = run(&pair(f64::NAN, 0.5).0, &neg, 1, 0.0, 0.0, &Ctx::serial());
        assert!(matches!(nan, Err(Error::NonFinite { name: "pos", index: 0, .. })));
        let stop = std::sync::atomic::AtomicBool::new(true);
        let stopped = run(&pos, &neg, 1, 0.0, 0.0, &Ctx::new(None, Some(&stop)));
        assert_eq!(stopped, Err(Error::Interrupted));
    }
}
