//! Unit tests of `variance/merged.rs`, which includes this file.

use super::*;
use crate::testing::uniform;
use crate::variance::Components;

#[test]
fn as_by_the_whole_curve() -> Result<()> {
    let (mut next, ctx) = (uniform(4), Ctx::serial());
    for (levels, share) in [(1e9, 0.01), (1e4, 0.1), (60.0, 0.15), (2.0, 1e-4)] {
        let mut labels: Vec<bool> = (0..20_000).map(|_| next() < share).collect();
        labels[..2].copy_from_slice(&[true, false]);
        let up = |positive: bool| 0.4 * f64::from(u8::from(positive));
        let scores: Vec<f64> = labels.iter().map(|&p| ((next() + up(p)) * levels).floor() - levels / 2.0).collect();
        let classes = Labels::new(&labels)?;
        let (few, whole) = (merged(&classes, &scores, &ctx)?.0, Curve::new(&classes, &scores, None, &ctx)?);
        for measure in [Measure::Auc, Measure::TprAtFpr(0.1), Measure::AveragePrecision(None)] {
            assert_eq!(few.measure(measure)?, whole.measure(measure)?, "{levels} {share}: {measure:?}");
        }
        for measure in [Measure::AveragePrecision(None), Measure::AveragePrecision(Some(0.3))] {
            assert!(merges(measure, &classes, None) && !merges(measure, &classes, Some(&scores)));
            let found = Components::new(&classes, &scores, None, measure, &ctx)?;
            let whole = Components::new(&classes, &scores, Some(&vec![1.0; labels.len()]), measure, &ctx)?;
            assert_eq!(found, whole, "{levels} {share}");
        }
    }
    Ok(())
}

#[test]
fn only_average_precision_of_few_positives_merges() -> Result<()> {
    for (n_pos, n_neg, expected) in [(4096, 1 << 14, true), (4097, 1 << 14, false), (1, (1 << 14) - 1, false)] {
        let labels: Vec<bool> = (0..n_pos + n_neg).map(|i| i < n_pos).collect();
        let classes = Labels::new(&labels)?;
        assert_eq!(merges(Measure::AveragePrecision(None), &classes, None), expected, "{n_pos} {n_neg}");
        assert!(!merges(Measure::Auc, &classes, None));
    }
    Ok(())
}
