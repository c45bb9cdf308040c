//! Unit tests of `count/buckets.rs`, which includes this file.

use super::*;
use crate::count::cells::sample;
use crate::data::float::Line;
use crate::testing::uniform;

#[test]
fn keys_of_both_classes_tie_or_do_not() {
    let (mut count, mut worker) =
        (Count { wanted: Wanted::Pairs, most: 9, below: [5, 7] }, Worker::<i32, Line<i32>>::default());
    for (positives, expected) in [(vec![], (0, 0)), (vec![1, 5], (16, 0)), (vec![4, 4, 9], (25, 2))] {
        let (found, tie) = count.of(&mut worker, &[vec![&positives], vec![&[2, 4]]]);
        assert_eq!(((found.won, found.tied), tie), (expected, expected.1 > 0));
    }
}

#[test]
fn keys_are_compared_where_they_tell_scores_apart_and_few_ties_are_settled() -> Result<()> {
    let (n, mut next) = (20_000, uniform(3));
    let labels: Vec<bool> = (0..n).map(|_| next() < 0.3).collect();
    let classes = Labels::new(&labels)?;
    let none: Vec<f64> = (0..n).map(|_| next()).collect();
    // Hardly any pairs that no key tells apart, and of every score another one.
    let few: Vec<f64> = (0..n).map(|k| if k % 1000 == 1 { none[k - 1].next_up() } else { none[k] }).collect();
    let all: Vec<f64> = (0..n).map(|k| none[k - k % 2]).collect();
    let mut close = sample(&none);
    let apart = close.clone();
    // As close as scores of which one in a few hundred shares a key.
    close[8] = close[7] + 1e-10;
    let mut tied = close.clone();
    tied[8] = tied[7];
    let pool = crate::testing::pool(3);
    for ctx in [Ctx::serial(), Ctx::new(pool.as_ref(), None)] {
        for (scores, sample, wanted, [by_key, by_score]) in [
            (&few, &apart, Wanted::Pairs, [true, false]),
            (&few, &apart, Wanted::Squares, [true, true]),
            (&none, &apart, Wanted::Squares, [true, false]),
            (&none, &close, Wanted::Pairs, [true, false]),
            (&none, &close, Wanted::Squares, [true, true]),
            (&all, &apart, Wanted::Pairs, [true, true]),
            (&all, &tied, Wanted::Pairs, [false, true]),
        ] {
            let mut memory = Memory::default();
            count(&classes, (scores, sample), wanted, (n / 64, n), &mut memory, &ctx)?.unwrap();
            // Without the outermost buckets, which are empty.
            let middle = &memory.workers[memory.workers.len() / 3..memory.workers.len() * 2 / 3];
            let used = |of: fn(&Workers<f64>) -> usize| middle.iter().any(|worker| of(worker) > 0);
            let found = [used(|worker| worker.keys.len()), used(|worker| worker.scores.len())];
            assert_eq!(found, [by_key, by_score], "{wanted:?} {:?}", memory.workers.len());
            // A few shares of the 64 buckets for each thread.
            assert_eq!(memory.workers.len(), if ctx.n_threads() == 1 { 4 } else { 11 });
        }
    }
    Ok(())
}
