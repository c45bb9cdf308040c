//! Scores as a bucket and 32 bits in it: half the memory to scatter where they have 64, and integers to rank.
//!
//! A monotone map gives every score a bucket and a key in it. A float32 is its own key, and a float64 can be. Otherwise
//! the keys of float64 scores are cells of the map, far smaller than the distances between most of them: two scores in
//! one cell have to be compared themselves.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::counts::grown;
use super::labels::{Labels, TILE};
use super::scatter::Stage;
use super::score::{Key, KeyOf, Score};
use super::spread::Spread;
use crate::order::{self, fast};
use crate::{Ctx, Result};

/// Scores aimed at in a bucket: the table of the rarer class stays in the first-level cache.
const BUCKET: usize = 1 << 13;
/// Buckets, at least and at most; each is two streams of the scatter, one a class.
pub(super) const N_BUCKETS: (usize, usize) = (2, 256);
/// Scores scattered together: 16 bits tell where in it one is from, and what is made of them stays in the second-level
/// cache.
pub(super) const CHUNK: usize = 1 << 15;
/// Scores that the map is fitted to: one of so many, and these at most.
const SCORES_OF_SAMPLE: usize = 1 << 5;
const SAMPLES: usize = 1 << 10;
/// So many ties among them are too many.
const TIES: usize = 2;
/// One key of so many that is shared is too many.
const DENSE: f64 = 4096.0;
/// Units of work for each thread.
pub(super) const SHARES: usize = 4;

/// The samples of one chunk by bucket and class.
pub(super) struct Chunk<'a, S, K> {
    keys: &'a [K],
    /// Where in the chunk each is from, if that was wanted.
    pub(super) index: &'a [u16],
    /// The scores of the chunk, the first of which is sample `from`.
    pub(super) scores: &'a [S],
    pub(super) from: usize,
    /// Those in the outermost cells, to which all are left that lie further out, each with its id and key.
    pub(super) ends: Ends<S, K>,
    /// Where the positives of each bucket begin, then the negatives of each, and the end.
    starts: Vec<u32>,
}

/// Scores in the outermost cells, each with its id and key, where different scores may share one.
pub(super) type Ends<S, K> = Vec<(u16, K, S)>;

/// The samples of one class in a bucket that are from one chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a, S, K> {
    pub(super) keys: &'a [K],
    /// The scores of the chunk, and where in it those of the part are.
    scores: &'a [S],
    index: &'a [u16],
}

impl<'a, S, K> Chunk<'a, S, K> {
    /// The samples of a class in a bucket, whose index was wanted.
    pub(super) fn part(&self, bucket: usize, class: usize) -> Part<'a, S, K> {
        let own = self.own(bucket, class);
        Part { keys: &self.keys[own.clone()], scores: self.scores, index: &self.index[own] }
    }

    /// Their keys.
    pub(super) fn keys(&self, bucket: usize, class: usize) -> &'a [K] {
        &self.keys[self.own(bucket, class)]
    }

    fn own(&self, bucket: usize, class: usize) -> Range<usize> {
        let id = class * (self.starts.len() / 2) + bucket;
        self.starts[id] as usize..self.starts[id + 1] as usize
    }
}

impl<S: Copy, K: Key> Part<'_, S, K> {
    /// All scores, in the order of the keys.
    pub(super) fn scores(&self) -> impl Iterator<Item = S> {
        self.index.iter().map(|&from| self.scores[usize::from(from)])
    }
}

/// For each bucket, the positives and the negatives in those below.
pub(super) fn below<S, K>(chunks: &[Chunk<'_, S, K>], n_buckets: usize) -> Vec<[u64; 2]> {
    let size = |bucket, class| chunks.iter().map(|chunk| chunk.own(bucket, class).len() as u64).sum::<u64>();
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
    /// Whether all that is not finite goes to the outermost cells, where it is looked for.
    far: bool,
}

/// The scores of an outermost cell, if it is one.
pub(super) fn at_end<S: Copy, K: Key>(ends: &Ends<S, K>, id: u16, key: K) -> Vec<S> {
    ends.iter().filter(|end| (end.0, end.1) == (id, key)).map(|end| end.2).collect()
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
        size_of::<K>() * self.keys.capacity() + 2 * self.index.capacity() + stages * Stage::<K>::BYTES
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
            return Self { spread: Spread::default(), len, tie: true, dense: true, far: false };
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
        let mut outermost = [0; 4];
        spread.cells(&[f64::NEG_INFINITY, f64::INFINITY, f64::NAN, -f64::NAN], &mut outermost);
        let far = !K::EXACT && outermost[0] == 0 && outermost[1..].iter().all(|cell| [0, n_cells - 1].contains(cell));
        Self { spread, len, tie: n_tied >= TIES, dense: shared * DENSE > scores.len() as f64, far }
    }

    /// The keys of all scores by bucket and class, in chunks of `CHUNK` scores, with an index if that is wanted; `None`
    /// if a score is not finite.
    pub(super) fn scatter<'a, S: Score, K: KeyOf<S>>(
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
            let mut stage = free().pop().unwrap_or_default();
            let done = rooms.into_iter().map(|(((keys, from), scores), index)| {
                ctx.check()?;
                let Stage { keys: of_scores, ids, .. } = &mut stage;
                let (ids, of_scores) = (&mut ids[..scores.len()], &mut of_scores[..scores.len()]);
                let mut ends = vec![];
                if !self.classify(labels, from, scores, (&mut *ids, &mut *of_scores), &mut ends) {
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
    pub(super) fn id(&self, bucket: usize, class: usize) -> u16 {
        (class * self.len + bucket) as u16
    }

    /// Calls `f` with each of so many finite scores, the first of which is sample `from`, its id and its key.
    pub(super) fn look<S: Score, K: KeyOf<S>>(
        &self,
        labels: &Labels<'_>,
        from: usize,
        scores: &[S],
        mut f: impl FnMut(S, u16, K),
    ) {
        let (mut ids, mut keys) = ([0; TILE], [K::default(); TILE]);
        for (scores, from) in scores.chunks(TILE).zip((from..).step_by(TILE)) {
            let (ids, keys) = (&mut ids[..scores.len()], &mut keys[..scores.len()]);
            self.classify(labels, from, scores, (&mut *ids, &mut *keys), &mut vec![]);
            scores.iter().zip(ids).zip(keys).for_each(|((&score, &mut id), &mut key)| f(score, id, key));
        }
    }

    /// Writes the id of each score, the first of which is sample `from`, its bucket plus for negatives their number,
    /// and its key, and adds to `ends`; whether all are finite.
    pub(super) fn classify<S: Score, K: KeyOf<S>>(
        &self,
        labels: &Labels<'_>,
        from: usize,
        scores: &[S],
        (ids, keys): (&mut [u16], &mut [K]),
        ends: &mut Ends<S, K>,
    ) -> bool {
        let (mut positive, mut cells) = ([false; TILE], [0; TILE]);
        let tiles = scores.chunks(TILE).zip(ids.chunks_mut(TILE)).zip(keys.chunks_mut(TILE));
        tiles.zip((from..).step_by(TILE)).all(|(((scores, ids), keys), from)| {
            let (positive, cells) = (&mut positive[..scores.len()], &mut cells[..scores.len()]);
            labels.fill(from, positive);
            let mut finite = fast(Classify { buckets: self, scores, positive, cells, ids, keys });
            for (keys, first) in keys.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
                if !K::EXACT && fast(AnyOutermost(keys)) {
                    let outermost = (0..keys.len()).filter(|&k| keys[k].outermost()).map(|k| first + k);
                    let outermost = outermost.inspect(|&k| finite &= scores[k].finite());
                    ends.extend(outermost.map(|k| (ids[k], keys[k - first], scores[k])));
                }
            }
            finite
        })
    }
}

/// Scores that are looked at together.
const BLOCK: usize = 1 << 8;

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
        let Self { buckets: &Buckets { ref spread, len, far, .. }, scores, positive, cells, ids, keys } = self;
        let of_class = |positive| if positive { 0 } else { len as u16 };
        if let (true, &Spread::Line(low, scale, last)) = (K::EXACT, spread) {
            // In the arithmetic of the scores themselves.
            let line = S::line_from(low, scale, last);
            for (((id, key), &x), &positive) in ids.iter_mut().zip(keys).zip(scores).zip(positive) {
                *id = x.cell(line) as u16 | of_class(positive);
                *key = K::of(x, 0);
            }
            return scores.iter().fold(true, |finite, x| finite & x.finite());
        }
        spread.cells(scores, cells);
        for ((id, &cell), &positive) in ids.iter_mut().zip(&*cells).zip(positive) {
            *id = (cell >> K::BITS) as u16 | of_class(positive);
        }
        for ((key, &cell), &x) in keys.iter_mut().zip(&*cells).zip(scores) {
            *key = K::of(x, cell);
        }
        far || scores.iter().fold(true, |finite, x| finite & x.finite())
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
