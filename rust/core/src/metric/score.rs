//! The types of scores.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Debug;

use crate::order::fast;
use crate::{CHUNK, Ctx, Result};

/// A floating-point type of scores; float32 is ranked as it is.
pub trait Score: Copy + Debug + Into<f64> + PartialOrd + Default + Send + Sync + 'static {
    #[doc(hidden)]
    const INFINITY: Self;
    /// The lower bits of a cell that are the key; those above them are the bucket.
    #[doc(hidden)]
    const BITS: u32;
    /// Whether different scores never have the same key.
    #[doc(hidden)]
    const EXACT: bool;
    #[doc(hidden)]
    fn order(&self, other: &Self) -> Ordering {
        self.partial_cmp(other).unwrap_or(Ordering::Equal)
    }
    #[doc(hidden)]
    fn finite(self) -> bool;
    #[doc(hidden)]
    fn negated(self) -> Self;
    /// The integer below the greatest one that stands for a score in such a cell. It never descends in a bucket.
    #[doc(hidden)]
    fn key(self, cell: u64) -> i32;
    /// Writes the same scores in single precision, from which many come; whether all have one.
    #[doc(hidden)]
    fn narrow(scores: &[Self], to: &mut Vec<f32>, ctx: &Ctx<'_>) -> Result<bool>;
    /// The scores in double precision.
    #[doc(hidden)]
    fn wide(scores: &[Self]) -> Cow<'_, [f64]>;
}

macro_rules! floating {
    () => {
        const INFINITY: Self = Self::INFINITY;

        #[inline(always)]
        fn finite(self) -> bool {
            self.is_finite()
        }

        #[inline(always)]
        fn negated(self) -> Self {
            -self
        }
    };
}

impl Score for f64 {
    floating!();

    const BITS: u32 = 32;
    const EXACT: bool = false;

    /// The lower bits of the cell.
    #[inline(always)]
    fn key(self, cell: u64) -> i32 {
        i32::min((cell as u32 ^ 1 << 31) as i32, i32::MAX - 1)
    }

    fn narrow(scores: &[Self], to: &mut Vec<f32>, ctx: &Ctx<'_>) -> Result<bool> {
        // Of any others, hardly ever the first few.
        if !scores.iter().take(64).all(|&x| f64::from(x as f32) == x) {
            return Ok(false);
        }
        to.resize(usize::max(scores.len(), to.len()), 0.0);
        let chunks = scores.chunks(CHUNK).zip(to.chunks_mut(CHUNK));
        let all = ctx.map(chunks.collect(), |(scores, to)| fast(Narrow { scores, to }))?;
        Ok(all.into_iter().all(|narrow| narrow))
    }

    fn wide(scores: &[Self]) -> Cow<'_, [f64]> {
        Cow::Borrowed(scores)
    }
}

/// See [`Score::narrow`].
struct Narrow<'a> {
    scores: &'a [f64],
    to: &'a mut [f32],
}

impl pulp::NullaryFnOnce for Narrow<'_> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        self.to.iter_mut().zip(self.scores).fold(true, |all, (to, &x)| {
            *to = x as f32;
            all & (f64::from(*to) == x)
        })
    }
}

impl Score for f32 {
    floating!();

    const BITS: u32 = 0;
    const EXACT: bool = true;

    /// Its bits as a signed number, those of a negative one in the other order.
    #[inline(always)]
    fn key(self, _: u64) -> i32 {
        let bits = (self + 0.0).to_bits() as i32;
        bits ^ ((bits >> 31) as u32 >> 1) as i32
    }

    fn narrow(_: &[Self], _: &mut Vec<f32>, _: &Ctx<'_>) -> Result<bool> {
        Ok(false)
    }

    fn wide(scores: &[Self]) -> Cow<'_, [f64]> {
        scores.iter().map(|&score| score.into()).collect()
    }
}
