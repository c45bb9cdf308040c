//! Unit tests of `count/bucket.rs`, which includes this file.

use std::cell::RefCell;

use super::*;
use crate::count::cells::sample;
use crate::count::keys::{Buckets, Rooms};
use crate::testing::uniform;
use crate::{Ctx, Labels};

/// Records the size of what it works on, 4 bytes of keys and 8 of scores.
struct Recorded<'a> {
    sizes: &'a RefCell<Vec<usize>>,
    ties: bool,
    settles: bool,
}

impl Work for Recorded<'_> {
    type Output = ();

    fn of<K: Key, M: Monotone<K>>(&mut self, _: &mut Worker<K, M>, classes: &Classes<'_, K>) -> ((), bool) {
        assert_eq!(sizes(classes), [20, 30]);
        self.sizes.borrow_mut().push(size_of::<K>());
        ((), self.ties)
    }

    fn settle(&self, _: &mut (), of_shared: impl FnOnce() -> Option<PairCounts>) -> bool {
        assert!(of_shared().is_some());
        self.settles
    }
}

/// Settles nothing.
struct Unsettled;

impl Work for Unsettled {
    type Output = usize;

    fn of<K: Key, M: Monotone<K>>(&mut self, _: &mut Worker<K, M>, _: &Classes<'_, K>) -> (usize, bool) {
        (size_of::<K>(), true)
    }
}

#[test]
fn a_bucket_is_worked_on_by_keys_and_by_scores_where_these_tie() {
    let labels: Vec<bool> = (0..50).map(|k| k < 20).collect();
    let scores: Vec<f64> = (0..50).map(|k| f64::from(k).sqrt()).collect();
    let (classes, mut rooms) = (Labels::new(&labels).unwrap(), Rooms::default());
    let buckets = Buckets::fit::<f64>(50, &sample(&scores), 1);
    let chunks = buckets.scatter(&classes, &scores, &mut rooms, true, &Ctx::serial()).unwrap().unwrap();
    for (expected, ties, settles, sizes, expects) in [
        (false, false, false, vec![4], false),
        (false, true, true, vec![4], false),
        (false, true, false, vec![4, 8], true),
        (true, false, false, vec![8], false),
        (true, true, true, vec![8], true),
    ] {
        let (mut tie, found) = (expected, RefCell::default());
        Workers::default().run(&chunks, 0, &mut tie, Recorded { sizes: &found, ties, settles });
        assert_eq!((found.into_inner(), tie), (sizes, expects), "{expected} {ties} {settles}");
    }
    assert_eq!(Workers::default().run(&chunks, 0, &mut false, Unsettled), 8);
}

#[test]
fn the_rarer_class_fills_the_table_and_keys_of_both_are_kept() {
    let mut next = uniform(6);
    for sizes in [[300, 700], [700, 300]] {
        let keys = sizes.map(|n| (0..n).map(|_| (1000.0 * next()) as i32).collect::<Vec<_>>());
        let classes = keys.each_ref().map(|keys| keys.chunks(90).collect());
        let mut both: Vec<i32> = keys[0].iter().filter(|key| keys[1].contains(key)).copied().collect();
        both.sort_unstable();
        both.dedup();
        let mut worker = Worker::<i32, Line<i32>>::default();
        for (most, whole) in [(1000, true), (999, false)] {
            worker.count(&classes, Wanted::Pairs, most);
            worker.shared.sort_unstable();
            worker.shared.dedup();
            assert_eq!((&worker.shared, worker.len() == 300), (&both, whole));
        }
        let of_split = [0, 1].map(|part| worker.split.keys(part, 0).len());
        assert_eq!(of_split.iter().sum::<usize>(), sizes[0]);
    }
    let mut worker = Worker::<i32, Line<i32>>::default();
    worker.count(&[vec![&[7; 2 * shared::MOST]], vec![&[7; 2 * shared::MOST]]], Wanted::Pairs, usize::MAX);
    assert_eq!(worker.shared, [7; shared::MOST]);
    // Scores that tie share no key.
    let mut worker = Worker::<f64, Spread>::default();
    assert_eq!(worker.count(&[vec![&[1.0, 2.0]], vec![&[2.0, 3.0]]], Wanted::Pairs, 9).tied, 1);
    assert!(worker.shared.is_empty());
}
