//! Collects the scores of a chunk that reach a bound, by flags in bulk.

use crate::order::Entry;
use crate::simd::fast;
use crate::{CHUNK, Ctx, Problem, Result, Scores};

/// Scores whose flags are computed together.
const TILE: usize = 1 << 12;
/// From so many wanted scores among 64 on, it is faster to write all than to look for them.
pub(crate) const DENSE: u32 = 24;

/// Copies the negatives that reach `bound` to the front of `to`, and the positives, backwards, to its end. Returns
/// their numbers, or `None` if a score is not finite. Samples of weight 0 are left out.
///
/// Flags are computed in bulk and read as bits: unwanted scores cost little, and no branch depends on a single label.
pub(super) fn collect(
    scores: &[f64],
    (labels, weights): (&[bool], Option<&[f64]>),
    bound: f64,
    to: &mut [f64],
    index: &mut [u16],
) -> Option<(usize, usize)> {
    fast!({
        let (mut n_neg, mut n_pos) = (0, 0);
        let (mut wanted, mut positive) = ([0u8; TILE], [0u8; TILE]);
        for (t, (tile, labels)) in scores.chunks(TILE).zip(labels.chunks(TILE)).enumerate() {
            if !tile.iter().fold(true, |finite, s| finite & s.is_finite()) {
                return None;
            }
            let n_blocks = tile.len().div_ceil(64);
            wanted[..64 * n_blocks].fill(0);
            positive[..64 * n_blocks].fill(0);
            for (((wanted, positive), score), &label) in wanted.iter_mut().zip(&mut positive).zip(tile).zip(labels) {
                *positive = u8::from(label);
                *wanted = u8::from(*score >= bound) & !u8::from(label);
            }
            if let Some(weights) = weights {
                for ((wanted, positive), weight) in wanted.iter_mut().zip(&mut positive).zip(&weights[t * TILE..]) {
                    let counts = u8::from(*weight > 0.0);
                    (*wanted, *positive) = (*wanted & counts, *positive & counts);
                }
            }
            let blocks = wanted.as_chunks::<64>().0.iter().zip(positive.as_chunks::<64>().0);
            for ((wanted, positive), at) in blocks.take(n_blocks).zip((t * TILE..).step_by(64)) {
                // Adding 0.0 turns -0.0 to 0.0, so that equal scores are equal bits.
                let score = |i: usize| scores[at + i] + 0.0;
                let (kept, ones) = (bits(wanted), bits(positive));
                if kept.count_ones() >= DENSE && at + 64 < scores.len() {
                    // All are written, and unwanted ones overwritten.
                    let (to, index) = (&mut to[n_neg..n_neg + 64], &mut index[n_neg..n_neg + 64]);
                    let mut n = 0;
                    for (i, &wanted) in wanted.iter().enumerate() {
                        (to[n & 63], index[n & 63]) = (score(i), (at + i) as u16);
                        n += usize::from(wanted);
                    }
                    n_neg += n;
                } else {
                    for i in positions(kept) {
                        (to[n_neg], index[n_neg]) = (score(i), (at + i) as u16);
                        n_neg += 1;
                    }
                }
                for i in positions(ones) {
                    n_pos += 1;
                    let k = scores.len() - n_pos;
                    (to[k], index[k]) = (score(i), (at + i) as u16);
                }
            }
        }
        Some((n_neg, n_pos))
    })
}

/// The negatives that reach `bound`, and the positives, each in an order that depends on the data only. Samples of
/// weight 0 are left out.
pub(crate) fn entries(problem: &Problem, scores: Scores<'_>, bound: f64, ctx: &Ctx<'_>) -> Result<[Vec<Entry>; 2]> {
    let (labels, weights) = (problem.labels(), problem.sample_weight());
    let parts = ctx.map((0..scores.len()).step_by(CHUNK).collect(), |from| {
        let to = usize::min(from + CHUNK, scores.len());
        let (mut wanted, mut index, mut made) = ([0.0; TILE], [0; TILE], Vec::new());
        let mut classes = [Vec::new(), Vec::new()];
        for from in (from..to).step_by(TILE) {
            let len = usize::min(TILE, to - from);
            let (wanted, index) = (&mut wanted[..len], &mut index[..len]);
            let stretch = from..from + len;
            let (labels, weights) = (&labels[stretch.clone()], weights.map(|weights| &weights[stretch.clone()]));
            let scores = scores.stretch(stretch, &mut made);
            let (n_neg, n_pos) = collect(scores, (labels, weights), bound, wanted, index)?;
            for (class, of) in classes.iter_mut().zip([0..n_neg, len - n_pos..len]) {
                let found = wanted[of.clone()].iter().zip(&index[of]);
                class.extend(found.map(|(&s, &i)| Entry::new(s, (from + usize::from(i)) as u32)));
            }
        }
        Some(classes)
    })?;
    let Some(mut parts) = parts.into_iter().collect::<Option<Vec<_>>>() else { return Err(scores.non_finite()) };
    if parts.len() == 1 {
        return Ok(parts.remove(0));
    }
    Ok([0, 1].map(|class| parts.iter().map(|part| &part[class][..]).collect::<Vec<_>>().concat()))
}

/// The bits of 64 flags of 0 or 1.
#[inline(always)]
pub(crate) fn bits(flags: &[u8; 64]) -> u64 {
    let (words, _) = flags.as_chunks::<8>();
    let byte = |word: &[u8; 8]| u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    words.iter().rev().fold(0, |bits, word| bits << 8 | byte(word))
}

/// The positions of the ones among bits.
#[inline(always)]
pub(crate) fn positions(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            at
        })
    })
}
