"""Reads and judges partial traces, which show only part of a run."""

from conformance.partial.check_partial import check_partial, judge_partial
from conformance.partial.read_partial import PartialTrace, is_partial, read_partial

__all__ = [
    "PartialTrace",
    "check_partial",
    "is_partial",
    "judge_partial",
    "read_partial",
]
