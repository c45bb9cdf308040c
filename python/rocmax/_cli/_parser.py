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
        help='print what completes this command in a shell: eval "$(rocmax --print-completion bash)"',
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
    _explain(command("explain", "Show what a trained model goes by.", "rocmax explain model.skops --plot weights.png"))
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
        help="ensemble: the mean of the families of models (boosted trees of the extra boosting, forests, lines, "
        "kernels) that no other leads beyond noise in cross-validation; linear: a line, whose weights can be read; "
        "boosting: boosted trees; auto, the default: the ensemble, or a line where a class has fewer than 20 rows",
    )
    fit.add_argument("--drop", nargs="+", action="extend", default=[], metavar="COLUMN", help="columns to ignore")
    fit.add_argument(
        "--categorical",
        nargs="+",
        action="extend",
        default=[],
        metavar="COLUMN",
        help="columns of numbers that are names (text columns always are)",
    )
    fit.add_argument(
        "--C",
        nargs="+",
        type=values.positive,
        metavar="C",
        help="weight of the mean pair loss, of a line; of several, cross-validation takes the best "
        "(default 0.01 to 100000 in tenfold steps)",
    )
    fit.add_argument(
        "--folds",
        type=values.two_at_least,
        help="folds of the cross-validation that chooses (default 5; 3 of 10,000 rows or more)",
    )
    fit.add_argument(
        "--time",
        metavar="COLUMN",
        help="column of numbers or dates that orders the rows in time: each fold is trained on what comes before it",
    )
    _add_rows(fit, "rows that go together, such as a patient's: a fold holds all of a group or none")
    _add_form(fit)


def _score(score: argparse.ArgumentParser) -> None:
    score.add_argument("model", metavar="MODEL", help="model file that rocmax fit has written")
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
        help="columns to copy, beside the label's if the data has it",
    )
    score.add_argument(
        "--predicted",
        action="store_true",
        help="a column of predicted classes too: the positive one for scores above 0, the rate at the upper end of the "
        "model's range in training",
    )
    _add_form(score)


def _explain(explain: argparse.ArgumentParser) -> None:
    explain.add_argument("model", metavar="MODEL", help="model file that rocmax fit has written")
    explain.add_argument(
        "data",
        nargs="?",
        metavar="DATA",
        help="labelled rows, .csv, .tsv (also .gz) or .parquet, best ones that were not trained on: tells how much "
        "their partial AUC falls when a column is shuffled",
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
        help="cutoffs whose rates are reported: fpr=0.01 (or fpr=1%%) for the highest sensitivity at a false positive "
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
        help="the cutoff at which at most N rows (or a share of them, such as 5%%) are called positive",
    )
    evaluate.add_argument(
        "--per",
        metavar="COLUMN",
        help="the number of alerts is for each value of this column on average, such as a day",
    )
    evaluate.add_argument(
        "--guarantee",
        type=values.level,
        metavar="PROBABILITY",
        help="choose each cutoff so that its fpr, sensitivity, specificity or share of alerts keeps the limit on new "
        "data with this probability, such as 0.95",
    )
    evaluate.add_argument(
        "--prevalence",
        type=values.level,
        metavar="SHARE",
        help="share of positives that predictive values (of --at) are for (default: that of the data); if given, "
        "youden, closest and cost choose the cutoff for it too",
    )
    evaluate.add_argument(
        "--cutoff-intervals",
        choices=("wilson", "bootstrap"),
        help="of the rates at --at: wilson takes cutoffs as fixed (the default); bootstrap chooses each anew in 2000 "
        "resamples, of whole groups where --groups are given (the default there), and has an interval of the cutoff",
    )
    evaluate.add_argument("--report", metavar="FILE", help="page of all results to write, for a browser (.html)")


def _compare(compare: argparse.ArgumentParser) -> None:
    _add_range(compare, None)
    compare.add_argument(
        "--adjust",
        choices=("holm", "bonferroni", "fdr_bh", "none"),
        default="holm",
        help="p-values of the pairs of three columns or more, for their number (default holm)",
    )
    compare.add_argument(
        "--method",
        choices=("delong", "bootstrap", "obuchowski", "venkatraman"),
        help="method of the tests (default: delong, or the bootstrap where fewer than five negatives are in the "
        "range); venkatraman: whether two whole curves are equal",
    )
    compare.add_argument(
        "--resamples",
        type=values.two_at_least,
        default=2000,
        help="resamples of bootstrap or venkatraman (default 2000)",
    )
    compare.add_argument("--seed", type=values.seed, default=0, help="random seed of both (default 0)")
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
        help="the range of false positive rates that matters"
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
        help="columns of scores, higher for the positive class",
    )
    parser.add_argument(
        "--measure", nargs="+", action="extend", type=measures.measure, metavar="MEASURE", help=measures.HELP
    )
    parser.add_argument("--confidence", type=values.level, default=0.95, help="level of the intervals (default 0.95)")
    parser.add_argument("--plot", metavar="FILE", help="ROC plot to write, with bands (.png, .pdf, .svg)")
    _add_rows(parser, "clusters of dependent rows, such as the lesions of a patient; intervals and tests take them so")
    parser.add_argument(
        "--weights-are",
        choices=("frequency", "sampling"),
        help="what a weight is: so many equal rows (frequency weights), or an inverse sampling probability, whose "
        "scale does not matter (sampling weights); frequency by default, with a warning where weights are no counts",
    )
    _add_form(parser)


def _add_rows(parser: argparse.ArgumentParser, groups: str) -> None:
    parser.add_argument("--weight", metavar="COLUMN", help="column of weights of the rows, at least 0")
    parser.add_argument("--groups", metavar="COLUMN", help=f"column that tells {groups}")
    parser.add_argument(
        "--drop-missing",
        action="store_true",
        help="leave out rows without a value in the columns of labels, scores, weights or groups, rather than refuse",
    )


def _add_form(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sep",
        type=values.separator,
        metavar="CHARACTER",
        help="what separates columns: ';', '|', tab (default: a comma; a tab in .tsv)",
    )
    parser.add_argument(
        "--decimal",
        choices=(".", ","),
        default=".",
        metavar="MARK",
        help="the decimal mark of numbers, . or , (default .)",
    )


def _add_label(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--label", required=True, metavar="COLUMN", help="column of the classes")
    parser.add_argument(
        "--positive",
        metavar="VALUE",
        help="the positive class (needed unless labels are 0 and 1, -1 and 1, false and true, or an ordered category)",
    )
