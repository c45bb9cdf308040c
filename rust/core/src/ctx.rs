//! How a call runs: on which threads, and when it must stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::threads::{self, Pool};
use crate::{Error, Result};

/// Elements a worker handles between two looks at the stop flag; also the fixed grain of every ordered reduction,
/// so that floating-point results do not depend on the number of threads.
pub(crate) const CHUNK: usize = 1 << 16;

/// Results per thread that [`Ctx::fold`] holds at a time: enough that no thread waits long for the others.
const HELD: usize = 4;

/// Threads and cancellation, passed to every long call.
///
/// Nothing here is global: the same process may run serial and parallel calls side by side. Results are the same to
/// the last bit for every choice of threads.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ctx<'a> {
    pool: Option<&'a Pool>,
    stop: Option<&'a AtomicBool>,
}

impl<'a> Ctx<'a> {
    /// On the calling thread, never stopped.
    pub fn serial() -> Self {
        Self::default()
    }

    /// On the threads of `pool` (without the feature "rayon" there is none), else on the calling one; calls end with
    /// [`Error::Interrupted`] soon after `stop` is set.
    pub fn new(pool: Option<&'a Pool>, stop: Option<&'a AtomicBool>) -> Self {
        Self { pool, stop }
    }

    /// The same stop flag, on the calling thread alone.
    pub fn alone(&self) -> Self {
        Self { pool: None, ..*self }
    }

    /// The threads that share the work; `None` for the calling thread alone.
    pub(crate) fn pool(&self) -> Option<&'a Pool> {
        self.pool
    }

    /// Number of threads that share the work.
    pub fn n_threads(&self) -> usize {
        self.pool.map_or(1, threads::number)
    }

    /// Fails with [`Error::Interrupted`] once the stop flag is set. Cheap: one relaxed load.
    pub fn check(&self) -> Result<()> {
        match self.stop {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(Error::Interrupted),
            _ => Ok(()),
        }
    }

    /// Applies `f` to every item, on all threads, and returns the results in the order of the items.
    pub fn map<I, T, F>(&self, items: Vec<I>, f: F) -> Result<Vec<T>>
    where
        I: Send,
        T: Send,
        F: Fn(I) -> T + Sync + Send,
    {
        let cells: Vec<_> = items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
        self.for_each(cells.len(), &|k| {
            let (item, result) = &mut *cells[k].lock().unwrap_or_else(PoisonError::into_inner);
            *result = item.take().map(&f);
        });
        let results = cells.into_iter().map(|cell| cell.into_inner().unwrap_or_else(PoisonError::into_inner).1);
        results.map(|result| result.ok_or(Error::Interrupted)).collect()
    }

    /// Calls `one` with every number below `n`, on all threads, until the stop flag is set.
    fn for_each(&self, n: usize, one: &(dyn Fn(usize) + Sync)) {
        let unless_stopped = |k| {
            if self.check().is_ok() {
                one(k);
            }
        };
        match self.pool {
            Some(pool) if n > 1 => threads::for_each(pool, n, &unless_stopped),
            _ => (0..n).for_each(unless_stopped),
        }
    }

    /// As [`Ctx::map`], for an `f` that can fail: the first error in the order of the items, if any.
    pub fn try_map<I, T, F>(&self, items: Vec<I>, f: F) -> Result<Vec<T>>
    where
        I: Send,
        T: Send,
        F: Fn(I) -> Result<T> + Sync + Send,
    {
        self.map(items, f)?.into_iter().collect()
    }

    /// Applies `f` to every item, on all threads, and passes the results to `take` in the order of the items, a few at
    /// a time, so that few are held.
    pub fn fold<I, T, F>(&self, items: Vec<I>, f: F, mut take: impl FnMut(T)) -> Result<()>
    where
        I: Send,
        T: Send,
        F: Fn(I) -> T + Sync + Send,
    {
        let mut items = items.into_iter();
        loop {
            let some: Vec<I> = items.by_ref().take(HELD * self.n_threads()).collect();
            if some.is_empty() {
                return Ok(());
            }
            self.map(some, &f)?.into_iter().for_each(&mut take);
        }
    }
}
