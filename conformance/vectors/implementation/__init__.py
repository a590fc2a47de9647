"""The implementation's answers to cases of Kafka's behaviour, by file and operation.

A question has ``input`` (as in the files of vectors), the ``release`` that it is asked under, and
the ``versions`` that it holds for. It does not contain the expected answer. Every module of this
folder that answers questions has a table ``ANSWERS``.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from conformance.vectors.questions import Answer, Question
from conformance.vectors.shapes import reading

ANSWERS: dict[tuple[str, str], Answer] = {}
"""By file (its stem) and operation."""

for _found in pkgutil.iter_modules(__path__, f"{__name__}."):
    ANSWERS.update(reading(getattr(import_module(_found.name), "ANSWERS", {})))


def answer(file: str, operation: str, question: Question) -> Any:
    """The answer to a question; KeyError if no function answers such questions."""
    return ANSWERS[file, operation](question)


__all__ = ["ANSWERS", "Answer", "Question", "answer"]
