"""The schedule of a chaos run: which faults hit which broker, and for how long, by a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

KINDS = {
    "kill": "a broker is killed (SIGKILL) and started again",
    "stop": "a broker is stopped cleanly and started again",
    "pause": "a broker is stopped where it is (SIGSTOP), mostly for longer than its session lasts",
    "depose": "the controller's znode is deleted: there is another one, or the same anew",
    "cut": "nobody reaches a broker; what it asks of others goes through",
    "slow": "every request to a broker takes a while to reach it",
    "cascade": "a leader is killed, and whoever leads next is killed before others fetch from it",
    "disk": "one of a broker's two log directories cannot be used until it is started again",
    "full": "one of them has no space left, in the middle of a write, until it is started again",
}
"""Faults by name, and what they are."""

UNTRACED = ("depose",)
"""What the model has no step for: a znode that somebody deletes by hand."""


class ChaosFault(NamedTuple):
    """A fault of a broker, its duration (s), and the quiet time after it (s)."""

    kind: str
    broker: int
    lasts: float
    quiet: float
    delay_ms: int = 0

    def __str__(self) -> str:
        slowed = f" by {self.delay_ms} ms" if self.delay_ms else ""
        return f"{self.kind} broker {self.broker}{slowed} for {self.lasts:.1f} s"


def faults(
    rounds: int, seed: int, brokers: int, kinds: Sequence[str] = tuple(KINDS)
) -> Iterator[ChaosFault]:
    """This many faults of these kinds in turn; a longer schedule begins with a shorter one."""
    chance = random.Random(f"chaos {seed}")
    for _ in range(rounds):
        kind = chance.choice(list(kinds))
        broker = chance.randint(1, brokers)
        lasts, delay_ms = chance.uniform(0.2, 2.5), 0
        if kind == "pause":
            lasts = chance.uniform(0.5, 4.0)
        elif kind in ("disk", "full", "cascade"):
            lasts = chance.uniform(1.0, 3.0)
        elif kind == "slow":
            delay_ms = chance.choice((20, 100, 400))
        elif kind == "depose":
            lasts = 0.0
        yield ChaosFault(kind, broker, lasts, chance.uniform(0.2, 1.5), delay_ms)
