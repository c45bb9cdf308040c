//! NumPy arrays of the types that are read without a copy.

use std::borrow::Cow;

use numpy::ndarray::{ArrayView2, Axis};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rocmax_core::{Column, Labels};

use crate::error::to_python;
use crate::gate::room;

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

arrays!(FeatureArray, "features must be a matrix of float64 or float32",
    Double => PyArray2 PyReadonlyArray2 f64, Single => PyArray2 PyReadonlyArray2 f32);

impl LabelArray<'_> {
    /// The labels, checked.
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

impl ScoreArray<'_> {
    /// The scores of one model.
    pub(crate) fn column(&self) -> PyResult<Column<'_>> {
        match self {
            Self::F64(scores) => Ok(scores.as_slice()?.into()),
            Self::F32(scores) => Ok(scores.as_slice()?.into()),
            _ => Err(PyTypeError::new_err("y_score must be one score vector, got a matrix")),
        }
    }

    /// The scores of each model; columns that are not contiguous are copied.
    pub(crate) fn columns(&self) -> PyResult<Vec<Column<'_>>> {
        Ok(match self {
            Self::F64s(scores) => columns(scores.as_array())?.into_iter().map(Column::F64).collect(),
            Self::F32s(scores) => columns(scores.as_array())?.into_iter().map(Column::F32).collect(),
            _ => vec![self.column()?],
        })
    }
}

/// Columns copied from a matrix at a time: one cache line of float64.
pub(crate) const COLUMNS: usize = 8;

/// The columns of a matrix if they are contiguous, as in Fortran's order.
pub(crate) fn in_place<'a, S>(matrix: ArrayView2<'a, S>) -> Option<Vec<&'a [S]>> {
    (0..matrix.ncols()).map(|k| matrix.index_axis_move(Axis(1), k).to_slice()).collect()
}

/// The columns of a matrix, copied to `room` row by row.
pub(crate) fn copied<'a, S: Copy + Default>(part: ArrayView2<'_, S>, room: &'a mut Vec<S>) -> Vec<&'a [S]> {
    let n_rows = usize::max(part.nrows(), 1);
    room.resize(n_rows * part.ncols(), S::default());
    for (row, of_row) in part.rows().into_iter().enumerate() {
        for (column, &score) in room.chunks_exact_mut(n_rows).zip(of_row) {
            column[row] = score;
        }
    }
    room.chunks_exact(n_rows).collect()
}

/// The columns of a matrix, in place or copied.
fn columns<S: Copy + Default>(matrix: ArrayView2<'_, S>) -> PyResult<Vec<Cow<'_, [S]>>> {
    if let Some(columns) = in_place(matrix) {
        return Ok(columns.into_iter().map(Cow::Borrowed).collect());
    }
    room(size_of::<S>() * matrix.nrows() * (matrix.ncols() + COLUMNS))?;
    let (mut part_of_them, mut columns) = (vec![], vec![]);
    for part in matrix.axis_chunks_iter(Axis(1), COLUMNS) {
        columns.extend(copied(part, &mut part_of_them).into_iter().map(|column| Cow::Owned(column.to_vec())));
    }
    Ok(columns)
}

pub(crate) type Weights<'py> = Option<PyReadonlyArray1<'py, f64>>;

/// The weights as a slice, if there are any.
pub(crate) fn weights<'a>(weights: &'a Weights<'_>) -> PyResult<Option<&'a [f64]>> {
    weights.as_ref().map(|w| w.as_slice()).transpose().map_err(Into::into)
}
