"""The module's own operators in TLA+; only those that a module uses are written into it."""

from __future__ import annotations

from collections.abc import Iterable

from specs.tla.page import comment

HELPERS = {
    "Within": (
        "What a step writes stays within a bound. Beyond it the instance ends: there is no such\n"
        "step here, and insync prunes it in the same way.",
        "Within(value, most) == value <= most",
    ),
    "At": (
        "The record at an offset of a log: offsets start at 0, sequences at 1.",
        "At(log_of, offset_of) == log_of[offset_of + 1]",
    ),
    "Cut": (
        "A log cut to a length, which is never greater than its own.",
        "Cut(log_of, end_at) == SubSeq(log_of, 1, end_at)",
    ),
    "Logs": (
        "The logs of such records, with such an end.",
        "Logs(records_of, ends_of) == {one \\in Seq(records_of) : Len(one) \\in ends_of}",
    ),
    "Below": (
        "The numbers of a set that are below an end.",
        "Below(numbers, end_at) == {n \\in numbers : n < end_at}",
    ),
    "Between": (
        "The numbers of a set from a first one and below an end.",
        "Between(numbers, first_at, end_at) == {n \\in numbers : first_at <= n /\\ n < end_at}",
    ),
    "Least": (
        "The least of a set of numbers; something else, if it is empty.",
        "Least(numbers, otherwise) ==\n"
        "    IF numbers = {} THEN otherwise\n"
        "    ELSE CHOOSE n \\in numbers : \\A m \\in numbers : n <= m",
    ),
    "Smaller": ("The smaller of two numbers.", "Smaller(n, m) == IF n <= m THEN n ELSE m"),
    "Larger": ("The larger of two numbers.", "Larger(n, m) == IF n >= m THEN n ELSE m"),
}


def spelled(used: Iterable[str]) -> list[list[str]]:
    """The definitions of the words that are used, in one order always."""
    wanted = set(used)
    return [
        [*comment(about), *text.split("\n")]
        for name, (about, text) in HELPERS.items()
        if name in wanted
    ]
