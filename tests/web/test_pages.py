"""The start page, the lessons beside their board, and runs without a server, in a real browser."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.web.address import address
from conformance.web.board import board
from conformance.web.explain import embedded, frames_of
from conformance.web.lessons import STATIC_SITE, lesson_page, lessons
from conformance.web.run_files import ReplayedRun, read_run
from conformance.web.searches import Searches
from conformance.web.self_contained import STATIC
from conformance.web.site import BOARD

ROOT = Path(__file__).resolve().parents[2]
STORIES = ROOT / "specs" / "stories"
LOST = "07-truncating-to-the-high-watermark"
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
CLASSIC = "system classic version kip_320 brokers 3"


@pytest.fixture
def seen(browser: Any) -> Iterator[Any]:
    """A page that says nothing in the console."""
    shown = browser.new_page(viewport=DESKTOP)
    shown.set_default_timeout(60_000)
    wrong: list[str] = []
    shown.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    shown.on("pageerror", lambda error: wrong.append(str(error)))
    yield shown
    shown.close()
    assert wrong == []


def url(port: int, path: str) -> str:
    return f"http://127.0.0.1:{port}{path}"


def game(heading: str, *lines: str) -> str:
    return f"/play#{address(heading, lines)}"


def now(shown: Any) -> str:
    return str(shown.locator("#now").inner_text())


def answer(shown: Any, question: int, right: bool) -> None:
    mark = "yes" if right else "no"
    section = shown.locator(".predict").nth(question)
    section.locator(f'button[data-right="{mark}"]').first.click()


def scroll_to(shown: Any, selector: str, number: int = 0) -> None:
    shown.locator(selector).nth(number).evaluate(
        "one => scrollTo(0, one.getBoundingClientRect().top + scrollY - innerHeight * 0.375)"
    )


# -- lessons --------------------------------------------------------------------------------------


def test_the_board_shows_what_is_read(seen: Any, port: int):
    seen.goto(url(port, f"/lessons/{LOST}"))
    for question in (0, 1):
        answer(seen, question, right=True)

    scroll_to(seen, ".beat", 17)
    seen.locator("#now", has_text="broker 2 becomes follower").wait_for()
    ghost = seen.locator(".record.gone").count()
    scroll_to(seen, ".beat", 12)
    seen.locator("#now", has_text="leader 1 advances the high watermark").wait_for()

    assert ghost == 1
    assert seen.locator(".record.gone").count() == 0


def test_a_sentence_that_names_a_state_shows_it(seen: Any, port: int):
    seen.goto(url(port, f"/lessons/{LOST}"))

    seen.locator("a.state", has_text="cuts to 0").click()

    assert now(seen).startswith("broker 2 becomes follower")


def test_a_question_holds_the_board_until_it_is_answered(seen: Any, port: int):
    seen.goto(url(port, f"/lessons/{LOST}"))
    before = now(seen)

    scroll_to(seen, ".beat", 17)
    seen.locator("body.held").wait_for()
    held = now(seen)
    answer(seen, 0, right=True)
    answer(seen, 1, right=True)
    scroll_to(seen, ".beat", 17)
    seen.locator("#now", has_text="broker 2 becomes follower").wait_for()

    assert held == before
    assert seen.locator("body.held").count() == 0


def test_a_wrong_answer_is_played_out_and_the_lesson_taken_up_again(seen: Any, port: int):
    seen.goto(url(port, f"/lessons/{LOST}"))

    answer(seen, 1, right=False)
    seen.locator("body.wrongly").wait_for()
    first = now(seen)
    until = time.monotonic() + 10
    while now(seen) == first:
        assert time.monotonic() < until, "the answer is not played"
        seen.wait_for_timeout(50)
    said = seen.locator("#veil").inner_text()
    seen.click("#home")

    assert said == "This is what your answer leads to"
    assert seen.locator("body.wrongly").count() == 0
    assert seen.locator(".predict").nth(1).locator("[role=status]").inner_text().startswith("✗ ")


def test_at_the_end_the_reader_drives(seen: Any, port: int):
    seen.goto(url(port, f"/lessons/{LOST}"))

    seen.click("#drive")
    seen.locator("#turn .card").first.click()
    seen.locator("#turn a.play").wait_for()

    assert "/play#system+replication" in str(seen.locator("#turn a.play").get_attribute("href"))


def test_arrow_keys_move_the_run_and_stop_at_a_question(seen: Any, port: int):
    seen.goto(url(port, f"/lessons/{LOST}"))
    for _ in range(6):
        seen.keyboard.press("ArrowRight")
    held = seen.locator("body.held").count()
    focused = seen.evaluate("document.activeElement.closest('.predict') !== null")
    seen.keyboard.press("Tab")
    seen.keyboard.press("Enter")
    answered = seen.locator(".predict").first.get_attribute("data-answered")

    assert (held, focused, answered) == (1, True, "yes")


def test_every_lesson_can_be_read_on_a_phone_in_the_dark_and_on_paper(browser: Any, port: int):
    shown = browser.new_page(viewport=PHONE, color_scheme="dark", reduced_motion="reduce")
    for lesson in lessons():
        shown.goto(url(port, f"/lessons/{lesson.name}"))
        shown.locator("#board .crossing").wait_for()
        wide = shown.evaluate("document.documentElement.scrollWidth")
        paper, ink = shown.evaluate(
            "[getComputedStyle(document.documentElement).backgroundColor,"
            " getComputedStyle(document.querySelector('.lesson p')).color]"
        )
        board_ends = shown.locator(".living").evaluate("one => one.getBoundingClientRect().bottom")
        shown.emulate_media(media="print")
        printed = (
            shown.locator(".living").is_visible(),
            shown.locator("article.lesson").is_visible(),
        )
        shown.emulate_media(media="screen", color_scheme="dark", reduced_motion="reduce")

        assert wide <= PHONE["width"], lesson.name
        assert board_ends < 0.7 * PHONE["height"], lesson.name
        assert contrast(paper, ink) > 7, lesson.name
        assert printed == (False, True), lesson.name
    shown.close()


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG between two colours, `rgb(1, 2, 3)`."""

    def light(colour: str) -> float:
        parts = [int(part) / 255 for part in colour.removeprefix("rgb(").rstrip(")").split(",")[:3]]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_a_line_of_a_lesson_is_of_65_characters(seen: Any, port: int):
    seen.goto(url(port, f"/lessons/{LOST}"))

    letters = seen.evaluate(
        "(() => { const p = document.querySelector('.lesson p'), r = document.createRange();"
        " r.selectNodeContents(p); "
        "const lines = new Set([...r.getClientRects()].map(one => one.top));"
        " return p.textContent.length / lines.size; })()"
    )

    assert 45 <= letters <= 80


def test_a_lesson_plays_without_a_server(seen: Any, tmp_path: Path):
    lesson = next(one for one in lessons() if one.name == LOST)
    for folder in ("board", "played"):
        (tmp_path / folder).mkdir()
    for name in BOARD:
        (tmp_path / "board" / name).write_text((STATIC / name).read_text())
    page = tmp_path / "played" / f"{LOST}.html"
    page.write_text(lesson_page(lesson, STATIC_SITE))

    seen.goto(page.as_uri())
    for question in (0, 1):
        answer(seen, question, right=True)
    scroll_to(seen, ".beat", 17)
    seen.locator("#now", has_text="broker 2 becomes follower").wait_for()
    seen.click("#drive")

    assert "insync play --run '#system+replication" in seen.locator("#turn pre").inner_text()


def test_a_run_to_embed_plays_from_its_beginning_and_asks_nobody(seen: Any, tmp_path: Path):
    run = read_run(STORIES / "m2_is_lost.story")
    page = tmp_path / "embed.html"
    page.write_text(embedded(run, frames_of(board(run.heading), run.lines)))
    asked: list[str] = []
    seen.on("request", lambda one: asked.append(one.url))

    seen.goto(page.as_uri())
    seen.locator("#now", has_text="0. the initial state").wait_for()
    seen.click("#forward")
    seen.locator("#now", has_text="1. broker 1 becomes controller").wait_for()

    assert asked == [page.as_uri()]
    assert page.stat().st_size < 200_000
    assert not seen.locator("header").is_visible()


# -- the start page -------------------------------------------------------------------------------


def test_the_start_page_moves_unless_that_is_not_wished(browser: Any, port: int):
    words = {}
    for wish in ("no-preference", "reduce"):
        shown = browser.new_page(viewport=DESKTOP, reduced_motion=wish)
        shown.goto(url(port, "/"))
        shown.locator("#board .crossing").wait_for()
        first = now(shown)
        shown.wait_for_timeout(2000)
        words[wish] = first == now(shown)
        shown.close()

    assert words == {"no-preference": False, "reduce": True}


def test_an_address_of_the_older_form_opens_in_the_explorer(seen: Any, port: int):
    seen.goto(url(port, game(CLASSIC, "controller_elects_leader replica=1").replace("/play", "/")))

    seen.locator("#now", has_text="1. controller elects leader").wait_for()

    assert "/play#system+classic" in seen.url


def test_a_folder_that_is_chosen_is_checked_and_its_report_shown(seen: Any, port: int):
    seen.goto(url(port, "/"))

    seen.set_input_files("#folder", ROOT / "tests" / "data" / "logs" / "planted")
    seen.locator("#verdict", has_text="broken").wait_for(timeout=60_000)
    seen.frame_locator("#report iframe").locator("h1").wait_for()
    found = seen.frame_locator("#report iframe").locator("body").inner_text()
    wide = seen.evaluate("document.documentElement.scrollWidth")
    seen.click("#everything summary")

    assert "First to look at:" in found, found
    assert "server.log:29" in found, found
    assert wide <= DESKTOP["width"]
    assert "no_older_leader_epoch_is_applied" in seen.locator("#output").inner_text()


def test_the_tour_has_three_steps_and_ends(seen: Any, port: int):
    seen.goto(url(port, "/play?tour=1"))

    pointed = []
    for _ in range(3):
        pointed.append(seen.locator(".pointed").get_attribute("id"))
        seen.click("#next")

    assert pointed == ["happen", "cannot", "look"]
    assert seen.locator("#tour").count() == 0


# -- the explorer ---------------------------------------------------------------------------------


def test_the_first_card_is_on_a_phones_first_screen_and_a_steps_effect_too(
    browser: Any, port: int
):  # fmt: skip
    shown = browser.new_page(viewport=PHONE, reduced_motion="reduce")
    shown.goto(url(port, game("system replication version 2.3 brokers 3")))
    shown.locator(".card").first.wait_for()
    ends = shown.locator(".card").first.evaluate("one => one.getBoundingClientRect().bottom")

    shown.locator(".card").first.click()
    shown.locator("#now", has_text="1. ").wait_for()
    board_top = shown.locator("#board").evaluate("one => one.getBoundingClientRect().top")
    shown.close()

    assert ends <= PHONE["height"]
    assert 0 <= board_top < 0.5 * PHONE["height"]


def test_enter_on_a_card_leaves_the_focus_among_the_cards(seen: Any, port: int):
    seen.goto(url(port, game(CLASSIC)))
    seen.locator(".card").first.focus()

    seen.keyboard.press("Enter")
    seen.locator("#now", has_text="1. ").wait_for()

    assert seen.evaluate("document.activeElement.classList.contains('card')")


def test_a_fix_that_is_left_out_is_still_left_out_after_a_reload(seen: Any, port: int):
    seen.goto(url(port, game("system replication version 2.3 brokers 3")))
    seen.locator(".card").first.wait_for()
    seen.select_option("#without", "with fetch_fencing=false")
    seen.click("#limits summary")
    seen.fill("#bounds input[name=crashes]", "2")
    seen.click("#choose button")
    seen.wait_for_url(re.compile("fetch_fencing"))

    seen.reload()
    seen.locator(".card").first.wait_for()

    assert seen.input_value("#without") == "with fetch_fencing=false"
    assert seen.input_value("#bounds input[name=crashes]") == "2"


def test_a_field_says_what_it_is_when_it_is_clicked(seen: Any, port: int):
    seen.goto(url(port, game("system replication version 2.3 brokers 3")))

    seen.locator(".lane.zk .name", has_text="isr").first.click()

    assert "in-sync replicas" in seen.locator(".lane.zk .what").inner_text()


def test_a_search_that_finds_nothing_offers_what_was_ruled_out(seen: Any, port: int):
    seen.goto(url(port, game("system replication version 0.11 brokers 2")))
    seen.locator(".card").first.wait_for()
    seen.fill("#goal", "not up.has(1)")

    seen.click("#look button")
    seen.locator(".allow", has_text="crashes").click()
    seen.locator("#now", has_text="1. broker 1 crashes").wait_for()

    assert seen.input_value("#bounds input[name=crashes]") == "1"


def test_a_search_can_be_cancelled_and_its_late_answer_changes_nothing(
    seen: Any, port: int, monkeypatch: pytest.MonkeyPatch
):
    ended = threading.Event()

    def endless(_self: object, _asked: object, report: Callable[[str], None]) -> dict[str, object]:
        try:
            while True:
                report("7 states, level 2")
                time.sleep(0.01)
        finally:
            ended.set()

    monkeypatch.setattr(Searches, "way", endless)
    seen.goto(url(port, game(CLASSIC)))
    seen.locator(".card").first.wait_for()
    seen.click("#look button")
    seen.locator(".progress", has_text="7 states, level 2").wait_for()

    seen.click("#cancel")
    seen.locator("#extra", has_text="The search was cancelled.").wait_for()

    assert ended.wait(10)
    assert seen.locator("#steps li").count() == 1


def test_logs_that_differ_are_seen_side_by_side(seen: Any, port: int):
    run = read_run(STORIES / "two_fast_elections_diverge.story")
    seen.goto(url(port, game(run.heading, *run.lines)))
    seen.locator("#steps li").nth(len(run.lines)).wait_for()

    differing = seen.locator(".logs thead .differs")
    marked = seen.locator(".record.differs").count()

    assert differing.count() >= 1
    assert "≠" in differing.first.inner_text()
    assert marked >= 2


def test_a_message_moves_unless_that_is_not_wished(browser: Any, port: int):
    path = game("system replication version 2.3 brokers 2", "broker_becomes_controller broker=1")
    moves = {}
    for wish in ("no-preference", "reduce"):
        shown = browser.new_page(viewport=DESKTOP, reduced_motion=wish)
        shown.goto(url(port, path))
        shown.locator(".mover").first.wait_for(state="attached")
        moves[wish] = shown.locator(".mover").first.evaluate(
            "one => getComputedStyle(one).animationName"
        )
        shown.close()

    assert moves == {"no-preference": "go", "reduce": "none"}


def test_paper_shows_the_board_and_no_forms(seen: Any, port: int):
    seen.goto(url(port, game(CLASSIC, "controller_elects_leader replica=1")))
    seen.locator(".card").first.wait_for()

    seen.emulate_media(media="print")

    assert seen.locator("#board .crossing").is_visible()
    for hidden in ("#setup", "#look", "#happen", "#compare", "nav"):
        assert not seen.locator(hidden).first.is_visible(), hidden


def test_the_projector_shows_the_board_larger_and_no_forms(seen: Any, port: int):
    seen.goto(url(port, game(CLASSIC)))
    seen.locator(".card").first.wait_for()

    seen.click("#projector")

    top = seen.locator("#board").evaluate("one => one.getBoundingClientRect().top")
    assert top < 250
    assert not seen.locator("#setup").is_visible()
    assert not seen.locator("#look").is_visible()


def test_markup_in_a_title_is_text(seen: Any, tmp_path: Path):
    run = ReplayedRun("<img src=x onerror=alert(1)></script>", CLASSIC, ())
    page = tmp_path / "x.html"
    page.write_text(embedded(run, frames_of(board(run.heading), run.lines)))

    seen.goto(page.as_uri())
    seen.locator("#board .crossing").wait_for()

    assert seen.locator("img").count() == 0
