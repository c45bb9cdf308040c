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
from rocmax.estimators import (
    AUCRLS as AUCRLS,
    AUCRLSCV as AUCRLSCV,
    AUCSVC as AUCSVC,
    RLS as RLS,
    RLSCV as RLSCV,
    Certificate as Certificate,
    PartialAUCPath as PartialAUCPath,
    PartialAUCSVC as PartialAUCSVC,
    PartialAUCSVCCV as PartialAUCSVCCV,
    SurrogateRisk as SurrogateRisk,
    partial_auc_path as partial_auc_path,
    surrogate_risk as surrogate_risk,
)
