//! The samples of one bucket by what is compared: their keys, or their ranks where keys tie.

use super::counting_sort::{CHUNK, Stage};
use super::keys::Chunk;
use super::rank_sums::{Found, Ranks};
use super::slots::{self, Slots};
use super::sums::{PairCounts, Wanted, grown};
use crate::metric::labels::TILE;
use crate::metric::score::Score;
use crate::order::fast;

/// A bucket of more keys than this is counted in so many parts: what is looked up then stays in a cache.
const LARGE: usize = 1 << 17;
const PARTS: usize = 1 << 6;

/// What is made of a bucket.
pub(crate) trait Work {
    type Output;
    /// Of its positives and negatives, each in parts; and whether any of one class tie with some of the other.
    fn of(&mut self, worker: &mut Worker, classes: &Classes<'_>) -> (Self::Output, bool);
}

/// The positives and the negatives, each in parts.
pub(crate) type Classes<'a> = [Vec<&'a [i32]>; 2];

/// How many there are of either class.
pub(crate) fn sizes(classes: &Classes<'_>) -> [usize; 2] {
    classes.each_ref().map(|parts| parts.iter().map(|part| part.len()).sum())
}

/// What a thread needs to work on buckets.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    worker: Worker,
    /// Keys, and where they are from; and the scores.
    entries: Vec<u64>,
    scores: Vec<f64>,
    ranks: Vec<i32>,
}

impl Workers {
    pub(crate) fn bytes(&self) -> usize {
        self.worker.bytes() + 8 * (self.entries.capacity() + self.scores.capacity()) + 4 * self.ranks.capacity()
    }

    /// Works on a bucket by keys, or by ranks where keys of both classes tie, as scores perhaps do not, or are expected
    /// to `tie`: where the scores of one bucket do, those of the next are taken to.
    pub(crate) fn run<S: Score, W: Work>(
        &mut self,
        chunks: &[Chunk<'_, S>],
        bucket: usize,
        tie: &mut bool,
        mut work: W,
    ) -> W::Output {
        self.worker.floats = S::EXACT;
        if S::EXACT || !*tie {
            let classes = [0, 1].map(|class| chunks.iter().map(|chunk| chunk.keys(bucket, class)).collect());
            let (found, tied) = work.of(&mut self.worker, &classes);
            if S::EXACT || !tied {
                return found;
            }
        }
        let n_pos = self.rank(chunks, bucket);
        let (pos, neg) = self.ranks.split_at(n_pos);
        let found;
        (found, *tie) = work.of(&mut self.worker, &[vec![pos], vec![neg]]);
        found
    }

    /// Ranks the scores of a bucket, the positives first, equal ones alike; the number of positives.
    fn rank<S: Score>(&mut self, chunks: &[Chunk<'_, S>], bucket: usize) -> usize {
        let Self { entries, scores, ranks, .. } = self;
        entries.clear();
        scores.clear();
        let n_pos = [0, 1].map(|class| {
            for chunk in chunks {
                let numbered = (scores.len() as u64..).zip(chunk.keys(bucket, class));
                entries.extend(numbered.map(|(k, &key)| u64::from(key as u32 ^ 1 << 31) << 32 | k));
                scores.extend(chunk.scores(bucket, class).map(Into::<f64>::into));
            }
            entries.len()
        })[0];
        entries.sort_unstable();
        ranks.clear();
        ranks.resize(entries.len(), 0);
        let (mut rank, mut last) = (0, f64::NAN);
        for tied in entries.chunk_by_mut(|x, y| x >> 32 == y >> 32) {
            let score = |entry: &u64| scores[*entry as u32 as usize];
            if tied.len() > 1 {
                tied.sort_unstable_by(|x, y| score(x).order(&score(y)));
            }
            for entry in tied {
                // By two, as a line tells keys apart.
                rank += 2 * i32::from(score(entry) != last);
                last = score(entry);
                ranks[*entry as u32 as usize] = rank;
            }
        }
        n_pos
    }
}

/// Ranks the keys of one class among those of the other.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    slots: Slots,
    line: Line,
    cells: Vec<u32>,
    /// The keys in the slots as they come.
    own: Vec<i32>,
    ranks: Ranks,
    stage: Stage,
    /// Whether keys are the bits of float32 scores, which lie evenly as numbers and not as bits.
    floats: bool,
}

impl Worker {
    fn bytes(&self) -> usize {
        self.own.capacity() * (size_of::<i32>() + 4) + 8 * self.ranks.counts.capacity() + self.slots.bytes()
    }

    /// Counts the pairs of two classes, the positives first, each in parts.
    pub(crate) fn count(&mut self, classes: &Classes<'_>, wanted: Wanted) -> PairCounts {
        if sizes(classes).iter().sum::<usize>() > LARGE {
            self.in_parts(classes, wanted)
        } else {
            self.whole(classes, wanted)
        }
    }

    /// The same of keys that are too many for the caches: first they are scattered into parts that are not.
    fn in_parts(&mut self, classes: &Classes<'_>, wanted: Wanted) -> PairCounts {
        let ends = classes.iter().flatten().map(|keys| fast(Ends(keys)));
        let (low, high) = ends.fold((i32::MAX, i32::MIN), |ends, (low, high)| (ends.0.min(low), ends.1.max(high)));
        let (line, mut cells) = (Line::new(low, high, PARTS as u32, self.floats), vec![0; CHUNK]);
        self.stage.reserve(CHUNK);
        let scattered = classes.each_ref().map(|parts| {
            let all = parts.concat();
            let chunks = all.chunks(CHUNK).map(|keys| {
                fast(Cells { line, keys, cells: &mut cells[..keys.len()] });
                self.stage.keys[..keys.len()].copy_from_slice(keys);
                self.stage.ids.iter_mut().zip(&cells[..keys.len()]).for_each(|(id, &cell)| *id = cell as u16);
                let mut scattered = vec![0; keys.len()];
                let starts = self.stage.scatter(PARTS, &mut scattered, &mut []);
                (scattered, starts)
            });
            chunks.collect::<Vec<_>>()
        });
        let (mut total, mut below) = (PairCounts::default(), [0u64; 2]);
        for part in 0..PARTS {
            let classes = scattered.each_ref().map(|chunks| {
                let own = |(_, starts): &(Vec<i32>, Vec<u32>)| starts[part] as usize..starts[part + 1] as usize;
                chunks.iter().map(|chunk| &chunk.0[own(chunk)]).collect()
            });
            total.add(self.whole(&classes, wanted).above(sizes(&classes), below));
            below.iter_mut().zip(sizes(&classes)).for_each(|(below, size)| *below += size as u64);
        }
        total
    }

    fn whole(&mut self, classes: &Classes<'_>, wanted: Wanted) -> PairCounts {
        let sizes = sizes(classes);
        let asking = usize::from(sizes[0] < sizes[1]);
        if sizes[1 - asking] == 0 {
            return PairCounts::default();
        }
        self.fill(&classes[1 - asking]);
        let (found, squares) = match wanted {
            Wanted::Pairs => {
                let mut found = Found::default();
                self.asked(&classes[asking], |_, cells, keys| found.add(self.slots.sum(cells, keys)));
                (found, [0; 2])
            }
            Wanted::Squares => {
                let mut ranks = std::mem::take(&mut self.ranks);
                ranks.clear(self.own.len());
                let mut counter = ranks.counter();
                self.each(&classes[asking], |_, rank| counter.count(rank));
                self.ranks = ranks;
                self.ranks.sums()
            }
        };
        PairCounts::of_found(asking, sizes, found, squares)
    }

    /// Takes all `parts` into slots.
    pub(crate) fn fill(&mut self, parts: &[&[i32]]) {
        let Self { slots, line, cells, own, floats, .. } = self;
        own.clear();
        parts.iter().for_each(|part| own.extend_from_slice(part));
        let (low, high) = fast(Ends(own));
        *line = Line::new(low, high, slots::n_cells(own.len()), *floats);
        let cells = grown(cells, own.len());
        fast(Cells { line: *line, keys: own, cells });
        slots.fill(line.last as usize + 1, cells, own);
    }

    /// Calls `f` with the place in `parts` of each key and its rank: how many of the slots are below it, and how many
    /// below or equal.
    pub(crate) fn each(&self, parts: &[&[i32]], mut f: impl FnMut(usize, [u32; 2])) {
        self.asked(parts, |from, cells, keys| self.slots.each(cells, keys, |k, rank| f(k.wrapping_add(from), rank)));
    }

    /// Calls `f` with some of the keys at a time: the place of the first, and the cells of all.
    fn asked(&self, parts: &[&[i32]], mut f: impl FnMut(usize, &[u32], &[i32])) {
        let (mut cells, mut from) = ([0; TILE], 0);
        for keys in parts.iter().flat_map(|part| part.chunks(TILE)) {
            let cells = &mut cells[..keys.len()];
            fast(Cells { line: self.line, keys, cells });
            f(from, cells, keys);
            from += keys.len();
        }
    }

    /// How many the slots hold.
    pub(crate) fn len(&self) -> usize {
        self.own.len()
    }
}

/// A linear map of keys to cells, those beyond its ends going to the first and the last.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    low: i32,
    /// Cells a unit; of integers in two.
    scale: f32,
    last: u32,
    floats: bool,
}

impl Line {
    fn new(low: i32, high: i32, cells: u32, floats: bool) -> Self {
        let length = if floats { float(high) - float(low) } else { (high.abs_diff(low) / 2 + 1) as f32 };
        let scale = cells as f32 / length;
        // A range too wide or too narrow for the arithmetic becomes one cell.
        let usable = length.is_normal() && scale.is_normal();
        Self { low, scale: if usable { scale } else { 0.0 }, last: cells - 1, floats }
    }

    /// Every operation is monotone, so the cell is.
    #[inline(always)]
    fn cell_of_float(self, key: i32) -> u32 {
        self.nearest((float(key) - float(self.low)) * self.scale)
    }

    #[inline(always)]
    fn cell(self, key: i32) -> u32 {
        let above = i32::max(key, self.low).wrapping_sub(self.low) as u32 / 2;
        self.nearest(above as i32 as f32 * self.scale)
    }

    /// Adding 2^23 rounds to a whole number, which then stands in the low bits.
    #[inline(always)]
    fn nearest(self, x: f32) -> u32 {
        let last = self.last as f32;
        let x = if x > 0.0 { x } else { 0.0 };
        let x = if x < last { x } else { last };
        (x + 8_388_608.0).to_bits() & ((1 << 23) - 1)
    }
}

/// The float32 whose key this is.
#[inline(always)]
fn float(key: i32) -> f32 {
    f32::from_bits((key ^ ((key >> 31) as u32 >> 1) as i32) as u32)
}

/// Writes the cell of every key.
struct Cells<'a> {
    line: Line,
    keys: &'a [i32],
    cells: &'a mut [u32],
}

impl pulp::NullaryFnOnce for Cells<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let of_keys = self.cells.iter_mut().zip(self.keys);
        if self.line.floats {
            of_keys.for_each(|(cell, &key)| *cell = self.line.cell_of_float(key));
        } else {
            of_keys.for_each(|(cell, &key)| *cell = self.line.cell(key));
        }
    }
}

/// The least and the greatest key.
struct Ends<'a>(&'a [i32]);

impl pulp::NullaryFnOnce for Ends<'_> {
    type Output = (i32, i32);

    #[inline(always)]
    fn call(self) -> Self::Output {
        self.0.iter().fold((i32::MAX, i32::MIN), |(low, high), &key| (low.min(key), high.max(key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    #[test]
    fn parts_count_as_the_whole() {
        let mut next = uniform(3);
        for levels in [40.0, 1e6, 4e9] {
            let mut draw = |n: usize| (0..n).map(|_| ((next() - 0.5) * levels) as i32).collect::<Vec<_>>();
            let (pos, neg, more) = (draw(90_000), draw(70_000), draw(30));
            let (mut worker, classes) = (Worker::default(), [vec![&pos[..]], vec![&neg[..], &more[..]]]);
            let whole = worker.whole(&classes, Wanted::Squares);
            assert_eq!(worker.in_parts(&classes, Wanted::Squares), whole, "{levels}");
            let pairs = worker.in_parts(&classes, Wanted::Pairs);
            assert_eq!((pairs.won, pairs.tied), (whole.won, whole.tied), "{levels}");
        }
    }
}
