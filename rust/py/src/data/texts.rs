//! Labels that are texts, or False and True as objects.

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

/// Which texts differ from the first, and the place of the first that does.
type Kinds<'py> = Option<(Bound<'py, PyArray1<bool>>, usize)>;

/// Which of n items differ from the first, none if these are of several kinds or one is none.
fn kinds<T: PartialEq + Copy>(py: Python<'_>, n: usize, item: impl Fn(usize) -> Option<T>) -> Kinds<'_> {
    let first = (n > 0).then(|| item(0))??;
    let mut place = 1;
    while place < n && item(place)? == first {
        place += 1;
    }
    let mut found = vec![false; n];
    let other = if place < n { item(place)? } else { first };
    for (k, differs) in found.iter_mut().enumerate().skip(place) {
        let one = item(k)?;
        *differs = one != first; // with no branch: labels are in no order that could be foreseen
        if !(*differs ^ (one != other)) {
            return None;
        }
    }
    Some((PyArray1::from_vec(py, found), place))
}

/// The two kinds of rows of N words, which are compared at once.
fn of_width<'py, const N: usize>(py: Python<'py>, words: &[u32]) -> Kinds<'py> {
    let rows = words.as_chunks::<N>().0;
    kinds(py, rows.len(), |k| Some(rows[k]))
}

/// The two kinds of texts of a fixed width, a row of words each, or none if there are more.
#[pyfunction]
pub(crate) fn two_rows<'py>(py: Python<'py>, rows: PyReadonlyArray2<'py, u32>) -> PyResult<Kinds<'py>> {
    let (width, words) = (usize::max(rows.as_array().ncols(), 1), rows.as_slice()?);
    Ok(match width {
        1 => of_width::<1>(py, words),
        2 => of_width::<2>(py, words),
        3 => of_width::<3>(py, words),
        4 => of_width::<4>(py, words),
        8 => of_width::<8>(py, words),
        _ => kinds(py, words.len() / width, |k| Some(&words[k * width..(k + 1) * width])),
    })
}

/// The same of objects, or none if one of these is no text; or of False and True.
#[pyfunction]
pub(crate) fn two_texts<'py>(py: Python<'py>, objects: PyReadonlyArray1<'py, Py<PyAny>>) -> PyResult<Kinds<'py>> {
    let objects = objects.as_slice()?;
    let text = |k: usize| objects[k].bind(py).cast::<PyString>().ok()?.to_str().ok();
    // Most tables hold one object of each text, and there is but one of False and of True.
    let known = kinds(py, objects.len(), |k| Some(objects[k].as_ptr()));
    let boolean = |k: usize| objects.get(k).is_none_or(|object| object.bind(py).is_instance_of::<PyBool>());
    if known.as_ref().is_some_and(|&(_, place)| boolean(0) && boolean(place)) {
        return Ok(known);
    }
    let alike = |place: usize| place < objects.len() && text(place).is_none_or(|other| text(0) == Some(other));
    let apart = known.filter(|&(_, place)| text(0).is_some() && !alike(place));
    Ok(apart.or_else(|| kinds(py, objects.len(), text)))
}
