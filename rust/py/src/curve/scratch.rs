//! Buffers kept between calls, since fresh memory costs as much as the work.

use std::sync::Mutex;

use rocmax_core::curve::Scratch;
use rocmax_core::variance::Placements;

/// The most scores whose buffers are kept, about a gigabyte; for as many, fresh memory takes a third of the call.
const MOST: usize = 1 << 27;

/// Buffers of one kind.
pub(crate) struct Kept<T>(Mutex<Option<T>>);

/// Those of point estimates.
pub(crate) static SCRATCH: Kept<Scratch> = Kept(Mutex::new(None));
/// Those of covariances.
pub(crate) static PLACEMENTS: Kept<Placements> = Kept(Mutex::new(None));

impl<T: Default> Kept<T> {
    /// Calls `f`, which reads `n` scores, with the kept buffers, or with new ones while another thread (or, after a
    /// fork, one that is gone) holds them. They are kept again unless the scores are too many.
    pub(crate) fn lend<R>(&self, n: usize, f: impl FnOnce(&mut T) -> R) -> R {
        let mut kept = self.0.try_lock().ok().and_then(|mut kept| kept.take()).unwrap_or_default();
        let found = f(&mut kept);
        if n < MOST
            && let Ok(mut place) = self.0.try_lock()
        {
            *place = Some(kept);
        }
        found
    }
}
