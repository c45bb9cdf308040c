//! The types of scores, and monotone maps of them to cells.

use std::fmt::Debug;
use std::ops::Range;

use super::simd::Eight;
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
    /// Whether this may stand for all scores that lie further out than a map goes.
    #[doc(hidden)]
    fn outermost(self) -> bool;
    /// A key that stands for a small number, and that number.
    #[doc(hidden)]
    fn of_bits(number: u32) -> Self;
    #[doc(hidden)]
    fn bits(self) -> u32;
    /// Keys that are compared at once.
    #[doc(hidden)]
    const LANES: usize;
    /// Masks of those of the first `LANES` keys that are below `x`, and of those that equal it.
    #[doc(hidden)]
    fn compare<E: Eight>(by: E, keys: &[Self], x: Self) -> [E::Lanes; 2];
}

/// A floating-point type of scores; float32 is ranked as it is.
pub trait Score: KeyOf<Self> {
    #[doc(hidden)]
    fn finite(self) -> bool;
    #[doc(hidden)]
    fn negated(self) -> Self;
    /// The line from `low` on with so many cells a unit, up to the `last`.
    #[doc(hidden)]
    fn line_from(low: f64, scale: f64, last: f64) -> Line<Self>;
    /// What stands for a score in its bucket; a score may stand for itself, too.
    #[doc(hidden)]
    type Key: KeyOf<Self> + Narrow;
}

/// What can stand for scores in their buckets.
pub trait KeyOf<S>: Key {
    /// The lower bits of a cell that are the key; those above them are the bucket.
    #[doc(hidden)]
    const BITS: u32;
    /// Whether different scores of a bucket never have the same key.
    #[doc(hidden)]
    const EXACT: bool;
    /// The key of a score in such a cell. It never descends in a bucket.
    #[doc(hidden)]
    fn of(score: S, cell: u64) -> Self;
    /// The cells in a bucket whose scores may have this key.
    #[doc(hidden)]
    fn cells(self, bucket: u64) -> Range<u64>;
}

/// What has 32 bits.
pub trait Narrow: Copy {
    /// Those of eight keys whose bit in `first` is set, then the others.
    #[doc(hidden)]
    fn arrange(by: impl Eight, keys: [Self; 8], first: usize) -> [Self; 8];
}

macro_rules! narrow {
    ($($type:ty),*) => {$(
        impl Narrow for $type {
            #[inline(always)]
            fn arrange(by: impl Eight, keys: [Self; 8], first: usize) -> [Self; 8] {
                pulp::cast(by.arrange(pulp::cast(keys), LANES[first & 255]))
            }
        }
    )*};
}
narrow!(u32, i32, f32);

/// For every set of eight lanes, those in it and then the others.
static LANES: [[u32; 8]; 256] = {
    let mut lanes = [[0; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut k, mut first, mut last) = (0, 0, (set as u32).count_ones() as usize);
        while k < 8 {
            let to = if set >> k & 1 == 1 { &mut first } else { &mut last };
            lanes[set][*to] = k;
            *to += 1;
            k += 1;
        }
        set += 1;
    }
    lanes
};

/// A linear map of scores to cells, the scores beyond its ends going to the first and the last.
#[derive(Debug, Clone, Copy, Default)]
pub struct Line<S> {
    low: S,
    scale: S,
    last: S,
}

macro_rules! score {
    ($type:ty, $whole:expr, $bits:expr, $key:ty, $lanes:expr, $compare:ident) => {
        impl Key for $type {
            const INFINITY: Self = <$type>::INFINITY;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn order(&self, other: &Self) -> std::cmp::Ordering {
                self.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal)
            }

            #[inline(always)]
            fn outermost(self) -> bool {
                false
            }

            fn line(low: Self, high: Self, cells: u32) -> Line<Self> {
                let scale = cells as $type / (high - low);
                // A range too wide or too narrow for the arithmetic becomes one cell.
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

            /// Every operation is monotone, so the cell is; adding 2^(mantissa bits) rounds to a whole number, which
            /// then stands in the low bits.
            #[inline(always)]
            fn cell(self, line: Line<Self>) -> u32 {
                let x = (self - line.low) * line.scale;
                let x = if x > 0.0 { x } else { 0.0 };
                let x = if x < line.last { x } else { line.last };
                (x + $whole).to_bits() as u32 & ((1 << $bits) - 1)
            }

            #[inline(always)]
            fn compare<E: Eight>(by: E, keys: &[Self], x: Self) -> [E::Lanes; 2] {
                by.$compare(keys.first_chunk().copied().unwrap_or([Self::INFINITY; $lanes]), x)
            }
        }

        impl Score for $type {
            type Key = $key;

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
        }

        impl KeyOf<Self> for $type {
            const BITS: u32 = 0;
            const EXACT: bool = true;

            #[inline(always)]
            fn of(score: Self, _: u64) -> Self {
                score
            }

            fn cells(self, bucket: u64) -> Range<u64> {
                bucket..bucket + 1
            }
        }
    };
}
score!(f64, 4_503_599_627_370_496.0, 30, i32, 4, compare_f64);
score!(f32, 8_388_608.0, 23, f32, 8, compare_f32);

impl KeyOf<f64> for i32 {
    const BITS: u32 = 32;
    const EXACT: bool = false;

    /// Signed, as numbers are that are compared at once.
    #[inline(always)]
    fn of(_: f64, cell: u64) -> Self {
        Self::min((cell as u32 ^ 1 << 31) as Self, Self::MAX - 1)
    }

    fn cells(self, bucket: u64) -> Range<u64> {
        let cell = bucket << 32 | u64::from(self as u32 ^ 1 << 31);
        cell..cell + if self == Self::MAX - 1 { 2 } else { 1 }
    }
}

impl Key for i32 {
    const INFINITY: Self = Self::MAX;
    const LANES: usize = 8;

    #[inline(always)]
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.cmp(other)
    }

    #[inline(always)]
    fn outermost(self) -> bool {
        (self == Self::MIN) | (self == Self::MAX - 1)
    }

    #[inline(always)]
    fn of_bits(number: u32) -> Self {
        number as Self
    }

    #[inline(always)]
    fn bits(self) -> u32 {
        self as u32
    }

    /// The scale is that of half the distance, as a float32.
    fn line(low: Self, high: Self, cells: u32) -> Line<Self> {
        let length = (high.max(low).abs_diff(low) / 2 + 1) as f32;
        Line { low, scale: (cells as f32 / length).to_bits() as Self, last: cells as Self - 1 }
    }

    /// As that of float32; half a distance has 31 bits.
    #[inline(always)]
    fn cell(self, line: Line<Self>) -> u32 {
        let above = Self::max(self, line.low).wrapping_sub(line.low) as u32 / 2;
        let x = above as Self as f32 * f32::from_bits(line.scale as u32);
        let last = line.last as f32;
        let x = if x < last { x } else { last };
        (x + 8_388_608.0).to_bits() & ((1 << 23) - 1)
    }

    #[inline(always)]
    fn compare<E: Eight>(by: E, keys: &[Self], x: Self) -> [E::Lanes; 2] {
        by.compare_i32(keys.first_chunk().copied().unwrap_or([Self::INFINITY; 8]), x)
    }
}

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
