//! Ranks among one class without a sort: the scores of the class in monotone cells of one or two each.

/// A floating-point type of scores; float32 is ranked as it is.
pub trait Score: Copy + Into<f64> + PartialOrd + Default + Send + Sync + 'static {
    #[doc(hidden)]
    const INFINITY: Self;
    #[doc(hidden)]
    fn order(&self, other: &Self) -> std::cmp::Ordering;
    #[doc(hidden)]
    fn finite(self) -> bool;
    #[doc(hidden)]
    fn line(low: Self, high: Self, cells: u32) -> Line<Self>;
    #[doc(hidden)]
    fn cell(self, line: Line<Self>) -> u32;
}

/// A linear map of scores to cells, the scores beyond its ends going to the first and the last.
#[derive(Debug, Clone, Copy, Default)]
pub struct Line<S> {
    low: S,
    scale: S,
    last: S,
}

macro_rules! score {
    ($type:ty, $magic:expr) => {
        impl Score for $type {
            const INFINITY: Self = <$type>::INFINITY;

            #[inline(always)]
            fn order(&self, other: &Self) -> std::cmp::Ordering {
                self.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal)
            }

            #[inline(always)]
            fn finite(self) -> bool {
                self.is_finite()
            }

            fn line(low: Self, high: Self, cells: u32) -> Line<Self> {
                let scale = cells as $type / (high - low);
                // A range too wide or too narrow for the arithmetic becomes one cell.
                let usable = (high - low).is_normal() && scale.is_normal();
                Line { low, scale: if usable { scale } else { 0.0 }, last: (cells - 1) as $type }
            }

            /// Every operation is monotone, so the cell is; adding 2^(mantissa bits) rounds to a whole number, which
            /// then stands in the low bits.
            #[inline(always)]
            fn cell(self, line: Line<Self>) -> u32 {
                let x = (self - line.low) * line.scale;
                let x = if x > 0.0 { x } else { 0.0 };
                let x = if x < line.last { x } else { line.last };
                (x + $magic).to_bits() as u32 & 0x007F_FFFF
            }
        }
    };
}
score!(f64, 4_503_599_627_370_496.0);
score!(f32, 8_388_608.0);

/// Scores compared at once: those of a cell, as a rule, and some beyond it, which lose every comparison.
pub(crate) const LANES: usize = 8;
/// Most cells of a table.
const MOST_CELLS: usize = 1 << 20;

/// The scores of a class by ascending cell.
#[derive(Debug, Default)]
pub(crate) struct Table<S> {
    line: Line<S>,
    /// By cell; then `LANES` times infinity.
    scores: Vec<S>,
    /// Where each cell begins, and the end.
    starts: Vec<u32>,
    len: usize,
}

/// Below this many scores they are compared one and all.
const FEW: usize = LANES;

impl<S: Score> Table<S> {
    /// Fills the table with the scores of all `parts`. O(number of scores).
    #[inline(always)]
    pub(crate) fn fill(&mut self, parts: &[&[S]]) {
        let all = || parts.iter().flat_map(|part| part.iter().copied());
        self.len = parts.iter().map(|part| part.len()).sum();
        let cells = if self.len <= FEW { 1 } else { (self.len / 2).next_power_of_two().min(MOST_CELLS) };
        let (mut low, mut high) = (S::INFINITY, S::default());
        if let Some(first) = all().next() {
            (low, high) = (first, first);
        }
        for part in parts {
            for &x in *part {
                low = if x < low { x } else { low };
                high = if x > high { x } else { high };
            }
        }
        self.line = S::line(low, high, cells as u32);
        self.starts.clear();
        self.starts.resize(cells + 2, 0);
        for part in parts {
            for &x in *part {
                let count = &mut self.starts[x.cell(self.line) as usize + 2];
                *count = count.wrapping_add(1);
            }
        }
        let (mut sum, mut most) = (0, 0);
        for start in &mut self.starts {
            most = most.max(*start);
            sum = u32::wrapping_add(sum, *start);
            *start = sum;
        }
        self.scores.resize(usize::max(self.len + LANES, self.scores.len()), S::INFINITY);
        let scores = self.scores.as_mut_slice();
        for part in parts {
            for &x in *part {
                let next = &mut self.starts[x.cell(self.line) as usize + 1];
                scores[*next as usize] = x;
                *next = next.wrapping_add(1);
            }
        }
        self.scores[self.len..self.len + LANES].fill(S::INFINITY);
        if most as usize > LANES {
            for cell in 0..cells {
                let cell = self.starts[cell] as usize..self.starts[cell + 1] as usize;
                if cell.len() > LANES {
                    self.scores[cell].sort_unstable_by(S::order);
                }
            }
        }
    }

    /// How many scores of the table are below `x`, and how many are below or equal to it.
    #[inline(always)]
    pub(crate) fn rank(&self, x: S) -> (u32, u32) {
        let cell = x.cell(self.line) as usize;
        let (start, end) = (self.starts[cell], self.starts[cell + 1]);
        if end.wrapping_sub(start) as usize > LANES {
            return self.rank_in(start, end, x);
        }
        let (mut below, mut up_to) = (0, 0);
        for &y in &self.scores[start as usize..start as usize + LANES] {
            // Wrapping: a check for overflow would keep the comparisons from being made at once.
            below = u32::wrapping_add(below, u32::from(y < x));
            up_to = u32::wrapping_add(up_to, u32::from(y <= x));
        }
        (start.wrapping_add(below), start.wrapping_add(up_to))
    }

    #[cold]
    fn rank_in(&self, start: u32, end: u32, x: S) -> (u32, u32) {
        let cell = &self.scores[start as usize..end as usize];
        (start + cell.partition_point(|&y| y < x) as u32, start + cell.partition_point(|&y| y <= x) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_a_plain_count() {
        let mut state = 7u64;
        let mut next = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        for scale in [1.0, 1e-320, 1e308] {
            for (n, levels) in [(1, 3.0), (8, 3.0), (9, 2.0), (300, 5.0), (300, 1e9), (2000, 40.0)] {
                let mut draw = || (next() * levels).floor() / levels * scale * if next() < 0.2 { -1.0 } else { 1.0 };
                let scores: Vec<f64> = (0..n).map(|_| draw()).collect();
                let mut table = Table::default();
                table.fill(&[&scores[..n / 3], &scores[n / 3..]]);
                let others = [0.0, -0.0, 1.5 * scale, -1.5 * scale, 0.1 * scale];
                for x in scores.iter().copied().chain(others) {
                    let below = scores.iter().filter(|&&y| y < x).count() as u32;
                    let up_to = scores.iter().filter(|&&y| y <= x).count() as u32;
                    assert_eq!(table.rank(x), (below, up_to), "{x} among {n} of {levels} levels times {scale}");
                }
            }
        }
    }
}
