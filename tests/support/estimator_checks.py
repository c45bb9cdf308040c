"""What scikit-learn's checks of estimators expect and ours do otherwise."""

#: It expects that ``predict`` compares with 0, which fails for its own FixedThresholdClassifier too.
AT_ZERO = {"check_classifiers_train": "predict compares decision_function with threshold_, not with 0"}
