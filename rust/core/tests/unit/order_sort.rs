//! Unit tests of `order/sort.rs`, which includes this file.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::order::Entry;
use crate::testing::uniform;

#[test]
fn sorts_like_the_plain_sort_on_any_number_of_threads() {
    let pool = crate::testing::pool(2);
    let mut next = uniform(1);
    for (n, distinct) in [300, 20_000, 100_000].into_iter().flat_map(|n| [2.0, 50.0, 1e9].map(|d| (n, d))) {
        let entries: Vec<Entry> = (0..n).map(|i| Entry::new((next() * distinct).floor().powi(3), i)).collect();
        let mut expected = entries.clone();
        expected.sort();
        for ctx in [Ctx::serial(), Ctx::new(pool.as_ref(), None)] {
            let mut sorted = entries.clone();
            sort(&mut sorted, &ctx).unwrap();
            assert!(sorted == expected, "{n} items, {distinct} distinct, {ctx:?}");
        }
    }
}

/// An item, and what its comparisons tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Told(u64);

thread_local! { static COMPARED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) }; }
static STOP: AtomicBool = AtomicBool::new(false);

impl Ord for Told {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        COMPARED.set(COMPARED.get() + 1);
        STOP.store(true, Ordering::Relaxed);
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Told {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

fn told(n: usize) -> Vec<Told> {
    (0..n as u64).map(|i| Told(i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40)).collect()
}

#[test]
fn few_items_stay_on_the_thread_that_asks_and_many_are_sorted_in_steps() {
    let pool = crate::testing::pool(2);
    for (n, alone) in [(300, true), (SMALL, true), (SMALL + 1, false), (4 * SMALL, false)] {
        COMPARED.set(0);
        sort(&mut told(n), &Ctx::new(pool.as_ref(), None)).unwrap();
        assert_eq!(COMPARED.get() > 0, alone || cfg!(not(feature = "rayon")), "{n}");
    }
    // Half of the rest at a time, and each looks for the stop flag.
    COMPARED.set(0);
    in_steps(&mut told(1000), 10, &Ctx::serial()).unwrap();
    assert!(COMPARED.get() < 30_000, "{}", COMPARED.get());
    for (n, stops) in [(10, false), (11, true), (1000, true)] {
        STOP.store(false, Ordering::Relaxed);
        let found = in_steps(&mut told(n), 10, &Ctx::new(None, Some(&STOP)));
        assert_eq!(found.is_err(), stops, "{n}");
    }
}

#[test]
fn more_than_one_step_are_sorted_in_parts() {
    let mut items: Vec<u64> = (0..1000).map(|i| i * 2_654_435_761 % 700).collect();
    in_steps(&mut items, 10, &Ctx::serial()).unwrap();
    assert!(items.is_sorted());
}
