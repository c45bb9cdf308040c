"""The report of scores: measured, laid out, and written to a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.missing import complete, directions
from rocmax._checks.samples import DROP, check_level, rate_range
from rocmax._files import check_writable, written
from rocmax._parameters import shown
from rocmax.display._common import Scores, in_memory, is_positive, named_scores
from rocmax.display._report import _sections as sections
from rocmax.display._report._html import data_block, joined, page, tag
from rocmax.display._report._measured import measured


def write_report(
    path: str | os.PathLike[str] | BinaryIO,
    y_true: ArrayLike,
    y_score: Scores,
    *,
    fpr_range: tuple[float, float] | None = None,
    names: Sequence[str] | None = None,
    title: str = "ROC report",
    source: str | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: str | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    higher_is_better: Any = True,
    missing: str = "raise",
    confidence_level: float = 0.95,
    adjust: str | None = "holm",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> None:
    """Write one HTML page with all that is measured of scores: tables, figures to point at, a slider, the methods.

    The page stands alone: it fetches nothing, and shows texts such as the models' names as texts, whatever they hold.
    Curves are thinned to the vertices that a screen can show, which stay exact; tables and the slider are exact.

    Parameters
    ----------
    path : str, path or binary file
        Where to write. A file that is there is replaced once the page is whole; after a failure it is as it was. Where
        it cannot be replaced (a read-only folder, a mounted file) it is overwritten in place, with a warning.
    y_true : array-like of shape (n_samples,)
        Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical or `pos_label`
        tells which is positive.
    y_score : array-like of shape (n_samples,) or (n_samples, n_models), or mapping
        Scores, or a mapping from the models' names to their scores; columns of a data frame have names as well.
    fpr_range : tuple of float, optional
        The range of false positive rates that counts: shaded, shown by itself, and what models are compared on.
    names : sequence of str, optional
        Names of the columns of `y_score`.
    title : str, default="ROC report"
        The page's heading.
    source : str, optional
        Where the data are from, such as the name of a file.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights.
    weight_kind, groups : optional
        As in :func:`rocmax.metrics.infer`.
    pos_label : label, optional
        The positive class.
    higher_is_better, missing : optional
        As in :func:`rocmax.metrics.infer`; the page counts what was dropped.
    confidence_level : float, default=0.95
        Nominal coverage of each interval.
    adjust : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
        How the p-values of the pairs of models are adjusted for their number.
    random_state : int, optional, default=0
        Seed of the bootstrap, for comparisons that need one.
    n_jobs : int, optional
        Threads; None stands for all cores.

    Raises
    ------
    ValueError
        For bad labels, scores, weights or options.
    OSError
        If the file cannot be written, where that can be known before any work.
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
        raise ImportError("reports need Bokeh: pip install 'rocmax[report]'") from error
    if not isinstance(path, (str, os.PathLike)) and not hasattr(path, "write"):
        raise TypeError(f"path must be a path or a binary file, got {shown(path)}")
    if isinstance(path, (str, os.PathLike)):
        check_writable(path)
    for name, text in (("title", title), ("source", "" if source is None else source)):
        if not isinstance(text, str):
            raise ValueError(f"{name} must be a text, got {shown(text)}")
    fpr_range = None if fpr_range is None else rate_range(fpr_range, "fpr_range")
    confidence_level = check_level(confidence_level)
    y_true, y_score, sample_weight = in_memory(y_true, y_score, sample_weight)
    given = {"y_true": y_true, "y_score": y_score, "sample_weight": sample_weight, "groups": groups}
    (y_true, y_score, sample_weight, groups), n_dropped = complete(missing, **given)
    positive, label = is_positive(y_true, pos_label, remedy={"remedy": DROP})
    found = named_scores(y_score, names, len(positive))
    columns = {name or "score": scores for name, scores in found}
    lower = np.broadcast_to(directions(higher_is_better, [name for name, _ in found], len(found)), len(found)).tolist()
    if len(columns) < len(found):
        raise ValueError(f"names must differ, got {shown([name for name, _ in found])}")
    content = measured(
        positive,
        columns,
        label,
        lower,
        fpr_range=fpr_range,
        confidence_level=confidence_level,
        n_dropped=n_dropped,
        adjust=adjust,
        sample_weight=sample_weight,
        weight_kind=weight_kind,
        groups=groups,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    library = Resources(mode="inline", components=["bokeh"]).js_raw[0]
    parts = files("rocmax.display._report")
    look, script = (parts.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    body = joined(sections.body(content, title, source), data_block("page-data", sections.data(content)))
    html = page(tag("title", title), body, look, [library, script]).encode("utf-8", "backslashreplace")
    if isinstance(path, (str, os.PathLike)):
        with written(path) as file:
            file.write(html)
    else:
        path.write(html)
