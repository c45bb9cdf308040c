"""The scikit-learn surface: validation, fitted attributes, documentation."""

from rocmax.estimators._certificate import Certificate
from rocmax.estimators._pairwise import AUCSVC
from rocmax.estimators._partial import PartialAUCPath, PartialAUCSVC, partial_auc_path
from rocmax.estimators._partial_cv import PartialAUCSVCCV
from rocmax.estimators._rls import AUCRLS, RLS
from rocmax.estimators._rls_cv import AUCRLSCV, RLSCV
from rocmax.estimators._surrogates import SurrogateRisk, surrogate_risk

__all__ = [
    "AUCRLS",
    "AUCRLSCV",
    "AUCSVC",
    "RLS",
    "RLSCV",
    "Certificate",
    "PartialAUCPath",
    "PartialAUCSVC",
    "PartialAUCSVCCV",
    "SurrogateRisk",
    "partial_auc_path",
    "surrogate_risk",
]
