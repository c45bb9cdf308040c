"""The scikit-learn surface: validation, fitted attributes, documentation."""
