"""LightGBM and XGBoost behind one interface: their parameters, and training by rounds, watched after each."""

import json
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from rocmax._checks.training import n_rows, rows_of
from rocmax._parameters import meant, shown
from rocmax._runtime.threads import openmp_threads
from rocmax._runtime.warn import warn
from rocmax._typing import F64, Bool
from rocmax.boosting._objective import PartialAUCObjective

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
# What the class does itself, other losses and ranking, and files, several machines and prediction.
_NO_USE = """
metric first_metric_only boost_from_average num_class categorical_feature
fair_c poisson_max_delta_step tweedie_variance_power reg_sqrt lambdarank_truncation_level lambdarank_norm
lambdarank_position_bias_regularization label_gain objective_seed multi_error_top_k auc_mu_weights
config convert_model convert_model_language data eval_at group_column header ignore_column input_model
is_provide_training_metric label_column machine_list_filename machines metric_freq num_iteration_predict num_machines
output_model output_result parser_config_file pre_partition pred_early_stop pred_early_stop_freq pred_early_stop_margin
predict_contrib predict_disable_shape_check predict_leaf_index predict_raw_score save_binary snapshot_freq
start_iteration_predict task two_round valid weight_column
"""
# Parameters of log loss, which the loss of pairs does not read.
_OF_LOG_LOSS = ("scale_pos_weight", "is_unbalance", "sigmoid")
_NO_BOOSTING = [("boosting", "rf"), ("boosting", "random_forest"), ("booster", "gblinear")]
# Parameters that have an effect only beside one of others.
_BESIDE = {
    **dict.fromkeys(("bagging_fraction", "pos_bagging_fraction", "neg_bagging_fraction"), "bagging_freq"),
    "bagging_freq": "bagging_fraction pos_bagging_fraction neg_bagging_fraction",
    **dict.fromkeys(("top_rate", "other_rate"), "data_sample_strategy boosting"),
    **dict.fromkeys(("drop_rate", "max_drop", "xgboost_dart_mode", "uniform_drop"), "boosting"),
    **dict.fromkeys(("rate_drop", "one_drop", "sample_type", "normalize_type"), "booster"),
    **{"skip_drop": "boosting booster", "extra_seed": "extra_trees", "sampling_method": "subsample"},
}


def checked_params(given: Any, kind: str, *, log_loss: bool) -> dict[str, Any]:
    """Return `library_params` for the ``train`` of a library, which may use `log_loss`, or raise ValueError."""
    library = imported(kind)
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(f"library_params must be a dict or None, got {shown(given)}")
    params: dict[Any, Any] = dict(given or {})
    of_xgboost = {name: one for one, others in _XGBOOST.items() for name in (one, *others.split())}
    aliases = _lightgbm_aliases(library) if kind == "lightgbm" else of_xgboost
    no_use, seen = {*_NO_USE.split(), *(() if log_loss else _OF_LOG_LOSS)}, dict[str, str]()
    for name, value in params.items():
        one = aliases.get(name, name)
        if one in _OWN:
            raise ValueError(f"library_params: {name!r} is the parameter {_OWN[one]} of the class; set it there")
        if one in no_use:
            raise ValueError(f"library_params: {name!r} has no effect here; leave it out")
        if one in seen:
            raise ValueError(f"library_params: {seen[one]!r} and {name!r} are one parameter of {kind}; give one")
        seen[one] = name
        if one in ("forcedsplits_filename", "forcedbins_filename") and value and not Path(str(value)).is_file():
            raise ValueError(f"library_params: {name}={value!r} is not a file")  # LightGBM would ignore it
        if (one, value) in _NO_BOOSTING:
            raise ValueError(f"library_params: {name}={value!r} does not boost trees; leave it out")
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
    names: set[str] = set()
    parts = [json.loads(booster.save_config())]
    used = parts[0]["learner"]["generic_param"]["device"]
    if (wanted := str(params.get("device", used))).split(":")[0] != used.split(":")[0]:
        raise ValueError(f"library_params: device={wanted!r}: xgboost finds none and would use {used!r}; leave it out")
    while parts:
        for name, part in parts.pop().items():
            parts += [one for one in (part if isinstance(part, list) else [part]) if isinstance(one, dict)]
            names |= set(part) if name.endswith("_param") else set()
    return names


# Receives the scores of the held-out rows after each round; returns whether to stop.
Watch = Callable[[F64], bool]
# Rows times trees (or features) that are scored at once: about 0.2 seconds of one thread.
_AT_ONCE = 1 << 20
# So few take milliseconds, less than threads of busy cores wait for each other.
_FEW = 1 << 15
# Both count rounds in 32 bits.
MOST_ROUNDS = 2**31 - 1
# Characters that one of the libraries refuses in names of columns.
_REFUSED = re.compile(r'[\[\]{}<>",:]')
# None means the log loss of the library.
Objective = PartialAUCObjective | None


class _Library:
    """A library with the parameters of its `train`; `params` are added to those that are set here."""

    name: str
    small: ClassVar[dict[str, Any]]

    def __init__(self, params: dict[str, Any], learning_rate: float, seed: int, n_threads: int) -> None:
        self.library = imported(self.name)
        self.learning_rate, self.seed, self.n_threads = learning_rate, seed, openmp_threads(n_threads)
        self.params = params

    @property
    def sets_size(self) -> bool:
        """Whether the parameters set the size of trees."""
        aliases = _lightgbm_aliases(self.library) if self.name == "lightgbm" else {}
        return any(aliases.get(name, name) in ("num_leaves", "max_leaves", "max_depth") for name in self.params)

    @property
    def forgets_rounds(self) -> bool:
        """Whether later rounds change earlier trees (dart), so that the first rounds are not an earlier model."""
        return any(self.params.get(name) == "dart" for name in ("booster", "boosting", "boosting_type", "boost"))

    def smaller(self) -> Any:
        """Return the library with trees of at most eight leaves."""
        params = self.params | self.small
        return type(self)(params, self.learning_rate, self.seed, self.n_threads)


class LightGBM(_Library):
    """LightGBM's ``train``."""

    name = "lightgbm"
    small: ClassVar[dict[str, Any]] = {"num_leaves": 7}

    def rows(self, X: Any, positive: Bool, weight: F64 | None, like: Any = None) -> Any:
        """Return training rows, or rows held out of training rows `like`."""
        made = {"weight": weight, "reference": like, "params": self._params(), "free_raw_data": False}
        return self.library.Dataset(_matrix(X), positive.astype(np.float64), **made)

    def train(
        self, rows: Any, objective: Objective, n_rounds: int, base: float, held: Any = None, watch: Watch | None = None
    ) -> Any:
        """Return a booster that begins at the log-odds `base`; `watch` sees the scores of the `held` rows."""
        params = self._params() | {"objective": "binary" if objective is None else objective.lightgbm}
        for part in (rows, held):
            if part is not None:
                part.set_init_score(np.full(part.construct().num_data(), base))
        stopping = [False]

        def measure(scores: F64, _: Any) -> tuple[str, float, bool]:
            # Scores of the library's own log loss are probabilities.
            stopping[0] = watch is not None and watch(_log_odds(scores) if objective is None else scores)
            return "watched", 0.0, True

        def stop(env: Any) -> None:
            if stopping[0]:
                raise self.library.callback.EarlyStopException(env.iteration, [])

        watched = {} if watch is None else {"valid_sets": [held], "feval": measure, "callbacks": [stop]}
        # By default `train` loads a booster anew in place of what it has freed: Ctrl-C in between crashes Python.
        booster = self.library.train(params, rows, n_rounds, keep_training_booster=True, **watched)
        return self.library.Booster(model_str=booster.model_to_string())

    def _params(self) -> dict[str, Any]:
        own = {
            "learning_rate": self.learning_rate,
            "num_threads": self.n_threads,
            "seed": self.seed,
            "deterministic": True,
            "force_col_wise": True,
            "feature_pre_filter": False,  # with few rows it would drop all features, which is an error
            "metric": "None",
            "boost_from_average": False,
            "verbosity": -1,
        }
        return own | self.params

    def first(self, booster: Any, n_rounds: int) -> Any:
        """Return a booster of the first rounds."""
        return self.library.Booster(model_str=booster.model_to_string(num_iteration=n_rounds))

    @staticmethod
    def n_rounds(booster: Any) -> int:
        """Return the rounds of a booster; growth ends where no split gains anything."""
        return int(booster.current_iteration())

    @staticmethod
    def block_scores(booster: Any, X: Any, n_threads: int) -> F64:
        """Return the raw scores of a few rows."""
        return np.asarray(
            booster.predict(_matrix(X), raw_score=True, num_threads=openmp_threads(n_threads)), dtype=np.float64
        )

    @staticmethod
    def gains(booster: Any, n_features: int) -> F64:
        """Return the total gain of the splits on each feature."""
        return np.asarray(booster.feature_importance("gain"), dtype=np.float64)


class XGBoost(_Library):
    """XGBoost's ``train``."""

    name = "xgboost"
    small: ClassVar[dict[str, Any]] = {"max_depth": 3}

    def rows(self, X: Any, positive: Bool, weight: F64 | None, like: Any = None) -> Any:
        made: dict[str, Any] = {"weight": weight, "enable_categorical": True, "nthread": self.n_threads}
        return self.library.DMatrix(_numbered(X), positive.astype(np.float64), **made)

    def train(
        self, rows: Any, objective: Objective, n_rounds: int, base: float, held: Any = None, watch: Watch | None = None
    ) -> Any:
        own: dict[str, Any] = {
            "learning_rate": self.learning_rate,
            "nthread": self.n_threads,
            "seed": self.seed,
            "disable_default_eval_metric": True,
            "verbosity": 0,
            "base_score": base,
        }
        if objective is None:
            own |= {"objective": "binary:logistic", "base_score": 1.0 / (1.0 + np.exp(-base))}
        stopping = [False]

        def measure(scores: Any, _: Any) -> tuple[str, float]:
            scores = np.asarray(scores, dtype=np.float64)
            stopping[0] = watch is not None and watch(_log_odds(scores) if objective is None else scores)
            return "watched", 0.0

        class Stop(self.library.callback.TrainingCallback):  # type: ignore[name-defined,misc]
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                return stopping[0]

        watched: dict[str, Any] = {}
        if watch is not None:
            watched = {"evals": [(held, "held")], "custom_metric": measure, "callbacks": [Stop()]}
        obj = None if objective is None else objective.xgboost
        return self.library.train(own | self.params, rows, n_rounds, obj=obj, verbose_eval=False, **watched)

    def first(self, booster: Any, n_rounds: int) -> Any:
        return booster[:n_rounds]

    @staticmethod
    def n_rounds(booster: Any) -> int:
        return int(booster.num_boosted_rounds())

    @staticmethod
    def block_scores(booster: Any, X: Any, n_threads: int) -> F64:
        library = imported("xgboost")
        rows = library.DMatrix(_numbered(X), enable_categorical=True, nthread=openmp_threads(n_threads))
        # Names and order of columns are checked: an array has none.
        return np.asarray(booster.predict(rows, output_margin=True, validate_features=False), dtype=np.float64)

    @staticmethod
    def gains(booster: Any, n_features: int) -> F64:
        gains = booster.get_score(importance_type="total_gain")
        names = booster.feature_names or [f"f{k}" for k in range(n_features)]
        return np.array([gains.get(name, 0.0) for name in names], dtype=np.float64)


Library = LightGBM | XGBoost
BY_NAME: dict[str, type[LightGBM] | type[XGBoost]] = {"lightgbm": LightGBM, "xgboost": XGBoost}


@contextmanager
def in_one_line(name: str) -> Iterator[None]:
    """Turn an error raised inside a library into a ValueError of one line that names the arguments."""
    try:
        yield
    except Exception as failure:
        if f"/{name}/" not in Path(traceback.extract_tb(failure.__traceback__)[-1].filename).as_posix():
            raise
        text = " ".join(str(failure).split("Stack trace")[0].split())[:300]
        raise ValueError(f"{name} refused X, sample_weight or library_params: {text}") from failure


def taken(booster: Any, X: Any) -> Any:
    """Return checked features as a booster takes them."""
    return (_matrix if type(booster).__module__.startswith("lightgbm") else _numbered)(X)


def raw_scores(booster: Any, X: Any, n_threads: int) -> F64:
    """Return raw scores, computed in blocks of rows so that Ctrl-C stops between them."""
    name, n = type(booster).__module__.partition(".")[0], n_rows(X)
    n_trees = booster.num_trees() if name == "lightgbm" else booster.num_boosted_rounds()
    step = max(1, _AT_ONCE // max(n_trees, X.shape[1], 1))
    n_threads = 1 if n * n_trees <= _FEW else n_threads
    scores = np.empty(n)
    with in_one_line(name):
        for first in range(0, n, step):
            rows = slice(first, min(first + step, n))
            scores[rows] = BY_NAME[name].block_scores(booster, X if n <= step else rows_of(X, rows), n_threads)
    return scores


def imported(name: str) -> Any:
    """Import a library; if it cannot be imported, the error says why and names the command that installs it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ImportError(f"library={name!r} needs {name}: pip install {name}") from error
    except Exception as error:  # a damaged installation raises anything
        what = f"{type(error).__name__}: {error}"
        raise ImportError(f"{name} is installed and cannot be imported ({what}): install it again") from error


def is_available(name: str) -> bool:
    """Whether a library can be imported; a warning says why an installed one cannot."""
    try:
        imported(name)
    except ImportError as error:
        if not isinstance(error.__cause__, ModuleNotFoundError):
            warn(str(error), UserWarning)
        return False
    return True


def _matrix(X: Any) -> Any:
    """Return a sparse array as a sparse matrix, which LightGBM needs."""
    matrix: Any = sparse.csr_matrix  # whose stubs know no array of unknown type
    return matrix(X) if sparse.issparse(X) else _named(X)


def _named(X: Any) -> Any:
    """Return a pandas frame without brackets, quotes, colons and commas in its names, which the libraries refuse."""
    names = [str(name) for name in X.columns] if hasattr(X, "set_axis") else []
    if all(names) and not any(map(_REFUSED.search, names)):
        return X
    return X.set_axis([f"{_REFUSED.sub('_', name)}_{k}" for k, name in enumerate(names)], axis=1)


def _numbered(X: Any) -> Any:
    """Return a pandas frame whose categories are their numbers, which are those of training: XGBoost refuses some."""
    X = _named(X)
    coded = [name for name, one in X.dtypes.items() if hasattr(one, "categories")] if hasattr(X, "iloc") else []
    X = X.copy(deep=False) if coded else X
    for name in coded:
        X[name] = X[name].cat.rename_categories(range(X[name].cat.categories.size))
    return X


def _log_odds(probability: F64) -> F64:
    """Return finite log-odds."""
    p = np.clip(probability, 1e-300, 1.0 - 1e-16)
    return np.asarray(np.log(p) - np.log1p(-p))
