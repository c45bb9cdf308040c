//! The front door: the same numbers as the long form's, and intervals and paired tests equal to the Python package's.

use proptest::prelude::*;
use rocmax_core::curve::{self, Measure, Normalize, Scratch, Screening};
use rocmax_core::{Column, Ctx, Error, Labels, RateRange, Roc};

use crate::samples::sample;
use crate::testing::uniform;

/// As `tests/support/rust_intervals.py` draws them: labels, the scores of two models, and weights.
fn drawn(n_pos: usize, n_neg: usize, levels: f64, shift: f64) -> (Vec<u8>, [Vec<f64>; 2], Vec<f64>) {
    let mut next = uniform(n_pos as u64);
    let (mut labels, mut scores, mut weights) = (vec![], [vec![], vec![]], vec![]);
    for k in 0..n_pos + n_neg {
        let added = if k < n_pos { shift } else { 0.0 };
        let [common, first, second, weight] = [next(), next(), next(), next()];
        for (of, score) in scores.iter_mut().zip([common + first + added, common + second + added / 2.0]) {
            of.push(if levels > 0.0 { (score * levels).floor() / levels } else { score });
        }
        labels.push(u8::from(k < n_pos));
        weights.push((weight * 4.0).floor());
    }
    (labels, scores, weights)
}

fn roc<'a>(labels: &'a [u8], scores: &'a [f64], weights: Option<&'a [f64]>) -> Roc<'a> {
    weights.map_or_else(|| Roc::new(labels, scores), |weights| Roc::weighted(labels, scores, weights)).unwrap()
}

fn named(name: &str) -> Measure {
    match name {
        "auc" => Measure::Auc,
        "partial" => Measure::partial_auc(0.0..=0.1).unwrap(),
        "mcclish" => Measure::Partial(RateRange::new(0.1, 0.5).unwrap(), Normalize::McClish),
        "area" => Measure::PartialTpr(RateRange::new(0.0, 0.25).unwrap(), Normalize::None),
        "tpr" => Measure::TprAtFpr(0.1),
        "fpr" => Measure::FprAtTpr(0.9),
        "precision" => Measure::AveragePrecision(None),
        "rare" => Measure::AveragePrecision(Some(0.01)),
        "margin" => Measure::Margin(0.2),
        "scored" => Measure::Scored,
        _ => panic!("{name}"),
    }
}

#[test]
fn intervals_and_paired_tests_are_those_of_the_python_package() {
    let mut rows = csv::Reader::from_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/intervals.csv")).unwrap();
    let mut read = 0;
    for row in rows.records().map(Result::unwrap) {
        let number = |k: usize| row[k].parse::<f64>().unwrap();
        let (labels, [one, other], weights) = drawn(number(0) as usize, number(1) as usize, number(2), number(3));
        let weights = (&row[4] == "True").then_some(&weights[..]);
        let (one, other, measure) = (roc(&labels, &one, weights), roc(&labels, &other, weights), named(&row[5]));
        let found = one.interval(measure, number(6)).unwrap();
        let pair = one.compare(&other, measure).unwrap();
        let numbers = [found.estimate, found.standard_error, found.low, found.high];
        let numbers =
            numbers.into_iter().chain([pair.difference, pair.standard_error, pair.low, pair.high, pair.p_value]);
        for (k, found) in numbers.enumerate() {
            let expected = number(7 + k);
            assert!(
                (found - expected).abs() <= 1e-12,
                "{}: {found} {expected}",
                row.iter().collect::<Vec<_>>().join(",")
            );
        }
        read += 1;
    }
    assert!(read >= 60);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn measures_are_those_of_the_long_form(s in sample()) {
        let labels = s.problem.labels();
        let Ok(roc) = Roc::weighted(labels, &s.scores, &s.weights) else { return Ok(()) };
        let long = |of| {
            let classes = Labels::new(labels).unwrap();
            curve::measure(&classes, s.scores[..].into(), Some(&s.weights), of, &mut Scratch::default(), &Ctx::serial())
        };
        prop_assert_eq!(roc.auc(), long(Measure::Auc).unwrap());
        prop_assert_eq!(roc.average_precision(), long(Measure::AveragePrecision(None)).unwrap());
        let top = Measure::Partial(s.range, Normalize::Width);
        prop_assert_eq!(roc.partial_auc(s.range.low()..=s.range.high()).unwrap(), long(top).unwrap());
        prop_assert_eq!(roc.tpr_at_fpr(0.3), long(Measure::TprAtFpr(0.3)));
        prop_assert_eq!(roc.fpr_at_tpr(0.7), long(Measure::FprAtTpr(0.7)));
        let measures = ["auc", "partial", "mcclish", "area", "tpr", "fpr", "precision", "rare", "margin", "scored"];
        for measure in measures.map(named).into_iter().chain([top, Measure::TprAtFpr(0.0), Measure::FprAtTpr(1.0)]) {
            for level in [1e-9, 0.95, 1.0 - f64::EPSILON / 2.0] {
                let Ok(found) = roc.interval(measure, level) else { continue };
                prop_assert!(found.low <= found.estimate && found.estimate <= found.high, "{found:?}");
                prop_assert!(found.low.is_finite() && found.standard_error.is_finite(), "{found:?}");
            }
            if let Ok(same) = roc.compare(&roc, measure) {
                prop_assert_eq!((same.difference, same.standard_error, same.p_value), (0.0, 0.0, 1.0));
            }
        }
        let reverse: Vec<f64> = s.scores.iter().map(|score| -score).collect();
        let other = Roc::weighted(labels, &reverse, &s.weights).unwrap();
        if let Ok(found) = roc.compare(&other, Measure::Auc) {
            let back = other.compare(&roc, Measure::Auc).unwrap();
            prop_assert!((found.difference + back.difference).abs() < 1e-15 && (found.p_value - back.p_value).abs() < 1e-12);
            prop_assert!(0.0 <= found.p_value && found.p_value <= 1.0);
        }
    }
}

#[test]
fn single_precision_and_any_labels_are_read() {
    let scores = [9.0f32, 8.0, 3.0, 5.0, 1.0, 2.0];
    let wide = scores.map(f64::from);
    let roc = Roc::new(&[1i64, 1, 1, -1, -1, -1], &scores).unwrap();
    assert_eq!(roc.auc(), 8.0 / 9.0);
    let other = Roc::new(&[true, true, true, false, false, false], &wide).unwrap();
    assert_eq!(roc.compare(&other, Measure::Auc).unwrap().difference, 0.0);
    assert_eq!(roc.curve().steps().len(), 6);
    // One positive is enough for an AUC.
    let found = Roc::new(&[1u8, 0, 0, 0], &[3.0, 4.0, 1.0, 2.0]).unwrap().interval(Measure::Auc, 0.95).unwrap();
    assert!(0.0 < found.low && found.low < 2.0 / 3.0 && found.high < 1.0 && found.standard_error > 0.1);
}

#[test]
fn what_has_no_answer_is_an_error() {
    let (labels, scores) = ([true, true, true, false, false, false], [9.0, 8.0, 3.0, 5.0, 1.0, 2.0]);
    let roc = Roc::new(&labels, &scores).unwrap();
    let told = |found: Result<_, Error>| found.unwrap_err().to_string();
    for level in [f64::NAN, 0.0, 1.0, -0.5, 95.0, f64::INFINITY] {
        assert!(
            told(roc.interval(Measure::Auc, level).map(drop)).starts_with("level must be above 0 and below 1, got ")
        );
    }
    let range = RateRange::FULL;
    let early = Measure::Screening(Screening::Bedroc(20.0));
    for bad in
        [Measure::Ranked(range), early, Measure::TprAtFpr(1.0), Measure::TprAtFpr(f64::NAN), Measure::FprAtTpr(0.0)]
    {
        assert!(matches!(roc.interval(bad, 0.95), Err(Error::Domain { .. })), "{bad:?}");
        assert!(matches!(roc.compare(&roc, bad), Err(Error::Domain { .. })), "{bad:?}");
    }
    for (low, high) in [(f64::NAN, 0.1), (0.2, 0.1), (0.0, 1.1), (0.1, 0.1)] {
        assert!(roc.partial_auc(low..=high).is_err());
    }
    assert!([-0.1, 1.5, f64::NAN].iter().all(|&rate| roc.tpr_at_fpr(rate).is_err() && roc.fpr_at_tpr(rate).is_err()));
    let of_one = [true, false, false, false, false, false];
    let alone = Roc::new(&of_one, &scores).unwrap();
    assert!(alone.interval(Measure::Margin(0.0), 0.95).is_ok());
    assert_eq!(
        told(alone.interval(Measure::partial_auc(0.0..=0.5).unwrap(), 0.95).map(drop)),
        "the weight of the positives must be above 1 for a variance, got 1"
    );
    assert!(told(roc.compare(&alone, Measure::Auc).map(drop)).starts_with("other must be a model of the same labels"));
    let weighted = Roc::weighted(&labels, &scores, &[2.0; 6]).unwrap();
    assert!(roc.compare(&weighted, Measure::Auc).is_err());
    assert!(matches!(Roc::new(&labels, &scores[1..]), Err(Error::Length { name: "scores", .. })));
    assert!(matches!(Roc::new(&labels, &[f64::NAN; 6]), Err(Error::NonFinite { name: "scores", .. })));
    assert!(Roc::weighted(&labels, &scores, &[-1.0; 6]).is_err());
    // Nothing varies: the difference of two models that separate the classes, or one of them backwards.
    let perfect = Roc::new(&labels, &[6.0, 5.0, 4.0, 3.0, 2.0, 1.0]).unwrap();
    let reverse = Roc::new(&labels, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let found = perfect.compare(&reverse, Measure::Auc).unwrap();
    assert_eq!((found.difference, found.standard_error, found.low, found.p_value), (1.0, 0.0, 1.0, 0.0));
    let large = Roc::new(&labels, &[1e300, 2e300, 3e300, 1.0, 2.0, 3.0]).unwrap();
    assert!(
        told(large.interval(Measure::Scored, 0.95).map(drop)).starts_with("scores must be small enough for a variance")
    );
    assert!(
        told(reverse.interval(Measure::Scored, 0.95).map(drop)).starts_with("scores must be such that the scored AUC")
    );
    let column: Column<'_> = scores[..].into();
    assert_eq!(column.wide().len(), 6);
}
