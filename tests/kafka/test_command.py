"""`insync kafka` used wrongly: one line, and nothing stays behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.cli.kafka import kafka
from conformance.kafka.download import CACHE

STORY = "specs/stories/m2_is_lost.story"


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def insync_kafka(*words: object, text: str | None = None) -> Result:
    return CliRunner().invoke(kafka, [str(word) for word in words], input=text)


def test_versions_lists_releases_and_what_is_here(empty_cache: Path) -> None:
    (empty_cache / "2.3.1" / "libs").mkdir(parents=True)

    lines = insync_kafka("versions").output.splitlines()

    assert next(line for line in lines if line.startswith("2.3.1")).split()[1] == "fetched"
    assert next(line for line in lines if line.startswith("0.10.2.2")).split()[1] == "-"
    assert lines[-1] == f"in {empty_cache}"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["fetch", "2.x"], "'2.x' is no release of Kafka; write one such as 2.3.1"),
        (["fetch", "4.0.0"], "Kafka 4.0.0 does not run here"),
        (["replay", STORY, "--version", "2.3.1"], "write: insync kafka fetch 2.3.1"),
        (["replay", "nowhere.story"], "nowhere.story: No such file or directory"),
        (["replay", "README.md"], "README.md:3: a story begins with its system"),
        (["replay", STORY, "--home", "docs"], "docs has no kafka_*-2.3.1.jar; name the folder"),
        (["replay", STORY, "--keep", "docs"], "--keep docs is there already"),
        (["start", "docs"], "docs holds no Kafka and is not empty; name an empty directory"),
        (["status", "docs"], "holds no Kafka; write: insync kafka start"),
        (["stop", "nowhere"], "holds no Kafka; write: insync kafka start"),
        (["logs", "nowhere", "1"], "holds no Kafka"),
        (["kill", "nowhere", "1"], "holds no Kafka"),
        (["schedule", "nowhere", "-"], "holds no Kafka"),
        (
            ["start", "new", "--brokers", "4", "--insync-brokers", "2"],
            "a lab has at most 5 brokers",
        ),
        (["start", "new", "--version", "3.9.1", "--ours", "1"], "no release 3.9.1 from 0.10.0"),
        (["soak", "new", "--version", "3.9.1"], "known from 1.1 to 2.8; write --version 2.8.2"),
        (["soak", "new", "--version", "1.0.2"], "known from 1.1 to 2.8; write --version 2.8.2"),
        (["mixed", "docs"], "docs is there already; name a new directory"),
        (["mixed", "new", "--brokers", "1"], "a mixed cluster has 3 to 5 brokers"),
        (["mixed", "new", "--version", "2.3.1"], "write: insync kafka fetch 2.3.1"),
    ],
)
def test_wrong_use_is_one_line_with_what_to_write_instead(words: list[str], why: str) -> None:
    done = insync_kafka(*words)

    assert done.exit_code == 64
    assert why in done.output
    assert len(done.output.splitlines()) == 1
    assert not Path("nowhere").exists()
    assert not Path("docs/.lock").exists()
    assert not Path("new").exists()


def test_a_new_directory_for_a_release_that_is_not_here_is_not_left_behind(tmp_path: Path) -> None:
    done = insync_kafka("start", tmp_path / "lab", "--version", "2.3.1", "--brokers", "1")

    assert (done.exit_code, "insync kafka fetch 2.3.1" in done.output) == (64, True)
    assert not (tmp_path / "lab").exists()


def test_a_broker_that_is_none_a_log_that_is_none_and_proxies_that_do_not_run(
    tmp_path: Path,
) -> None:
    (tmp_path / "lab.json").write_text(
        '{"format": "insync.kafka_lab/1", "version": "2.3.1", "home": null, "zookeeper": 1,'
        ' "control": 2, "ports": {"1": [3, 4, 5]}, "settings": {}}'
    )
    assert "there is no broker 7" in insync_kafka("kill", tmp_path, "7").output
    assert "broker1 does not run" in insync_kafka("pause", tmp_path, "1").output
    assert "there are: none yet" in insync_kafka("logs", tmp_path, "1").output
    assert "has a Kafka already" in insync_kafka("start", tmp_path, "--version", "2.3.1").output
    wrong = insync_kafka("schedule", tmp_path, "-", text="hold Fatch\n")
    assert "-:1: 'Fatch' is no API" in wrong.output
    assert "says nothing" in insync_kafka("schedule", tmp_path, "-", text="# no\n").output
    unheard = insync_kafka("schedule", tmp_path, "-", text="hold Fetch\n")
    assert "the proxies of" in unheard.output
    assert insync_kafka("status", tmp_path).output.splitlines()[-1] == "controller: nobody"
    assert insync_kafka("stop", tmp_path).output == "nothing runs\n"


def test_a_story_that_cannot_be_forced_is_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kafka_2.12-2.3.1.jar").touch()

    done = insync_kafka("replay", "specs/stories/own_write_looks_failed.story", "--home", tmp_path)

    assert (done.exit_code, "the lab has no action for" in done.output) == (3, True)
