"""Checks of single parameters of estimators, before any work."""

import math
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from difflib import get_close_matches
from functools import partial, wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from typing import Any, NoReturn, TypeVar, cast

import numpy as np

from rocmax._progress import told

T = TypeVar("T")

#: Names that mean the same elsewhere: a message suggests the first of a line where it is known.
_ALIKE = [
    group.split()
    for line in (
        "auc roc_auc auroc aucroc auc_roc roc roc_auc_score c_index c_statistic concordance mann_whitney",
        "partial_auc pauc partial_roc_auc partial_auc_score/equal_error_rate eer/score wilson/ramp nonconvex",
        "average_precision ap pr_auc prauc auprc aucpr auc_pr prc average_precision_score/log_auc logauc slogauc",
        "ppv precision positive_predictive_value/recall_at recall recall_at_k hits_at",
        "gini gini_coefficient accuracy_ratio somers_d/at sensitivity threshold cutoff",
        "tpr_at_fpr tpr true_positive_rate tar_at_far sens_at_spec sensitivity_at_specificity",
        "fpr max_fpr target_fpr far fall_out false_alarm_rate false_positive_rate",
        "sensitivity sens recall tpr hit_rate true_positive_rate tar/fpr_at_tpr fpr false_positive_rate fpr95",
        "npv negative_predictive_value/mcc matthews_corrcoef phi/specificity spec tnr selectivity true_negative_rate",
        "precision ppv positive_predictive_value/precision_at precision ppv precision_at_k p_at_k alerts/accuracy acc",
        "alerts k top top_k budget n_alerts/closest topleft top_left closest_topleft/f1 f_score f1_score fscore max_f1",
        "youden j j_index youden_j informedness best ks/ks kolmogorov_smirnov/kappa kap cohen_kappa cohen_kappa_score",
        "net_benefit dca decision_curve/enrichment_factor ef enrichment lift/fpr_range fpr partial_auc/tpr_range tpr",
        "bootstrap boot bootstrapping percentile bca/delong asymptotic wald hanley hanley_mcneil/neighbors knn",
        "ratio kappa/y_true y label labels response truth/fit train/score predict/evaluate roc auc plot",
        "y_score score scores y_pred y_prob y_proba probas_pred predictions predictor estimate probability pred",
        "confidence_interval ci conf_int/standard_error se std_err stderr",
        "confidence_level conf_level level ci conf alpha/sample_weight weights weight freq",
        "groups clusters cluster id subject patient/by strata/higher_is_better direction greater_is_better reverse",
        "logit_delong logit/missing na_rm nan_policy dropna na_action/n_jobs n_threads threads/pvalue p_value p",
        "balanced_accuracy bacc/margin equivalence_margin non_inferiority_margin non_inferiority null_difference delta",
        "auc_b auc2/measure metric scoring eval_metric/method test/adjust correction p_adjust/fold cv folds",
        "correlation corr r/significance_level alpha sig_level/n_resamples n n_boot boot_n n_bootstraps n_permutations",
        "threshold cutoff x best_method pt/prevalence best_weights/pos_label positive pos event_level levels",
        "interval type ci_type/k n top top_k budget/per groups day date by/poly polynomial/rbf gaussian/hinge svm",
        "surrogate loss loss_function objective/learning_rate eta/n_estimators nrounds n_trees num_boost_round",
        "random_state seed/tol eps epsilon/Cs c/C c alpha lambda_ lam lambd regparam cost",
        "alpha c lambda_ lam lambd regparam/alphas cs c alpha lambdas regparams/n_landmarks n_components/n_neighbors k",
        "structure lambda_/n_pos n_cases ncases n_diseased n/n_neg n_controls ncontrols n_healthy",
        "library_params max_depth num_leaves min_child_samples subsample scale_pos_weight is_unbalance/cv n_splits",
        "modality treatment/estimate auc value area/difference diff/xscale log logx/axes style/budget alerts k",
    )
    for group in line.split("/")
]

_OF_PART = "measure=PartialAUC((0, b)), or PartialAUC(specificity=(b, 1))"
#: What takes the place of a keyword (the first words) that a function with this parameter has not, the first that fits.
_INSTEAD = (
    ("max_fpr", "fpr_range", "fpr_range=(0, max_fpr)"),
    ("min_tpr sensitivity sens", "tpr_range", "tpr_range=(min_tpr, 1)"),
    ("specificity spec tnr", "fpr_range", "fpr_range=(1 - high, 1 - low)"),
    ("specificity spec tnr", "fpr", "fpr=1 - specificity"),
    ("sensitivity sens recall", "tpr", "tpr=sensitivity"),
    ("fpr", "fpr_range", ""),
    ("fpr precision", "threshold", "threshold=({!r}, rate)"),
    ("tpr recall sens sensitivity", "threshold", "threshold=('sensitivity', rate)"),
    ("tnr spec specificity", "threshold", "threshold=('specificity', rate)"),
    ("alerts k", "threshold", "threshold=('alerts', k)"),
    ("cost", "threshold", "threshold=('cost', ratio): a false positive costs as much as `ratio` false negatives"),
    ("max_fpr fpr_range partial_auc specificity sensitivity spec sens", "measure", _OF_PART),
    ("alerts k top per", "measure", "measure=PrecisionAt(k, per=...)"),
    ("threshold cutoff", "measure", "measure=AtThreshold(name, threshold)"),
    ("multi_class", "measure", "measure=AUC(multi_class=...)"),
    ("smooth", "measure", "measure=SmoothedAUC('binormal')"),
    ("partial_auc_correct", "measure", "measure=PartialAUC((0, b), normalize='mcclish')"),
    ("correct standardized standardize", "normalize", "normalize='mcclish'"),
    ("legacy_axes", "axes", "axes='rates', or 'sensitivity-specificity'"),
    ("print_thres", "thresholds", "thresholds=['youden']"),
    ("n_boot boot_n n_bootstraps n_resamples bootstrap", "method", "method=Bootstrap(n)"),
    ("paired", "y_score", "labels as a mapping {{model: y}} if the models scored different samples"),
    ("prevalence", "ratio", "ratio=(1 - prevalence) / prevalence"),
)


def shown(value: Any) -> str:
    """Return a value as messages show it: on one line, cut after 100 characters."""
    try:
        with np.printoptions(legacy="1.25"):  # 7 and 'ill', not np.int64(7) and np.str_('ill')
            text = " ".join(repr(value).split())
    except Exception:  # such as an integer with more digits than Python prints
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 100 else f"{text[:97]}..."


def meant(name: Any, known: Iterable[Any], written: Callable[[str], str] = repr) -> str:
    """Return the advice about a name that is not known: the known one that others call so, or the nearest."""
    names = {one.replace("-", "_"): one for one in known if isinstance(one, str)}
    if not isinstance(name, str) or name in names.values():
        return ""
    asked = "_".join(name.lower().replace("-", " ").split())
    near = [names[one] for group in _ALIKE for one in [asked, group[0]] if asked in group and one in names]
    near = near or [names[one] for one in get_close_matches(asked, names, n=1) if one[:1].lower() == asked[:1]]
    return f"; did you mean {written(near[0])}?" if near else ""


def in_place_of(name: str, known: Iterable[str], function: str) -> str:
    """Return the advice about a keyword that a function does not have: what takes its place, or what it has."""
    known = [*known]
    for names, parameter, instead in _INSTEAD:
        if name in names.split() and parameter in known:
            return f"; pass {instead.format(name)}" if instead else meant(name, known)
    return meant(name, known) or f"; {function} takes {', '.join(known)}"


def refuse_unknown(name: str, function: Callable[..., Any], known: Iterable[str]) -> NoReturn:
    """Raise the error about a keyword that a function does not have."""
    called = function.__qualname__.removesuffix(".__init__")
    advice = in_place_of(name, [one for one in known if one not in ("self", "reading", "options")], "it")
    raise TypeError(f"{called}() got an unexpected keyword argument {name!r}{advice}")


def helpful(function: Any) -> Any:
    """Return a public function, or class, that tells what takes the place of an unknown keyword, and that it runs."""
    if isinstance(function, type):
        own = vars(function).get("__init__")
        if own is not None and hasattr(own, "__code__"):
            function.__init__ = helpful(own)  # type: ignore[misc]
        if hasattr(function, "fit"):
            function.fit = told(function.fit, f"{function.__name__}.fit")
        return function
    if not hasattr(function, "__code__") or hasattr(function, "__wrapped__"):
        return function
    parameters, name = signature(function).parameters, function.__name__
    slow = function if name == "__init__" else told(function, name)
    by_place = [one.name for one in parameters.values() if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
    needed = [one.name for one in parameters.values() if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    checks = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())  # names itself what it does not know

    @wraps(function)
    def checked(*args: Any, **named: Any) -> Any:
        if len(args) > len(by_place):
            called, own = function.__qualname__.removesuffix(".__init__"), [one for one in by_place if one != "self"]
            known = ", ".join(own) or "nothing"
            pair = " (a range is one pair: (0.02, 0.05))" if "fpr_range" in own else ""
            raise TypeError(f"{called}() takes by position {known}; name all other arguments{pair}")
        for name in named:
            if name not in parameters:
                lacking = [one for one in needed if one not in by_place[: len(args)] and one not in named]
                if not checks or (lacking and meant(name, lacking)):
                    refuse_unknown(name, function, lacking if checks else parameters)
        return slow(*args, **named)

    setattr(sys.modules[function.__module__], name, checked)  # so that it can be pickled
    return checked


def make_helpful(package: dict[str, Any]) -> None:
    """Replace the public names of a package, given its globals, by helpful ones."""
    package.update({name: helpful(package[name]) for name in package["__all__"]})


def as_float(value: Any) -> float:
    """Return a number as float64: an infinity if it is too large, NaN if it is no number, as True and False are not."""
    if type(value) is float:  # asking an abstract class takes ten times as long
        return value
    try:
        # numpy takes a duration for a number.
        return float(value) if isinstance(value, Real) and not isinstance(value, bool | np.timedelta64) else math.nan
    except OverflowError:  # from an int or a Fraction
        return math.inf if cast(Any, value) > 0 else -math.inf


def check_flag(name: str, value: Any) -> bool:
    """Return True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def check_finite(
    name: str, value: Any, domain: str = "", holds: Callable[[float], bool] = lambda number: True
) -> float:
    """Return a finite number of a domain."""
    number = as_float(value)
    if not (math.isfinite(number) and holds(number)):
        raise ValueError(f"{name} must be a finite number{domain}, got {shown(value)}")
    return number


check_positive = partial(check_finite, domain=" above 0", holds=lambda number: number > 0)
check_nonnegative = partial(check_finite, domain=" of at least 0", holds=lambda number: number >= 0)


def check_count(name: str, value: Any, most: int | None = None) -> int:
    """Return a whole number of at least 1, and at most `most`."""
    number = int(value) if isinstance(value, Integral) and not isinstance(value, (bool, np.timedelta64)) else 0
    if number < 1 or (most is not None and number > most):
        domain = "of at least 1" if most is None else f"from 1 to {most}"
        raise ValueError(f"{name} must be a whole number {domain}, got {shown(value)}")
    return number


def check_grid(name: str, values: Any) -> list[float]:
    """Return one or more finite numbers above 0."""
    grid = []
    with suppress(TypeError):
        grid = [check_positive(f"every one of {name}", value) for value in values]
    if not grid:
        raise ValueError(f"{name} must be a sequence of one or more numbers above 0, got {shown(values)}")
    return grid


def check_verbose(value: Any) -> int:
    """Return a whole number of at least 0."""
    if not isinstance(value, (Integral, np.bool_)) or isinstance(value, np.timedelta64) or value < 0:
        raise ValueError(f"verbose must be a whole number of at least 0, got {shown(value)}")
    return int(value)


def check_callback(value: Any, given: str) -> None:
    """Check that a callback can be called."""
    if value is not None and not callable(value):
        raise TypeError(f"callback must be a function, called with the {given}, got {shown(value)}")


def is_one_of(value: Any, options: tuple[Any, ...]) -> bool:
    """Whether `value` is one of strings and None. An array would be compared element by element."""
    return value in options if isinstance(value, str) else any(value is option for option in options)


def check_choice(name: str, value: Any, choices: tuple[T, ...]) -> T:
    """Return one of the choices, strings or None."""
    if not is_one_of(value, choices):
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {listed}, got {shown(value)}{meant(value, choices)}")
    return cast(T, value)
