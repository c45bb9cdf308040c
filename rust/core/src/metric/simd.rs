//! What is done with eight numbers of 32 bits at once, by the instructions of this machine or one by one.

#[cfg(target_arch = "x86_64")]
use {
    pulp::x86::V3,
    std::arch::x86_64::{__m256i, _CMP_EQ_OQ, _CMP_LT_OQ},
};

/// Instructions for eight lanes of 32 bits, or four of 64. A mask is all ones where something holds.
pub trait Eight: Copy {
    /// Numbers or masks.
    type Lanes: Copy;
    /// Which keys are below a number, and which equal it.
    fn compare_f64(self, keys: [f64; 4], x: f64) -> [Self::Lanes; 2];
    fn compare_f32(self, keys: [f32; 8], x: f32) -> [Self::Lanes; 2];
    fn compare_i32(self, keys: [i32; 8], x: i32) -> [Self::Lanes; 2];
    /// Zeros.
    fn none(self) -> Self::Lanes;
    /// One more where a mask holds.
    fn count(self, counts: Self::Lanes, mask: Self::Lanes) -> Self::Lanes;
    /// In how many of the first `N` lanes a mask holds.
    fn total<const N: usize>(self, mask: Self::Lanes) -> u32;
    /// The counts of the first `N` lanes together.
    fn sum<const N: usize>(self, counts: Self::Lanes) -> u64;
    /// The number of lane `from[k]` in lane k.
    fn arrange(self, numbers: [u32; 8], from: [u32; 8]) -> [u32; 8];
}

/// Work for which it is the same by what instructions; what it calls must be `inline(always)`.
pub(crate) trait ByEight {
    type Output;
    fn call<E: Eight>(self, by: E) -> Self::Output;
}

/// Runs `work` with the best instructions of this machine.
#[inline(always)]
pub(crate) fn by_eight<W: ByEight>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if !cfg!(feature = "plain")
        && let Some(by) = V3::try_new()
    {
        return by.vectorize(With { work, by });
    }
    work.call(Plain)
}

#[cfg(target_arch = "x86_64")]
struct With<W, E> {
    work: W,
    by: E,
}

#[cfg(target_arch = "x86_64")]
impl<W: ByEight, E: Eight> pulp::NullaryFnOnce for With<W, E> {
    type Output = W::Output;

    #[inline(always)]
    fn call(self) -> W::Output {
        self.work.call(self.by)
    }
}

/// One by one.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

/// How many of the keys are below `x` and how many equal it, the last key apart; for each as many lanes as it has.
#[inline(always)]
fn compare<T: Copy + PartialOrd, const N: usize>(keys: [T; N], x: T) -> [[u32; 2]; 2] {
    let (last, keys) = (keys[N - 1], &keys[..N - 1]);
    let total = |holds: fn(&T, &T) -> bool| {
        let lanes = |key: &T| u32::from(holds(key, &x)) * 8 / N as u32;
        [keys.iter().map(lanes).sum(), lanes(&last)]
    };
    [total(T::lt), total(T::eq)]
}

impl Eight for Plain {
    /// Of all lanes but the last, and of that.
    type Lanes = [u32; 2];

    #[inline(always)]
    fn compare_f64(self, keys: [f64; 4], x: f64) -> [Self::Lanes; 2] {
        compare(keys, x)
    }

    #[inline(always)]
    fn compare_f32(self, keys: [f32; 8], x: f32) -> [Self::Lanes; 2] {
        compare(keys, x)
    }

    #[inline(always)]
    fn compare_i32(self, keys: [i32; 8], x: i32) -> [Self::Lanes; 2] {
        compare(keys, x)
    }

    #[inline(always)]
    fn none(self) -> Self::Lanes {
        [0; 2]
    }

    #[inline(always)]
    fn count(self, counts: Self::Lanes, mask: Self::Lanes) -> Self::Lanes {
        [0, 1].map(|k| counts[k].wrapping_add(mask[k]))
    }

    #[inline(always)]
    fn total<const N: usize>(self, mask: Self::Lanes) -> u32 {
        if N < 8 { mask[0] } else { mask[0].wrapping_add(mask[1]) }
    }

    #[inline(always)]
    fn sum<const N: usize>(self, counts: Self::Lanes) -> u64 {
        self.total::<N>(counts).into()
    }

    #[inline(always)]
    fn arrange(self, numbers: [u32; 8], from: [u32; 8]) -> [u32; 8] {
        from.map(|lane| numbers[lane as usize & 7])
    }
}

#[cfg(target_arch = "x86_64")]
impl Eight for V3 {
    type Lanes = __m256i;

    #[inline(always)]
    fn compare_f64(self, keys: [f64; 4], x: f64) -> [Self::Lanes; 2] {
        let (keys, x) = (pulp::cast(keys), pulp::cast([x; 4]));
        let below = self.avx._mm256_cmp_pd::<_CMP_LT_OQ>(keys, x);
        [pulp::cast(below), pulp::cast(self.avx._mm256_cmp_pd::<_CMP_EQ_OQ>(keys, x))]
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
    fn sum<const N: usize>(self, counts: Self::Lanes) -> u64 {
        let lanes: [u32; 8] = pulp::cast(counts);
        lanes[..N].iter().map(|&lane| u64::from(lane)).sum()
    }

    #[inline(always)]
    fn total<const N: usize>(self, mask: Self::Lanes) -> u32 {
        (self.avx._mm256_movemask_ps(pulp::cast(mask)) << (8 - N) & 0xFF).count_ones()
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

    /// All that is said of some keys, and how they are arranged.
    struct All([i32; 8], i32, [u32; 8]);

    impl ByEight for All {
        type Output = (Vec<u64>, [u32; 8]);

        fn call<E: Eight>(self, by: E) -> Self::Output {
            let Self(keys, x, from) = self;
            let (narrow, wide) = (keys.map(|key| key as f32), [0, 1, 2, 3].map(|k| f64::from(keys[k])));
            let mut found = vec![];
            for masks in [by.compare_i32(keys, x), by.compare_f32(narrow, x as f32), by.compare_f64(wide, x.into())] {
                for mask in masks {
                    found.extend([by.total::<8>(mask), by.total::<7>(mask)].map(u64::from));
                    let counts = by.count(by.count(by.none(), mask), masks[0]);
                    found.extend([by.sum::<8>(counts), by.sum::<7>(counts)]);
                }
            }
            // Four lanes of 64 bits are never asked for seven of 32.
            found.chunks_mut(2).skip(8).for_each(|pair| pair[1] = 0);
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
            let total = |n: usize| keys[..n].iter().filter(|key| **key < x).count() as u64;
            assert_eq!(found[..4], [total(8), total(7), 2 * total(8), 2 * total(7)]);
            assert_eq!(found[16..19], [2 * total(4), 0, 4 * total(4)]);
            assert_eq!(arranged, from.map(|lane| keys[lane as usize] as u32));
        }
    }
}
