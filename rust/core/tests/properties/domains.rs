//! Numbers outside of the domain of a measure or a rule are errors of every function that takes one.

use rocmax_core::curve::{Curve, Measure, Rule, Scratch, Screening, measure};
use rocmax_core::internals::{Bin, pool};
use rocmax_core::resample::{Resampling, Scheme, bootstrap, bootstrap_cuts};
use rocmax_core::solve::minimise_on_simplex;
use rocmax_core::variance::{Components, Placements, WeightKind, covariance_of_models};
use rocmax_core::{Ctx, Error, Labels, Result};

const LABELS: [bool; 6] = [true, false, true, false, true, false];
const SCORES: [f64; 6] = [0.9, 0.2, 0.4, 0.4, 0.3, 0.1];
const RESAMPLING: Resampling =
    Resampling { scheme: Scheme::Stratified, weight_kind: WeightKind::Frequency, n_resamples: 2, seed: 0 };

/// What every function that takes a measure returns, but for its value.
fn all(of: Measure, weights: Option<&[f64]>) -> Vec<Result<()>> {
    let (labels, ctx) = (Labels::new(&LABELS).unwrap(), Ctx::serial());
    let curve = Curve::new(&labels, &SCORES, weights, &ctx).unwrap();
    let models = [SCORES[..].into()];
    let (kind, kept) = (WeightKind::Frequency, &mut Placements::default());
    vec![
        measure(&labels, SCORES[..].into(), weights, of, &mut Scratch::default(), &ctx).map(drop),
        curve.measure(of).map(drop),
        curve.moments(of).map(drop),
        Components::new(&labels, &SCORES, weights, of, &ctx).map(drop),
        covariance_of_models(&labels, &models, weights, kind, of, kept, &ctx).map(drop),
        bootstrap(&labels, &models, weights, of, RESAMPLING, &ctx).map(drop),
    ]
}

#[test]
fn measures() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let rates = [nan, -0.5, 5.0, 95.0, inf, -1e-300, 1.0 + f64::EPSILON];
    let mut bad = vec![Measure::Margin(nan)];
    bad.extend(rates.iter().flat_map(|&rate| [Measure::TprAtFpr(rate), Measure::FprAtTpr(rate)]));
    bad.extend([nan, -0.1, 0.0, 5e-324, 1.0, 1.5, inf].map(|share| Measure::AveragePrecision(Some(share))));
    bad.extend([nan, -0.1, 0.0, 5e-324, 1.5, inf].map(|share| Measure::Screening(Screening::Enrichment(share))));
    for alpha in [nan, -1.0, 0.0, 1e-300, inf] {
        bad.extend([Screening::Rie(alpha), Screening::Bedroc(alpha)].map(Measure::Screening));
    }
    for weights in [None, Some(&[1.0, 2.0, 1.0, 1.0, 3.0, 1.0][..])] {
        for &of in &bad {
            for (k, found) in all(of, weights).into_iter().enumerate() {
                assert!(matches!(found, Err(Error::Domain { .. })), "{of:?}, function {k}: {found:?}");
            }
        }
        let ends = [0.0, 1.0].into_iter().flat_map(|rate| [Measure::TprAtFpr(rate), Measure::FprAtTpr(rate)]);
        for of in ends.chain([Measure::AveragePrecision(Some(1e-9)), Measure::Margin(0.1)]) {
            assert!(all(of, weights).iter().all(Result::is_ok), "{of:?}");
        }
    }
    let told = all(Measure::FprAtTpr(95.0), None).remove(0).unwrap_err().to_string();
    assert_eq!(told, "tpr must be between 0 and 1, got 95");
}

#[test]
fn rules() {
    let (labels, ctx, nan, inf) = (Labels::new(&LABELS).unwrap(), Ctx::serial(), f64::NAN, f64::INFINITY);
    let curve = Curve::new(&labels, &SCORES, None, &ctx).unwrap();
    let mut bad = vec![Rule::At(nan), Rule::Alerts(0.0)];
    for wrong in [nan, -1.0, inf] {
        bad.extend([Rule::Fpr(wrong), Rule::Specificity(wrong), Rule::Sensitivity(wrong)]);
        bad.extend([Rule::Youden(wrong), Rule::Closest(wrong), Rule::Cost(wrong)]);
    }
    bad.extend([nan, -1.0].map(Rule::Alerts));
    for rule in bad {
        assert!(matches!(rule.cut(&curve), Err(Error::Domain { .. })), "{rule:?}");
        let found = bootstrap_cuts(&labels, &SCORES, None, &[Rule::Eer, rule], RESAMPLING, &ctx);
        assert!(matches!(found, Err(Error::Domain { .. })), "{rule:?}");
    }
    assert!(Rule::At(inf).cut(&curve).is_ok());
}

#[test]
fn others() {
    let bins = [Bin { low: 0.0, high: 0.0, pos: 1.0, neg: 1.0 }];
    for wrong in [f64::NAN, -0.1, 0.6] {
        assert!(matches!(pool(&bins, wrong, &Ctx::serial()), Err(Error::Domain { .. })));
    }
    for (total, tol) in [(f64::NAN, 0.0), (-1.0, 0.0), (f64::INFINITY, 0.0), (1.0, f64::NAN)] {
        let found = minimise_on_simplex(&[1.0], &[1.0], total, &mut [1.0], tol, &Ctx::serial());
        assert!(matches!(found, Err(Error::Domain { .. })), "{total} {tol}");
    }
}
