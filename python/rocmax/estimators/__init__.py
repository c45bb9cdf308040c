"""The scikit-learn surface: validation, fitted attributes, documentation."""

from rocmax.estimators._partial import PartialAUCSVC

__all__ = ["PartialAUCSVC"]
