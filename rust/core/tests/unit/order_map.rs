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
    let shapes: [&dyn Fn(f64) -> f64; 8] = [
        &|u| u,
        &|u| (u / (1.0 - u)).ln(),
        &|u| (std::f64::consts::PI * (u - 0.5)).tan(),
        &|u| u.powi(40),
        &|u| 1e6 - u.ln(),
        &|u| 1.0 / (1.0 + (60.0 * (0.5 - u)).exp()),
        // Close to either end, and close to the middle but for a few.
        &|u| if u < 0.5 { 10f64.powf(24.0 * u - 12.0) - 1.0 } else { 1.0 - 10f64.powf(12.0 - 24.0 * u) },
        &|u| if (0.1..0.9).contains(&u) { 1e-6 * u } else { u },
    ];
    // What was found, so that a worse map is noticed.
    let most = [[0.11, 1.7], [0.12, 1.9], [1.1, 3.6], [5.1, 5.0], [0.47, 2.5], [0.12, 1.2], [0.09, 1.2], [4.9, 11.5]];
    for (k, shape) in shapes.iter().enumerate() {
        let scores: Vec<f64> = (0..n).map(|k| shape(uniform(k))).collect();
        let mut sample: Vec<f64> = scores.iter().copied().step_by(n / SAMPLES).collect();
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
