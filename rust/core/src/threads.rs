//! Threads that share the work of one call: rayon's or, without the feature "rayon", none.

#[cfg(feature = "rayon")]
pub(crate) use of_rayon::*;

#[cfg(not(feature = "rayon"))]
pub(crate) use none::*;

#[cfg(feature = "rayon")]
mod of_rayon {
    use rayon::prelude::*;

    pub(crate) use rayon::ThreadPool as Pool;

    pub(crate) fn number(pool: &Pool) -> usize {
        pool.current_num_threads()
    }

    /// Not generic: rayon's part would be compiled anew for every function.
    pub(crate) fn for_each(pool: &Pool, n: usize, one: &(dyn Fn(usize) + Sync)) {
        pool.install(|| (0..n).into_par_iter().for_each(one));
    }

    pub(crate) fn sort<T: Ord + Send>(pool: &Pool, items: &mut [T]) {
        pool.install(|| items.par_sort_unstable());
    }
}

#[cfg(not(feature = "rayon"))]
mod none {
    /// There is none.
    pub(crate) use std::convert::Infallible as Pool;

    pub(crate) fn number(pool: &Pool) -> usize {
        match *pool {}
    }

    pub(crate) fn for_each(pool: &Pool, _: usize, _: &(dyn Fn(usize) + Sync)) {
        match *pool {}
    }

    pub(crate) fn sort<T: Ord + Send>(pool: &Pool, _: &mut [T]) {
        match *pool {}
    }
}
