"""Result objects and their words: summaries, tables, plain numbers and references."""

from rocmax.metrics import _words as _words
