//! Values of the core that Python makes by static methods, such as `Measure.auc()`.

/// A frozen class that holds a value of the core, with a static method for each way to make one.
macro_rules! values {
    ($(#[$doc:meta])* $name:ident: $core:ty, $($method:ident($($given:ident: $type:ty),*) => $made:expr;)*) => {
        $(#[$doc])*
        #[pyo3::pyclass(frozen, module = "rocmax._core")]
        pub(crate) struct $name(pub(crate) $core);

        #[pyo3::pymethods]
        impl $name {
            $(
                #[staticmethod]
                fn $method($($given: $type),*) -> pyo3::PyResult<Self> {
                    Ok(Self($made))
                }
            )*
        }
    };
}
pub(crate) use values;
