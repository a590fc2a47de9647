"""How `insync produce` groups lines: a full batch, a pause, the end of the input."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from conformance.cli.records import batches
from impl.server.clients import Producer


def test_lines_are_sent_together_until_a_batch_is_full_or_the_input_is_over():
    groups = list(batches((f"{number}\n" for number in range(7)), 3, 5.0))

    assert [len(group) for group in groups] == [3, 3, 1]
    assert [line for group in groups for line in group] == [f"{number}\n" for number in range(7)]
    assert list(batches([], 3, 5.0)) == []


def test_a_line_that_nothing_follows_is_sent_after_the_linger():
    def slowly() -> Iterator[str]:
        yield "a"
        time.sleep(0.3)
        yield "b"

    assert list(batches(slowly(), 100, 0.02)) == [["a"], ["b"]]


def test_a_source_that_fails_ends_with_its_error():
    def broken() -> Iterator[str]:
        yield "a"
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(batches(broken(), 1, 0.02))


def test_a_batch_is_no_larger_than_it_may_be_but_for_a_single_record():
    producer = Producer([], batch_bytes=10)
    records = [(None, b"12345"), (b"k", b"1234"), (None, b"1"), (None, b"x" * 50), (None, None)]

    assert list(producer._batches([0, 1, 2, 3, 4], records)) == [[0, 1], [2], [3], [4]]
