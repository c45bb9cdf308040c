//! The floating-point types of scores, and linear monotone maps of scores to cells.

use std::fmt::Debug;

use crate::simd::Eight;
use crate::simd::fast;
use crate::{CHUNK, Ctx, Result};

/// What is ranked: a score, or the integer that stands for it in a bucket.
pub(crate) trait Key: Copy + Debug + Into<f64> + PartialOrd + Default + Send + Sync + 'static {
    /// Whether different scores may share a key, which then stands for a cell of scores.
    const OF_CELL: bool;
    /// Above all keys.
    const INFINITY: Self;
    fn order(&self, other: &Self) -> std::cmp::Ordering;
    fn line(low: Self, high: Self, cells: u32) -> Line<Self>;
    fn cell(self, line: Line<Self>) -> u32;
    /// The key with these bits, and the bits of a key of at most 32.
    fn of_bits(bits: u32) -> Self;
    fn bits(self) -> u32;
    /// Masks of the keys below `x` and of those equal to it.
    fn compare<E: Eight>(by: E, keys: [Self; 8], x: Self) -> [E::Lanes; 2];
}

/// A floating-point type of scores; float32 is ranked as it is.
pub(crate) trait Score: Key {
    /// The type of key that stands for a score in its bucket.
    type Key: Key;
    /// How many of the lower bits of a cell are the key; the bits above are the bucket.
    const BITS: u32;
    /// Whether different scores of a bucket never have the same key.
    const EXACT: bool;
    fn finite(self) -> bool;
    fn negated(self) -> Self;
    /// The key of a score in a cell; monotone within a bucket.
    fn key(self, cell: u64) -> Self::Key;
    /// Whether scores beyond the ends of a map may have this key.
    fn outermost(key: Self::Key) -> bool;
    /// The line that starts at `low`, with `scale` cells per unit and `last` as the last cell.
    fn line_from(low: f64, scale: f64, last: f64) -> Line<Self>;
    /// Writes the scores in single precision; whether none loses a digit, as scores computed in single precision.
    fn narrow(scores: &[Self], to: &mut Vec<f32>, ctx: &Ctx<'_>) -> Result<bool>;
}

/// A linear map of scores to cells; scores beyond its ends go to the first and the last cell.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Line<S> {
    low: S,
    scale: S,
    pub(crate) last: S,
}

macro_rules! key {
    ($type:ty, $whole:expr, $bits:expr, $compare:ident) => {
        impl Key for $type {
            const OF_CELL: bool = false;
            const INFINITY: Self = <$type>::INFINITY;

            #[inline(always)]
            fn order(&self, other: &Self) -> std::cmp::Ordering {
                self.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal)
            }

            fn line(low: Self, high: Self, cells: u32) -> Line<Self> {
                let scale = cells as $type / (high - low);
                // A range too wide or too narrow to compute with becomes one cell.
                let usable = (high - low).is_normal() && scale.is_normal();
                Line { low, scale: if usable { scale } else { 0.0 }, last: (cells - 1) as $type }
            }

            #[inline(always)]
            fn of_bits(number: u32) -> Self {
                Self::from_bits(number.into())
            }

            #[inline(always)]
            fn bits(self) -> u32 {
                self.to_bits() as u32
            }

            /// Monotone, as every step is. Adding 2^(mantissa bits) rounds to a whole number in the low bits.
            #[inline(always)]
            fn cell(self, line: Line<Self>) -> u32 {
                let x = (self - line.low) * line.scale;
                let x = if x > 0.0 { x } else { 0.0 };
                let x = if x < line.last { x } else { line.last };
                (x + $whole).to_bits() as u32 & ((1 << $bits) - 1)
            }

            #[inline(always)]
            fn compare<E: Eight>(by: E, keys: [Self; 8], x: Self) -> [E::Lanes; 2] {
                by.$compare(keys, x)
            }
        }
    };
}
key!(f64, 4_503_599_627_370_496.0, 30, compare_f64);
key!(f32, 8_388_608.0, 23, compare_f32);

macro_rules! score {
    ($key:ty, $bits:expr, $exact:expr) => {
        type Key = $key;
        const BITS: u32 = $bits;
        const EXACT: bool = $exact;

        #[inline(always)]
        fn finite(self) -> bool {
            self.is_finite()
        }

        #[inline(always)]
        fn negated(self) -> Self {
            -self
        }

        #[inline(always)]
        fn line_from(low: f64, scale: f64, last: f64) -> Line<Self> {
            Line { low: low as Self, scale: scale as Self, last: last as Self }
        }
    };
}

impl Score for f64 {
    score!(i32, 32, false);

    /// Signed, as the vector comparison is.
    #[inline(always)]
    fn key(self, cell: u64) -> i32 {
        i32::min((cell as u32 ^ 1 << 31) as i32, i32::MAX - 1)
    }

    #[inline(always)]
    fn outermost(key: i32) -> bool {
        (key == i32::MIN) | (key == i32::MAX - 1)
    }

    fn narrow(scores: &[Self], to: &mut Vec<f32>, ctx: &Ctx<'_>) -> Result<bool> {
        // Other scores fail among the first few.
        if !scores.iter().take(64).all(|&x| f64::from(x as f32) == x) {
            return Ok(false);
        }
        to.resize(usize::max(scores.len(), to.len()), 0.0);
        let chunks = scores.chunks(CHUNK).zip(to.chunks_mut(CHUNK));
        let all = ctx.map(chunks.collect(), |(scores, to)| narrow(scores, to))?;
        Ok(all.into_iter().all(|narrow| narrow))
    }
}

/// See [`Score::narrow`].
fn narrow(scores: &[f64], to: &mut [f32]) -> bool {
    fast!({
        to.iter_mut().zip(scores).fold(true, |all, (to, &x)| {
            *to = x as f32;
            all & (f64::from(*to) == x)
        })
    })
}

impl Score for f32 {
    score!(f32, 0, true);

    #[inline(always)]
    fn key(self, _: u64) -> f32 {
        self
    }

    #[inline(always)]
    fn outermost(_: f32) -> bool {
        false
    }

    fn narrow(_: &[Self], _: &mut Vec<f32>, _: &Ctx<'_>) -> Result<bool> {
        Ok(false)
    }
}

impl Key for i32 {
    const OF_CELL: bool = true;
    const INFINITY: Self = Self::MAX;

    #[inline(always)]
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.cmp(other)
    }

    #[inline(always)]
    fn of_bits(number: u32) -> Self {
        number as Self
    }

    #[inline(always)]
    fn bits(self) -> u32 {
        self as u32
    }

    /// The scale applies to half the distance, as a float32.
    fn line(low: Self, high: Self, cells: u32) -> Line<Self> {
        let length = (high.max(low).abs_diff(low) / 2 + 1) as f32;
        Line { low, scale: (cells as f32 / length).to_bits() as Self, last: cells as Self - 1 }
    }

    /// As for float32; half a distance has 31 bits.
    #[inline(always)]
    fn cell(self, line: Line<Self>) -> u32 {
        let above = Self::max(self, line.low).wrapping_sub(line.low) as u32 / 2;
        let x = above as Self as f32 * f32::from_bits(line.scale as u32);
        let last = line.last as f32;
        let x = if x < last { x } else { last };
        (x + 8_388_608.0).to_bits() & ((1 << 23) - 1)
    }

    #[inline(always)]
    fn compare<E: Eight>(by: E, keys: [Self; 8], x: Self) -> [E::Lanes; 2] {
        by.compare_i32(keys, x)
    }
}
