"""Long walks over every system, far beyond the bounds that are explored: no claim breaks.

Each system that is registered is walked, so a new one is covered by itself.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from model.language.symmetry import why_not_symmetric
from model.systems import SYSTEMS
from specs.explorer import explore
from tests.walks.ground import Ground, ground_of, systems
from tests.walks.walker import CALM, Walk, walks

QUICK, LONG = 2_500, 300_000
"""Steps of the seeded walks over one system."""

MOST = 0.7
"""The share of transitions that quick walks fire at the least.

Long ones fire all of them but for a few that hang on a coincidence; those are explored.
"""


class WalkMachine(RuleBasedStateMachine):
    """Hypothesis chooses what takes part and how the walk goes on.

    It need not shrink what fails: a broken claim is shown with a run that is shortened already.
    """

    ground: Ground

    @initialize(data=st.data())
    def sets_out(self, data: st.DataObject) -> None:
        off = data.draw(st.sets(st.sampled_from(self.ground.transitions), max_size=6))
        self.walk = Walk(self.ground, random.Random(0), off)

    @rule(seed=st.integers(0, 2**16), steps=st.integers(1, 60), calm=st.sampled_from(CALM))
    def goes_on(self, seed: int, steps: int, calm: float) -> None:
        self.walk.chance.seed(seed)
        self.walk.calm = calm
        self.walk.go(steps)

    @rule(data=st.data())
    def something_else_takes_part(self, data: st.DataObject) -> None:
        self.walk.off = data.draw(st.sets(st.sampled_from(self.ground.transitions), max_size=6))

    @invariant()
    def every_claim_holds(self) -> None:
        assert self.ground.broken_in(self.walk.state) is None


def run_machine(ground: Ground, examples: int) -> None:
    """One machine over one system; raises what its failing walk raised."""
    over = type("MachineOver", (WalkMachine,), {"ground": ground})
    chosen = settings(
        max_examples=examples, stateful_step_count=12, deadline=None, derandomize=True,
        suppress_health_check=list(HealthCheck), database=None, phases=[Phase.generate],
    )  # fmt: skip
    run_state_machine_as_test(over, settings=chosen)


@pytest.mark.parametrize("system", systems())
def test_no_claim_breaks_on_seeded_walks_and_most_transitions_are_fired(system, record_property):
    ground = ground_of(system)

    taken = walks(ground, seed=1, steps=QUICK)

    record_property("never fired", ", ".join(ground.never_fired))
    assert taken == QUICK
    assert len(ground.never_fired) <= (1 - MOST) * len(ground.transitions), ground.never_fired


@pytest.mark.parametrize("system", systems())
def test_no_claim_breaks_where_hypothesis_leads(system):
    run_machine(ground_of(system), examples=4)


@pytest.mark.deep
@pytest.mark.parametrize("system", systems())
def test_no_claim_breaks_on_long_walks_and_every_transition_is_fired_by_them_or_explored(system):
    ground = ground_of(system)

    for seed in range(LONG // 10_000):
        walks(ground, seed, 10_000)
    run_machine(ground, examples=200)

    hard = set(ground.never_fired)
    assert hard - (explored(system) if hard else set()) == set()


def later_versions() -> list[tuple[str, str]]:
    """Releases after the default one: as sound, by what was fixed and changed since."""
    return [
        (name, version)
        for name in systems()
        for known in [list(SYSTEMS[name].versions)]
        for version in known[known.index(SYSTEMS[name].default_version) + 1 :]
    ]


@pytest.mark.deep
@pytest.mark.parametrize(("system", "version"), later_versions())
def test_no_claim_breaks_in_a_later_version(system, version):
    ground = Ground(SYSTEMS[system].recorded(version))

    assert sum(walks(ground, seed, 10_000) for seed in range(5)) == 50_000


def explored(system: str) -> set[str]:
    """The transitions that exploration fires within the default bounds, as far as it goes."""
    recorded = SYSTEMS[system].recorded()
    alike = why_not_symmetric(recorded, []) is None
    found = explore(recorded, recorded.system.limits({}), [], max_states=2_000_000, symmetry=alike)
    return {name for name, times in found.fired.items() if times}
