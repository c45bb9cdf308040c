//! Scores and labels that the benchmarks share.
