"""Confidence limits and the tests that are dual to them."""
