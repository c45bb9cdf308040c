//! Thread pools, the last few of them kept.

use std::mem::forget;
use std::process;
use std::sync::{Arc, Mutex};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Pools that are kept: a program uses one number of threads, or two in turn.
const KEPT: usize = 2;

/// A pool, its number of threads and the process they are of.
struct Kept {
    process: u32,
    n_threads: usize,
    pool: Arc<ThreadPool>,
}

/// The last used ones last.
static POOLS: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// The pool of `n_threads` of this process; none for one thread, where no more can be started, or while another call is
/// at work there: a worker that waits for its own call may take up all of another one, so that neither could be
/// interrupted alone, and memory and threads would grow with the callers. The call that finds none takes one thread,
/// which changes no result.
pub(crate) fn pool(n_threads: usize) -> Option<Arc<ThreadPool>> {
    if n_threads <= 1 {
        return None;
    }
    // A lock that is taken may have been copied so by a fork, and would then never open.
    let mut pools = POOLS.try_lock().ok()?;
    let process = process::id();
    // After a fork this process builds its own. Those of the parent are leaked: to drop them would wait for their
    // threads, which do not exist here.
    pools.extract_if(.., |kept| kept.process != process).for_each(forget);
    let found = pools.iter().position(|kept| kept.n_threads == n_threads).map(|at| pools.remove(at));
    let kept = match found {
        Some(kept) => kept,
        None => Kept { process, n_threads, pool: build(n_threads)? },
    };
    if pools.len() >= KEPT {
        // Its threads end with the call that uses them, if any.
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
