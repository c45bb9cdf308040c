//! Buffers kept between calls, since fresh memory costs as much as the counting itself.

use std::sync::Mutex;

use rocmax_core::curve::{Measured, Scratch};

/// The most that is kept, in bytes a buffer: enough for 150 million scores, whose fresh memory takes a third of a call.
const MOST: usize = 1 << 30;

/// A type of score with buffers of its own.
pub(crate) trait Pooled: Measured {
    fn pool() -> &'static Mutex<Option<Scratch<Self>>>;
}

macro_rules! pooled {
    ($type:ty) => {
        impl Pooled for $type {
            fn pool() -> &'static Mutex<Option<Scratch<Self>>> {
                static POOL: Mutex<Option<Scratch<$type>>> = Mutex::new(None);
                &POOL
            }
        }
    };
}
pooled!(f32);
pooled!(f64);

/// Calls `f` with the kept buffer, or with one of its own while another thread (or, after a fork, one that is gone)
/// holds it.
pub(crate) fn with<S: Pooled, T>(f: impl FnOnce(&mut Scratch<S>) -> T) -> T {
    let kept = S::pool().try_lock().ok().and_then(|mut pool| pool.take());
    let mut scratch = kept.unwrap_or_default();
    let found = f(&mut scratch);
    if (1..MOST).contains(&scratch.bytes())
        && let Ok(mut pool) = S::pool().try_lock()
    {
        *pool = Some(scratch);
    }
    found
}
