"""Descriptions that the docstrings of several estimators share, each written once."""

import inspect
import re
import textwrap

# What an entry of a docstring says if it has no description of its own.
SHARED = {
    # Data
    "X": "Training samples.",
    "y": "Labels of two classes; the second in sorted order is the positive class.",
    "sample_weight": (
        "Non-negative weights; a pair has the product of its two weights. Integer weights count as repetitions, and "
        "samples of weight 0 are ignored."
    ),
    "self": "The fitted model.",
    "ValueError": (
        "If a parameter is outside its domain, features or weights are not finite, or the labels are not of two "
        "classes. The message names the argument, its value and the fix."
    ),
    # Parameters
    "fpr_range": "The range [low, high] of false positive rates; (0, 1) is the whole ROC curve.",
    "kernel": (
        '"linear", "rbf", "poly", "sigmoid" or "precomputed" as in ``sklearn.svm.SVC``, or a function of two matrices '
        "that returns a matrix (or of two rows that returns a number)."
    ),
    "gamma": (
        'Coefficient of "rbf", "poly" and "sigmoid"; "scale" is 1 / (n_features * X.var()), "auto" 1 / n_features.'
    ),
    "degree": 'Degree of "poly".',
    "coef0": 'Constant term of "poly" and "sigmoid".',
    "structure": (
        "lambda >= 0: adds ``lambda/2 <f, Sigma f>`` to the objective. Sigma is the sum of the covariances of the two "
        "classes, each divided by the size of its class."
    ),
    "kernel_dtype": (
        'Precision of the stored kernel matrix; products accumulate in float64. With "float32" the certified gap is '
        "that of the problem with the rounded matrix."
    ),
    "C": (
        "Weight of the MEAN pair loss, so that one value suits any number of samples. A C per pair, as in RankSVM and "
        "the references, is C / (number of pairs)."
    ),
    "tol": "Stops once the relative gap ``(objective - lower bound) / objective`` is at most `tol`.",
    "max_iter": "Largest number of steps.",
    "warm_start": (
        "Start from the model of the previous call of ``fit`` if it has as many features (with a kernel: as many "
        "samples)."
    ),
    "threshold": (
        'The threshold of ``predict``, chosen on the training scores: "auto" is ("fpr", high) on a partial range '
        '(low, high) and "eer" on the full one. "eer" equates the two error rates, "youden" maximises TPR - FPR, '
        '"closest" is nearest to the corner without errors, "midpoint" lies between the lowest positive and the '
        'highest negative; ("fpr", rate) keeps the false positive rate at most `rate`, ("specificity", rate) and '
        '("sensitivity", rate) at least; ("alerts", k) predicts at most k training samples (or a share k < 1) '
        'positive; with ("cost", c) a false positive costs as much as c false negatives. See '
        ":func:`rocmax.metrics.operating_point`. The ranking does not depend on it."
    ),
    "n_jobs": "Number of threads; None and -1 use all. Results are the same to the last bit for any number.",
    "verbose": "1 prints a line per fit, 2 also a line per step.",
    "random_state": "Seed of all random draws; an integer makes fits repeatable.",
    # Fitted attributes
    "classes_": (
        "The labels, sorted; ``classes_[1]`` is the positive class. Labels other than {0, 1}, {-1, 1} and booleans "
        "raise PositiveClassWarning; fit on ``y == label`` to choose the positive class."
    ),
    "intercept_": "Minus the threshold of ``predict``.",
    "coef_": "The weights w of the features in the score w'x.",
    "objective_": "The value of the minimised objective.",
    "dual_gap_": "The certified relative gap ``(objective_ - lower bound) / objective_``.",
    "n_iter_": "Number of steps.",
    "n_features_in_": "Number of features.",
    "feature_names_in_": "Names of the features, if X has any.",
    "calibration_": "(slope, offset) of the probability ``1 / (1 + exp(-(slope s + offset)))`` of a raw score s.",
    # Warnings
    "ConvergenceWarning": "The fit stopped at `max_iter` with a gap above `tol`; the message reports the gap.",
    "PositiveClassWarning": "The labels do not say which class is positive.",
    "FeatureScaleWarning": "The standard deviations of two features differ by a factor of more than 1,000.",
}

_ENTRY = re.compile(r"^(\w+)(?: : .*)?$")
_SECTION = re.compile(r"(?m)^\w[\w ]*\n---+\n")
_WIDTH = 116


def described(docstring: str | None, base: str | None = None) -> str | None:
    """Return a docstring whose entries without a description have the shared one of their name.

    A docstring without the sections "Parameters" and "Attributes" has those of the base class.
    """
    if docstring is None:
        return None
    text = inspect.cleandoc(docstring)
    inherited = [part for name in ("Parameters", "Attributes") if (part := _section(base or "", name))]
    if inherited and not _section(text, "Parameters"):
        first = _SECTION.search(text)
        place = first.start() if first else len(text)
        text = "".join([text[:place].rstrip(), "\n\n", *inherited, text[place:]])
    lines = text.split("\n")
    found = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        found.append(line)
        entry = _ENTRY.match(line)
        if entry and entry[1] in SHARED and not following.startswith((" ", "---")):
            found += textwrap.wrap(
                SHARED[entry[1]], _WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
            )
    return "\n".join(found) + "\n"


def _section(text: str, name: str) -> str:
    """Return a section of a docstring with its heading, "" if there is none."""
    found = re.search(rf"(?ms)^{name}\n---+\n.*?(?=^\w[\w ]*\n---+\n|\Z)", text)
    return found[0].rstrip() + "\n\n" if found else ""
