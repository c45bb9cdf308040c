//! Scores as a bucket and 32 bits in it: half the memory to scatter where they have 64, and integers to rank.
//!
//! A monotone map gives every score a bucket and a key in it. A float32 is its own key, and a float64 can be. Otherwise the
//! keys of float64 scores are cells of the map, far smaller than the distances between most of them: two scores in one cell
//! have to be compared themselves.

use std::sync::{Mutex, PoisonError};

use super::compare::Holds;
use super::counts::grown;
use super::labels::{Labels, TILE};
use super::score::{Key, KeyOf, Score};
use super::spread::Spread;
use crate::order::{self, fast};
use crate::{Ctx, Result};

/// Scores aimed at in a bucket: the table of the rarer class stays in the first-level cache.
const BUCKET: usize = 1 << 13;
/// Buckets, at least and at most; each is two streams of the scatter, one a class.
const N_BUCKETS: (usize, usize) = (2, 256);
/// Scores scattered together: 16 bits tell where in it one is from, and what is made of them stays in the second-level
/// cache.
pub(super) const CHUNK: usize = 1 << 15;
/// Scores that the map is fitted to: one of so many, and these at most.
const SCORES_OF_SAMPLE: usize = 1 << 5;
const SAMPLES: usize = 1 << 9;
/// So many ties among them are too many.
const TIES: usize = 2;
/// One key of so many that is shared is too many.
const DENSE: f64 = 4096.0;
/// Scores that follow each other are counted in several places, so that equal ones do not wait for each other.
const LANES: usize = 4;
/// Units of work for each thread.
pub(super) const SHARES: usize = 4;

/// The samples of one chunk by bucket and class.
pub(super) struct Chunk<'a, S, K> {
    keys: &'a [K],
    /// Where in the chunk each is from, and the scores of the chunk.
    pub(super) index: &'a [u16],
    scores: &'a [S],
    /// Where the positives of each bucket begin, then the negatives of each, and the end.
    starts: Vec<u32>,
}

/// The samples of one class in a bucket that are from one chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a, S, K> {
    pub(super) keys: &'a [K],
    /// The scores of the chunk, and where in it those of the part are.
    scores: &'a [S],
    index: &'a [u16],
}

impl<'a, S, K> Chunk<'a, S, K> {
    pub(super) fn part(&self, bucket: usize, class: usize) -> Part<'a, S, K> {
        let id = class * (self.starts.len() / 2) + bucket;
        let own = self.starts[id] as usize..self.starts[id + 1] as usize;
        Part { keys: &self.keys[own.clone()], scores: self.scores, index: &self.index[own] }
    }

    /// The number of samples of a class in a bucket.
    fn size(&self, bucket: usize, class: usize) -> usize {
        let id = class * (self.starts.len() / 2) + bucket;
        (self.starts[id + 1] - self.starts[id]) as usize
    }
}

impl<S: Copy, K: Key> Part<'_, S, K> {
    /// All scores, in the order of the keys.
    pub(super) fn scores(&self) -> impl Iterator<Item = S> {
        self.index.iter().map(|&from| self.scores[usize::from(from)])
    }

    /// Those that have some key.
    pub(super) fn scores_of(&self, key: K) -> impl Iterator<Item = S> {
        let keys = if fast(Holds(self.keys, key)) { self.keys } else { &[] };
        let scores = keys.iter().zip(self.index).filter(move |(other, _)| **other == key);
        scores.map(|(_, &from)| self.scores[usize::from(from)])
    }
}

/// For each bucket, the positives and the negatives in those below.
pub(super) fn below<S, K>(chunks: &[Chunk<'_, S, K>], n_buckets: usize) -> Vec<[u64; 2]> {
    let size = |bucket, class| chunks.iter().map(|chunk| chunk.size(bucket, class) as u64).sum::<u64>();
    let mut below = vec![[0; 2]];
    for bucket in 1..n_buckets {
        below.push([0, 1].map(|class| below[bucket - 1][class] + size(bucket - 1, class)));
    }
    below
}

/// How scores are shared among buckets, and what their keys are.
pub(super) struct Buckets {
    pub(super) spread: Spread,
    pub(super) len: usize,
    /// Whether scores tie often, and so their keys.
    pub(super) tie: bool,
    /// Whether keys are expected to tie often, be it that scores do or that they lie too close together.
    pub(super) dense: bool,
}

/// Memory for keys, kept from call to call.
#[derive(Debug, Default)]
pub(super) struct Rooms<K> {
    keys: Vec<K>,
    /// Where in its chunk each is from.
    index: Vec<u16>,
    stages: Mutex<Vec<Stage<K>>>,
}

impl<K: Key> Rooms<K> {
    /// Calls `f` with room for `len` keys and a stage.
    pub(super) fn lend<T>(&mut self, len: usize, f: impl FnOnce(&mut [K], &mut Stage<K>) -> T) -> T {
        let stages = self.stages.get_mut().unwrap_or_else(PoisonError::into_inner);
        if stages.is_empty() {
            stages.push(Stage::default());
        }
        f(grown(&mut self.keys, len), &mut stages[0])
    }

    /// Bytes that are held.
    pub(super) fn bytes(&self) -> usize {
        let stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner).len();
        size_of::<K>() * self.keys.capacity() + 2 * self.index.capacity() + stages * CHUNK * (2 * size_of::<K>() + 4)
    }
}

/// Room for a chunk, which stays in a cache: to scatter to memory that does not would take twice the time.
#[derive(Debug)]
pub(super) struct Stage<K> {
    pub(super) keys: Vec<K>,
    pub(super) ids: Vec<u16>,
    sorted: Vec<K>,
    index: Vec<u16>,
}

impl<K: Key> Default for Stage<K> {
    fn default() -> Self {
        let keys = || vec![K::default(); CHUNK];
        Self { keys: keys(), ids: vec![0; CHUNK], sorted: keys(), index: vec![0; CHUNK] }
    }
}

impl Buckets {
    /// How many are best for so many scores.
    pub(super) fn number(n_scores: usize) -> usize {
        (n_scores / BUCKET).next_power_of_two().clamp(N_BUCKETS.0, N_BUCKETS.1)
    }

    /// So many by an evenly spread sample; one is of use only where scores lie evenly.
    pub(super) fn fit<S: Score, K: KeyOf<S>>(scores: &[S], len: usize) -> Self {
        let n_sampled = (scores.len() / SCORES_OF_SAMPLE).clamp(1, SAMPLES);
        let places = (0..n_sampled).map(|k| order::spread(k, n_sampled, scores.len()));
        let mut sample: Vec<f64> = places.map(|i| scores[i].into()).filter(|x: &f64| x.is_finite()).collect();
        if sample.is_empty() {
            return Self { spread: Spread::default(), len, tie: true, dense: true };
        }
        sample.sort_unstable_by(f64::total_cmp);
        let n_tied = sample.windows(2).filter(|pair| pair[0] == pair[1]).count();
        let n_cells = (len as u64) << K::BITS;
        let spread = Spread::fit(&mut sample, n_cells, len == 1);
        // Of those between two neighbours of the sample, spread evenly, that many share a key.
        let (mut cells, between) = (vec![0; sample.len()], scores.len() as f64 / sample.len() as f64);
        spread.cells(&sample, &mut cells);
        let sharing = |pair: &[u64]| between * between / (2 * u64::max(pair[1] - pair[0], 1)) as f64;
        let shared = cells.windows(2).map(sharing).sum::<f64>();
        Self { spread, len, tie: n_tied >= TIES, dense: shared * DENSE > scores.len() as f64 }
    }

    /// The keys of all scores by bucket and class, in chunks of `CHUNK` scores; `None` if a score is not finite.
    pub(super) fn scatter<'a, S: Score, K: KeyOf<S>>(
        &self,
        labels: &Labels<'_>,
        scores: &'a [S],
        rooms: &'a mut Rooms<K>,
        ctx: &Ctx<'_>,
    ) -> Result<Option<Vec<Chunk<'a, S, K>>>> {
        let (keys, index, stages) = (&mut rooms.keys, &mut rooms.index, &rooms.stages);
        let free = || stages.lock().unwrap_or_else(PoisonError::into_inner);
        let share = scores.len().div_ceil(SHARES * ctx.n_threads()).next_multiple_of(CHUNK);
        let rooms = grown(keys, scores.len()).chunks_mut(share).zip(grown(index, scores.len()).chunks_mut(share));
        let shares = (0..).step_by(share).zip(scores.chunks(share)).zip(rooms);
        let done = ctx.map(shares.collect(), |((from, scores), (keys, index))| {
            let mut stage = free().pop().unwrap_or_default();
            let rooms = keys.chunks_mut(CHUNK).zip(index.chunks_mut(CHUNK));
            let chunks = (from..).step_by(CHUNK).zip(scores.chunks(CHUNK)).zip(rooms);
            let done = chunks.map(|((from, scores), (keys, index))| {
                ctx.check()?;
                let Some(starts) = self.scatter_chunk(labels, from, scores, &mut stage) else { return Ok(None) };
                keys.copy_from_slice(&stage.sorted[..scores.len()]);
                index.copy_from_slice(&stage.index[..scores.len()]);
                Ok(Some(Chunk { keys, index, scores, starts }))
            });
            let done = done.collect::<Result<Option<Vec<_>>>>();
            free().push(stage);
            done
        })?;
        let done: Option<Vec<_>> = done.into_iter().collect::<Result<_>>()?;
        Ok(done.map(|chunks| chunks.into_iter().flatten().collect()))
    }

    /// The same of one chunk, whose first score is sample `from`, in `stage`; where the keys of each id begin, and the end.
    fn scatter_chunk<S: Score, K: KeyOf<S>>(
        &self,
        labels: &Labels<'_>,
        from: usize,
        scores: &[S],
        stage: &mut Stage<K>,
    ) -> Option<Vec<u32>> {
        let Stage { keys, ids, sorted, index } = stage;
        let (keys, ids) = (&mut keys[..scores.len()], &mut ids[..scores.len()]);
        if !self.classify(labels, from, scores, ids, keys) {
            return None;
        }
        let (starts, next) = starts(ids, 2 * self.len);
        fast(Scatter { keys, ids, next, to: sorted, index });
        Some(starts)
    }

    /// Writes the key of each score, the first of which is sample `from`, and as its id the bucket, plus their number for
    /// negatives; whether all are finite.
    pub(super) fn classify<S: Score, K: KeyOf<S>>(
        &self,
        labels: &Labels<'_>,
        from: usize,
        scores: &[S],
        ids: &mut [u16],
        keys: &mut [K],
    ) -> bool {
        let (mut positive, mut cells) = ([false; TILE], [0; TILE]);
        let tiles = scores.chunks(TILE).zip(ids.chunks_mut(TILE)).zip(keys.chunks_mut(TILE));
        tiles.zip((from..).step_by(TILE)).all(|(((scores, ids), keys), from)| {
            let (positive, cells) = (&mut positive[..scores.len()], &mut cells[..scores.len()]);
            labels.fill(from, positive);
            fast(Classify { buckets: self, scores, positive, cells, ids, keys })
        })
    }
}

/// Ids and keys of a tile of scores; whether all are finite.
struct Classify<'a, S, K> {
    buckets: &'a Buckets,
    scores: &'a [S],
    positive: &'a [bool],
    /// Room for what the map gives.
    cells: &'a mut [u64],
    ids: &'a mut [u16],
    keys: &'a mut [K],
}

impl<S: Score, K: KeyOf<S>> pulp::NullaryFnOnce for Classify<'_, S, K> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let Self { buckets: &Buckets { ref spread, len, .. }, scores, positive, cells, ids, keys } = self;
        let len = len as u16;
        spread.cells(scores, cells);
        for ((id, &cell), &positive) in ids.iter_mut().zip(&*cells).zip(positive) {
            *id = (cell >> K::BITS) as u16 | if positive { 0 } else { len };
        }
        let mut finite = true;
        for ((key, &cell), &x) in keys.iter_mut().zip(&*cells).zip(scores) {
            *key = K::of(x, cell);
            finite &= x.finite();
        }
        finite
    }
}

/// Ids, at most.
const MOST_IDS: usize = 2 * N_BUCKETS.1;

/// Numbers by lane and id.
type Counts = [[u32; MOST_IDS]; LANES];

/// Where the keys of each of `n_ids` ids begin, and the end; and the same by lane.
fn starts(ids: &[u16], n_ids: usize) -> (Vec<u32>, Counts) {
    let mut counts = [[0u32; MOST_IDS]; LANES];
    let (groups, rest) = ids.as_chunks::<LANES>();
    let mut count = |lane: usize, id: u16| {
        let count = &mut counts[lane][usize::from(id) & (MOST_IDS - 1)];
        *count = count.wrapping_add(1);
    };
    groups.iter().for_each(|group| group.iter().enumerate().for_each(|(lane, &id)| count(lane, id)));
    rest.iter().enumerate().for_each(|(lane, &id)| count(lane, id));
    let (mut sum, mut starts) = (0, vec![0]);
    for id in 0..n_ids {
        for lane in counts.iter_mut() {
            sum += std::mem::replace(&mut lane[id], sum);
        }
        starts.push(sum);
    }
    (starts, counts)
}

/// Writes every key to the next place of its lane and id, and where it is from.
struct Scatter<'a, K> {
    keys: &'a [K],
    ids: &'a [u16],
    next: Counts,
    to: &'a mut [K],
    index: &'a mut [u16],
}

impl<K: Copy> pulp::NullaryFnOnce for Scatter<'_, K> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { keys, ids, mut next, to, index } = self;
        let (to, index) = (&mut to[..keys.len()], &mut index[..keys.len()]);
        let mut from = 0u16;
        let mut put = |lane: usize, key: K, id: u16| {
            let next = &mut next[lane][usize::from(id) & (MOST_IDS - 1)];
            // Counted first: the next key of this id waits for that.
            let at = *next as usize;
            *next = next.wrapping_add(1);
            to[at] = key;
            index[at] = from;
            from = from.wrapping_add(1);
        };
        let ((groups, rest), (ids, last_ids)) = (keys.as_chunks::<LANES>(), ids.as_chunks::<LANES>());
        for (group, ids) in groups.iter().zip(ids) {
            for lane in 0..LANES {
                put(lane, group[lane], ids[lane]);
            }
        }
        for (lane, (&key, &id)) in rest.iter().zip(last_ids).enumerate() {
            put(lane, key, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    fn scatters<S: Score, K: KeyOf<S>>(labels: &[bool], scores: &[S]) {
        let classes = Labels::new(labels).unwrap();
        let buckets = Buckets::fit::<S, K>(scores, Buckets::number(scores.len()));
        let mut rooms = Rooms::<K>::default();
        let chunks = buckets.scatter(&classes, scores, &mut rooms, &Ctx::serial()).unwrap().unwrap();
        for (class, positive) in [true, false].into_iter().enumerate() {
            let mut found = vec![];
            for bucket in 0..buckets.len {
                let mut entries = vec![];
                for (chunk, base) in chunks.iter().zip((0..).step_by(CHUNK)) {
                    let part = chunk.part(bucket, class);
                    assert_eq!(part.keys.len(), chunk.size(bucket, class));
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
        let buckets = Buckets::fit::<f64, i32>(&scores, 2);
        assert!(!buckets.tie && !buckets.dense);
        let rounded: Vec<f64> = scores.iter().map(|x| (1e3 * x).round() / 1e3).collect();
        let buckets = Buckets::fit::<f64, i32>(&rounded, 2);
        assert!(buckets.tie && buckets.dense);
        // Cubes of scores about zero lie closer together there than keys do.
        let cubes: Vec<f64> = (0..1 << 17).map(|_| (2.0 * next() - 1.0).powi(3)).collect();
        let buckets = Buckets::fit::<f64, i32>(&cubes, 2);
        assert!(!buckets.tie && buckets.dense);
    }
}
