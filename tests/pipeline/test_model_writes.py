"""Which writes of a partition's state the model has: all that it makes, and no others."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import z3

from conformance.pipeline.model_writes import (
    WRITES,
    Fit,
    _agree,
    _Asking,
    fit,
    is_configured,
    presets_for,
    reverted_switches,
    shape_of,
)
from model.systems import system
from specs.bounded.bits import Bits, Frame
from specs.lowering.grounding import Grounded
from specs.lowering.python_code import PythonCode

BOUNDS = {"brokers": 3, "epoch": 4, "controllers": 3, "versions": 6, "crashes": 2, "expiries": 3}
State = tuple[int, frozenset[int] | set[int]]


class WalkedWrites:
    """A walk through the model, and what stood in ZooKeeper before and after each write."""

    def __init__(self, preset: str, seed: int, steps: int) -> None:
        recorded = system("replication").recorded(preset)
        bounds = system("replication").limits(BOUNDS)
        self.grounded = Grounded(recorded, bounds, claims=[])
        self.at = {(cell.field.name, cell.index): cell.number for cell in self.grounded.cells}
        code, chance = PythonCode(self.grounded), random.Random(seed)
        self.writes: list[tuple[str, State, State, int, int]] = []
        self.states = [self.grounded.initial]
        names = [one.step.transition.name for one in self.grounded.instances]
        counts, refused = [0] * len(names), bytearray(len(self.grounded.reasons))
        fired: Counter[str] = Counter()
        now = code.initial
        for number in range(steps):
            found = code.successors(now, counts, refused, {})
            if not found or number % 150 == 149:
                now = code.initial
                continue
            rare = [1 / (1 + fired[names[one]]) for one, _ in found]
            ((step, after),) = chance.choices(found, rare)
            fired[names[step]] += 1
            self._write(names[step], code.decode(now), code.decode(after))
            now = after
            self.states.append(code.decode(now))

    def _write(self, name: str, now, after) -> None:
        if self.cell(after, "zk.version") == self.cell(now, "zk.version"):
            return
        rise = self.cell(after, "zk.leader_epoch") - self.cell(now, "zk.leader_epoch")
        writer = self.cell(after, "zk.state_epoch") - self.cell(now, "zk.state_epoch")
        sign = (writer > 0) - (writer < 0)
        self.writes.append((name, self.state_of(now), self.state_of(after), rise, sign))

    def cell(self, state, name: str, *index: int) -> int:
        return int(state[self.at[name, index]])

    def state_of(self, state) -> State:
        isr = frozenset(b for b in (1, 2, 3) if self.cell(state, "zk.isr", b))
        return self.cell(state, "zk.leader") or -1, isr


@pytest.fixture(scope="module", params=["0.10", "2.3"])
def walked(request) -> tuple[str, WalkedWrites]:
    return request.param, WalkedWrites(request.param, 5, 4000)


def asked(before: State, after: State, rise: int, writer: int | None, preset: str) -> Fit:
    one, other = (before[0], frozenset(before[1])), (after[0], frozenset(after[1]))
    return fit(shape_of(one, other, rise, writer), (preset,))


def test_every_write_that_the_model_makes_is_one_that_fits(walked: tuple[str, WalkedWrites]):
    preset, walk = walked

    fits = {write: asked(*write[1:], preset) for write in walk.writes}

    assert [write for write, found in fits.items() if found.switch or not found.step] == []
    assert {name for name, *_ in walk.writes} <= set(WRITES)
    assert len({name for name, *_ in walk.writes}) >= 3


def test_beliefs_agree_with_what_is_registered_in_every_state_of_the_model(walked):
    _, walk = walked
    asking = _Asking(walk.grounded, Bits(walk.grounded))

    for state in walk.states[::200]:
        asking.now = [
            asking.bits.code(cell, code)
            for cell, code in zip(walk.grounded.cells, state, strict=True)
        ]
        asking.frame = Frame(asking.bits, asking.now)

        laws = [z3.is_true(z3.simplify(law)) for law in _agree(asking)]
        assert laws
        assert all(laws)


@pytest.mark.parametrize(
    "before, after, rise, preset, step, switch",
    [
        ((1, {1, 2, 3}), (1, {1, 2}), 0, "2.3", "leader_shrinks_isr", ""),
        ((1, {1, 2, 3}), (1, {1}), 0, "2.3", "leader_shrinks_isr", ""),
        ((1, {1}), (1, {1, 2}), 0, "2.3", "leader_expands_isr", ""),
        ((1, {1, 2, 3}), (2, {2, 3}), 1, "2.3", "controller_elects_leader", ""),
        ((1, {1, 2, 3}), (1, {1, 3}), 1, "2.3", "controller_elects_leader", ""),
        ((1, {1}), (-1, {1}), 1, "2.3", "controller_removes_replica", ""),
        ((-1, {1}), (-1, {1}), 1, "2.3", "controller_removes_replica", ""),
        ((1, {1}), (-1, set()), 1, "2.3", "controller_removes_replica", "isr_keeps_last_member"),
        ((1, {1, 2}), (3, {3}), 1, "0.10", "controller_elects_leader", ""),
        ((1, {1, 2}), (3, {3}), 1, "2.3", "controller_elects_leader", "unclean_leader_election"),
        ((1, {1, 2}), (2, {1, 2, 3}), 1, "2.3", "", ""),
        ((1, {1, 2}), (1, {2}), 0, "2.3", "", ""),
        ((1, {1, 2}), (2, {1, 2}), 0, "2.3", "leader_shrinks_isr", "isr_write_conditional"),
    ],
)
def test_a_write_fits_a_step_or_one_with_a_switch_thrown_back_or_none(
    before: State, after: State, rise: int, preset: str, step: str, switch: str
):
    assert asked(before, after, rise, None, preset) == Fit(step, switch)


def test_unclean_elections_decide_whether_the_last_member_stays_up_to_1_0_only():
    keeps = "isr_keeps_last_member"

    assert is_configured(keeps, presets_for("0.11.0.3"))
    assert is_configured(keeps, presets_for("1.0"))
    assert not is_configured(keeps, presets_for("1.1"))
    assert is_configured("unclean_leader_election", presets_for("2.8"))


def test_an_older_controllers_write_fits_where_such_writes_are_not_fenced():
    write = (1, {1, 2}), (2, {2}), 1, -1

    assert asked(*write, "2.0") == Fit("controller_elects_leader")
    assert asked(*write, "2.3") == Fit("controller_elects_leader", "zk_writes_fenced")


@pytest.mark.parametrize(
    "release, preset",
    [
        ("2.4.1", ["2.4"]),
        ("2.5.0", ["2.5"]),
        ("2.2.1", ["2.1"]),
        ("3.4.0", ["2.7"]),
        ("0.10.2.1", ["0.10", "0.11"]),
        ("0.9.0.1", ["0.10", "0.11"]),
    ],
)
def test_a_release_keeps_to_the_newest_preset_that_is_not_newer(release: str, preset: list[str]):
    assert presets_for(release) == tuple(preset)


def test_without_a_release_every_release_may_have_written():
    assert set(presets_for(None)) == set(system("replication").versions)


def test_an_unconditional_write_is_the_last_that_is_thought_of():
    assert reverted_switches("2.3")[-1] == "isr_write_conditional"
    assert "zk_writes_fenced" not in reverted_switches("2.0")
