//! What is done with eight keys at once, by the instructions of this machine or one by one.

#[cfg(target_arch = "x86_64")]
use {pulp::x86::V3, std::arch::x86_64::__m256i};

/// Instructions for eight lanes of 32 bits. A mask is all ones where something holds.
pub(crate) trait Eight: Copy {
    /// Numbers or masks.
    type Lanes: Copy;
    /// Masks of those keys that are below `x`, and of those that equal it.
    fn compare(self, keys: [i32; 8], x: i32) -> [Self::Lanes; 2];
    /// Zeros.
    fn none(self) -> Self::Lanes;
    /// One more where a mask holds.
    fn count(self, counts: Self::Lanes, mask: Self::Lanes) -> Self::Lanes;
    /// In how many lanes but the last a mask holds.
    fn total(self, mask: Self::Lanes) -> u32;
    /// The counts of all lanes but the last together.
    fn sum(self, counts: Self::Lanes) -> u64;
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

impl Eight for Plain {
    /// Of all lanes but the last.
    type Lanes = u32;

    #[inline(always)]
    fn compare(self, keys: [i32; 8], x: i32) -> [u32; 2] {
        let total = |holds: fn(&i32, &i32) -> bool| keys[..7].iter().map(|key| u32::from(holds(key, &x))).sum();
        [total(i32::lt), total(i32::eq)]
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
}

#[cfg(target_arch = "x86_64")]
impl Eight for V3 {
    type Lanes = __m256i;

    #[inline(always)]
    fn compare(self, keys: [i32; 8], x: i32) -> [Self::Lanes; 2] {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    /// All that is said of some keys.
    struct All([i32; 8], i32);

    impl ByEight for All {
        type Output = Vec<u64>;

        fn call<E: Eight>(self, by: E) -> Self::Output {
            let Self(keys, x) = self;
            let mut found = vec![];
            let masks = by.compare(keys, x);
            for mask in masks {
                let counts = by.count(by.count(by.none(), mask), masks[0]);
                found.extend([by.total(mask).into(), by.sum(counts)]);
            }
            found
        }
    }

    #[test]
    fn all_instructions_do_the_same() {
        let mut next = uniform(6);
        for _ in 0..1000 {
            let mut draw = |n: f64| (next() * n) as i32;
            let keys: [i32; 8] = std::array::from_fn(|_| draw(5.0) - 2);
            let x = draw(5.0) - 2;
            let found = All(keys, x).call(Plain);
            assert_eq!(by_eight(All(keys, x)), found);
            let total = |of: fn(&i32, &i32) -> bool| keys[..7].iter().filter(|key| of(key, &x)).count() as u64;
            let [below, equal] = [total(i32::lt), total(i32::eq)];
            assert_eq!(found, [below, 2 * below, equal, equal + below]);
        }
    }
}
