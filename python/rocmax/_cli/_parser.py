"""Options of every command, as typed values, and the parser that is made of them.

It imports little, so that ``--help`` and usage errors print at once.
"""

import argparse
import itertools
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cache
from importlib import import_module
from runpy import run_path
from typing import Any, ClassVar, NoReturn

from rocmax._checks.samples import complement
from rocmax._cli._output import Misuse, printable
from rocmax._core import __version__
from rocmax._parameters import helpful, meant
from rocmax._typing import Style
from rocmax.metrics import Measure
from rocmax.metrics.measures import NAMED, as_measure

_EXAMPLES = """examples:
  rocmax demo --fpr 0 0.1 --plot roc.svg
  rocmax fit train.csv --label diagnosis --positive sick --fpr 0 0.05 --out model.skops
  rocmax explain model.skops --plot weights.png
  rocmax score model.skops test.csv --out scores.csv --keep patient --predicted
  rocmax evaluate scores.csv --label diagnosis --positive sick --score new old --fpr 0 0.05 --plot roc.png
  rocmax compare scores.csv --label diagnosis --positive sick --score new old --fpr 0 0.05
  rocmax plan scores.csv --score new old --budget 2000 --alerts 500 --out to_label.csv
"""
_TABLE = ".csv, .tsv (also .gz) or .parquet"
# Options with those, or values of them, that they cannot be combined with, and with what they need and how it is given.
_APART = {
    "weight": ("groups",),
    "plan": ("weight", "groups", "by", "per", "at", "report", "plot", "lower"),
    "guarantee": ("weight", "groups"),
    "C": ("model=boosting", "model=ensemble"),
}
_NEEDS = {
    "weights_are": ("weight", "the column of weights: --weight COLUMN"),
    "per": ("counts", "a number of alerts, such as --alerts 500"),
    **dict.fromkeys(("prevalence", "guarantee"), ("at", "a cutoff, such as --at fpr=0.05")),
    "negative": ("data", "DATA, before it: rocmax explain MODEL DATA --negative VALUE ..."),
}
_MODEL = "model file written by rocmax fit"
_NEGATIVE = "the negative classes, or rest for all but the positive one; needed if labels have more than two values"
Range = tuple[float, float]


def _number(domain: str, holds: Callable[[Any], bool], kind: Callable[[str], Any] = float) -> Callable[[str], Any]:
    """Return the conversion of a text to a number for which `holds` is true, `domain` in words."""

    def convert(text: str) -> Any:
        with suppress(ValueError):
            if holds(value := kind(text)):
                return value
        raise argparse.ArgumentTypeError(f"{text}: need a number {domain}")

    return convert


_share = _number("between 0 and 1", lambda value: 0 < value < 1)
_positive = _number("above 0", lambda value: 0 < value < math.inf)
_count = _number("of at least 1", lambda value: value >= 1, int)
_seed = _number("from 0 to 2**32 - 1", lambda value: 0 <= value < 2**32, int)


def _mark(text: str) -> str:
    """Return a mark between columns, or between groups of digits."""
    mark = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(mark) != 1 or mark.isalnum() or mark in '"+-\r\n':
        raise argparse.ArgumentTypeError(f"{text!r}: need one mark, such as ; or ' or a blank, or the word tab")
    return mark


def _cutoff(text: str) -> float | str | tuple[str, float]:
    """Return a threshold, or the rule that chooses one, as `operating_point` takes it."""
    from rocmax.metrics._threshold_rules import requested  # scipy takes a while to import

    name, equals, number = text.partition("=")
    asked: Any = name
    if equals:
        asked = _alerts(number) if name == "alerts" else (name, _rate(number))
    with suppress(ValueError):
        asked = float(text)
    try:
        requested([asked])
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error
    return asked  # type: ignore[no-any-return]


def _alerts(text: str) -> tuple[str, float]:
    """Return the rule for a number of alerts: a count of rows, or a share of them in percent or below 1."""
    value = 0.0
    with suppress(argparse.ArgumentTypeError):
        value = _rate(text)
    if not (0 < value < 1 or (value >= 1 and value.is_integer() and not text.endswith("%"))):
        raise argparse.ArgumentTypeError(f"{text}: need a number of rows, such as 500, or a share, such as 5%")
    return "alerts", value


def is_count(at: Any) -> bool:
    """Whether a cutoff is a number of alerts."""
    return isinstance(at, tuple) and at[0] == "alerts" and at[1] >= 1


def _rate(text: str) -> float:
    """Return a rate, which may be in percent: 5% is 0.05."""
    try:
        value = float(Decimal(text[:-1]) / 100 if text.endswith("%") else text)
    except (ValueError, ArithmeticError):
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text}: need a rate, such as 0.05 or 5%")
    return value


def _measure(text: str) -> Measure:
    """Return the measure that a text names."""
    name, _, rest = text.partition(":")
    try:
        if kind := NAMED.get(name):
            measure: Measure = helpful(kind)(*map(_measure_option, filter(None, rest.split(","))))
            return measure
        if rest:
            return _own(name, rest)
        raise ModuleNotFoundError
    except ModuleNotFoundError as error:
        what = "unknown measure" if error.name in (None, name) else error
        known = f"measures are {', '.join(NAMED)}, or FILE.py:NAME{meant(name, NAMED)}"
        raise argparse.ArgumentTypeError(f"{text}: {what}; {known}") from None
    except (ValueError, TypeError, ImportError, OSError, AttributeError, NameError, SyntaxError) as error:
        how = "" if rest else f"; give its options after a colon, such as {name}:0.1"
        raise argparse.ArgumentTypeError(f"{text}: {error}{how}") from None


def _measure_option(text: str) -> Any:
    """Return an option of a measure: a number if it is one, else a text."""
    try:
        return int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        return text.strip()


def _own(module: str, expression: str) -> Measure:
    """Return the user's measure in a file or module: a class, an instance, or a function of labels and scores."""
    names = run_path(module) if module.endswith(".py") else vars(import_module(module))
    value = eval(expression, names)
    if isinstance(value, type) and issubclass(value, Measure):
        value = value()
    return Measure.of(value) if callable(value) and not isinstance(value, Measure) else as_measure(value)


def _option(text: str, default: Any = None, **how: Any) -> Any:
    """Declare an option, or a positional argument, with its help."""
    return field(default=default, metadata={"help": text, **how})


def _list(text: str, **how: Any) -> Any:
    """Declare an option that takes one or more values, columns by default, and may be repeated."""
    how = {"nargs": "+", "action": "extend", "metavar": "COLUMN", **how}
    return field(default_factory=list, metadata={"help": text, **how})


def _range(default: Range | None, text: str = "range of false positive rates of the partial AUC") -> Any:
    text += f" (default {default[0]:g} {default[1]:g})" if default else ""
    return _option(text, default, nargs=2, type=_rate, metavar=("LOW", "HIGH"), either=True)


@dataclass(kw_only=True)
class Options:
    """What all commands share."""

    json: bool = _option("print one JSON object instead of tables", default=False, action="store_true")

    def check(self) -> None:
        """Fail, before any work, if options cannot be combined or lack others."""
        for one, others in _APART.items():
            for other in others:
                if self._has(one) and self._has(other):
                    raise Misuse(f"{self._flag(one)} and {self._flag(other)} cannot be combined")
        for one, (other, needed) in _NEEDS.items():
            if self._has(one) and not self._has(other):
                raise Misuse(f"{self._flag(one)} needs {needed}")

    def _has(self, option: str) -> bool:
        name, _, value = option.partition("=")
        held = getattr(self, name, None)
        return held == value if value else bool(held)

    def _flag(self, option: str) -> str:
        """Return an option as it is typed: `compare` has --alerts for what is --at or --alerts in `evaluate`."""
        name, _, value = option.partition("=")
        typed = [one.name for one in fields(self) if one.metadata and one.metadata.get("dest", one.name) == name]
        return f"--{'/--'.join(typed or [name]).replace('_', '-')} {value}".rstrip()


@dataclass(kw_only=True)
class Ranged(Options):
    """A range of false positive rates."""

    fpr: Range | None = _range(None)
    specificity: Range | None = _range(None, "the same range in specificities: 0.9 1 is --fpr 0 0.1")

    def __post_init__(self) -> None:
        if (given := self.specificity or self.fpr) is not None:
            low, high = given
            if not 0 <= low < high <= 1:
                option = "--specificity" if self.specificity else "--fpr"
                raise Misuse(f"{option} {low:g} {high:g}: need 0 <= LOW < HIGH <= 1")
            self.fpr = complement((low, high)) if self.specificity else (low, high)


@dataclass(kw_only=True)
class TableOptions(Options):
    """A table, and how csv is written."""

    data: str = _option(f"{_TABLE}; - for csv on stdin", metavar="DATA", positional=True)
    sep: str | None = _option(
        "column separator: ';', '|', tab (default: comma; tab in .tsv)", type=_mark, metavar="CHARACTER"
    )
    decimal: str | None = _option("decimal mark, . or , (default .)", choices=(".", ","), metavar="MARK")
    thousands: str | None = _option(
        "mark between groups of three digits: ',', '.', \"'\", '_', ' ' (any blank)", type=_mark, metavar="MARK"
    )
    missing_values: list[str] = _list(
        "texts that mean a missing value, beside the empty one and, in columns of numbers, the usual codes (NA, null, "
        "#N/A, ., -, ?, ...)",
        metavar="VALUE",
    )


@dataclass(kw_only=True)
class Labelled(TableOptions, Ranged):
    """Labelled rows."""

    label: str = _option("column of the labels", required=True, metavar="COLUMN")
    positive: str | None = _option(
        "the positive class (needed unless labels are 0 and 1, -1 and 1, or false and true)",
        metavar="VALUE",
    )
    negative: list[str] = _list(_NEGATIVE, metavar="VALUE")
    missing: str = _option(
        "rows that miss a label, score, weight or group: raise an error (default), or drop and count them",
        default="raise",
        choices=("raise", "drop"),
    )
    weight: str | None = _option("column of non-negative weights of the rows", metavar="COLUMN")

    def check(self) -> None:
        super().check()
        for name in "score", "weight", "by", "groups", "per", "time":
            given = getattr(self, name, None) or []
            if self.label in (given if isinstance(given, list) else [given]):
                raise Misuse(f"--{name} {self.label}: that column holds the labels")


@dataclass(kw_only=True)
class Demo(Ranged):
    """Train on real data and compare linear models, trees and an ensemble."""

    fpr: Range = _range((0.0, 0.05))
    seed: int = _option("random seed of the split (default 0)", default=0, type=_seed)
    plot: str = _option("ROC plot to write (default rocmax-demo.png)", default="rocmax-demo.png", metavar="FILE")


@dataclass(kw_only=True)
class Fit(Labelled):
    """Train a model for the partial AUC on a table."""

    fpr: Range = _range((0.0, 1.0))
    out: str = _option("model file to write (- for stdout)", required=True, metavar="MODEL")
    model: str = _option(
        "ensemble: the mean of the model families (boosted trees if lightgbm is installed, extra trees, linear "
        "models, kernels) that are not significantly worse than the best in cross-validation; linear: a linear model "
        "with interpretable weights; boosting: boosted trees; auto (default): the ensemble, or a linear model if a "
        "class has fewer than 20 rows",
        default="auto",
        choices=("auto", "ensemble", "linear", "boosting"),
    )
    drop: list[str] = _list("columns to leave out")
    categorical: list[str] = _list(
        "columns to treat as categories, each text as it is: codes, or texts that would be left out or refused"
    )
    C: list[float] | None = _option(
        "weight of the mean pair loss of a linear model; cross-validation selects the best of several "
        "(default 0.01 to 100000 in tenfold steps)",
        nargs="+",
        type=_positive,
        metavar="C",
    )
    folds: int | None = _option(
        "number of cross-validation folds (default 5; 3 from 2,000 rows on, of linear models from 10,000)",
        type=_number("of at least 2", lambda value: value >= 2, int),
    )
    time: str | None = _option(
        "column of numbers or dates that orders the rows in time: each fold is trained on earlier rows only",
        metavar="COLUMN",
    )
    groups: str | None = _option(
        "column of clusters of dependent rows, such as the patient; folds keep clusters whole: with --time, rows of "
        "held-out clusters are left out of training",
        metavar="COLUMN",
    )


@dataclass(kw_only=True)
class Score(TableOptions):
    """Score a table with a trained model."""

    model: str = _option(_MODEL, metavar="MODEL", positional=True)
    out: str | None = _option(f"scores to write, {_TABLE} (default: csv on stdout)", metavar="FILE")
    keep: list[str] = _list("columns to copy to the output, beside the labels")
    predicted: bool = _option(
        "add a column of predicted classes: positive from the threshold on that had the model's maximum false positive "
        "rate on held-out rows (of a linear model with one --C: on the training rows)",
        default=False,
        action="store_true",
    )


@dataclass(kw_only=True)
class Explain(TableOptions):
    """Show the weights or feature importances of a trained model."""

    model: str = _option(_MODEL, metavar="MODEL", positional=True)
    data: str | None = _option(  # type: ignore[assignment]
        f"labelled rows, preferably held out, {_TABLE}: also report the permutation importance, the decrease of the "
        "partial AUC when a column is shuffled",
        metavar="DATA",
        positional=True,
        nargs="?",
    )
    negative: list[str] = _list(_NEGATIVE, metavar="VALUE")
    plot: str | None = _option("bar chart to write (.png, .pdf, .svg)", metavar="FILE")


@dataclass(kw_only=True)
class Scores(Labelled):
    """What the commands that measure scores share; one lacks the options that are declared as None here."""

    score: list[str] = _list(
        "columns of scores; high scores mean the positive class unless --lower is given", required=True
    )
    lower: list[str] | None = _option(
        "low scores mean the positive class, as with docking scores, distances and p-values: in all columns of "
        "--score, or only in these",
        nargs="*",
        metavar="COLUMN",
    )
    measure: list[Measure] = _list(
        "also report this measure with its interval: a name such as bedroc, with its option after a colon"
        " (tpr_at_fpr:0.01), or your own, such as mine.py:Lift or package.module:Lift(0.1)",
        type=_measure,
        metavar="MEASURE",
    )
    confidence: float = _option("level of the intervals (default 0.95)", default=0.95, type=_share)
    style: Style = _option(
        "words of the tables: rates (TPR and FPR, default), clinical (sensitivity, specificity, per cent) or alerts "
        "(positives caught, false alerts); the last two also print the results as sentences",
        default="rates",
        choices=("rates", "clinical", "alerts"),
    )
    plot: str | None = _option("ROC plot to write, with bands (.png, .pdf, .svg)", metavar="FILE")
    xscale: str = _option(
        "scale of the false positive rate in the plot; log shows small rates (default linear)",
        default="linear",
        choices=("linear", "log"),
    )
    by: list[str] = _list(
        "columns of subgroups, such as site or sex: measure each, pool them, test whether they are equal; --plot draws "
        "a forest plot"
    )
    groups: list[str] = _list(
        "column of clusters of dependent rows, such as the patient of a lesion; intervals and tests account for them. "
        "Two columns name both subjects of a pair, as in face verification"
    )
    plan: str | None = _option("file written by rocmax plan, which chose the rows to label", metavar="FILE")
    weights_are: str | None = _option(
        "meaning of the weights: frequency (default), a number of equal rows; sampling, an inverse sampling "
        "probability, whose scale matters only if a whole number of rows is selected, as in precision@10",
        choices=("frequency", "sampling"),
    )
    at: list[Any] = field(default_factory=list)
    per: str | None = _option(
        "N alerts for each value of this column, such as each day: the N highest scores of every day", metavar="COLUMN"
    )
    prevalence: float | None = None
    report: str | None = None

    @property
    def lows(self) -> frozenset[str]:
        """The columns whose low scores are for positives."""
        return frozenset(() if self.lower is None else self.lower or self.score)

    @property
    def counts(self) -> list[int]:
        """The numbers of alerts, each once."""
        return list(dict.fromkeys(int(at[1]) for at in self.at if is_count(at)))

    def check(self) -> None:
        super().check()
        if len(self.groups) > 1 + (not self.at and not self.by):
            how = "give one column of clusters, or, without --at, --alerts and --by, the two subjects of a pair"
            raise Misuse(f"--groups {' '.join(self.groups)}: {how}")
        names = {self.per, *self.by, *self.groups}
        if both := {*self.score, self.weight or self.score[0]} & names:
            how = "as numbers (--score, --weight) and as names (--by, --groups, --per)"
            raise Misuse(f"column {min(both)!r} is given both {how}")
        if unknown := sorted(self.lows - set(self.score)):
            raise Misuse(f"--lower {unknown[0]}: give columns of --score, or none for all of them")


@dataclass(kw_only=True)
class Evaluate(Scores):
    """Measure the AUC, the partial AUC and rates of columns of scores."""

    at: list[Any] = _list(
        "report the rates at these cutoffs: fpr=0.01 (or fpr=1%%) for the highest sensitivity at a false positive "
        "rate of at most 1%%, sensitivity=0.9, specificity=0.95, precision=0.9 (the highest sensitivity at a precision "
        "of at least 0.9), alerts=500, cost=5 (a false positive costs as much as five false negatives), youden, "
        "closest, f1, eer, midpoint, or a score",
        type=_cutoff,
        metavar="CUTOFF",
    )
    alerts: list[Any] = _list(
        "report the cutoff that calls at most N rows (or a share of the rows, such as 5%%) positive, and the positives "
        "caught and the precision of N alerts",
        dest="at",
        type=_alerts,
        metavar="N",
    )
    guarantee: float | None = _option(
        "choose each cutoff so that its rate (or share of alerts) on new data stays within the limit with this "
        "probability, such as 0.95",
        type=_share,
        metavar="PROBABILITY",
    )
    prevalence: float | None = _option(
        "prevalence for predictive values at the cutoffs (default: that of the data); if given, youden, closest, "
        "precision, f1 and cost also choose the cutoff for it",
        type=_share,
        metavar="SHARE",
    )
    report: str | None = _option(
        "write an HTML page with curves, measures, subgroups and selectable thresholds; ignores --at and --measure",
        metavar="FILE",
    )


@dataclass(kw_only=True)
class Compare(Scores):
    """Test whether two or more columns of scores differ."""

    method: str | None = _option(
        "method of the tests (default: profile, of the intervals of both models); venkatraman tests whether two whole "
        "curves are equal",
        choices=("profile", "delong", "bootstrap", "obuchowski", "venkatraman"),
    )
    alerts: list[Any] = _list(
        "also compare the positives caught and the precision of N alerts", dest="at", type=_alerts, metavar="N"
    )

    def check(self) -> None:
        super().check()
        n = len({*self.score})
        if n < 2 or (n > 2 and self.by and self.plot):
            what = "columns or more to compare" if n < 2 else "columns for --plot with --by"
            raise Misuse(f"--score {' '.join(self.score)}: need two {what}")


@dataclass(kw_only=True)
class Plan(TableOptions):
    """Choose the rows to label, if labels are scarce and scores are not."""

    score: list[str] = _list("columns of scores; high scores mean the positive class", required=True)
    budget: int = _option("how many rows can be labelled", type=_count, required=True, metavar="N")
    alerts: int | None = _option("label the N highest scores of each column for certain", type=_count, metavar="N")
    out: str = _option("csv of the rows to label; the plan stands beside it, as .plan", required=True, metavar="FILE")
    keep: list[str] = _list("columns to copy to the output")
    seed: int = _option("random seed of the draws (default 0)", default=0, type=_seed)


_KINDS = (Demo, Fit, Score, Explain, Evaluate, Compare, Plan)
_COMMANDS: dict[str, type[Any]] = {kind.__name__.lower(): kind for kind in _KINDS}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are safe to print: file names come from anywhere."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse an unknown option of a command before what is missing, with the option that may be meant."""
        known = {name.lstrip("-"): name for name in self._option_string_actions}
        for text in itertools.takewhile(lambda text: text != "--", () if self._subparsers else args or ()):
            name, _, _ = text.partition("=")
            if name.startswith("--") and not any(option.startswith(name) for option in known.values()):
                self.error(f"unrecognized arguments: {text}{meant(name.lstrip('-'), known, known.__getitem__)}")
        return super().parse_known_args(args, namespace)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += meant(value, action.choices or ())
            raise


class _Completion(argparse.Action):
    """Prints what a shell runs to complete commands and options, and exits."""

    files: ClassVar[list[Any]] = []  # the options that name files

    def __init__(self, option_strings: Any, dest: str, **how: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, default=argparse.SUPPRESS, help=self.__doc__, **how)

    def __call__(self, parser: argparse.ArgumentParser, _: Any, shell: Any, __: Any = None) -> NoReturn:
        import shtab  # it is in the extra cli, and takes a while to import

        for action in self.files:
            action.complete = shtab.FILE
        print(shtab.complete(parser, shell))
        parser.exit()


@cache
def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line; the command is in ``command``."""
    parser = _Parser(
        prog="rocmax",
        description="Measure and maximise the area under the ROC curve, or the part of it at low false positive rates.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rocmax {__version__}")
    parser.add_argument("--print-completion", choices=("bash", "zsh", "fish"), action=_Completion)
    general = {option.name for option in fields(TableOptions)}  # come last
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands")
    for name, kind in _COMMANDS.items():
        command = commands.add_parser(
            name,
            help=kind.__doc__,
            description=kind.__doc__,
            argument_default=argparse.SUPPRESS,  # the defaults are those of the fields
        )
        either = command.add_mutually_exclusive_group() if issubclass(kind, Ranged) else command
        for option in sorted(fields(kind), key=lambda option: option.name in general):
            how = dict(option.metadata)
            flag = option.name if how.pop("positional", False) else f"--{option.name.replace('_', '-')}"
            if how:
                action: Any = (either if how.pop("either", False) else command).add_argument(flag, **how)
                if how.get("metavar") in ("FILE", "MODEL", "DATA"):
                    _Completion.files.append(action)
    return parser


def options_of(given: argparse.Namespace) -> Any:
    """Return the options of a command line that was parsed, checked."""
    given_values = vars(given)
    options = _COMMANDS[given_values.pop("command")](**given_values)
    options.check()
    return options
