//! Pair counts of repeated samples by rank, 32 ranks at a time, with running sums in registers.

use core::arch::x86_64::__m256i;

use pulp::x86::V3;

use crate::simd::Block;

/// The positives, the negatives, and the pairs of a positive and a negative above it; `None` if a count is too large
/// for sums of eight in a byte, or without the instructions.
pub(crate) fn seen(counts: &[[u8; 32]], classes: &[[u8; 32]]) -> Option<[u64; 3]> {
    let simd = V3::try_new()?;
    simd.vectorize(Block(
        #[inline(always)]
        move || {
            const TOO_LARGE: u8 = 0xE0;
            let V3 { avx, avx2, .. } = simd;
            let zero = avx._mm256_setzero_si256();
            let (mut large, mut within, mut pairs, mut all_pos, mut all_neg) = (zero, zero, zero, zero, zero);
            for (&counts, &classes) in counts.iter().zip(classes) {
                let [counts, classes]: [__m256i; 2] = [pulp::cast(counts), pulp::cast(classes)];
                large = avx2._mm256_or_si256(large, counts);
                let pos = avx2._mm256_and_si256(counts, classes);
                // In each octet the negatives up to each rank, by doubling.
                let neg = avx2._mm256_andnot_si256(classes, counts);
                let neg = avx2._mm256_add_epi8(neg, avx2._mm256_slli_epi64::<8>(neg));
                let neg = avx2._mm256_add_epi8(neg, avx2._mm256_slli_epi64::<16>(neg));
                let neg = avx2._mm256_add_epi8(neg, avx2._mm256_slli_epi64::<32>(neg));
                // Pairs within an octet: two products of 31 and 8 x 31 fit 16 bits.
                let products = avx2._mm256_maddubs_epi16(neg, pos);
                within = avx2._mm256_add_epi32(within, avx2._mm256_madd_epi16(products, avx._mm256_set1_epi16(1)));
                // Each octet's positives, and the negatives in all octets before.
                let (pos, neg) = (avx2._mm256_sad_epu8(pos, zero), avx2._mm256_srli_epi64::<56>(neg));
                let up_to = avx2._mm256_add_epi64(neg, shifted::<0b10_01_00_00, 0b11>(simd, neg, zero));
                let up_to = avx2._mm256_add_epi64(up_to, shifted::<0b01_00_00_00, 0b1111>(simd, up_to, zero));
                let before = avx2._mm256_add_epi64(all_neg, avx2._mm256_sub_epi64(up_to, neg));
                pairs = avx2._mm256_add_epi64(pairs, avx2._mm256_mul_epu32(pos, before));
                all_pos = avx2._mm256_add_epi64(all_pos, pos);
                all_neg = avx2._mm256_add_epi64(all_neg, avx2._mm256_permute4x64_epi64::<0b11_11_11_11>(up_to));
            }
            let large: [u8; 32] = pulp::cast(large);
            if large.iter().fold(0, |all, count| all | count) & TOO_LARGE != 0 {
                return None;
            }
            let sum = |lanes: __m256i| pulp::cast::<__m256i, [u64; 4]>(lanes).iter().sum::<u64>();
            let within = pulp::cast::<__m256i, [u32; 8]>(within).into_iter().map(u64::from).sum::<u64>();
            Some([sum(all_pos), sum(all_neg) / 4, sum(pairs) + within])
        },
    ))
}

/// The lanes taken from where `FROM` says, those of `ZEROS` (two bits each) zero.
#[inline(always)]
fn shifted<const FROM: i32, const ZEROS: i32>(V3 { avx2, .. }: V3, lanes: __m256i, zero: __m256i) -> __m256i {
    avx2._mm256_blend_epi32::<ZEROS>(avx2._mm256_permute4x64_epi64::<FROM>(lanes), zero)
}
