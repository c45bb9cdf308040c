"""Public names of the package, one a line; each is imported when it is first used."""

from rocmax import boosting as boosting
from rocmax import datasets as datasets
from rocmax import display as display
from rocmax import ensemble as ensemble
from rocmax import metrics as metrics
from rocmax import papers as papers
from rocmax._core import __version__ as __version__
from rocmax.boosting import PartialAUCBoostingClassifier as PartialAUCBoostingClassifier
from rocmax.ensemble import PartialAUCEnsembleClassifier as PartialAUCEnsembleClassifier
from rocmax.estimators import AUCRLS as AUCRLS
from rocmax.estimators import AUCRLSCV as AUCRLSCV
from rocmax.estimators import AUCSVC as AUCSVC
from rocmax.estimators import RLS as RLS
from rocmax.estimators import RLSCV as RLSCV
from rocmax.estimators import Certificate as Certificate
from rocmax.estimators import PartialAUCPath as PartialAUCPath
from rocmax.estimators import PartialAUCSVC as PartialAUCSVC
from rocmax.estimators import PartialAUCSVCCV as PartialAUCSVCCV
from rocmax.estimators import SurrogateRisk as SurrogateRisk
from rocmax.estimators import partial_auc_path as partial_auc_path
from rocmax.estimators import surrogate_risk as surrogate_risk
