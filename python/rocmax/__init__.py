"""Exact, fast measures of ROC curves, and models trained to maximise them."""
