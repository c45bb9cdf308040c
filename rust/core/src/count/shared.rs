//! Pairs of samples that share a key: if they are few, only their scores are compared.

use crate::count::keys::Chunk;
use crate::count::sums::PairCounts;
use crate::data::float::{Key, Score};

/// The most keys handled so,
pub(crate) const MOST: usize = 1 << 12;
/// and the greatest share of samples, one in so many.
const FEW: usize = 1 << 3;
/// Marks by the lower bits of a key, which few other keys have.
const MARKS: usize = 1 << 15;

/// The samples whose keys are shared, with their scores, and whether they are positive.
pub(crate) type Samples<S> = Vec<(<S as Score>::Key, S, bool)>;

/// The pairs of samples of one bucket that share one of the `shared` keys; `None` if there are too many.
pub(crate) fn pairs<S: Score>(
    chunks: &[Chunk<'_, S>],
    bucket: usize,
    shared: &mut Vec<S::Key>,
    samples: &mut Samples<S>,
) -> Option<PairCounts> {
    if shared.len() >= MOST {
        return None;
    }
    shared.sort_unstable_by(S::Key::order);
    shared.dedup();
    let mut marks = [0u64; MARKS / 64];
    let place = |key: S::Key| ((key.bits() as usize & (MARKS - 1)) / 64, key.bits() % 64);
    for &key in &*shared {
        let (word, bit) = place(key);
        marks[word] |= 1 << bit;
    }
    samples.clear();
    for class in [0, 1] {
        let mut rest = chunks.iter().map(|chunk| chunk.keys(bucket, class).len()).sum::<usize>() / FEW;
        for chunk in chunks {
            for (&key, &from) in chunk.keys(bucket, class).iter().zip(chunk.index(bucket, class)) {
                let (word, bit) = place(key);
                if marks[word] >> bit & 1 == 1 && shared.binary_search_by(|other| other.order(&key)).is_ok() {
                    rest = rest.checked_sub(1)?;
                    samples.push((key, chunk.score(from), class == 0));
                }
            }
        }
    }
    samples.sort_unstable_by(|x, y| x.0.order(&y.0).then(x.1.order(&y.1)));
    let mut counts = PairCounts::default();
    for of_key in samples.chunk_by(|x, y| x.0 == y.0) {
        let blocks = of_key.chunk_by(|x, y| x.1 == y.1);
        let of_class = |equal: &[(_, _, bool)], class| equal.iter().filter(|sample| sample.2 == class).count() as u64;
        counts.add(PairCounts::of_blocks(blocks.map(|equal| [true, false].map(|class| of_class(equal, class)))));
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ctx;
    use crate::count::cells::sample;
    use crate::count::keys::{Buckets, Rooms};
    use crate::data::labels::Labels;
    use crate::testing::uniform;

    #[test]
    fn pairs_that_share_a_key_are_told_apart_by_their_scores() {
        let mut next = uniform(3);
        // Of every fifty scores two are neighbours, and some are equal.
        let base: Vec<f64> = (0..40).map(|_| next()).collect();
        let near = |k: usize, u: f64| f64::from_bits(base[k / 50].to_bits() + (3.0 * u) as u64);
        let scores: Vec<f64> = (0..2000).map(|k| if k % 50 < 2 { near(k, next()) } else { next() }).collect();
        let labels: Vec<bool> = scores.iter().map(|_| next() < 0.5).collect();
        let buckets = Buckets::fit::<f64>(scores.len(), &sample(&scores), 8);
        let (mut rooms, classes) = (Rooms::default(), Labels::new(&labels).unwrap());
        let chunks = buckets.scatter(&classes, &scores, &mut rooms, true, &Ctx::serial()).unwrap().unwrap();
        let (mut total, mut samples) = (PairCounts::default(), vec![]);
        for bucket in 0..8 {
            let of = |class: usize| chunks[0].keys(bucket, class).to_vec();
            let mut shared: Vec<i32> = of(0).into_iter().filter(|key| of(1).contains(key)).collect();
            total.add(pairs(&chunks, bucket, &mut shared, &mut samples).unwrap());
        }
        let mut expected = PairCounts::default();
        for (k, j) in (0..2000).step_by(50).flat_map(|k| [(k, k + 1), (k + 1, k)]) {
            if labels[k] && !labels[j] {
                expected.won += u128::from(scores[k] > scores[j]);
                expected.tied += u128::from(scores[k] == scores[j]);
            }
        }
        assert!(expected.won > 0 && expected.tied > 0);
        assert_eq!((total.won, total.tied), (expected.won, expected.tied));
        assert!(pairs(&chunks, 0, &mut vec![0; MOST], &mut samples).is_none());
        let mut all = chunks[0].keys(0, 0).to_vec();
        assert!(pairs(&chunks, 0, &mut all, &mut samples).is_none());
    }
}
