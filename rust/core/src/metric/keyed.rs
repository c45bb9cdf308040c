//! Scores as a bucket and 32 bits in it: half the memory to scatter where they have 64, and integers to rank.
//!
//! A monotone map gives every score a bucket and a key in it. A float32 is its own key. The keys of float64 scores are
//! cells of the map, far smaller than the distances between most of them: two scores in one cell have to be compared
//! themselves.

use super::labels::{Labels, TILE};
use super::scatter::{Chunk, SHARES};
use super::score::Score;
use crate::order::{self, Map, fast};
use crate::{Ctx, Result};

/// Scores aimed at in a bucket: the table of the rarer class stays in the first-level cache.
const BUCKET: usize = 1 << 13;
/// Buckets, at least and at most; each is two streams of the scatter, one a class.
const N_BUCKETS: (usize, usize) = (2, 256);
/// Scores scattered together: 16 bits tell where in it one is from, and what is made of them stays in the second-level
/// cache, about.
pub(super) const CHUNK: usize = 1 << 16;
/// Scores that the map is fitted to.
const SAMPLES: usize = 1 << 10;
/// So many ties among them are too many.
const TIES: usize = 4;
/// Scores that follow each other are counted in several places, so that equal ones do not wait for each other.
const LANES: usize = 4;

/// How scores are shared among buckets, and what their keys are.
pub(super) struct Buckets {
    map: Map,
    pub(super) len: usize,
    /// Whether scores tie often, and so their keys.
    pub(super) tie: bool,
}

/// Room for the keys, and for where in its chunk each is from.
type Rooms<'a, 'b, K> = (&'a mut [K], &'b mut [u16]);

impl Buckets {
    /// By an evenly spread sample.
    pub(super) fn fit<S: Score>(scores: &[S]) -> Self {
        let len = (scores.len() / BUCKET).next_power_of_two().clamp(N_BUCKETS.0, N_BUCKETS.1);
        let n_sampled = scores.len().min(SAMPLES);
        let places = (0..n_sampled).map(|k| order::spread(k, n_sampled, scores.len()));
        let mut sample: Vec<f64> = places.map(|i| scores[i].into()).filter(|x: &f64| x.is_finite()).collect();
        if sample.is_empty() {
            return Self { map: Map::default(), len, tie: true };
        }
        let map = Map::fit_cells(&mut sample, (len as u64) << S::KEY_BITS);
        let n_tied = sample.windows(2).filter(|pair| pair[0] == pair[1]).count();
        Self { map, len, tie: n_tied >= TIES }
    }

    /// Writes the keys of all scores to `to`, by bucket and class, in chunks of `CHUNK` scores, and where in its chunk each
    /// is from to `index`; `None` if a score is not finite.
    pub(super) fn scatter<'a, S: Score>(
        &self,
        labels: &Labels<'_>,
        scores: &[S],
        (to, index): Rooms<'a, '_, S::Key>,
        ctx: &Ctx<'_>,
    ) -> Result<Option<Vec<Chunk<'a, S::Key>>>> {
        // Chunks that follow each other share the room for their keys and ids, which so stays in a cache.
        let share = scores.len().div_ceil(SHARES * ctx.n_threads()).next_multiple_of(CHUNK);
        let rooms = to.chunks_mut(share).zip(index.chunks_mut(share));
        let shares = (0..).step_by(share).zip(scores.chunks(share)).zip(rooms);
        let done = ctx.map(shares.collect(), |((from, scores), (to, index))| {
            let len = usize::min(scores.len(), CHUNK);
            let (mut keys, mut ids) = (vec![S::Key::default(); len], vec![0; len]);
            let rooms = to.chunks_mut(CHUNK).zip(index.chunks_mut(CHUNK));
            let chunks = (from..).step_by(CHUNK).zip(scores.chunks(CHUNK)).zip(rooms);
            let one = |((from, scores), (to, index)): ((usize, &[S]), Rooms<'a, '_, S::Key>)| {
                ctx.check()?;
                let (keys, ids) = (&mut keys[..scores.len()], &mut ids[..scores.len()]);
                if !self.classify(labels, from, scores, &mut *ids, &mut *keys) {
                    return Ok(None);
                }
                let (starts, next) = starts(ids, 2 * self.len);
                fast(Scatter { keys, ids, next, to: &mut *to, index });
                Ok(Some(Chunk { scores: to, starts }))
            };
            chunks.map(one).collect::<Result<Option<Vec<_>>>>()
        })?;
        let done: Option<Vec<_>> = done.into_iter().collect::<Result<_>>()?;
        Ok(done.map(|chunks| chunks.into_iter().flatten().collect()))
    }

    /// Writes the key of each score, the first of which is sample `from`, and as its id the bucket, plus their number for
    /// negatives; whether all are finite.
    fn classify<S: Score>(
        &self,
        labels: &Labels<'_>,
        from: usize,
        scores: &[S],
        ids: &mut [u16],
        keys: &mut [S::Key],
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
struct Classify<'a, S: Score> {
    buckets: &'a Buckets,
    scores: &'a [S],
    positive: &'a [bool],
    /// Room for what the map gives.
    cells: &'a mut [u64],
    ids: &'a mut [u16],
    keys: &'a mut [S::Key],
}

impl<S: Score> pulp::NullaryFnOnce for Classify<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let Self { buckets: &Buckets { map, len, .. }, scores, positive, cells, ids, keys } = self;
        let len = len as u16;
        map.chosen(|map| {
            for (cell, &x) in cells.iter_mut().zip(scores) {
                *cell = map.cell(x.into());
            }
        });
        for ((id, &cell), &positive) in ids.iter_mut().zip(&*cells).zip(positive) {
            *id = (cell >> S::KEY_BITS) as u16 | if positive { 0 } else { len };
        }
        let mut finite = true;
        for ((key, &cell), &x) in keys.iter_mut().zip(&*cells).zip(scores) {
            *key = x.key(cell);
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
        let mut from = 0u16;
        let mut put = |lane: usize, key: K, id: u16| {
            let next = &mut next[lane][usize::from(id) & (MOST_IDS - 1)];
            to[*next as usize] = key;
            index[*next as usize] = from;
            from = from.wrapping_add(1);
            *next = next.wrapping_add(1);
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
    use crate::metric::score::Key;
    use crate::testing::uniform;

    fn scatters<S: Score>(labels: &[bool], scores: &[S]) {
        let classes = Labels::new(labels).unwrap();
        let buckets = Buckets::fit(scores);
        let (mut to, mut index) = (vec![S::Key::default(); scores.len()], vec![0; scores.len()]);
        let chunks = buckets.scatter(&classes, scores, (&mut to, &mut index), &Ctx::serial()).unwrap().unwrap();
        for (class, positive) in [true, false].into_iter().enumerate() {
            let mut found = vec![];
            for bucket in 0..buckets.len {
                let mut entries = vec![];
                for ((chunk, index), base) in chunks.iter().zip(index.chunks(CHUNK)).zip((0..).step_by(CHUNK)) {
                    let id = class * buckets.len + bucket;
                    let own = &index[chunk.starts[id] as usize..chunk.starts[id + 1] as usize];
                    assert_eq!(own.len(), chunk.class(bucket, class).len());
                    let samples = own.iter().map(|&from| base + usize::from(from));
                    entries.extend(chunk.class(bucket, class).iter().copied().zip(samples));
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
            scatters(&labels, &scores);
            scatters(&labels, &scores.iter().map(|&x| x as f32).collect::<Vec<_>>());
        }
    }

    #[test]
    fn scores_that_tie_are_known_from_a_sample() {
        let mut next = uniform(5);
        let scores: Vec<f64> = (0..5000).map(|_| next()).collect();
        assert!(!Buckets::fit(&scores).tie);
        assert!(Buckets::fit(&scores.iter().map(|x| (1e3 * x).round() / 1e3).collect::<Vec<_>>()).tie);
    }
}
