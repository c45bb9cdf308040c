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

/// Steele, Lea and Flood's SplitMix64.
fn splitmix() -> impl FnMut() -> u64 {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

/// `n` scores of which about one in `one_in` is positive; the same on every run.
///
/// # Panics
/// If `n` is so small that a class is missing.
pub fn sample(n: usize, one_in: u64, scores: Scores) -> (Problem, Vec<f64>) {
    let mut next = splitmix();
    let labels: Vec<bool> = (0..n).map(|_| next().is_multiple_of(one_in)).collect();
    let scores = labels.iter().map(|&positive| {
        let sum: f64 = (0..4).map(|_| (next() >> 11) as f64 / (1u64 << 53) as f64).sum();
        let score = 2.0 * (sum - 2.0) + f64::from(u8::from(positive));
        if matches!(scores, Scores::Tied) { (score * 12.0).round() / 12.0 } else { score }
    });
    let scores = scores.collect();
    #[allow(clippy::expect_used, reason = "the benchmarks choose n")]
    (Problem::new(labels).expect("both classes"), scores)
}

/// How the scores of a case are distributed.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Normal, the positives shifted up by 1.
    Normal,
    /// The same of a Cauchy distribution.
    Heavy,
    /// Probabilities that saturate at both ends.
    Saturated,
    /// Normal, of single precision.
    Rounded,
    /// Normal, to three decimals: thousands of values.
    Ties,
    /// Normal, to one decimal.
    Few,
    /// Whole numbers up to a million.
    Integers,
    /// Normal, ascending.
    Sorted,
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 8] = [
        Shape::Normal,
        Shape::Heavy,
        Shape::Saturated,
        Shape::Rounded,
        Shape::Ties,
        Shape::Few,
        Shape::Integers,
        Shape::Sorted,
    ];
}

/// Labels of which a `share` is positive, and as many scores; the same on every run.
pub fn scores_of(shape: Shape, n: usize, share: f64) -> (Vec<bool>, Vec<f64>) {
    let mut bits = splitmix();
    let mut uniform = || ((bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    let mut labels: Vec<bool> = (0..n).map(|i| if i < 2 { i == 0 } else { uniform() < share }).collect();
    let mut score = |&positive: &bool| {
        let (radius, angle) = ((-2.0 * uniform().ln()).sqrt(), std::f64::consts::TAU * uniform());
        let (normal, shift) = (radius * angle.cos(), f64::from(u8::from(positive)));
        match shape {
            Shape::Normal | Shape::Sorted => normal + shift,
            Shape::Heavy => (angle / 2.0).tan() + shift,
            Shape::Saturated => 1.0 / (1.0 + (-12.0 * (normal + shift - 0.5)).exp()),
            Shape::Rounded => f64::from((normal + shift) as f32),
            Shape::Ties => (1000.0 * (normal + shift)).round() / 1000.0,
            Shape::Few => (10.0 * (normal + shift)).round() / 10.0,
            Shape::Integers => (1e6 / (1.0 + (-(normal + shift)).exp())).floor(),
        }
    };
    let mut scores: Vec<f64> = labels.iter().map(&mut score).collect();
    if matches!(shape, Shape::Sorted) {
        let mut both: Vec<(f64, bool)> = scores.iter().copied().zip(labels).collect();
        both.sort_unstable_by(|x, y| x.0.total_cmp(&y.0));
        (scores, labels) = both.into_iter().unzip();
    }
    (labels, scores)
}
