//! Arrays and problems, read where NumPy keeps them.

pub(crate) mod array;
pub(crate) mod problem;
