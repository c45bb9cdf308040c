"""Designs: the only layer that knows how the features are stored."""

from rocmax.designs._base import Design as Design
from rocmax.designs._base import Pull as Pull
from rocmax.designs._base import conjugate as conjugate
from rocmax.designs._base import inner as inner
from rocmax.designs._chunks import Chunks as Chunks
from rocmax.designs._chunks import is_dask as is_dask
from rocmax.designs._kernel import DualDesign as DualDesign
from rocmax.designs._kernel import Kernel as Kernel
from rocmax.designs._kernel import KernelDesign as KernelDesign
from rocmax.designs._landmarks import LandmarkDesign as LandmarkDesign
from rocmax.designs._landmarks import Landmarks as Landmarks
from rocmax.designs._linear import halves as halves
from rocmax.designs._moments import moments as moments
from rocmax.designs._moments import rough_mean as rough_mean
from rocmax.designs._moments import some_rows as some_rows
from rocmax.designs._row_space import RowSpace as RowSpace
from rocmax.designs._row_space import Space as Space
from rocmax.designs._storages import as_design as as_design
from rocmax.designs._storages import compact as compact
from rocmax.designs._storages import is_sparse as is_sparse
from rocmax.designs._storages import is_stored as is_stored
from rocmax.designs._storages import linear_scores as linear_scores
from rocmax.designs._structure import StructuredDesign as StructuredDesign
from rocmax.designs._structure import plain_coefficients as plain_coefficients
from rocmax.designs._structure import structured_gram as structured_gram
from rocmax.designs._subset import SubsetDesign as SubsetDesign
