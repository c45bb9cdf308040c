//! Labels that are texts.

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Which texts differ from the first, and the place of the first that does.
type Kinds<'py> = Option<(Bound<'py, PyArray1<bool>>, usize)>;

/// Which items differ from the first, none if these are of several kinds or one is none.
fn kinds<T: PartialEq + Copy>(py: Python<'_>, n: usize, item: impl Fn(usize) -> Option<T>) -> Kinds<'_> {
    let first = (n > 0).then(|| item(0))??;
    let (mut found, mut other, mut place) = (Vec::with_capacity(n), None, n);
    for k in 0..n {
        let one = item(k)?;
        let differs = one != first;
        if differs && *other.get_or_insert(one) != one {
            return None;
        }
        if differs && place == n {
            place = k;
        }
        found.push(differs);
    }
    Some((PyArray1::from_vec(py, found), place))
}

/// The two kinds of texts of a fixed width, a row of bytes each, or none if there are more.
#[pyfunction]
pub(crate) fn two_rows<'py>(py: Python<'py>, rows: PyReadonlyArray2<'py, u8>) -> PyResult<Kinds<'py>> {
    let (width, bytes) = (usize::max(rows.as_array().ncols(), 1), rows.as_slice()?);
    Ok(kinds(py, bytes.len() / width, |k| Some(&bytes[k * width..(k + 1) * width])))
}

/// The same of objects, or none if one of these is no text.
#[pyfunction]
pub(crate) fn two_texts<'py>(py: Python<'py>, objects: PyReadonlyArray1<'py, Py<PyAny>>) -> PyResult<Kinds<'py>> {
    let objects = objects.as_slice()?;
    let text = |k: usize| objects[k].bind(py).cast::<PyString>().ok()?.to_str().ok();
    Ok(kinds(py, objects.len(), text))
}
