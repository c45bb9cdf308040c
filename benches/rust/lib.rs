//! Scores and labels that the benchmarks share.

use rocmax_core::Problem;

/// How the scores of a benchmark are distributed.
#[derive(Debug, Clone, Copy)]
pub enum Scores {
    /// All different: a sum of four uniform numbers, the positives shifted up.
    Distinct,
    /// The same, rounded to about a hundred values.
    Tied,
}

/// `n` scores of which about one in `one_in` is positive; the same on every run.
///
/// # Panics
/// If `n` is so small that a class is missing.
pub fn sample(n: usize, one_in: u64, scores: Scores) -> (Problem, Vec<f64>) {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = || {
        // splitmix64
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    let labels: Vec<bool> = (0..n).map(|_| next() % one_in == 0).collect();
    let scores = labels.iter().map(|&positive| {
        let sum: f64 = (0..4).map(|_| (next() >> 11) as f64 / (1u64 << 53) as f64).sum();
        let score = 2.0 * (sum - 2.0) + f64::from(u8::from(positive));
        if matches!(scores, Scores::Tied) { (score * 12.0).round() / 12.0 } else { score }
    });
    let scores = scores.collect();
    #[allow(clippy::expect_used, reason = "the benchmarks choose n")]
    (Problem::new(labels).expect("both classes"), scores)
}
