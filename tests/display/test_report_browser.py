"""The report in a browser: it draws, answers, escapes, prints, and asks the network for nothing."""

import os
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.browser

NAMES = ("new", "<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>")
FPR_RANGE = (0.0, 0.1)
# Where a point of the first figure is on the screen.
PLACE = """([fpr, tpr]) => {
  const view = [...Bokeh.index.roots].find((root) => root.el.closest("#figure-whole"));
  const box = view.el.getBoundingClientRect();
  return [box.left + view.frame.x_scale.compute(fpr), box.top + view.frame.y_scale.compute(tpr)];
}"""


def _missing(what: str) -> None:
    """Skip where there is no browser, but fail where .ci/run says that there must be one."""
    if os.environ.get("ROCMAX_BROWSER") == "required":
        pytest.fail(f"{what}, and ROCMAX_BROWSER=required")
    pytest.skip(what)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    try:
        import bokeh  # noqa: F401
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        _missing(f"no {error.name}")
    path = which("chromium") or which("chromium-browser") or which("google-chrome")
    if path is None:
        _missing("no Chromium")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path)
        yield found
        found.close()


@pytest.fixture(scope="module")
def sample() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    y = (rng.random(900) < 0.2).astype(int)
    return y, {name: rng.normal(size=900) + lead * y for name, lead in zip(NAMES, (1.8, 1.2, 0.8), strict=True)}


@pytest.fixture(scope="module")
def html(sample: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from rocmax.display import write_report

    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, *sample, fpr_range=FPR_RANGE, title=NAMES[1])
    return path


def opened(browser: Any, html: Path, **options: Any) -> tuple[Any, list[str]]:
    """Return the page, drawn, and the list of what goes wrong in it."""
    context = browser.new_context(offline=True, viewport={"width": 1200, "height": 900}, **options)
    page, wrong = context.new_page(), []
    page.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: request.url not in (html.as_uri(), *_LOCAL) and wrong.append(request.url))
    page.goto(html.as_uri())
    page.wait_for_selector("html[data-ready]")
    return page, wrong


_LOCAL = ("about:blank",)


@pytest.fixture(scope="module")
def page(browser: Any, html: Path) -> Iterator[Any]:
    found, wrong = opened(browser, html)
    yield found
    assert wrong == []


def costs(page: Any) -> list[dict[str, str]]:
    """Return the table that the slider moves."""
    rows = "rows => rows.map(row => Object.fromEntries([...row.cells].map(c => [c.dataset.of ?? 'name', c.innerText])))"
    return page.locator("#costs tr").evaluate_all(rows)


def test_it_draws_and_names_are_texts(page: Any):
    for figure in ("#figure-whole", "#figure-range"):
        assert page.locator(f"{figure} svg path").count() > 5
    assert page.locator("h1").inner_text() == page.title() == NAMES[1]
    assert [row["name"].strip() for row in costs(page)] == list(NAMES)
    assert page.locator("img").count() == 0 and page.locator("script").count() == 3


def test_the_slider_tells_what_a_rate_costs(page: Any, sample: Any):
    from rocmax.metrics import tpr_at_fpr_score

    y, scores = sample
    slider = page.locator("#rate")
    assert page.locator("#rate-shown").inner_text() == "0.1"
    for key in ("ArrowLeft", "ArrowLeft", "PageDown", "End", "Home", "ArrowRight"):
        slider.press(key)
        most = float(page.locator("#rate-shown").inner_text())
        assert slider.get_attribute("aria-valuetext") == f"false positive rate at most {most:.15g}"
        for row, column in zip(costs(page), scores.values(), strict=True):
            tpr = tpr_at_fpr_score(y, column, fpr=most)
            called = column >= max([c for c in column[y == 1] if np.mean(column[y == 1] >= c) >= tpr], default=np.inf)
            hits, alarms = called[y == 1].sum(), called[y == 0].sum()
            assert float(row["tpr"]) == pytest.approx(tpr, abs=5e-5)
            assert float(row["fpr"]) == pytest.approx(alarms / (y == 0).sum(), abs=5e-5)
            assert float(row["hits"]) == pytest.approx(1000 * hits / len(y), abs=0.051)
            assert float(row["false_alarms"]) == pytest.approx(1000 * alarms / len(y), abs=0.051)
            if hits + alarms:
                assert float(row["ppv"]) == pytest.approx(hits / (hits + alarms), abs=6e-4)
            else:
                assert row["ppv"] == "–" and row["threshold"] == "above all scores"


def test_the_slider_runs_in_alerts(page: Any, sample: Any):
    y, scores = sample
    page.locator("#unit").select_option("alerts")
    slider = page.locator("#rate")
    assert slider.input_value() == str(page.evaluate("() => page.starts.alerts"))
    for key in ("ArrowLeft", "PageDown", "Home"):
        slider.press(key)
        most = float(page.locator("#rate-shown").inner_text().replace(",", ""))
        assert slider.get_attribute("aria-valuetext") == f"alerts at most {most:,.0f}"
        for row, column in zip(costs(page), scores.values(), strict=True):
            hits = y[np.argsort(-column)[: int(most)]].sum()
            assert float(row["hits"]) == pytest.approx(1000 * hits / len(y), abs=0.051)
    page.locator("#unit").select_option("rate")
    assert page.locator("#rate-shown").inner_text() == "0.1"


def test_the_prevalence_can_be_changed(page: Any):
    page.locator("#rate").press("End")  # every positive is called so
    usual = page.locator("#prevalence").input_value()
    page.locator("#prevalence").fill("2")
    for row in costs(page):
        assert row["hits"] == "20.0" and row["missed"] == "0.0" and row["npv"] == "1.000"
        assert float(row["ppv"]) == pytest.approx(20 / (20 + 980 * float(row["fpr"])), abs=1e-3)
    page.locator("#prevalence").fill("200")
    assert [row["ppv"] for row in costs(page)] == ["–"] * 3
    page.locator("#prevalence").fill(usual)


def test_pointing_at_a_curve_tells_the_vertex(page: Any, sample: Any):
    from rocmax.metrics import roc_curve

    y, scores = sample
    fpr, tpr, thresholds = roc_curve(y, scores[NAMES[1]])
    place = len(fpr) // 3
    page.locator("#figure-whole").scroll_into_view_if_needed()
    page.mouse.move(*page.evaluate(PLACE, [fpr[place], tpr[place]]))
    tip = page.locator(".tip:visible")
    name, threshold, rates = tip.locator("div").all_inner_texts()
    assert name == NAMES[1] and threshold == f"threshold {thresholds[place]:.6g}"
    assert rates == f"FPR {fpr[place]:.5g}, TPR {tpr[place]:.5g}"
    page.mouse.move(2, 2)
    tip.wait_for(state="hidden")


def test_dragging_zooms(page: Any):
    reach = "() => Bokeh.documents.map((drawn) => drawn.roots()[0].x_range.end)"
    before = page.evaluate(reach)
    page.mouse.move(*page.evaluate(PLACE, [0.2, 0.2]))
    page.mouse.down()
    page.mouse.move(*page.evaluate(PLACE, [0.5, 0.6]), steps=4)
    page.mouse.up()
    after = page.evaluate(reach)
    assert [end for end in after if end not in before] == [pytest.approx(0.5, abs=0.02)]


def test_paper_has_the_figure_and_no_slider(page: Any):
    page.emulate_media(media="print")
    assert page.locator("#rate").is_hidden() and page.locator("nav").is_hidden()
    assert page.locator("#figure-whole svg").first.is_visible()
    assert page.locator("table.thresholds").is_visible()
    page.emulate_media(media="screen")
    assert page.locator("#rate").is_visible()


def test_dark_and_narrow(browser: Any, html: Path):
    page, wrong = opened(browser, html, color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 28)"
    page.set_viewport_size({"width": 380, "height": 700})
    for _ in range(100):  # figures follow the window a little later; the page's policy forbids wait_for_function
        if page.evaluate("document.documentElement.scrollWidth") <= 380:
            break
        page.wait_for_timeout(50)
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    assert wrong == []


def test_without_scripts_the_tables_are_there(browser: Any, html: Path):
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(html.as_uri())
    assert page.locator("table.thresholds").is_visible() and page.locator("table.matrix").is_visible()
    assert page.locator("#rate").is_hidden()
    assert page.locator("noscript p").is_visible()
