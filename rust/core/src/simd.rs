//! Vector instructions of the machine at hand: for any loop, and for eight numbers of 32 bits at once.

#[cfg(target_arch = "x86_64")]
use {
    pulp::x86::V3,
    std::arch::x86_64::{__m256d, __m256i, _CMP_EQ_OQ, _CMP_LT_OQ},
};

/// The value of a block that is compiled for the instructions of this machine; what it calls must be `inline(always)`.
macro_rules! fast {
    ($work:block) => {
        pulp::Arch::new().dispatch(crate::simd::Block(
            #[inline(always)]
            move || $work,
        ))
    };
}
pub(crate) use fast;

/// A closure that is called as `FnMut`: as `FnOnce` it would be called through a function that is not inlined.
pub(crate) struct Block<F>(pub(crate) F);

impl<T, F: FnMut() -> T> pulp::NullaryFnOnce for Block<F> {
    type Output = T;

    #[inline(always)]
    fn call(mut self) -> T {
        (self.0)()
    }
}

/// Instructions for eight lanes of 32 bits. A mask is all ones where a condition holds.
pub(crate) trait Eight: Copy {
    /// Eight numbers or masks.
    type Lanes: Copy;
    /// Masks of the keys below a number, and of those equal to it.
    fn compare_f64(self, keys: [f64; 8], x: f64) -> [Self::Lanes; 2];
    fn compare_f32(self, keys: [f32; 8], x: f32) -> [Self::Lanes; 2];
    fn compare_i32(self, keys: [i32; 8], x: i32) -> [Self::Lanes; 2];
    /// Zeros.
    fn none(self) -> Self::Lanes;
    /// Adds one where a mask holds.
    fn count(self, counts: Self::Lanes, mask: Self::Lanes) -> Self::Lanes;
    /// The number of lanes, without the last, where a mask holds.
    fn total(self, mask: Self::Lanes) -> u32;
    /// The sum of all lanes, without the last.
    fn sum(self, counts: Self::Lanes) -> u64;
    /// Moves the number in lane `from[k]` to lane k.
    fn arrange(self, numbers: [u32; 8], from: [u32; 8]) -> [u32; 8];
}

/// Work that any instructions can do; what it calls must be `inline(always)`.
pub(crate) trait ByEight {
    type Output;
    fn call<E: Eight>(self, by: E) -> Self::Output;
}

/// Whether vector instructions may be used: not with the feature `plain`, nor in a test with ROCMAX_PLAIN set.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn vectors() -> bool {
    #[cfg(test)]
    static PLAIN: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| std::env::var_os("ROCMAX_PLAIN").is_some());
    #[cfg(test)]
    if *PLAIN {
        return false;
    }
    !cfg!(feature = "plain")
}

/// Runs `work` with the best instructions of this machine.
#[inline(always)]
pub(crate) fn by_eight<W: ByEight>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if vectors()
        && let Some(by) = V3::try_new()
    {
        return by.vectorize(
            #[inline(always)]
            move || work.call(by),
        );
    }
    work.call(Plain)
}

/// Without vector instructions.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

/// How many of the keys, without the last, are below `x`, and how many equal it.
#[inline(always)]
fn compare<T: Copy + PartialOrd>(keys: [T; 8], x: T) -> [u32; 2] {
    let total = |holds: fn(&T, &T) -> bool| keys[..7].iter().map(|key| u32::from(holds(key, &x))).sum();
    [total(T::lt), total(T::eq)]
}

impl Eight for Plain {
    /// A count over all lanes, without the last.
    type Lanes = u32;

    #[inline(always)]
    fn compare_f64(self, keys: [f64; 8], x: f64) -> [u32; 2] {
        compare(keys, x)
    }

    #[inline(always)]
    fn compare_f32(self, keys: [f32; 8], x: f32) -> [u32; 2] {
        compare(keys, x)
    }

    #[inline(always)]
    fn compare_i32(self, keys: [i32; 8], x: i32) -> [u32; 2] {
        compare(keys, x)
    }

    #[inline(always)]
    fn none(self) -> u32 {
        0
    }

    #[inline(always)]
    fn count(self, counts: u32, mask: u32) -> u32 {
        counts.wrapping_add(mask)
    }

    #[inline(always)]
    fn total(self, mask: u32) -> u32 {
        mask
    }

    #[inline(always)]
    fn sum(self, counts: u32) -> u64 {
        counts.into()
    }

    #[inline(always)]
    fn arrange(self, numbers: [u32; 8], from: [u32; 8]) -> [u32; 8] {
        from.map(|lane| numbers[lane as usize & 7])
    }
}

/// A mask from the comparison of eight float64, which gives two masks of 64 bits per lane.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn holds<const WHAT: i32>(V3 { avx, .. }: V3, keys: [f64; 8], x: f64) -> __m256i {
    let halves: [__m256d; 2] = pulp::cast(keys);
    let [low, high] = halves.map(|half| pulp::cast(avx._mm256_cmp_pd::<WHAT>(half, pulp::cast([x; 4]))));
    // The lower half of every 64 bits; the last lane stays the last.
    pulp::cast(avx._mm256_shuffle_ps::<0b10_00_10_00>(low, high))
}

#[cfg(target_arch = "x86_64")]
impl Eight for V3 {
    type Lanes = __m256i;

    #[inline(always)]
    fn compare_f64(self, keys: [f64; 8], x: f64) -> [Self::Lanes; 2] {
        [holds::<_CMP_LT_OQ>(self, keys, x), holds::<_CMP_EQ_OQ>(self, keys, x)]
    }

    #[inline(always)]
    fn compare_f32(self, keys: [f32; 8], x: f32) -> [Self::Lanes; 2] {
        let (keys, x) = (pulp::cast(keys), pulp::cast([x; 8]));
        let below = self.avx._mm256_cmp_ps::<_CMP_LT_OQ>(keys, x);
        [pulp::cast(below), pulp::cast(self.avx._mm256_cmp_ps::<_CMP_EQ_OQ>(keys, x))]
    }

    #[inline(always)]
    fn compare_i32(self, keys: [i32; 8], x: i32) -> [Self::Lanes; 2] {
        let (keys, x) = (pulp::cast(keys), pulp::cast([x; 8]));
        [self.avx2._mm256_cmpgt_epi32(x, keys), self.avx2._mm256_cmpeq_epi32(x, keys)]
    }

    #[inline(always)]
    fn none(self) -> Self::Lanes {
        self.avx._mm256_setzero_si256()
    }

    #[inline(always)]
    fn count(self, counts: Self::Lanes, mask: Self::Lanes) -> Self::Lanes {
        self.avx2._mm256_sub_epi32(counts, mask)
    }

    #[inline(always)]
    fn sum(self, counts: Self::Lanes) -> u64 {
        let lanes: [u32; 8] = pulp::cast(counts);
        lanes[..7].iter().map(|&lane| u64::from(lane)).sum()
    }

    #[inline(always)]
    fn total(self, mask: Self::Lanes) -> u32 {
        (self.avx._mm256_movemask_ps(pulp::cast(mask)) << 1 & 0xFF).count_ones()
    }

    #[inline(always)]
    fn arrange(self, numbers: [u32; 8], from: [u32; 8]) -> [u32; 8] {
        pulp::cast(self.avx2._mm256_permutevar8x32_epi32(pulp::cast(numbers), pulp::cast(from)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    /// All results for some keys, and their arrangement.
    struct All([i32; 8], i32, [u32; 8]);

    impl ByEight for All {
        type Output = (Vec<u64>, [u32; 8]);

        fn call<E: Eight>(self, by: E) -> Self::Output {
            let Self(keys, x, from) = self;
            let (narrow, wide) = (keys.map(|key| key as f32), keys.map(f64::from));
            let mut found = vec![];
            for masks in [by.compare_i32(keys, x), by.compare_f32(narrow, x as f32), by.compare_f64(wide, x.into())] {
                for mask in masks {
                    let counts = by.count(by.count(by.none(), mask), masks[0]);
                    found.extend([by.total(mask).into(), by.sum(counts)]);
                }
            }
            (found, by.arrange(keys.map(|key| key as u32), from))
        }
    }

    #[test]
    fn all_instructions_do_the_same() {
        let mut next = uniform(6);
        for _ in 0..1000 {
            let mut draw = |n: f64| (next() * n) as i32;
            let keys: [i32; 8] = std::array::from_fn(|_| draw(5.0) - 2);
            let (x, from) = (draw(5.0) - 2, std::array::from_fn(|_| draw(8.0) as u32));
            let (found, arranged) = All(keys, x, from).call(Plain);
            assert_eq!(by_eight(All(keys, x, from)), (found.clone(), arranged));
            let total = |of: fn(&i32, &i32) -> bool| keys[..7].iter().filter(|key| of(key, &x)).count() as u64;
            let [below, equal] = [total(i32::lt), total(i32::eq)];
            assert_eq!(found, [below, 2 * below, equal, equal + below].repeat(3));
            assert_eq!(arranged, from.map(|lane| keys[lane as usize] as u32));
        }
    }
}
