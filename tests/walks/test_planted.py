"""The walker itself: it finds what is planted, and says how in few steps."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from model.language import RecordedSystem
from model.systems import SYSTEMS
from tests.walks.ground import LARGEST, Ground, size, systems, well_beyond
from tests.walks.test_walks import run_machine
from tests.walks.walker import Walk, WalkBroken, breaks, walks

MODEST = {
    "classic": {"brokers": 3, "log": 2, "records": 3, "epoch": 2},
    "election": {"brokers": 3, "epoch": 4, "writes": 3},
    "replication": {"log": 2, "records": 2, "epoch": 3, "versions": 4},
}
"""Beyond the default, and made in a second."""


def cut(system: str, step: str, reason: str) -> RecordedSystem:
    """A system with one guard taken out."""
    recorded = SYSTEMS[system].recorded()
    for number, one in enumerate(recorded.steps):
        kept = [guard for guard in one.requires if guard.reason != reason]
        if one.transition.name == step and len(kept) < len(one.requires):
            recorded.steps[number] = replace(one, requires=kept)
            return recorded
    raise AssertionError(f"{step} has no guard {reason!r}")


PLANTED = {
    "a guard of classic": (
        cut("classic", "fenced_leader_raises_hw", "every ISR member follows the epoch and has it"),
        {"strong_isr", "weak_isr"},
    ),
    "a guard of election": (
        cut("election", "broker_wins_election", "/controller_epoch is as it was read"),
        {"single_controller", "controller_epoch_never_falls", "controllers_won_their_epoch"},
    ),
    "a switch of election": (
        SYSTEMS["election"].recorded(None, {"zk_writes_fenced": False}),
        {"single_controller", "single_writer"},
    ),
    "a guard of replication": (
        cut("replication", "leader_advances_hw", "it knows the end of every ISR member"),
        {"isr_holds_committed", "no_message_loss", "log_matching"},
    ),
    "a switch of replication": (
        SYSTEMS["replication"].recorded(None, {"isr_write_conditional": False}),
        {"no_message_loss", "isr_holds_committed", "leader_epoch_never_falls"},
    ),
}


@pytest.fixture(params=list(PLANTED), scope="module")
def planted(request) -> tuple[Ground, set[str]]:
    recorded, claims = PLANTED[request.param]
    bounds = recorded.system.limits(MODEST[recorded.system.name])
    return Ground(recorded, bounds), claims


def walk_on(ground: Ground) -> None:
    for seed in range(20):
        walks(ground, seed, 5_000)


def test_a_planted_bug_is_found_and_its_run_is_short_and_can_be_followed(planted):
    ground, claims = planted

    with pytest.raises(WalkBroken) as found:
        walk_on(ground)

    broken = found.value
    assert broken.claim in claims
    assert len(broken.path) < 30
    assert breaks(ground, broken.path, broken.claim) == len(broken.path)
    assert f"{len(broken.path):>3}  " in str(broken)


def test_no_step_can_be_left_out_of_a_shortened_run(planted):
    ground, _ = planted
    with pytest.raises(WalkBroken) as found:
        walk_on(ground)

    path, claim = found.value.path, found.value.claim

    assert [at for at in range(len(path))
            if breaks(ground, path[:at] + path[at + 1 :], claim)] == []  # fmt: skip


def test_hypothesis_finds_a_planted_bug_as_well():
    recorded = cut("classic", "fenced_leader_raises_hw",
                   "every ISR member follows the epoch and has it")  # fmt: skip

    with pytest.raises(WalkBroken, match=r"strong_isr|weak_isr"):
        run_machine(Ground(recorded, MODEST["classic"]), examples=60)


def test_the_same_seed_walks_the_same_way():
    def walked() -> tuple[int, dict[str, int]]:
        ground = Ground(SYSTEMS["election"].recorded(), MODEST["election"])
        return walks(ground, 7, 2_000), ground.fired

    assert walked() == walked()


def test_what_is_left_out_of_a_walk_is_not_taken():
    ground = Ground(SYSTEMS["election"].recorded(), MODEST["election"])

    Walk(ground, random.Random(1), off=["session_expires", "broker_crashes"]).go(300)

    assert {"session_expires", "broker_crashes"} <= set(ground.never_fired)
    assert "broker_wins_election" not in ground.never_fired


def test_a_walk_that_can_go_no_further_ends():
    ground = Ground(SYSTEMS["election"].recorded(), MODEST["election"])

    assert Walk(ground, random.Random(1), off=ground.transitions).go(10) == 0
    assert walks(ground, 1, 0) == 0


@pytest.mark.parametrize("system", systems())
def test_the_bounds_of_walks_are_beyond_the_default_and_can_be_generated(system):
    recorded = SYSTEMS[system].recorded()
    default = recorded.system.limits({})

    bounds = well_beyond(recorded)

    assert all(bounds[name] >= default[name] for name in default)
    assert bounds != default or size(recorded, default) > LARGEST / 2
    assert size(recorded, bounds) <= max(LARGEST, size(recorded, default))
