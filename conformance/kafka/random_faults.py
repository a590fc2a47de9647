"""Random faults from a seed, as lines of a schedule: each with its duration and its end."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class ScheduledFault(NamedTuple):
    """``begins`` and ``ends`` are lines of a schedule; the fault lasts so long between them (s)."""

    begins: tuple[str, ...]
    lasts: float
    ends: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """The fault as one line of text."""
        return f"{'; '.join(self.begins)} for {self.lasts:.1f} s"


REPLICA_APIS = ("Fetch", "OffsetForLeaderEpoch")
CONTROLLER_APIS = ("LeaderAndIsr", "UpdateMetadata")
KINDS = ("kill", "pause", "expire", "hold", "drop", "hold_controller", "drop_controller",
         "lose_answer", "hold_zookeeper")  # fmt: skip
WEIGHTS = (3, 2, 2, 2, 2, 2, 1, 1, 1)


def faults(count: int, seed: int, brokers: Sequence[int]) -> Iterator[ScheduledFault]:
    """Draws that many faults from a seed: the same seed gives the same ones."""
    chance = random.Random(seed)
    for _ in range(count):
        yield _fault(chance, brokers)


def _fault(chance: random.Random, brokers: Sequence[int]) -> ScheduledFault:
    kind = chance.choices(KINDS, WEIGHTS)[0]
    one, other = chance.sample(list(brokers), 2)
    lasts = chance.uniform(0.3, 4.0)
    match kind:
        case "kill":
            return ScheduledFault((f"kill {one}",), lasts, (f"start {one}",))
        case "pause":
            return ScheduledFault((f"pause {one}",), lasts, (f"resume {one}",))
        case "expire":
            return ScheduledFault((f"expire {one}",), 1.0, ())
        case "hold" | "drop":
            answer = chance.choice(("", "answer "))
            what = f"{chance.choice(REPLICA_APIS)} {answer}from {one} to {other}"
            return ScheduledFault((f"{kind} {what}",), lasts, (f"pass {what}",))
        case "hold_controller" | "drop_controller":
            what = f"{chance.choice(CONTROLLER_APIS)} to {one}"
            verb = kind.partition("_")[0]
            # Something that makes the controller speak.
            return ScheduledFault((f"{verb} {what}", f"expire {other}"), lasts, (f"pass {what}",))
        case "lose_answer":  # TCP repeats nothing: the controller connects and sends anew
            what = f"{chance.choice(CONTROLLER_APIS)} answer to {one}"
            return ScheduledFault(
                (f"drop {what} nth 1", f"expire {other}"), lasts, (f"pass {what}",)
            )
        case _:
            what = f"{chance.choice(('SetData', 'Multi'))} from {one} to zookeeper"
            return ScheduledFault((f"hold {what}", f"expire {other}"), lasts, (f"pass {what}",))
