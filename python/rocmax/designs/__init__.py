"""Designs: the only layer that knows how the features are stored."""

from rocmax.designs._blocks import (
    Chunks as Chunks,
    is_dask as is_dask,
    rough_mean as rough_mean,
    some_rows as some_rows,
)
from rocmax.designs._kernel import (
    KERNELS as KERNELS,
    DualDesign as DualDesign,
    Kernel as Kernel,
    KernelDesign as KernelDesign,
)
from rocmax.designs._linear import (
    Design as Design,
    Packed as Packed,
    SubsetDesign as SubsetDesign,
    as_design as as_design,
    compact as compact,
    conjugate as conjugate,
    halves as halves,
    inner as inner,
    is_sparse as is_sparse,
    is_stored as is_stored,
    linear_scores as linear_scores,
)
from rocmax.designs._spaces import (
    LandmarkDesign as LandmarkDesign,
    Landmarks as Landmarks,
    RowSpace as RowSpace,
    Space as Space,
    plain_coefficients as plain_coefficients,
)
