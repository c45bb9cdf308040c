//! The scores of one model, in single or double precision.

use std::borrow::Cow;

/// The scores of one model. Those in single precision are ranked as they are.
#[derive(Debug, Clone)]
pub enum Column<'a> {
    /// In double precision.
    F64(Cow<'a, [f64]>),
    /// In single precision.
    F32(Cow<'a, [f32]>),
}

impl<'a> From<&'a [f64]> for Column<'a> {
    fn from(scores: &'a [f64]) -> Self {
        Self::F64(scores.into())
    }
}

impl<'a> From<&'a [f32]> for Column<'a> {
    fn from(scores: &'a [f32]) -> Self {
        Self::F32(scores.into())
    }
}

impl Column<'_> {
    /// The scores in double precision.
    pub fn wide(&self) -> Cow<'_, [f64]> {
        match self {
            Self::F64(scores) => Cow::Borrowed(scores),
            Self::F32(scores) => scores.iter().map(|&score| score.into()).collect(),
        }
    }
}
