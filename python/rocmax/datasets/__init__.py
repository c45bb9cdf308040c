"""Small real data, shipped with the package."""

from rocmax.datasets._estrogen import load_estrogen

__all__ = ["load_estrogen"]
