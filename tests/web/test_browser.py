"""The explorer in a real browser: lessons, keyboard, words for screen readers, sizes, long runs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.web.address import address
from conformance.web.board import board
from conformance.web.compare import compared, under
from conformance.web.compare import page as comparison_page
from conformance.web.explain import frames_of, page
from conformance.web.lessons import Lesson, lessons
from conformance.web.run_files import ReplayedRun, read_run

STORIES = Path(__file__).resolve().parents[2] / "specs" / "stories"
SIZES = [(1280, 720), (390, 844)]
FOCUSED = "(one => one.id || one.className || one.tagName)(document.activeElement)"
MEASURE = """
window.shifted = 0;
new PerformanceObserver(list => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.fixture
def seen(browser: Any) -> Iterator[Any]:
    """A page that has said nothing in the console and asked nobody but this machine."""
    shown = browser.new_page(viewport={"width": 1280, "height": 720})
    shown.set_default_timeout(60_000)
    wrong: list[str] = []
    shown.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    shown.on("pageerror", lambda error: wrong.append(str(error)))
    shown.on("request", lambda asked: wrong.append(asked.url) if _leaves(asked.url) else None)
    yield shown
    shown.close()
    assert wrong == []


def _leaves(url: str) -> bool:
    return not re.match(r"http://127\.0\.0\.1:\d+/|file://|data:|about:", url)


def tab_to(shown: Any, wanted: str) -> None:
    """Presses Tab until what has the focus is what is wanted; round the page once at most."""
    for _ in range(400):
        shown.keyboard.press("Tab")
        if shown.evaluate(f"(one => Boolean({wanted}))(document.activeElement)"):
            return
    raise AssertionError(f"the keyboard does not come to {wanted}")


def at(port: int, reported: ReplayedRun | None = None, path: str = "/play") -> str:
    tail = f"#{address(reported.heading, reported.lines)}" if reported is not None else ""
    return f"http://127.0.0.1:{port}{path}{tail}"


def lessons_to_walk() -> list[Any]:
    """Every fifth is walked always: the pages of all are made by the same code."""
    return [
        pytest.param(one, id=one.name, marks=pytest.mark.deep if place % 5 else ())
        for place, one in enumerate(lessons())
    ]


@pytest.mark.parametrize("lesson", lessons_to_walk())
def test_the_path_of_a_lesson_can_be_walked_by_keyboard_alone(seen: Any, port: int, lesson: Lesson):
    seen.goto(at(port, path="/lessons"))
    tab_to(seen, f"one.tagName === 'A' && one.textContent === {lesson.title!r}")
    seen.keyboard.press("Enter")
    seen.locator("article.lesson").wait_for()
    seen.wait_for_load_state()  # before that a key can come to a page whose script has not run

    for number, question in enumerate(lesson.questions):
        asked = seen.locator(".predict").nth(number)
        for place, mark in ((1 - min(question.right, 1), "✗"), (question.right, "✓")):
            asked.evaluate("one => one.setAttribute('data-asked', '')")
            tab_to(
                seen,
                "one.closest('[data-asked]') && "
                f"[...one.closest('ul').querySelectorAll('button')][{place}] === one",
            )
            seen.keyboard.press("Enter")
            asked.locator("[role=status]", has_text=re.compile(f"^{mark}")).wait_for()
        asked.evaluate("one => one.removeAttribute('data-asked')")
    steps = sum(one.is_step for one in lesson.stories[0].commands)
    tab_to(seen, "one.matches('a.play')")
    seen.keyboard.press("Enter")

    # The story is there whole, and stands at its beginning.
    seen.locator("#steps li").nth(steps).wait_for()
    assert seen.locator("#said").inner_text().startswith("state 0: ")
    for number in range(1, steps + 1):
        seen.keyboard.press("ArrowRight")
        seen.locator("#said", has_text=f"state {number}: ").wait_for()


def test_the_keyboard_is_enough(seen: Any, port: int):
    seen.goto(at(port))
    seen.locator(".card").first.wait_for()

    seen.keyboard.press("1")
    seen.locator("#steps li").nth(1).wait_for()
    seen.keyboard.press("ArrowLeft")
    seen.locator("#said", has_text="state 0").wait_for()
    seen.keyboard.press("ArrowRight")
    seen.locator("#said", has_text="state 1").wait_for()
    reached = set()
    for _ in range(120):
        seen.keyboard.press("Tab")
        reached.add(seen.evaluate(FOCUSED))

    assert {"system", "version", "projector", "back", "forward", "save", "keep", "goals",
            "goal", "from", "other", "card"} <= {name.split()[0] for name in reached}  # fmt: skip


def test_a_goal_is_typed_and_reached_without_a_mouse(seen: Any, port: int):
    seen.goto(at(port, ReplayedRun("", "system classic version kip_320 brokers 3", ())))
    seen.locator(".card").first.wait_for()

    seen.focus("#goal")
    seen.keyboard.type("quorum.leader == 2")
    seen.keyboard.press("Enter")
    seen.locator("#steps li").nth(1).wait_for()

    step = seen.locator("#steps button").nth(1)
    assert step.inner_text() == "controller elects leader (replica 2)"
    assert step.get_attribute("title") == "controller_elects_leader replica=2"


def test_a_refused_step_says_what_it_waits_for(seen: Any, port: int):
    seen.goto(at(port, ReplayedRun("", "system classic version kip_320 brokers 3", ())))
    seen.locator(".card").first.wait_for()

    seen.click("#cannot summary")
    seen.locator("#refused li", has_text="leader 1 writes").locator("button").click()

    last = seen.locator(".waits li").last
    assert last.inner_text() == "broker 1 becomes leader (epoch 0)"
    assert last.get_attribute("title") == "becomes_leader replica=1 epoch=0"


def test_what_a_screen_reader_says_is_the_line_of_the_story(seen: Any, port: int):
    run = read_run(STORIES / "m2_is_lost.story")
    frame = board(run.heading).frame(run.lines)

    seen.goto(at(port, run))
    seen.locator("#steps li").nth(len(run.lines)).wait_for()
    said = seen.locator("#said")
    said.filter(has_text=f"state {len(run.lines)}").wait_for()

    assert said.get_attribute("aria-live") == "polite"
    assert said.inner_text() == (
        f"state {len(run.lines)}: {frame.label}: {'; '.join(frame.changes)}"
    )


def test_nothing_is_reported_by_colour_alone(seen: Any, port: int):
    run = read_run(STORIES / "m2_is_lost.story")
    seen.goto(at(port, run))
    seen.locator("#steps li").nth(len(run.lines)).wait_for()

    bulbs = set(
        seen.locator(".lamp").evaluate_all(
            "all => all.map(one => one.className + one.querySelector('.bulb').textContent)"
        )
    )
    records = seen.locator(".record:not(.gone) small").all_inner_texts()
    changed = seen.locator(".lane li.changed .unseen", has_text="changed").count()

    assert {one.split()[1][:-1] for one in bulbs} == {"holds", "broken", "reached", "dark"}
    assert len({one[-1] for one in bulbs}) == 4
    assert records
    assert all(re.fullmatch(r"e\d+", one) for one in records)
    assert changed == seen.locator(".lane li.changed").count() > 0


def test_a_run_is_kept_in_any_form(seen: Any, port: int):
    played = read_run(STORIES / "m2_is_lost.story")
    seen.goto(at(port, ReplayedRun("", played.heading, played.lines[:9])))
    seen.locator("#steps li").nth(9).wait_for()

    names = []
    for form, first in (
        ("story", "# A run"),
        ("svg", "<svg"),
        ("mmd", "sequenceDiagram"),
        ("py", '"""'),
        ("json", "{"),
        ("md", "# A run"),
        ("html", "<!doctype"),
    ):
        seen.select_option("#form", form)
        seen.click("#keep")
        seen.locator("#extra pre", has_text=first).wait_for()
        with seen.expect_download() as saved:
            seen.click("#download")
        names.append(saved.value.suggested_filename)

    assert names == ["run.story", "run.svg", "run.mmd", "test_run.py", "run.json", "run.md",
                     "run.html"]  # fmt: skip


def test_runs_that_were_left_form_a_tree(seen: Any, port: int):
    seen.goto(at(port, ReplayedRun("", "system classic version kip_320 brokers 3", ())))
    seen.locator(".card").first.wait_for()

    def to(number: int) -> None:
        seen.locator("#said", has_text=f"state {number}:").wait_for()

    for keys in (("1", "1"), ("ArrowLeft", "2"), ("ArrowLeft", "ArrowLeft", "2")):
        for key in keys:
            before = int(re.findall(r"state (\d+)", seen.locator("#said").inner_text())[0])
            seen.keyboard.press(key)
            to(before - 1 if key == "ArrowLeft" else before + 1)

    assert seen.locator("#branches > li").count() == 1
    assert seen.locator("#branches .tree li").count() == 1
    assert "after state 0" in seen.locator("#branches > li > button").first.inner_text()
    assert "after state 1" in seen.locator("#branches .tree button").first.inner_text()


def test_the_witness_of_a_broken_claim_glows_and_is_named(seen: Any, port: int):
    run = read_run(STORIES / "m2_is_lost.story")
    seen.goto(at(port, run))
    seen.locator("#steps li").nth(len(run.lines)).wait_for()

    glowing = seen.locator(".lane li.witness").evaluate_all("all => all.map(one => one.title)")
    marked = seen.locator(".lane li.witness").first.evaluate(
        "one => getComputedStyle(one.querySelector('.name'), '::before').content"
    )
    seen.locator(".lamp.broken summary").first.click()

    assert {"zk.leader", "zk.isr", "committed.end"} <= set(glowing)
    assert "✗" in marked
    assert "log[2].end 1" in seen.locator(".lamp.broken p.witness").first.inner_text()


@pytest.mark.parametrize("width, height", SIZES)
def test_messages_are_arrows_that_can_be_distinguished_without_colour(
    browser: Any, port: int, width: int, height: int
):
    shown = browser.new_page(viewport={"width": width, "height": height})
    run = read_run(STORIES / "m2_is_lost.story")
    looks, words = {}, []

    for end in (24, 25, 26):
        shown.goto("about:blank")
        shown.goto(at(port, ReplayedRun("", run.heading, run.lines[:end])))
        shown.locator("#steps li").nth(end).wait_for()
        for message in shown.locator(".message").all():
            line = "one => getComputedStyle(one.querySelector('.wire'), '::before').borderTopStyle"
            marks = message.locator(".mark").all_inner_texts()
            ends = message.locator(".head:visible").count()
            fate = message.get_attribute("class").split()[1]
            looks[fate] = (message.evaluate(line), *marks, ends)
            words.append(" ".join(message.locator(".sentence").text_content().split()))
    wide = shown.evaluate("document.documentElement.scrollWidth")
    shown.close()

    assert set(looks) == {"arrived", "sent", "flying", "lost"}
    assert len(set(looks.values())) >= 3
    assert looks["lost"] == ("dotted", "✗", 0)
    assert "Fetch, broker 1 → broker 2: no record, hw 1 lost" in words
    assert wide <= width


def test_a_lie_is_a_ring_in_pieces(seen: Any, port: int):
    zombie = ReplayedRun("", "system election version 2.3 brokers 2", (
        "broker_connects broker=1", "broker_connects broker=2", "broker_reads_epoch broker=1",
        "broker_wins_election broker=1", "broker_learns_it_won broker=1",
        "session_expires broker=1",
    ))  # fmt: skip

    seen.goto(at(port, zombie))
    seen.locator(".ring.lie").wait_for()

    style = "one => getComputedStyle(one).borderTopStyle"
    assert seen.locator(".ring.lie").evaluate(style) == "dashed"
    assert seen.locator(".ring:not(.lie)").first.evaluate(style) != "dashed"


@pytest.mark.parametrize("width, height", SIZES)
def test_the_first_paint_stays_where_it_is(browser: Any, port: int, width: int, height: int):
    shown = browser.new_page(viewport={"width": width, "height": height})
    shown.add_init_script(MEASURE)

    shown.goto(at(port))
    shown.locator(".card").first.wait_for()
    shown.wait_for_timeout(300)
    shifted = shown.evaluate("window.shifted")
    wide = shown.evaluate("document.documentElement.scrollWidth")
    shown.close()

    assert shifted < 0.01
    assert wide <= width


def test_a_run_of_a_thousand_steps_stays_fluid(seen: Any, tmp_path: Path):
    pair = ("broker_connects broker=1", "session_expires broker=1")
    played = ReplayedRun("A long run", "system election version 2.3 brokers 3", pair * 500)
    out = tmp_path / "long.html"
    out.write_text(page(played, frames_of(board(played.heading), played.lines)))

    seen.goto(out.as_uri())
    seen.locator("#steps li").nth(1000).wait_for()
    taken = []
    for number in range(999, 979, -1):
        began = time.perf_counter()
        seen.keyboard.press("ArrowLeft")
        seen.locator("#said", has_text=f"state {number}:").wait_for()
        taken.append(time.perf_counter() - began)

    assert out.stat().st_size < 1_000_000
    assert sorted(taken)[10] < 0.3  # the machine may be busy; quiet it is a tenth


def test_two_versions_are_laid_side_by_side_from_the_page(seen: Any, port: int):
    run = read_run(STORIES / "deposed_controller_writes_unfenced.story")
    seen.goto(at(port, run))
    seen.locator("#steps li").nth(len(run.lines)).wait_for()

    seen.select_option("#other", "2.3")
    with seen.expect_popup() as opened:
        seen.click("#compare button")
    beside = opened.value
    beside.locator("#rows li.first.here").wait_for()

    assert "/controller_epoch is as it was won" in beside.locator("#right .step").inner_text()
    assert beside.locator("#left .alarm").count() > 0
    beside.close()


def test_the_first_difference_is_in_the_middle_of_the_rows(seen: Any, tmp_path: Path):
    run = read_run(STORIES / "m2_is_lost.story")
    out = tmp_path / "both.html"
    out.write_text(comparison_page(compared(run, under(run, "0.11"))))

    seen.goto(out.as_uri())
    seen.locator("#rows li.first.here").wait_for()
    places = seen.evaluate(
        "(() => { const list = document.getElementById('rows').getBoundingClientRect();"
        " const row = document.querySelector('#rows .first').getBoundingClientRect();"
        " return [list.top, row.top, row.bottom, list.bottom]; })()"
    )

    assert places == sorted(places)


def test_an_address_of_a_version_that_there_is_not_says_so_and_offers_the_nearest(
    seen: Any, port: int
):
    run = read_run(STORIES / "m2_is_lost.story")

    seen.goto(at(port, run).replace("version+0.10", "version+0.9"))
    seen.locator("#nearest").wait_for()
    said = seen.locator("#said").inner_text()
    seen.click("#nearest")
    seen.locator("#steps li").nth(len(run.lines)).wait_for()

    assert "unknown version of replication '0.9'" in said
    assert "version+0.10" in seen.url


def test_a_trace_with_a_diagnosis_ends_with_it(seen: Any, tmp_path: Path):
    played = ReplayedRun("a trace", "system election version 2.3 brokers 2",
                  ("broker_connects broker=1",), None, "run.ndjson:3: impossible")  # fmt: skip
    out = tmp_path / "trace.html"
    out.write_text(page(played, frames_of(board(played.heading), played.lines)))

    seen.goto(out.as_uri())
    seen.locator(".diagnosis").wait_for()

    assert seen.locator(".diagnosis").inner_text() == "run.ndjson:3: impossible"


def test_the_projector_makes_letters_larger(seen: Any, port: int):
    seen.goto(at(port))
    seen.locator(".card").first.wait_for()
    size = "parseFloat(getComputedStyle(document.querySelector('.lane li')).fontSize)"
    before = seen.evaluate(size)

    seen.click("#projector")

    assert seen.evaluate(size) > 1.25 * before
    assert seen.locator("#projector").get_attribute("aria-pressed") == "true"
