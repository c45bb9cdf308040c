"""A second implementation of measures, variances and objectives: slow, exact, from the guide's definitions alone."""
