//! Splits a bucket that exceeds the caches into smaller ones by a monotone map.

use crate::count::counting_sort::{N_BUCKETS, Stage};
use crate::count::monotone::{Classes, Monotone, larger};
use crate::data::float::Key;
use crate::data::labels::TILE;
use crate::order::chunk::grown;

/// Intended keys per smaller bucket.
const AIM: usize = 1 << 13;

/// The keys of either class by smaller bucket.
#[derive(Debug, Default)]
pub(crate) struct Split<K> {
    stage: Stage<K>,
    keys: [Vec<K>; 2],
    /// Where the keys of each bucket begin, and the end.
    starts: [Vec<u32>; 2],
}

impl<K: Key> Split<K> {
    /// Distributes both classes over smaller buckets and returns the number of these.
    pub(crate) fn fill<M: Monotone<K>>(&mut self, classes: &Classes<'_, K>, sizes: [usize; 2]) -> usize {
        let n = ((sizes[0] + sizes[1]) / AIM).clamp(2, N_BUCKETS.1);
        // The larger class comes first, since it shows better how keys are spread.
        let first = larger(sizes);
        let mut map = M::default();
        for class in [first, 1 - first] {
            let Self { stage, keys, starts } = self;
            stage.keys.clear();
            classes[class].iter().for_each(|part| stage.keys.extend_from_slice(part));
            stage.reserve(sizes[class]);
            if class == first {
                map = M::fit(&stage.keys, n as u32);
            }
            let mut cells = [0; TILE];
            for (keys, ids) in stage.keys.chunks(TILE).zip(stage.ids.chunks_mut(TILE)) {
                map.cells(keys, &mut cells[..keys.len()]);
                ids.iter_mut().zip(&cells).for_each(|(id, &cell)| *id = cell as u16);
            }
            starts[class] = stage.scatter(n, grown(&mut keys[class], sizes[class]), &mut []);
        }
        n
    }

    /// The keys of a class in a bucket.
    pub(crate) fn keys(&self, bucket: usize, class: usize) -> &[K] {
        let starts = &self.starts[class];
        &self.keys[class][starts[bucket] as usize..starts[bucket + 1] as usize]
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
                let mut buckets: Vec<Vec<f64>> = (0..n).map(|bucket| split.keys(bucket, class).to_vec()).collect();
                buckets.iter_mut().for_each(|own| own.sort_by(f64::total_cmp));
                let mut sorted = keys.clone();
                sorted.sort_by(f64::total_cmp);
                assert_eq!(buckets.concat(), sorted);
                assert!(keys.len() < AIM || buckets.iter().all(|own| own.len() < 2 * AIM));
            }
        }
        let few: Vec<&[f64]> = vec![&large[..9]];
        assert_eq!(split.fill::<Spread>(&[few.clone(), few], [9, 9]), 2);
    }
}
