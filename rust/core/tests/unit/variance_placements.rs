//! Unit tests of `variance/placements.rs`, which includes this file.

use super::*;
use crate::curve::Measure;
use crate::testing::uniform;
use crate::variance::{Components, WeightKind, covariance};

#[test]
fn as_by_the_curve_on_any_number_of_threads() {
    let mut next = uniform(5);
    let pool = crate::testing::pool(2);
    let mut kept = Placements::default();
    for (n, levels, k, share) in [
        (4, 3.0, 2, 0.3),
        (50, 5.0, 3, 0.3),
        (3000, 1e9, 2, 0.3),
        (3000, 40.0, 1, 0.3),
        (20_000, 1e9, 2, 0.002),
        (20_000, 1e4, 2, 0.9),
        (80_000, 1e9, 2, 0.3),
        (80_000, 1e5, 2, 0.3),
        (80_000, 300.0, 2, 0.3),
    ] {
        let labels: Vec<bool> = (0..n).map(|i| if i < 4 { i < 2 } else { next() < share }).collect();
        // A few crowd so closely that they share their keys, and a few lie far out, some of these equal.
        let mut score = |positive: bool| match next() + 0.2 * f64::from(u8::from(positive)) {
            u if levels == 1e9 && u < 0.002 => 1e-14 * next(),
            u if levels == 1e9 && (0.5..0.502).contains(&u) => 1e6 * (9.0 * next() - 2.0).ceil(),
            u => (u * levels).floor() / levels - 0.5,
        };
        let mut model = || -> Vec<f64> { labels.iter().map(|&p| score(p)).collect() };
        let models: Vec<Vec<f64>> = (0..k).map(|_| model()).collect();
        let classes = Labels::new(&labels).unwrap();
        let serial = Ctx::serial();
        let components: Vec<_> =
            models.iter().map(|s| Components::new(&classes, s, None, Measure::Auc, &serial).unwrap()).collect();
        let expected = covariance(&classes, &components, None, WeightKind::Frequency, &serial).unwrap();
        let columns: Vec<Column<'_>> = models.iter().map(|s| s.as_slice().into()).collect();
        let found = kept.covariance(&classes, &columns, &serial).unwrap();
        for (estimate, components) in found.estimates.iter().zip(&components) {
            assert!((estimate - components.estimate).abs() < 1e-15);
        }
        for (found, expected) in [(&found.pos, &expected.pos), (&found.neg, &expected.neg)] {
            for (x, y) in found.iter().zip(expected) {
                assert!((x - y).abs() <= 1e-11 * expected[0].abs() + 1e-16, "{n} of {levels}: {x} {y}");
            }
        }
        let again = kept.covariance(&classes, &columns, &Ctx::new(pool.as_ref(), None)).unwrap();
        assert_eq!(again, found);
        let narrow: Vec<f32> = models[0].iter().map(|&x| x as f32).collect();
        let wide: Vec<f64> = narrow.iter().map(|&x| x.into()).collect();
        let components = [Components::new(&classes, &wide, None, Measure::Auc, &serial).unwrap()];
        let expected = covariance(&classes, &components, None, WeightKind::Frequency, &serial).unwrap();
        for column in [Column::from(&narrow[..]), Column::from(&wide[..])] {
            let found = kept.covariance(&classes, &[column], &serial).unwrap();
            assert!((found.pos[0] - expected.pos[0]).abs() <= 1e-11 * expected.pos[0] + 1e-16);
            assert!((found.neg[0] - expected.neg[0]).abs() <= 1e-11 * expected.neg[0] + 1e-16);
        }
    }
}

#[test]
fn products_of_the_greatest_values_do_not_overflow() {
    let (a, b) = ([u32::MAX; 5], [u32::MAX, 7, u32::MAX, u32::MAX, 9]);
    let positive = [true, true, true, false, false];
    let max = u128::from(u32::MAX);
    assert_eq!(of_two(&a, &b, &positive, 1), [max * (2 * max + 7), max * (max + 9)]);
}

#[test]
fn a_bad_score_is_named() {
    let labels = [true, false, true, false];
    let column = Column::F64(vec![0.0, 1.0, f64::NAN, 2.0].into());
    let found = Placements::default().covariance(&Labels::new(&labels).unwrap(), &[column], &Ctx::serial());
    assert!(matches!(found, Err(Error::NonFinite { name: "scores", index: 2, .. })));
}

#[test]
fn as_many_products_are_summed_as_fit() {
    for size in [1, 1 << 20, 1 << 26, 1 << 28, (1 << 31) - 2] {
        let (few, greatest) = (few(size) as u128, (2 * size as u128).pow(2));
        assert!(few * greatest < 1 << 64 && (few == TILE as u128 || (few + 1) * greatest >= 1 << 64), "{size}");
    }
}

#[test]
fn placements_suit_the_auc_without_weights() {
    let suited = [(Measure::Auc, None), (Measure::Auc, Some(&[1.0][..])), (Measure::Scored, None)];
    assert_eq!(suited.map(|(measure, weights)| Placements::suit(measure, weights)), [true, false, false]);
}
