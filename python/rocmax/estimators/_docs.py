"""Docstrings of estimators: parameters, attributes and sections that several of them have are written once, here."""

import inspect
from collections.abc import Callable
from typing import Any

from rocmax._docs import defaults_of, joined, sections_of

SHARED = {
    # Data
    "X": ("{array-like, sparse matrix} of shape (n_samples, n_features)", "Training samples."),
    "y": (
        "array-like of shape (n_samples,)",
        "Labels of two classes; the second in sorted order is the positive class.",
    ),
    "sample_weight": (
        "array-like of shape (n_samples,)",
        "Non-negative weights; a pair has the product of its two weights. Integer weights are frequency weights; "
        "samples of weight 0 are ignored.",
    ),
    "self": ("object", "The fitted model."),
    "ValueError": (
        "",
        "If a parameter is outside its domain, features or weights are not finite, or the labels are not of two "
        "classes. The message names the argument, its value and the fix.",
    ),
    # Parameters
    "fpr_range": (
        "float or tuple of float",
        "The range [low, high] of false positive rates; (0, 1) is the whole ROC curve, and one number b stands for "
        "(0, b). A range of specificities [c, d] is (1 - d, 1 - c).",
    ),
    "C": (
        'float or "auto"',
        "Weight of the MEAN pair loss, so that one value suits any number of samples. A C per pair, as in RankSVM and "
        'ROC-SVM, is C / (number of pairs); SVM_pAUC has the mean too. "auto" is 100 for a linear kernel and 300 for '
        "others.",
    ),
    "kernel": (
        "str or callable",
        '"linear", "rbf", "poly", "sigmoid" or "precomputed" as in ``sklearn.svm.SVC``, or a function of two matrices '
        "that returns a matrix (or of two rows that returns a number).",
    ),
    "gamma": (
        '{"scale", "auto"} or float',
        'Coefficient of "rbf", "poly" and "sigmoid"; "scale" is 1 / (n_features * X.var()), "auto" 1 / n_features.',
    ),
    "degree": ("float", 'Degree of "poly".'),
    "coef0": ("float", 'Constant term of "poly" and "sigmoid".'),
    "structure": (
        "float",
        "lambda >= 0: adds ``lambda/2 <f, Sigma f>`` to the objective, with Sigma the sum of the covariances of the "
        "two classes in the space of the kernel, each divided by the size of its class (reference [2]_).",
    ),
    "kernel_dtype": (
        '{"float64", "float32"}',
        'Precision of the stored kernel matrix; products accumulate in float64. With "float32" the certified gap is '
        "that of the problem with the rounded matrix.",
    ),
    "tol": ("float", "Stops once the relative gap ``(objective - lower bound) / objective`` is at most `tol`."),
    "max_iter": ("int", "Largest number of steps."),
    "threshold": (
        "str or tuple",
        'The rule of ``threshold_``, on the training scores: "auto" is ("fpr", high) on a partial range '
        '(low, high) and "eer" on the full one. "eer" equates the two error rates, "youden" maximises TPR - FPR, '
        '"closest" is nearest to the corner without errors, "midpoint" lies between the lowest positive and the '
        'highest negative; ("fpr", rate) keeps the false positive rate at most `rate`, ("specificity", rate) and '
        '("sensitivity", rate) at least; ("alerts", k) predicts at most k training samples (or a share k < 1) '
        'positive; with ("cost", c) a false positive costs as much as c false negatives; ("precision", p) has the '
        'highest sensitivity at a precision of at least p, "f1" the largest F1 score. See '
        ":func:`rocmax.metrics.operating_point`. Scores do not depend on it.",
    ),
    "n_jobs": ("int", "Number of threads; None and -1 use all. Results are the same to the last bit for any number."),
    "verbose": ("int", "1 prints a line per fit, 2 also a line per step."),
    # Fitted attributes
    "intercept_": (
        "ndarray of shape (1,)",
        "Added to the raw scores: minus the midpoint between the class means of the training scores, so that models of "
        "other samples have the same zero. It does not depend on `threshold`.",
    ),
    "threshold_": ("float", "``predict`` gives ``classes_[1]`` where ``decision_function`` is at least this."),
    "classes_": (
        "ndarray of shape (2,)",
        "The labels, sorted; ``classes_[1]`` is the positive class. Labels other than {0, 1}, {-1, 1} and booleans "
        "raise PositiveClassWarning; fit on ``y == label`` to choose the positive class.",
    ),
    "C_": ("float", "The C that was used."),
    "tol_": ("float", "The tolerance that was used."),
    "coef_": ("ndarray of shape (1, n_features)", "The weights w of the features in the score w'x."),
    "objective_": ("float", "The value of the minimised objective."),
    "dual_gap_": ("float", "The certified relative gap ``(objective_ - lower bound) / objective_``."),
    "n_iter_": ("int", "Number of steps."),
    "surrogate_": ("str", "The surrogate that was used."),
    "history_": (
        "dict of ndarray",
        '"objective", "bound" and "partial_auc" (ranked, on the training samples) after each step, and its kind '
        '"step": "start", "newton", "plane", "augmented", "descent" or "pairs". If the surrogate is not convex, '
        '"bound" is 0 during the descent and then the bound of the current convex step.',
    ),
    "calibration_": (
        "tuple of float",
        "(slope, offset) of the probability ``1 / (1 + exp(-(slope s + offset)))`` of a score s.",
    ),
    "n_features_in_": ("int", "Number of features."),
    "feature_names_in_": ("ndarray of shape (n_features,)", "Names of the features, if X has any."),
    # Warnings
    "ConvergenceWarning": ("", "The fit stopped at `max_iter` with a gap above `tol`; the message reports the gap."),
    "PositiveClassWarning": ("", "The labels do not say which class is positive."),
    "FeatureScaleWarning": ("", "The standard deviations of two features differ by a factor of more than 1,000."),
}


def described(cls: Any) -> str:
    """Return the docstring of an estimator with its shared entries, and its base's where it has none of its own."""
    inherited = sections_of(cls.__base__.__doc__)
    sections: dict[str, str] = {name: inherited[name] for name in ("Parameters", "Attributes") if name in inherited}
    sections |= sections_of(cls.__doc__)
    if "Parameters" not in sections:  # of what estimators derive from
        return joined(sections, {}, SHARED)
    defaults = {name: vars(cls)[name] for name in inspect.get_annotations(cls) if name in vars(cls) and name[0] != "_"}
    every = (*cls._also_fitted, "intercept_", "threshold_", "classes_", "n_features_in_", "feature_names_in_")
    warns = ("PositiveClassWarning", *(["FeatureScaleWarning"] if cls._by_scale else []))
    return joined(sections, defaults, SHARED, Attributes=every, Warns=warns)


def described_fit(fit: Callable[..., Any]) -> str:
    """Return the docstring of a ``fit`` with its shared entries."""
    return joined(sections_of(fit.__doc__), defaults_of(fit), SHARED, Returns=("self",), Raises=("ValueError",))
