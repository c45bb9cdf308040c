//! Measures against their twins, and the ways to each against one another: counted, sorted, weighted, of float32.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rocmax_core::curve::{self, Curve, Measure, Normalize, Scratch};
use rocmax_core::{Ctx, Labels, Problem};
use rocmax_fuzz::{Sample, assert_close, naive};

fuzz_target!(|sample: Sample| {
    let (range, ctx) = (sample.range, Ctx::serial());
    let measures = [
        Measure::Auc,
        Measure::Partial(range, Normalize::None),
        Measure::Partial(range, Normalize::McClish),
        Measure::PartialTpr(range, Normalize::Width),
        Measure::Ranked(range),
        Measure::TprAtFpr(range.low()),
        Measure::FprAtTpr(range.high()),
        Measure::Scored,
        Measure::Margin(0.25),
    ];
    let labels = Labels::new(&sample.labels).unwrap();
    let of = |measure| {
        curve::measure(&labels, sample.scores.as_slice().into(), None, measure, &mut Scratch::default(), &ctx).unwrap()
    };

    let problem = Problem::new(sample.labels.clone()).unwrap();
    assert_close(of(Measure::Auc), naive::auc(&problem, &sample.scores), 1e-13);
    assert_close(of(Measure::Ranked(range)), naive::partial_auc_ranked(&problem, &sample.scores, range), 1e-13);
    let area = naive::partial_auc_curve(&problem, &sample.scores, range);
    assert_close(of(Measure::Partial(range, Normalize::None)), area, 1e-12);

    let sorted = Curve::new(&labels, &sample.scores, None, &ctx).unwrap();
    let (repeated_labels, repeated_scores) = sample.repeated();
    let (repeated, weights) = (Labels::new(&repeated_labels).unwrap(), sample.whole_weights());
    let narrow: Vec<f32> = sample.scores.iter().map(|&s| s as f32).collect();
    let widened: Vec<f64> = narrow.iter().map(|&s| f64::from(s)).collect();
    for measure in measures {
        assert_close(of(measure), sorted.measure(measure).unwrap(), 1e-12);
        let weighted = curve::measure(
            &labels,
            sample.scores.as_slice().into(),
            Some(&weights),
            measure,
            &mut Scratch::default(),
            &ctx,
        )
        .unwrap();
        let expected =
            curve::measure(&repeated, repeated_scores.as_slice().into(), None, measure, &mut Scratch::default(), &ctx)
                .unwrap();
        assert_close(weighted, expected, 1e-12);
        let found = of(measure);
        let least = if matches!(measure, Measure::Partial(_, Normalize::McClish)) { f64::NEG_INFINITY } else { 0.0 };
        let most = if measure == Measure::Scored { f64::INFINITY } else { 1.0 };
        assert!(least <= found && found <= most, "{measure:?} is {found}");
        let of_narrow =
            curve::measure(&labels, narrow.as_slice().into(), None, measure, &mut Scratch::default(), &ctx).unwrap();
        let of_wide =
            curve::measure(&labels, widened.as_slice().into(), None, measure, &mut Scratch::default(), &ctx).unwrap();
        assert_close(of_narrow, of_wide, 1e-12);
    }
});
