//! Helpers of the unit tests, which include this file, and of the property tests.

/// So many threads, if calls can run on several.
#[cfg(feature = "rayon")]
pub fn pool(n: usize) -> Option<rayon::ThreadPool> {
    Some(rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap())
}

/// No threads: calls run on their own.
#[cfg(not(feature = "rayon"))]
pub fn pool(_: usize) -> Option<std::convert::Infallible> {
    None
}

/// Numbers in [0, 1) from a seed: the upper bits of Knuth's linear congruential generator.
pub fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    }
}

/// Labels of both classes, with a share of positives, and scores with so many levels, higher for positives.
pub fn sample(n: usize, share: f64, levels: f64, next: &mut impl FnMut() -> f64) -> (Vec<bool>, Vec<f64>) {
    let labels: Vec<bool> = (0..n).map(|i| if i < 2 { i == 0 } else { next() < share }).collect();
    let score = |&positive: &bool| ((next() + 0.3 * f64::from(u8::from(positive))) * levels).floor() / levels;
    let scores = labels.iter().map(score).collect();
    (labels, scores)
}
