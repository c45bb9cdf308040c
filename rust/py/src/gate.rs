//! The one way from Python into the core.

use std::any::Any;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::{PyErr, PyResult, Python};
use rayon::ThreadPool;
use rocmax_core::{Ctx, Result};

use crate::{error, threads};

/// Below this work a call takes a few milliseconds and runs on the calling thread alone.
const SMALL: usize = 1 << 17;
/// Memory of a call that does not grow with the data.
const LITTLE: usize = 1 << 20;
/// How often a waiting caller checks for Ctrl-C.
const POLL: Duration = Duration::from_millis(20);

/// The most that a call needs.
#[derive(Clone, Copy)]
pub(crate) struct Need {
    /// Samples to read, times models and resamples.
    pub(crate) work: usize,
    /// Bytes beside the inputs, results included.
    pub(crate) bytes: usize,
}

/// Runs `job` without the interpreter lock, on `n_threads` threads, stopping at Ctrl-C.
///
/// Python delivers signals to its main thread only, so a long job runs elsewhere while the calling thread polls.
pub(crate) fn enter<T, F>(py: Python<'_>, n_threads: usize, need: Need, job: F) -> PyResult<T>
where
    T: Send,
    F: FnOnce(&Ctx<'_>) -> Result<T> + Send,
{
    if need.work < SMALL {
        room(need.bytes)?;
        return py.detach(|| caught(|| job(&Ctx::serial())));
    }
    let pool = threads::pool(n_threads);
    room(need.bytes)?;
    py.detach(|| {
        let stop = AtomicBool::new(false);
        watched(pool.as_deref(), &stop, || job(&Ctx::new(pool.as_deref(), Some(&stop))))
    })
}

/// A MemoryError unless so many bytes are available: they are allocated at once and freed, since a failed allocation in
/// the middle of a call would abort the process.
pub(crate) fn room(bytes: usize) -> PyResult<()> {
    let asked = if bytes < LITTLE { 0 } else { bytes.saturating_add(LITTLE) };
    let mut room = Vec::<u8>::new();
    let had = room.try_reserve_exact(asked);
    black_box(&room); // or the compiler might see that nobody uses it
    had.map_err(|_| {
        PyMemoryError::new_err(format!(
            "{:.3} GB of memory are needed and not available; use fewer samples, models or resamples at a time",
            asked as f64 / 1e9
        ))
    })
}

fn watched<T: Send>(
    pool: Option<&ThreadPool>,
    stop: &AtomicBool,
    job: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let (done, wait) = channel();
    let run = move || done.send(caught(job));
    match pool {
        // The calling thread watches: no thread is started.
        Some(pool) => pool.in_place_scope(|scope| {
            scope.spawn(|_| drop(run()));
            watch(&wait, stop)
        }),
        None => {
            let run = Mutex::new(Some(run));
            let once = || {
                let run = run.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(run) = run {
                    drop(run());
                }
            };
            thread::scope(|scope| {
                if thread::Builder::new().spawn_scoped(scope, once).is_err() {
                    // No thread can be started: the job runs here, unwatched.
                    once();
                }
                watch(&wait, stop)
            })
        }
    }
}

/// Waits for the outcome of a job.
fn watch<T>(wait: &Receiver<PyResult<T>>, stop: &AtomicBool) -> PyResult<T> {
    loop {
        match wait.recv_timeout(POLL) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Disconnected) => return Err(broken("a worker vanished")),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(signal) = Python::attach(|py| py.check_signals()) {
                    stop.store(true, Ordering::Relaxed);
                    return Err(signal);
                }
            }
        }
    }
}

fn caught<T>(job: impl FnOnce() -> Result<T>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(job)) {
        Ok(outcome) => outcome.map_err(error::to_python),
        Err(payload) => Err(broken(&panic_text(payload.as_ref()))),
    }
}

fn broken(text: &str) -> PyErr {
    PyRuntimeError::new_err(format!("internal error, please report it: {text}"))
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown panic".into())
}
