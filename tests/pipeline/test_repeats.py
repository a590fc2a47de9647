"""The same stamped line in several files is one event with all its positions."""

from __future__ import annotations

from pathlib import Path

from conformance.ingest.files import discover
from conformance.pipeline.corpus import Corpus
from conformance.pipeline.local import LocalEngine
from tests.pipeline.written import changed, checked, line, obeys, starting, write


def ingested(folder: Path) -> Corpus:
    return LocalEngine().ingest(discover([str(folder)]), None)


def positions(corpus: Corpus) -> list[list[str]]:
    return [
        sorted(Path(position).name for position in row)
        for row in corpus.events["positions"].to_pylist()
    ]


def test_lines_that_a_rolled_file_repeats_are_one_event(tmp_path: Path):
    first, second, third = (obeys(second, 1, 1, 4) for second in (1, 2, 3))
    write(tmp_path, {"state-change.log.1": [first, second], "state-change.log": [second, third]})

    corpus = ingested(tmp_path)

    assert corpus.figures.distinct == 3
    assert positions(corpus).count(["state-change.log.1:2", "state-change.log:1"]) == 1
    assert sum(row["events"] for row in corpus.files) == 4


def test_a_repeated_line_is_not_an_epoch_that_stays(tmp_path: Path):
    repeated = changed(2, (1, 4), 1, 6, "1,2")

    result = checked(
        write(
            tmp_path,
            {
                "state-change.log.1": [changed(1, (1, 4), 1, 5, "1,2"), repeated],
                "state-change.log": [repeated, changed(3, (1, 4), 1, 7, "1,2")],
            },
        )
    )

    assert result["findings"] == []
    assert (result["lines"]["events"], result["distinct_events"]) == (4, 3)


def test_a_finding_names_every_place_of_its_line(tmp_path: Path):
    bad = changed(2, (1, 4), 9, 6, "1,2")

    result = checked(write(tmp_path, {"state-change.log.1": [bad], "state-change.log": [bad]}))

    (finding,) = result["findings"]
    assert [Path(place).name for place in finding["positions"]] == [
        "state-change.log:1",
        "state-change.log.1:1",
    ]


def test_equal_lines_within_one_file_are_one_event_for_they_may_have_been_sent_twice(
    tmp_path: Path,
):
    write(tmp_path, {"state-change.log": [obeys(1, 1, 1, 4)] * 3})

    corpus = ingested(tmp_path)

    assert corpus.figures.distinct == 1
    assert [len(row) for row in positions(corpus)] == [3]


def test_two_brokers_that_say_the_same_are_two_events(tmp_path: Path):
    write(tmp_path, {f"b{n}/server.log": starting(1, n) for n in (1, 2)})

    assert ingested(tmp_path).figures.distinct == 4


def test_a_shared_log_repeats_what_each_brokers_own_log_says(tmp_path: Path):
    hello = line(1, "Hello", "kafka.server.KafkaApis")
    own = {f"server{n}.log": [hello, obeys(2, n, 1, 4)] for n in (1, 2)}
    shared = {"logs/server.log": [hello, hello, obeys(2, 1, 1, 4), obeys(2, 2, 1, 4)]}
    write(tmp_path, own | shared)

    corpus = ingested(tmp_path)

    assert corpus.figures.distinct == 4
    assert all(len(row) == 2 for row in positions(corpus))
