"""Arguments of every subcommand; it imports little, so that ``--help`` and usage errors print at once."""

import argparse
import itertools
from functools import cache
from typing import Any, NoReturn

from rocmax._cli import _measures as measures
from rocmax._cli import _values as values
from rocmax._cli._output import printable
from rocmax._core import __version__
from rocmax._parameters import meant

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


class _Parser(argparse.ArgumentParser):
    """A parser with `add`, whose errors are safe to print: file names come from anywhere."""

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

    def add(self, name: str, text: str, **options: Any) -> None:
        """Add an argument with its help."""
        self.add_argument(name, help=text, **options)

    def add_list(self, name: str, text: str, **options: Any) -> None:
        """Add an option that takes one or more values, columns by default, and may be repeated."""
        self.add(name, text, **{"nargs": "+", "action": "extend", "metavar": "COLUMN", **options})


class _Completion(argparse.Action):
    """Prints what a shell needs to complete commands and options, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, _: Any, shell: Any, __: str | None = None) -> NoReturn:
        try:
            import shtab
        except ImportError:
            parser.exit(1, "rocmax: this needs shtab: pip install shtab\n")
        left = [parser]
        while left:
            for action in left.pop()._actions:
                if isinstance(action, argparse._SubParsersAction):
                    left += action.choices.values()
                elif action.metavar in ("FILE", "MODEL", "DATA"):
                    action.complete = shtab.FILE  # type: ignore[attr-defined]
        print(shtab.complete(parser, shell))
        parser.exit()


@cache
def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line; the subcommand is in ``command``."""
    parser = _Parser(
        prog="rocmax",
        description="Measure and maximise the area under the ROC curve, or the part of it at low false positive rates.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rocmax {__version__}")
    parser.add(
        "--print-completion",
        'print a shell completion script: eval "$(rocmax --print-completion bash)"',
        action=_Completion,
        choices=("bash", "zsh", "fish"),
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands")
    for add_arguments, summary in (
        (_demo, "Train on real data and compare linear models, trees and an ensemble."),
        (_fit, "Train a model for the partial AUC on a table."),
        (_score, "Score a table with a trained model."),
        (_explain, "Show the weights or feature importances of a trained model."),
        (_evaluate, "Measure the AUC, the partial AUC and rates of columns of scores."),
        (_compare, "Test whether two or more columns of scores differ."),
        (_plan, "Choose the rows to label, if labels are scarce and scores are not."),
    ):
        name = add_arguments.__name__[1:]
        example = next(line for line in _EXAMPLES.splitlines() if line.startswith(f"  rocmax {name}"))
        command: _Parser = commands.add_parser(
            name,
            help=summary,
            description=summary,
            epilog=f"example:\n{example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add("--json", "print one JSON object instead of tables", action="store_true")
        add_arguments(command)
    return parser


def _demo(parser: _Parser) -> None:
    _add_range(parser, (0.0, 0.05))
    parser.add("--seed", "random seed of the split (default 0)", type=values.seed, default=0)
    parser.add("--plot", "ROC plot to write (default rocmax-demo.png)", default="rocmax-demo.png", metavar="FILE")


def _fit(parser: _Parser) -> None:
    _add_range(parser, (0.0, 1.0))
    parser.add("data", _TABLE, metavar="DATA")
    _add_label(parser)
    parser.add("--out", "model file to write (- for stdout)", required=True, metavar="MODEL")
    parser.add(
        "--model",
        "ensemble: the mean of the model families (boosted trees if lightgbm is installed, extra trees, linear "
        "models, kernels) that are not significantly worse than the best in cross-validation; linear: a linear model "
        "with interpretable weights; boosting: boosted trees; auto (default): the ensemble, or a linear model if a "
        "class has fewer than 20 rows",
        choices=("auto", "ensemble", "linear", "boosting"),
        default="auto",
    )
    parser.add_list("--drop", "columns to leave out", default=[])
    parser.add_list(
        "--categorical",
        "columns to treat as categories, each text as it is: codes, or texts that would be left out or refused",
        default=[],
    )
    parser.add(
        "--C",
        "weight of the mean pair loss of a linear model; cross-validation selects the best of several "
        "(default 0.01 to 100000 in tenfold steps)",
        nargs="+",
        type=values.positive,
        metavar="C",
    )
    folds = "number of cross-validation folds (default 5; 3 from 2,000 rows on, of linear models from 10,000)"
    parser.add("--folds", folds, type=values.two_at_least)
    parser.add(
        "--time",
        "column of numbers or dates that orders the rows in time: each fold is trained on earlier rows only",
        metavar="COLUMN",
    )
    _add_weight(parser)
    parser.add(
        "--groups",
        "column of clusters of dependent rows, such as the patient; folds keep clusters whole: with --time, rows of "
        "held-out clusters are left out of training",
        metavar="COLUMN",
    )
    _add_missing(parser)
    _add_form(parser)


def _score(parser: _Parser) -> None:
    parser.add("model", "model file written by rocmax fit", metavar="MODEL")
    parser.add("data", f"{_TABLE}; - for csv on stdin", metavar="DATA")
    parser.add("--out", f"scores to write, {_TABLE} (default: csv on stdout)", metavar="FILE")
    parser.add_list("--keep", "columns to copy to the output, beside the labels", default=[])
    parser.add(
        "--predicted",
        "add a column of predicted classes: positive from the threshold on that had the model's maximum false positive "
        "rate on held-out rows (of a linear model with one --C: on the training rows)",
        action="store_true",
    )
    _add_form(parser)


def _explain(parser: _Parser) -> None:
    parser.add("model", "model file written by rocmax fit", metavar="MODEL")
    parser.add(
        "data",
        f"labelled rows, preferably held out, {_TABLE}: also report the permutation importance, the decrease of the "
        "partial AUC when a column is shuffled",
        nargs="?",
        metavar="DATA",
    )
    _add_negative(parser)
    parser.add("--top", "rows to show (default 20; 0 for all)", type=values.count, default=20, metavar="N")
    parser.add("--plot", "bar chart to write (.png, .pdf, .svg)", metavar="FILE")
    _add_form(parser)


def _evaluate(parser: _Parser) -> None:
    _add_scores(parser)
    parser.add_list(
        "--at",
        "report the rates at these cutoffs: fpr=0.01 (or fpr=1%%) for the highest sensitivity at a false positive "
        "rate of at most 1%%, sensitivity=0.9, specificity=0.95, precision=0.9 (the highest sensitivity at a precision "
        "of at least 0.9), alerts=500, cost=5 (a false positive costs as much as five false negatives), youden, "
        "closest, f1, eer, midpoint, or a score",
        type=values.cutoff,
        metavar="CUTOFF",
    )
    cutoff = "report the cutoff that calls at most N rows (or a share of the rows, such as 5%%) positive, and the"
    _add_alerts(parser, f"{cutoff} positives caught and the precision of N alerts")
    parser.add(
        "--guarantee",
        "choose each cutoff so that its rate (or share of alerts) on new data stays within the limit with this "
        "probability, such as 0.95",
        type=values.level,
        metavar="PROBABILITY",
    )
    parser.add(
        "--prevalence",
        "prevalence for predictive values at the cutoffs (default: that of the data); if given, youden, closest, "
        "precision, f1 and cost also choose the cutoff for it",
        type=values.level,
        metavar="SHARE",
    )
    parser.add(
        "--cutoff-intervals",
        "intervals of the rates at cutoffs: wilson (default) treats the cutoffs as fixed; bootstrap (default with "
        "--groups, resampling clusters) chooses them again in 2000 resamples, and gives an interval of the cutoff",
        choices=("wilson", "bootstrap"),
    )
    page = "write an HTML page with curves, measures, subgroups and selectable thresholds; ignores --at and --measure"
    parser.add("--report", page, metavar="FILE")


def _compare(parser: _Parser) -> None:
    _add_scores(parser)
    parser.add(
        "--adjust",
        "adjustment of the p-values of the pairs if there are three or more columns (default holm)",
        choices=("holm", "bonferroni", "fdr_bh", "none"),
        default="holm",
    )
    parser.add(
        "--method",
        "method of the tests (default: profile, of the intervals of both models); venkatraman tests whether two whole "
        "curves are equal",
        choices=("profile", "delong", "bootstrap", "obuchowski", "venkatraman", "mcnemar", "mcnemar-midp"),
    )
    _add_alerts(parser, "also compare the positives caught and the precision of N alerts")
    resamples = "number of resamples of bootstrap or venkatraman (default 2000)"
    parser.add("--resamples", resamples, type=values.two_at_least, default=2000)
    parser.add("--seed", "random seed of the resamples (default 0)", type=values.seed, default=0)


def _plan(parser: _Parser) -> None:
    parser.add("data", f"scores of all rows, {_TABLE}; - for csv on stdin", metavar="DATA")
    parser.add_list("--score", "columns of scores; high scores mean the positive class", required=True)
    parser.add("--budget", "how many rows can be labelled", type=values.count, required=True, metavar="N")
    parser.add("--alerts", "label the N highest scores of each column for certain", type=values.count, metavar="N")
    parser.add(
        "--out", "csv of the rows to label; the plan is written beside it, as .plan", required=True, metavar="FILE"
    )
    parser.add_list("--keep", "columns to copy to the output", default=[])
    parser.add("--seed", "random seed of the draws (default 0)", type=values.seed, default=0)
    _add_form(parser)


def _add_range(parser: _Parser, default: tuple[float, float] | None) -> None:
    text = "range of false positive rates of the partial AUC"
    text += f" (default {default[0]:g} {default[1]:g})" if default else ""
    either = parser.add_mutually_exclusive_group()
    ends: dict[str, Any] = {"nargs": 2, "type": values.rate, "metavar": ("LOW", "HIGH")}
    either.add_argument("--fpr", help=text, default=default, **ends)
    either.add_argument("--specificity", help="the same range in specificities: 0.9 1 is --fpr 0 0.1", **ends)


def _add_scores(parser: _Parser) -> None:
    """Add what the commands that measure scores share."""
    _add_range(parser, None)
    parser.add("data", f"{_TABLE}; - for csv on stdin", metavar="DATA")
    _add_label(parser)
    parser.add_list(
        "--score", "columns of scores; high scores mean the positive class unless --lower is given", required=True
    )
    parser.add(
        "--lower",
        "low scores mean the positive class, as with docking scores, distances and p-values: in all columns of "
        "--score, or only in these",
        nargs="*",
        metavar="COLUMN",
    )
    parser.add_list("--measure", measures.HELP, type=measures.measure, metavar="MEASURE")
    parser.add("--confidence", "level of the intervals (default 0.95)", type=values.level, default=0.95)
    parser.add("--plot", "ROC plot to write, with bands (.png, .pdf, .svg)", metavar="FILE")
    scale = "scale of the false positive rate in the plot; log shows small rates (default linear)"
    parser.add("--xscale", scale, choices=("linear", "log"), default="linear")
    parser.add_list(
        "--by",
        "columns of subgroups, such as site or sex: measure each, pool them, test whether they are equal; --plot draws "
        "a forest plot",
    )
    _add_weight(parser)
    parser.add_list(
        "--groups",
        "column of clusters of dependent rows, such as the patient of a lesion; intervals and tests account for them. "
        "Two columns name both subjects of a pair, as in face verification",
    )
    planned = "the file of rocmax plan by which the rows were labelled; intervals use the scores of all rows"
    parser.add("--plan", planned, metavar="FILE")
    _add_missing(parser)
    parser.add(
        "--weights-are",
        "what weights stand for: frequency (default), a number of equal rows; sampling, an inverse sampling "
        "probability, whose scale matters only if a whole number of rows is selected, as in precision@10",
        choices=("frequency", "sampling"),
    )
    _add_form(parser)


def _add_alerts(parser: _Parser, text: str) -> None:
    parser.add_list("--alerts", text, dest="at", type=values.alerts, metavar="N")
    per = "N alerts for each value of this column, such as each day: the N highest scores of every day"
    parser.add("--per", per, metavar="COLUMN")


def _add_weight(parser: _Parser) -> None:
    parser.add("--weight", "column of non-negative weights of the rows", metavar="COLUMN")


def _add_missing(parser: _Parser) -> None:
    parser.add(
        "--missing",
        "rows that miss a label, score, weight or group: raise an error (default), or drop and count them",
        choices=("raise", "drop"),
        default="raise",
    )


def _add_form(parser: _Parser) -> None:
    separator = "column separator: ';', '|', tab (default: comma; tab in .tsv)"
    parser.add("--sep", separator, type=values.separator, metavar="CHARACTER")
    parser.add("--decimal", "decimal mark, . or , (default .)", choices=(".", ","), metavar="MARK")
    parser.add(
        "--thousands",
        "mark between groups of three digits: ',', '.', \"'\", '_', ' ' (any blank)",
        type=values.mark,
        metavar="MARK",
    )
    parser.add_list(
        "--missing-values",
        "texts that mean a missing value, beside the empty one and, in columns of numbers, the usual codes (NA, null, "
        "#N/A, ., -, ?, ...)",
        default=[],
        metavar="VALUE",
    )


def _add_label(parser: _Parser) -> None:
    parser.add("--label", "column of the labels", required=True, metavar="COLUMN")
    parser.add(
        "--positive",
        "the positive class (needed unless labels are 0 and 1, -1 and 1, false and true, or an ordered category)",
        metavar="VALUE",
    )
    _add_negative(parser)


def _add_negative(parser: _Parser) -> None:
    text = "the negative classes, or rest for all but the positive one; needed if labels have more than two values"
    parser.add_list("--negative", text, metavar="VALUE")
