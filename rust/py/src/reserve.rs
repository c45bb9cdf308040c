//! The allocator: small requests that the system refuses are served from a reserve.
//!
//! What grows with the input is asked for by `rocmax_core::alloc`, and its refusal is an error. What does not, as lists
//! of chunks and what threads need, cannot fail in Rust: a refusal ends the process. When memory has just run out, this
//! is what the call lives on until it has ended with its error. All of it is free again once the last piece is back.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of the reserve: of the address space alone, until it is used.
const SIZE: usize = 1 << 25;
/// Bytes of a request that is served.
const SMALL: usize = 1 << 18;

#[global_allocator]
static ALLOCATOR: Reserve = Reserve { memory: Memory(UnsafeCell::new([0; SIZE])), state: AtomicU64::new(0) };

#[repr(align(4096))]
struct Memory(UnsafeCell<[u8; SIZE]>);

struct Reserve {
    memory: Memory,
    /// How many requests are served at the moment, and times 2^32 where the rest begins.
    state: AtomicU64,
}

// SAFETY: no two requests are served with the same bytes, and nothing else reads or writes them.
unsafe impl Sync for Reserve {}

impl Reserve {
    fn start(&self) -> *mut u8 {
        self.memory.0.get().cast()
    }

    fn holds(&self, at: *mut u8) -> bool {
        (self.start().addr()..self.start().addr() + SIZE).contains(&at.addr())
    }

    /// Serves a request; null if it is large or nothing is left.
    #[cold]
    #[inline(never)]
    fn serve(&self, layout: Layout) -> *mut u8 {
        if layout.size() > SMALL || layout.align() > align_of::<Memory>() {
            return ptr::null_mut();
        }
        let mut at = 0;
        let taken = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
            at = ((state >> 32) as usize).next_multiple_of(layout.align());
            let end = at + layout.size();
            (end <= SIZE).then_some((end as u64) << 32 | ((state as u32) + 1) as u64)
        });
        if taken.is_ok() { self.start().wrapping_add(at) } else { ptr::null_mut() }
    }

    /// Takes back what a request was served with; after the last, all is free.
    #[cold]
    #[inline(never)]
    fn take_back(&self) {
        let left = |state: u64| Some(if state as u32 == 1 { 0 } else { state - 1 });
        let _ = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, left);
    }
}

// SAFETY: requests go to the system's allocator with the caller's promises, or are served from bytes of their own.
unsafe impl GlobalAlloc for Reserve {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises.
        let found = unsafe { System.alloc(layout) };
        if found.is_null() { self.serve(layout) } else { found }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises.
        let found = unsafe { System.alloc_zeroed(layout) };
        if !found.is_null() {
            return found;
        }
        let served = self.serve(layout);
        if !served.is_null() {
            // SAFETY: as many bytes were served.
            unsafe { served.write_bytes(0, layout.size()) };
        }
        served
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if self.holds(at) {
            self.take_back();
        } else {
            // SAFETY: it is the system's.
            unsafe { System.dealloc(at, layout) };
        }
    }

    #[inline]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.holds(at) {
            // SAFETY: it is the system's.
            let found = unsafe { System.realloc(at, layout, size) };
            if !found.is_null() {
                return found;
            }
        }
        // SAFETY: the caller promises that the size suits the alignment; the old bytes are copied before they go.
        unsafe {
            let found = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !found.is_null() {
                ptr::copy_nonoverlapping(at, found, usize::min(layout.size(), size));
                self.dealloc(at, layout);
            }
            found
        }
    }
}
