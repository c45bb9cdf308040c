"""Check `library_params`: each parameter of the class has one home, and unknown names are refused."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rocmax._parameters import meant, shown

# Parameters of the libraries that are parameters of the class, by the name there.
_OWN = {
    "num_iterations": "n_estimators",
    "learning_rate": "learning_rate",
    "early_stopping_round": "early_stopping_rounds",
    "early_stopping_min_delta": "early_stopping_rounds",
    "objective": "objective",
    "seed": "random_state",
    "num_threads": "n_jobs",
    "verbosity": "verbose",
}
# XGBoost has no table of aliases: the names that it, its scikit-learn classes and LightGBM use.
_XGBOOST = {
    "num_iterations": "n_estimators num_boost_round num_round num_rounds num_trees nrounds n_iter iterations",
    "learning_rate": "eta",
    "early_stopping_round": "early_stopping_rounds early_stopping",
    "objective": "obj loss",
    "seed": "random_state random_seed",
    "num_threads": "n_jobs nthread nthreads",
    "verbosity": "verbose verbose_eval silent",
    "metric": "eval_metric custom_metric feval disable_default_eval_metric",
    "boost_from_average": "base_score",
    "num_class": "num_feature num_target process_type",
    "alpha": "reg_alpha",
    "lambda": "reg_lambda",
    "gamma": "min_split_loss",
}
# What the class does itself, and what has no effect on `train` in memory.
_ELSEWHERE = """
config convert_model convert_model_language data eval_at group_column header ignore_column input_model
is_provide_training_metric label_column machine_list_filename machines metric_freq num_iteration_predict num_machines
output_model output_result parser_config_file pre_partition pred_early_stop pred_early_stop_freq pred_early_stop_margin
predict_contrib predict_disable_shape_check predict_leaf_index predict_raw_score save_binary snapshot_freq
start_iteration_predict task two_round valid weight_column
"""
# What other losses, and ranking, of LightGBM read; its "alpha" is that of XGBoost's penalty.
_LOSSES = """
fair_c poisson_max_delta_step tweedie_variance_power reg_sqrt lambdarank_truncation_level lambdarank_norm
lambdarank_position_bias_regularization label_gain objective_seed multi_error_top_k auc_mu_weights
"""
_NO_USE = {
    "metric": "the partial AUC on fpr_range chooses the rounds",
    "first_metric_only": "the partial AUC on fpr_range chooses the rounds",
    "boost_from_average": "training begins at the log-odds of the share of positives",
    "num_class": "there are two classes",
    "categorical_feature": "categories are the categorical columns of a frame, such as of pandas",
    **dict.fromkeys(_LOSSES.split(), "it belongs to another loss"),
    **dict.fromkeys(_ELSEWHERE.split(), "it is about files, several machines or prediction"),
}
# Parameters of log loss, which the loss of pairs does not read.
_OF_LOG_LOSS = ("scale_pos_weight", "is_unbalance", "sigmoid")
# Parameters that have an effect only beside one of others.
_BESIDE = {
    **dict.fromkeys(("bagging_fraction", "pos_bagging_fraction", "neg_bagging_fraction"), "bagging_freq"),
    "bagging_freq": "bagging_fraction pos_bagging_fraction neg_bagging_fraction",
    **dict.fromkeys(("top_rate", "other_rate"), "data_sample_strategy boosting"),
    **dict.fromkeys(("drop_rate", "max_drop", "xgboost_dart_mode", "uniform_drop"), "boosting"),
    **dict.fromkeys(("rate_drop", "one_drop", "sample_type", "normalize_type"), "booster"),
    **{"skip_drop": "boosting booster", "extra_seed": "extra_trees", "sampling_method": "subsample"},
}


def checked_params(given: Any, library: Any, *, log_loss: bool = True) -> dict[str, Any]:
    """Return `library_params` for the ``train`` of a library, which may use `log_loss`, or raise ValueError."""
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(f"library_params must be a dict or None, got {shown(given)}")
    params: dict[Any, Any] = dict(given or {})
    kind = library.__name__
    aliases = _lightgbm_aliases(library) if kind == "lightgbm" else _names(_XGBOOST.items())
    seen: dict[str, str] = {}
    for name, value in params.items():
        one = aliases.get(name, name)
        if one in _OWN:
            raise ValueError(f"library_params: {name!r} is the parameter {_OWN[one]} of the class; set it there")
        if one in _NO_USE:
            raise ValueError(f"library_params: {name!r} has no use here, as {_NO_USE[one]}; leave it out")
        if one in seen:
            raise ValueError(f"library_params: {seen[one]!r} and {name!r} are one parameter of {kind}; give one")
        seen[one] = name
        if one in _OF_LOG_LOSS and not log_loss:
            raise ValueError(f"library_params: {name!r} has no effect on this objective; pass weights to fit")
        _check_value(one, name, value)
    for one, name in seen.items():
        others = _BESIDE.get(one, "").split()
        if others and seen.keys().isdisjoint(others):
            raise ValueError(f"library_params: {name!r} has no effect without {' or '.join(others)}")
    known = aliases if kind == "lightgbm" else _xgboost_names(params, library)
    for name in params:
        if known and name not in known:
            advice = meant(name, known) or "; see its documentation"
            raise ValueError(f"library_params: {kind} has no parameter {name!r} here{advice}")
    return params


def sets_size(params: Mapping[str, Any], library: Any) -> bool:
    """Whether parameters set the size of trees."""
    aliases = _lightgbm_aliases(library) if library.__name__ == "lightgbm" else {}
    return any(aliases.get(name, name) in ("num_leaves", "max_leaves", "max_depth") for name in params)


def forgets_rounds(params: Mapping[str, Any]) -> bool:
    """Whether later rounds change earlier trees (dart), so that the first rounds are not an earlier model."""
    return any(params.get(name) == "dart" for name in ("booster", "boosting", "boosting_type", "boost"))


def _check_value(one: str, name: str, value: Any) -> None:
    """Refuse what is not boosted trees, and files that are not there, which LightGBM would ignore."""
    if one in ("forcedsplits_filename", "forcedbins_filename") and value and not Path(str(value)).is_file():
        raise ValueError(f"library_params: {name}={value!r} is not a file")
    if one == "boosting" and value in ("rf", "random_forest"):
        instead = "for a forest use the family 'extra_trees' of PartialAUCEnsembleClassifier"
    elif one == "booster" and value == "gblinear":
        instead = "for a linear model use PartialAUCSVC"
    else:
        return
    raise ValueError(f"library_params: {name}={value!r} does not boost trees; {instead}")


def _names(table: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the first name of each name."""
    return {name: one for one, others in table for name in (one, *others.split())}


def _lightgbm_aliases(library: Any) -> dict[str, str]:
    """Return the first name of each parameter by each of its names, from LightGBM itself."""
    table: Any = getattr(library.basic, "_ConfigAliases", None)
    if not hasattr(table, "_get_all_param_aliases"):
        return {}
    return {name: one for one, names in table._get_all_param_aliases().items() for name in names}


def _xgboost_names(params: Mapping[Any, Any], library: Any) -> set[str]:
    """Return the names that a booster of these parameters has in its configuration."""
    kinds = {name: params[name] for name in ("booster", "tree_method", "updater", "device") if name in params}
    booster = library.Booster({"num_feature": 1, "verbosity": 0, "objective": "binary:logistic", **kinds})
    found: set[str] = set()
    parts = [json.loads(booster.save_config())]
    used = parts[0]["learner"]["generic_param"]["device"]
    if (wanted := str(params.get("device", used))).split(":")[0] != used.split(":")[0]:
        raise ValueError(f"library_params: device={wanted!r}: xgboost finds none and would use {used!r}; leave it out")
    while parts:
        for name, part in parts.pop().items():
            parts += [one for one in (part if isinstance(part, list) else [part]) if isinstance(one, dict)]
            found |= set(part) if name.endswith("_param") else set()
    return found
