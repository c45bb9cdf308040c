"""Measures in subgroups (slices of the samples that are compared; not clusters, which are `groups`)."""

from rocmax.metrics.subgroups._compare import SubgroupComparison
from rocmax.metrics.subgroups._estimates import PooledEstimate, SubgroupDifference, SubgroupTest
from rocmax.metrics.subgroups._result import SubgroupInference

__all__ = ["PooledEstimate", "SubgroupComparison", "SubgroupDifference", "SubgroupInference", "SubgroupTest"]
