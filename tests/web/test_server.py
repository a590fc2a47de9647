"""The explorer's server: its answers, and whom it answers."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import shutil
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("uvicorn", reason="the page's server is not installed")

from conformance.web import server
from conformance.web.dropped_files import DroppedFiles, RefusedError
from conformance.web.lessons import lessons
from conformance.web.server import FILES, STATIC, _searching
from model.systems import SYSTEMS

ROOT = Path(__file__).resolve().parents[2]
OPENED = {"heading": "system replication version 2.3 brokers 3", "lines": []}


def ask(
    port: int, path: str, asked: object = None, headers: dict[str, str] | None = None
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body = None if asked is None else json.dumps(asked)
    connection.request("GET" if asked is None else "POST", path, body, headers or {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, json.loads(text) if text[:1] in "{[" else text


@pytest.mark.parametrize("path", sorted(FILES))
def test_the_page_and_its_files_are_served(port: int, path: str):
    status, text = ask(port, path)

    assert status == 200
    assert len(text) > 300


def test_a_game_is_answered_with_what_is_and_what_can_happen(port: int):
    status, answer = ask(port, "/api/at", OPENED)

    assert status == 200
    assert answer["frame"]["label"] == "the beginning"
    assert len(answer["possible"]) > 3
    assert all(one["why"] for one in answer["refused"])


def test_the_shortest_way_to_a_broken_claim_is_a_run_that_can_be_played(port: int):
    game = {"heading": "system classic version hw_truncation brokers 3", "claim": "strong_isr"}

    _, found = ask(port, "/api/way", game)
    _, end = ask(port, "/api/at", {"heading": game["heading"], "lines": found["lines"]})

    lamps = {lamp["claim"]: lamp["lit"] for lamp in end["frame"]["lamps"]}
    assert lamps["strong_isr"] is False


def test_a_game_is_kept_as_a_story_that_tells_it(port: int):
    lines = ["broker_becomes_controller broker=1"]

    _, kept = ask(port, "/api/story", {**OPENED, "lines": lines, "title": "One wins"})

    assert kept["text"].startswith("# One wins.\nsystem replication version 2.3 brokers 3\n")
    assert "    zk.controller: none → 1" in kept["text"]


@pytest.mark.parametrize(
    "asked, why",
    [
        ({"heading": "system nowhere"}, "unknown system"),
        ({"heading": "system classic", "lines": ["becomes_king replica=1"]}, "becomes_king"),
        ({"heading": "system classic", "lines": "x"}, "lines are the steps"),
        ({}, "name the system"),
        ({"heading": "system classic", "lines": [""]}, "not nothing"),
        ({"heading": "system classic brokers 99999999"}, "too many to show"),
        ({"heading": "system classic log 99999999999999999999"}, "too many to show"),
    ],
)
def test_what_makes_no_sense_is_answered_in_a_line(port: int, asked: dict[str, Any], why: str):
    status, answer = ask(port, "/api/at", asked)

    assert status == 422
    assert why in answer["error"]


@pytest.mark.parametrize(
    "headers", [{"Host": "insync.example"}, {"Origin": "https://insync.example"}]
)
def test_other_hosts_and_other_pages_are_refused(port: int, headers: dict[str, str]):
    status, text = ask(port, "/api/at", OPENED, headers)

    assert status == 403
    assert "answers to" in text


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_the_page_is_served_to_this_machine_by_its_names(port: int, host: str):
    assert ask(port, "/", None, {"Host": host})[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "127.0.0.1.insync.example"},
        {"Host": ""},
        {"Host": "127.0.0.1:1"},
        {"Host": "[::1]"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost"},
    ],
)
@pytest.mark.parametrize("path", ["/", "/play", "/lessons", "/api/opening", "/api/comparison"])
def test_nothing_at_all_is_served_to_others(port: int, path: str, headers: dict[str, str]):
    assert ask(port, path, None, headers)[0] == 403


def test_an_answer_is_asked_for_by_post_alone(port: int):
    assert ask(port, "/api/at")[0] == 405


@pytest.mark.parametrize("body", ["", "[]", "1", "not json", '{"heading": 1}', "{", "[" * 9000])
def test_a_body_that_is_no_game_is_refused(port: int, body: str):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    connection.request("POST", "/api/at", body)
    answer = connection.getresponse()
    reported = answer.read().decode()
    connection.close()

    assert answer.status in (400, 422)
    assert len(reported.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "path",
    ["/../pyproject.toml", "/static/app.js", "/etc/passwd", "/app.py", "/lessons/..%2f..%2fREADME",
     "/lessons/%2e%2e", "/lessons/01", "/compare/../server.py", "//etc/passwd"],
)  # fmt: skip
def test_no_other_file_is_read(port: int, path: str):
    assert ask(port, path)[0] == 404


def test_a_heap_of_bytes_is_refused(port: int):
    assert ask(port, "/api/at", {"heading": "x" * 2_000_000})[0] == 400


@pytest.mark.parametrize("system", sorted(set(SYSTEMS) - {"replication_history"}))
def test_a_step_takes_less_than_a_tenth_of_a_second_of_the_processor(port: int, system: str):
    heading = f"system {system} brokers 3"
    ask(port, "/api/at", {"heading": heading, "lines": []})
    lines: list[str] = []
    taken = []
    for _ in range(5):
        began = time.process_time()
        _, answer = ask(port, "/api/at", {"heading": heading, "lines": lines})
        taken.append(time.process_time() - began)
        lines = [*lines, answer["possible"][0]["line"]]

    assert sorted(taken)[len(taken) // 2] < 0.1


def test_the_page_draws_itself_in_a_browser(port: int):
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")

    drawn = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=8000",
         "--dump-dom", f"http://127.0.0.1:{port}/play"],
        capture_output=True, text=True, timeout=120, check=True,
    ).stdout  # fmt: skip

    assert drawn.count('class="ring') == 3
    assert "broker_becomes_controller(broker=1)" in drawn
    assert "no_message_loss: holds" in drawn


def test_a_form_that_there_is_not_is_refused_with_those_that_there_are(port: int):
    asked = {"heading": "system classic", "lines": [], "form": "exe"}

    status, answer = ask(port, "/api/kept", asked)

    assert status == 422
    assert "'exe' is no form; there are story, json, svg" in answer["error"]


# -- the start page, its moving picture, stories by name, logs that are dropped -------------------


def test_the_start_page_and_all_that_it_loads_are_small_and_link_nowhere_else():
    names = ("start.html", "style.css", "words.js", "draw.js", "start.js")
    texts = [(STATIC / name).read_text() for name in names]

    assert sum(map(len, texts)) < 200_000
    for text in texts:
        assert not re.search(r"https?://", text)


def test_the_explorer_and_a_lesson_are_small_too(port: int):
    shared = sum((STATIC / one).stat().st_size for one in ("style.css", "words.js", "draw.js"))
    explorer = shared + sum((STATIC / one).stat().st_size for one in ("index.html", "app.js"))

    assert explorer < 200_000
    for lesson in lessons():
        assert shared + len(ask(port, f"/lessons/{lesson.name}")[1]) < 200_000


def test_a_run_moves_on_the_start_page(port: int):
    status, found = ask(port, "/api/moving")

    assert status == 200
    assert len(found["run"]["frames"]) == len(found["run"]["lines"]) + 1 > found["run"]["begins"]


def test_a_disaster_of_the_start_page_opens_with_its_steps_to_come(port: int):
    names = re.findall(r'href="/stories/(\w+)"', (STATIC / "start.html").read_text())

    assert names
    for name in names:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", f"/stories/{name}")
        answer = connection.getresponse()
        where = answer.getheader("Location") or ""
        connection.close()

        assert answer.status == 302
        assert where.startswith("/play?at=0#system+")
        _, found = ask(port, "/api/opened", {"address": where.partition("#")[2]})
        assert found["said"] is None
        assert found["lines"]


@pytest.mark.parametrize("name", ["nowhere", "..%2f..%2fREADME", "a.story", "%00", "regressions"])
def test_no_other_file_is_opened_as_a_story(port: int, name: str):
    assert ask(port, f"/stories/{name}")[0] == 404


def test_a_search_says_how_far_it_is_and_then_what_it_found(
    port: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(server, "SECONDS_OF_SILENCE", 0.001)
    game = {"heading": "system classic version hw_truncation brokers 3", "claim": "strong_isr",
            "progress": True}  # fmt: skip
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    connection.request("POST", "/api/way", json.dumps(game))
    *progress, found = [json.loads(line) for line in connection.getresponse().read().splitlines()]
    connection.close()

    assert {tuple(line) for line in progress} == {("progress",)}
    assert found["lines"]


def test_a_search_that_makes_no_sense_says_so_in_its_last_line(port: int):
    game = {"heading": "system classic", "claim": "nope", "progress": True}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    connection.request("POST", "/api/way", json.dumps(game))
    lines = [json.loads(line) for line in connection.getresponse().read().splitlines()]
    connection.close()

    assert "nope" in lines[-1]["error"]


def test_a_search_ends_when_nobody_listens():
    ended = threading.Event()

    def endless(_asked: object, report: Callable[[str], None]) -> dict[str, object]:
        try:
            while True:
                report("still searching")
                time.sleep(0.01)
        finally:
            ended.set()

    async def listen_once() -> None:
        reported = _searching(endless, {})
        assert json.loads(await anext(reported)) == {"progress": "still searching"}
        await reported.aclose()

    asyncio.run(asyncio.wait_for(listen_once(), 20))

    assert ended.wait(10)


def dropped(port: int, name: str, body: bytes, of: str | None = None) -> tuple[int, Any]:
    found = of or ask(port, "/api/logs", {})[1]["set"]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", f"/api/logs/{found}?name={quote(name)}", body)
    answer = connection.getresponse()
    text = json.loads(answer.read())
    connection.close()
    return answer.status, {**text, "set": found}


def test_a_folder_of_logs_that_is_dropped_is_checked_and_its_report_shown(port: int):
    folder = ROOT / "tests" / "data" / "logs" / "planted"
    name = ask(port, "/api/logs", {})[1]["set"]
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        status, _ = dropped(
            port, path.relative_to(folder.parent).as_posix(), path.read_bytes(), name
        )
        assert status == 200

    status, found = ask(port, f"/api/logs/{name}/check", {})
    shown, report = ask(port, found["report"])

    assert (status, found["verdict"]) == (200, "broken")
    assert "planted/broker1/server.log:29" in found["output"]
    assert "/tmp" not in found["output"] + report
    assert shown == 200
    assert "insync check: broken" in report


@pytest.mark.parametrize(
    "name",
    ["../x.log", "/etc/passwd", "a/../../x", "", "a//b", ".ssh/x", "a/.b", "x\x00y", "a\\b",
     "a/b/c/d/e/f/g/h/i", "x" * 300, "a\nb"],
)  # fmt: skip
def test_a_dropped_file_stays_in_its_set(port: int, name: str):
    status, answer = dropped(port, name, b"x")

    assert status == 422
    assert "is no name for a log file" in answer["error"]


def test_logs_of_no_set_are_refused(port: int):
    assert ask(port, "/api/logs/0123/check", {})[0] == 422
    assert ask(port, "/logs/0123/report")[0] == 404
    assert dropped(port, "server.log", b"x", "0123")[0] == 422
    assert ask(port, "/api/logs/../../etc?name=x", {})[0] in (404, 405)
    assert ask(port, "/api/logs")[0] == 405


def test_a_set_that_grows_too_large_is_refused_and_the_file_not_kept(
    monkeypatch: pytest.MonkeyPatch
):  # fmt: skip
    monkeypatch.setattr("conformance.web.dropped_files.MOST_BYTES", 10)
    kept = DroppedFiles()
    name = kept.begin()

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(4):
            yield b"12345"

    with pytest.raises(RefusedError, match="more than a gigabyte"):
        asyncio.run(kept.add(name, "a/server.log", parts()))

    assert not list(kept.report(name).parent.rglob("*.log"))


@pytest.mark.parametrize(
    "path", ["/api/logs", "/api/logs/x", "/api/logs/x/check", "/logs/x/report", "/api/moving",
             "/stories/m2_is_lost", "/play", "/start.js"],
)  # fmt: skip
def test_nothing_new_is_served_to_others_either(port: int, path: str):
    asked: dict[str, str] | None = {} if path.startswith("/api/logs") else None

    assert ask(port, path, asked, {"Host": "insync.example"})[0] == 403
    assert ask(port, path, asked, {"Origin": "https://insync.example"})[0] == 403


def test_markup_in_a_dropped_log_is_shown_as_text_in_a_box_that_fetches_nothing(port: int):
    line = (
        "[2020-01-01 00:00:00,000] INFO <script>alert(1)</script> <img src=x onerror=y> (kafka.x)"
    )
    _, found = dropped(port, "server.log", (line + "\n").encode() * 3)
    _, checked = ask(port, f"/api/logs/{found['set']}/check", {})
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", checked["report"])
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()

    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "sandbox" in (answer.getheader("Content-Security-Policy") or "")
    assert "default-src 'none'" in (answer.getheader("Content-Security-Policy") or "")
