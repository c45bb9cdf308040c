//! Ranges and labels against what their ranks and weights stand for.

use rocmax_core::{Error, Negatives, Problem, RateRange};

#[test]
fn ranks_do_not_slip() {
    let ranks = |low, high, n| RateRange::new(low, high).unwrap().ranks(Negatives::Whole(n));
    assert_eq!(ranks(0.0, 0.1, 30.0), (0.0, 3.0));
    assert_eq!(ranks(0.1, 0.3, 30.0), (3.0, 9.0));
    assert_eq!(ranks(0.02, 0.05, 101.0), (2.0, 6.0));
    assert_eq!(ranks(0.0, 1.0, 7.0), (0.0, 7.0));
    assert_eq!(ranks(0.0, 1e-6, 10.0), (0.0, 1.0));
    assert_eq!(ranks(1.0 - 1e-12, 1.0, 10.0), (9.0, 10.0));
}

#[test]
fn every_tenth_of_every_count_is_exact() {
    for n in 1..2000usize {
        for tenths in 1..=10usize {
            let range = RateRange::new(0.0, tenths as f64 / 10.0).unwrap();
            let (_, high) = range.ranks(Negatives::Whole(n as f64));
            assert_eq!(high, (n * tenths).div_ceil(10) as f64, "n = {n}, rate = {tenths}/10");
        }
    }
}

#[test]
fn refuses_what_is_not_a_range() {
    for (low, high) in
        [(0.5, 0.5), (0.6, 0.2), (-0.1, 0.5), (0.0, 1.1), (0.0, 5e-324), (f64::NAN, 0.5), (0.0, f64::NAN)]
    {
        assert!(RateRange::new(low, high).is_err(), "({low}, {high})");
    }
    // Times a number of negatives, both ends may be the same.
    assert!(RateRange::new(0.3, 0.3_f64.next_up()).is_err());
    assert!(RateRange::new(0.0, 1e-99).is_ok());
}

#[test]
fn counts_the_classes() {
    let problem = Problem::new(vec![true, false, false]).unwrap();
    assert_eq!((problem.n_samples(), problem.n_pos(), problem.n_neg()), (3, 1, 2));
}

#[test]
fn whole_weights_are_repetitions_and_others_shares() {
    let labels = vec![true, false, false, false];
    let of = |weights: [f64; 4]| Problem::weighted(labels.clone(), weights.to_vec());
    let range = RateRange::new(0.25, 0.5).unwrap();
    assert_eq!(of([1.0; 4]), Problem::new(labels.clone()));
    assert_eq!(of([1.0; 4]).unwrap().ranks(range), (0.0, 2.0));
    assert_eq!(of([2.0, 3.0, 0.0, 7.0]).unwrap().ranks(range), (2.0, 5.0));
    assert_eq!(of([2.0, 0.5, 0.5, 1.0]).unwrap().ranks(range), (0.5, 1.0));
    assert_eq!(of([0.0, 1.0, 1.0, 1.0]), Err(Error::OneClass { n_pos: 0, n_neg: 3 }));
    assert!(matches!(of([1.0, -1.0, 1.0, 1.0]), Err(Error::Domain { name: "weights", .. })));
    assert!(matches!(of([1.0, 1.0, f64::NAN, 1.0]), Err(Error::NonFinite { name: "weights", index: 2, .. })));
    assert!(matches!(of([1e-200, 1e-200, 0.0, 0.0]), Err(Error::Domain { name: "weights", .. })));
    assert!(Problem::weighted(labels.clone(), vec![1.0]).is_err());
}

#[test]
fn refuses_a_single_class() {
    assert_eq!(Problem::new(vec![true]), Err(Error::OneClass { n_pos: 1, n_neg: 0 }));
    assert_eq!(Problem::new(vec![]), Err(Error::OneClass { n_pos: 0, n_neg: 0 }));
}

#[cfg(feature = "serde")]
#[test]
fn serialised_measures_and_ranges_are_checked_when_they_are_read() {
    use rocmax_core::Roc;
    use rocmax_core::curve::{Measure, Rule};

    let of = |measure: &Measure| serde_json::to_string(measure).unwrap();
    for measure in [Measure::Auc, Measure::partial_auc(0.0..=0.1).unwrap(), Measure::TprAtFpr(0.5)] {
        assert_eq!(serde_json::from_str::<Measure>(&of(&measure)).unwrap(), measure);
    }
    let text = of(&Measure::partial_auc(0.0..=0.5).unwrap());
    assert_eq!(text, r#"{"Partial":[{"start":0.0,"end":0.5},"Width"]}"#);
    assert!(serde_json::from_str::<Measure>(&text.replace("0.5", "-0.5")).is_err());
    assert_eq!(serde_json::from_str::<Rule>("\"Eer\"").unwrap(), Rule::Eer);
    let roc = Roc::new(&[true, true, false, false], &[3.0, 2.0, 2.5, 1.0]).unwrap();
    let found = roc.interval(Measure::Auc, 0.95).unwrap();
    assert_eq!(serde_json::from_str::<rocmax_core::Interval>(&serde_json::to_string(&found).unwrap()).unwrap(), found);
}
