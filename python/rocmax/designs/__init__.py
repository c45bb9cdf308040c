"""Designs: the only layer that knows how the features are stored."""

from rocmax.designs._base import Design, Pull, inner
from rocmax.designs._chunks import Chunks, is_dask
from rocmax.designs._kernel import DualDesign, Kernel, KernelDesign
from rocmax.designs._landmarks import LandmarkDesign, Landmarks
from rocmax.designs._linear import halves
from rocmax.designs._moments import moments, rough_mean, some_rows
from rocmax.designs._row_space import RowSpace, Space
from rocmax.designs._storages import as_design, compact, is_sparse, is_stored, linear_scores
from rocmax.designs._structure import StructuredDesign, plain_coefficients, structured_gram
from rocmax.designs._subset import SubsetDesign

__all__ = [
    "Chunks",
    "Design",
    "DualDesign",
    "Kernel",
    "KernelDesign",
    "LandmarkDesign",
    "Landmarks",
    "Pull",
    "RowSpace",
    "Space",
    "StructuredDesign",
    "SubsetDesign",
    "as_design",
    "compact",
    "halves",
    "inner",
    "is_dask",
    "is_sparse",
    "is_stored",
    "linear_scores",
    "moments",
    "plain_coefficients",
    "rough_mean",
    "some_rows",
    "structured_gram",
]
