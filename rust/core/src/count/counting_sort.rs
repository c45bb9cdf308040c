//! A counting sort of the keys of a chunk by id, within the caches.

use crate::order::chunk::grown;
use crate::simd::fast;

/// The fewest and the most buckets; each is two streams of the scatter, one per class.
pub(crate) const N_BUCKETS: (usize, usize) = (8, 256);
/// Scores scattered together: their places have 16 bits, and their keys fit the second-level cache.
pub(crate) const CHUNK: usize = 1 << 16;
/// The most ids.
pub(crate) const MOST_IDS: usize = 2 * N_BUCKETS.1;
/// Successive scores are counted in so many places in turn, so that equal ones do not wait for each other.
const LANES: usize = 4;

/// Buffers for a chunk, in a cache: a scatter to memory outside the caches would take twice the time.
#[derive(Debug, Default)]
pub(crate) struct Stage<K> {
    pub(crate) keys: Vec<K>,
    pub(crate) ids: Vec<u16>,
    sorted: Vec<K>,
    index: Vec<u16>,
}

impl<K: Copy + Default> Stage<K> {
    /// Makes room for `len` keys; fresh memory costs more than their scatter.
    pub(crate) fn reserve(&mut self, len: usize) {
        [&mut self.keys, &mut self.sorted].into_iter().for_each(|keys| _ = grown(keys, len));
        [&mut self.ids, &mut self.index].into_iter().for_each(|ids| _ = grown(ids, len));
    }

    /// Writes the keys to `keys`, sorted by id, and the place of each to `index` unless that is empty. Returns where
    /// the keys of each id begin, and the end.
    pub(crate) fn scatter(&mut self, n_ids: usize, keys: &mut [K], index: &mut [u16]) -> Vec<u32> {
        let len = keys.len();
        let starts = if index.is_empty() { self.sort::<false>(n_ids, len) } else { self.sort::<true>(n_ids, len) };
        keys.copy_from_slice(&self.sorted[..len]);
        index.copy_from_slice(&self.index[..index.len()]);
        starts
    }

    fn sort<const INDEX: bool>(&mut self, n_ids: usize, len: usize) -> Vec<u32> {
        let Self { keys, ids, sorted, index } = self;
        let (keys, ids) = (&keys[..len], &ids[..len]);
        let (starts, next) = starts(ids, n_ids);
        scatter::<K, INDEX>(keys, ids, next, sorted, index);
        starts
    }
}

/// Numbers by lane and id.
type Counts = [[u32; MOST_IDS]; LANES];

/// Where the keys of each of `n_ids` ids begin, and the end; and where they begin by lane.
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

/// Writes every key to the next place of its lane and id, and its place in the chunk if `INDEX`.
fn scatter<K: Copy, const INDEX: bool>(keys: &[K], ids: &[u16], mut next: Counts, to: &mut [K], index: &mut [u16]) {
    fast!({
        let (to, index) = (&mut to[..keys.len()], &mut index[..keys.len()]);
        let mut from = 0u16;
        let mut put = |lane: usize, key: K, id: u16| {
            let next = &mut next[lane][usize::from(id) & (MOST_IDS - 1)];
            // Counted first, since the next key of this id waits for it.
            let at = *next as usize;
            *next = next.wrapping_add(1);
            to[at] = key;
            if INDEX {
                index[at] = from;
                from = from.wrapping_add(1);
            }
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
    });
}
