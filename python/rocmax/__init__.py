"""Exact, fast measures of ROC curves, and models trained to maximise them."""

from typing import TYPE_CHECKING

from rocmax._lazy import public_names

if TYPE_CHECKING:
    from rocmax._public import *

__all__, __getattr__, __dir__ = public_names(__name__)
