"""Exact measures of ROC curves and their statistics.

Every function that takes labels and scores takes dask arrays too, with the same results to the last bit. Their
partitions are computed in one graph, each copied to its place as soon as it is there: for n samples n bytes of
whole-number labels (other labels as they are) and n times 8 bytes of scores (4 of float32), of weights and of groups
are held in this process, besides what the function takes for arrays; twice that for a moment where dask does not
know the sizes of the partitions. For samples that are too many for that, :class:`ROCAccumulator` counts each
partition where it lies.

Functions keep nothing between calls, so that any number of threads may call them, on the same arrays too, as long as
none writes to these; :class:`ROCAccumulator` may be shared as well.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rocmax.metrics._compare import compare
    from rocmax.metrics._cross_validated import cross_validated_auc
    from rocmax.metrics._infer import infer
    from rocmax.metrics.accumulator._accumulator import ROCAccumulator
    from rocmax.metrics.curves._band import ROCBand, roc_band
    from rocmax.metrics.curves._curve import precision_recall_curve, roc_curve
    from rocmax.metrics.measures import (
        AUC,
        BEDROC,
        RIE,
        AveragePrecision,
        EnrichmentFactor,
        EqualErrorRate,
        FPRAtTPR,
        LogAUC,
        MarginAUC,
        Measure,
        NetBenefit,
        PartialAUC,
        PrecisionAt,
        RecallAt,
        ScoredAUC,
        SmoothedAUC,
        TPRAtFPR,
    )
    from rocmax.metrics.methods import (
        Bootstrap,
        DeLong,
        Method,
        Venkatraman,
    )
    from rocmax.metrics.power._power import auc_power, auc_sample_size
    from rocmax.metrics.reader_study import (
        MRMCAnalysis,
        froc_curve,
        froc_readings,
        mrmc_analysis,
        mrmc_power,
        mrmc_sample_size,
    )
    from rocmax.metrics.results._comparison import Comparison
    from rocmax.metrics.results._inference import Inference
    from rocmax.metrics.scores._partial import fpr_at_tpr_score, partial_auc_score, tpr_at_fpr_score
    from rocmax.metrics.scores._roc_auc import roc_auc_score
    from rocmax.metrics.scores._scored import margin_auc_score, scored_auc_score, sroc_curve
    from rocmax.metrics.subgroups import (
        SubgroupComparison,
        SubgroupInference,
    )
    from rocmax.metrics.thresholds._operating_point import operating_point
    from rocmax.metrics.thresholds._result import OperatingPoint

# Looked up when first asked for: scikit-learn, which only some of them need, takes a second to import.
_MODULES = {
    "accumulator._accumulator": ("ROCAccumulator",),
    "curves._band": (
        "ROCBand",
        "roc_band",
    ),
    "_compare": ("compare",),
    "results._comparison": ("Comparison",),
    "_cross_validated": ("cross_validated_auc",),
    "curves._curve": (
        "precision_recall_curve",
        "roc_curve",
    ),
    "_infer": ("infer",),
    "results._inference": ("Inference",),
    "thresholds._operating_point": ("operating_point",),
    "thresholds._result": ("OperatingPoint",),
    "scores._partial": (
        "fpr_at_tpr_score",
        "partial_auc_score",
        "tpr_at_fpr_score",
    ),
    "power._power": (
        "auc_power",
        "auc_sample_size",
    ),
    "scores._roc_auc": ("roc_auc_score",),
    "scores._scored": (
        "margin_auc_score",
        "scored_auc_score",
        "sroc_curve",
    ),
    "measures": (
        "AUC",
        "AveragePrecision",
        "BEDROC",
        "EnrichmentFactor",
        "EqualErrorRate",
        "FPRAtTPR",
        "LogAUC",
        "MarginAUC",
        "Measure",
        "NetBenefit",
        "PartialAUC",
        "PrecisionAt",
        "RIE",
        "RecallAt",
        "ScoredAUC",
        "SmoothedAUC",
        "TPRAtFPR",
    ),
    "methods": (
        "Bootstrap",
        "DeLong",
        "Method",
        "Venkatraman",
    ),
    "subgroups": (
        "SubgroupComparison",
        "SubgroupInference",
    ),
    "reader_study": (
        "MRMCAnalysis",
        "froc_curve",
        "froc_readings",
        "mrmc_analysis",
        "mrmc_power",
        "mrmc_sample_size",
    ),
}

__all__ = [
    "AUC",
    "BEDROC",
    "RIE",
    "AveragePrecision",
    "Bootstrap",
    "Comparison",
    "DeLong",
    "EnrichmentFactor",
    "EqualErrorRate",
    "FPRAtTPR",
    "Inference",
    "LogAUC",
    "MRMCAnalysis",
    "MarginAUC",
    "Measure",
    "Method",
    "NetBenefit",
    "OperatingPoint",
    "PartialAUC",
    "PrecisionAt",
    "ROCAccumulator",
    "ROCBand",
    "RecallAt",
    "ScoredAUC",
    "SmoothedAUC",
    "SubgroupComparison",
    "SubgroupInference",
    "TPRAtFPR",
    "Venkatraman",
    "auc_power",
    "auc_sample_size",
    "compare",
    "cross_validated_auc",
    "fpr_at_tpr_score",
    "froc_curve",
    "froc_readings",
    "infer",
    "margin_auc_score",
    "mrmc_analysis",
    "mrmc_power",
    "mrmc_sample_size",
    "operating_point",
    "partial_auc_score",
    "precision_recall_curve",
    "roc_auc_score",
    "roc_band",
    "roc_curve",
    "scored_auc_score",
    "sroc_curve",
    "tpr_at_fpr_score",
]


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            value = getattr(import_module(f"rocmax.metrics.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'rocmax.metrics' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
