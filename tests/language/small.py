"""A very small protocol for tests of the notation: two counters, a set, a log, an owner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from model.language import (
    BOOL,
    Bound,
    Bounded,
    Claim,
    Enumeration,
    LogOf,
    Names,
    Numbers,
    Record,
    RecordedSystem,
    Relation,
    SetOf,
    System,
    Version,
    ghost,
    per,
    transition,
)

BROKERS = Enumeration("broker", "brokers")
EPOCHS = Numbers("epoch", 0, Bounded("epoch"))
ANY_EPOCH = Numbers("any epoch", 0)
ENDS = Numbers("end", 0, Bounded("log"))
OFFSETS = Numbers("offset", 0, Bounded("log", -1))
TEMPERATURES = Numbers("temperature", 0, Bounded("hottest"), beyond="raise")
ROLES = Names("role", ("none", "leader", "follower"))

STATE = Record(
    owner=BROKERS.or_none,
    epoch=EPOCHS,
    heat=TEMPERATURES,
    role=per(BROKERS, ROLES),
    seen=per(BROKERS, EPOCHS.or_none),
    isr=SetOf(BROKERS),
    sent=Relation(BROKERS, EPOCHS),
    log=per(BROKERS, LogOf(OFFSETS, ENDS, Record(epoch=EPOCHS))),
    fine=BOOL,
    history=ghost(EPOCHS),
)

BOUNDS = {
    "brokers": Bound(2, 1, "brokers"),
    "epoch": Bound(2, 0, "greatest epoch"),
    "log": Bound(2, 1, "records a log holds"),
    "hottest": Bound(2, 0, "greatest temperature"),
}


def nothing(new: Any) -> None:
    """Everything is blank at first."""


def epoch_grows(now: Any, new: Any) -> None:
    """A step: the epoch grows by one."""
    new.epoch = now.epoch + 1


def heat_rises(now: Any, new: Any) -> None:
    """A step: it gets hotter."""
    new.heat = now.heat + 1


def system(
    *steps: Callable[..., object],
    claims: tuple[Claim, ...] = (),
    initial: Callable[..., None] = nothing,
    state: Record = STATE,
    switches: Mapping[str, object] | None = None,
    bounds: Mapping[str, int] | None = None,
    **parameters: Any,
) -> RecordedSystem:
    """The small protocol with these steps, recorded; plain functions share the parameters."""
    declared = tuple(transition(**parameters)(step) for step in steps)
    return System(
        name="small",
        about="a protocol for tests",
        state=state,
        initial=initial,
        transitions=declared,
        claims=claims,
        versions={"only": Version("only", dict(switches or {}), "the only one")},
        default_version="only",
        bounds={name: Bound(size, 0, name) for name, size in bounds.items()} if bounds else BOUNDS,
    ).recorded()
