//! Unit tests of `count/mod.rs`, which includes this file.

use super::*;
use crate::testing::uniform;

/// Scores of several shapes, with a share of ties, by a small generator.
fn sample(n: usize, share: f64, shape: usize) -> (Vec<bool>, Vec<f64>) {
    let mut next = uniform(11 + shape as u64);
    let labels: Vec<bool> = (0..n).map(|_| next() < share).collect();
    let score = |positive: &bool| {
        let u = next() + 0.1 * f64::from(u8::from(*positive));
        match shape {
            0 => u,
            1 => (u - 0.5) / (1.0 - u * u / 2.0).powi(40),
            2 => (20.0 * u).floor(),
            3 if u < 0.9 => 1e-9 * u,
            3 => 1e9 * u,
            4 => 1.0 - 1e-12 * (1000.0 * next()).floor() * u,
            5 => 1.0,
            // Scores so close that their keys tie: some in one place of many, and some everywhere.
            6 if u < 0.001 => f64::from_bits(0.5f64.to_bits() + (4.0 * next()) as u64),
            7 if u < 0.1 => f64::from_bits(0.5f64.to_bits() + (4.0 * next()) as u64),
            8 => f64::from_bits(((1.0 + (1e4 * u).floor() / 1e4).to_bits() >> 4 << 4) + (3.0 * next()) as u64),
            9 => 1e-310 * u,
            // Few values, and some that hardly any sample shows.
            11 if next() < 0.999 => (300.0 * u).floor(),
            // Some far out, as no sample shows: alike to a map, and some of them equal.
            12 if next() < 0.002 => (u - 0.5).signum() * 1e3 * (1.0 + (300.0 * next()).floor()),
            // One score that many have.
            13 if next() < 0.003 => 0.25,
            10 if u < 0.2 => 0.0f64.copysign(next() - 0.5),
            _ => u - 0.5,
        }
    };
    let scores = labels.iter().map(score).collect();
    (labels, scores)
}

/// The counts by sorting.
fn plain(labels: &[bool], scores: &[f64]) -> PairCounts {
    let mut counts = PairCounts::default();
    for (class, positive) in [true, false].into_iter().enumerate() {
        let mut other: Vec<f64> = (0..scores.len()).filter(|&i| labels[i] != positive).map(|i| scores[i]).collect();
        other.sort_by(f64::total_cmp);
        for i in (0..scores.len()).filter(|&i| labels[i] == positive) {
            let below = other.partition_point(|&y| y < scores[i]) as u128;
            let up_to = other.partition_point(|&y| y <= scores[i]) as u128;
            counts.squares[class] += (below + up_to).pow(2);
            if positive {
                counts.won += below;
                counts.tied += up_to - below;
            }
        }
    }
    counts
}

/// Limits that count a few scores in each of the ways; the default ones first.
fn limits() -> [Limits; 5] {
    let none =
        Limits { few_values: usize::MAX, few: 0, narrow: usize::MAX, one_table: 0, bucket: 40, split: 16, share: 64 };
    let one_table = Limits { one_table: usize::MAX, ..none };
    let few = Limits { few: usize::MAX, ..none };
    [Limits::default(), none, one_table, few, Limits { few_values: 2, narrow: 2, ..none }]
}

/// Checks counts in double and single precision, with all limits, on one thread and on three.
fn check(labels: &[bool], scores: &[f64], limits: &[Limits], what: &str) {
    let pool = crate::testing::pool(3);
    let narrow: Vec<f32> = scores.iter().map(|&x| x as f32).collect();
    let rounded: Vec<f64> = narrow.iter().map(|&x| x.into()).collect();
    let (expected, of_narrow) = (plain(labels, scores), plain(labels, &rounded));
    let classes = Labels::new(labels).unwrap();
    for &limits in limits {
        let (mut wide, mut single) = (Counting::with_limits(limits), Counting::with_limits(limits));
        for ctx in [Ctx::serial(), Ctx::new(pool.as_ref(), None)] {
            let told = format!("{what}, {limits:?}, {ctx:?}");
            for wanted in [Wanted::Squares, Wanted::Pairs] {
                let squares = |counts: PairCounts| if wanted == Wanted::Squares { counts.squares } else { [0; 2] };
                let expect = |counts: PairCounts| PairCounts { squares: squares(counts), ..counts };
                let found = pair_counts(&classes, scores, wanted, &mut wide, &ctx).unwrap();
                assert_eq!(PairCounts { squares: squares(found), ..found }, expect(expected), "{told}");
                let found = pair_counts(&classes, &rounded, wanted, &mut wide, &ctx).unwrap();
                assert_eq!(PairCounts { squares: squares(found), ..found }, expect(of_narrow), "rounded, {told}");
                let found = pair_counts(&classes, &narrow, wanted, &mut single, &ctx).unwrap();
                assert_eq!(PairCounts { squares: squares(found), ..found }, expect(of_narrow), "float32, {told}");
            }
        }
    }
}

#[test]
fn counts_are_those_of_a_sort_in_every_way_of_counting() {
    for shape in 0..14 {
        for (n, share) in [(30, 0.4), (400, 0.02), (900, 0.6)] {
            let (mut labels, scores) = sample(n, share, shape);
            (labels[0], labels[1]) = (true, false);
            check(&labels, &scores, &limits(), &format!("{n} scores of shape {shape}, {share} positive"));
        }
        let (labels, scores) = sample(20_000, 0.3, shape);
        check(&labels, &scores, &limits()[..1], &format!("20,000 scores of shape {shape}"));
    }
}

#[test]
fn a_bad_score_is_named_in_every_way_of_counting() {
    let labels: Vec<bool> = (0..300).map(|i| i % 2 == 0).collect();
    for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        for limits in limits() {
            let mut scores: Vec<f64> = (0..300).map(|i| f64::from(i).sqrt()).collect();
            scores[7] = bad;
            let mut counting = Counting::with_limits(limits);
            let classes = Labels::new(&labels).unwrap();
            let found = pair_counts(&classes, &scores, Wanted::Pairs, &mut counting, &Ctx::serial());
            assert!(matches!(found, Err(Error::NonFinite { name: "scores", index: 7, .. })), "{limits:?}");
        }
    }
}

#[test]
fn limits_choose_the_way_of_counting() {
    fn unused<T: Default + std::fmt::Debug>(memory: &T) -> bool {
        format!("{memory:?}") == format!("{:?}", T::default())
    }
    let (n, none) = (300, limits()[1]);
    let (labels, scores) = sample(n, 0.4, 0);
    let classes = Labels::new(&labels).unwrap();
    // Whether values were looked for, single precision found, one table and buckets used.
    let ways = |limits: Limits, scores: &[f64]| {
        let mut counting = Counting::with_limits(limits);
        pair_counts(&classes, scores, Wanted::Pairs, &mut counting, &Ctx::serial()).unwrap();
        let Counting { buckets, table, values, of_narrow, .. } = &counting;
        [!unused(values), of_narrow.is_some(), !unused(table), !unused(buckets)]
    };
    let narrow: Vec<f64> = scores.iter().map(|&x| f64::from(x as f32)).collect();
    for (beyond, found) in [(0, true), (1, false)] {
        let (from, up_to) = (n + beyond, n - beyond);
        assert_eq!(ways(Limits { few_values: from, ..none }, &scores), [found, false, false, true]);
        assert_eq!(ways(Limits { narrow: from, ..none }, &narrow), [false, found, false, !found]);
        assert_eq!(ways(Limits { few: up_to, one_table: n, ..none }, &scores), [false, false, !found, found]);
        assert_eq!(ways(Limits { one_table: up_to, ..none }, &scores), [false, false, found, !found]);
    }
    assert!(!ways(Limits { narrow: n, ..none }, &scores)[1]);
}
