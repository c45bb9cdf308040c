"""Exact, fast measures of ROC curves, and models trained to maximise them."""

from rocmax._lazy import from_stub

__all__, __getattr__, __dir__ = from_stub(__name__, __file__)
