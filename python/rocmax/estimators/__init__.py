"""The scikit-learn surface: validation, fitted attributes, documentation."""

from rocmax.estimators._partial import PartialAUCSVC
from rocmax.estimators._partial_cv import PartialAUCSVCCV
from rocmax.estimators._path import PartialAUCPath, partial_auc_path

__all__ = ["PartialAUCPath", "PartialAUCSVC", "PartialAUCSVCCV", "partial_auc_path"]
