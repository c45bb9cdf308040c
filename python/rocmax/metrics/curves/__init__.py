"""The ROC curve itself: its points, bands and smoothed forms."""
