"""Small real data, shipped with the package."""

from rocmax.datasets._thyroid import load_thyroid

__all__ = ["load_thyroid"]
