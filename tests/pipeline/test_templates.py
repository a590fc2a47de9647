"""Every template reads the line that stands beside it, and no other template reads it first."""

from __future__ import annotations

import pytest

from conformance.ingest.dialects import DIALECTS, KAFKA_2, dialect_for, skeleton
from conformance.ingest.notation import Template
from conformance.ingest.notes import NOTES, is_protocol

EXAMPLES = [
    template for dialect in DIALECTS.values() for template in dialect.templates if template.example
]


@pytest.mark.parametrize("template", EXAMPLES, ids=lambda template: template.name)
def test_a_template_reads_its_example(template: Template):
    kind, name, columns = KAFKA_2.read(template.logger, template.example) or ("", "", {})

    assert (kind, name) == (template.kind, template.name)
    assert {name for name, _ in template.readers} <= columns.keys()


def test_every_template_has_an_example_except_the_dump_of_the_configuration():
    without = [template.name for template in KAFKA_2.templates if not template.example]

    assert without == ["configuration"]


def test_an_election_tells_who_which_epoch_and_which_version():
    message = (
        "[Controller id=2] 2 successfully elected as the controller. Epoch incremented to 12 and "
        "epoch zk version is now 11"
    )

    read = KAFKA_2.read("kafka.controller.KafkaController", message)

    assert read is not None
    assert read[2] == {"broker": 2, "controller": 2, "controller_epoch": 12, "version": 11}


def test_a_topic_may_have_dashes_dots_and_digits_in_its_name():
    message = "[Broker id=1] Handling stop replica (delete=false) for partition a.b-7_c-12"

    read = KAFKA_2.read("state.change.logger", message)

    assert read is not None
    assert (read[2]["topic"], read[2]["partition"]) == ("a.b-7_c", 12)


def test_a_line_of_another_logger_is_a_note_that_keeps_its_broker():
    read = KAFKA_2.read("kafka.coordinator.group.GroupCoordinator", "[GroupCoordinator 3]: Hello")

    assert read == ("note", "note", {"broker": 3})


@pytest.mark.parametrize(
    "logger",
    [
        "state.change.logger",
        "kafka.controller.KafkaController",
        "kafka.server.ReplicaFetcherThread",
        "kafka.log.Log",
        "kafka.cluster.Partition",
        "kafka.server.epoch.LeaderEpochFileCache",
    ],
)
def test_a_line_of_a_protocol_logger_that_no_template_knows_is_not_read(logger: str):
    assert KAFKA_2.read(logger, "[Broker id=1] Something that no release has said") is None


@pytest.mark.parametrize("name", sorted(NOTES))
def test_notes_belong_to_loggers_that_must_be_understood(name: str):
    packages = (
        "kafka.controller",
        "kafka.cluster",
        "kafka.log",
        "kafka.server",
        "kafka.server.epoch",
    )

    assert any(is_protocol(f"{package}.{name}") for package in packages) or name == "controller"


def test_unknown_lines_are_counted_by_their_shape():
    one = skeleton("state.change.logger", "[Broker id=1] Moved orders-3 from 2 to 17")
    two = skeleton("state.change.logger", "[Broker id=2] Moved bills-0 from 5 to 1")

    assert one == two


def test_a_release_without_a_dialect_is_refused_with_those_that_have_one():
    with pytest.raises(KeyError, match=r"no dialect for release 0\.9; there is one of: 2\.0, 2\.1"):
        dialect_for("0.9")
