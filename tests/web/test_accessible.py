"""axe-core finds no fault in the pages, by light and in the dark, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest

from conformance.web.lessons import lessons

LOST = "/lessons/07-truncating-to-the-high-watermark"
LIGHT: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"}
DARK: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}


def to_the_loss(shown: Any) -> None:
    shown.locator(".card").first.wait_for()
    shown.locator("#steps button").last.click()
    shown.locator(".alarm").first.wait_for()
    shown.click("#cannot summary")


def answer_wrongly(shown: Any) -> None:
    shown.locator('.predict button[data-right="no"]').first.click()
    shown.locator("#home").wait_for()


PAGES: dict[str, tuple[str, Callable[[Any], None]]] = {
    "the start page": ("/", lambda shown: shown.locator("#board .crossing").wait_for()),
    "the list of lessons": ("/lessons", lambda shown: shown.locator("h1").first.wait_for()),
    "a lesson that asks": (LOST, lambda shown: shown.locator("#board .crossing").wait_for()),
    "a wrong answer": (LOST, answer_wrongly),
    "a claim that is broken": ("/stories/m2_is_lost", to_the_loss),
    "the tour": ("/play?tour=1", lambda shown: shown.locator("#tour").wait_for()),
}


LOOKS = {"desk, light": LIGHT, "phone, dark": DARK}
QUICK = {
    ("the start page", "phone, dark"),
    ("a wrong answer", "desk, light"),
    ("a claim that is broken", "phone, dark"),
}
"""What is looked at each time; everything else with --deep."""


@pytest.fixture(scope="module")
def axe() -> str:
    """The text of axe-core. It is run by the debugger, so that a page's own policy stands."""
    pytest.importorskip("axe_playwright_python", reason="install insync[browser]")
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def faults(shown: Any, axe: str) -> list[str]:
    """What axe-core finds: how bad, which rule, and the first place."""
    shown.evaluate(f"{axe}; 0")
    found = shown.evaluate(
        "axe.run(document, { resultTypes: ['violations'] })"
        ".then(all => ({ passed: all.passes.length, violations: all.violations.map("
        "one => `${one.impact}: ${one.id}: ${one.nodes[0].html}`) }))"
    )
    assert found["passed"] > 20, "axe-core looked at nothing"
    return list(found["violations"])


def faults_of(browser: Any, look: dict[str, Any], url: str, then: Any, axe: str) -> list[str]:
    shown = browser.new_page(reduced_motion="reduce", **look)
    try:
        shown.goto(url)
        then(shown)
        return faults(shown, axe)
    finally:
        shown.close()


@pytest.mark.parametrize(
    "page, look",
    [
        pytest.param(page, look, marks=() if (page, look) in QUICK else pytest.mark.deep)
        for page in PAGES
        for look in LOOKS
    ],
)
def test_axe_finds_no_fault(browser: Any, port: int, axe: str, page: str, look: str):
    path, then = PAGES[page]

    assert faults_of(browser, LOOKS[look], f"http://127.0.0.1:{port}{path}", then, axe) == []


@pytest.mark.deep
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", [one.name for one in lessons()])
def test_axe_finds_no_fault_in_any_lesson(browser: Any, port: int, axe: str, name: str, look: str):
    url = f"http://127.0.0.1:{port}/lessons/{name}"

    assert faults_of(browser, LOOKS[look], url, answer_wrongly, axe) == []


def test_axe_notices_a_fault(browser: Any, axe: str):
    shown = browser.new_page()
    shown.set_content(
        "<html lang=en><title>x</title><main><h1>x</h1><p>y</p>" + "<p>z</p>" * 3
        + "<button></button></main>"
    )  # fmt: skip

    shown.evaluate(f"{axe}; 0")
    found = shown.evaluate("axe.run().then(all => all.violations.map(one => one.id))")
    shown.close()

    assert found == ["button-name"]
