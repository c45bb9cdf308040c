//! Thread pools, kept by process and size.

use std::collections::HashMap;
use std::process;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyRuntimeError;
use pyo3::{PyErr, PyResult};
use rayon::{ThreadPool, ThreadPoolBuilder};

type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

/// After a fork the child's process id differs, so it builds its own pools; the parent's entries, whose threads do not
/// exist in the child, stay here untouched, since dropping them would wait for those threads.
static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

/// The pool of `n_threads` of this process; none for one thread, or while another call is at work there: a worker that
/// waits for its own call may take up all of another one, so that neither could be interrupted alone, and memory and
/// threads would grow with the callers. The call that finds none takes one thread, which changes no result.
pub(crate) fn get(n_threads: usize) -> PyResult<Option<Arc<ThreadPool>>> {
    if n_threads <= 1 {
        return Ok(None);
    }
    // A lock that is taken may have been copied so by a fork, and would then never open.
    let Ok(mut pools) = POOLS.try_lock() else { return Ok(None) };
    let pools = pools.get_or_insert_default();
    let key = (process::id(), n_threads);
    if let Some(pool) = pools.get(&key) {
        let idle = Arc::strong_count(pool) == 1;
        return Ok(idle.then(|| Arc::clone(pool)));
    }
    let pool = build(n_threads)?;
    pools.insert(key, Arc::clone(&pool));
    Ok(Some(pool))
}

fn build(n_threads: usize) -> PyResult<Arc<ThreadPool>> {
    ThreadPoolBuilder::new()
        .num_threads(n_threads)
        .thread_name(|i| format!("rocmax-{i}"))
        .build()
        .map(Arc::new)
        .map_err(|e| PyErr::new::<PyRuntimeError, _>(format!("cannot start {n_threads} threads: {e}")))
}
