//! Unit tests of `count/buckets.rs`, which includes this file.

use super::*;
use crate::data::float::Line;

#[test]
fn keys_of_both_classes_tie_or_do_not() {
    let (mut count, mut worker) =
        (Count { wanted: Wanted::Pairs, most: 9, below: [5, 7] }, Worker::<i32, Line<i32>>::default());
    for (positives, expected) in [(vec![], (0, 0)), (vec![1, 5], (16, 0)), (vec![4, 4, 9], (25, 2))] {
        let (found, tie) = count.of(&mut worker, &[vec![&positives], vec![&[2, 4]]]);
        assert_eq!(((found.won, found.tied), tie), (expected, expected.1 > 0));
    }
}
