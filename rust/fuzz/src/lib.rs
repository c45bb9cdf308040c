//! Samples that the fuzzer's bytes stand for.

use arbitrary::{Arbitrary, Result, Unstructured};
use rocmax_core::RateRange;

/// The twins of the core's tests.
#[path = "../../core/tests/properties/naive.rs"]
pub mod naive;

/// Labels with scores, weights and a range; both classes are there.
#[derive(Debug)]
pub struct Sample {
    /// Which samples are positive.
    pub labels: Vec<bool>,
    /// Scores of one model, of which many tie.
    pub scores: Vec<f64>,
    /// Scores of another model.
    pub others: Vec<f64>,
    /// Whole weights, 0 to 3, not all 0 in a class.
    pub repeats: Vec<usize>,
    /// Weights of 0 to 2.
    pub fractions: Vec<f64>,
    /// Any range.
    pub range: RateRange,
}

impl<'a> Arbitrary<'a> for Sample {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let range = rates(u)?;
        let mut sample =
            Self { labels: vec![], scores: vec![], others: vec![], repeats: vec![], fractions: vec![], range };
        while !u.is_empty() && sample.labels.len() < 200 {
            let bits = u8::arbitrary(u)?;
            sample.labels.push(bits & 1 == 1);
            sample.repeats.push(usize::from(bits >> 1) % 4);
            sample.fractions.push(f64::from(bits >> 3) / 16.0);
            sample.scores.push(score(u)?);
            sample.others.push(score(u)?);
        }
        let n = sample.labels.len();
        if n < 2 {
            return Err(arbitrary::Error::NotEnoughData);
        }
        (sample.labels[0], sample.labels[1]) = (true, false);
        (sample.repeats[0], sample.repeats[1]) = (1 + sample.repeats[0], 1 + sample.repeats[1]);
        (sample.fractions[0], sample.fractions[1]) = (0.5, 0.7);
        Ok(sample)
    }
}

/// A score, mostly one of a few.
fn score(u: &mut Unstructured<'_>) -> Result<f64> {
    let byte = u8::arbitrary(u)?;
    Ok(match byte {
        0..240 => f64::from(byte % 15) / 4.0 - 1.75,
        240..248 => -0.0,
        _ => f64::from(i32::arbitrary(u)?) / 3e8,
    })
}

/// Tenths, or any two numbers.
fn rates(u: &mut Unstructured<'_>) -> Result<RateRange> {
    let (low, high) = if bool::arbitrary(u)? {
        (f64::from(u8::arbitrary(u)? % 10) / 10.0, f64::from(u8::arbitrary(u)? % 11) / 10.0)
    } else {
        (f64::from(u32::arbitrary(u)?) / f64::from(u32::MAX), f64::from(u32::arbitrary(u)?) / f64::from(u32::MAX))
    };
    RateRange::new(low, high).map_err(|_| arbitrary::Error::IncorrectFormat)
}

impl Sample {
    /// The rows, each as often as its weight says.
    pub fn repeated(&self) -> (Vec<bool>, Vec<f64>) {
        let rows = || self.repeats.iter().enumerate().flat_map(|(i, &w)| std::iter::repeat_n(i, w));
        (rows().map(|i| self.labels[i]).collect(), rows().map(|i| self.scores[i]).collect())
    }

    /// The repeats as weights.
    pub fn whole_weights(&self) -> Vec<f64> {
        self.repeats.iter().map(|&w| w as f64).collect()
    }
}

/// Fails unless two numbers agree up to rounding.
#[track_caller]
pub fn assert_close(ours: f64, theirs: f64, tolerance: f64) {
    assert!((ours - theirs).abs() <= tolerance * (1.0 + theirs.abs()), "{ours} {theirs}");
}
