"""Settings that must stand before numpy and scipy are imported."""

import os

# The features of the tests are small: more threads in the BLAS only spin.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# scikit-learn skips its array API check without it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
