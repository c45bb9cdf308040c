"""Studies of several readers, several modalities and many cases (MRMC)."""

from rocmax.metrics.reader_study._analysis import mrmc_analysis
from rocmax.metrics.reader_study._froc import froc_curve, froc_readings
from rocmax.metrics.reader_study._power import mrmc_power, mrmc_sample_size
from rocmax.metrics.reader_study._readings import Readings
from rocmax.metrics.reader_study._result import MissingReadings, ModalityDifference, ModalityMean, MRMCAnalysis

__all__ = [
    "MRMCAnalysis",
    "MissingReadings",
    "ModalityDifference",
    "ModalityMean",
    "Readings",
    "froc_curve",
    "froc_readings",
    "mrmc_analysis",
    "mrmc_power",
    "mrmc_sample_size",
]
