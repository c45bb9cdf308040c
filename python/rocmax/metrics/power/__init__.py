"""Power and sample size of studies of one model or two."""
