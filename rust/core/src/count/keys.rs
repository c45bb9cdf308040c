//! Scores as a bucket and a key of 32 bits: half the memory of float64 to scatter, and integers to rank.
//!
//! A monotone map gives every score a bucket and a key in it. A float32 is its own key. The keys of float64 scores are
//! cells of the map, far smaller than most distances of the scores; two scores in one cell are compared themselves.

use std::ops::Range;

use crate::count::cells::Spread;
use crate::count::counting_sort::{CHUNK, N_BUCKETS, Stage};
use crate::data::float::Score;
use crate::data::labels::{Labels, TILE};
use crate::order::chunk::{Spare, grown};
use crate::simd::fast;
use crate::{Ctx, Result};

/// The most other scores with the key of a score, on average.
pub(crate) const DENSE: f64 = 1.0 / 2048.0;
/// Scores this many places apart in a sample show how the scores crowd.
const STEP: usize = 8;
/// Tasks per thread.
pub(crate) const SHARES: usize = 4;

/// The samples of one chunk by bucket and class.
pub(crate) struct Chunk<'a, S: Score> {
    keys: &'a [S::Key],
    /// The place of each in the chunk, if requested.
    pub(crate) index: &'a [u16],
    /// The scores of the chunk.
    scores: &'a [S],
    /// Where the positives of each bucket begin, then the negatives of each, and the end.
    starts: Vec<u32>,
}

impl<'a, S: Score> Chunk<'a, S> {
    /// The keys of a class in a bucket.
    pub(crate) fn keys(&self, bucket: usize, class: usize) -> &'a [S::Key] {
        &self.keys[self.own(bucket, class)]
    }

    /// Their scores, if an index was requested.
    pub(crate) fn scores(&self, bucket: usize, class: usize) -> impl Iterator<Item = S> {
        self.index(bucket, class).iter().map(|&from| self.score(from))
    }

    /// Their places in the chunk, if requested.
    pub(crate) fn index(&self, bucket: usize, class: usize) -> &'a [u16] {
        &self.index[self.own(bucket, class)]
    }

    /// The score of a sample of the chunk.
    pub(crate) fn score(&self, from: u16) -> S {
        self.scores[usize::from(from)]
    }

    fn own(&self, bucket: usize, class: usize) -> Range<usize> {
        let id = class * (self.starts.len() / 2) + bucket;
        self.starts[id] as usize..self.starts[id + 1] as usize
    }
}

/// For each bucket, the numbers of positives and of negatives in the buckets below.
pub(crate) fn below<S: Score>(chunks: &[Chunk<'_, S>], n_buckets: usize) -> Vec<[u64; 2]> {
    let size = |bucket, class| chunks.iter().map(|chunk| chunk.own(bucket, class).len() as u64).sum::<u64>();
    let mut below = vec![[0; 2]];
    for bucket in 1..n_buckets {
        below.push([0, 1].map(|class| below[bucket - 1][class] + size(bucket - 1, class)));
    }
    below
}

/// The map of scores to buckets and keys.
pub(crate) struct Buckets {
    pub(crate) spread: Spread,
    pub(crate) len: usize,
    /// The expected number of other scores with the key of a score, because they tie or lie too close together.
    pub(crate) shared: f64,
    /// The expected number of scores in the bucket of a score, as a root mean square.
    pub(crate) crowd: f64,
}

/// Memory for keys, kept from call to call.
#[derive(Debug, Default)]
pub(crate) struct Rooms<K> {
    keys: Vec<K>,
    /// The place of each in its chunk.
    index: Vec<u16>,
    stages: Spare<Stage<K>>,
}

impl Buckets {
    /// The number of buckets of about `bucket` scores each.
    pub(crate) fn number(n_scores: usize, bucket: usize) -> usize {
        (n_scores / bucket).next_power_of_two().clamp(N_BUCKETS.0, N_BUCKETS.1)
    }

    /// `len` buckets for `n` scores, fitted to an ascending sample.
    pub(crate) fn fit<S: Score>(n: usize, sample: &[f64], len: usize) -> Self {
        if sample.is_empty() {
            return Self { spread: Spread::default(), len, shared: 1.0, crowd: f64::INFINITY };
        }
        let n_cells = (len as u64) << S::BITS;
        let spread = Spread::fit(sample, n_cells);
        // Scores are taken to be spread evenly between two of the sample.
        let mut cells = vec![0; sample.len()];
        spread.cells(sample, &mut cells);
        let between = n as f64 / sample.len() as f64;
        let together = |step: usize, bits: u32| {
            let runs = cells.windows(step + 1).step_by(step);
            runs.map(move |run| between * step as f64 / u64::max((run[step] - run[0]) >> bits, 1) as f64)
        };
        let shared = together(1, 0).sum::<f64>() / sample.len() as f64;
        let squares = together(STEP, S::BITS).map(|n| n * n);
        let crowd = f64::sqrt(squares.sum::<f64>() * STEP as f64 / sample.len() as f64);
        Self { spread, len, shared, crowd }
    }

    /// The keys of all scores by bucket and class, chunk by chunk, with an index if requested; `None` if a score is not
    /// finite.
    pub(crate) fn scatter<'a, S: Score>(
        &self,
        labels: &Labels<'_>,
        scores: &'a [S],
        rooms: &'a mut Rooms<S::Key>,
        with_index: bool,
        ctx: &Ctx<'_>,
    ) -> Result<Option<Vec<Chunk<'a, S>>>> {
        let (keys, index, stages) = (&mut rooms.keys, &mut rooms.index, &rooms.stages);
        let n_indexed = if with_index { scores.len() } else { 0 };
        let rooms = grown(keys, scores.len()).chunks_mut(CHUNK).zip((0..).step_by(CHUNK)).zip(scores.chunks(CHUNK));
        let mut index = grown(index, n_indexed).chunks_mut(CHUNK);
        let rooms = rooms.map(|room| (room, index.next().unwrap_or_default()));
        let done = ctx.map(rooms.collect(), |(((keys, from), scores), index)| {
            let starts = stages.lend(|stage| {
                stage.reserve(scores.len());
                self.stage(labels, from, scores, stage).then(|| stage.scatter(2 * self.len, keys, index))
            });
            starts.map(|starts| Chunk { keys, index, scores, starts })
        })?;
        Ok(done.into_iter().collect())
    }

    /// Sets the keys of the scores of a chunk, which begins at sample `from`, and their ids: the bucket, plus the
    /// number of buckets for negatives. Whether all scores are finite.
    fn stage<S: Score>(&self, labels: &Labels<'_>, from: usize, scores: &[S], stage: &mut Stage<S::Key>) -> bool {
        let (mut positive, mut cells, mut buckets) = ([false; TILE], [0; TILE], [0; TILE]);
        let tiles = scores.chunks(TILE).zip(stage.ids.chunks_mut(TILE)).zip(stage.keys.chunks_mut(TILE));
        tiles.zip((from..).step_by(TILE)).all(|(((scores, ids), keys), from)| {
            let (n, bits) = (scores.len(), self.len.trailing_zeros());
            labels.fill(from, &mut positive[..n]);
            let finite = self.classify(scores, &mut cells[..n], (&mut buckets[..n], &mut keys[..n]));
            write_ids(&buckets[..n], &positive[..n], bits, ids);
            finite
        })
    }

    /// Writes the bucket and the key of each score of a tile; whether all are finite. `cells` is a buffer.
    pub(crate) fn classify<S: Score>(
        &self,
        scores: &[S],
        cells: &mut [u64],
        (buckets, keys): (&mut [u32], &mut [S::Key]),
    ) -> bool {
        let spread = &self.spread;
        fast!({
            if let (true, &Spread::Line(low, scale, last)) = (S::EXACT, spread) {
                // In the precision of the scores.
                let line = S::line_from(low, scale, last);
                buckets.iter_mut().zip(scores).for_each(|(bucket, x)| *bucket = x.cell(line));
            } else {
                spread.cells(scores, cells);
                buckets.iter_mut().zip(&*cells).for_each(|(bucket, cell)| *bucket = (cell >> S::BITS) as u32);
            }
            for ((key, &cell), &x) in keys.iter_mut().zip(&*cells).zip(scores) {
                *key = x.key(cell);
            }
            scores.iter().fold(true, |finite, x| finite & x.finite())
        })
    }
}

/// Writes the bucket of each score, with a bit above those of the buckets for negatives.
fn write_ids(buckets: &[u32], positive: &[bool], bits: u32, ids: &mut [u16]) {
    fast!({
        for ((id, &bucket), &positive) in ids.iter_mut().zip(buckets).zip(positive) {
            *id = bucket as u16 | (u16::from(positive) ^ 1) << (bits & 15);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::cells::sample;
    use crate::data::float::Key;
    use crate::testing::uniform;

    fn scatters<S: Score>(labels: &[bool], scores: &[S]) {
        let classes = Labels::new(labels).unwrap();
        let buckets = Buckets::fit::<S>(scores.len(), &sample(scores), Buckets::number(scores.len(), 1 << 9));
        let mut rooms = Rooms::<S::Key>::default();
        let chunks = buckets.scatter(&classes, scores, &mut rooms, true, &Ctx::serial()).unwrap().unwrap();
        for (class, positive) in [true, false].into_iter().enumerate() {
            let mut found = vec![];
            for bucket in 0..buckets.len {
                let mut entries = vec![];
                for (chunk, base) in chunks.iter().zip((0..).step_by(CHUNK)) {
                    let samples = chunk.index[chunk.own(bucket, class)].iter().map(|&from| base + usize::from(from));
                    let mut of_scores = chunk.scores(bucket, class).zip(samples.clone());
                    assert!(of_scores.all(|(score, sample)| score == scores[sample]));
                    entries.extend(chunk.keys(bucket, class).iter().copied().zip(samples));
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
    fn crowds_and_shared_keys_are_about_as_a_sample_tells() {
        let mut next = uniform(8);
        let shapes: [fn(f64) -> f64; 4] = [|u| u, |u| (u / (1.0 - u)).ln(), |u| u.powi(9), |u| (3e4 * u).floor()];
        for (k, shape) in shapes.into_iter().enumerate() {
            let n = 50_000;
            let scores: Vec<f64> = (0..n).map(|_| shape(next())).collect();
            for len in [1000, 5000] {
                let buckets = Buckets::fit::<f64>(n, &sample(&scores), len);
                let mut cells = vec![0; n];
                buckets.spread.cells(&scores, &mut cells);
                cells.sort_unstable();
                let own = cells.chunk_by(|x, y| x >> <f64 as Score>::BITS == y >> <f64 as Score>::BITS);
                let crowd = (own.map(|own| own.len().pow(3)).sum::<usize>() as f64 / n as f64).sqrt();
                let shared = cells.chunk_by(|x, y| x == y).filter(|own| own.len() > 1).map(<[_]>::len).sum::<usize>();
                assert!((0.5..2.0).contains(&(buckets.crowd / crowd)), "shape {k}: {} {crowd}", buckets.crowd);
                // Sharing keys means ties of scores here.
                assert!((buckets.shared > 0.1) == (shared > n / 2), "shape {k}: {} {shared}", buckets.shared);
            }
        }
    }

    #[test]
    fn buckets_are_a_power_of_two_within_limits_and_hold_about_as_many_as_intended() {
        for n in [1, 1 << 10, 1 << 14, 100_000, 1 << 17, 3 << 18, 1 << 30] {
            let (number, intended) = (Buckets::number(n, 1 << 11), n as f64 / (1 << 11) as f64);
            assert!(number.is_power_of_two() && (N_BUCKETS.0..=N_BUCKETS.1).contains(&number));
            let near = (0.5..=1.0).contains(&(intended / number as f64));
            assert!(
                near || number == N_BUCKETS.0 && intended < 4.0 || number == N_BUCKETS.1 && intended > 256.0,
                "{n}"
            );
        }
    }
}
