//! Samples by rank, and the area under their curve when they are repeated; counts and classes are bytes.

use crate::RateRange;
use crate::curve::sum::Share;
use crate::curve::walk::Step;
use crate::simd::fast;

/// The classes of all samples by descending score, with the positives first in a block of ties.
pub(crate) struct Sequence {
    /// By rank, [`POSITIVE`] or 0.
    pub(crate) classes: Vec<u8>,
    /// Blocks with ties of both classes: the ranks of their first positive and first negative, and their end.
    blocks: Vec<[u32; 3]>,
}

/// A positive in a mask of counts: all bits set.
pub(crate) const POSITIVE: u8 = u8::MAX;

/// Ranks processed at a time.
const TILE: usize = 1 << 11;

impl Sequence {
    /// From the distinct scores, the highest first, with counts as weights.
    pub(crate) fn of_steps(steps: &[Step]) -> Self {
        let (mut classes, mut blocks) = (Vec::new(), Vec::new());
        for step in steps {
            let first = classes.len();
            let (negative, end) = (first + step.pos as usize, first + step.pos as usize + step.neg as usize);
            classes.resize(negative, POSITIVE);
            classes.resize(end, 0);
            if first < negative && negative < end {
                blocks.push([first, negative, end].map(|rank| rank as u32));
            }
        }
        Self { classes, blocks }
    }

    /// The share of a range below the curve when samples are repeated `counts` times, by rank.
    pub(crate) fn share(&self, counts: &[u8], range: RateRange) -> Share {
        let [pos, neg] = totals(counts, &self.classes);
        let [from, to] = [range.low(), range.high()].map(|rate| self.up_to(counts, pos, rate * neg as f64));
        let [won, lost] = [0, 1].map(|k| f64::max(to[k] - from[k], 0.0));
        Share { won, lost }
    }

    /// The area under the curve of counts over the first `end` repeated negatives, `sum_i c_i (end - G_i)_+`, and that
    /// above it, `sum_i c_i min(end, G_i)`: c_i is how often the i-th of `n_pos` positives is repeated, G_i the
    /// repeated negatives above it, averaged over those tied with it.
    fn up_to(&self, counts: &[u8], n_pos: u64, end: f64) -> [f64; 2] {
        // To the negative that passes the end, if any.
        let (mut seen, mut rank) = (Seen::default(), 0);
        for step in [TILE, 1 << 6, 1] {
            while rank < counts.len() {
                let stretch = rank..usize::min(rank + step, counts.len());
                let next = Seen::of(&counts[stretch.clone()], &self.classes[stretch.clone()]);
                if (seen.neg + next.neg) as f64 > end {
                    break;
                }
                seen.add(next);
                rank = stretch.end;
            }
        }
        let repeated = |from: u32, to: usize| total(&counts[from as usize..to]);
        let n_passed = self.blocks.partition_point(|&[.., end]| end as usize <= rank);
        let passed = self.blocks[..n_passed].iter();
        let tied =
            passed.map(|&[pos, neg, end]| repeated(pos, neg as usize) * repeated(neg, end as usize)).sum::<u64>();
        let mut above = seen.above as f64 + 0.5 * tied as f64;
        match self.blocks.get(n_passed) {
            // The end is in this block, whose positives are spread evenly over its negatives.
            Some(&[pos, neg, last]) if pos as usize <= rank => {
                let inside = end - (seen.neg - repeated(neg, rank)) as f64;
                let of_all = inside / repeated(neg, last as usize) as f64;
                above += repeated(pos, neg as usize) as f64 * inside * (1.0 - 0.5 * of_all);
            }
            _ => {}
        }
        [end * seen.pos as f64 - above, end * (n_pos - seen.pos) as f64 + above]
    }
}

/// Totals over a stretch of ranks, with repetitions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) pos: u64,
    pub(crate) neg: u64,
    /// Pairs of a positive and a negative above it.
    pub(crate) above: u64,
}

impl Seen {
    /// Adds the stretch that follows.
    fn add(&mut self, next: Self) {
        self.above += next.above + self.neg * next.pos;
        self.pos += next.pos;
        self.neg += next.neg;
    }

    /// Of at most `TILE` ranks.
    fn of(counts: &[u8], classes: &[u8]) -> Self {
        #[cfg(target_arch = "x86_64")]
        if crate::simd::vectors() && counts.len() >= FEW {
            let ((counts, rest), (classes, last)) = (counts.as_chunks(), classes.as_chunks());
            if let Some([pos, neg, above]) = super::octets::seen(counts, classes) {
                let mut seen = Self { pos, neg, above };
                seen.add(Self::one_by_one(rest, last));
                return seen;
            }
        }
        Self::one_by_one(counts, classes)
    }

    fn one_by_one(counts: &[u8], classes: &[u8]) -> Self {
        let mut seen = Self::default();
        for (&count, &class) in counts.iter().zip(classes) {
            let [pos, neg] = [count & class, count & !class].map(u64::from);
            seen.pos += pos;
            seen.above += pos * seen.neg;
            seen.neg += neg;
        }
        seen
    }
}

/// Fewer counts are added one by one.
const FEW: usize = 1 << 5;

/// The sum of the counts.
fn total(counts: &[u8]) -> u64 {
    if counts.len() < FEW {
        return counts.iter().map(|&count| u64::from(count)).sum();
    }
    totals(counts, counts)[0]
}

/// The sums of the counts by class.
pub(crate) fn totals(counts: &[u8], classes: &[u8]) -> [u64; 2] {
    let mut sums = [0; 2];
    let mut add = |[pos, all]: [u64; 2]| sums = [sums[0] + pos, sums[1] + all - pos];
    let ((words, rest), (of_words, of_rest)) = (counts.as_chunks(), classes.as_chunks());
    for (words, classes) in words.chunks(SUMMED).zip(of_words.chunks(SUMMED)) {
        add(totals_of_words(words, classes));
    }
    for (&count, &class) in rest.iter().zip(of_rest) {
        add([count & class, count].map(u64::from));
    }
    sums
}

/// Words of eight counts whose sums fit 16 bits: 128 times twice 255.
const SUMMED: usize = 1 << 7;

/// The sums of the positives' counts and of all.
fn totals_of_words(words: &[[u8; 8]], classes: &[[u8; 8]]) -> [u64; 2] {
    fast!({
        const EVEN: u64 = 0x00FF_00FF_00FF_00FF;
        let mut sums = [0u64; 2];
        for (&counts, &classes) in words.iter().zip(classes) {
            let (counts, classes) = (u64::from_le_bytes(counts), u64::from_le_bytes(classes));
            for (sum, counts) in sums.iter_mut().zip([counts & classes, counts]) {
                *sum = sum.wrapping_add(counts & EVEN).wrapping_add(counts >> 8 & EVEN);
            }
        }
        sums.map(|sum| (0..4).map(|k| sum >> (16 * k) & 0xFFFF).sum())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    #[test]
    fn tiles_are_counted_as_one_by_one() {
        let mut next = uniform(5);
        for (n, most) in [(0, 3.0), (7, 3.0), (64, 3.0), (95, 31.9), (TILE, 31.9), (TILE, 32.9), (TILE, 255.9)] {
            for share in [0.0, 0.01, 0.5, 1.0] {
                let counts: Vec<u8> = (0..n).map(|_| (next() * most) as u8).collect();
                let classes: Vec<u8> = (0..n).map(|_| if next() < share { POSITIVE } else { 0 }).collect();
                let expected = Seen::one_by_one(&counts, &classes);
                assert_eq!(Seen::of(&counts, &classes), expected);
                assert_eq!(totals(&counts, &classes), [expected.pos, expected.neg]);
                assert_eq!(total(&counts), expected.pos + expected.neg);
            }
        }
    }
}
