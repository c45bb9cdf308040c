"""Small real data, shipped with the package."""

from rocmax.datasets._thyroid import load_thyroid, thyroid_csv

__all__ = ["load_thyroid", "thyroid_csv"]
