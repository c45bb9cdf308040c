//! Memory that grows with the input or with a parameter: refused, it is an error, and not the end of the process.
//!
//! A failed allocation of `Vec` itself aborts. All that is more than a few megabytes is asked for here instead. Kernels
//! have no other way to fail, so a refusal unwinds from where it happened to [`caught`], where the call began, which
//! returns it as [`Error::OutOfMemory`].

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::{Error, Result};

/// Runs `call`; memory that was refused on the way, on any thread, becomes [`Error::OutOfMemory`].
///
/// # Errors
/// Those of `call`, and [`Error::OutOfMemory`]. Panics that are none pass through.
pub fn caught<T>(call: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|payload| match payload.downcast::<Error>() {
        Ok(error) => Err(*error),
        Err(other) => resume_unwind(other),
    })
}

#[cold]
#[inline(never)]
fn refused<T>(n: usize) -> ! {
    resume_unwind(Box::new(Error::OutOfMemory { bytes: n.saturating_mul(size_of::<T>()) }))
}

/// Room for `n` more, and no more than that.
pub fn reserve<T>(to: &mut Vec<T>, n: usize) {
    if to.try_reserve_exact(n).is_err() {
        refused::<T>(n);
    }
}

/// [`Vec::with_capacity`].
pub fn with_capacity<T>(n: usize) -> Vec<T> {
    let mut found = Vec::new();
    reserve(&mut found, n);
    found
}

/// `vec![value; n]`.
pub fn filled<T: Clone>(value: T, n: usize) -> Vec<T> {
    let mut found = with_capacity(n);
    found.resize(n, value);
    found
}

/// [`Vec::resize`].
pub fn resize<T: Clone>(to: &mut Vec<T>, n: usize, value: T) {
    reserve(to, n.saturating_sub(to.len()));
    to.resize(n, value);
}

/// [`slice::to_vec`].
pub fn copied<T: Copy>(from: &[T]) -> Vec<T> {
    let mut found = with_capacity(from.len());
    found.extend_from_slice(from);
    found
}

/// [`slice::concat`].
pub fn concat<T: Copy, P: AsRef<[T]>>(parts: &[P]) -> Vec<T> {
    let mut found = with_capacity(parts.iter().map(|part| part.as_ref().len()).sum());
    parts.iter().for_each(|part| found.extend_from_slice(part.as_ref()));
    found
}

/// [`Iterator::collect`] where it is known how many come.
pub fn collected<I: ExactSizeIterator>(items: I) -> Vec<I::Item> {
    let mut found = with_capacity(items.len());
    found.extend(items);
    found
}

/// [`Iterator::collect`] where it is not.
pub fn gathered<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    items.for_each(|item| push(&mut found, item));
    found
}

/// [`Vec::extend_from_slice`].
#[inline]
pub fn append<T: Copy>(to: &mut Vec<T>, more: &[T]) {
    grow(to, more.len());
    to.extend_from_slice(more);
}

/// [`Vec::push`].
#[inline]
pub fn push<T>(to: &mut Vec<T>, item: T) {
    grow(to, 1);
    to.push(item);
}

/// Room for `n` more; in all, a vector that grows so is moved as often as one that grows by itself.
#[inline]
fn grow<T>(to: &mut Vec<T>, n: usize) {
    if to.capacity() - to.len() < n && to.try_reserve(n).is_err() {
        refused::<T>(to.len() + n);
    }
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    #[test]
    fn refusals_become_errors_from_any_thread() {
        let most = usize::MAX / 16;
        let all: [fn(usize) -> usize; 3] = [
            |n| with_capacity::<u64>(n).len(),
            |n| filled(0u64, n).len(),
            |n| (0..2).into_par_iter().map(|_| collected((0..n).map(|i| i as f64)).len()).sum(),
        ];
        for f in all {
            assert_eq!(caught(|| Ok(f(most))), Err(Error::OutOfMemory { bytes: 8 * most }));
            assert!(caught(|| Ok(f(4))).is_ok());
        }
    }

    #[test]
    fn other_panics_pass_and_other_errors_are_kept() {
        assert_eq!(caught::<()>(|| Err(Error::Interrupted)), Err(Error::Interrupted));
        assert!(catch_unwind(|| caught::<()>(|| panic!("mine"))).is_err());
    }

    #[test]
    fn what_is_had_is_what_std_gives() {
        assert_eq!(filled(3u8, 4), vec![3; 4]);
        assert_eq!(gathered((0..100).filter(|i| i % 3 == 0)), (0..100).filter(|i| i % 3 == 0).collect::<Vec<_>>());
        let mut grown = copied(&[1, 2]);
        append(&mut grown, &[3]);
        push(&mut grown, 4);
        resize(&mut grown, 6, 5);
        assert_eq!(grown, [1, 2, 3, 4, 5, 5]);
        assert_eq!(concat(&[vec![1], vec![2, 3]]), [1, 2, 3]);
    }
}
