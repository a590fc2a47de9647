"""Lines, records and the identity: every line is an event, a continuation, or rejected."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conformance.ingest.dialects import KAFKA_2
from conformance.ingest.parse import FileCounts, rows_of_file, rows_of_lines
from tests.pipeline.written import CONTROLLER, line, obeys


def read(lines: list[str]) -> tuple[list[dict[str, Any]], FileCounts]:
    tally = FileCounts()
    return list(rows_of_lines("c", "f", lines, KAFKA_2, tally)), tally


def summary(path: Path) -> dict[str, Any]:
    return list(rows_of_file("c", "f", str(path)))[-1]


def test_a_stack_trace_belongs_to_its_line():
    rows, tally = read([obeys(1, 2, 1, 4), "java.lang.X: no", "\tat a.b(C.scala:1)", ""])

    assert [(row["line"], row["lines"]) for row in rows] == [(1, 4)]
    assert (tally.events, tally.continuation, tally.rejected) == (1, 3, 0)


def test_a_message_that_goes_on_finds_its_logger_later():
    dump = [
        "KafkaConfig values: ",
        "\tbroker.id = 7",
        "\tport = 9092",
        " (kafka.server.KafkaConfig)",
    ]
    head = line(1, dump[0]).removesuffix(" (state.change.logger)")

    rows, tally = read([head, *dump[1:]])

    assert [(row["kind"], row["broker"]) for row in rows] == [("configuration", 7)]
    assert tally.stated_id == 7


def test_lines_before_the_first_stamp_are_rejected_with_the_reason():
    rows, tally = read(["SLF4J: hello", "more", obeys(1, 2, 1, 4)])

    assert [row.get("reason") for row in rows] == ["no stamped line before it"] * 2 + [None]
    assert (tally.events, tally.continuation, tally.rejected) == (1, 0, 2)


def test_a_stamp_that_is_no_time_is_rejected():
    bad = obeys(1, 2, 1, 4).replace("10:00:01", "10:61:01")

    rows, _ = read([bad])

    assert [row["reason"] for row in rows] == ["its stamp is no time"]


def test_an_unknown_line_of_the_controller_is_rejected_and_keeps_its_text():
    text = line(1, "[Controller id=1] Frobnicating 17", CONTROLLER)

    rows, _ = read([text])

    assert rows[0]["reason"] == "unknown template"
    assert rows[0]["template"] == "KafkaController: (..) Frobnicating N"
    assert rows[0]["text"] == text


PIECES = st.sampled_from(
    [
        obeys(1, 2, 1, 4),
        line(2, "[Controller id=1] Frobnicating 17", CONTROLLER),
        line(3, "[GroupCoordinator 1]: Hello", "kafka.coordinator.group.GroupCoordinator"),
        "[2024-03-01 10:00:01,000] no level here",
        "[2024-99-01 10:00:01,000] INFO x (a.b)",
        "[2024-03-01 10:00:01,000] INFO a message without its logger",
        " (kafka.server.KafkaConfig)",
        "\tat kafka.X(Y.scala:1)",
        "",
        "nonsense \N{SNOWMAN}",
    ]
)


@given(st.lists(PIECES, max_size=30))
def test_lines_read_are_events_and_continuation_and_rejected_lines(lines: list[str]):
    rows, tally = read(lines)

    assert len(lines) == tally.events + tally.continuation + tally.rejected
    assert tally.events == sum(row["what"] == "event" for row in rows)
    assert tally.rejected == sum(row["what"] == "rejected" for row in rows)
    covered = sum(row["lines"] for row in rows if row["what"] == "event")
    assert covered <= tally.events + tally.continuation


def test_a_file_counts_its_lines_by_itself(tmp_path: Path):
    path = tmp_path / "server.log"
    path.write_text("\n".join([obeys(1, 2, 1, 4), "x", line(2, "?")]))

    row = summary(path)

    assert row["read"] == 3 == row["events"] + row["continuation"] + row["rejected"]
    assert row["reason"] is None


def test_windows_line_ends_and_utf_16_are_read(tmp_path: Path):
    path = tmp_path / "server.log"
    text = f"{obeys(1, 2, 1, 4)}\r\n{obeys(2, 2, 1, 4)}\r\n"

    path.write_bytes(text.encode("utf-16"))

    assert summary(path)["events"] == 2


def test_bytes_that_are_no_text_spoil_only_their_line(tmp_path: Path):
    path = tmp_path / "server.log"
    path.write_bytes(f"{obeys(1, 2, 1, 4)}\n".encode() + b"\xff\xfe\xe9 caf\xe9\n" + b"\xe9")

    row = summary(path)

    assert (row["events"], row["continuation"], row["reason"]) == (1, 2, None)


def test_a_line_of_ten_megabytes_is_rejected_and_the_rest_is_read(tmp_path: Path):
    path = tmp_path / "server.log"
    long = line(1, "x" * 10_000_000)
    path.write_text(f"{obeys(1, 2, 1, 4)}\n{long}\n\tits own stack trace\n{obeys(3, 2, 1, 4)}\n")

    *rows, row = list(rows_of_file("c", "f", str(path)))

    assert (row["events"], row["rejected"], row["read"]) == (2, 2, 4)
    assert rows[1]["reason"] == "longer than 1 MiB"
    assert len(rows[1]["text"]) == 500


def test_a_truncated_gzip_is_read_up_to_the_damage(tmp_path: Path):
    path = tmp_path / "server.log.gz"
    text = "".join(f"{obeys(second, 2, 1, second)}\n" for second in range(1, 3000))
    path.write_bytes(gzip.compress(text.encode(), mtime=0)[:-400])

    row = summary(path)

    assert 1000 < row["events"] < 3000
    assert row["reason"] == f"gzip ends too early after line {row['read']}; copy it again, whole"


def test_gzip_members_that_follow_one_another_are_one_file(tmp_path: Path):
    path = tmp_path / "server.log.gz"
    part = gzip.compress(f"{obeys(1, 2, 1, 4)}\n".encode(), mtime=0)
    path.write_bytes(part + part)

    assert summary(path)["events"] == 2


def test_a_gzip_with_a_wrong_byte_is_damaged(tmp_path: Path):
    path = tmp_path / "server.log.gz"
    data = bytearray(gzip.compress(f"{obeys(1, 2, 1, 4)}\n".encode() * 50, mtime=0))
    data[-6] ^= 0xFF
    path.write_bytes(bytes(data))

    assert "gzip is damaged" in summary(path)["reason"]


def test_what_is_no_log_of_kafka_is_known_by_its_content(tmp_path: Path):
    cases = {
        b"": "is empty",
        gzip.compress(b"", mtime=0): "is empty",
        b"\x7fELF\0\0\0\1": "is binary",
        b"hello\nworld\n": "has no line in Kafka's layout",
        f"{line(1, 'hello', 'com.example.Shop')}\n".encode(): "is not a log of a Kafka broker",
    }
    for data, reason in cases.items():
        path = tmp_path / "some.log"
        path.write_bytes(data)

        assert summary(path)["reason"].startswith(reason)
