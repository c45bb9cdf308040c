//! Leave-pair-out cross-validation of regularised least squares: one comparison for each pair, nothing retrained.
//!
//! Both AUC-RLS and RLS are Gaussian regressions whose noise covariance S restricts to every subset of the samples of
//! interest, so that holding samples out is marginalisation: with `P` the inverse of `K + lambda S` (bordered by the free
//! shift of AUC-RLS) and `c = P y`, the model trained without the pair (i, j) has
//!
//! `f_i - f_j = 2 - g_i + g_j + 2 k (tau - c_i g_i - c_j g_j)`, where `g = P_BB^-1 c_B`, `B = {i, j}`, `tau = y'c`
//!
//! and `k = lambda / (4 (m - 1) (n - 1))` for AUC-RLS, 0 for RLS. Multiplied by `det P_BB > 0` this is a quadratic in
//! `P_ij`, so the sign costs about ten multiplications and no division. The caller owns the matrices and hands over the
//! cross block `P_ij` in tiles of rows (positives) by columns (negatives).

use crate::{Ctx, Error, Result};

/// Held-out scores closer than this, relative to the terms of their difference, count as tied: equal inputs get equal
/// scores only up to rounding.
const TIE: f64 = 1e-11;
/// Pairs a worker handles between two looks at the stop flag.
const PAIRS: usize = 1 << 18;
/// Independent partial sums of a row, enough for the compiler to vectorise.
const LANES: usize = 8;

/// What the pair formula needs of the samples of one class, beside the cross block.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// `P_ii`, positive.
    pub diagonal: &'a [f64],
    /// `c_i`.
    pub coef: &'a [f64],
    /// What a pair of this sample weighs.
    pub weight: &'a [f64],
}

impl Side<'_> {
    fn check(&self, name: &'static str) -> Result<usize> {
        let n = self.diagonal.len();
        Error::check_len(name, n, self.coef.len())?;
        Error::check_len(name, n, self.weight.len())?;
        for values in [self.diagonal, self.coef, self.weight] {
            if !values.iter().all(|v| v.is_finite()) {
                return Err(Error::first_non_finite(name, values));
            }
        }
        Ok(n)
    }
}

/// For every positive the weight of the negatives it beats when both are held out, for every negative the weight of the
/// positives that beat it; ties count one half.
///
/// `cross` holds `P_ij` by rows; `coupling` is k and `tau` is y'c of the module's formula. With unit weights all sums are
/// whole halves, hence exact. O(m n), no memory beside one row sum a chunk of rows. The same bits for any number of
/// threads.
///
/// # Errors
/// [`Error::Length`] and [`Error::NonFinite`] for bad input, [`Error::Interrupted`].
pub fn leave_pair_out(
    cross: &[f64],
    pos: Side<'_>,
    neg: Side<'_>,
    coupling: f64,
    tau: f64,
    ctx: &Ctx<'_>,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let (m, n) = (pos.check("pos")?, neg.check("neg")?);
    Error::check_len("cross", m * n, cross.len())?;
    let scale = 1.0 + coupling * tau;
    let negatives: Vec<Negative> = (0..n)
        .map(|j| {
            let (p, c) = (neg.diagonal[j], neg.coef[j]);
            Negative { p, c, own: c - 2.0 * coupling * c * c, weight: neg.weight[j] }
        })
        .collect();
    let rows = (PAIRS / n.max(1)).max(1);
    let chunks = (0..m).step_by(rows).map(|first| first..(first + rows).min(m)).collect();
    let parts = ctx.map(chunks, |chunk: std::ops::Range<usize>| {
        let mut won = Vec::with_capacity(chunk.len());
        let mut lost = vec![0.0; n];
        for i in chunk {
            let c = pos.coef[i];
            let positive = Positive { p: pos.diagonal[i], c, own: -c - 2.0 * coupling * c * c, coupling, scale };
            won.push(positive.row(&cross[i * n..(i + 1) * n], &negatives, pos.weight[i], &mut lost));
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
}

#[derive(Clone, Copy)]
struct Positive {
    p: f64,
    c: f64,
    own: f64,
    coupling: f64,
    scale: f64,
}

impl Positive {
    /// 1, 1/2 or 0 as the pair is ordered rightly, tied or wrongly.
    #[inline(always)]
    fn beats(&self, neg: Negative, x: f64) -> f64 {
        let both = 2.0 * self.scale * self.p * neg.p;
        let (mine, theirs) = (self.own * neg.p, neg.own * self.p);
        let slope = neg.c - self.c + 4.0 * self.coupling * self.c * neg.c - 2.0 * self.scale * x;
        let margin = both + mine + theirs + slope * x;
        let rounding = TIE * (both.abs() + mine.abs() + theirs.abs());
        0.5 * f64::from(u8::from(margin > rounding)) + 0.5 * f64::from(u8::from(margin >= -rounding))
    }

    fn row(&self, cross: &[f64], negatives: &[Negative], weight: f64, lost: &mut [f64]) -> f64 {
        let mut lanes = [0.0; LANES];
        let mut one = |lane: &mut f64, j: usize| {
            let outcome = self.beats(negatives[j], cross[j]);
            *lane += outcome * negatives[j].weight;
            lost[j] += outcome * weight;
        };
        let whole = cross.len() - cross.len() % LANES;
        for first in (0..whole).step_by(LANES) {
            for (k, lane) in lanes.iter_mut().enumerate() {
                one(lane, first + k);
            }
        }
        for j in whole..cross.len() {
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

    fn side<'a>(diagonal: &'a [f64], coef: &'a [f64], weight: &'a [f64]) -> Side<'a> {
        Side { diagonal, coef, weight }
    }

    fn column(n: usize, low: f64, high: f64) -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(low..high, n)
    }

    proptest! {
        #[test]
        fn agrees_with_a_solve_for_each_pair(
            (m, n, values) in (1usize..12, 1usize..30).prop_flat_map(|(m, n)| {
                let classes = (column(m, 1.0, 3.0), column(m, -2.0, 2.0), column(m, 0.5, 2.0),
                               column(n, 1.0, 3.0), column(n, -2.0, 2.0), column(n, 0.5, 2.0));
                (Just(m), Just(n), (classes, column(m * n, -0.9, 0.9), 0.0..0.1, -1.0..3.0))
            })
        ) {
            let ((pd, pc, pw, nd, nc, nw), cross, coupling, tau) = values;
            let (pos, neg) = (side(&pd, &pc, &pw), side(&nd, &nc, &nw));
            let (won, lost) = leave_pair_out(&cross, pos, neg, coupling, tau, &Ctx::serial()).unwrap();
            let mut expected = (vec![0.0; m], vec![0.0; n]);
            for i in 0..m {
                for j in 0..n {
                    let p = [[pd[i], cross[i * n + j]], [cross[i * n + j], nd[j]]];
                    let held_out = naive::held_out_difference(p, [pc[i], nc[j]], coupling, tau);
                    prop_assume!(held_out.abs() > 1e-9);
                    expected.0[i] += f64::from(u8::from(held_out > 0.0)) * nw[j];
                    expected.1[j] += f64::from(u8::from(held_out > 0.0)) * pw[i];
                }
            }
            for (got, want) in won.iter().chain(&lost).zip(expected.0.iter().chain(&expected.1)) {
                prop_assert!((got - want).abs() < 1e-12, "{got} {want}");
            }
        }
    }

    #[test]
    fn equal_samples_tie() {
        // g = c / (P_ii - P_ij) = (1, -1): both held-out scores are 0.
        let (won, lost) = leave_pair_out(
            &[0.5],
            side(&[1.5], &[1.0], &[1.0]),
            side(&[1.5], &[-1.0], &[1.0]),
            0.0,
            0.0,
            &Ctx::serial(),
        )
        .unwrap();
        assert_eq!((won, lost), (vec![0.5], vec![0.5]));
    }

    #[test]
    fn same_bits_for_any_number_of_threads() {
        let (m, n) = (701, 1203);
        let wave = |k: usize, by: f64| (k as f64 * by).sin();
        let make = |len: usize, by: f64, to: f64| (0..len).map(|k| to + wave(k, by)).collect::<Vec<_>>();
        let (pd, pc, pw) = (make(m, 0.37, 2.0), make(m, 1.7, 0.5), make(m, 2.9, 1.1));
        let (nd, nc, nw) = (make(n, 0.73, 2.0), make(n, 1.3, -0.5), make(n, 3.1, 1.3));
        let cross: Vec<f64> = make(m * n, 0.11, 0.0);
        let run =
            |ctx: &Ctx<'_>| leave_pair_out(&cross, side(&pd, &pc, &pw), side(&nd, &nc, &nw), 0.01, 1.0, ctx).unwrap();
        let serial = run(&Ctx::serial());
        for threads in [2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(run(&Ctx::new(Some(&pool), None)), serial);
        }
    }

    #[test]
    fn refuses_bad_input_and_stops() {
        let (one, bad) = ([1.0], [f64::NAN]);
        let good = side(&one, &one, &one);
        let run = |cross: &[f64], pos, ctx: &Ctx<'_>| leave_pair_out(cross, pos, good, 0.0, 0.0, ctx);
        assert_eq!(run(&[], good, &Ctx::serial()), Err(Error::Length { name: "cross", expected: 1, got: 0 }));
        let nan = run(&[0.0], side(&one, &bad, &one), &Ctx::serial());
        assert!(matches!(nan, Err(Error::NonFinite { name: "pos", index: 0, .. })));
        let stop = std::sync::atomic::AtomicBool::new(true);
        assert_eq!(run(&[0.0], good, &Ctx::new(None, Some(&stop))), Err(Error::Interrupted));
    }
}
