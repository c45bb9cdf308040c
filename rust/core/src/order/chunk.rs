//! The scores of a chunk of samples by cell, and buffers to write them.

use std::sync::{Mutex, PoisonError};

use crate::order::collect::collect;

/// The gathered scores of a chunk of samples.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) scores: Vec<f64>,
    /// Position of each score in the chunk.
    pub(super) index: Vec<u16>,
    /// Where each cell begins, and the number of scores.
    pub(super) starts: Vec<u32>,
}

/// Buffers of the workers.
#[derive(Debug, Default)]
pub(crate) struct Spare<B>(Mutex<Vec<B>>);

/// Buffers of one worker.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The scores of the chunk, if they lie on a ray.
    pub(super) read: Vec<f64>,
    scores: Vec<f64>,
    index: Vec<u16>,
    buckets: Vec<u32>,
}

/// The first `len` values of `buffer`, which grows if needed.
pub(crate) fn grown<T: Copy + Default>(buffer: &mut Vec<T>, len: usize) -> &mut [T] {
    buffer.resize(usize::max(len, buffer.len()), T::default());
    &mut buffer[..len]
}

/// Gives `buffer` exactly `len` values, of any content.
pub(crate) fn size<T: Clone + Default>(buffer: &mut Vec<T>, len: usize) {
    if buffer.len() != len {
        *buffer = Vec::new();
        *buffer = vec![T::default(); len];
    }
}

impl<B: Default> Spare<B> {
    /// Lends buffers to `work`.
    pub(crate) fn lend<T>(&self, work: impl FnOnce(&mut B) -> T) -> T {
        let free = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = free().pop().unwrap_or_default();
        let found = work(&mut scratch);
        free().push(scratch);
        found
    }
}

impl Scratch {
    /// Buffers for `len` scores, of any content.
    pub(super) fn of(&mut self, len: usize) -> (&mut [f64], &mut [u16], &mut [u32]) {
        (grown(&mut self.scores, len), grown(&mut self.index, len), grown(&mut self.buckets, len))
    }
}

impl Chunk {
    /// Takes the positives, and the negatives that reach `bound`, as one cell each. Returns the weight of the
    /// negatives, or `None` if a score is not finite.
    pub(super) fn collect(
        &mut self,
        scores: &[f64],
        (labels, weights): (&[bool], Option<&[f64]>),
        bound: f64,
        scratch: &mut Scratch,
    ) -> Option<f64> {
        let Self { scores: to, index, starts } = self;
        let (n_neg, n_pos) = if bound == f64::NEG_INFINITY && weights.is_none() {
            size(to, scores.len());
            size(index, scores.len());
            collect(scores, (labels, weights), bound, to, index)?
        } else {
            // The number is unknown, and room for all would be too much.
            let (found, found_index, _) = scratch.of(scores.len());
            let (n_neg, n_pos) = collect(scores, (labels, weights), bound, found, found_index)?;
            let first_pos = scores.len() - n_pos;
            replace(to, [&found[..n_neg], &found[first_pos..]]);
            replace(index, [&found_index[..n_neg], &found_index[first_pos..]]);
            (n_neg, n_pos)
        };
        starts.clear();
        starts.extend([0, n_neg as u32, (n_neg + n_pos) as u32]);
        let weight = |weights: &[f64]| index[..n_neg].iter().map(|&i| weights[usize::from(i)]).sum();
        Some(weights.map_or(n_neg as f64, weight))
    }

    /// Where a cell begins.
    pub(super) fn start(&self, cell: usize) -> usize {
        self.starts[cell] as usize
    }
}

/// Fills `buffer` with `parts`, without spare capacity.
fn replace<T: Copy>(buffer: &mut Vec<T>, parts: [&[T]; 2]) {
    buffer.clear();
    buffer.reserve(parts[0].len() + parts[1].len());
    parts.iter().for_each(|part| buffer.extend_from_slice(part));
}
