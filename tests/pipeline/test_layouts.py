"""Layouts other than Kafka's own are recognised, or taken from a pattern, with their places."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.ingest.layouts import LayoutError, in_kafkas_layout, pattern
from conformance.ingest.parse import rows_of_file
from conformance.ingest.record_parts import stamp
from tests.pipeline.written import checked, run_check

SHIPPED = Path(__file__).parents[1] / "data" / "logs" / "planted"
WHEN, LOGGER = "2024-03-01 10:00:00,123", "state.change.logger"
SAID = "[Controller id=1 epoch=3] Changed partition orders-0 state from OnlinePartition to "
SAID += "OfflinePartition"
OWN = f"[{WHEN}] INFO {SAID} ({LOGGER})"
UTC = "2024-03-01T10:00:00.123Z"
JSON = {"level": "INFO", "message": SAID}
INSTANT = {"epochSecond": 1709287200, "nanoOfSecond": 123000000}

LAYOUTS = {
    "own": OWN,
    "iso": f"{WHEN} INFO {SAID} ({LOGGER})",
    "thread last": f"{WHEN} INFO {SAID} ({LOGGER}) [controller-event-thread]",
    "thread first": f"[main] {WHEN} INFO {SAID} ({LOGGER})",
    "thread after the time": f"[{WHEN}] [main] INFO {SAID} ({LOGGER})",
    "logger first": f"{WHEN} [main] INFO  {LOGGER} - {SAID}",
    "short logger": f"{WHEN} INFO  [main] logger: {SAID}",
    "T and zone": f"{UTC} INFO {SAID} ({LOGGER})",
    "another zone": f"2024-03-01T12:00:00.123+02:00 INFO {SAID} ({LOGGER})",
    "logstash": json.dumps({"@timestamp": UTC, "logger_name": LOGGER, **JSON}),
    "log4j json": json.dumps({"instant": INSTANT, "loggerName": LOGGER, **JSON}),
    "millis json": json.dumps({"timeMillis": 1709287200123, "loggerName": LOGGER, **JSON}),
    "ecs": json.dumps({"@timestamp": UTC, "log": {"logger": LOGGER}, "log.level": "INFO",
                       "message": SAID}),
    "docker": json.dumps({"log": OWN + "\n", "stream": "stdout", "time": UTC}),
    "kubernetes": f"2024-03-01T10:00:00.123456789Z stdout F {OWN}",
    "kubernetes, thread last": f"{UTC} stdout F {WHEN} INFO {SAID} ({LOGGER}) [main]",
    "compose": f"kafka-1  | {OWN}",
    "kubectl": f"[pod/kafka-0/kafka] {OWN}",
    "timestamps": f"{UTC} {OWN}",
    "syslog": f"<30>Mar 01 10:00:00 host kafka[123]: {OWN}",
    "syslog, RFC 5424": f"<14>1 {UTC} host kafka 123 - - {OWN}",
    "rsyslog": f"2024-03-01T10:00:00.123456+00:00 host kafka[123]: {OWN}",
    "compose, in colours": f"\x1b[36mkafka-1  |\x1b[0m {OWN}",
    "line of the source": f"{WHEN} INFO  {LOGGER}:68 - {SAID}",
    "line of the source, short logger": f"{WHEN} INFO  logger:68 - {SAID}",
    "line of the source, last": f"[{WHEN}] INFO {SAID} ({LOGGER}:57)",
    "level in brackets": f"[{WHEN}] [INFO] {SAID} ({LOGGER})",
    "all in brackets": f"[{UTC}] [INFO] [main] [{LOGGER}] {SAID}",
    "level padded": f"[{WHEN}]  INFO {SAID} ({LOGGER})",
    "Spring": f"2024-03-01 10:00:00.123  INFO 1 --- [           main] {LOGGER}    : {SAID}",
    "bars": f"{WHEN} | INFO | main | {LOGGER} | {SAID}",
    "dots in the date": f"01.03.2024 10:00:00,123 INFO {SAID} ({LOGGER})",
    "the month by name": f"01 Mar 2024 10:00:00,123 INFO {SAID} ({LOGGER})",
    "the zone by name": f"[{WHEN} UTC] INFO {SAID} ({LOGGER})",
    "level first": f"INFO [{WHEN}] {SAID} ({LOGGER})",
    "level first, and the thread": f"INFO [{WHEN}] [main] {SAID} ({LOGGER})",
    "logger without brackets": f"[{WHEN}] INFO {LOGGER} {SAID}",
    "grep": f"logs/state-change.log.2024-03-01-10:17:{OWN}",
    "mail": f"> {OWN}",
    "indented": f"    {OWN}",
    "host": f"broker-1.internal {OWN}",
    "swarm": f"kafka_kafka.1.x7ab@node1    | {OWN}",
    "Google": json.dumps({"severity": "INFO", "timestamp": UTC, "textPayload": OWN}),
    "Fluentd": f"{UTC}\tkube.kafka-0\t" + json.dumps({"log": OWN}),
    "journal": f"Mar 01 10:00:00 host kafka-server-start.sh[123]: {OWN}",
}  # fmt: skip


@pytest.mark.parametrize("line", LAYOUTS.values(), ids=LAYOUTS)
def test_a_layout_is_recognised(line: str):
    assert [" ".join(each.split()) for each in in_kafkas_layout([line, line])] == [OWN, OWN]


def test_a_year_of_two_digits_and_a_time_without_milliseconds_are_understood():
    (line,) = in_kafkas_layout([f"24/03/01 10:00:00 INFO logger: {SAID}"])

    assert line == OWN.replace(",123", ",000")


def test_a_message_that_goes_on_ends_where_its_logger_stands():
    lines = [f"{WHEN} INFO KafkaConfig values: ", "\tbroker.id = 1",
             " (kafka.server.KafkaConfig) [main]", LAYOUTS["thread last"]]  # fmt: skip

    found = list(in_kafkas_layout(lines))

    assert found == [f"[{WHEN}] INFO KafkaConfig values: ", "\tbroker.id = 1",
                     " (kafka.server.KafkaConfig)", OWN]  # fmt: skip


def test_a_line_that_was_cut_in_two_keeps_its_place_and_leaves_an_empty_one():
    docker = [json.dumps({"log": text, "stream": "stdout"}) for text in (OWN[:50], OWN[50:] + "\n")]
    runtime = [f"{UTC} stdout P {OWN[:50]}", f"{UTC} stdout F {OWN[50:]}", f"{UTC} stdout F {OWN}"]

    assert list(in_kafkas_layout(docker)) == [OWN, ""]
    assert list(in_kafkas_layout(runtime)) == [OWN, "", OWN]


def test_what_is_no_layout_stays_as_it_is():
    lines = ["hello", "", "{no json", '{"a": 1}', f"{WHEN} nothing else"]

    assert list(in_kafkas_layout(lines)) == lines
    assert list(in_kafkas_layout([])) == []


def test_a_pattern_that_is_given_is_taken():
    lines = [f"{SAID} at {WHEN} by <{LOGGER}>", f"INFO/{WHEN}/{LOGGER}/{SAID}"]

    assert list(in_kafkas_layout(lines[1:], "%p/%d/%c/%m%n")) == [OWN]
    with pytest.raises(LayoutError, match="has no %d before %m"):
        pattern("%m at %d by <%c>")


@pytest.mark.parametrize(
    "text, why",
    [
        ("%p %m", "has no %d, %c; name a pattern like"),
        ("%d{ABSOLUTE} %p %m (%c)", "has no day"),
        ("%d{EEE} %p %m (%c)", "is not known; known are ISO8601"),
        ("%d %d %m %c", "stands there twice"),
        ("", "has no %d, %c, %m"),
    ],
)
def test_a_pattern_that_says_too_little_is_refused(text: str, why: str):
    with pytest.raises(LayoutError, match=why):
        pattern(text)


@pytest.mark.parametrize("text", ["", "yesterday", "2024-13-01T10:00:00.1+99:99", "99"])
def test_what_is_no_time_is_none(text: str):
    assert stamp(text) is None


# --- through the whole


def again(into: Path, change: Callable[[str], str]) -> Path:
    """The shipped logs with every line changed."""
    for path in SHIPPED.rglob("*.log"):
        target = into / path.relative_to(SHIPPED)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("".join(change(line) + "\n" for line in path.read_text().splitlines()))
    return into


def thread_last(line: str) -> str:
    return line.replace("[", "", 1).replace("]", "", 1) + " [main]" if line[:2] == "[2" else line


CHANGES = {
    "docker": lambda line: json.dumps({"log": line + "\n", "stream": "stdout", "time": UTC}),
    "kubernetes": lambda line: f"{UTC} stdout F {line}",
    "thread last": thread_last,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_planted_violation_is_found_at_its_line_in_any_layout(
    change: Callable[[str], str], tmp_path: Path
):
    def found(folder: Path) -> tuple[str, list[tuple[str, int]], int]:
        said = checked(folder)
        places = [
            (Path(each["file"]).name.split(".")[0], each["line"]) for each in said["findings"]
        ]
        return said["verdict"], places, said["lines"]["rejected"]

    assert found(again(tmp_path / "logs", change)) == found(SHIPPED)
    assert found(SHIPPED)[0] == "broken"


def test_a_damaged_file_in_another_layout_keeps_what_was_before_the_damage(tmp_path: Path):
    text = "".join(f"{UTC} stdout P x\n" if n == 39 else LAYOUTS["kubernetes"] + "\n"
                   for n in range(900))  # fmt: skip
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress(text.encode())[:-12])

    *rows, file = rows_of_file("c", "server.log.gz", str(path))

    assert file["reason"] is not None
    assert file["read"] == file["events"] + file["continuation"] + file["rejected"]
    assert len(rows) > 30


def test_a_layout_that_is_no_pattern_is_wrong_use(tmp_path: Path):
    (tmp_path / "server.log").write_text(OWN + "\n")

    result = run_check(str(tmp_path), "--layout", "%p %m")

    assert result.exit_code == 64
    assert "--layout %p %m: has no %d, %c; name a pattern like" in result.stderr
