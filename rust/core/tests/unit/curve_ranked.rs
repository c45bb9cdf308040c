//! Unit tests of `curve/ranked.rs`, which includes this file.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::*;
use crate::testing::uniform;

#[test]
fn steps_of_many_buckets_are_those_of_a_plain_sort() -> Result<()> {
    let (n, mut next, ctx) = (5 * BUCKET + 100, uniform(12), Ctx::serial());
    let neighbours = |x: f64| f64::from_bits(1.0f64.to_bits() + (20.0 * x) as u64);
    let shapes: [&dyn Fn(f64) -> f64; 5] =
        [&|x| x, &|x| x - 0.3, &|x| (9.0 * x - 4.0).round(), &neighbours, &|x| -neighbours(x)];
    for shape in shapes {
        let labels: Vec<bool> = (0..n).map(|_| next() < 0.4).collect();
        let scores: Vec<f64> = (0..n).map(|_| shape(next())).collect();
        let classes = Labels::new(&labels)?;
        let mut sorted: Vec<usize> = (0..n).collect();
        sorted.sort_by_key(|&i| (order::key(scores[i]), !labels[i], i));
        let mut tied = sorted.chunk_by(|&i, &j| scores[i] == scores[j]);
        let samples = Samples { labels: &classes, scores: &scores, weights: None, least: f64::NEG_INFINITY };
        let take = |step: Step, items: &[u128]| {
            let found: Vec<usize> = items.iter().map(|item| *item as u64 as usize).collect();
            let expected = tied.next().unwrap_or_default();
            let n_pos = expected.iter().filter(|&&i| labels[i]).count();
            assert!(found == expected, "{expected:?}");
            let score = scores[expected[0]];
            assert_eq!(step, Step { score, pos: n_pos as f64, neg: (found.len() - n_pos) as f64 });
        };
        let sizes = samples.each_step(|i| i as u64, |items: &[u128]| items.len() as f64, take, &ctx)?;
        assert!(sizes == [classes.n_pos(), classes.n_neg()] && tied.next().is_none());
        // A bucket for each `BUCKET` samples, one more, and that of samples that are left out.
        let mut room = vec![0u64; n];
        assert_eq!(samples.scatter(&mut room, |_| 0, &ctx)?.0[0].1.len(), 5 + 2 + 1);
    }
    Ok(())
}

static COMPARED: AtomicUsize = AtomicUsize::new(0);

/// A head whose comparisons are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counted(u64);

impl Ord for Counted {
    fn cmp(&self, other: &Self) -> Ordering {
        COMPARED.fetch_add(1, Relaxed);
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Counted {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Item for Counted {
    fn new(head: u64, _: impl FnOnce() -> u64) -> Self {
        Self(head)
    }

    fn head(self) -> u64 {
        self.0
    }
}

#[test]
fn a_bucket_takes_few_comparisons_even_if_one_cell_has_all() -> Result<()> {
    let (n, mut next) = (2000u64, uniform(3));
    let spread: Vec<u64> = (0..n).map(|_| (1e12 * next()) as u64).collect();
    for (heads, most) in [
        (spread, 6),
        (vec![7; n as usize], 3),
        ((0..n).rev().chain([1 << 62]).collect(), 20),
        ((0..n).map(|k| 5 * k % n).chain([1 << 62]).collect(), 20),
    ] {
        let mut bucket = Bucket { own: heads.iter().copied().map(Counted).collect(), ends: vec![] };
        let mut sorted = vec![Counted(0); heads.len()];
        COMPARED.store(0, Relaxed);
        bucket.sort(&mut sorted, &Ctx::serial())?;
        let n_compared = COMPARED.load(Relaxed);
        assert!(sorted.is_sorted() && n_compared < most * heads.len(), "{most}: {n_compared}");
    }
    Ok(())
}
