"""Laws that every step keeps, whatever is hidden; two lines alone can show a violation.

A search cannot try every choice of eight hidden steps. If observations break a law, no run fits,
and no search is needed. Each law is checked on every edge of complete small state spaces.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.language.sparse import Index
from specs.partial.compiled_steps import CompiledSteps
from specs.partial.ways import PartialLine

BY_ONE = ("zk.epoch", "zk.leader_epoch", "zk.version", "next_record")
"""No step lowers these, and none raises them by more than one."""

NEVER_FALLS = (*BY_ONE, "zk.state_epoch")
"""No step lowers these."""

ONE_LEADER = ("zk.leader_epoch", "zk.leader")
"""While the first stays, so does the second."""

WRITTEN = ("zk.version", ("zk.leader", "zk.leader_epoch", "zk.isr", "zk.state_epoch"))
"""While the first stays, so do the others."""

CHANGES: dict[str, dict[str, tuple[int, ...]]] = {
    "controller_elects_leader": {"zk.isr": (0,)},
    "controller_removes_replica": {"zk.leader": (0,), "zk.isr": (0,)},
    "leader_shrinks_isr": {"zk.leader": (), "zk.leader_epoch": (), "zk.isr": (0,)},
    "leader_expands_isr": {"zk.leader": (), "zk.leader_epoch": (), "zk.isr": (1,)},
}
"""What these steps change cells to; of a field that is not named, anything."""


@dataclass(frozen=True)
class BrokenLaw:
    """A law, and the line whose observation breaks it."""

    line: int
    rule: str
    why: str
    allowed: str


def find_broken_law(
    lines: list[PartialLine], moves: CompiledSteps, hidden: int
) -> BrokenLaw | None:
    """The first law that two lines break together; the first line is the initial state."""
    falls = {moves.numbers[name]: name for name in NEVER_FALLS}
    epoch, leader = (moves.numbers[name] for name in ONE_LEADER)
    version = moves.numbers[WRITTEN[0]]
    parts = {moves.numbers[name]: name for name in WRITTEN[1]}
    last: dict[int, tuple[int, int, int]] = {}
    led: tuple[int, int, int] | None = None
    written: tuple[int, int, dict[tuple[int, Index], int]] | None = None
    for at, line in enumerate(lines):
        shown = {(number, index): code for number, index, code in line.cells}
        for number, name in falls.items():
            code = shown.get((number, ()))
            if code is None:
                continue
            if number in last:
                seen_at, before, number_before = last[number]
                most = before + (at - seen_at) * (hidden + 1)
                was = f"{name} is {code}, and was {before} at line {number_before}"
                if code < before:
                    return BrokenLaw(
                        line.number, f"{name} never goes back", was, f"{before} or more"
                    )
                if name in BY_ONE and code > most:
                    allowed = f"{before} to {most}"
                    return BrokenLaw(line.number, f"{name} grows by one a step", was, allowed)
            last[number] = at, code, line.number
        values = shown.get((epoch, ())), shown.get((leader, ()))
        if values[0] is not None and values[1] is not None:
            if led is not None and led[0] == values[0] and led[1] != values[1]:
                return BrokenLaw(
                    line.number, "a leader epoch has one leader",
                    f"zk.leader is {values[1] or 'none'} in leader epoch {values[0]}, and was "
                    f"{led[1] or 'none'} at line {led[2]}", str(led[1] or "none"),
                )  # fmt: skip
            led = values[0], values[1], line.number
        now = shown.get((version, ()))
        if now is not None:
            state = {cell: code for cell, code in shown.items() if cell[0] in parts}
            if written is not None and written[0] == now:
                for cell, code in state.items():
                    if written[2].get(cell, code) != code:
                        return BrokenLaw(
                            line.number, "the state changes with its version only",
                            f"{parts[cell[0]]} differs from line {written[1]}, and zk.version is "
                            f"{now} at both", f"{parts[cell[0]]} as it was",
                        )  # fmt: skip
                state = {**written[2], **state}
            written = now, line.number, state
    return None
