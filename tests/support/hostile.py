"""The calls that the attack on the public interface makes; their values are in hostile_values."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import cache, partial
from io import BytesIO
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

import rocmax
from hostile_values import FEATURES, N, P, S, X, Y
from rocmax import boosting, datasets, display, metrics, papers
from rocmax.metrics.measures import MEASURES


class Call(NamedTuple):
    """A public callable, and what each of its arguments is while another is attacked."""

    function: Callable[..., Any]
    arguments: list[str]
    given: dict[str, Any]  # those that are not left at their defaults
    finite: bool = True  # whether NaN is no answer


def _call(function: Callable[..., Any], **given: Any) -> Call:
    parameters = inspect.signature(function).parameters
    names = [name for name, p in parameters.items() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    if "reading" in parameters:  # the names of its options
        hints = get_type_hints(getattr(function, "func", getattr(function, "__func__", function)))
        names += [name for name in get_args(hints["reading"])[0].__annotations__ if name not in names]
    if function == display.ROCDisplay.from_reader_study:
        names += [*inspect.signature(metrics.Readings).parameters][2:]
    if getattr(function, "__name__", "") == "from_predictions":  # which takes those of `from_samples` too
        own = inspect.signature(function.__self__.from_samples).parameters.values()
        names += [*inspect.signature(metrics.Samples).parameters][2:]
        names += [p.name for p in own if p.kind is p.KEYWORD_ONLY]
    return Call(function, names, given)


def _readings() -> dict[str, Any]:
    """Two readers of two modalities of six cases."""
    case = np.arange(N) // 2 % 6
    return {"y_true": case % 2, "y_score": S, "reader": np.arange(N) % 2, "modality": np.arange(N) // 12, "case": case}


def _wide():
    """The same study as a wide table, with an algorithm."""
    table = {("CT", "Ann"): S[:6], ("CT", "Bea"): S[6:12], ("CT", "net"): S[12:18]}
    return {"y_true": np.arange(6) % 2, "y_score": table, "case": np.arange(6), "algorithm": "net"}


def _clusters():
    return {**_readings(), "groups": _readings()["case"] // 2, "sample_weight": 1.0 + _readings()["case"]}


def _marks():
    """Two readers' marks on four cases with a lesion and two without."""
    case = np.arange(N) % 6
    names = {"reader": np.arange(N) % 2, "modality": np.arange(N) // 12, "case": case, "lesion": (case < 4) * 1}
    return {"rating": S, **names, "n_lesions": {k: int(k < 4) for k in range(6)}, "figure_of_merit": "wAFROC"}


def _metric_calls() -> dict[str, Call]:
    ys = {"y_true": Y, "y_score": S}
    models = {"y_true": Y, "y_score": X}
    apart = {"y_true": {"a": Y, "b": Y}, "y_score": {"a": S, "b": X[:, 0]}}
    weight = {"sample_weight": np.arange(N) % 4 + 0.5}
    few = {"method": metrics.Bootstrap(20), "random_state": 0}
    part, rate = metrics.PartialAUC((0.1, 0.6)), metrics.TPRAtFPR(0.3)
    measures = {
        "partial": {"measure": part},
        "partial tpr": {"measure": metrics.PartialAUC(tpr_range=(0.1, 0.6), normalize="mcclish")},
        "two-way": {"measure": metrics.PartialAUC((0.1, 0.6), tpr_range=(0.2, 0.9))},
        "scored": {"measure": "scored_auc"},
        "margin": {"measure": metrics.MarginAUC(0.3)},
        "tpr_at_fpr": {"measure": rate},
        "fpr_at_tpr": {"measure": metrics.FPRAtTPR(0.7)},
    }
    options = {
        "": {},
        **measures,
        "weighted": weight,
        "sampling": weight | {"weight_kind": "sampling"},
        "grouped": {"groups": np.arange(N) // 2},
        "bootstrap": few,
        "bootstrap partial": few | measures["partial"],
        "obuchowski": {"method": "obuchowski"},
    }
    one = {**options, "bca": {"method": metrics.Bootstrap(20, interval="bca"), "random_state": 0}} | {
        method: {"method": method} for method in ("score", "newcombe", "logit-delong")
    }
    one["score partial"] = {"method": "score"} | measures["partial"]
    one["score rate"] = {"method": "score"} | measures["tpr_at_fpr"]
    one["wu"] = {"method": "wu"} | measures["scored"]
    one["null"] = {"null_value": 0.6, "alternative": "greater"}
    one["bedroc"] = few | {"measure": "bedroc"}
    points = {
        "": {},
        "closest": {"threshold": "closest", "prevalence": 0.1},
        "several": {"threshold": [0.1, "eer", ("sensitivity", 0.6)], **weight},
        "bootstrap": {
            "threshold": ("cost", 2.0),
            "method": metrics.Bootstrap(20),
            "random_state": 0,
            **weight,
            "weight_kind": "sampling",
        },
    }
    calls = {
        "roc_auc_score": _call(metrics.roc_auc_score, **ys),
        "roc_auc_score max_fpr": _call(metrics.roc_auc_score, **ys, **weight, max_fpr=0.4),
        "roc_auc_score ovr": _call(
            metrics.roc_auc_score, y_true=np.arange(N) % 3, y_score=np.eye(3)[np.arange(N) * 7 % 3], multi_class="ovr"
        ),
        "roc_curve": _call(metrics.roc_curve, **ys),
        "precision_recall_curve": _call(metrics.precision_recall_curve, **ys),
        "partial_auc_score": _call(metrics.partial_auc_score, **ys),
        "partial_auc_score range": _call(metrics.partial_auc_score, **ys, **weight, fpr_range=(0.1, 0.6)),
        "partial_auc_score tpr": _call(metrics.partial_auc_score, **ys, tpr_range=(0.1, 0.6), normalize="mcclish"),
        "partial_auc_score two-way": _call(
            metrics.partial_auc_score, **ys, fpr_range=(0.1, 0.6), tpr_range=(0.2, 0.9), normalize=None
        ),
        "partial_auc_score ranked": _call(metrics.partial_auc_score, **ys, fpr_range=(0.1, 0.6), method="ranked"),
        "margin_auc_score": _call(metrics.margin_auc_score, **ys, margin=0.3),
        "sroc_curve": _call(metrics.sroc_curve, **ys),
        "sroc_curve grid": _call(metrics.sroc_curve, **ys, n_points=5),
        "scored_auc_score": _call(metrics.scored_auc_score, **ys),
        "tpr_at_fpr_score": _call(metrics.tpr_at_fpr_score, **ys, fpr=0.3),
        "fpr_at_tpr_score": _call(metrics.fpr_at_tpr_score, **ys, tpr=0.7),
        "cross_validated_auc": _call(metrics.cross_validated_auc, **ys, fold=np.arange(N) // 6),
        "cross_validated_auc ovr": _call(
            metrics.cross_validated_auc,
            y_true=np.arange(N) % 3,
            y_score=X,
            measure=metrics.AUC(multi_class="ovr"),
            fold=np.arange(N) // 6,
        ),
        **{
            f"operating_point {name}".strip(): _call(metrics.operating_point, **ys, **option)._replace(finite=False)
            for name, option in points.items()  # where nothing is called positive there is no predictive value
        },
        "permutation_test": _call(metrics.permutation_test, **ys, n_resamples=20),
        "surrogate_risk": _call(rocmax.surrogate_risk, **ys, fpr_range=(0.1, 0.6)),
        "roc_band": _call(metrics.roc_band, **ys, n_resamples=20),
        "operating_point guarantee": _call(
            metrics.operating_point, **ys, threshold=("sensitivity", 0.6), guarantee=0.5
        )._replace(finite=False),
        "auc_power": _call(metrics.auc_power, auc=0.7, n_pos=30, n_neg=40),
        "detectable_auc": _call(metrics.detectable_auc, n_pos=30, n_neg=30),
        "auc_sample_size": _call(metrics.auc_sample_size, auc=0.7),
        "auc_sample_size two": _call(metrics.auc_sample_size, auc=0.7, auc_b=0.6, correlation=0.5),
        "compare independent": _call(metrics.compare, **apart),
        "Comparison.contrast": _call(metrics.compare(**models).contrast, rows=[[1.0, -1.0, 0.0]]),
        "Bootstrap": Call(
            lambda **how: metrics.infer(Y, S, method=metrics.Bootstrap(**how), random_state=0),
            ["n_resamples", "stratified", "interval"],
            {"n_resamples": 20},
        ),
        "Venkatraman": Call(
            lambda **how: metrics.compare(Y, X[:, :2], method=metrics.Venkatraman(**how)),
            ["n_resamples"],
            {"n_resamples": 20},
        ),
        "AtThreshold": Call(
            partial(_measured, metrics.AtThreshold), ["name", "threshold", *ys], {"name": "f1", "threshold": 0.3, **ys}
        ),
        "label_plan": _call(metrics.label_plan, y_score=S, budget=len(S) - 2, random_state=0),
        "check_measure": _call(metrics.check_measure, measure=metrics.AUC()),
        "Measure": Call(
            lambda function: metrics.Measure.of(function)(Y, S), ["function"], {"function": lambda y, s: s[y].mean()}
        ),
    }
    needed = {"margin": 0.3, "fpr": 0.3, "tpr": 0.7, "k": 0.3, "threshold": 0.3}
    for kind in MEASURES:
        own = [field.name for field in fields(kind)]
        given = {name: value for name, value in needed.items() if name in own}
        data = {**ys, **weight} | ({"y_score": P} if kind is metrics.NetBenefit else {})
        calls[kind.__name__] = Call(partial(_measured, kind), [*own, *data], {**given, **data})
        calls[f"{kind.__name__}.scorer"] = Call(partial(_scored, kind(**given)), ["pos_label"], {"pos_label": 1})
    for name, option in {"": {}, "bootstrap": {"covariance": "bootstrap", "n_resamples": 10}, **measures}.items():
        calls[f"mrmc_analysis {name}".strip()] = _call(metrics.mrmc_analysis, **_readings(), **option)
    calls["mrmc_analysis wide"] = _call(metrics.mrmc_analysis, **_wide())._replace(finite=False)
    calls["mrmc_analysis clusters"] = _call(metrics.mrmc_analysis, **_clusters(), covariance="jackknife")
    of_curve = {name: _marks()[name] for name in ("rating", "case", "lesion", "n_lesions")}
    calls["froc_curve"] = _call(metrics.froc_curve, **of_curve)
    calls["froc_readings"] = _call(metrics.froc_readings, **_marks())
    calls["Readings"] = _call(metrics.Readings, **_readings())
    calls["Samples"] = _call(metrics.Samples, **ys)
    calls["Samples of models"] = _call(metrics.Samples, **models, **weight)
    calls["Samples of classes"] = _call(
        metrics.Samples, y_true=np.arange(N) % 3, y_score=np.eye(3)[np.arange(N) * 7 % 3]
    )
    pilot = metrics.mrmc_analysis(**_readings())
    calls["mrmc_power"] = _call(metrics.mrmc_power, pilot=pilot, difference=0.1)
    calls["mrmc_sample_size"] = _call(metrics.mrmc_sample_size, pilot=pilot, difference=0.5)
    for name, option in one.items():
        calls[f"infer {name}".strip()] = _call(metrics.infer, **ys, **option)
    for name, option in options.items():
        calls[f"compare {name}".strip()] = _call(metrics.compare, **models, **option)
    return calls


def _scored(measure: metrics.Measure, pos_label: Any) -> Any:
    """Return what the scorer of a measure gives a model."""
    return measure.scorer(pos_label=pos_label)(LogisticRegression().fit(X, Y), X, Y)


def _measured(
    kind: type[metrics.Measure], y_true: Any = Y, y_score: Any = S, sample_weight: Any = None, **options: Any
) -> Any:
    """Make a measure and call it."""
    return kind(**options)(y_true, y_score, sample_weight)


def _accumulated(max_error: Any, pos_label: Any, y_true: Any, y_score: Any, sample_weight: Any) -> Any:
    held = metrics.ROCAccumulator(max_error=max_error, pos_label=pos_label).update(
        y_true, y_score, sample_weight=sample_weight
    )
    return held.result(), held.curve(), held.error_bound


@cache
def _model() -> Any:
    return rocmax.PartialAUCSVC().fit(X, Y)


def _object_calls() -> dict[str, Call]:
    path = {"X": X, "y": Y, "Cs": [0.1, 10.0]}
    calls = {
        "partial_auc_path": _call(rocmax.partial_auc_path, **path),
        "partial_auc_path ramp": _call(rocmax.partial_auc_path, **path, fpr_range=(0.1, 0.6)),
        "Certificate.verify": _call(_model().certificate().verify, X=X, y=Y),
        "load_estrogen": _call(datasets.load_estrogen)._replace(finite=False),
        "ROCAccumulator": _call(_accumulated, max_error=None, pos_label=None, y_true=Y, y_score=S, sample_weight=None),
        "ROCAccumulator bins": _call(_accumulated, max_error=0.1, pos_label=1, y_true=Y, y_score=S, sample_weight=S**2),
        "ROCAccumulator.result": Call(
            metrics.ROCAccumulator().update(Y, S).result,
            [*inspect.signature(metrics.ROCAccumulator.result).parameters][1:],
            {},
        ),
        "ROCAccumulator.merge": _call(metrics.ROCAccumulator().update(Y, S).merge, other=metrics.ROCAccumulator()),
    }
    return calls


def _of_objective(y_true: Any, y_score: Any, sample_weight: Any, group: Any, **parameters: Any) -> Any:
    """Derivatives and value of a new objective."""
    objective = boosting.PartialAUCObjective(**parameters)
    return objective(y_true, y_score, sample_weight, group), objective.value(y_true, y_score, sample_weight)


def _boosting_calls() -> dict[str, Call]:
    data: dict[str, Any] = {"y_true": Y, "y_score": S, "sample_weight": None}
    parameters = [*inspect.signature(boosting.PartialAUCObjective).parameters]
    metric = [*inspect.signature(boosting.partial_auc_metric).parameters]
    return {
        "PartialAUCObjective": Call(_of_objective, [*data, "group", *parameters], data | {"group": None}),
        "partial_auc_metric": Call(
            lambda y_true, y_score, sample_weight, **given: boosting.partial_auc_metric(**given)(
                y_true, y_score, sample_weight
            ),
            [*data, *metric],
            data,
        ),
    }


def _display_calls() -> dict[str, Call]:
    folds = cross_validate(rocmax.PartialAUCSVC(), X, Y, cv=2, return_estimator=True, return_indices=True)
    roc, sroc, det = display.ROCDisplay, display.SROCDisplay, display.DETDisplay
    recall, decision = display.PrecisionRecallDisplay, display.DecisionCurveDisplay
    extra = _call(roc.from_predictions).arguments[2:]
    return {
        "ROCDisplay": _call(roc.from_predictions, y_true=Y, y_score=S),
        "ROCDisplay band": _call(roc.from_predictions, y_true=Y, y_score=S, confidence_level=0.9, n_resamples=5),
        "ROCDisplay zoom": _call(roc.from_predictions, y_true=Y, y_score=S, fpr_range=(0.1, 0.4), zoom=True),
        "ROCDisplay.from_estimator": Call(
            roc.from_estimator, ["estimator", "X", "y", *extra], {"estimator": _model(), "X": X, "y": Y}
        ),
        "ROCDisplay.from_cv_results": _call(roc.from_cv_results, cv_results=folds, X=X, y=Y),
        "ROCDisplay.from_reader_study": _call(roc.from_reader_study, **_readings()),
        "ROCDisplay.plot": _call(roc.from_predictions(Y, S).plot),
        "ROCDisplay.from_samples": _call(roc.from_samples, samples=metrics.Samples(Y, S)),
        "BudgetDisplay": _call(display.BudgetDisplay.from_predictions, y_true=Y, y_score=S, budget=5),
        "DETDisplay": _call(det.from_predictions, y_true=Y, y_score=S),
        "DETDisplay.from_estimator": _call(det.from_estimator, estimator=_model(), X=X, y=Y),
        "DETDisplay.plot": _call(det.from_predictions(Y, S).plot),
        "PrecisionRecallDisplay": _call(recall.from_predictions, y_true=Y, y_score=S),
        "PrecisionRecallDisplay band": _call(recall.from_predictions, y_true=Y, y_score=S, confidence_level=0.9),
        "PrecisionRecallDisplay.from_estimator": _call(recall.from_estimator, estimator=_model(), X=X, y=Y),
        "PrecisionRecallDisplay.plot": _call(recall.from_predictions(Y, S).plot),
        "DecisionCurveDisplay": _call(decision.from_predictions, y_true=Y, y_prob=P),
        "ForestDisplay": _call(
            display.ForestDisplay.from_result, result=metrics.infer(Y, S, by=np.arange(len(Y)) // 12)
        ),
        "DecisionCurveDisplay band": _call(
            decision.from_predictions, y_true=Y, y_prob=P, thresholds=[0.1, 0.2], prevalence=0.1, confidence_level=0.9
        ),
        "DecisionCurveDisplay.plot": _call(decision.from_predictions(Y, P).plot),
        "SROCDisplay": _call(sroc.from_predictions, y_true=Y, y_score=S),
        "SROCDisplay.from_estimator": _call(sroc.from_estimator, estimator=_model(), X=X, y=Y),
        "SROCDisplay.plot": _call(sroc.from_predictions(Y, S).plot),
        "ROCDisplay thresholds": _call(roc.from_predictions, y_true=Y, y_score=S, thresholds=[0.5]),
        "ScoreDisplay": _call(display.ScoreDisplay.from_predictions, y_true=Y, y_score=S),
        "ScoreDisplay.from_estimator": _call(display.ScoreDisplay.from_estimator, estimator=_model(), X=X, y=Y),
        "ReliabilityDisplay": _call(
            display.ReliabilityDisplay.from_predictions, y_true=Y, y_prob=np.linspace(0.0, 1.0, N)
        ),
        "WeightsDisplay": _call(display.WeightsDisplay.from_estimator, estimator=_model()),
        # Without the path, of which any text is one.
        "write_report": _call(partial(display.write_report, BytesIO()), y_true=Y, y_score=S),
    }


def _fitted(cls: type, y: Any, X: Any, sample_weight: Any, X_new: Any, y_new: Any, **parameters: Any) -> Any:
    """All that a new estimator answers."""
    weight = {} if sample_weight is None else {"sample_weight": sample_weight}
    model = cls(**parameters).fit(X, y, **weight)
    new = FEATURES if X_new is None else X_new
    return model.decision_function(new), model.score(new, Y if y_new is None else y_new), (model.predict(new),)


def _estimator_calls() -> dict[str, Call]:
    kernel = {"kernel": "rbf"}
    variants: dict[Any, dict[str, dict[str, Any]]] = {
        rocmax.PartialAUCSVC: {
            "": {},
            "ramp": {"fpr_range": (0.1, 0.6)},
            "tight": {"fpr_range": (0.1, 0.6), "surrogate": "tight"},
            "rbf": kernel,
            "landmarks": kernel | {"n_landmarks": 8, "random_state": 0},
            "weighted": {"sample_weight": np.arange(N) % 4 + 0.5},
        },
        rocmax.PartialAUCSVCCV: {
            "": {"Cs": (0.1, 10.0), "cv": 2},
            "landmarks": kernel | {"Cs": (0.1, 10.0), "cv": 2, "n_landmarks": 8, "random_state": 0},
        },
        rocmax.AUCSVC: {
            "": {},
            "linear": {"kernel": "linear"},
            "neighbors": {"pairs": "neighbors", "n_neighbors": 3},
            "random": {"pairs": "random", "n_pairs": 30},
        },
        rocmax.papers.TwoNormSVC: {"": {}},
        rocmax.AUCRLS: {"": {}, "rbf": kernel, "poly": {"kernel": "poly"}, "cg": {"solver": "cg"}},
        rocmax.AUCRLSCV: {"": {"alphas": [0.1, 1.0]}, "folds": {"alphas": [1.0], "cv": 3}},
        rocmax.RLS: {"": {}, "rbf": kernel},
        rocmax.RLSCV: {"": {"alphas": [0.1, 1.0]}},
        rocmax.PartialAUCEnsembleClassifier: {"": {"families": ["logistic_regression"], "cv": 2, "random_state": 0}},
        papers.RankBoost: {"": {"n_estimators": 5}},
        papers.AUCSplitTree: {"": {}},
        papers.PAUCBoost: {"": {"fpr_range": (0.1, 0.6), "n_estimators": 5}},
        papers.GreedyPAUC: {"": {"fpr_range": (0.1, 0.6), "n_steps": 5}},
        papers.TauFPL: {"": {}},
        rocmax.PartialAUCBoostingClassifier: {
            "": {"n_estimators": 3, "random_state": 0, "n_jobs": 1},
            "objective": {"n_estimators": 3, "objective": boosting.PartialAUCObjective((0.0, 0.6)), "n_jobs": 1},
            "xgboost": {"n_estimators": 3, "library": "xgboost", "objective": "log_loss", "n_jobs": 1},
        },
    }
    calls = {}
    for cls, options in variants.items():
        names = [*inspect.signature(cls).parameters, "X", "y", "X_new"]
        if cls.score is not ClassifierMixin.score:
            names.append("y_new")
        if "sample_weight" in inspect.signature(cls.fit).parameters:
            names.append("sample_weight")
        base = {"X": X, "y": Y, "X_new": None, "y_new": None, "sample_weight": None}
        for name, given in options.items():
            calls[f"{cls.__name__} {name}".strip()] = Call(partial(_fitted, cls), names, base | given)
    return calls


def all_calls() -> dict[str, Call]:
    """Every public callable, some with several sets of arguments."""
    return _metric_calls() | _object_calls() | _boosting_calls() | _display_calls() | _estimator_calls()
