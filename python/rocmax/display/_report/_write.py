"""The report of scores: measured, laid out, and written to a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, BinaryIO, Unpack

from numpy.typing import ArrayLike

from rocmax._checks.samples import check_level, rate_range
from rocmax._files import check_writable, written
from rocmax._parameters import shown
from rocmax._typing import Adjust
from rocmax.display._read import Scores, by_titles, models_of
from rocmax.display._report import _sections as sections
from rocmax.display._report._measured import measured
from rocmax.display._report._sections import data_block, joined, page, tag
from rocmax.metrics.samples._reading import Weighted, read
from rocmax.metrics.samples._samples import Samples


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
    confidence_level : float, default=0.95
        Nominal coverage of each interval.
    adjust : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
        How the p-values of the pairs of models are adjusted for their number.
    random_state : int, optional, default=0
        Seed of the bootstrap, for comparisons that need one.
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
    samples = read(write_report, y_true, y_score, by_titles(names, y_score, reading), Weighted, by=by)
    models = models_of(samples, names)
    held = [model.name for model in models]
    if len(set(held)) < len(held):
        raise ValueError(f"names must differ, got {shown(held)}")
    options = {"confidence_level": confidence_level, "random_state": random_state}
    content = measured(samples, models, fpr_range, adjust, source, options)
    library = Resources(mode="inline", components=["bokeh"]).js_raw[0]
    parts = files("rocmax.display._report")
    look, script = (parts.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    body = joined(sections.body(content, title), data_block("page-data", sections.data(content)))
    html = page(tag("title", title), body, look, [library, script]).encode("utf-8", "backslashreplace")
    if isinstance(path, (str, os.PathLike)):
        with written(path) as file:
            file.write(html)
    else:
        path.write(html)
