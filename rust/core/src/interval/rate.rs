//! The law of a rate at a threshold that the other class sets.

use super::distance::{Distance, Held, Law};
use super::normal::heights;
use super::{Limits, cdf, quantile};
use crate::{Error, Result};

/// Normal quantiles beyond count as those of 0 and 1.
const EDGE: f64 = 8.0;
/// Of means over a standard normal deviate, by Gauss and Hermite.
const NODES: [f64; 7] = [
    -3.7504397177257425,
    -2.366759410734541,
    -1.1544053947399682,
    0.0,
    1.1544053947399682,
    2.366759410734541,
    3.7504397177257425,
];
const WEIGHTS: [f64; 7] = [
    0.0005482688559722176,
    0.03075712396758649,
    0.24012317860501268,
    0.45714285714285713,
    0.24012317860501268,
    0.03075712396758649,
    0.0005482688559722176,
];

/// Given the threshold, the estimate is a share of `n_called` samples of probability `Phi(u + error Z)`, Z normal.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// What is subtracted from u for the true rate.
    pub shift: f64,
    /// The standard error of the normal quantile of the rate at the threshold.
    pub error: f64,
    /// The number of samples of the class whose rate is measured.
    pub n_called: f64,
}

impl Rate {
    /// The variance of an estimate, and its limits.
    ///
    /// # Errors
    /// [`Error::Domain`] for a share beyond 0 and 1.
    pub fn limits(self, share: f64) -> Result<(f64, Box<dyn Limits + Send>)> {
        Error::check_rate("share", share)?;
        let at = quantile(share).clamp(-EDGE, EDGE);
        // Where the mean is the estimate.
        let start = (at * (1.0 + self.error * self.error).sqrt()).clamp(-EDGE, EDGE);
        Ok((self.at(at).variance, Box::new(Distance::new(self, share, start, [-EDGE, EDGE], 0))))
    }
}

impl Law for Rate {
    fn at(&self, u: f64) -> Held {
        let mut rates = [0.0; 7];
        heights(u, self.error, &NODES, &mut rates);
        let mean: f64 = rates.iter().zip(WEIGHTS).map(|(rate, weight)| rate * weight).sum();
        let (mut variance, mut third) = (0.0, 0.0);
        for (rate, weight) in rates.iter().zip(WEIGHTS) {
            let (each, apart) = (rate * (1.0 - rate) / self.n_called, rate - mean);
            let cube = each * (1.0 - 2.0 * rate) / self.n_called + 3.0 * each * apart + apart.powi(3);
            variance += weight * (each + apart * apart);
            third += weight * cube;
        }
        Held { mean, variance, third }
    }

    fn theta(&self, u: f64) -> f64 {
        cdf(u - self.shift)
    }
}
