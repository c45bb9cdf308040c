//! Thread pools, of which the last few are kept.

use std::mem::forget;
use std::process;
use std::sync::{Arc, Mutex};
use std::thread;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Kept pools: a program uses one number of threads, or two in turn.
const KEPT: usize = 2;

/// A pool, its number of threads and its process.
struct Kept {
    process: u32,
    n_threads: usize,
    pool: Arc<ThreadPool>,
}

/// The most recently used last.
static POOLS: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// The number of cores that this process may use: those that are set for it, and the quota of its control group.
#[pyfunction]
pub(crate) fn n_cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The pool of `n_threads` of this process; `None` for one thread, if threads cannot be started, or while another call
/// uses it: a waiting worker could take up all work of another call, so that neither could be interrupted alone, and
/// threads and memory would grow with the callers. A call without a pool runs on one thread, with the same result.
pub(crate) fn pool(n_threads: usize) -> Option<Arc<ThreadPool>> {
    if n_threads <= 1 {
        return None;
    }
    // A lock copied by a fork while it was held never opens.
    let mut pools = POOLS.try_lock().ok()?;
    let process = process::id();
    // After a fork the parent's pools are leaked: dropping them would wait for threads that do not exist here.
    pools.extract_if(.., |kept| kept.process != process).for_each(forget);
    let found = pools.iter().position(|kept| kept.n_threads == n_threads).map(|at| pools.remove(at));
    let kept = match found {
        Some(kept) => kept,
        None => Kept { process, n_threads, pool: build(n_threads)? },
    };
    if pools.len() >= KEPT {
        // Its threads end with the call that uses them.
        pools.remove(0);
    }
    let idle = Arc::strong_count(&kept.pool) == 1;
    let pool = idle.then(|| Arc::clone(&kept.pool));
    pools.push(kept);
    pool
}

fn build(n_threads: usize) -> Option<Arc<ThreadPool>> {
    let builder = ThreadPoolBuilder::new().num_threads(n_threads).thread_name(|i| format!("rocmax-{i}"));
    builder.build().ok().map(Arc::new)
}
