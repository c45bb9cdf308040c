//! Unit tests of `count/one_table.rs`, which includes this file.

use super::*;
use crate::count::cells::sample;
use crate::testing::uniform;

#[test]
fn classes_are_those_of_a_filter() {
    let mut next = uniform(2);
    for (n, levels) in [(2, 9.0), (40, 9.0), (5000, 1e9), (70_001, 900.0)] {
        let labels: Vec<bool> = (0..n).map(|i| if i < 2 { i == 0 } else { next() < 0.3 }).collect();
        let scores: Vec<f64> = (0..n).map(|_| (levels * next()).floor()).collect();
        let classes = Labels::new(&labels).unwrap();
        let buckets = Buckets::fit::<f64>(n, &sample(&scores), 100);
        let (mut cells, mut keys) = (vec![0; n], vec![0; n]);
        part(&classes, &scores, &buckets, (&mut cells, &mut keys), &Ctx::serial()).unwrap().unwrap();
        let place = |x: f64| {
            let (mut cell, mut key) = ([0], [0]);
            assert!(buckets.classify(&[x], &mut [0], (&mut cell, &mut key)));
            (cell[0], key[0])
        };
        let mut found: Vec<(u32, i32)> = cells.into_iter().zip(keys).collect();
        let (pos, neg) = found.split_at_mut(classes.n_pos());
        for (found, positive) in [(pos, true), (neg, false)] {
            let own = (0..n).filter(|&i| labels[i] == positive).map(|i| place(scores[i]));
            let mut expected: Vec<(u32, i32)> = own.collect();
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "{n}");
        }
    }
}

#[test]
fn cells_are_as_many_as_keys_or_more_where_these_would_crowd() {
    let mut next = uniform(7);
    let (n, n_keys) = (40_000, 10_000);
    let shapes: [fn(f64) -> f64; 3] = [|u| u, |u| (u / (1.0 - u)).ln(), |u| u.powi(6)];
    let times_keys = [[1.0, 1.0], [1.05, 1.4], [1.4, 1.9]];
    for (k, (shape, [least, most])) in shapes.into_iter().zip(times_keys).enumerate() {
        // The middle of nine draws: the range of a sample's few extreme scores varies.
        let mut found = [(); 9].map(|()| {
            let scores: Vec<f64> = (0..n).map(|_| shape(next())).collect();
            let buckets = fit(&scores, &sample(&scores), n_keys).unwrap();
            let (mut cells, mut keys, mut counts) = (vec![0; n], vec![0; n], vec![0usize; buckets.len]);
            assert!(buckets.classify(&scores, &mut vec![0; n], (&mut cells, &mut keys)));
            cells[..n_keys].iter().for_each(|&cell| counts[cell as usize] += 1);
            let crowd = (counts.iter().map(|own| own.pow(3)).sum::<usize>() as f64 / n_keys as f64).sqrt();
            (buckets.len as f64 / n_keys as f64, crowd)
        });
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let times = found[4].0;
        found.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
        let crowd = found[4].1;
        assert!(least <= times && times <= most && crowd < 1.3 * CROWD, "shape {k}: {times}, {crowd}");
    }
}

#[test]
fn one_table_counts_all_but_scores_whose_keys_tie() {
    let (n, mut next) = (3000, uniform(5));
    let labels: Vec<bool> = (0..n).map(|_| next() < 0.3).collect();
    let classes = Labels::new(&labels).unwrap();
    for (levels, tie) in [(1e9, false), (100.0, true)] {
        let scores: Vec<f64> = (0..n).map(|_| (levels * next()).floor()).collect();
        let narrow: Vec<f32> = scores.iter().map(|&x| x as f32).collect();
        for wanted in [Wanted::Pairs, Wanted::Squares] {
            let found = count(&classes, (&scores, &sample(&scores)), wanted, &mut Memory::default(), &Ctx::serial());
            assert_eq!(found.unwrap().is_none(), tie, "{levels} {wanted:?}");
            // The keys of these are scores.
            let found = count(&classes, (&narrow, &sample(&narrow)), wanted, &mut Memory::default(), &Ctx::serial());
            assert!(found.unwrap().is_some(), "{levels} {wanted:?}");
        }
    }
}

#[test]
fn scores_far_beyond_the_sample_that_tie_are_compared() {
    let (n, mut next) = (3000, uniform(8));
    let labels: Vec<bool> = (0..n).map(|_| next() < 0.3).collect();
    let far = |k: usize| f64::from(k as u32 / 75 % 4) * 1e3 - 1500.0;
    let scores: Vec<f64> = (0..n).map(|k| if k % 75 == 7 { far(k) } else { next() }).collect();
    let classes = Labels::new(&labels).unwrap();
    let (mut won, mut tied, mut squares) = (0, 0, [0; 2]);
    for (class, positive) in [true, false].into_iter().enumerate() {
        for i in (0..n).filter(|&i| labels[i] == positive) {
            let other = || (0..n).filter(|&j| labels[j] != positive);
            let (below, equal) = (
                other().filter(|&j| scores[j] < scores[i]).count(),
                other().filter(|&j| scores[j] == scores[i]).count(),
            );
            squares[class] += ((2 * below + equal) as u128).pow(2);
            (won, tied) = if positive { (won + below as u128, tied + equal as u128) } else { (won, tied) };
        }
    }
    assert!(tied > 20);
    // Without those far out: a sample need not show them.
    let middle: Vec<f64> = scores.iter().copied().filter(|x| x.abs() < 2.0).collect();
    for wanted in [Wanted::Pairs, Wanted::Squares] {
        let found = count(&classes, (&scores, &sample(&middle)), wanted, &mut Memory::default(), &Ctx::serial());
        let found = found.unwrap().unwrap();
        assert_eq!((found.won, found.tied), (won, tied), "{wanted:?}");
        assert_eq!(found.squares, if wanted == Wanted::Squares { squares } else { [0; 2] });
    }
}

#[test]
fn neighbours_whose_scores_share_a_key_are_left_to_another_way() {
    let (n, mut next) = (3000, uniform(6));
    let labels: Vec<bool> = (0..n).map(|k| k % 3 == 0).collect();
    let classes = Labels::new(&labels).unwrap();
    let apart: Vec<f64> = (0..n).map(|_| next()).collect();
    for (asks, owns) in [(1, 0), (2, 3)] {
        let mut scores = apart.clone();
        scores[asks] = scores[owns].next_up();
        for wanted in [Wanted::Pairs, Wanted::Squares] {
            for (scores, told) in [(&apart, true), (&scores, false)] {
                let found = count(&classes, (scores, &sample(&apart)), wanted, &mut Memory::default(), &Ctx::serial());
                assert_eq!(found.unwrap().is_some(), told, "{wanted:?}");
            }
        }
    }
    // Of scores that a sample shows to tie none is looked up.
    let tied: Vec<f64> = apart.iter().map(|x| (100.0 * x).floor()).collect();
    assert!(fit(&tied, &sample(&tied), 1000).is_none());
    let narrow: Vec<f32> = tied.iter().map(|&x| x as f32).collect();
    assert!(fit(&narrow, &sample(&tied), 1000).is_some());
}

#[test]
fn all_but_the_last_few_are_moved_by_eight() {
    for (n, n_moved) in [(7, 0), (15, 0), (16, 8), (17, 8), (24, 16), (100, 88)] {
        let (own_cells, own_keys): (Vec<u32>, Vec<i32>) = (0..n).map(|k| (k as u32, -(k as i32))).unzip();
        let positive: Vec<bool> = (0..n).map(|k| k % 3 == 0).collect();
        let (mut cells, mut keys) = (vec![0; n], vec![0; n]);
        let part = Part { from: (&own_cells, &own_keys), positive: &positive, to: (&mut cells, &mut keys) };
        let (n_pos, done) = by_eight(part);
        assert_eq!((n_pos, done), (positive[..n_moved].iter().filter(|positive| **positive).count(), n_moved), "{n}");
        let mut found: Vec<(u32, i32)> = cells.into_iter().zip(keys).collect();
        let mut moved: Vec<(u32, i32)> = found.drain(..n_pos).collect();
        moved.extend(&found[found.len() - (done - n_pos)..]);
        moved.sort_unstable();
        assert!(moved.iter().zip(0..).all(|(&(cell, key), k)| cell == k as u32 && key == -k), "{n}");
    }
}
