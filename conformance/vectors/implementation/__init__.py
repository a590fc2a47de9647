"""The implementation's answers to cases of Kafka's behaviour, by file and operation.

A question has ``input`` (as in the files of vectors), the ``release`` that it is asked under, and
the ``versions`` that it holds for. It does not contain the expected answer.
"""

from __future__ import annotations

from typing import Any

from conformance.vectors.implementation import (
    batches,
    brokers,
    deletions,
    elections,
    fetching,
    flows,
    leaders,
    machines,
    placement,
    reassigns,
    records,
    removals,
    sequences,
    storage,
    store,
    topics,
)
from conformance.vectors.questions import Answer, Question
from conformance.vectors.shapes import reading

ANSWERS: dict[tuple[str, str], Answer] = {}
"""By file (its stem) and operation."""

for _module in (
    batches,
    brokers,
    deletions,
    elections,
    fetching,
    flows,
    leaders,
    machines,
    placement,
    reassigns,
    records,
    removals,
    sequences,
    storage,
    store,
    topics,
):
    ANSWERS.update(reading(_module.ANSWERS))


def answer(file: str, operation: str, question: Question) -> Any:
    """The answer to a question; KeyError if no function answers such questions."""
    return ANSWERS[file, operation](question)


__all__ = ["ANSWERS", "Answer", "Question", "answer"]
