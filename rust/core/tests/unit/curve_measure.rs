//! Unit tests of `curve/measure.rs`, which includes this file.

use super::*;
use crate::testing::{sample, uniform};

#[test]
fn ranges_and_rates_without_weights_look_at_the_highest_scores_alone() -> Result<()> {
    let (n, ctx) = (20_000, Ctx::serial());
    let (labels, scores) = sample(n, 0.3, 1e9, &mut uniform(4));
    let narrow: Vec<f32> = scores.iter().map(|&x| x as f32).collect();
    let (classes, range) = (Labels::new(&labels)?, RateRange::new(0.01, 0.05)?);
    for what in [
        Measure::Partial(range, Normalize::Width),
        Measure::PartialTpr(range, Normalize::McClish),
        Measure::Ranked(range),
        Measure::TprAtFpr(0.05),
        Measure::FprAtTpr(0.95),
        Measure::Auc,
        Measure::Scored,
    ] {
        let mut scratch = Scratch::default();
        for scores in [Column::from(&scores[..]), Column::from(&narrow[..])] {
            let expected = Curve::new(&classes, &scores.wide(), None, &ctx)?.measure(what)?;
            let found = measure(&classes, scores, None, what, &mut scratch, &ctx)?;
            assert!((found - expected).abs() < 1e-13, "{what:?}: {found} {expected}");
        }
        let kept = [scratch.wide.tail.classes.concat().len(), scratch.narrow.tail.classes.concat().len()];
        let looks = !matches!(what, Measure::Auc | Measure::Scored);
        assert!(
            kept.iter().all(|kept| if looks { (1..n / 2).contains(kept) } else { *kept == 0 }),
            "{what:?}: {kept:?}"
        );
    }
    Ok(())
}
