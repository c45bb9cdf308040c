"""The report of scores: its page, from top to bottom, and how it is written."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import date
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import combinations
from string import Template
from typing import Any, BinaryIO, Unpack

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.samples import check_level, rate_range
from rocmax._core import __version__
from rocmax._files import check_writable, written
from rocmax._parameters import shown
from rocmax._typing import F64, Adjust
from rocmax.display._base import Scores, models_of, require_one_naming
from rocmax.display._report._measured import Measured, Points, color, dash, figure_json
from rocmax.metrics import Comparison, Inference, SubgroupInference, _words as words
from rocmax.metrics._references import ADJUSTMENTS
from rocmax.metrics.results._result import plain
from rocmax.metrics.samples._reading import Weighted, read
from rocmax.metrics.samples._samples import Samples

_SMALL = 0.05
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


class Html(str):
    """Markup, which `tag` takes as it is; it escapes any other text."""


def tag(name: str, *children: str, **attributes: str | None) -> Html:
    """Return an element; "_" in the name of an attribute becomes "-", and attributes that are None are left out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{given}>" + ("" if name in ("br", "input") else f"{joined(*children)}</{name}>"))


def joined(*children: str) -> Html:
    """Return elements and texts one after another."""
    return Html("".join(child if isinstance(child, Html) else escape(child) for child in children))


def data_block(name: str, value: Any) -> Html:
    """Return data for scripts, escaped so that nothing in it ends the block."""
    held = json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return Html(f'<script type="application/json" id="{escape(name)}">{held}</script>')


def page(title: str, body: Html, library: str) -> str:
    """Return a page with a policy under which browsers fetch nothing and run only these scripts."""
    folder = files("rocmax.display._report")
    frame, style, own = (folder.joinpath(f"page.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js"))
    scripts = [library, own]
    hashes = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)
    made = "".join(f"<script>{script}</script>\n" for script in scripts)
    return Template(frame).substitute(hashes=hashes, title=escape(title), style=style, body=body, scripts=made)


def body(of: Measured, title: str) -> Html:
    """Return all that the page shows."""
    parts = {
        "data": ("Data", None, _data(of)),
        "measures": ("Measures", None, _measures(of)),
        "curves": ("ROC curves", None, _drawn(of)),
        "cost-of-alarms": ("What alarms cost", "screen", _costs(of)),
        "thresholds": ("Thresholds", None, _thresholds(of)),
        "subgroups": ("Subgroups", None, joined(*(_subgroups(of, by) for by in of.subgroups))),
        "comparison": ("Comparison", None, _comparison(of)),
        "methods": ("Methods", "methods", _methods(of)),
    }
    shown = [(name, heading, class_, part) for name, (heading, class_, part) in parts.items() if part]
    links = [tag("li", tag("a", heading, href=f"#{name}")) for name, heading, *_ in shown]
    lead = f"{_counted(len(of.names), 'model')}, {_counted(len(of.samples.y), 'sample')}"
    header = tag(
        "header",
        tag("h1", title),
        tag("p", lead, class_="lead"),
        tag("nav", tag("ul", *links), aria_label="Parts of this report"),
    )
    sections = [
        tag("section", tag("h2", heading), part, id=name, class_=class_) for name, heading, class_, part in shown
    ]
    footer = tag("footer", f"Written by rocmax {__version__} on {date.today().isoformat()}.")
    return joined(header, tag("main", *sections), footer)


def data(of: Measured) -> dict[str, Any]:
    """Return what the page's script reads."""
    figures = [figure_json("figure-whole", of.curves, of.fpr_range, ((-0.01, 1.01), (-0.01, 1.01)))]
    if of.fpr_range is not None:
        figures.append(figure_json("figure-range", of.details, None, _limits(of.details, of.fpr_range)))
    models = [
        {"name": of.names[k], "color": color(k), "lower": of.lower[k], "at": plain(at)}
        for k, at in enumerate(of.at_stops)
    ]
    slider = {"stops": plain(of.stops), "starts": _starts(of)}
    return {"figures": figures, "models": models, **slider, "prevalence": of.prevalence}


def _limits(details: Sequence[Points], fpr_range: tuple[float, float]) -> Any:
    """Return the limits of the axes that show the curves on a range."""
    low, high = fpr_range
    ends = np.array([np.interp(fpr_range, part.fpr, part.tpr) for part in details])
    room = max(0.03 * float(ends.max() - ends.min()), 0.02)  # a perfect ranking is a flat line
    return (low, high), (max(float(ends.min()) - room, -0.01), min(float(ends.max()) + room, 1.01))


def _counted(number: float, what: str) -> str:
    return f"{words.count(number)} {what}{'' if number == 1 else 's'}"


def _data(of: Measured) -> Html:
    whole = of.areas[0]
    weighted = whole.weight_kind is not None
    unit = "weight" if weighted else "samples"
    rows = {
        "Source": of.source,
        "Samples": words.count(len(of.samples.y)),
        "Dropped with missing values": words.count(of.samples.n_dropped) if of.samples.n_dropped else None,
        "Positive class": None if of.samples.pos_label is True else words.label_text(of.samples.pos_label),
        f"Positives ({unit})": words.count(whole.n_pos),
        f"Negatives ({unit})": words.count(whole.n_neg),
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


def _heading(of: Measured, k: int, width: int) -> list[Html]:
    """Return a row with the name of a model above its rows, if there are several models."""
    return [tag("tr", _name(of, k, "rowgroup", colspan=str(width)))] if len(of.names) > 1 else []


def _table(
    caption: str, names: Sequence[str], *bodies: Html, above: Sequence[Html] = (), class_: str | None = None
) -> Html:
    """Return a table with names of columns, which scrolls on a narrow page, and its caption."""
    name = caption.partition(".")[0]
    heads = (tag("th", head, scope="col", class_=None if k else "name") for k, head in enumerate(names))
    inside = tag("table", tag("thead", *above, tag("tr", *heads)), *bodies, class_=class_, aria_label=name)
    return joined(
        tag("div", inside, class_="scroll", tabindex="0", role="region", aria_label=name),
        tag("p", caption, class_="note"),
    )


def _without(result: Inference | Comparison) -> list[Html]:
    """Return why a result has no interval, if it has none."""
    return [tag("br"), tag("small", f"no interval: {result.no_interval}")] if result.no_interval else []


def _texts(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return estimates with their intervals, all with as many decimals."""
    ends = [(row["ci_low"], row["ci_high"]) for row in rows]
    places = [words.decimals(row["standard_error"], interval=both) for row, both in zip(rows, ends, strict=True)]
    return words.beside([row["estimate"] for row in rows], ends, places)


def _small(text: str, between: str = " ") -> Html:
    """Return "0.730 [0.630, 0.830]" with the interval in small letters."""
    first, _, rest = text.partition(" [")
    return joined(first, between, tag("small", f"[{rest}")) if rest else joined(first)


def _measures(of: Measured) -> Html:
    columns = [*of.areas, *(of.rates[fpr] for fpr in of.quoted)]
    cells = [[tag("td", _small(text), *_without(column)) for text in _texts(column.rows())] for column in columns]
    rows = [tag("tr", _name(of, k), *(column[k] for column in cells)) for k in range(len(of.names))]
    texts = [f"Measures of each model. In brackets the {words.level(of.confidence_level)}"]
    if of.fpr_range:
        texts.append("pAUC: the area under that part of the curve, divided by its width")
    texts.append("TPR at FPR f: the highest true positive rate of thresholds whose false positive rate is at most f")
    notes = [tag("p", f"Note: {note}.", class_="note") for note in of.notes]
    heads = ["model", *(column.measure.short for column in columns)]
    return joined(_table(f"{'. '.join(texts)}.", heads, tag("tbody", *rows)), *notes)


def _drawn(of: Measured) -> Html:
    key = [tag("li", _swatch(k), f"{name}: {_area(of, k)}") for k, name in enumerate(of.names)]
    about = "; ".join(f"{name} {_area(of, k)}" for k, name in enumerate(of.names[:12]))
    caption = "The whole curve." + (" The FPR range is shaded." if of.fpr_range else "")
    label = f"ROC curves: true positive rate against false positive rate. {about}"
    figures = [_figure("figure-whole", caption, label)]
    if of.fpr_range:
        rates = "positive rates from {:g} to {:g}".format(*of.fpr_range)
        figures.append(_figure("figure-range", f"False {rates}.", f"The same curves at false {rates}"))
    how = "Point at a curve for its threshold and both rates; drag to zoom, and use the reset tool to go back."
    return joined(
        tag("div", *figures, class_="drawn" if of.fpr_range else "drawn one"),
        tag("ul", *key, class_="key"),
        tag("p", how, class_="note screen"),
        tag("noscript", tag("p", "The figures need JavaScript, which is part of this page; the tables do not.")),
    )


def _figure(name: str, caption: str, label: str) -> Html:
    """Return the place of a figure, and of the tip that says where the pointer is."""
    plot, tip = tag("div", id=name, class_="plot"), tag("div", class_="tip screen", hidden="hidden")
    return tag("figure", plot, tip, tag("figcaption", caption), aria_label=label)


def _area(of: Measured, k: int) -> str:
    """Return the area of a model in words, on the range if there is one."""
    area = of.areas[-1]
    return words.named(area.measure.short + ":" * bool(of.fpr_range), _texts(area.rows())[k])


def _costs(of: Measured) -> Html:
    """Return the slider and the table that it moves."""
    at = {"max": str(len(of.stops["rate"]) - 1), "value": str(_starts(of)["rate"])}
    slider = {"type": "range", "min": "0", "step": "1", "aria_label": "limit", **at}
    share = {"type": "number", "min": "0", "max": "100", "step": "any", "value": f"{100 * of.prevalence:.4g}"}
    units = {"rate": "False positive rate", "alerts": "Alerts"}
    unit = tag("select", *(tag("option", text, value=name) for name, text in units.items()), id="unit", aria_label="of")
    shown = tag("span", unit, " at most ", tag("output", id="rate-shown", for_="rate"), class_="label")
    controls = [
        tag("div", shown, tag("input", id="rate", **slider)),
        tag("div", tag("label", "Prevalence, %", for_="prevalence"), tag("input", id="prevalence", **share)),
    ]
    above = tag("tr", *[tag("td")] * 4, tag("th", "per 1,000 samples", colspan="3", scope="colgroup", class_="group"))
    cells = [tag("td", data_of=name) for name in _COSTS]
    caption = (
        f"Results of calling all scores {_at_or_above(of)} positive. Each model has its best threshold within the"
        " limit. The prevalence is that of these samples until you change it."
    )
    return tag(
        "div",
        tag("div", *controls, class_="controls"),
        _table(
            caption,
            ["model", *_COSTS.values()],
            tag("tbody", *(tag("tr", _name(of, k), *cells) for k in range(len(of.names))), id="costs"),
            above=[above],
        ),
        class_="panel",
        data_needs_script="yes",
        hidden="hidden",
    )


def _starts(of: Measured) -> dict[str, int]:
    """Return where the slider starts: at the end of the range, or at 0.05; at as many alerts as there are positives."""
    at = {"rate": (of.fpr_range or (0.0, 0.05))[1], "alerts": max(of.areas[0].n_pos, 1.0)}
    return {unit: int(np.searchsorted(of.stops[unit], most, side="right")) - 1 for unit, most in at.items()}


def _cuts(thresholds: F64, lower: bool) -> list[str]:
    """Return thresholds in words."""
    none = f"{'below' if lower else 'above'} all scores"
    texts = words.alike(thresholds.tolist(), [None] * len(thresholds))
    return [f"{'≤ ' if lower else ''}{text}" if "inf" not in text else none for text in texts]


def _at_or_above(of: Measured) -> str:
    """Return which scores are called positive, in words."""
    if all(of.lower):
        return "at or below the threshold"
    named = [words.label_text(name) for name, low in zip(of.names, of.lower, strict=True) if low]
    return "at or above the threshold" + (f" (of {', '.join(named)} at or below it)" if named else "")


def _thresholds(of: Measured) -> Html:
    level = words.level(of.confidence_level)
    names = ("FPR at most", "threshold", "FPR", f"TPR [{level}]", *list(_COSTS.values())[3:6], "PPV")
    estimates, bodies = [result.rows() for result in of.rates.values()], []
    for k, at in enumerate(of.at_rates):
        hits, alarms = at.tpr * of.prevalence, at.fpr * (1.0 - of.prevalence)
        with np.errstate(invalid="ignore"):
            ppv = hits / (hits + alarms)
        columns: list[list[str]] = [
            _cuts(at.threshold, of.lower[k]),
            words.alike(at.fpr.tolist(), [words.UNKNOWN] * len(hits)),
            [_small(text) for text in _texts([column[k] for column in estimates])],
            *(words.alike((1000 * one).tolist(), [1] * len(hits)) for one in (hits, alarms, of.prevalence - hits)),
            [text or "–" for text in words.alike(ppv.tolist(), [words.UNKNOWN] * len(hits))],
        ]
        rows = _heading(of, k, len(names))
        for row in zip(of.rates, *columns, strict=True):
            rows.append(tag("tr", tag("th", f"{row[0]:g}", scope="row"), *(tag("td", cell) for cell in row[1:])))
        bodies.append(tag("tbody", *rows))
    caption = (
        "Thresholds by false positive rate. Alarms and missed positives are per 1,000 samples at the prevalence of"
        f" {100 * of.prevalence:.4g} % in these data. Intervals take the false positive rate as fixed and the threshold"
        " as estimated."
    )
    return _table(caption, names, *bodies, class_="thresholds")


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
            change = words.bracketed(sign * row["difference"], ends, places, "+")
            bold = "strong" if row["pvalue_adjusted"] < _SMALL else "span"
            pvalue = tag(bold, words.p_value(row["pvalue_adjusted"]))
            tested = _without(found) or [tag("br"), pvalue]
            cells[pair] = tag("td", _small(change, tag("br")), *tested)
    every = range(len(of.names))
    rows = [tag("tr", _name(of, a), *(cells.get((a, b), tag("td", "–")) for b in every)) for a in every]
    adjusted = f", adjusted by {ADJUSTMENTS[found.adjust]}" if found.adjust and len(of.names) > 2 else ""
    caption = (
        f"Differences of the {found.measure_in_words}, the row's model minus the column's, each with its"
        f" {words.level(of.confidence_level)}; p from a paired two-sided test{adjusted}, bold below 0.05."
    )
    joint = f"Test that all models are equal: {found.joint_test}." if len(of.names) > 2 else ""
    table = _table(caption, ["row minus column", *of.names], tag("tbody", *rows), class_="matrix")
    return joined(table, tag("p", joint))


def _subgroups(of: Measured, by: Sequence[SubgroupInference]) -> Html:
    """Return the area of each model in every subgroup."""
    level, first = words.level(of.confidence_level), by[0]
    names = (first.by, f"{first.measure.short} [{level}]", "positive", "negative", "from the rest", "adjusted p")
    bodies = []
    for k, found in enumerate(by):
        rows, held = _heading(of, k, len(names)), found.rows()
        texts = _texts(held)
        limits = [(row["difference_low"], row["difference_high"]) for row in held]
        apart = words.beside([row["difference"] for row in held], limits, [words.UNKNOWN] * len(held), "+")
        for row, text, change in zip(held, texts, apart, strict=True):
            cells = (
                _small(text) if text else "not estimable",
                words.count(row["n_pos"]),
                words.count(row["n_neg"]),
                _small(change),
                words.p_digits(row["pvalue_difference"], 3) if change else "",
            )
            rows.append(tag("tr", tag("th", row["subgroup"], scope="row"), *(tag("td", cell) for cell in cells)))
        bodies.append(tag("tbody", *rows))
    caption = (
        f"The {first.measure_in_words.split(' within')[0]} in each subgroup."
        ' "From the rest" is the difference from all other subgroups, with p adjusted by'
        f' {ADJUSTMENTS["holm"]}; "pooled" is {first.pooled_in_words}.'
    )
    tests = [f"{name}: all subgroups equal: {found.equality_test}." for name, found in zip(of.names, by, strict=True)]
    return joined(_table(caption, names, *bodies, class_="thresholds"), *(tag("p", text) for text in tests))


def _methods(of: Measured) -> Html:
    results = [*of.areas, *(of.rates[fpr] for fpr in of.quoted), *([of.comparison] if of.comparison else [])]
    results += [found for by in of.subgroups for found in by]
    sources = dict.fromkeys(reference for result in results for reference in result.references)
    rule = (
        f"A sample is called positive if its score is {_at_or_above(of)}. Rates, areas and thresholds are those"
        " of these samples, ties counted half; alarms per 1,000 and the positive predictive value (PPV) follow from"
        " these rates and the given prevalence."
    )
    listed = tag("ol", *(tag("li", source) for source in sources), class_="references")
    summaries = [result.summary() for result in results]
    texts = [tag("p", text[:1].upper() + text[1:]) for text in summaries]
    return joined(tag("p", rule), *texts, tag("h3", "References"), listed)


def write_report(
    path: str | os.PathLike[str] | BinaryIO,
    y_true: ArrayLike | Samples,
    y_score: Scores | None = None,
    *,
    fpr_range: float | tuple[float, float] | None = None,
    names: Sequence[str] | None = None,
    title: str = "ROC report",
    source: str | None = None,
    confidence_level: float = 0.95,
    adjust: Adjust | None = "holm",
    random_state: Any = 0,
    by: ArrayLike | Mapping[str, ArrayLike] | None = None,
    **reading: Unpack[Weighted],
) -> None:
    """Write one HTML page on the scores of models: tables, interactive figures, a slider and the methods.

    The page stands alone: it fetches nothing, and escapes the models' names and all other texts. Curves are thinned to
    the vertices that a screen can show, which stay exact; tables and the slider are exact.

    >>> y, s = [0] * 20 + [1] * 20, {"new": [*range(20), *range(10, 30)], "old": [*range(20), *range(8, 28)]}
    >>> write_report("report.html", y, s, fpr_range=(0, 0.1))  # doctest: +SKIP

    Parameters
    ----------
    path : str, path or binary file
        Where to write. An existing file is replaced once the page is complete, and kept if writing fails. Where it
        cannot be replaced (a read-only folder, a mounted file) it is overwritten in place, with a warning.
    y_true, y_score
        Labels and scores; see :class:`rocmax.metrics.Samples`. Or a :class:`rocmax.metrics.Samples` in place of both:
        ``write_report(path, samples)``.
    fpr_range : float or tuple of float, optional
        The range of false positive rates on which models are compared; it is shaded, and shown by itself.
    names : sequence of str, optional
        What the page calls the models, by default their own names.
    title : str, default="ROC report"
        The page's heading.
    source : str, optional
        Where the data come from, such as the name of a file.
    confidence_level, adjust, random_state : optional
        As of :func:`rocmax.metrics.compare`; the seed is 0 by default.
    by : array-like of shape (n_samples,) or mapping, optional
        With arrays: subgroups, such as the site of each patient, or a mapping from names to several such columns. The
        page shows the AUC, or the partial AUC on the range, in each subgroup, and tests that they are equal, as
        :func:`rocmax.metrics.infer` does.
    **reading
        With arrays: the other options of :class:`rocmax.metrics.Samples`. The page counts dropped samples.

    Raises
    ------
    ValueError
        For bad labels, scores, weights or options.
    OSError
        If the file cannot be written; checked before any work where possible.
    ImportError
        Without Bokeh, which draws the figures: the extra ``report``.

    Notes
    -----
    O(n log n) for each model. Intervals and tests are those of :func:`rocmax.metrics.infer` and
    :func:`rocmax.metrics.compare` with their usual methods.
    """
    try:
        from bokeh.resources import Resources
    except ImportError as error:
        raise ImportError("reports need Bokeh: pip install bokeh") from error
    if not isinstance(path, (str, os.PathLike)) and not hasattr(path, "write"):
        raise TypeError(f"path must be a path or a binary file, got {shown(path)}")
    if isinstance(path, (str, os.PathLike)):
        check_writable(path)
    for name, text in (("title", title), ("source", "" if source is None else source)):
        if not isinstance(text, str):
            raise ValueError(f"{name} must be a text, got {shown(text)}")
    fpr_range = None if fpr_range is None else rate_range(fpr_range, "fpr_range")
    confidence_level = check_level(confidence_level)
    require_one_naming(names, y_score, "y_score")
    samples = read(write_report, y_true, y_score, reading, Weighted, by=by)
    titles, of_models = zip(*models_of(samples, names), strict=True)
    models = {title or "score": one.two for title, one in zip(titles, of_models, strict=True)}
    if len(models) < len(titles):
        raise ValueError(f"names must differ, got {shown([*titles])}")
    options = {"confidence_level": confidence_level, "random_state": random_state}
    content = Measured(samples, models, fpr_range, adjust, source, options)
    library = Resources(mode="inline", components=["bokeh"]).js_raw[0]
    whole = joined(body(content, title), data_block("page-data", data(content)))
    html = page(title, whole, library).encode("utf-8", "backslashreplace")
    if isinstance(path, (str, os.PathLike)):
        with written(path) as file:
            file.write(html)
    else:
        path.write(html)
