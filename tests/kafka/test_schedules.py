"""Schedules: what a line may say, what is refused, and which messages a rule takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.kafka.messages import ANSWER, REQUEST, Message
from conformance.kafka.schedule import (
    BrokerAction,
    MessageFilter,
    MessageRule,
    Operate,
    ReleaseMessage,
    WrongSchedule,
    parse_schedule,
)


def message(**fields: object) -> Message:
    chosen: dict[str, object] = {
        "kind": REQUEST, "sender": "2", "to": "1", "api": "Fetch", "frame": b"", "connection": 1,
    }  # fmt: skip
    return Message(**{**chosen, **fields})  # type: ignore[arg-type]


def test_a_schedule_names_messages_processes_and_disks() -> None:
    text = """
    hold Fetch from 2 to 1   # requests
    drop LeaderAndIsr answer from controller to 2 epoch 5
    delay SetData from 1 to zookeeper path /brokers/topics by 500
    duplicate StopReplica nth 2
    release Fetch from 2
    await any from 3 to zookeeper path /brokers/topics
    kill 1
    controller 3
    restore 1 before
    claim StopReplica to 2
    topic t 1,2
    assign t 1,3
    until isr t 1,3
    """
    assert parse_schedule(text) == [
        MessageRule("hold", MessageFilter("Fetch", REQUEST, "2", "1")),
        MessageRule("drop", MessageFilter("LeaderAndIsr", ANSWER, "controller", "2", epoch=5)),
        MessageRule("delay", MessageFilter("SetData", REQUEST, "1", "zookeeper",
             path="/brokers/topics"), delay_ms=500),
        MessageRule("duplicate", MessageFilter("StopReplica"), nth=2),
        ReleaseMessage("release", MessageFilter("Fetch", REQUEST, "2")),
        ReleaseMessage("await", MessageFilter("any", REQUEST, "3", "zookeeper",
                       path="/brokers/topics")),
        BrokerAction("kill", 1),
        BrokerAction("controller", 3),
        BrokerAction("restore", 1, "before"),
        ReleaseMessage("claim", MessageFilter("StopReplica", REQUEST, to="2")),
        Operate("topic", "t", (1, 2)),
        Operate("assign", "t", (1, 3)),
        Operate("until", "t", (1, 3), "isr"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("hald Fetch", "is no word of a schedule; write one of: hold"),
        ("hold", "hold what? write: hold Fetch from 2 to 1"),
        ("hold Fatch", "is no API; write Kafka's name"),
        ("hold Fetch form 2", "is not understood after hold Fetch"),
        ("hold Fetch from", "from what? a word is missing"),
        ("hold Fetch nth first", "nth first: write a whole number"),
        ("hold Fetch by 5", "hold takes no 'by'"),
        ("release Fetch nth 1", "release takes no 'nth'"),
        ("delay Fetch", "delay by how many milliseconds?"),
        ("kill", "kill which broker? write: kill 1"),
        ("topic t", "topic takes a topic and brokers; write: topic t 1,2"),
        ("assign t 1,1", "1,1 names a broker twice"),
        ("until t 1", "until what? write one of isr, replicas, leader: until isr t 1,2"),
        ("topic a/b 1", "'a/b' is no name of a topic"),
        ("controller", "controller which broker? write: controller 1"),
        ("await Fetch nth 1", "await takes no 'nth'"),
        ("kill one", "kill which broker? write: kill 1"),
        ("kill 1 2", "kill takes 1 words"),
        ("keep 1", "keep takes 2 words; write: keep 1 before"),
        ("keep 1 ../x", "is no name of a copy"),
    ],
)
def test_a_line_that_says_nothing_is_named_with_what_would_be_right(line: str, why: str) -> None:
    with pytest.raises(WrongSchedule, match=r"^mine\.txt:2: ") as error:
        parse_schedule(f"# first\n{line}\n", "mine.txt")
    assert why in str(error.value)


def test_a_rule_takes_what_fits_in_every_word_and_only_the_one_it_counts_to() -> None:
    rule = MessageRule("hold", MessageFilter("Fetch", REQUEST, "2", "1", topic="t", epoch=3), nth=2)
    fits = message(topics=frozenset({"t"}), epochs=frozenset({3}))
    others = [
        message(api="Produce"), message(kind=ANSWER), message(sender="3"), message(to="3"),
        message(topics=frozenset({"u"})), message(topics=frozenset({"t"}), epochs=frozenset({2})),
    ]  # fmt: skip

    assert [rule.takes(one) for one in [fits, *others, fits, fits]] == [
        False, *[False] * len(others), True, False,
    ]  # fmt: skip


def test_a_rule_about_zookeeper_goes_by_the_path() -> None:
    rule = MessageRule("drop", MessageFilter("SetData", path="/controller"))

    assert rule.takes(message(api="SetData", details={"path": "/controller_epoch"}))
    assert not rule.takes(message(api="SetData", details={"path": "/brokers/ids"}))


def test_schedules_that_the_document_shows_can_be_read() -> None:
    text = Path("docs/apache-kafka.md").read_text()
    shown = [part.partition("```")[0] for part in text.split("```schedule\n")[1:]]

    assert [one.splitlines()[0] for one in shown] == [
        "# KAFKA-7235",
        "# KAFKA-2729",
        "# KAFKA-9539",
        "# acknowledged without the ISR",
        "# then its session ends",
    ]
    assert [len(parse_schedule(one)) for one in shown] == [6, 9, 9, 4, 7]
