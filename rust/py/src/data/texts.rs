//! Labels that are texts, or False and True as objects.

use std::hint::select_unpredictable;

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

/// Which texts differ from the first, and the place of the first that does.
type Kinds<'py> = Option<(Bound<'py, PyArray1<bool>>, usize)>;

/// Which of n items differ from the first, none if these are of several kinds. Those of equal marks are the same; only
/// an item with a mark of its own is read as a text, and is none of the two kinds if it has none.
fn kinds<'py, 'a, T: PartialEq, E: PartialEq + Copy + 'a>(
    py: Python<'py>,
    n: usize,
    mark: impl Fn(usize) -> T,
    text: impl Fn(usize) -> Option<&'a [E]>,
) -> Kinds<'py> {
    let first = (n > 0).then(|| mark(0))?;
    let alike = |k: usize| mark(k) == first || text(k).is_some_and(|own| text(0) == Some(own));
    let place = (1..n).find(|&k| !alike(k)).unwrap_or(n);
    let other = if place < n { place } else { 0 };
    let (second, texts) = (mark(other), text(0).zip(text(other)));
    let at = texts.map_or(0, |(a, b)| a.iter().zip(b).take_while(|(a, b)| a == b).count());
    let mut differing = vec![false; n];
    // With no branch that tells the two kinds apart: labels are in no order that could be foreseen.
    for (start, part) in (0..n).step_by(256).zip(differing.chunks_mut(256)) {
        let mut marked = true;
        for (k, differs) in (start..).zip(part.iter_mut()) {
            let own = mark(k);
            *differs = own != first;
            marked &= !*differs | (own == second);
        }
        if marked {
            continue;
        }
        let (same, different) = texts?;
        for (k, differs) in (start..).zip(part) {
            let own = text(k)?;
            *differs = own.get(at) != same.get(at);
            if own != select_unpredictable(*differs, different, same) {
                return None;
            }
        }
    }
    Some((PyArray1::from_vec(py, differing), place))
}

/// The two kinds of rows of N words, which are compared at once.
fn of_width<'py, const N: usize>(py: Python<'py>, words: &[u32]) -> Kinds<'py> {
    let rows = words.as_chunks::<N>().0;
    kinds(py, rows.len(), |k| rows[k], |_| None::<&[u32]>)
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
        _ => kinds(py, words.len() / width, |k| k, |k| words.get(k * width..(k + 1) * width)),
    })
}

/// The same of texts that lie one after another, each from its offset to the next.
#[pyfunction]
pub(crate) fn two_slices<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    bytes: PyReadonlyArray1<'py, u8>,
) -> PyResult<Kinds<'py>> {
    let (offsets, bytes) = (offsets.as_slice()?, bytes.as_slice()?);
    let offset = |k: usize| usize::try_from(offsets[k]).ok();
    let text = |k: usize| bytes.get(offset(k)?..offset(k + 1)?);
    Ok(kinds(py, offsets.len().saturating_sub(1), |k| k, text))
}

/// The same of objects, or none if one of these is no text; or of False and True.
#[pyfunction]
pub(crate) fn two_texts<'py>(py: Python<'py>, objects: PyReadonlyArray1<'py, Py<PyAny>>) -> PyResult<Kinds<'py>> {
    let objects = objects.as_slice()?;
    let text = |k: usize| {
        let object = objects[k].bind(py);
        let text = object.cast_exact().or_else(|_| object.cast::<PyString>()).ok()?; // exact: without a call
        text.to_str().ok().map(str::as_bytes)
    };
    let kind = |k: usize| (text(k).is_some(), objects[k].bind(py).is_instance_of::<PyBool>());
    // Most tables hold one object of each text, and there is but one of False and of True.
    let found = kinds(py, objects.len(), |k| objects[k].as_ptr(), text);
    Ok(found.filter(|&(_, place)| {
        let (first, other) = (kind(0), if place < objects.len() { place } else { 0 });
        first != (false, false) && first == kind(other)
    }))
}
