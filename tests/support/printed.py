"""What the examples and pages of the guide print: run, and compared with what is kept.

``python tests/support/printed.py`` keeps what they print now: of the examples in
`tests/repository/guide`, of the pages in themselves; ``python tests/support/printed.py PAGE ...`` of some pages.
"""

import io
import re
import runpy
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import pages

KEPT = pages.ROOT / "tests" / "repository" / "guide"
EXAMPLES = sorted((pages.DOCS / "gallery").glob("*.py"))
_SECONDS = re.compile(r"\d+\.\d+(?= s\b)")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+\.\d+(?:e[-+]?\d+)?")


def run(example: Path) -> str:
    """Return what an example prints; each draws a picture for its card in the gallery."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("agg")
    printed = io.StringIO()
    with redirect_stdout(printed):
        runpy.run_path(str(example))
    assert plt.get_fignums(), example
    plt.close("all")
    return printed.getvalue()


def same(shown: str, printed: str) -> bool:
    """Tell whether two texts are the same but for spacing and the last digits of their decimal numbers.

    Other processors round the sums behind them in another order; of numbers like 4.6e-04 (gaps) only the size counts,
    and seconds do not.
    """
    shown, printed = (_SECONDS.sub("some", text) for text in (shown, printed))
    words, others = (" ".join(_NUMBER.sub("#", text).split()) for text in (shown, printed))
    return words == others and all(map(_close, _NUMBER.findall(shown), _NUMBER.findall(printed)))


def _close(shown: str, printed: str) -> bool:
    if "e" in shown and "e" in printed:
        return 0.2 * float(shown) <= float(printed) <= 5.0 * float(shown)
    unit = 10.0 ** -len(shown.partition(".")[2])
    return abs(float(shown) - float(printed)) <= max(2.5 * unit, 0.02 * abs(float(shown)), 0.006)


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]) if len(sys.argv) > 1 else [*pages.PAGES, *EXAMPLES]:
        if page.suffix == ".py":
            (KEPT / f"{page.stem}.txt").write_text(run(page), encoding="utf-8")
            continue
        with tempfile.TemporaryDirectory() as folder:
            pages.rewrite(page.resolve(), Path(folder).resolve())
