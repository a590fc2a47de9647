"""A small system, a claim of what happens in the end, and the engines that answer."""

from __future__ import annotations

import pytest

from model.language import (
    Claim,
    RecordedSystem,
    always_eventually,
    require,
    when,
)
from specs.exploration import Exploration
from specs.explorer import explore
from specs.lasso import LassoResult

BOUNDS = {"brokers": 2, "epoch": 3, "log": 1, "hottest": 1}
ENGINES = pytest.mark.parametrize("engine", ["native", "python"])


def epoch_grows(now, new):
    """The epoch grows by one, up to two."""
    require(now.epoch < 2, "the epoch is less than two")

    new.epoch = now.epoch + 1


def epoch_falls(now, new):
    """The epoch falls back to zero."""
    require(now.epoch == 1, "the epoch is one")

    new.epoch = 0


def epoch_jumps(now, new):
    """At one, the epoch may become two."""
    require(now.epoch == 1, "the epoch is one")

    new.epoch = 2


def epoch_starts_again(now, new):
    """From two the epoch falls back to zero."""
    require(now.epoch == 2, "the epoch is two")

    new.epoch = 0


def heat_turns(now, new):
    """It gets warm, or cold again: always possible."""
    new.heat = when(now.heat == 0, 1, 0)


def two(*fair: str) -> Claim:
    @always_eventually("the epoch is two", fair=fair)
    def it_is_two(now):
        return now.epoch == 2

    return it_is_two


def answered(recorded: RecordedSystem, engine: str, **more: int) -> tuple[LassoResult, Exploration]:
    found = explore(recorded, {**BOUNDS, **more}, engine=engine)
    (ending,) = found.eventually_results.values()
    return ending, found


def labels(found: Exploration, ending: LassoResult) -> list[str]:
    """The run, with a bar before the loop."""
    names = [found.grounded.instances[n].label for n in ending.path]
    assert ending.loop is not None
    return [*names[: ending.loop], "|", *names[ending.loop :]]
