"""Small rates keep their digits wherever people read them; two intervals of one rate say what each takes as fixed."""

import json
import re

import numpy as np
import pytest

from rocmax import metrics
from rocmax.metrics import FPRAtTPR, TPRAtFPR, _words as words

ZERO = re.compile(r"\b0\.0+(?![\d.])")
N_POS, N_NEG = 2_000, 1_000_000
RNG = np.random.default_rng(0)
Y = np.r_[np.ones(N_POS, bool), np.zeros(N_NEG, bool)]
S = RNG.normal(size=N_POS + N_NEG) + 5.0 * Y
NAMED = {"a": S, "b": S + RNG.normal(size=len(S))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (words.digits(1e-6), "1.0e-06"),
        (words.digits(0.00042), "0.00042"),
        (words.digits(0.0042), "0.0042"),
        (words.digits(0.0042, 3), "0.004"),  # of a known error three decimals are enough, but not for 0
        (words.digits(0.00042, 3, "+"), "+0.00042"),
        (words.digits(0.042), "0.042"),
        (words.digits(0.0), "0.000"),
        (words.digits(1e-6, words.decimals(3e-8)), "1.00e-06"),
        (words.digits(0.999998), "0.9999980"),
        (words.digits(0.9994), "0.99940"),
        (words.digits(0.9994, 3), "0.999"),
        (words.digits(1.0), "1.000"),
        (words.digits(1.0 - 1e-16), "1.000"),
        (words.ends((4.8e-7, 1.8e-6)), "4.8e-07 to 1.8e-06"),
        (words.ends((0.0, 1.8e-6)), "0 to 1.8e-06"),
        (words.bracketed(1e-6, (0.0, 1.8e-6)), "1.0e-06 [0, 1.8e-06]"),
        (words.percent(200 / 1e7), "0.0020 %"),
        (words.percent(1e-9), "1.0e-07 %"),
        (words.percent(0.0), "0.0 %"),
        (words.percent(0.42), "42.0 %"),
        (words.percent(0.0503), "5.0 %"),
        (words.percent(1 - 2e-6), "99.99980 %"),
        (words.percent(1.0), "100.0 %"),
    ],
)
def test_digits(text, expected):
    assert text == expected


def test_no_rate_is_printed_away():
    found = metrics.operating_point(Y, S, threshold=("fpr", 3e-6))
    assert found.fpr == 3e-6
    assert "FPR 3.0e-06 (95 % CI 1.0e-06 to 8.8e-06)" in found.summary()
    assert "NPV 0.999" in found.summary()
    several = metrics.operating_point(Y, S, threshold=[("fpr", 3e-6), ("fpr", 0.1)])
    assert "FPR 3.0e-06" in several.summary()
    for text in (
        str(found),
        str(several),
        metrics.infer(Y, S, FPRAtTPR(0.1)).summary(),
    ):
        assert not ZERO.search(text)


def test_both_intervals_of_a_rate_say_what_they_take_as_fixed():
    read = metrics.infer(Y, S, TPRAtFPR(3e-6))
    cut = metrics.operating_point(Y, S, threshold=("fpr", 3e-6))
    assert read.threshold == cut.threshold
    first, second = (str(found).splitlines()[0] for found in (read, cut))
    assert "the FPR is taken as fixed)" in first and second.endswith("taken as fixed")
    (low, high), (low_cut, high_cut) = read.confidence_interval, cut.tpr_interval
    assert low < low_cut < high_cut < high  # the threshold varies too
    turned = metrics.infer(Y, S, FPRAtTPR(0.9))
    assert "the TPR is taken as fixed)" in str(turned).splitlines()[0]
    point = metrics.operating_point(Y, S, threshold=("sensitivity", 0.9), method="bootstrap", random_state=0)
    assert str(point).splitlines()[0].endswith("the rule chooses anew in every resample")
    given = metrics.operating_point(Y, S, threshold=5.0)
    assert str(given).splitlines()[0] == "threshold 5 (given), taken as fixed"
    few = np.arange(200) % 2 == 0
    drawn = metrics.operating_point(few, RNG.normal(size=200) + few, method=metrics.Bootstrap(50), random_state=0)
    assert "chooses anew in every resample" in str(drawn).splitlines()[0]
    assert "the FPR is taken as fixed" in str(metrics.infer(Y, NAMED, TPRAtFPR(3e-6))).splitlines()[0]
    assert "fixed" not in str(metrics.infer(Y, S))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    import polars as pl

    path = tmp_path_factory.mktemp("small") / "scores.parquet"
    pl.DataFrame({"y": Y.astype(int), "a": S}).write_parquet(path)
    return str(path)


def test_the_command_line_keeps_digits(table, run):
    code, out, err = run("evaluate", table, "--label", "y", "--score", "a", "--fpr", 0, 1e-4, "--at", "fpr=3e-6")
    assert code == 0, err
    assert "2,000 positive (0.20 %" in out
    assert "3.0e-06 [1.0e-06, 8.8e-06]" in out
    assert "taken as fixed" in out
    assert not ZERO.search(out)


def test_the_report_keeps_digits(tmp_path):
    from rocmax.display import write_report

    path = tmp_path / "report.html"
    rare = np.r_[np.ones(20, bool), np.zeros(N_NEG, bool)]
    write_report(path, rare, np.r_[S[:20], S[N_POS:]], fpr_range=(0.0, 1e-5))
    text = path.read_text()
    assert "<dd>0.0020 %</dd>" in text
    assert "1.0000" not in text
    assert "<td>0.020</td>" in text  # true alarms per 1,000


def test_plots_keep_digits(tmp_path):
    from matplotlib.figure import Figure

    from rocmax.display import ROCDisplay

    axes = Figure().subplots()
    shown = ROCDisplay.from_predictions(Y, S, fpr_range=(0.0, 1e-5), thresholds=[("fpr", 3e-6)], ax=axes)
    shown.figure_.canvas.draw()
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert any("FPR 3.0e-06" in text for text in texts)
    zoomed = Figure().subplots()
    shown.plot(zoomed, zoom=True)
    zoomed.figure.canvas.draw()
    ticks = [label.get_text() for label in zoomed.get_xticklabels()]
    assert len(set(ticks)) == len(ticks)
    assert json.dumps(ticks).count("0.0") < len(ticks) or zoomed.xaxis.get_offset_text().get_text()
