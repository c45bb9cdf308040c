"""The parts of a report's page, from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import combinations
from math import isfinite
from typing import Any

import numpy as np

from rocmax._core import __version__
from rocmax.display._report._figure import color, dash, figure_json
from rocmax.display._report._html import Html, joined, tag
from rocmax.display._report._measured import Measured
from rocmax.display._report._thin import Points
from rocmax.metrics import Inference
from rocmax.metrics.results import _words as words
from rocmax.metrics.results._references import ADJUSTMENTS

_SMALL = 0.05
_PARTS = {
    "data": "Data",
    "measures": "Measures",
    "curves": "ROC curves",
    "cost-of-alarms": "What a false positive rate costs",
    "thresholds": "Thresholds",
    "comparison": "Comparison",
    "methods": "Methods",
}
# Columns of the table that the slider moves.
_COSTS = {
    "threshold": "threshold",
    "tpr": "TPR",
    "fpr": "FPR",
    "hits": "true alarms",
    "false_alarms": "false alarms",
    "missed": "missed positives",
    "ppv": "PPV",
    "npv": "NPV",
}


def body(of: Measured, title: str, source: str | None) -> Html:
    """Return all that the page shows."""
    parts = {
        "data": _data(of, source),
        "measures": _measures(of),
        "curves": _drawn(of),
        "cost-of-alarms": _costs(of),
        "thresholds": _thresholds(of),
        "comparison": _comparison(of),
        "methods": _methods(of),
    }
    shown = {name: part for name, part in parts.items() if part is not None}
    links = [tag("li", tag("a", _PARTS[name], href=f"#{name}")) for name in shown]
    lead = f"{_counted(len(of.names), 'model')}, {_counted(of.n_samples, 'sample')}"
    header = tag(
        "header",
        tag("h1", title),
        tag("p", lead, class_="lead"),
        tag("nav", tag("ul", *links), aria_label="Parts of this report"),
    )
    sections = [
        tag("section", tag("h2", _PARTS[name]), part, id=name, class_=_class(name)) for name, part in shown.items()
    ]
    footer = tag("footer", f"Written by rocmax {__version__} on {date.today().isoformat()}.")
    return joined(header, tag("main", *sections), footer)


def data(of: Measured) -> dict[str, Any]:
    """Return what the page's script reads."""
    figures = [figure_json("figure-whole", of.curves, of.fpr_range, ((-0.01, 1.01), (-0.01, 1.01)))]
    if of.fpr_range is not None:
        figures.append(figure_json("figure-range", of.details, None, _limits(of.details, of.fpr_range)))
    models = [
        {
            "name": of.names[k],
            "color": color(k),
            "lower": of.lower[k],
            "fpr": at.fpr.tolist(),
            "tpr": at.tpr.tolist(),
            "threshold": [value if isfinite(value) else None for value in at.threshold.tolist()],
        }
        for k, at in enumerate(of.at_stops)
    ]
    return {"figures": figures, "models": models, "stops": of.stops.tolist(), "prevalence": of.prevalence}


def _limits(details: Sequence[Points], fpr_range: tuple[float, float]) -> Any:
    """Return the limits of the axes that show the curves on a range."""
    low, high = fpr_range
    ends = np.array([np.interp(fpr_range, part.fpr, part.tpr) for part in details])
    room = 0.03 * max(float(ends.max() - ends.min()), 1e-3)
    return (low, high), (max(float(ends.min()) - room, -0.01), min(float(ends.max()) + room, 1.01))


def _class(name: str) -> str | None:
    return "screen" if name == "cost-of-alarms" else "methods" if name == "methods" else None


def _counted(number: float, what: str) -> str:
    return f"{words.count(number)} {what}{'' if number == 1 else 's'}"


def _data(of: Measured, source: str | None) -> Html:
    whole = of.areas[0]
    weighted = whole.weight_kind is not None
    unit = "weight" if weighted else "samples"
    rows = {
        "Source": source,
        "Samples": words.count(of.n_samples),
        "Dropped with missing values": words.count(of.n_dropped) if of.n_dropped else None,
        "Positive class": None if of.pos_label is True else words.label_text(of.pos_label),
        f"Positives ({unit})": words.count(of.n_pos),
        f"Negatives ({unit})": words.count(of.n_neg),
        "Prevalence": words.percent(of.prevalence),
        "Weights": f"{whole.weight_kind} weights" if weighted else "none",
        "Clusters": words.count(whole.n_groups) if whole.n_groups else None,
        "Range of false positive rates": f"{of.fpr_range[0]:g} to {of.fpr_range[1]:g}" if of.fpr_range else None,
    }
    listed = [part for name, value in rows.items() if value is not None for part in (tag("dt", name), tag("dd", value))]
    return tag("dl", *listed)


def _swatch(k: int) -> Html:
    return tag("span", class_="swatch", style=f"border-color:{color(k)};border-top-style:{dash(k)}", aria_hidden="true")


def _name(of: Measured, k: int, scope: str = "row", **attributes: str) -> Html:
    """Return the cell with a model's name."""
    return tag("th", _swatch(k), of.names[k], scope=scope, **attributes)


def _table(caption: str, head: Sequence[Html], *bodies: Html, class_: str | None = None) -> Html:
    """Return a table, which scrolls where the page is narrow, and what is to be said of it."""
    name = caption.partition(".")[0]
    inside = tag("table", tag("thead", *head), *bodies, class_=class_, aria_label=name)
    return joined(
        tag("div", inside, class_="scroll", tabindex="0", role="region", aria_label=name),
        tag("p", caption, class_="note"),
    )


def _each(result: Inference) -> list[tuple[float, float, float, float]]:
    """Return estimate, standard error and interval of each model."""
    rows = result.rows()
    return [(row["estimate"], row["standard_error"], row["ci_low"], row["ci_high"]) for row in rows]


def _with_interval(estimate: float, error: float, low: float, high: float) -> Html:
    first, _, rest = words.bracketed(estimate, (low, high), words.decimals(error, interval=(low, high))).partition(" [")
    return joined(first, " ", tag("small", f"[{rest}"))


def _measures(of: Measured) -> Html:
    columns = [*of.areas, *(of.rates[fpr] for fpr in of.quoted)]
    heads = [tag("th", "model", scope="col", class_="name")]
    heads += [tag("th", column.measure.short, scope="col") for column in columns]
    cells = [[tag("td", _with_interval(*row)) for row in _each(column)] for column in columns]
    rows = [tag("tr", _name(of, k), *(column[k] for column in cells)) for k in range(len(of.names))]
    said = [f"Measures of each model. In brackets the {words.level(of.confidence_level)}"]
    if of.fpr_range:
        said.append("pAUC: the area under that part of the curve, divided by its width")
    said.append("TPR at FPR f: the highest true positive rate of thresholds whose false positive rate is at most f")
    notes = [tag("p", f"Note: {note}.", class_="note") for note in of.notes]
    return joined(_table(f"{'. '.join(said)}.", [tag("tr", *heads)], tag("tbody", *rows)), *notes)


def _drawn(of: Measured) -> Html:
    key = [tag("li", _swatch(k), f"{name}: {_area(of, k)}") for k, name in enumerate(of.names)]
    about = "; ".join(f"{name} {_area(of, k)}" for k, name in enumerate(of.names[:12]))
    figures = [
        tag(
            "figure",
            tag("div", id="figure-whole", class_="plot"),
            tag("div", class_="tip screen", hidden="hidden"),
            tag("figcaption", "The whole curve." + (" The range that counts is shaded." if of.fpr_range else "")),
            aria_label=f"ROC curves: true positive rate against false positive rate. {about}",
        )
    ]
    if of.fpr_range:
        low, high = of.fpr_range
        figures.append(
            tag(
                "figure",
                tag("div", id="figure-range", class_="plot"),
                tag("div", class_="tip screen", hidden="hidden"),
                tag("figcaption", f"False positive rates from {low:g} to {high:g}."),
                aria_label=f"The same curves at false positive rates from {low:g} to {high:g}",
            )
        )
    how = "Point at a curve for its threshold and both rates; drag to zoom, and use the reset tool to go back."
    return joined(
        tag("div", *figures, class_="drawn" if of.fpr_range else "drawn one"),
        tag("ul", *key, class_="key"),
        tag("p", how, class_="note screen"),
        tag("noscript", tag("p", "The figures need JavaScript, which is part of this page; the tables do not.")),
    )


def _area(of: Measured, k: int) -> str:
    """Return the measure that counts in words."""
    estimate, error, low, high = _each(of.areas[-1])[k]
    return words.named(
        of.areas[-1].measure.short + ":" * bool(of.fpr_range),
        words.bracketed(estimate, (low, high), words.decimals(error, interval=(low, high))),
    )


def _costs(of: Measured) -> Html:
    """Return the slider and the table that it moves."""
    slider = {"type": "range", "min": "0", "max": str(len(of.stops) - 1), "step": "1", "value": str(_start(of))}
    share = {"type": "number", "min": "0", "max": "100", "step": "any", "value": f"{100 * of.prevalence:.4g}"}
    rate = tag("output", id="rate-shown", for_="rate")
    controls = [
        tag("div", tag("label", "False positive rate at most ", rate, for_="rate"), tag("input", id="rate", **slider)),
        tag("div", tag("label", "Prevalence, %", for_="prevalence"), tag("input", id="prevalence", **share)),
    ]
    above = tag("tr", *[tag("td")] * 4, tag("th", "per 1,000 samples", colspan="3", scope="colgroup", class_="group"))
    heads = [tag("th", head, scope="col") for head in _COSTS.values()]
    cells = [tag("td", data_of=name) for name in _COSTS]
    caption = (
        f"What it does to call positive all scores {_at_or_above(of)}, which for each model is the best one that"
        " keeps to the rate. The prevalence is that of these samples until you change it."
    )
    return tag(
        "div",
        tag("div", *controls, class_="controls"),
        _table(
            caption,
            [above, tag("tr", tag("th", "model", scope="col", class_="name"), *heads)],
            tag("tbody", *(tag("tr", _name(of, k), *cells) for k in range(len(of.names))), id="costs"),
        ),
        class_="panel",
        data_needs_script="yes",
        hidden="hidden",
    )


def _start(of: Measured) -> int:
    """Return the place of the slider at first: the end of the range that counts, or 0.05."""
    return int(np.searchsorted(of.stops, (of.fpr_range or (0.0, 0.05))[1], side="right")) - 1


def _cut(threshold: float, lower: bool) -> str:
    """Return a threshold in words."""
    if not isfinite(threshold):
        return f"{'below' if lower else 'above'} all scores"
    return f"{'≤ ' if lower else ''}{threshold:.6g}"


def _at_or_above(of: Measured) -> str:
    """Return which side of a threshold is called positive, in words."""
    if not any(of.lower):
        return "at or above the threshold"
    named = [words.label_text(name) for name, low in zip(of.names, of.lower, strict=True) if low]
    return f"at or {'below' if all(of.lower) else 'above'} the threshold" + (
        "" if all(of.lower) else f" (of {', '.join(named)} at or below it)"
    )


def _thresholds(of: Measured) -> Html:
    level = words.level(of.confidence_level)
    names = ("FPR at most", "threshold", "FPR", f"TPR [{level}]", *list(_COSTS.values())[3:6], "PPV")
    heads = tag("tr", *(tag("th", name, scope="col") for name in names))
    columns = [_each(of.rates[fpr]) for fpr in of.rates]
    bodies = []
    for k, at in enumerate(of.at_rates):
        rows = [tag("tr", _name(of, k, "rowgroup", colspan=str(len(names))))] if len(of.names) > 1 else []
        for j, most in enumerate(of.rates):
            tpr, fpr, threshold = (float(values[j]) for values in (at.tpr, at.fpr, at.threshold))
            hits, alarms = tpr * of.prevalence, fpr * (1.0 - of.prevalence)
            numbers = (
                _cut(threshold, of.lower[k]),
                f"{fpr:.4g}",
                _with_interval(*columns[j][k]),
                *(words.digits(1000 * share, 1) for share in (hits, alarms, of.prevalence - hits)),
                words.digits(hits / (hits + alarms)) if hits + alarms else "–",
            )
            rows.append(tag("tr", tag("th", f"{most:g}", scope="row"), *(tag("td", number) for number in numbers)))
        bodies.append(tag("tbody", *rows))
    caption = (
        "Thresholds by the false positive rate. Alarms and missed positives are per 1,000 samples of the prevalence"
        f" here, {100 * of.prevalence:.4g} %. Intervals take the false positive rate as fixed and allow for"
        " thresholds that were chosen on these samples."
    )
    return _table(caption, [heads], *bodies, class_="thresholds")


def _comparison(of: Measured) -> Html | None:
    if len(of.names) < 2:
        return None
    found = of.comparison
    if found is None:
        return tag("p", "A comparison needs two samples of each class.")
    cells: dict[tuple[int, int], Html] = {}
    for row, (a, b) in zip(found.rows(), combinations(range(len(of.names)), 2), strict=True):
        places = words.decimals(row["standard_error"])
        for pair, sign in (((a, b), 1), ((b, a), -1)):
            ends = sorted((sign * row["ci_low"], sign * row["ci_high"]))
            first, _, rest = words.bracketed(sign * row["difference"], ends, places, "+").partition(" [")
            pvalue = words.p_value(row["pvalue_adjusted"])
            small = row["pvalue_adjusted"] < _SMALL
            inside = [first, tag("br"), tag("small", f"[{rest}"), tag("br"), tag("strong" if small else "span", pvalue)]
            cells[pair] = tag("td", *inside)
    every = range(len(of.names))
    heads = [tag("th", "row minus column", scope="col", class_="name")]
    heads += [tag("th", name, scope="col") for name in of.names]
    rows = [tag("tr", _name(of, a), *(cells.get((a, b), tag("td", "–")) for b in every)) for a in every]
    adjusted = f", adjusted by {ADJUSTMENTS[found.adjust]}" if found.adjust and len(of.names) > 2 else ""
    caption = (
        f"Differences of the {found.measure_in_words}, the row's model minus the column's. In brackets the"
        f" {words.level(of.confidence_level)}, each by itself; p of a paired two-sided test{adjusted}, bold below 0.05."
    )
    joint = f"Test that all models are equal: {found.joint_test}." if len(of.names) > 2 else ""
    return joined(_table(caption, [tag("tr", *heads)], tag("tbody", *rows), class_="matrix"), tag("p", joint))


def _methods(of: Measured) -> Html:
    results = [*of.areas, *(of.rates[fpr] for fpr in of.quoted), *([of.comparison] if of.comparison else [])]
    sources = dict.fromkeys(reference for result in results for reference in result.references)
    rule = (
        f"A sample is called positive if its score is {_at_or_above(of)}. Rates, areas and thresholds are those"
        " of these samples, ties counted half; alarms per 1,000 and the positive predictive value (PPV) are what these"
        " rates mean at the prevalence that is given."
    )
    listed = tag("ol", *(tag("li", source) for source in sources), class_="references")
    summaries = [result.summary() for result in results]
    said = [tag("p", text[:1].upper() + text[1:]) for text in summaries]
    return joined(tag("p", rule), *said, tag("h3", "References"), listed)
