"""``rocmax compare``: tests of whether two or more score columns differ."""

from rocmax._cli import _report as report, _scored as rows
from rocmax._cli._output import about, check_plot, printable, say
from rocmax._cli._parser import Compare


def run(arguments: Compare) -> None:
    """Compare score columns by AUC, and by partial AUC where a range is given."""
    check_plot(arguments.plot, arguments.data)
    wanted = rows.measures(arguments)
    with about(arguments.data):
        scored = rows.read(arguments)
    alerts = scored.precisions
    budgets = {name: [scored.measured(name, one) for one in alerts] for name in scored.columns} if alerts else {}
    results = scored.compare(arguments, [*wanted, *alerts])
    sliced = [one for series in scored.by.values() for one in scored.compare(arguments, wanted, by=series)]
    if arguments.plot:
        scored.draw(arguments.plot, {one.by: one for one in sliced if one.measure == wanted[-1]})
    if arguments.json:
        report.emit(
            {
                **scored.plain(),
                "scores": arguments.score,
                "fpr_range": arguments.fpr,
                "confidence_level": arguments.confidence,
                "comparisons": [found.to_dict() for found in results],
                **({"alerts": {name: rows.caught(held) for name, held in budgets.items()}} if budgets else {}),
                **({"by": [found.to_dict() for found in sliced]} if sliced else {}),
                "plot": arguments.plot,
            }
        )
        return
    say(f"{arguments.data}: {scored.summary}")
    for found in results:
        say()
        report.show(found, arguments.style)
    for found in sliced:
        say(f"\nby {printable(found.by)}")
        report.show(found, arguments.style)
    if arguments.plot:
        say(f"{'Forest' if scored.by else 'ROC'} plot: {report.where(arguments.plot)}")
