"""What the examples of the guide print: run, and compared with what is kept.

``python tests/printed.py`` keeps what they print now, in `tests/guide`.
"""

import io
import re
import runpy
from contextlib import redirect_stdout
from pathlib import Path

KEPT = Path(__file__).parent / "guide"
EXAMPLES = sorted((Path(__file__).parents[1] / "python" / "docs" / "gallery").glob("*.py"))
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+\.\d+(?:e[-+]?\d+)?")


def run(example: Path) -> str:
    """Return what an example prints."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("agg")
    printed = io.StringIO()
    with redirect_stdout(printed):
        runpy.run_path(str(example))
    plt.close("all")
    return printed.getvalue()


def same(shown: str, printed: str) -> bool:
    """Tell whether two texts are the same but for spacing and the last digits of their decimal numbers.

    Other processors round the sums behind them in another order.
    """
    words, others = (" ".join(_NUMBER.sub("#", text).split()) for text in (shown, printed))
    return words == others and all(map(_close, _NUMBER.findall(shown), _NUMBER.findall(printed)))


def _close(shown: str, printed: str) -> bool:
    decimals = len(shown.partition("e")[0].partition(".")[2])
    unit = 10.0 ** (int(shown.partition("e")[2] or 0) - decimals)
    return abs(float(shown) - float(printed)) <= max(2.5 * unit, 0.02 * abs(float(shown)))


if __name__ == "__main__":
    for example in EXAMPLES:
        (KEPT / f"{example.stem}.txt").write_text(run(example), encoding="utf-8")
