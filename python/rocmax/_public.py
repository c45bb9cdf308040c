"""Public names of the package, one a line; each is imported when it is first used."""

from rocmax import (
    boosting as boosting,
    datasets as datasets,
    display as display,
    ensemble as ensemble,
    metrics as metrics,
    papers as papers,
)
from rocmax._core import __version__ as __version__
from rocmax.boosting import PartialAUCBoostingClassifier as PartialAUCBoostingClassifier
from rocmax.ensemble import PartialAUCEnsembleClassifier as PartialAUCEnsembleClassifier
from rocmax.estimators._certificate import Certificate as Certificate
from rocmax.estimators._machine import (
    PartialAUCPath as PartialAUCPath,
    PartialAUCSVC as PartialAUCSVC,
    partial_auc_path as partial_auc_path,
)
from rocmax.estimators._pairwise import AUCSVC as AUCSVC
from rocmax.estimators._partial_cv import PartialAUCSVCCV as PartialAUCSVCCV
from rocmax.estimators._rls import AUCRLS as AUCRLS, RLS as RLS
from rocmax.estimators._rls_cv import AUCRLSCV as AUCRLSCV, RLSCV as RLSCV
from rocmax.estimators._surrogates import SurrogateRisk as SurrogateRisk, surrogate_risk as surrogate_risk
