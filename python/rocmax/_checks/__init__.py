"""Checks of input: labels, scores, weights, tables. What they refuse names the argument; dask arrays are computed."""
