//! The interval of a share.

/// The ends of all rates p with `(k/n - p)^2 <= z^2 p (1 - p) / n` (Wilson, 1927).
pub(super) fn wilson(k: f64, n: f64, z: f64) -> [f64; 2] {
    let (middle, reach) = (k + z * z / 2.0, z * (k * (n - k) / n + z * z / 4.0).sqrt());
    let end = |side: f64| (middle + side * reach) / (n + z * z);
    [if k == 0.0 { 0.0 } else { end(-1.0) }, if k == n { 1.0 } else { end(1.0) }]
}
