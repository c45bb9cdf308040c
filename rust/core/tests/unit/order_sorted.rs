//! Unit tests of `order/sorted.rs`, which includes this file.

use super::*;
use crate::CHUNK;
use crate::order::sort::FEW;
use crate::testing::uniform;

#[test]
fn a_crowd_of_any_region_is_sorted() -> Result<()> {
    let mut next = uniform(7);
    let map = Map::fit(&mut (0..1000).map(f64::from).collect::<Vec<_>>(), 40_000);
    assert!(map.n_regions() > 2);
    let scores: Vec<f64> = (0..40_000).map(|k| if k % 2 == 0 { 1e3 * next() } else { 900.0 + 1e-9 * next() }).collect();
    let region = |score: &f64| map.region(map.bucket(*score));
    let regions: Vec<Vec<f64>> =
        (0..map.n_regions()).map(|k| scores.iter().copied().filter(|score| region(score) == k).collect()).collect();
    let parts: Vec<Vec<&[f64]>> = regions.iter().map(|own| vec![&own[..]]).collect();
    let mut sorted = Sorted { map, ..Sorted::default() };
    sorted.build(&parts, &Ctx::serial())?;
    let mut expected = scores;
    expected.sort_by(f64::total_cmp);
    assert!(sorted.scores() == expected);
    Ok(())
}

#[test]
fn a_crowd_in_one_bucket_is_sorted_and_ranked() -> Result<()> {
    let mut next = uniform(4);
    for n in [3, LANES + 1, FEW as usize, FEW as usize + 1, 500, 2 * CHUNK] {
        for levels in [5.0, 1e9] {
            let mut draw = || (levels * (next() - 0.5)).round() / levels;
            // A map of scores further apart, for which these are one.
            let map = Map::fit(&mut [-9e9, -4e9, -1e9, 1e9, 4e9, 9e9], 6);
            let mut scores: Vec<f64> = (0..n).map(|_| draw()).chain([-9e9, 9e9]).collect();
            let mut sorted = Sorted { map, ..Sorted::default() };
            sorted.build(&[vec![&scores[..n / 3], &scores[n / 3..]]], &Ctx::serial())?;
            scores.sort_by(f64::total_cmp);
            assert_eq!(
                sorted.scores().iter().map(|&x| x + 0.0).collect::<Vec<_>>(),
                scores.iter().map(|&x| x + 0.0).collect::<Vec<_>>()
            );
            let asked: Vec<f64> = (0..200).map(|_| draw()).chain([-1e10, -9e9, -2.0, 2.0, 9e9, 1e10]).collect();
            let (mut below, mut up_to, shift) = (vec![0; asked.len()], vec![0; asked.len()], 0.125);
            sorted.below(&asked, shift, &mut below);
            sorted.up_to(&asked, &mut up_to);
            for ((&x, below), up_to) in asked.iter().zip(below).zip(up_to) {
                assert_eq!(below as usize, scores.partition_point(|&y| y < x + shift));
                assert_eq!(up_to as usize, scores.partition_point(|&y| y <= x));
            }
        }
    }
    Ok(())
}
