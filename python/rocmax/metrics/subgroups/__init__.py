"""Measures in subgroups (slices of the samples that are compared; not clusters, which are `groups`)."""
