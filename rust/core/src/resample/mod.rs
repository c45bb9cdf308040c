//! Resampling: the bootstrap, and a permutation test of two curves.

mod band;
mod bootstrap;
mod cuts;
mod multinomial;
#[cfg(target_arch = "x86_64")]
mod octets;
mod permutation;
mod ranks;
mod replicate;
mod weighted_draws;

pub(crate) use multinomial::Stream;

pub use band::band_distances;
pub use bootstrap::{Resampling, Scheme, bootstrap};
pub use cuts::{Rates, bootstrap_cuts};
pub use permutation::{Scored, permuted_distances};
