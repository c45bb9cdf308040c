//! Cuts against a search of all, and against cuts that are known.

use std::iter;

use rocmax_core::curve::{Curve, Rule, Step};
use rocmax_core::{Ctx, Labels};

use crate::testing::{sample, uniform};

/// Threshold, TPR and FPR of all cuts, from the highest threshold down.
fn cuts(curve: &Curve) -> Vec<(f64, f64, f64)> {
    let total =
        |f: fn(&Step) -> f64, from: f64| -> f64 { curve.steps().iter().filter(|step| step.score >= from).map(f).sum() };
    let thresholds = iter::once(f64::INFINITY).chain(curve.steps().iter().map(|step| step.score));
    thresholds.map(|t| (t, total(|s| s.pos, t) / curve.pos(), total(|s| s.neg, t) / curve.neg())).collect()
}

#[test]
fn no_cut_is_better() {
    let mut next = uniform(5);
    for (n, levels) in [(2, 9.0), (7, 3.0), (60, 8.0), (60, 1e9), (200, 30.0)] {
        for weighted in [false, true] {
            let (labels, scores) = sample(n, 0.4, levels, &mut next);
            let weights: Vec<f64> = labels.iter().map(|_| 0.1 + next()).collect();
            let weights = weighted.then_some(&weights[..]);
            let curve = Curve::new(&Labels::new(&labels).unwrap(), &scores, weights, &Ctx::serial()).unwrap();
            let all = cuts(&curve);
            let check = |rule: Rule, loss: &dyn Fn(f64, f64) -> f64| {
                let least = all.iter().map(|c| loss(c.1, c.2)).fold(f64::INFINITY, f64::min);
                let best = all.iter().find(|c| loss(c.1, c.2) <= least + 1e-11).unwrap();
                let found = rule.cut(&curve).unwrap();
                assert_eq!(found.threshold, best.0, "{rule:?}");
                assert!((found.called[0] / curve.pos() - best.1).abs() < 1e-12);
                assert!((found.called[1] / curve.neg() - best.2).abs() < 1e-12);
            };
            for rate in [0.0, 0.05, 0.1, 0.3, 0.5, 0.9, 1.0] {
                let beyond = |wrong: bool| if wrong { f64::INFINITY } else { 0.0 };
                check(Rule::Fpr(rate), &|tpr, fpr| beyond(fpr > rate + 1e-11) - tpr);
                check(Rule::Specificity(rate), &|tpr, fpr| beyond(1.0 - fpr < rate - 1e-11) - tpr);
                check(Rule::Sensitivity(rate), &|tpr, fpr| beyond(tpr < rate - 1e-11) + fpr - 1e-6 * tpr);
                let r = 2.0 * rate;
                check(Rule::Youden(r), &|tpr, fpr| r * fpr - tpr);
                check(Rule::Closest(r), &|tpr, fpr| (1.0 - tpr).powi(2) + r * fpr * fpr);
                check(Rule::Cost(r), &|tpr, fpr| r * curve.neg() / curve.pos() * fpr - tpr);
            }
            for budget in [1e-9, 0.05, 0.3, 0.999, 1.0, 5.0, 1e9] {
                let most = if budget < 1.0 { budget * (curve.pos() + curve.neg()) } else { budget };
                check(Rule::Alerts(budget), &|tpr, fpr| {
                    let called = tpr * curve.pos() + fpr * curve.neg();
                    if called > most * (1.0 + 1e-9) { f64::INFINITY } else { -called }
                });
            }
            check(Rule::Eer, &|tpr, fpr| (fpr - (1.0 - tpr)).abs());
            for &(threshold, ..) in &all {
                assert_eq!(Rule::At(threshold).cut(&curve).unwrap().threshold, threshold);
                check(Rule::At(threshold), &|tpr, fpr| {
                    let own = all.iter().find(|c| c.0 == threshold).unwrap();
                    f64::from(u8::from((tpr, fpr) != (own.1, own.2)))
                });
            }
        }
    }
}

#[test]
fn of_two_cuts_as_near_to_equal_rates_the_higher_is_taken() {
    // Rates of m positives and n negatives are thirds, sevenths and so on: their differences round to either side.
    for (m, n) in (2..12).flat_map(|m| (2..12).map(move |n| (m, n))) {
        for (tp, fp) in (0..m).flat_map(|tp| (0..n).map(move |fp| (tp, fp))) {
            // The excess of false positives over false negatives, times m n: before the block of ties, and after.
            let excess = |tp: i32, fp: i32| fp * m - (m - tp) * n;
            if let Some(more) = (1..=m - tp).find(|more| excess(tp + more, fp) == -excess(tp, fp)) {
                let class = |count: i32, of: bool| iter::repeat_n(of, usize::try_from(count).unwrap());
                let blocks = [(tp, true, 3.0), (fp, false, 3.0), (more, true, 2.0)];
                let last = [(m - tp - more, true, 1.0), (n - fp, false, 1.0)];
                let drawn = blocks.into_iter().chain(last).flat_map(|(k, of, s)| class(k, of).map(move |l| (l, s)));
                let (labels, scores): (Vec<bool>, Vec<f64>) = drawn.unzip();
                let curve = Curve::new(&Labels::new(&labels).unwrap(), &scores, None, &Ctx::serial()).unwrap();
                let found = Rule::Eer.cut(&curve).unwrap().threshold;
                assert_eq!(found, if tp + fp == 0 { f64::INFINITY } else { 3.0 }, "{m} {n} {tp} {fp}");
            }
        }
    }
}

#[test]
fn midpoint_is_between_the_classes() {
    let curve = |scores: &[f64]| {
        Curve::new(&Labels::new(&[false, false, true, true]).unwrap(), scores, None, &Ctx::serial()).unwrap()
    };
    let apart = Rule::Midpoint.cut(&curve(&[0.0, 1.0, 4.0, 5.0])).unwrap();
    assert_eq!((apart.threshold, apart.called), (2.5, [2.0, 0.0]));
    let crossed = Rule::Midpoint.cut(&curve(&[0.0, 4.0, 1.0, 5.0])).unwrap();
    assert_eq!((crossed.threshold, crossed.called), (2.5, [1.0, 1.0]));
}
