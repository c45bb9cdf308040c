//! The types of scores, and monotone maps of them to cells.

#[cfg(target_arch = "x86_64")]
use {pulp::x86::V3, std::arch::x86_64::_CMP_LT_OQ};

use std::fmt::Debug;

use crate::order::Map;

/// What is ranked: scores, or the integers that stand for them in a bucket.
pub trait Key: Copy + Debug + Into<f64> + PartialOrd + Default + Send + Sync + 'static {
    /// Above all keys.
    #[doc(hidden)]
    const INFINITY: Self;
    #[doc(hidden)]
    fn order(&self, other: &Self) -> std::cmp::Ordering;
    #[doc(hidden)]
    fn line(low: Self, high: Self, cells: u32) -> Line<Self>;
    #[doc(hidden)]
    fn cell(self, line: Line<Self>) -> u32;
    /// Cells of a line, at most.
    #[doc(hidden)]
    const MOST_CELLS: usize;
}

/// A floating-point type of scores; float32 is ranked as it is.
pub trait Score: Key {
    #[doc(hidden)]
    fn finite(self) -> bool;
    #[doc(hidden)]
    fn negated(self) -> Self;
    /// What stands for a score in its bucket.
    #[doc(hidden)]
    type Key: Key;
    /// The lower bits of a cell that are the key; those above them are the bucket.
    #[doc(hidden)]
    const KEY_BITS: u32;
    /// Whether different scores of a bucket never have the same key.
    #[doc(hidden)]
    const EXACT: bool;
    /// The key of a score in such a cell. It never descends in a bucket.
    #[doc(hidden)]
    fn key(self, cell: u64) -> Self::Key;
    /// Those of four scores whose bit in `first` is set, then the others.
    #[cfg(target_arch = "x86_64")]
    #[doc(hidden)]
    fn arrange(simd: V3, scores: [Self; 4], first: usize) -> [Self; 4];
    /// Which of four scores are below `bound`, by bits.
    #[cfg(target_arch = "x86_64")]
    #[doc(hidden)]
    fn below(simd: V3, scores: [Self; 4], bound: Self) -> usize;
}

/// A linear map of scores to cells, the scores beyond its ends going to the first and the last.
#[derive(Debug, Clone, Copy, Default)]
pub struct Line<S> {
    low: S,
    scale: S,
    last: S,
}

macro_rules! score {
    ($type:ty, $whole:expr, $bits:expr, $key_type:ty, $key_bits:expr, $key:expr, $arrange:expr, $below:expr) => {
        impl Key for $type {
            const INFINITY: Self = <$type>::INFINITY;
            const MOST_CELLS: usize = 1 << $bits;

            #[inline(always)]
            fn order(&self, other: &Self) -> std::cmp::Ordering {
                self.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal)
            }

            fn line(low: Self, high: Self, cells: u32) -> Line<Self> {
                let scale = cells as $type / (high - low);
                // A range too wide or too narrow for the arithmetic becomes one cell.
                let usable = (high - low).is_normal() && scale.is_normal();
                Line { low, scale: if usable { scale } else { 0.0 }, last: (cells - 1) as $type }
            }

            /// Every operation is monotone, so the cell is; adding 2^(mantissa bits) rounds to a whole number, which
            /// then stands in the low bits.
            #[inline(always)]
            fn cell(self, line: Line<Self>) -> u32 {
                let x = (self - line.low) * line.scale;
                let x = if x > 0.0 { x } else { 0.0 };
                let x = if x < line.last { x } else { line.last };
                (x + $whole).to_bits() as u32 & ((1 << $bits) - 1)
            }
        }

        impl Score for $type {
            type Key = $key_type;
            const KEY_BITS: u32 = $key_bits;
            const EXACT: bool = $key_bits == 0;

            #[inline(always)]
            fn finite(self) -> bool {
                self.is_finite()
            }

            #[inline(always)]
            fn negated(self) -> Self {
                -self
            }

            #[inline(always)]
            fn key(self, cell: u64) -> $key_type {
                $key(self, cell)
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn arrange(simd: V3, scores: [Self; 4], first: usize) -> [Self; 4] {
                $arrange(simd, scores, first)
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn below(simd: V3, scores: [Self; 4], bound: Self) -> usize {
                $below(simd, scores, bound)
            }
        }
    };
}
score!(
    f64,
    4_503_599_627_370_496.0,
    30,
    u32,
    32,
    |_, cell: u64| u32::min(cell as u32, u32::MAX - 1),
    |simd: V3, scores: [f64; 4], first: usize| {
        let halves = pulp::cast(HALVES[first & 15]);
        pulp::cast(simd.avx2._mm256_permutevar8x32_epi32(pulp::cast(scores), halves))
    },
    |simd: V3, scores: [f64; 4], bound: f64| {
        let below = simd.avx._mm256_cmp_pd::<_CMP_LT_OQ>(pulp::cast(scores), pulp::cast([bound; 4]));
        simd.avx._mm256_movemask_pd(below) as usize
    }
);
score!(
    f32,
    8_388_608.0,
    23,
    f32,
    0,
    |x, _| x,
    |simd: V3, scores: [f32; 4], first: usize| {
        let lanes = pulp::cast(LANES[first & 15]);
        pulp::cast(simd.avx._mm_permutevar_ps(pulp::cast(scores), lanes))
    },
    |simd: V3, scores: [f32; 4], bound: f32| {
        let below = simd.avx._mm_cmp_ps::<_CMP_LT_OQ>(pulp::cast(scores), pulp::cast([bound; 4]));
        simd.sse._mm_movemask_ps(below) as usize
    }
);

impl Key for u32 {
    const INFINITY: Self = Self::MAX;
    const MOST_CELLS: usize = 1 << 30;

    #[inline(always)]
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.cmp(other)
    }

    /// At least half as many cells; the scale is a shift.
    fn line(low: Self, high: Self, cells: u32) -> Line<Self> {
        let shift = (0..31).find(|&shift| high.saturating_sub(low) >> shift < cells).unwrap_or(31);
        Line { low, scale: shift, last: high.saturating_sub(low) >> shift }
    }

    #[inline(always)]
    fn cell(self, line: Line<Self>) -> u32 {
        u32::min(self.saturating_sub(line.low) >> (line.scale & 31), line.last)
    }
}

/// For every set of four lanes, those in it and then the others.
#[cfg(target_arch = "x86_64")]
static LANES: [[u32; 4]; 16] = {
    let mut lanes = [[0; 4]; 16];
    let mut set = 0;
    while set < 16 {
        let (mut k, mut first, mut last) = (0, 0, (set as u32).count_ones() as usize);
        while k < 4 {
            let to = if set >> k & 1 == 1 { &mut first } else { &mut last };
            lanes[set][*to] = k;
            *to += 1;
            k += 1;
        }
        set += 1;
    }
    lanes
};

/// The same by halves of lanes.
#[cfg(target_arch = "x86_64")]
static HALVES: [[u32; 8]; 16] = {
    let mut halves = [[0; 8]; 16];
    let mut k = 0;
    while k < 16 * 8 {
        halves[k / 8][k % 8] = 2 * LANES[k / 8][k % 8 / 2] + k as u32 % 2;
        k += 1;
    }
    halves
};

/// A map of scores to cells that never descends.
pub(crate) trait Monotone<S>: Copy + Default {
    /// Number of cells.
    fn n_cells(&self) -> usize;
    /// The cell of a score.
    fn cell(&self, x: S) -> u32;
}

impl<S: Key> Monotone<S> for Line<S> {
    fn n_cells(&self) -> usize {
        let last: f64 = self.last.into();
        last as usize + 1
    }

    #[inline(always)]
    fn cell(&self, x: S) -> u32 {
        x.cell(*self)
    }
}

impl<S: Key> Monotone<S> for Map {
    fn n_cells(&self) -> usize {
        self.n_buckets()
    }

    #[inline(always)]
    fn cell(&self, x: S) -> u32 {
        self.bucket(x.into())
    }
}
