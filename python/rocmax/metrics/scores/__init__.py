"""Functions that return one number, scikit-learn's `roc_auc_score` among them."""
