"""The explorer's server: its answers, and whom it answers."""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
import time
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the page's server is not installed")

from conformance.web.server import FILES
from model.systems import SYSTEMS

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
@pytest.mark.parametrize("path", ["/", "/app.js", "/lessons", "/api/opening", "/api/comparison"])
def test_nothing_at_all_is_served_to_others(port: int, path: str, headers: dict[str, str]):
    assert ask(port, path, None, headers)[0] == 403


def test_an_answer_is_asked_for_by_post_alone(port: int):
    assert ask(port, "/api/at")[0] == 405


@pytest.mark.parametrize("body", ["", "[]", "1", "not json", '{"heading": 1}', "{", "[" * 9000])
def test_a_body_that_is_no_game_is_refused(port: int, body: str):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    connection.request("POST", "/api/at", body)
    answer = connection.getresponse()
    told = answer.read().decode()
    connection.close()

    assert answer.status in (400, 422)
    assert len(told.strip().splitlines()) == 1


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
         "--dump-dom", f"http://127.0.0.1:{port}/"],
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
