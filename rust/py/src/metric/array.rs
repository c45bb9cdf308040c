//! NumPy arrays of the types that are read where they lie.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rocmax_core::metric::Labels;

use crate::error::to_python;

macro_rules! arrays {
    ($name:ident, $what:literal, $($variant:ident => $array:ident $readonly:ident $type:ty),*) => {
        /// A borrowed array of one of several types.
        pub(crate) enum $name<'py> {
            $($variant($readonly<'py, $type>)),*
        }

        impl<'a, 'py> FromPyObject<'a, 'py> for $name<'py> {
            type Error = PyErr;

            fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
                $(if let Ok(array) = object.cast::<$array<$type>>() {
                    return Ok(Self::$variant(array.try_readonly()?));
                })*
                Err(PyTypeError::new_err($what))
            }
        }
    };
}

arrays!(LabelArray, "labels must be an array of bool, int8, uint8, int32, int64 or float64",
    Bool => PyArray1 PyReadonlyArray1 bool, I64 => PyArray1 PyReadonlyArray1 i64,
    F64 => PyArray1 PyReadonlyArray1 f64, I32 => PyArray1 PyReadonlyArray1 i32,
    I8 => PyArray1 PyReadonlyArray1 i8, U8 => PyArray1 PyReadonlyArray1 u8);

arrays!(ScoreArray, "scores must be an array of float64 or float32",
    F64 => PyArray1 PyReadonlyArray1 f64, F32 => PyArray1 PyReadonlyArray1 f32,
    F64s => PyArray2 PyReadonlyArray2 f64, F32s => PyArray2 PyReadonlyArray2 f32);

impl LabelArray<'_> {
    /// The two classes.
    pub(crate) fn labels(&self) -> PyResult<Labels<'_>> {
        match self {
            Self::Bool(a) => Labels::new(a.as_slice()?),
            Self::I8(a) => Labels::new(a.as_slice()?),
            Self::U8(a) => Labels::new(a.as_slice()?),
            Self::I32(a) => Labels::new(a.as_slice()?),
            Self::I64(a) => Labels::new(a.as_slice()?),
            Self::F64(a) => Labels::new(a.as_slice()?),
        }
        .map_err(to_python)
    }
}

/// Runs `$body` with `$columns` bound to the score vectors of a [`ScoreArray`], as slices of float64 or of float32.
macro_rules! with_columns {
    ($scores:expr, $columns:ident => $body:expr) => {
        match $scores {
            ScoreArray::F64(a) => {
                let $columns = [a.as_slice()?];
                $body
            }
            ScoreArray::F32(a) => {
                let $columns = [a.as_slice()?];
                $body
            }
            ScoreArray::F64s(a) => {
                let owned: Vec<Vec<f64>> = a.as_array().columns().into_iter().map(|c| c.to_vec()).collect();
                let $columns: Vec<&[f64]> = owned.iter().map(Vec::as_slice).collect();
                $body
            }
            ScoreArray::F32s(a) => {
                let owned: Vec<Vec<f32>> = a.as_array().columns().into_iter().map(|c| c.to_vec()).collect();
                let $columns: Vec<&[f32]> = owned.iter().map(Vec::as_slice).collect();
                $body
            }
        }
    };
}
pub(crate) use with_columns;

pub(crate) type Weights<'py> = Option<PyReadonlyArray1<'py, f64>>;

/// The weights as a slice, if there are any.
pub(crate) fn weights<'a>(weights: &'a Weights<'_>) -> PyResult<Option<&'a [f64]>> {
    weights.as_ref().map(|w| w.as_slice()).transpose().map_err(Into::into)
}
