"""The report: one HTML page of all that is measured of scores, which needs nothing but a browser."""
