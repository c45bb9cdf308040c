"""Variances and covariances: by components, by pairs of subjects, by binormal curves and by resampling."""
