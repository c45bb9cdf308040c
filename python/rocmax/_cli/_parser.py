"""Arguments of every subcommand; argparse alone, so that ``--help`` and mistakes answer at once."""

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

from rocmax._cli import _measures as measures
from rocmax._cli import _values as values
from rocmax._cli._text import printable
from rocmax._core import __version__

_EXAMPLES = """examples:
  rocmax demo
  rocmax fit train.csv --label diagnosis --fpr 0 0.05 --out model.skops
  rocmax explain model.skops
  rocmax score model.skops test.csv --out scores.csv
  rocmax evaluate scores.csv --label diagnosis --score score --fpr 0 0.05 --plot roc.png
  rocmax compare scores.csv --label diagnosis --score new old older --json
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong without what could steer a terminal: names of files come from anywhere."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


class _Checked(argparse.Action):
    """Stores what `check` makes of several values; its ValueError says what is wrong with them together."""

    def __init__(self, *args: Any, check: Callable[[list[Any]], Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._check = check

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        try:
            setattr(namespace, self.dest, self._check(values))
        except ValueError as error:
            parser.error(
                f"{option_string} {' '.join(f'{v:g}' if isinstance(v, float) else v for v in values)}: {error}"
            )


class _Completion(argparse.Action):
    """Prints what a shell needs to complete the commands and their options, and ends."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> NoReturn:
        try:
            import shtab
        except ImportError:
            parser.exit(1, "rocmax: this needs shtab: pip install 'rocmax[cli]'\n")
        left = [parser]
        while left:
            for action in left.pop()._actions:
                if isinstance(action, argparse._SubParsersAction):
                    left += action.choices.values()
                elif action.metavar in ("FILE", "MODEL", "DATA"):
                    action.complete = shtab.FILE  # type: ignore[attr-defined]
        print(shtab.complete(parser, values))
        parser.exit()


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line; the subcommand is in ``command``."""
    parser = _Parser(
        prog="rocmax",
        description="Measure ROC curves, or the part of them you can afford, and maximise it.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rocmax {__version__}")
    parser.add_argument(
        "--print-completion",
        action=_Completion,
        choices=("bash", "zsh", "fish"),
        help='print a shell completion script: eval "$(rocmax --print-completion bash)"',
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands")

    def command(name: str, summary: str, example: str) -> argparse.ArgumentParser:
        sub: argparse.ArgumentParser = commands.add_parser(
            name,
            help=summary,
            description=summary,
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
        return sub

    _demo(
        command(
            "demo",
            "Train on real data and compare linear models, trees and an ensemble.",
            "rocmax demo --fpr 0 0.1 --plot roc.svg",
        )
    )
    _fit(
        command(
            "fit",
            "Train a model for the partial AUC on a table.",
            "rocmax fit train.csv --label diagnosis --positive sick --fpr 0 0.05 --out model.skops",
        )
    )
    _score(
        command(
            "score",
            "Score a table with a trained model.",
            "rocmax score model.skops test.csv --out scores.csv --keep patient --predicted",
        )
    )
    _explain(
        command(
            "explain",
            "Show the weights or feature importances of a trained model.",
            "rocmax explain model.skops --plot weights.png",
        )
    )
    _evaluate(
        command(
            "evaluate",
            "Measure columns of scores.",
            "rocmax evaluate scores.csv --label diagnosis --positive sick --score new old --fpr 0 0.05",
        )
    )
    _compare(
        command(
            "compare",
            "Test whether two or more columns of scores differ.",
            "rocmax compare scores.csv --label diagnosis --positive sick --score new old --fpr 0 0.05",
        )
    )
    return parser


def _demo(demo: argparse.ArgumentParser) -> None:
    _add_range(demo, (0.0, 0.05))
    demo.add_argument("--seed", type=values.seed, default=0, help="random seed of the split (default 0)")
    demo.add_argument(
        "--plot", default="rocmax-demo.png", metavar="FILE", help="ROC plot to write (default rocmax-demo.png)"
    )


def _fit(fit: argparse.ArgumentParser) -> None:
    _add_range(fit, (0.0, 1.0))
    fit.add_argument("data", metavar="DATA", help=".csv, .tsv (also .gz) or .parquet")
    _add_label(fit)
    fit.add_argument("--out", required=True, metavar="MODEL", help="model file to write (- for stdout)")
    fit.add_argument(
        "--model",
        choices=("auto", "ensemble", "linear", "boosting"),
        default="auto",
        help="ensemble: the mean of the model families (boosted trees with the extra boosting, extra trees, linear, "
        "kernels) that are not significantly worse than the best in cross-validation; linear: a linear model with "
        "interpretable weights; boosting: boosted trees; auto (default): the ensemble, or a linear model if a class "
        "has fewer than 20 rows",
    )
    fit.add_argument("--drop", nargs="+", action="extend", default=[], metavar="COLUMN", help="columns to ignore")
    fit.add_argument(
        "--categorical",
        nargs="+",
        action="extend",
        default=[],
        metavar="COLUMN",
        help="numeric columns to treat as categories (text columns always are)",
    )
    fit.add_argument(
        "--C",
        nargs="+",
        type=values.positive,
        metavar="C",
        help="weight of the mean pair loss of a linear model; cross-validation selects the best of several "
        "(default 0.01 to 100000 in tenfold steps)",
    )
    fit.add_argument(
        "--folds",
        type=values.two_at_least,
        help="number of cross-validation folds (default 5; 3 from 10,000 rows on)",
    )
    fit.add_argument(
        "--time",
        metavar="COLUMN",
        help="column of numbers or dates that orders the rows in time: each fold is trained on earlier rows only",
    )
    _add_rows(fit, "clusters of dependent rows, such as the patient; folds keep clusters whole")
    _add_form(fit)


def _score(score: argparse.ArgumentParser) -> None:
    score.add_argument("model", metavar="MODEL", help="model file written by rocmax fit")
    score.add_argument("data", metavar="DATA", help=".csv, .tsv (also .gz) or .parquet; - for csv on stdin")
    score.add_argument(
        "--out", metavar="FILE", help="scores to write, .csv, .tsv (also .gz) or .parquet (default: csv on stdout)"
    )
    score.add_argument(
        "--keep",
        nargs="+",
        action="extend",
        default=[],
        metavar="COLUMN",
        help="columns to copy beside the labels",
    )
    score.add_argument(
        "--predicted",
        action="store_true",
        help="add a column of predicted classes: positive for scores above 0, which is the threshold with the model's "
        "maximum false positive rate on the training rows",
    )
    _add_form(score)


def _explain(explain: argparse.ArgumentParser) -> None:
    explain.add_argument("model", metavar="MODEL", help="model file written by rocmax fit")
    explain.add_argument(
        "data",
        nargs="?",
        metavar="DATA",
        help="labelled rows, preferably held out, .csv, .tsv (also .gz) or .parquet: also report the permutation "
        "importance, the decrease of the partial AUC when a column is shuffled",
    )
    explain.add_argument(
        "--top", type=values.count, default=20, metavar="N", help="rows to show (default 20; 0 for all)"
    )
    explain.add_argument("--plot", metavar="FILE", help="bar chart to write (.png, .pdf, .svg)")
    _add_form(explain)


def _evaluate(evaluate: argparse.ArgumentParser) -> None:
    _add_range(evaluate, None)
    _add_scores(evaluate)
    evaluate.add_argument(
        "--at",
        nargs="+",
        action="extend",
        type=values.cutoff,
        metavar="CUTOFF",
        help="report the rates at these cutoffs: fpr=0.01 (or fpr=1%%) for the highest sensitivity at a false positive "
        "rate of at most 1%%, sensitivity=0.9, specificity=0.95, alerts=500, cost=5 (a false positive costs as much as "
        "five false negatives), youden, closest, eer, midpoint, or a score",
    )
    evaluate.add_argument(
        "--alerts",
        dest="at",
        nargs="+",
        action="extend",
        type=values.alerts,
        metavar="N",
        help="report the cutoff that calls at most N rows (or a share of the rows, such as 5%%) positive",
    )
    evaluate.add_argument(
        "--per",
        metavar="COLUMN",
        help="N alerts per value of this column, such as the day, on average",
    )
    evaluate.add_argument(
        "--guarantee",
        type=values.level,
        metavar="PROBABILITY",
        help="choose each cutoff so that its expected rate or share of alerts on new data is within the limit with "
        "this probability, such as 0.95",
    )
    evaluate.add_argument(
        "--prevalence",
        type=values.level,
        metavar="SHARE",
        help="prevalence for predictive values at the cutoffs (default: that of the data); if given, youden, closest "
        "and cost also choose the cutoff for it",
    )
    evaluate.add_argument(
        "--cutoff-intervals",
        choices=("wilson", "bootstrap"),
        help="intervals of the rates at cutoffs: wilson (default) treats the cutoffs as fixed; bootstrap (default with "
        "--groups, resampling clusters) chooses them again in 2000 resamples, and gives an interval of the cutoff",
    )
    page = "HTML page to write: curves, measures and thresholds to choose from, not --at, --by and --measure"
    evaluate.add_argument("--report", metavar="FILE", help=page)


def _compare(compare: argparse.ArgumentParser) -> None:
    _add_range(compare, None)
    compare.add_argument(
        "--adjust",
        choices=("holm", "bonferroni", "fdr_bh", "none"),
        default="holm",
        help="adjustment of the p-values of the pairs if there are three or more columns (default holm)",
    )
    compare.add_argument(
        "--method",
        choices=("delong", "bootstrap", "obuchowski", "venkatraman"),
        help="method of the tests (default: delong, or bootstrap if the range has fewer than five negatives); "
        "venkatraman tests whether two whole curves are equal",
    )
    compare.add_argument(
        "--resamples",
        type=values.two_at_least,
        default=2000,
        help="number of resamples of bootstrap or venkatraman (default 2000)",
    )
    compare.add_argument("--seed", type=values.seed, default=0, help="random seed of the resamples (default 0)")
    _add_scores(compare)


def _add_range(parser: argparse.ArgumentParser, default: tuple[float, float] | None) -> None:
    parser.add_argument(
        "--fpr",
        nargs=2,
        type=values.rate,
        action=_Checked,
        check=values.fpr_range,
        default=default,
        metavar=("LOW", "HIGH"),
        help="range of false positive rates of the partial AUC"
        + (f" (default {default[0]:g} {default[1]:g})" if default else ""),
    )


def _add_scores(parser: argparse.ArgumentParser) -> None:
    """Add what the commands that measure scores share."""
    parser.add_argument("data", metavar="DATA", help=".csv, .tsv (also .gz) or .parquet; - for csv on stdin")
    _add_label(parser)
    parser.add_argument(
        "--score",
        nargs="+",
        action="extend",
        required=True,
        metavar="COLUMN",
        help="columns of scores, higher for the positive class, unless --lower",
    )
    parser.add_argument(
        "--lower",
        nargs="*",
        metavar="COLUMN",
        help="low scores are for the positive class, as of docking scores, distances and p-values: in all columns of "
        "--score, or in those that are named here",
    )
    parser.add_argument(
        "--measure", nargs="+", action="extend", type=measures.measure, metavar="MEASURE", help=measures.HELP
    )
    parser.add_argument("--confidence", type=values.level, default=0.95, help="level of the intervals (default 0.95)")
    parser.add_argument("--plot", metavar="FILE", help="ROC plot to write, with bands (.png, .pdf, .svg)")
    scale = "scale of the false positive rate in the plot; log shows small rates (default linear)"
    parser.add_argument("--xscale", choices=("linear", "log"), default="linear", help=scale)
    by = "subgroups, such as site or sex: each is measured, all are pooled and compared; --plot draws a forest plot"
    parser.add_argument("--by", nargs="+", action="extend", metavar="COLUMN", help=by)
    _add_rows(
        parser, "clusters of dependent rows, such as the patient of a lesion; intervals and tests account for them"
    )
    parser.add_argument(
        "--weights-are",
        choices=("frequency", "sampling"),
        help="frequency (default): a weight counts equal rows, with a warning if weights are not counts; sampling: a "
        "weight is an inverse sampling probability, whose scale does not matter",
    )
    _add_form(parser)


def _add_rows(parser: argparse.ArgumentParser, groups: str) -> None:
    parser.add_argument("--weight", metavar="COLUMN", help="column of non-negative weights of the rows")
    parser.add_argument("--groups", metavar="COLUMN", help=f"column of {groups}")
    parser.add_argument(
        "--missing",
        choices=("raise", "drop"),
        default="raise",
        help="rows with a missing label, score, weight or group: drop and count them, or refuse them (the default)",
    )


def _add_form(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sep",
        type=values.separator,
        metavar="CHARACTER",
        help="column separator: ';', '|', tab (default: comma; tab in .tsv)",
    )
    parser.add_argument(
        "--decimal",
        choices=(".", ","),
        default=".",
        metavar="MARK",
        help="decimal mark, . or , (default .)",
    )


def _add_label(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--label", required=True, metavar="COLUMN", help="column of the labels")
    parser.add_argument(
        "--positive",
        metavar="VALUE",
        help="the positive class (needed unless labels are 0 and 1, -1 and 1, false and true, or an ordered category)",
    )
