//! A random order of the first whole numbers.

use crate::resample::Stream;

/// Up to so many numbers are shuffled and kept; the places of more are computed one by one.
const KEPT: u64 = 1 << 16;
const ROUNDS: usize = 6;

/// A permutation of `0..size`, drawn by a seed.
#[derive(Debug)]
pub(super) enum Shuffle {
    /// The number at each place, by Fisher and Yates: all permutations are equally likely.
    Kept(Vec<u32>),
    /// A Feistel network on the numbers of a nearly square table (Black and Rogaway, 2002), repeated until the result is
    /// below `size`.
    Network { size: u64, shape: [u64; 2], keys: [u64; ROUNDS] },
}

impl Shuffle {
    /// `size` is positive and at most 2^62.
    pub(super) fn new(size: u64, seed: u64) -> Self {
        let mut stream = Stream::new(seed, size);
        if size > KEPT {
            let rows = size.isqrt();
            return Shuffle::Network {
                size,
                shape: [rows, size.div_ceil(rows)],
                keys: [(); ROUNDS].map(|()| stream.next()),
            };
        }
        let mut order: Vec<u32> = (0..size as u32).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, ((u128::from(stream.next()) * (last as u128 + 1)) >> 64) as usize);
        }
        Shuffle::Kept(order)
    }

    /// The number at `place`, which is below `size`.
    pub(super) fn at(&self, place: u64) -> u64 {
        let (size, [rows, columns], keys) = match self {
            Shuffle::Kept(order) => return u64::from(order[place as usize]),
            Shuffle::Network { size, shape, keys } => (*size, *shape, keys),
        };
        let mut number = place;
        loop {
            let [mut row, mut column] = [number / columns, number % columns];
            for keys in keys.chunks_exact(2) {
                row = moved(row, rows, column ^ keys[0]);
                column = moved(column, columns, row ^ keys[1]);
            }
            number = row * columns + column;
            if number < size {
                return number;
            }
        }
    }
}

/// `at` moved on by a number below `size` that depends on all bits of another, modulo `size`.
#[inline(always)]
fn moved(at: u64, size: u64, bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let bits = (bits ^ (bits >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let sum = at + (((bits >> 32) * size) >> 32);
    if sum < size { sum } else { sum - size }
}
