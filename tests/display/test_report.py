"""The report: its numbers are those of the measures, its texts are texts, and it needs nothing but itself."""

import io
import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("bokeh")

from command_line import Run
from rocmax.display import write_report
from rocmax.display._report._measured import Points, best_at, stops, thinned
from rocmax.display._report._page import data_block, joined, tag
from rocmax.metrics import PartialAUC, TPRAtFPR, compare, infer, operating_point, roc_curve

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'"


class Page(HTMLParser):
    """The elements of a page, its texts outside scripts, and the contents of its scripts by kind."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: dict[str, list[str]] = {"": [], "application/json": []}
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, dict(attributes)))
        self.inside = name if name in ("script", "style", "title") else ""

    def handle_endtag(self, name: str) -> None:
        self.inside = ""

    def handle_data(self, text: str) -> None:
        if self.inside == "script":
            self.scripts[self.elements[-1][1].get("type") or ""].append(text)
        elif self.inside != "style" and text.strip():
            self.texts.append(text)


def report(*arguments: object, **options: object) -> Page:
    file = io.BytesIO()
    write_report(file, *arguments, **options)
    return Page(file.getvalue().decode())


@pytest.fixture(scope="module")
def sample() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    y = (rng.random(900) < 0.2).astype(int)
    return y, {name: np.round(rng.normal(size=900) + lead * y, 1) for name, lead in (("new", 1.8), ("old", 1.2))}


def test_numbers_are_those_of_the_measures(sample):
    y, scores = sample
    page = report(y, scores, fpr_range=(0, 0.1), title="Markers", source="scores.csv")
    text = " ".join(" ".join(page.texts).split())
    assert "Markers" in page.texts and "scores.csv" in page.texts
    for measure in ("auc", PartialAUC((0, 0.1)), TPRAtFPR(0.1)):
        found = infer(y, scores, measure)
        for estimate, low, high in zip(found.estimate, *found.confidence_interval, strict=True):
            assert f"{estimate:.3f} [{low:.3f}, {high:.3f}]" in text
        assert found.summary()[1:] in text
        assert set(found.references) <= set(page.texts)
    compared = compare(y, scores, PartialAUC((0, 0.1)))
    difference, (low, high) = compared.difference, compared.confidence_interval
    assert f"{difference:+.3f} [{low:+.3f}, {high:+.3f}]" in text
    assert f"{-difference:+.3f} [{-high:+.3f}, {-low:+.3f}]" in text
    assert compared.summary()[1:] in text
    for column in scores.values():  # one number of decimals in a column
        cuts = operating_point(y, column, threshold=[("fpr", 0.02), ("fpr", 0.2)]).threshold
        assert all(f" {cut:.1f} " in text for cut in cuts)


def test_the_slider_has_the_best_threshold_of_every_rate(sample):
    y, scores = sample
    page = report(y, scores, fpr_range=(0, 0.1))
    data = json.loads(page.scripts["application/json"][0])
    rates, alerts = data["stops"]["rate"], data["stops"]["alerts"]
    assert 0.1 in rates and rates == sorted(rates)
    assert alerts[:3] == [1, 2, 3] and alerts[-1] == len(y) and alerts == sorted(alerts)
    for model, column in zip(data["models"], scores.values(), strict=True):
        for unit, stops_of in data["stops"].items():
            at = model["at"][unit]
            for fpr, tpr, threshold, most in zip(at["fpr"], at["tpr"], at["threshold"], stops_of, strict=True):
                called = column >= (np.inf if threshold is None else threshold)
                assert tpr == called[y == 1].mean() and fpr == called[y == 0].mean()
                assert (fpr if unit == "rate" else called.sum()) <= most
                # As many samples as possible, without negatives below the last positive.
                cut = operating_point(y, column, threshold=("fpr" if unit == "rate" else "alerts", most)).threshold
                assert tpr == (column[y == 1] >= cut).mean()


def test_axes_of_a_perfect_ranking():
    y = np.arange(40) >= 30
    page = report(y, {"m": np.arange(40.0)}, fpr_range=(0, 0.1))
    models = str(json.loads(page.scripts["application/json"][0])["figures"][1])
    assert "'start': 0.98, 'end': 1.01" in models


def test_weights_are_repetitions(sample):
    y, scores = sample
    times = np.random.default_rng(1).integers(1, 4, len(y))
    weighted = report(y, scores, sample_weight=times)
    repeated = report(np.repeat(y, times), {name: np.repeat(column, times) for name, column in scores.items()})
    models = [json.loads(page.scripts["application/json"][0])["models"] for page in (weighted, repeated)]
    for one, other in zip(*models, strict=True):
        for unit, rate in product(("rate", "alerts"), ("tpr", "fpr")):
            np.testing.assert_allclose(one["at"][unit][rate], other["at"][unit][rate], atol=1e-12)
    assert "frequency weights" in weighted.texts and "none" in repeated.texts


@pytest.mark.parametrize("kind", ["many", "ties", "few positives", "constant"])
def test_thinned_curves_are_within_a_pixel(kind):
    rng = np.random.default_rng(2)
    n = 60_000
    y = rng.random(n) < (0.0005 if kind == "few positives" else 0.3)
    scores = {"ties": np.round(rng.normal(size=n) + y, 1), "constant": np.zeros(n)}.get(kind, rng.normal(size=n) + y)
    curve = Points(*roc_curve(y, scores, drop_intermediate=False))
    for low, high in ((0.0, 1.0), (0.001, 0.01)):
        kept = thinned(curve, low, high, 2)
        assert len(kept.fpr) <= 2002
        where = np.searchsorted(-curve.threshold, -kept.threshold)
        assert np.array_equal(curve.fpr[where], kept.fpr) and np.array_equal(curve.tpr[where], kept.tpr)
        assert kept.fpr[0] <= low and kept.fpr[-1] >= high
        inside = (curve.fpr >= kept.fpr[0]) & (curve.fpr <= kept.fpr[-1])
        # Between the vertices that are kept on either side, by steps up or along: no vertex is farther than a mark.
        before = np.searchsorted(kept.fpr + kept.tpr, (curve.fpr + curve.tpr)[inside] + 1e-12) - 1
        run = (curve.fpr[inside] - kept.fpr[before]) / (kept.fpr[-1] - kept.fpr[0])
        rise = (curve.tpr[inside] - kept.tpr[before]) / max(kept.tpr[-1] - kept.tpr[0], 1e-300)
        assert np.max(run + rise) <= 2.0 / 1000 + 1e-9


def test_best_at_is_the_naive_search():
    rng = np.random.default_rng(3)
    y, s = np.arange(200) % 3 == 0, rng.integers(0, 9, 200).astype(float)
    fpr, tpr, thresholds = roc_curve(y, s, drop_intermediate=False)
    rates = np.array([0.0, 0.1, 0.5, 1.0])
    found = best_at(Points(fpr, tpr, thresholds), fpr, rates)
    for k, rate in enumerate(rates):
        best = max(range(len(fpr)), key=lambda j: (tpr[j] if fpr[j] <= rate else -1, thresholds[j]))
        assert (found.fpr[k], found.tpr[k], found.threshold[k]) == (fpr[best], tpr[best], thresholds[best])


def test_stops_have_two_digits_and_the_ends_of_the_range():
    found = stops(1e4, (0.0123, 0.3)).tolist()
    assert found[:3] == [0.0, 1e-4, 1.1e-4] and found[-1] == 1.0 and 0.0123 in found
    assert all(float(f"{stop:.2g}") == stop for stop in found if stop != 0.0123)
    assert stops(3, (0, 1))[1] == 0.1


def test_texts_stay_texts(sample):
    y, scores = sample
    page = report(
        np.where(y == 1, HOSTILE, "no"),
        {HOSTILE: scores["new"], "plain": scores["old"]},
        pos_label=HOSTILE,
        title=HOSTILE,
        source=HOSTILE,
    )
    assert not [name for name, _ in page.elements if name == "img"]
    scripts = [attributes for name, attributes in page.elements if name == "script"]
    assert [script.get("type") for script in scripts] == ["application/json", None, None]
    assert page.texts.count(HOSTILE) >= 6  # title, heading, source, and the names in the tables
    assert json.loads(page.scripts["application/json"][0])["models"][0]["name"] == HOSTILE


def test_the_page_fetches_nothing_and_runs_its_own_scripts_only(sample):
    y, scores = sample
    page = report(y, scores)
    policy = next(attributes["content"] for name, attributes in page.elements if "http-equiv" in attributes)
    for script in page.scripts[""]:
        assert b64encode(sha256(script.encode()).digest()).decode() in policy
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe-eval" not in policy
    links = [value for _, given in page.elements for key, value in given.items() if key in ("src", "href")]
    assert links and all(link.startswith("#") for link in links)
    targets = {given.get("id") for _, given in page.elements}
    assert {link[1:] for link in links} <= targets


def test_markup_is_escaped_unless_made_here():
    assert tag("p", "<b>", tag("br"), class_='"') == '<p class="&quot;">&lt;b&gt;<br></p>'
    assert joined("a & b", tag("i", "c")) == "a &amp; b<i>c</i>"
    assert "<" not in re.sub(r"^<script[^>]*>|</script>$", "", data_block("x", ["</script>"]))


@pytest.mark.filterwarnings("ignore:fpr=.* lies beyond the data", "ignore:there are only", "ignore:method=")
def test_one_model_few_samples_and_warnings(tmp_path: Path):
    path = tmp_path / "report.html"
    write_report(path, [0, 0, 0, 1], [0.1, 0.5, 0.2, 0.4])
    page = Page(path.read_text())
    assert "Comparison" not in page.texts and [text for text in page.texts if "samples): score = 0.667" in text]
    assert "0.5" in page.texts  # a rate that three negatives know; 0.01 lies beyond them
    page = report([0, 0, 0, 1], {"a": [0.1, 0.5, 0.2, 0.4], "b": [1, 2, 3, 4]})
    assert "A comparison needs two samples of each class." in page.texts
    y = np.arange(40) % 13 == 0
    with pytest.warns(UserWarning, match="share the highest score") as caught:
        page = report(y, np.arange(40) % 3)
    assert [text for text in page.texts if caught[0].message.fact in text]  # without the advice, which names options
    assert not [text for text in page.texts if "pass finer scores" in text]
    with pytest.warns(UserWarning, match="no threshold has an FPR between 0 and 1"):
        page = report(y, np.zeros(40))
    assert len([text for text in page.texts if "share the highest score" in text]) == 1  # not one for every rate


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fpr_range": (0.2, 0.1)}, "fpr_range must satisfy"),
        ({"confidence_level": 95}, r"confidence_level must be a number in \(0, 1\), got 95"),
        ({"names": ["one"]}, "names must be a list of 2 names"),
        ({"names": ["one", "one"]}, r"names must differ, got \['one', 'one'\]"),
        ({"title": 3}, "title must be a text, got 3"),
        ({"adjust": "none"}, "adjust must be one of"),
    ],
)
def test_bad_input_is_named(options: dict, message: str, tmp_path: Path):
    with pytest.raises(ValueError, match=message):
        write_report(tmp_path / "no.html", [0, 1, 0, 1], np.zeros((4, 2)), **options)
    assert not (tmp_path / "no.html").exists()


def test_the_command_line_writes_it(run: Run, sample, tmp_path: Path):
    pl = pytest.importorskip("polars")
    y, scores = sample
    data, path = tmp_path / "scores.csv", tmp_path / "report.html"
    pl.DataFrame({"sick": y, "<b>new</b>": scores["new"], "old": scores["old"]}).write_csv(data)
    arguments = ("evaluate", data, "--label", "sick", "--score", "<b>new</b>", "old", "--fpr", 0, 0.1)
    code, out, _ = run(*arguments, "--report", path)
    assert code == 0 and str(path) in out.replace("\n", "")
    page = Page(path.read_text())
    assert "<b>new</b>" in page.texts and f"{data}; sick = 1 is positive" in page.texts
    code, out, _ = run(*arguments, "--json", "--report", path)
    assert json.loads(out)["report"] == str(path)
    code, _, err = run(*arguments, "--report", data)
    assert code == 2 and "would overwrite the input" in err


def test_subgroups_are_those_of_infer(run: Run, sample, tmp_path: Path):
    y, scores = sample
    site = np.array(["north", "<south>", "few"])[np.where(np.arange(900) < 2, 2, np.arange(900) % 2)]
    half = np.arange(900) % 3.0
    page = report(y, scores, by={"site": site, "half": half})
    text = " ".join(" ".join(page.texts).split())
    assert "Subgroups" in page.texts and "<south>" in page.texts and "not estimable" in page.texts
    for by in (site, half):
        for name, column in scores.items():
            found = infer(y, column, by=by)
            assert f"{name}: all subgroups equal: {found.equality_test}." in text
            for one in found.subgroups.values():
                assert (
                    f"{one.estimate:.3f} [{one.confidence_interval[0]:.3f}, {one.confidence_interval[1]:.3f}]" in text
                )
    holes = np.where(np.arange(900) == 5, np.nan, half)
    assert "Subgroups" in report(y, scores["new"], by=holes, missing="drop").texts
    assert "Subgroups" not in report(y, scores["new"]).texts
    with pytest.raises(ValueError, match="by must have shape"):
        report(y, scores["new"], by=half[:-1])
    pl = pytest.importorskip("polars")
    data, path = tmp_path / "scores.csv", tmp_path / "report.html"
    pl.DataFrame({"sick": y, "site": site, **scores}).write_csv(data)
    assert run("evaluate", data, "--label", "sick", "--score", "new", "--by", "site", "--report", path)[0] == 0
    found = infer(y, scores["new"], by=site)
    assert f"new: all subgroups equal: {found.equality_test}." in Page(path.read_text()).texts
