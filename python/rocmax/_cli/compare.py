"""``rocmax compare``: tests of whether two or more score columns differ."""

from collections.abc import Mapping, Sequence
from typing import Any

from rocmax._cli import _cutoffs as cutoffs, _report as report, _scored as rows
from rocmax._cli._output import about, check_plot, say
from rocmax._cli._parser import Compare
from rocmax.metrics import Comparison, SubgroupComparison, _words as words
from rocmax.metrics.results._inference import Results
from rocmax.metrics.results._references import ADJUSTMENTS

Tested = Sequence[tuple[Comparison, Mapping[str, Any]]]  # rows of comparisons


def run(arguments: Compare) -> None:
    """Compare score columns by AUC, and by partial AUC where a range is given."""
    check_plot(arguments.plot, arguments.data)
    arguments.adjust = None if arguments.adjust == "none" else arguments.adjust
    wanted = rows.measures(arguments)
    with about(arguments.data):
        scored = rows.read(arguments)
    budgets = cutoffs.caught(arguments, scored) if arguments.at else {}
    results = scored.compare(arguments, [*wanted, *cutoffs.precisions(arguments, scored)])
    sliced = [one for series in scored.by.values() for one in scored.compare(arguments, wanted, by=series)]
    if arguments.plot:
        scored.draw(arguments.plot, {one.by: one for one in sliced if one.measure == wanted[-1]})
    if not arguments.json:
        say(f"{arguments.data}: {scored.summary}")
        with words.spoken(arguments.style, scored.n_rows - scored.n_positive):
            cutoffs.show_caught(budgets)
            (_show_two if len(arguments.score) == 2 else _show_several)(arguments, results)
            for found in sliced:
                _show_subgroups(found)
        if arguments.style != "rates":
            say("\n" + Results(tuple(results), (None,) * len(results)).summary(arguments.style))
        if arguments.plot:
            say(f"{'Forest' if scored.by else 'ROC'} plot: {report.where(arguments.plot)}")
        return
    report.emit(
        {
            **scored.plain(),
            "scores": arguments.score,
            "fpr_range": arguments.fpr,
            "confidence_level": arguments.confidence,
            "comparisons": [found.to_dict() for found in results],
            **({"alerts": {name: cutoffs.plain_caught(held) for name, held in budgets.items()}} if budgets else {}),
            **({"by": [found.to_dict() for found in sliced]} if sliced else {}),
            "plot": arguments.plot,
        }
    )


def _show_two(arguments: Compare, results: Sequence[Comparison]) -> None:
    level = "" if arguments.method == "venkatraman" else f" [{words.level(arguments.confidence)}]"
    tested = [(found, row) for found in results for row in found.rows()]
    names = [found.measure.short for found, _ in tested]
    report.table(
        ["", *arguments.score, f"difference{level}", "p"], zip(names, *_pair(tested), *_tested(tested), strict=True)
    )
    say(f"Two-sided paired tests: {_methods(results)}.")


def _show_several(arguments: Compare, results: Sequence[Comparison]) -> None:
    level, adjusted = f"[{words.level(arguments.confidence)}]", ["adjusted p"] if arguments.adjust else []
    for found in results:
        name = found.measure.short
        names, estimates = zip(*found.estimates.items(), strict=True)
        places = [words.form(found.measure, error) for error in found.standard_errors.tolist()]
        report.table(["score", name], zip(names, words.alike(estimates, places), strict=True))
        rows, others = found.rows_printed()
        columns = map(_names, rows), *_tested([(found, row) for row in rows], adjusted)
        report.table([f"{name}, pair", f"difference {level}", "p", *adjusted], zip(*columns, strict=True))
        if others:
            say(f"and {others:,} more pairs: --json has all")
        say(f"All {name} equal: {found.joint_test}\n")
    how = f"; adjusted p by {ADJUSTMENTS[arguments.adjust]}" if arguments.adjust else ""
    say(f"Two-sided paired tests: {_methods(results)}, intervals not adjusted for the number of pairs{how}.")


def _show_subgroups(found: SubgroupComparison) -> None:
    """Print the differences of columns in every subgroup."""
    two, adjusted = len(found.pairs) == 1, ["adjusted p"] if found.adjust else []
    head = [found.by, *(found.names if two else ["pair"]), f"difference [{words.level(found.confidence_level)}]", "p"]
    rows = found.rows()
    tested = [(found, row) for row in rows]
    columns = [[row["subgroup"] for row in rows], *(_pair(tested) if two else [map(_names, rows)])]
    say(f"\n{found.measure.short} by {found.by}")
    report.table([*head, *adjusted], zip(*columns, *_tested(tested, adjusted), strict=True))
    say(f"Same difference in all subgroups of {found.by}: {found.equality_test}.")
    how = f"; adjusted p by {ADJUSTMENTS[found.adjust]}, over subgroups" if found.adjust else ""
    say(f"pooled: {found.pooled_in_words}{how}.")


def _names(row: Mapping[str, Any]) -> str:
    return f"{row['model_a']} - {row['model_b']}"


def _pair(tested: Tested) -> list[list[str]]:
    """Return the columns of the estimates of two scores."""
    places = [words.form(found.measure, row["standard_error"]) for found, row in tested]
    return [words.alike([row[name] for _, row in tested], places) for name in ("estimate_a", "estimate_b")]


def _tested(tested: Tested, adjusted: Sequence[str] = ()) -> list[list[str]]:
    """Return the columns of differences, with their intervals if there are any, and of their p-values."""
    rows = [row for _, row in tested]
    places = [words.form(found.measure, row["standard_error"], change=True) for found, row in tested]
    limits = [(row["ci_low"], row["ci_high"]) for row in rows]
    changes = words.beside([row["difference"] for row in rows], limits, places, "+")
    for k, row in enumerate(rows):
        changes[k] = changes[k] or "not estimable"
        changes[k] += f" (no interval: {row['no_interval']})" if row.get("no_interval") else ""
    names = ["pvalue", *(["pvalue_adjusted"] if adjusted else [])]
    return [changes, *([words.p_digits(row[name], 3) for row in rows] for name in names)]


def _methods(results: Sequence[Comparison]) -> str:
    used = [f"{found.measure.short} by {found.method_in_words}" for found in results if not found.no_interval]
    return ", ".join(used) or "none"
