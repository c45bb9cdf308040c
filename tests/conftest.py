"""Settings that must stand before scipy is imported."""

import os

# scikit-learn skips its array API check without it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
