//! What several unit tests share.

/// Numbers in [0, 1), the same for the same seed: the upper bits of Knuth's linear congruential generator.
pub(crate) fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    }
}
