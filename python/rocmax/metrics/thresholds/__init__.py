"""Thresholds: rules that choose one, what it is worth, and how sure both are."""
