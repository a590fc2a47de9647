"""Arrows of a state: messages in flight, just sent, delivered or lost.

An arrow goes from lane to lane. A message that is in flight before a step and not after it has
ended as the transition says: it arrived, was lost or refused. An arrow in flight says for how many
steps. A step that is an exchange by itself (a producer's record, a write to ZooKeeper and its
answer) has an arrow of its own. The page and the printed pictures draw the same arrows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.web.in_flight import CLIENTS, CONTROLLERS, ZOOKEEPER, MessageInFlight
from model.language.recording import CLIENTS as BY_CLIENTS
from model.language.recording import CONTROLLER, NOBODY, Recorded
from specs.rendering import rows

_LANES = {CONTROLLER: CONTROLLERS, BY_CLIENTS: CLIENTS}

Aged = Mapping[MessageInFlight, int]
"""Messages in flight, and for how many steps each is; the fate is left out of what they are."""


@dataclass(frozen=True)
class TakenStep:
    """The step that led to a state: its arguments, and the fields that it changed."""

    step: Recorded
    arguments: Mapping[str, Any]
    changed: tuple[str, ...]


@dataclass(frozen=True)
class Arrow:
    """One arrow, to one lane or several.

    `fate`: as of a Message, and `sent` (by this step), `arrived`. `steps`: for how many steps it is
    in flight, 0 where that means nothing.
    """

    name: str
    source: str
    targets: tuple[str, ...]
    label: str
    answer: bool
    fate: str
    steps: int = 0


def aged(before: Aged | None, now: Sequence[MessageInFlight]) -> Aged:
    """The messages of a state, with the steps since each was sent."""
    known = before or {}
    plain = (replace(one, fate="") for one in now)
    return {one: known[one] + 1 if one in known else 0 for one in plain}


def arrows(
    before: Sequence[MessageInFlight],
    now: Sequence[MessageInFlight],
    ages: Aged,
    taken: TakenStep | None = None,
) -> list[dict[str, Any]]:
    """The arrows after a step: messages that it ended, those in flight, its own, those it sent.

    Without a step, as at the beginning, only those in flight.
    """
    end = taken.step.transition.ends if taken is not None else ""
    still = {replace(one, fate="") for one in now}
    gone = [one for one in before
            if replace(one, fate="") not in still and not _is_overtaken(one, taken)]  # fmt: skip
    drawn = [Arrow(one.name, one.source, (one.target,), one.label, one.answer, end)
             for one in gone if one.fate != "lost"] if taken is not None else []  # fmt: skip
    fresh: list[Arrow] = []
    for one in sorted(now, key=lambda one: -ages.get(replace(one, fate=""), 0)):
        age = ages.get(replace(one, fate=""), 0)
        new = taken is not None and age == 0
        fate = "sent" if new and one.fate == "flying" else one.fate
        arrow = Arrow(one.name, one.source, (one.target,), one.label, one.answer, fate, age)
        (fresh if new else drawn).append(arrow)
    if taken is not None and all(one.target != ZOOKEEPER for one in gone):
        drawn += _exchange_of_step(taken)
    drawn += fresh
    return rows(_merged(drawn))


def _is_overtaken(message: MessageInFlight, taken: TakenStep | None) -> bool:
    """Has a newer request come, so that this one, though it may arrive yet, says nothing new?"""
    epoch = taken.arguments.get("epoch") if taken is not None else None
    return message.name == "LeaderAndIsr" and epoch is not None and (
        f"epoch {epoch}" not in message.label)  # fmt: skip


def _merged(drawn: Sequence[Arrow]) -> Iterator[Arrow]:
    """What says the same to several is one arrow with several heads."""
    groups: dict[Arrow, list[str]] = {}
    for one in drawn:
        groups.setdefault(replace(one, targets=()), []).extend(one.targets)
    for one, targets in groups.items():
        yield replace(one, targets=tuple(dict.fromkeys(targets)))


def _exchange_of_step(taken: TakenStep) -> Iterator[Arrow]:
    """The arrow of a step that is an exchange by itself."""
    given = taken.arguments
    who = str(next(iter(given.values()), ""))
    match taken.step.transition.shows:
        case "produce":
            yield Arrow("Produce", CLIENTS, (who,), "a record", False, "arrived")
        case "acknowledge":
            label = f"offset {given['offset']} is written"
            yield Arrow("Produce", who, (CLIENTS,), label, True, "arrived")
        case "consume":
            label = f"the record at offset {given['offset']}"
            yield Arrow("Fetch", who, (CLIENTS,), label, True, "arrived")
        case "fetch":
            leader, follower = str(given["leader"]), str(given["follower"])
            yield Arrow("Fetch", leader, (follower,), "what it lacks", True, "arrived")
        case _:
            yield from _with_zookeeper(taken)


def _with_zookeeper(taken: TakenStep) -> Iterator[Arrow]:
    step = taken.step.transition
    if step.actor == NOBODY:
        return
    lane = _LANES.get(step.actor) or str(taken.arguments[step.actor])
    who = taken.arguments.get("broker", "")
    by = f"broker {who}: " if lane == CONTROLLERS and "broker" in taken.arguments else ""
    written = _registered(taken.changed)
    if step.shows == "refused_write":
        yield Arrow("setData", lane, (ZOOKEEPER,), f"{by}the check fails", False, "refused")
    elif step.shows == "read":
        yield Arrow("getData", ZOOKEEPER, (lane,), f"{by}what is registered", True, "arrived")
    elif written:
        kind = "multi" if {"controller", "epoch"} <= set(written) else "write"
        yield Arrow(kind, lane, (ZOOKEEPER,), by + ", ".join(written), False, "arrived")
        if step.shows == "write_without_response" and lane == CONTROLLERS:
            yield Arrow("write", ZOOKEEPER, (lane,), f"{by}it is done", True, "lost")


def _registered(changed: Iterable[str]) -> list[str]:
    """Of what has changed, what is registered: `leader`, `isr`."""
    found = [one for one in changed if one.startswith(("zk.", "quorum.", "partition.state."))]
    return list(dict.fromkeys(one.rpartition(".")[2] for one in found))


# -- as sentences
# ------------------------------------------------------------------------------------

FATES = {
    "sent": "sent now", "flying": "in flight", "late": "late", "copy": "may come again",
    "lost": "lost", "refused": "refused", "arrived": "arrived",
}  # fmt: skip
"""For paper, in English; the page has its own words for them."""


def lane_names(picture: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The lanes from left to right: their keys, and how they are headed."""
    names = {ZOOKEEPER: "ZooKeeper", CONTROLLERS: "controllers", CLIENTS: "clients"}
    return [(one, names.get(one, f"broker {one}")) for one in picture["lanes"]]


def sentence(arrow: Mapping[str, Any], picture: Mapping[str, Any]) -> str:
    """An arrow in words: `LeaderAndIsr, controllers to broker 2: leader epoch 1: in flight`."""
    names = dict(lane_names(picture))
    ends = f"{names[arrow['source']]} to {', '.join(names[one] for one in arrow['targets'])}"
    steps = f" for {arrow['steps']} steps" if arrow["steps"] > 1 else ""
    return f"{arrow['name']}, {ends}: {arrow['label']}: {FATES[arrow['fate']]}{steps}"
