//! Ranks of ranges: `floor(n low)` and `ceil(n high)` up to rounding, never empty, and monotone.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rocmax_core::{Negatives, RateRange};

fuzz_target!(|input: (u64, u64, u32, bool)| {
    let (low, high, n_neg, fractions) = input;
    let rate = |bits: u64| if fractions { (bits >> 11) as f64 / (1u64 << 53) as f64 } else { f64::from_bits(bits) };
    let Ok(range) = RateRange::new(rate(low), rate(high)) else { return };
    let n_neg = f64::from(u32::max(1, n_neg));
    let (from, to) = range.ranks(Negatives::Whole(n_neg));
    assert!(from < to && to <= n_neg, "{range:?} {n_neg}: {from} {to}");
    let near = |rank: f64, rate: f64| (rank - n_neg * rate).abs() <= 1.0 + 1e-6;
    assert!(near(from, range.low()) && near(to, range.high()), "{range:?} {n_neg}: {from} {to}");
    if let Ok(wider) = RateRange::new(range.low() / 2.0, f64::midpoint(1.0, range.high())) {
        let (outer_from, outer_to) = wider.ranks(Negatives::Whole(n_neg));
        assert!(outer_from <= from && to <= outer_to, "{range:?} {n_neg}");
    }
});
