//! Scores as a bucket and 32 bits in it: half the memory to scatter where they have 64, and integers to rank.
//!
//! A monotone map gives every score a bucket and a key in it. A float32 is its own key, and a float64 can be. Otherwise
//! the keys of float64 scores are cells of the map, far smaller than the distances between most of them: two scores in
//! one cell have to be compared themselves.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::cells::Spread;
use super::counting_sort::{CHUNK, N_BUCKETS, Stage};
use super::sums::grown;
use crate::metric::labels::{Labels, TILE};
use crate::metric::score::{Key, KeyOf, Score};
use crate::order::fast;
use crate::{Ctx, Result, alloc};

/// Scores aimed at in a bucket: the table of the rarer class stays in the first-level cache.
const BUCKET: usize = 1 << 13;
/// So many ties in a sample are too many.
const TIES: usize = 2;
/// One key of so many that is shared is too many.
const DENSE: f64 = 4096.0;
/// Neighbours in a sample that are this far apart tell how scores crowd.
const STEP: usize = 8;
/// Units of work for each thread.
pub(crate) const SHARES: usize = 4;

/// The samples of one chunk by bucket and class.
pub(crate) struct Chunk<'a, S, K> {
    keys: &'a [K],
    /// Where in the chunk each is from, if that was wanted.
    pub(crate) index: &'a [u16],
    /// The scores of the chunk, the first of which is sample `from`.
    pub(crate) scores: &'a [S],
    pub(crate) from: usize,
    /// Those in the outermost cells, to which all are left that lie further out.
    pub(crate) ends: Vec<End<S, K, u16>>,
    /// Where the positives of each bucket begin, then the negatives of each, and the end.
    starts: Vec<u32>,
}

/// Room for what is made of the scores of a tile.
pub(crate) struct Tile {
    positive: [bool; TILE],
    cells: [u64; TILE],
    buckets: [u32; TILE],
}

impl Default for Tile {
    fn default() -> Self {
        Self { positive: [false; TILE], cells: [0; TILE], buckets: [0; TILE] }
    }
}

/// What tells where samples go.
pub(crate) trait Id: Copy {
    /// Of a sample in one of 2^`bits` buckets.
    fn new(bucket: u32, positive: bool, bits: u32) -> Self;
}

/// The bucket, plus for negatives the number of buckets.
impl Id for u16 {
    #[inline(always)]
    fn new(bucket: u32, positive: bool, bits: u32) -> Self {
        bucket as Self | (Self::from(positive) ^ 1) << (bits & 15)
    }
}

/// The bucket alone.
impl Id for u32 {
    #[inline(always)]
    fn new(bucket: u32, _: bool, _: u32) -> Self {
        bucket
    }
}

/// A sample in an outermost cell, where different scores may share a key.
#[derive(Debug)]
pub(crate) struct End<S, K, I> {
    pub(crate) id: I,
    pub(crate) key: K,
    pub(crate) score: S,
    pub(crate) sample: usize,
}

/// The samples of one class in a bucket that are from one chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a, S, K> {
    pub(crate) keys: &'a [K],
    /// The scores of the chunk, and where in it those of the part are.
    scores: &'a [S],
    index: &'a [u16],
}

impl<'a, S, K> Chunk<'a, S, K> {
    /// The samples of a class in a bucket, whose index was wanted.
    pub(crate) fn part(&self, bucket: usize, class: usize) -> Part<'a, S, K> {
        let own = self.own(bucket, class);
        Part { keys: &self.keys[own.clone()], scores: self.scores, index: &self.index[own] }
    }

    /// Their keys.
    pub(crate) fn keys(&self, bucket: usize, class: usize) -> &'a [K] {
        &self.keys[self.own(bucket, class)]
    }

    fn own(&self, bucket: usize, class: usize) -> Range<usize> {
        let id = class * (self.starts.len() / 2) + bucket;
        self.starts[id] as usize..self.starts[id + 1] as usize
    }
}

impl<S: Copy, K: Key> Part<'_, S, K> {
    /// The score of the k-th key.
    pub(crate) fn score(&self, k: usize) -> S {
        self.scores[usize::from(self.index[k])]
    }

    /// All scores, in the order of the keys.
    pub(crate) fn scores(&self) -> impl Iterator<Item = S> {
        self.index.iter().map(|&from| self.scores[usize::from(from)])
    }
}

/// For each bucket, the positives and the negatives in those below.
pub(crate) fn below<S, K>(chunks: &[Chunk<'_, S, K>], n_buckets: usize) -> Vec<[u64; 2]> {
    let size = |bucket, class| chunks.iter().map(|chunk| chunk.own(bucket, class).len() as u64).sum::<u64>();
    let mut below = vec![[0; 2]];
    for bucket in 1..n_buckets {
        below.push([0, 1].map(|class| below[bucket - 1][class] + size(bucket - 1, class)));
    }
    below
}

/// How scores are shared among buckets, and what their keys are.
pub(crate) struct Buckets {
    pub(crate) spread: Spread,
    pub(crate) len: usize,
    /// Whether scores tie often, and so their keys.
    pub(crate) tie: bool,
    /// Whether keys are expected to tie often, be it that scores do or that they lie too close together.
    pub(crate) dense: bool,
    /// How many are expected in the bucket of a score, as the root of the mean square.
    pub(crate) crowd: f64,
    /// Whether all that is not finite goes to the outermost cells, where it is looked for.
    pub(crate) far: bool,
}

/// Memory for keys, kept from call to call.
#[derive(Debug, Default)]
pub(crate) struct Rooms<K> {
    keys: Vec<K>,
    /// Where in its chunk each is from.
    index: Vec<u16>,
    stages: Mutex<Vec<Stage<K>>>,
}

impl<K: Key> Rooms<K> {
    /// Bytes that are held.
    pub(crate) fn bytes(&self) -> usize {
        let stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner).len();
        size_of::<K>() * self.keys.capacity() + 2 * self.index.capacity() + stages * Stage::<K>::BYTES
    }
}

impl Buckets {
    /// How many are best for so many scores.
    pub(crate) fn number(n_scores: usize) -> usize {
        (n_scores / BUCKET).next_power_of_two().clamp(N_BUCKETS.0, N_BUCKETS.1)
    }

    /// So many for scores of which there are `n`, by a sample that ascends.
    pub(crate) fn fit<S: Score, K: KeyOf<S>>(n: usize, sample: &[f64], len: usize) -> Self {
        if sample.is_empty() {
            return Self { spread: Spread::default(), len, tie: true, dense: true, crowd: f64::INFINITY, far: false };
        }
        let n_tied = sample.windows(2).filter(|pair| pair[0] == pair[1]).count();
        let n_cells = (len as u64) << K::BITS;
        let spread = Spread::fit(sample, n_cells);
        // Between two of the sample scores are taken to lie evenly.
        let mut cells = vec![0; sample.len()];
        spread.cells(sample, &mut cells);
        let between = n as f64 / sample.len() as f64;
        let together = |step: usize, bits: u32| {
            let runs = cells.windows(step + 1).step_by(step);
            runs.map(move |run| between * step as f64 / u64::max((run[step] - run[0]) >> bits, 1) as f64)
        };
        let dense = together(1, 0).sum::<f64>() * DENSE > 2.0 * sample.len() as f64;
        let squares = together(STEP, K::BITS).map(|n| n * n);
        let crowd = f64::sqrt(squares.sum::<f64>() * STEP as f64 / sample.len() as f64);
        let mut outermost = [0; 4];
        spread.cells(&[f64::NEG_INFINITY, f64::INFINITY, f64::NAN, -f64::NAN], &mut outermost);
        let far = !K::EXACT && outermost[0] == 0 && outermost[1..].iter().all(|cell| [0, n_cells - 1].contains(cell));
        Self { spread, len, tie: n_tied >= TIES, dense, crowd, far }
    }

    /// The keys of all scores by bucket and class, in chunks of `CHUNK` scores, with an index if that is wanted; `None`
    /// if a score is not finite.
    pub(crate) fn scatter<'a, S: Score, K: KeyOf<S>>(
        &self,
        labels: &Labels<'_>,
        scores: &'a [S],
        rooms: &'a mut Rooms<K>,
        with_index: bool,
        ctx: &Ctx<'_>,
    ) -> Result<Option<Vec<Chunk<'a, S, K>>>> {
        let (keys, index, stages) = (&mut rooms.keys, &mut rooms.index, &rooms.stages);
        let free = || stages.lock().unwrap_or_else(PoisonError::into_inner);
        let n_indexed = if with_index { scores.len() } else { 0 };
        let mut rooms = grown(keys, scores.len()).chunks_mut(CHUNK).zip((0..).step_by(CHUNK)).zip(scores.chunks(CHUNK));
        let mut index = grown(index, n_indexed).chunks_mut(CHUNK);
        let share = scores.len().div_ceil(CHUNK).div_ceil(SHARES * ctx.n_threads());
        let mut shares = vec![];
        loop {
            let rooms = rooms.by_ref().take(share).map(|room| (room, index.next().unwrap_or_default()));
            let rooms: Vec<_> = rooms.collect();
            if rooms.is_empty() {
                break;
            }
            shares.push(rooms);
        }
        let done = ctx.map(shares, |rooms| {
            let (mut stage, mut tile) = (free().pop().unwrap_or_default(), Tile::default());
            let done = rooms.into_iter().map(|(((keys, from), scores), index)| {
                ctx.check()?;
                let Stage { keys: of_scores, ids, .. } = &mut stage;
                let (ids, of_scores) = (&mut ids[..scores.len()], &mut of_scores[..scores.len()]);
                let mut ends = vec![];
                if !self.classify(labels, from, scores, (&mut *ids, &mut *of_scores), (&mut tile, &mut ends)) {
                    return Ok(None);
                }
                let starts = stage.scatter(2 * self.len, keys, index);
                Ok(Some(Chunk { keys, index, scores, from, ends, starts }))
            });
            let done = done.collect::<Result<Option<Vec<_>>>>();
            free().push(stage);
            done
        })?;
        let done: Option<Vec<_>> = done.into_iter().collect::<Result<_>>()?;
        Ok(done.map(|chunks| chunks.into_iter().flatten().collect()))
    }

    /// The id of a class, 0 positive and 1 negative, in a bucket.
    pub(crate) fn id(&self, bucket: usize, class: usize) -> u16 {
        (class * self.len + bucket) as u16
    }

    /// Writes the id of each score, the first of which is sample `from`, and its key, and adds to the ends; whether all
    /// are finite.
    pub(crate) fn classify<S: Score, K: KeyOf<S>, I: Id>(
        &self,
        labels: &Labels<'_>,
        from: usize,
        scores: &[S],
        (ids, keys): (&mut [I], &mut [K]),
        (tile, ends): (&mut Tile, &mut Vec<End<S, K, I>>),
    ) -> bool {
        let tiles = scores.chunks(TILE).zip(ids.chunks_mut(TILE)).zip(keys.chunks_mut(TILE));
        tiles.zip((from..).step_by(TILE)).all(|(((scores, ids), keys), from)| {
            labels.fill(from, &mut tile.positive[..scores.len()]);
            let mut finite = fast(Classify { buckets: self, scores, tile: &mut *tile, ids, keys });
            if !K::EXACT {
                for k in outermost(keys) {
                    finite &= scores[k].finite();
                    alloc::push(ends, End { id: ids[k], key: keys[k], score: scores[k], sample: from + k });
                }
            }
            finite
        })
    }
}

/// Which keys are those of outermost cells; hardly any, so many are looked at together.
fn outermost<K: Key>(keys: &[K]) -> impl Iterator<Item = usize> {
    let blocks = keys.chunks(BLOCK).zip((0..).step_by(BLOCK)).filter(|(block, _)| fast(AnyOutermost(block)));
    let few = blocks.flat_map(|(block, from)| block.chunks(FEW).zip((from..).step_by(FEW)));
    let few = few.filter(|(few, _)| fast(AnyOutermost(few)));
    few.flat_map(|(few, from)| (from..).zip(few).filter(|(_, key)| key.outermost()).map(|(k, _)| k))
}

/// Keys that are looked at together, and those of a block in which there is one.
const BLOCK: usize = 1 << 8;
const FEW: usize = 1 << 4;

/// Whether any key may be that of an outermost cell.
struct AnyOutermost<'a, K>(&'a [K]);

impl<K: Key> pulp::NullaryFnOnce for AnyOutermost<'_, K> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        self.0.iter().fold(false, |any, key| any | key.outermost())
    }
}

/// Ids and keys of a tile of scores; whether all are finite, but perhaps for some in outermost cells.
struct Classify<'a, S, K, I> {
    buckets: &'a Buckets,
    scores: &'a [S],
    /// Whether each is positive, and room.
    tile: &'a mut Tile,
    ids: &'a mut [I],
    keys: &'a mut [K],
}

impl<S: Score, K: KeyOf<S>, I: Id> pulp::NullaryFnOnce for Classify<'_, S, K, I> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let Self { buckets: &Buckets { ref spread, len, far, .. }, scores, tile, ids, keys } = self;
        let (n, bits) = (scores.len(), len.trailing_zeros());
        let (positive, cells, buckets) = (&tile.positive[..n], &mut tile.cells[..n], &mut tile.buckets[..n]);
        let line = if let (true, &Spread::Line(low, scale, last)) = (K::EXACT, spread) {
            // In the arithmetic of the scores themselves.
            let line = S::line_from(low, scale, last);
            buckets.iter_mut().zip(scores).for_each(|(bucket, x)| *bucket = x.cell(line));
            true
        } else {
            spread.cells(scores, cells);
            buckets.iter_mut().zip(&*cells).for_each(|(bucket, cell)| *bucket = (cell >> K::BITS) as u32);
            false
        };
        for ((id, &bucket), &positive) in ids.iter_mut().zip(&*buckets).zip(positive) {
            *id = I::new(bucket, positive, bits);
        }
        for ((key, &cell), &x) in keys.iter_mut().zip(&*cells).zip(scores) {
            *key = K::of(x, cell);
        }
        (far && !line) || scores.iter().fold(true, |finite, x| finite & x.finite())
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::sample;
    use super::*;
    use crate::testing::uniform;

    fn scatters<S: Score, K: KeyOf<S>>(labels: &[bool], scores: &[S]) {
        let classes = Labels::new(labels).unwrap();
        let buckets = Buckets::fit::<S, K>(scores.len(), &sample(scores), Buckets::number(scores.len()));
        let mut rooms = Rooms::<K>::default();
        let chunks = buckets.scatter(&classes, scores, &mut rooms, true, &Ctx::serial()).unwrap().unwrap();
        for (class, positive) in [true, false].into_iter().enumerate() {
            let mut found = vec![];
            for bucket in 0..buckets.len {
                let mut entries = vec![];
                for (chunk, base) in chunks.iter().zip((0..).step_by(CHUNK)) {
                    let part = chunk.part(bucket, class);
                    assert_eq!(part.keys, chunk.keys(bucket, class));
                    let samples = part.index.iter().map(|&from| base + usize::from(from));
                    assert!(part.scores().zip(samples.clone()).all(|(score, sample)| score == scores[sample]));
                    entries.extend(part.keys.iter().copied().zip(samples));
                }
                entries.sort_by(|x, y| x.0.order(&y.0).then(scores[x.1].order(&scores[y.1])));
                found.extend(entries.into_iter().map(|(_, sample)| sample));
            }
            // Buckets, and keys in them, ascend with the scores; every sample of the class is there once.
            assert!(found.windows(2).all(|pair| scores[pair[0]] <= scores[pair[1]]));
            found.sort_unstable();
            let all: Vec<usize> = (0..scores.len()).filter(|&i| labels[i] == positive).collect();
            assert_eq!(found, all);
        }
    }

    #[test]
    fn buckets_and_keys_ascend_with_the_scores() {
        let mut next = uniform(2);
        for (n, levels) in [(2, 1e9), (700, 1e9), (700, 5.0), (90_001, 1e9), (90_001, 900.0)] {
            let labels: Vec<bool> = (0..n).map(|i| if i < 2 { i == 0 } else { next() < 0.3 }).collect();
            let tails = |u: f64| (u - 0.5) / (1.0 - u * u / 2.0).powi(40);
            let scores: Vec<f64> = labels.iter().map(|_| tails((next() * levels).floor() / levels)).collect();
            scatters::<f64, i32>(&labels, &scores);
            scatters::<f64, f64>(&labels, &scores);
            scatters::<f32, f32>(&labels, &scores.iter().map(|&x| x as f32).collect::<Vec<_>>());
        }
    }

    #[test]
    fn scores_that_tie_are_known_from_a_sample() {
        let mut next = uniform(5);
        let scores: Vec<f64> = (0..5000).map(|_| next()).collect();
        let buckets = Buckets::fit::<f64, i32>(scores.len(), &sample(&scores), 2);
        assert!(!buckets.tie && !buckets.dense);
        let rounded: Vec<f64> = scores.iter().map(|x| (1e3 * x).round() / 1e3).collect();
        let buckets = Buckets::fit::<f64, i32>(rounded.len(), &sample(&rounded), 2);
        assert!(buckets.tie && buckets.dense);
        // Cubes of scores about zero lie closer together there than keys do.
        let cubes: Vec<f64> = (0..1 << 17).map(|_| (2.0 * next() - 1.0).powi(3)).collect();
        let buckets = Buckets::fit::<f64, i32>(cubes.len(), &sample(&cubes), 2);
        assert!(!buckets.tie && buckets.dense);
    }
}
