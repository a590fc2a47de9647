"""Decides whether a value that must not decrease decreased, and why: the basis of most rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from conformance.ingest.schema import Event
from conformance.pipeline.rules import FindingKind

# A value that returns to where it was in one stride did not grow there: a history that began
# anew would have had to take every step on the way again.
STRIDE = 3
QUICK = 100  # milliseconds: no faster do epochs rise one after another


@dataclass(frozen=True)
class ValueSeen:
    """One line's value. A `strict` one must exceed the one before; a `fresh` one may start anew."""

    value: int
    event: Event
    strict: bool = False
    fresh: bool = False


@dataclass(frozen=True)
class Decrease:
    """`step` is lower than `last`, the value before it."""

    kind: FindingKind
    last: ValueSeen
    step: ValueSeen
    why: str


def _too_soon(step: ValueSeen, after: ValueSeen) -> bool:
    """Whether a history that began anew cannot have grown this far between two lines.

    Within one controller epoch its one writer's log shows every stride, and none was missed.
    """
    one, other = step.event, after.event
    if one.controller_epoch is not None and one.controller_epoch == other.controller_epoch:
        return True
    return 0 <= other.at - one.at < QUICK * (after.value - step.value)


def decreases(
    steps: Sequence[ValueSeen],
    excuse: Callable[[Event, Event], str | None],
    joined: Callable[[Event, Event], bool],
) -> Iterator[Decrease]:
    """Every fall in a sequence, in order; a fall that another line order explains is incomplete.

    Lines of one millisecond may have been written in any order, by several threads or by a log
    shipper.
    """
    found = list(_falls(steps, excuse, joined))
    if any(fall.kind is FindingKind.VIOLATION for fall in found):
        turned = _falls(_by_moment(steps), excuse, joined)
        sure = {id(fall.step.event) for fall in turned if fall.kind is FindingKind.VIOLATION}
        for number, fall in enumerate(found):
            beside = [each.event for each in steps if _one_moment(each.event, fall.step.event)]
            alone = len({id(event) for event in beside}) == 1
            if fall.kind is FindingKind.VIOLATION and not alone and id(fall.step.event) not in sure:
                why = "lines of one millisecond may stand in another order"
                found[number] = Decrease(FindingKind.INCOMPLETE, fall.last, fall.step, why)
    yield from found


def _one_moment(a: Event, b: Event) -> bool:
    return a.at == b.at and a.file == b.file


def _by_moment(steps: Sequence[ValueSeen]) -> list[ValueSeen]:
    """The steps; those of one millisecond of a file are in the most consistent order."""
    ordered: list[ValueSeen] = []
    for _, together in groupby(steps, key=lambda step: (step.event.file, step.event.at)):
        ordered += sorted(together, key=lambda step: (step.value, not step.strict))
    return ordered


def _falls(
    steps: Sequence[ValueSeen],
    excuse: Callable[[Event, Event], str | None],
    joined: Callable[[Event, Event], bool],
) -> Iterator[Decrease]:
    """Every fall in a sequence, in order.

    `excuse` finds the line that explains a fall, `joined` says that no line can be missing between
    two lines. A fall without an excuse is a violation if no line can be missing, or if the values
    continue as if it had not occurred; otherwise it is incomplete.
    """
    last: ValueSeen | None = None
    for index, step in enumerate(steps):
        if last is None or step.fresh or step.value > last.value:
            last = step
            continue
        if step.value == last.value and not step.strict:
            last = step
            continue
        why = excuse(last.event, step.event)
        if why is not None:
            yield Decrease(FindingKind.EXPLAINED, last, step, why)
            last = step
            continue
        after = steps[index + 1] if index + 1 < len(steps) else None
        returns = after is not None and not after.fresh and after.value >= last.value
        if joined(last.event, step.event):
            yield Decrease(FindingKind.VIOLATION, last, step, "no line between them says why")
        elif (
            after is not None
            and returns
            and after.value - step.value >= STRIDE
            and _too_soon(step, after)
            and joined(step.event, after.event)
            and excuse(step.event, after.event) is None
        ):
            why = f"the next value is {after.value} again, at {after.event.where}"
            yield Decrease(FindingKind.VIOLATION, last, step, why)
        else:
            yield Decrease(FindingKind.INCOMPLETE, last, step, "lines between them may be missing")
            last = step
            continue
        if not returns:
            last = step
