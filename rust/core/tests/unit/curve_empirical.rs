//! Unit tests of `curve/empirical.rs`, which includes this file.

use super::*;
use crate::curve::Measure;
use crate::curve::reach::SAMPLES;
use crate::order::misleading;
use crate::testing::{sample, uniform};

#[test]
fn chance_is_exactly_a_half_on_the_scale_of_mcclish() -> Result<()> {
    let (mut next, mut n_rounded) = (uniform(5), 0);
    for _ in 0..2000 {
        let (low, width) = (next(), next());
        let range = RateRange::new(low, low + (1.0 - low) * f64::max(width, 1e-6))?;
        let chance = (range.low() + range.high()) / 2.0;
        let share = Share { won: chance, lost: 1.0 - chance };
        if share.value() == chance {
            assert_eq!(Normalize::McClish.apply(share, range), 0.5, "{range:?}");
            n_rounded += usize::from(1.0 - Normalize::McClish.span(range) * share.rest() != 0.5);
        }
    }
    assert!(n_rounded > 100, "{n_rounded}");
    Ok(())
}

#[test]
fn samples_beyond_the_reach_are_one_step() -> Result<()> {
    let (n, ctx, mut next) = (20_000, Ctx::serial(), uniform(7));
    let (labels, scores) = sample(n, 0.3, 1e9, &mut next);
    let classes = Labels::new(&labels)?;
    let range = RateRange::new(0.01, 0.05)?;
    for measure in [Measure::Partial(range, Normalize::Width), Measure::TprAtFpr(0.05)] {
        let mut step_of = vec![None; n];
        let curve = Curve::build(measure.reach(), &classes, &scores, None, |i, k| step_of[i] = Some(k), &ctx)?;
        let whole = Curve::new(&classes, &scores, None, &ctx)?;
        let [steps @ .., above, last] = &curve.steps[..] else { panic!("{measure:?}: {} steps", curve.steps.len()) };
        let rest = &whole.steps[steps.len() + 1..];
        assert!(steps == &whole.steps[..steps.len()] && steps.len() < n / 4);
        assert!(above.score > last.score && last.score >= rest[0].score);
        assert_eq!([last.pos, last.neg], [rest.iter().map(|s| s.pos).sum(), rest.iter().map(|s| s.neg).sum::<f64>()]);
        assert_eq!([curve.pos, curve.neg], [whole.pos, whole.neg]);
        let mut held = vec![0.0; curve.steps.len()];
        step_of.iter().flatten().for_each(|&k| held[k] += 1.0);
        assert_eq!(held.pop(), Some(0.0));
        assert!(curve.steps.iter().zip(held).all(|(step, held)| step.pos + step.neg == held));
    }
    // A sample that shows the highest negatives alone misleads: all samples are sorted.
    let scores = misleading(n, SAMPLES, 1.0, &mut next);
    let found = Curve::build(Some(0.05), &classes, &scores, None, |_, _| (), &ctx)?;
    assert_eq!(found, Curve::new(&classes, &scores, None, &ctx)?);
    Ok(())
}

#[test]
fn the_precision_of_nearly_positives_alone_is_nearly_1() -> Result<()> {
    let step = |score, pos, neg| Step { score, pos, neg };
    let curve = Curve::of_steps(vec![step(2.0, 0.0, 1.0), step(1.0, 1.0, 2.0), step(0.0, 3.0, 0.0)])?;
    assert!((curve.measure(Measure::AveragePrecision(Some(1.0 - 1e-12)))? - 1.0).abs() < 1e-11);
    Ok(())
}
