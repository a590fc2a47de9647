"""What a leader tells of an ISR that its controller refused, in the words of each release."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from impl.core.replica_events import IsrRequestRefused, IsrUpdateFailed
from impl.releases import Release
from impl.server.replica_lines import ReplicaLines
from impl.znodes import TopicPartition

OLD = "since we sent an old leader epoch. Giving up."


@pytest.mark.parametrize(
    ("version", "error", "level", "text"),
    [
        ("2.7", "FENCED_LEADER_EPOCH", "DEBUG", f"Controller failed to update ISR to 1,2 {OLD}"),
        ("2.8", "FENCED_LEADER_EPOCH", "DEBUG", f"Failed to update ISR to 1,2 {OLD}"),
        ("2.7", "INVALID_UPDATE_VERSION", "DEBUG",
         "Controller failed to update ISR to 1,2 due to invalid zk version. Giving up."),
        ("2.8", "UNKNOWN_TOPIC_OR_PARTITION", "DEBUG",
         "Failed to update ISR to 1,2 since it doesn't know about this topic or partition. "
         "Giving up."),
        ("2.7", "UNKNOWN_SERVER_ERROR", "WARN",
         "Controller failed to update ISR to 1,2 due to unexpected UNKNOWN_SERVER_ERROR. "
         "Retrying."),
    ],
)  # fmt: skip
def test_an_isr_that_the_controller_refuses_is_logged_in_the_words_of_the_release(
    version: str, error: str, level: str, text: str
) -> None:
    written: list[tuple[str, str]] = []
    files = SimpleNamespace(
        release=Release.of(version),
        partition=lambda _of, said, its_level="INFO": written.append((said, its_level)),
    )

    ReplicaLines(cast(Any, files))(
        IsrRequestRefused(TopicPartition("t", 0), (1, 2), error, level == "DEBUG")
    )

    assert written == [(text, level)]


def test_a_write_of_an_isr_that_fails_is_logged_by_kafkas_scheduler() -> None:
    written: list[tuple[str, ...]] = []
    files = SimpleNamespace(
        release=Release.of("1.1"),
        line=lambda file, level, text, logger, thrown: written.append(
            (file, level, text, logger, thrown)
        ),
    )

    ReplicaLines(cast(Any, files))(IsrUpdateFailed(TopicPartition("t", 0), (1,), "expired"))

    text = "Uncaught exception in scheduled task 'isr-expiration'"
    assert written == [("server.log", "ERROR", text, "kafka.utils.KafkaScheduler", "expired")]
