"""
I have scores
=============

A model has ranked held-out samples and you have its scores and the truth. How good is it, where it counts, and how
sure is that?
"""

from sklearn.datasets import load_breast_cancer

from rocmax.metrics import auc_inference

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
malignant = y == 0
print(auc_inference(malignant, X["mean radius"], fpr_range=(0, 0.1)))
