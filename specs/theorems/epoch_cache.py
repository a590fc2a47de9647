"""Proves that the leader epoch cache agrees with its log, for logs and caches of any length.

The cache has entries (epoch, start), rising in both. It agrees with a log if every record is in the
range of one entry and has its epoch. Each operation preserves this. The answer to "what is the end
offset of the records of this epoch and older ones" then equals the log's, as in the model
(`end_offset_for` of model/replication/truncation).

Source: LeaderEpochFileCache (2.0): assign, endOffsetFor, truncateFromEnd; KIP-101, KIP-279.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3

from specs.theorems.theorem import Part, Switches, Theorem, question

EPOCH = z3.Function("entry_epoch", z3.IntSort(), z3.IntSort())
START = z3.Function("entry_start", z3.IntSort(), z3.IntSort())
CARRIED = z3.Function("epoch_of_record", z3.IntSort(), z3.IntSort())
LIES_IN = z3.Function("entry_of_record", z3.IntSort(), z3.IntSort())
ENTRY, LATER, OFFSET = z3.Ints("any_entry later_entry any_offset")


def rises(epoch: Any, start: Any, size: Any) -> Any:
    """Entries rise in epoch and start."""
    return z3.ForAll(
        [ENTRY, LATER],
        z3.Implies(
            z3.And(ENTRY >= 0, ENTRY < LATER, size > LATER),
            z3.And(epoch(ENTRY) < epoch(LATER), start(ENTRY) < start(LATER)),
        ),
        patterns=[
            z3.MultiPattern(epoch(ENTRY), epoch(LATER)),
            z3.MultiPattern(start(ENTRY), start(LATER)),
        ],
    )


def covers_records(epoch: Any, start: Any, size: Any, carried: Any, lies: Any, end: Any) -> Any:
    """Every record below the end lies in the part of an entry, and carries its epoch."""
    entry = lies(OFFSET)
    return z3.ForAll(
        [OFFSET],
        z3.Implies(
            z3.And(OFFSET >= 0, end > OFFSET),
            z3.And(
                entry >= 0,
                entry < size,
                start(entry) <= OFFSET,
                z3.Implies(entry + 1 < size, start(entry + 1) > OFFSET),
                carried(OFFSET) == epoch(entry),
            ),
        ),
        patterns=[lies(OFFSET)],
    )


SIZE, END = z3.Ints("size end")
GIVEN = [
    SIZE >= 0,
    END >= 0,
    rises(EPOCH, START, SIZE),
    covers_records(EPOCH, START, SIZE, CARRIED, LIES_IN, END),
]


def answers(last_of_them: bool = True) -> Iterator[Part]:
    """endOffsetFor, by the last entry up to the epoch; without `last_of_them`, wrongly, by any."""
    asked, entry, offset = z3.Ints("asked entry one_offset")
    last = entry + 1 == SIZE
    chosen = [
        entry >= 0,
        entry < SIZE,
        EPOCH(entry) <= asked,
        z3.Or(last, EPOCH(entry + 1) > asked, not last_of_them),
    ]
    answer = z3.If(last, END, START(entry + 1))
    inside = [offset >= 0, offset < END, LIES_IN(offset) >= 0]
    older = CARRIED(offset) <= asked
    yield (
        "endOffsetFor",
        "below the answer are records of this epoch or older ones",
        question([*GIVEN, *chosen, *inside, offset < answer], older),
    )
    yield (
        "endOffsetFor",
        "from the answer on are records of newer epochs",
        question([*GIVEN, *chosen, *inside, offset >= answer], z3.Not(older)),
    )
    first = [SIZE > 0, asked < EPOCH(0), *inside]
    yield (
        "endOffsetFor",
        "an epoch older than all has no record",
        question([*GIVEN, *first], z3.Not(older)),
    )


def assigns(pops_late_starts: bool = True) -> Iterator[Part]:
    """assign, with a new record of an epoch. `pops_late_starts`: so do entries as late as it."""
    epoch, start, kept, i, j = z3.Ints("new_epoch new_start kept one_i one_j")

    def conflicts(entry: Any) -> Any:
        late = START(entry) >= start if pops_late_starts else z3.BoolVal(False)
        return z3.Or(EPOCH(entry) >= epoch, late)

    # Entries go from the end, as long as they conflict.
    popped = [
        kept >= 0,
        kept <= SIZE,
        z3.Or(kept == 0, z3.Not(conflicts(kept - 1))),
        z3.ForAll([ENTRY], z3.Implies(z3.And(kept <= ENTRY, ENTRY < SIZE), conflicts(ENTRY))),
    ]

    def new_epoch(entry: Any) -> Any:
        return z3.If(entry == kept, epoch, EPOCH(entry))

    def new_start(entry: Any) -> Any:
        return z3.If(entry == kept, start, START(entry))

    order = [i >= 0, i < j, j <= kept]
    yield (
        "assign",
        "entries still rise",
        question(
            [*GIVEN, *popped, *order],
            z3.And(new_epoch(i) < new_epoch(j), new_start(i) < new_start(j)),
        ),
    )
    # The next record, at the log's end, of an epoch newer than all: nothing is popped.
    offset = z3.Int("one_offset")
    newer = [
        start == END,
        z3.ForAll([ENTRY], z3.Implies(z3.And(ENTRY >= 0, ENTRY < SIZE), EPOCH(ENTRY) < epoch)),
        z3.ForAll([ENTRY], z3.Implies(z3.And(ENTRY >= 0, ENTRY < SIZE), START(ENTRY) < END)),
        offset >= 0,
        offset <= END,
    ]
    lies = z3.If(offset == END, kept, LIES_IN(offset))
    carried = z3.If(offset == END, epoch, CARRIED(offset))
    size = kept + 1
    yield (
        "assign",
        "the cache stands for the log with its next record",
        question(
            [*GIVEN, *popped, *newer],
            z3.And(
                lies >= 0,
                lies < size,
                new_start(lies) <= offset,
                z3.Implies(lies + 1 < size, offset < new_start(lies + 1)),
                carried == new_epoch(lies),
            ),
        ),
    )


def truncates(keeps_the_start: bool = False) -> Iterator[Part]:
    """truncateFromEnd. `keeps_the_start`: an entry that begins at the new end stays, wrongly."""
    end, kept, offset, entry = z3.Ints("new_end kept one_offset one_entry")

    def goes(number: Any) -> Any:
        return START(number) > end if keeps_the_start else START(number) >= end

    popped = [
        end >= 0,
        end <= END,
        kept >= 0,
        kept <= SIZE,
        z3.Or(kept == 0, z3.Not(goes(kept - 1))),
        z3.ForAll([ENTRY], z3.Implies(z3.And(kept <= ENTRY, ENTRY < SIZE), goes(ENTRY))),
    ]
    inside = [offset >= 0, offset < end]
    yield (
        "truncateFromEnd",
        "the cache stands for what is left of the log",
        question(
            [*GIVEN, *popped, *inside],
            z3.And(
                LIES_IN(offset) >= 0,
                LIES_IN(offset) < kept,
                START(LIES_IN(offset)) <= offset,
                z3.Implies(LIES_IN(offset) + 1 < kept, offset < START(LIES_IN(offset) + 1)),
                CARRIED(offset) == EPOCH(LIES_IN(offset)),
            ),
        ),
    )
    yield (
        "truncateFromEnd",
        "no entry begins at the new end or beyond",
        question([*GIVEN, *popped, entry >= 0, entry < kept], START(entry) < end),
    )


def _all(_version: str | None, _switches: Switches) -> Iterator[Part]:
    yield from answers()
    yield from assigns()
    yield from truncates()


EPOCH_CACHE = (
    Theorem(
        "epoch_cache_is_the_logs",
        "the epoch cache answers where an epoch ends as the log itself would, and every "
        "operation keeps it so",
        "the operations as functions, caches and logs of any length",
        _all,
        ("the log begins at offset 0: truncation from the start is not in it",),
    ),
)
