"""Arguments of every subcommand; argparse alone, so that ``--help`` and mistakes answer at once."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from rocmax._cli._text import printable
from rocmax._core import __version__

_EXAMPLES = """examples:
  rocmax demo
  rocmax fit train.csv --label diagnosis --fpr 0 0.05 --out model.skops
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


def _range(values: list[float]) -> tuple[float, float]:
    low, high = values
    if not 0 <= low < high <= 1:
        raise ValueError("need 0 <= LOW < HIGH <= 1")
    return low, high


def _level(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text}: need a number between 0 and 1")
    return value


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: need a number above 0")
    return value


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text}: need a whole number from 0 to 2**32 - 1")
    return int(text)


def _two_at_least(text: str) -> int:
    value = int(text)
    if value < 2:
        raise argparse.ArgumentTypeError(f"{text}: need 2 or more")
    return value


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line; the subcommand is in ``command``."""
    parser = _Parser(
        prog="rocmax",
        description="Measure ROC curves, or the part of them you can afford, and maximise it.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rocmax {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands")

    def command(name: str, summary: str, *, fpr: Sequence[float] | None) -> Any:
        sub = commands.add_parser(name, help=summary, description=summary)
        sub.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
        if name != "score":
            sub.add_argument(
                "--fpr",
                nargs=2,
                type=float,
                action=_Checked,
                check=_range,
                default=fpr,
                metavar=("LOW", "HIGH"),
                help="the range of false positive rates that matters"
                + (f" (default {fpr[0]:g} {fpr[1]:g})" if fpr else ""),
            )
        return sub

    demo = command("demo", "Train on real data and compare with two baselines.", fpr=(0.0, 0.05))
    demo.add_argument("--seed", type=_seed, default=0, help="random seed of the split (default 0)")
    demo.add_argument(
        "--plot", default="rocmax-demo.png", metavar="FILE", help="ROC plot to write (default rocmax-demo.png)"
    )

    fit = command("fit", "Train a partial-AUC machine on a table.", fpr=(0.0, 1.0))
    fit.add_argument("data", help=".csv, .tsv (also .gz) or .parquet")
    _add_label(fit)
    fit.add_argument("--out", required=True, metavar="MODEL", help="model file to write (- for stdout)")
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
        type=_positive,
        metavar="C",
        help="weight of the mean pair loss; of several, cross-validation takes the best "
        "(default 0.1 to 1000 in tenfold steps)",
    )
    fit.add_argument(
        "--folds", type=_two_at_least, default=5, help="folds of the cross-validation that takes C (default 5)"
    )

    score = command("score", "Score a table with a trained model.", fpr=None)
    score.add_argument("model", help="model file that rocmax fit has written")
    score.add_argument("data", help=".csv, .tsv (also .gz) or .parquet")
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

    evaluate = command("evaluate", "Measure columns of scores.", fpr=None)
    compare = command("compare", "Test whether two or more columns of scores differ.", fpr=None)
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
        "--resamples", type=_two_at_least, default=2000, help="resamples of bootstrap or venkatraman (default 2000)"
    )
    compare.add_argument("--seed", type=_seed, default=0, help="random seed of both (default 0)")
    for sub in (evaluate, compare):
        sub.add_argument("data", help=".csv, .tsv (also .gz) or .parquet; - for csv on stdin")
        _add_label(sub)
        sub.add_argument(
            "--score",
            nargs="+",
            action="extend",
            required=True,
            metavar="COLUMN",
            help="columns of scores, higher for the positive class",
        )
        sub.add_argument("--confidence", type=_level, default=0.95, help="level of the intervals (default 0.95)")
        sub.add_argument("--plot", metavar="FILE", help="ROC plot to write, with bands (.png, .pdf, .svg)")
    evaluate.add_argument("--report", metavar="FILE", help="page of all results to write, for a browser (.html)")
    return parser


def _add_label(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--label", required=True, metavar="COLUMN", help="column of the classes")
    parser.add_argument(
        "--positive",
        metavar="VALUE",
        help="the positive class (needed unless labels are 0 and 1, -1 and 1, false and true, or an ordered category)",
    )
