"""Studies of several readers, several modalities and many cases (MRMC)."""

from rocmax.metrics.reader_study._analysis import ModalityDifference, ModalityMean, MRMCAnalysis, mrmc_analysis
from rocmax.metrics.reader_study._power import mrmc_power, mrmc_sample_size

__all__ = [
    "MRMCAnalysis",
    "ModalityDifference",
    "ModalityMean",
    "mrmc_analysis",
    "mrmc_power",
    "mrmc_sample_size",
]
