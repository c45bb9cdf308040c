//! Splits a bucket that exceeds the caches into smaller ones by a monotone map.

use crate::count::monotone::{Classes, Monotone, larger};
use crate::data::float::Key;
use crate::data::labels::TILE;
use crate::order::chunk::grown;

/// Intended keys per smaller bucket.
const AIM: usize = 1 << 13;
/// The most smaller buckets: more streams would exceed the first-level cache.
const MOST: usize = 1 << 8;

/// The keys of either class by smaller bucket.
#[derive(Debug, Default)]
pub(crate) struct Split<K> {
    /// The keys of the current class, unordered, and their buckets.
    own: Vec<K>,
    ids: Vec<u8>,
    keys: [Vec<K>; 2],
    /// Where the keys of each bucket begin, and the end.
    starts: [Vec<usize>; 2],
}

impl<K: Key> Split<K> {
    /// Distributes both classes over smaller buckets and returns the number of these.
    pub(crate) fn fill<M: Monotone<K>>(&mut self, classes: &Classes<'_, K>, sizes: [usize; 2]) -> usize {
        let n = ((sizes[0] + sizes[1]) / AIM).clamp(2, MOST);
        // The larger class comes first, since it shows better how keys are spread.
        let first = larger(sizes);
        let mut map = M::default();
        for class in [first, 1 - first] {
            self.own.clear();
            classes[class].iter().for_each(|part| self.own.extend_from_slice(part));
            if class == first {
                map = M::fit(&self.own, n as u32);
            }
            self.sort(&map, n, class);
        }
        n
    }

    /// Sorts the keys of the current class by bucket: a counting sort.
    fn sort<M: Monotone<K>>(&mut self, map: &M, n: usize, class: usize) {
        let Self { own, ids, keys, starts } = self;
        let (ids, keys, starts) = (grown(ids, own.len()), grown(&mut keys[class], own.len()), &mut starts[class]);
        let (mut cells, mut next) = ([0; TILE], [0usize; MOST]);
        for (own, ids) in own.chunks(TILE).zip(ids.chunks_mut(TILE)) {
            map.cells(own, &mut cells[..own.len()]);
            for (id, &cell) in ids.iter_mut().zip(&cells) {
                *id = cell as u8;
                let count = &mut next[usize::from(*id)];
                *count = count.wrapping_add(1);
            }
        }
        let mut sum = 0;
        starts.clear();
        for next in &mut next[..n] {
            starts.push(sum);
            sum += std::mem::replace(next, sum);
        }
        starts.push(sum);
        for (&id, &key) in ids.iter().zip(&*own) {
            let next = &mut next[usize::from(id)];
            keys[*next] = key;
            *next = next.wrapping_add(1);
        }
    }

    /// The keys of a class in a bucket.
    pub(crate) fn keys(&self, bucket: usize, class: usize) -> &[K] {
        let starts = &self.starts[class];
        &self.keys[class][starts[bucket]..starts[bucket + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::cells::Spread;
    use crate::testing::uniform;

    #[test]
    fn smaller_buckets_ascend_and_share_the_keys_of_the_larger_class() {
        let mut next = uniform(6);
        let large: Vec<f64> = (0..3 * AIM).map(|_| next()).collect();
        let small: Vec<f64> = (0..AIM / 2).map(|_| 1e-4 * next()).collect();
        let mut split = Split::default();
        for keys in [[&large, &small], [&small, &large]] {
            let n = split.fill::<Spread>(&keys.map(|keys| keys.chunks(1000).collect()), keys.map(Vec::len));
            assert_eq!(n, 3);
            for (class, keys) in keys.into_iter().enumerate() {
                let buckets: Vec<&[f64]> = (0..n).map(|bucket| split.keys(bucket, class)).collect();
                let mut sorted = keys.clone();
                sorted.sort_by(f64::total_cmp);
                let mut rest = &sorted[..];
                for own in &buckets {
                    let mut own = own.to_vec();
                    own.sort_by(f64::total_cmp);
                    let (first, others) = rest.split_at(own.len());
                    assert_eq!(own, first);
                    rest = others;
                }
                assert!(rest.is_empty() && (keys.len() < AIM || buckets.iter().all(|own| own.len() < 2 * AIM)));
            }
        }
        let few: Vec<&[f64]> = vec![&large[..9]];
        assert_eq!(split.fill::<Spread>(&[few.clone(), few], [9, 9]), 2);
    }
}
