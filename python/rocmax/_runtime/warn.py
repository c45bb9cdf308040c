"""Warnings that name the user's line."""

import sys
import warnings
from pathlib import Path

_HERE = str(Path(__file__).parents[1])


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn with the line outside rocmax whose call led here, through any number of decorators and helpers."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
