"""Public names of the package, one a line; each is imported when it is first used."""

from rocmax.metrics._accumulator import ROCAccumulator as ROCAccumulator
from rocmax.metrics._band import (
    PermutationTest as PermutationTest,
    ROCBand as ROCBand,
    permutation_test as permutation_test,
    roc_band as roc_band,
)
from rocmax.metrics._check_measure import check_measure as check_measure
from rocmax.metrics._compare import compare as compare
from rocmax.metrics._infer import cross_validated_auc as cross_validated_auc, infer as infer
from rocmax.metrics._operating_point import OperatingPoint as OperatingPoint, operating_point as operating_point
from rocmax.metrics._power import (
    SampleSize as SampleSize,
    auc_power as auc_power,
    auc_sample_size as auc_sample_size,
    detectable_auc as detectable_auc,
)
from rocmax.metrics._scores import (
    fpr_at_tpr_score as fpr_at_tpr_score,
    margin_auc_score as margin_auc_score,
    partial_auc_score as partial_auc_score,
    precision_recall_curve as precision_recall_curve,
    roc_auc_score as roc_auc_score,
    roc_curve as roc_curve,
    scored_auc_score as scored_auc_score,
    sroc_curve as sroc_curve,
    tpr_at_fpr_score as tpr_at_fpr_score,
)
from rocmax.metrics.intervals._hypothesis import JointTest as JointTest
from rocmax.metrics.measures.at_threshold import AtThreshold as AtThreshold, NetBenefit as NetBenefit
from rocmax.metrics.measures.auc import AUC as AUC, MarginAUC as MarginAUC, ScoredAUC as ScoredAUC
from rocmax.metrics.measures.base import Measure as Measure
from rocmax.metrics.measures.cuts import (
    EnrichmentFactor as EnrichmentFactor,
    EqualErrorRate as EqualErrorRate,
    PrecisionAt as PrecisionAt,
    RecallAt as RecallAt,
)
from rocmax.metrics.measures.partial_auc import PartialAUC as PartialAUC, SmoothedAUC as SmoothedAUC
from rocmax.metrics.measures.ranked import (
    BEDROC as BEDROC,
    RIE as RIE,
    AveragePrecision as AveragePrecision,
    LogAUC as LogAUC,
)
from rocmax.metrics.measures.rates import FPRAtTPR as FPRAtTPR, TPRAtFPR as TPRAtFPR
from rocmax.metrics.methods.base import Method as Method
from rocmax.metrics.methods.bootstrap import Bootstrap as Bootstrap
from rocmax.metrics.methods.defaults import Profile as Profile
from rocmax.metrics.methods.delong import (
    DeLong as DeLong,
    LogitDeLong as LogitDeLong,
    Newcombe as Newcombe,
    Obuchowski as Obuchowski,
    Wu as Wu,
)
from rocmax.metrics.methods.planned import LabelPlan as LabelPlan, label_plan as label_plan
from rocmax.metrics.methods.score import Score as Score, Venkatraman as Venkatraman
from rocmax.metrics.reader_study._analysis import mrmc_analysis as mrmc_analysis
from rocmax.metrics.reader_study._froc import froc_curve as froc_curve, froc_readings as froc_readings
from rocmax.metrics.reader_study._power import mrmc_power as mrmc_power, mrmc_sample_size as mrmc_sample_size
from rocmax.metrics.reader_study._readings import Readings as Readings
from rocmax.metrics.reader_study._result import MRMCAnalysis as MRMCAnalysis
from rocmax.metrics.results._comparison import Comparison as Comparison, PairComparison as PairComparison
from rocmax.metrics.results._inference import (
    ConfidenceInterval as ConfidenceInterval,
    Inference as Inference,
    Results as Results,
)
from rocmax.metrics.samples._samples import Samples as Samples
from rocmax.metrics.subgroups._compare import SubgroupComparison as SubgroupComparison
from rocmax.metrics.subgroups._estimates import PooledEstimate as PooledEstimate
from rocmax.metrics.subgroups._inference import SubgroupInference as SubgroupInference
