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
    use crate::count::cells;
    use crate::count::keys::{Buckets, Rooms};
    use crate::data::labels::Labels;
    use crate::testing::{sample, uniform};

    #[test]
    fn few_shared_keys_are_told_apart_by_scores_and_many_are_not() {
        let (labels, scores) = sample(2000, 0.5, 1e9, &mut uniform(3));
        let buckets = Buckets::fit::<f64>(scores.len(), &cells::sample(&scores), 8);
        let (mut rooms, classes) = (Rooms::default(), Labels::new(&labels).unwrap());
        let chunks = buckets.scatter(&classes, &scores, &mut rooms, true, &Ctx::serial()).unwrap().unwrap();
        let keys = chunks[0].keys(4, 0);
        for (mut shared, few) in [(keys[..1].to_vec(), true), (keys.to_vec(), false), (vec![0; MOST], false)] {
            assert_eq!(pairs(&chunks, 4, &mut shared, &mut vec![]).is_some(), few);
        }
    }
}
