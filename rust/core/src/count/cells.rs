//! Monotone maps of scores to cells: linear, if scores are spread evenly enough.

use crate::data::float::Key;
use crate::order;
use crate::order::{Map, whole};

/// The sample that a map is fitted to: one in so many scores, within limits.
const SCORES_OF_SAMPLE: usize = 1 << 5;
const SAMPLES: [usize; 2] = [1 << 5, 1 << 10];
/// Bins by which evenness is judged,
const BINS: usize = 64;
/// and how much more often than with evenly spread scores two of them may share a bin.
const UNEVEN: f64 = 4.0;

/// An evenly spread sample of the scores, ascending, without those that are not finite.
pub(crate) fn sample<S: Key>(scores: &[S]) -> Vec<f64> {
    let n_sampled = (scores.len() / SCORES_OF_SAMPLE).clamp(SAMPLES[0], SAMPLES[1]).min(scores.len());
    let places = order::places(n_sampled, scores.len());
    let mut sample: Vec<f64> = places.map(|i| scores[i].into()).filter(|x: &f64| x.is_finite()).collect();
    sample.sort_unstable_by(f64::total_cmp);
    sample
}

/// A map of scores to cells.
#[derive(Debug)]
pub(crate) enum Spread {
    /// Linear: the lowest score, cells per unit, and the last cell.
    Line(f64, f64, f64),
    Map(Map),
}

impl Default for Spread {
    fn default() -> Self {
        Self::Map(Map::default())
    }
}

impl Spread {
    /// A map to `n_cells` cells, fitted to an ascending sample.
    pub(crate) fn fit(sample: &[f64], n_cells: u64) -> Self {
        line(sample, n_cells).unwrap_or_else(|| Self::Map(Map::fit_cells(&mut sample.to_vec(), n_cells)))
    }

    /// The map to another number of cells.
    pub(crate) fn onto(self, n_cells: u64) -> Self {
        let n = n_cells as f64;
        match self {
            Self::Line(low, scale, last) => Self::Line(low, scale * (n / (last + 1.0)), n - 1.0),
            Self::Map(map) => Self::Map(map.onto_cells(n_cells)),
        }
    }

    /// One more than the last cell.
    pub(crate) fn n_cells(&self) -> usize {
        match self {
            Self::Line(.., last) => *last as usize + 1,
            Self::Map(map) => map.n_buckets(),
        }
    }

    /// Writes the cells of scores.
    #[inline(always)]
    pub(crate) fn cells<S: Key>(&self, scores: &[S], cells: &mut [u64]) {
        let of_scores = cells.iter_mut().zip(scores);
        match *self {
            Spread::Line(low, scale, last) => {
                of_scores.for_each(|(cell, &x)| *cell = whole((x.into() - low) * scale, last))
            }
            Spread::Map(map) => map.chosen(|map| {
                for (cell, &x) in cells.iter_mut().zip(scores) {
                    *cell = map.cell(x.into());
                }
            }),
        }
    }
}

/// A linear map to `n_cells` cells, if the ascending `sample` is spread evenly enough.
fn line(sample: &[f64], n_cells: u64) -> Option<Spread> {
    let (first, last) = (sample[0], sample[sample.len() - 1]);
    // Scores further beyond the sample go to the outermost cells.
    let margin = (last - first) / 6.0;
    let (low, length) = (first - margin, last - first + 2.0 * margin);
    let scale = n_cells as f64 / length;
    if !(length.is_normal() && scale.is_normal()) {
        return None;
    }
    let bin = |x: f64| ((x - low) / length * BINS as f64) as usize;
    let together = sample.chunk_by(|&x, &y| bin(x) == bin(y)).map(|bin| bin.len().pow(2)).sum::<usize>();
    let even = (together * BINS) as f64 <= UNEVEN * sample.len().pow(2) as f64;
    even.then_some(Spread::Line(low, scale, (n_cells - 1) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::uniform;

    #[test]
    fn a_sample_is_one_in_so_many_within_limits_ascending_and_finite() {
        for (n, n_sampled) in [(3, 3), (500, 32), (6400, 200), (1 << 20, 1024)] {
            let scores: Vec<f64> = (0..n).map(|k| if k == 1 { f64::NAN } else { -f64::from(k) }).collect();
            let found = sample(&scores);
            assert!(found.is_sorted() && found.len() <= n_sampled && found.len() + 1 >= n_sampled, "{n}");
        }
    }

    #[test]
    fn evenly_spread_scores_have_a_line_with_margins_and_others_a_map() {
        let mut next = uniform(3);
        for (from, length) in [(0.0, 1.0), (-7.0, 1e-3), (1e6, 1e9)] {
            let mut sorted: Vec<f64> = (0..1000).map(|_| from + length * next()).collect();
            sorted.sort_by(f64::total_cmp);
            let spread = Spread::fit(&sorted, 800);
            assert!(matches!(spread, Spread::Line(..)));
            for spread in [spread, Spread::fit(&sorted, 64).onto(800)] {
                // The sample, and a sixth of its length at either side.
                let mut cells = [0; 4];
                spread.cells(&[sorted[0], sorted[999], from - length, from + 2.0 * length], &mut cells);
                assert!(cells[0].abs_diff(100) < 2 && cells[1].abs_diff(700) < 2, "{cells:?}");
                assert_eq!((cells[2], cells[3], spread.n_cells()), (0, 799, 800));
            }
            let mut crowded: Vec<f64> = (0..1000).map(|_| from + length * next().powi(20)).collect();
            crowded.sort_by(f64::total_cmp);
            assert!(matches!(Spread::fit(&crowded, 800), Spread::Map(_)));
        }
        for degenerate in [[1.0; 40], [f64::MAX; 40]] {
            assert!(line(&degenerate, 9).is_none());
        }
        assert!(line(&[f64::MIN, f64::MAX], 9).is_none());
        // More cells per unit than a number can tell.
        let close: Vec<f64> = (0..40).map(|k| 1e-302 * f64::from(k)).collect();
        assert!(line(&close, 1 << 8).is_some() && line(&close, 1 << 40).is_none());
    }
}
