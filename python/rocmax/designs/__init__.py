"""Designs: the only layer that knows how the features are stored."""

from rocmax.designs._base import Design, as_design, is_dask

__all__ = ["Design", "as_design", "is_dask"]
