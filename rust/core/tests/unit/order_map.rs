//! Unit tests of `order/map.rs`, which includes this file.

use super::*;

#[test]
fn buckets_ascend_with_scores_from_any_sample() {
    let scores =
        [f64::MIN, -1e300, -7.0, -1.0, -0.3, -1e-9, -5e-324, 0.0, 5e-324, 1e-300, 0.2, 1.0, 7.0, 1e9, f64::MAX];
    let saturated: Vec<f64> = (-400..400).map(|k| 1.0 / (1.0 + (-f64::from(k) / 10.0).exp())).collect();
    let samples: [&[f64]; 8] = [
        &[0.0],
        &[1e-320, 2e-320],
        &[-1.0, 0.0, 0.5, 3.0],
        &[f64::MIN, f64::MAX],
        &[7.0; 50],
        &saturated,
        &[1e308, 1.1e308],
        &scores,
    ];
    for sample in samples {
        for n in [1, 1000, 3_000_000] {
            let map = Map::fit(&mut sample.to_vec(), n);
            let buckets = scores.map(|s| map.bucket(s));
            assert!(buckets.is_sorted(), "{sample:?} {n}: {buckets:?}");
            assert!((buckets[scores.len() - 1] as usize) < map.n_buckets());
            assert!(buckets.iter().all(|&b| map.region(b) < map.n_regions()));
            assert!(map.n_regions() <= 1 << MOST_REGIONS_BITS || map.region_len() == 1 << REGION_BITS);
            assert!(map.n_regions() == 1 || map.region_len() >= 1 << REGION_BITS);
            assert!(n < 1 << REGION_BITS || map.width == 0.0 || map.n_regions() >= 1 << 6);
        }
    }
}

#[test]
fn regions_are_as_few_as_fit_a_cache() {
    for bits in 1..40 {
        for n in [(1usize << bits) - 1, 1 << bits, (1 << bits) + 1] {
            let map = Map::fit(&mut [0.0, 0.25, 0.5, 1.0], n);
            // A region has at least so many buckets, and more if there were too many regions.
            let mut len = 1 << REGION_BITS;
            while (2 * n + 1).next_power_of_two() / len > 1 << MOST_REGIONS_BITS {
                len *= 2;
            }
            let expected = if n < 1 << REGION_BITS { (1 << 63, 1) } else { (len, 2 * n / len + 1) };
            assert_eq!((map.region_len(), map.n_regions()), expected, "{n}");
        }
    }
}

#[test]
fn most_buckets_hold_few_scores_whatever_the_tails() {
    let n = 100_000;
    let uniform = |k: usize| (k as f64 + 0.5) / n as f64;
    let shapes: [&dyn Fn(f64) -> f64; 10] = [
        &|u| u,
        &|u| (u / (1.0 - u)).ln(),
        &|u| (std::f64::consts::PI * (u - 0.5)).tan(),
        &|u| u.powi(40),
        &|u| 1e6 - u.ln(),
        &|u| 1.0 / (1.0 + (60.0 * (0.5 - u)).exp()),
        // Close to either end, and close to the middle but for a few.
        &|u| if u < 0.5 { 10f64.powf(24.0 * u - 12.0) - 1.0 } else { 1.0 - 10f64.powf(12.0 - 24.0 * u) },
        &|u| if (0.1..0.9).contains(&u) { 1e-6 * u } else { u },
        // Close to the lower end alone, and close to the upper.
        &|u| (u / (1.0 - u)).powi(3),
        &|u| -(u / (1.0 - u)).powi(3),
    ];
    // What was found, so that a worse map is noticed.
    let most = [
        [0.11, 1.7],
        [0.12, 1.9],
        [1.1, 3.6],
        [5.1, 5.0],
        [0.47, 2.5],
        [0.12, 1.2],
        [0.09, 1.2],
        [4.9, 11.5],
        [0.6, 2.7],
        [0.6, 2.7],
    ];
    for (k, shape) in shapes.iter().enumerate() {
        let scores: Vec<f64> = (0..n).map(|k| shape(uniform(k))).collect();
        let mut sample: Vec<f64> = scores.iter().copied().step_by(n / SAMPLES.1).collect();
        let map = Map::fit(&mut sample, n);
        let mut counts = vec![0usize; map.n_buckets()];
        scores.iter().for_each(|&s| counts[map.bucket(s) as usize] += 1);
        // The mean number of others in the bucket of a score.
        let crowd = counts.iter().map(|c| c * c.saturating_sub(1)).sum::<usize>() as f64 / n as f64;
        assert!(crowd < 1.25 * most[k][0], "shape {k}: {crowd}");
        // The same map to cells: exactly so many, as evenly filled.
        for n_cells in [n as u64 / 50, n as u64 / 4] {
            let own = Map::fit_cells(&mut sample, n_cells);
            assert!(scores.iter().step_by(97).all(|&s| own.cell(s) == own.onto_cells(n_cells).cell(s)));
            for map in [own, map.onto_cells(n_cells), Map::fit_cells(&mut sample, 64).onto_cells(n_cells)] {
                assert_eq!(map.n_buckets() as u64, n_cells);
                let mut counts = vec![0usize; map.n_buckets()];
                scores.iter().for_each(|&s| counts[map.cell(s) as usize] += 1);
                let crowd = counts.iter().map(|c| c * c).sum::<usize>() as f64 / n as f64 * n_cells as f64 / n as f64;
                assert!(crowd < 1.1 * most[k][1], "shape {k}: {crowd}");
            }
        }
    }
}

#[test]
fn the_first_map_that_spreads_well_is_taken() {
    let uniform = |k: usize| (k as f64 + 0.5) / 1000.0;
    let mut logistic: Vec<f64> = (0..1000).map(|k| (uniform(k) / (1.0 - uniform(k))).ln()).collect();
    let map = Map::fit(&mut logistic, 1000);
    assert_eq!((map.center, map.width), (logistic[499], (logistic[749] - logistic[249]) / 2.0));
    assert!(map.ends.is_none());
}

#[test]
fn a_crowd_is_of_other_values() {
    for (levels, n_buckets) in [(1e9, 300), (1e9, 9), (40.0, 300), (40.0, 9)] {
        let mut scores: Vec<f64> = (0..500).map(|k| (f64::from(k * 389 % 500) / 500.0).powi(3)).collect();
        scores.iter_mut().for_each(|score| *score = (*score * levels).floor());
        scores.sort_by(f64::total_cmp);
        let map = Map::around(scores[250], levels / 16.0).onto(scores[0], scores[499], n_buckets);
        let steps = |x: &f64| {
            let mut own: Vec<f64> = scores.iter().copied().filter(|&y| map.bucket(y) == map.bucket(*x)).collect();
            own.dedup();
            (own.len() - 1) as f64
        };
        let mean = scores.iter().map(steps).sum::<f64>() / 500.0;
        assert!(
            (map.crowd(&scores) - mean).abs() <= 1e-9 * mean,
            "{levels} {n_buckets}: {} {mean}",
            map.crowd(&scores)
        );
    }
}

#[test]
fn a_map_from_both_ends_has_the_least_distance_as_its_width() {
    for (sample, width) in [([3.0, 3.25, 7.0, 9.5, 10.0], 0.25), ([3.0, 4.0, 7.0, 9.5, 10.0], 0.5)] {
        let map = Map::between(&sample);
        let Some(Ends { middle, high, most }) = map.ends else { panic!("no ends") };
        assert_eq!((map.center, map.width, middle, high), (3.0, width, 6.5, 10.0));
        assert_eq!(most, map.logarithm(3.5) as f64);
    }
    assert!(Map::between(&[3.0, 3.0, 10.0]).ends.is_none());
}
