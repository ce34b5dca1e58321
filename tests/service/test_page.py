"""The page in a browser: its numbers are those of the service, and nothing goes wrong in the console."""

import json
import os
import shutil
from contextlib import contextmanager

import httpx
import pytest

from ouzel.service.feed import Plan
from ouzel.service.folder import Folder, begin
from ouzel.service.server import Place
from ouzel.service.tokens import make_token
from tests.service.killing import Running
from tests.streams.logs.memory_log import GrowingLog
from tests.streams.logs.servers import messages

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
in_a_browser = pytest.mark.skipif(CHROMIUM is None or not hasattr(os, "fork"), reason="there is no Chromium")


@contextmanager
def serving(folder, names=("model",), **options):
    """A service of untrained models in folders of these names, the second in the first one's shadow."""
    folders = [Folder(folder / name) for name in names]
    for one in folders:
        begin(one, None, "adagrad", {}, {})
    running = Running(folders[0], shadow=folders[1] if len(folders) > 1 else None, **options)
    try:
        yield running
    finally:
        running.end()


@contextmanager
def shown(browser, address, width=1280, **options):
    """The page; at the end it must fit its window, and its console must be empty."""
    said, page = [], browser.new_context(viewport={"width": width, "height": 800}, **options).new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(address)
    yield page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []


@pytest.fixture
def browser():
    """A browser, and what its console said."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as began:
        browser = began.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def examples(count):
    return [{"label": ["in time", "late"][k % 3 == 0], "distance": k % 3, "city": f"c{k % 4}"} for k in range(count)]


def test_the_page_and_its_files_are_there_without_a_token(start):
    client = start()

    for path in ("/", "/page/page.css", "/page/page.js", "/page/draw.js"):
        assert client.get(path).status_code == 200
    assert "http" not in client.get("/").text.replace("http-equiv", ""), "nothing comes from elsewhere"


@in_a_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_numbers_on_the_page_are_those_of_the_service(browser, tmp_path, width):
    with serving(tmp_path) as running:
        httpx.post(f"{running.address}/v1/learn", json=[*examples(300), {"distance": 1}])
        with shown(browser, running.address, width) as page:
            page.wait_for_selector("[data-figure=examples] b")
            page.wait_for_selector("#top table")
            model = httpx.get(f"{running.address}/v1/model").json()

            assert page.inner_text("[data-figure=examples] b") == "300"
            assert page.inner_text("[data-figure=error_rate] b") == _share(model["error_rate"])
            assert page.inner_text("[data-figure=baseline] b") == _share(model["baseline"])
            heaviest = httpx.get(f"{running.address}/v1/top?n=1").json()[0]["features"][0][0]
            assert page.inner_text("#top tbody tr:first-child td:first-child") == heaviest
            page.wait_for_selector("#quarantine table")
            assert "found no label" in page.inner_text("#quarantine")

            page.fill("#example", '{"distance": 0, "city": "c0"}')
            page.click("#try button")
            page.wait_for_selector("#said")
            answer = httpx.post(f"{running.address}/v1/predict", json={"distance": 0, "city": "c0"}).json()
            assert page.inner_text("#said") == answer["prediction"]

            httpx.post(f"{running.address}/v1/learn", json=examples(7))
            page.wait_for_selector("[data-figure=examples] b:text-is('307')")


@in_a_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_tells_where_a_log_stands_that_feeds_the_model(browser, tmp_path, monkeypatch, width):
    monkeypatch.setattr("ouzel.service.feed.open_log", lambda url, reading: GrowingLog(messages(1234)))
    place = Place(feeds=[Plan("kafka://broker:9092/clicks")])
    with serving(tmp_path, place=place) as running, shown(browser, running.address, width) as page:
        page.wait_for_selector("[data-figure=examples] b:text-is('1,234')")
        page.wait_for_selector("#feeds td:text-is('at the end')")
        (feed,) = httpx.get(f"{running.address}/v1/model").json()["feeds"]
        cells = {cell.get_attribute("data-name"): cell.inner_text() for cell in page.query_selector_all("#feeds td")}

        assert (cells["log"], cells["last learnt"]) == (feed["log"], str(feed["position"][""]))
        assert (cells["examples"], cells["to come"], cells["refused"]) == ("1,234", "0", "0")


@in_a_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_shows_warnings_an_example_of_its_own_columns_and_dots_by_count(browser, tmp_path, width):
    with serving(tmp_path) as running:
        lines = [{"label": "ab"[k % 3 == 0], "x": k % 7 + 0.5, "city": f"c{k % 4}"} for k in range(400)]
        httpx.post(f"{running.address}/v1/learn", json=lines)
        httpx.post(f"{running.address}/v1/learn", json={"label": "a", "x": "oops"})
        with shown(browser, running.address, width) as page:
            page.wait_for_selector("#warnings li")
            model = httpx.get(f"{running.address}/v1/model").json()

            assert [line.inner_text() for line in page.query_selector_all("#warnings li")] == model["warnings"]
            assert "the word 'oops' among numbers" in page.inner_text("#warnings")
            example = json.loads(page.input_value("#example"))
            assert example == model["example"]
            assert example.keys() <= {"x", "city"}
            page.click("#try button")
            page.wait_for_selector("#said")
            assert (
                page.inner_text("#said")
                == httpx.post(f"{running.address}/v1/predict", json=example).json()["prediction"]
            )
            page.fill("#example", '{"x": 1}')
            page.wait_for_timeout(6000)
            assert page.input_value("#example") == '{"x": 1}', "what somebody wrote stays"
            dots = [float(dot.get_attribute("r")) for dot in page.query_selector_all("#calibration .dot")]
            areas = [radius**2 / max(dots) ** 2 for radius in dots]
            counts = model["calibration_weights"]
            for area, count in zip(areas, counts, strict=True):
                assert area == pytest.approx(max((1.5 / 9) ** 2, count / max(counts)), abs=0.01)


@in_a_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_goes_on_with_a_promoted_model_and_shows_what_a_shadow_refuses(browser, tmp_path, width):
    with serving(tmp_path, ("model", "next")) as running:
        httpx.post(f"{running.address}/v1/learn", json=examples(50))
        with shown(browser, running.address, width) as page:
            page.wait_for_selector("#models td:text-is('next (shadow)')")
            names = {cell.get_attribute("data-name") for cell in page.query_selector_all("#models td")}
            assert {"refused", "behind"} <= names
            assert page.input_value("#model") == "model"
            assert httpx.post(f"{running.address}/v1/models/next/promote").status_code == 200
            httpx.post(f"{running.address}/v1/learn", json=examples(7))
            page.wait_for_selector("[data-figure=examples] b:text-is('57')")
            assert page.input_value("#model") == "next"
            page.wait_for_selector("#models td:text-is('next (first)')")
            page.select_option("#model", "model")
            page.wait_for_selector("[data-figure=examples] b:text-is('50')")
            page.wait_for_timeout(6000)
            assert page.input_value("#model") == "model", "what somebody chose stays"


@in_a_browser
def test_the_page_asks_for_a_token_where_there_must_be_one(browser, tmp_path):
    token, line = make_token("page", ["predict"])
    (tmp_path / "tokens").write_text(line)
    with serving(tmp_path, place=Place(tokens=str(tmp_path / "tokens"))) as running:
        page = browser.new_page()
        page.goto(running.address)
        page.wait_for_selector("#token")
        page.fill("#token", token)
        page.click("#door button")
        page.wait_for_selector("[data-figure=examples]")


def _share(value):
    return f"{100 * value:.2f} %" if value < 0.1 else f"{100 * value:.1f} %"
