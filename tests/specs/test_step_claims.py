"""Claims about steps: every engine judges every step, and a run ends with the one at fault."""

from __future__ import annotations

from typing import Any

import pytest
import z3

from model.election import SYSTEM as ELECTION
from model.language import (
    Claim,
    ProtocolError,
    RecordedSystem,
    always_step,
    every,
    implies,
    require,
    some,
    sometimes,
)
from model.language.evaluate import Evaluator
from model.replication import SYSTEM as REPLICATION
from specs.explorer import Exploration, explore, find
from specs.lowering.z3_code import Z3Code
from specs.rendering import as_data
from specs.verdict import Verdict
from tests.language.small import BROKERS, EPOCHS, epoch_grows, system
from tests.specs.following import settles_in_its_last_state_only
from tests.specs.in_the_end import BOUNDS, ENGINES, epoch_starts_again
from tests.specs.planted import BUGS


def epoch_is_chosen(now, new, epoch):
    """Any epoch but the current one is taken next."""
    require(epoch != now.epoch, "the epoch is another")

    new.epoch = epoch


def nothing_moves(now, new):
    """A step that changes nothing."""


@sometimes("the epoch is one")
def epoch_is_one(now):
    return now.epoch == 1


@sometimes("the epoch is nine")
def epoch_is_nine(now):
    return now.epoch == 9


@always_step("the epoch never falls", companion="epoch_is_one")
def epoch_never_falls(now, after):
    return after.epoch >= now.epoch


@always_step("every step changes the epoch", companion="epoch_is_one")
def epoch_changes(now, after):
    return after.epoch != now.epoch


@always_step("the epoch never falls, vacuously", companion="epoch_is_nine")
def epoch_never_falls_vacuously(now, after):
    return after.epoch >= now.epoch


CLAIMS = (epoch_never_falls, epoch_changes, epoch_never_falls_vacuously, epoch_is_one)


def small(*steps: Any, claims: tuple[Claim, ...] = CLAIMS, **parameters: Any) -> RecordedSystem:
    return system(*steps, claims=(*claims, epoch_is_nine), **parameters)


def verdicts(found: Exploration) -> dict[str, tuple[str, int | None]]:
    return {name: (one.verdict.value, one.depth) for name, one in found.claims.items()}


# -- what is judged ---------------------------------------------------------------------------


@ENGINES
def test_a_claim_about_steps_holds_where_no_step_breaks_it(engine):
    found = explore(small(epoch_grows), BOUNDS, engine=engine)

    assert verdicts(found)["epoch_never_falls"] == ("holds", None)
    assert verdicts(found)["epoch_changes"] == ("holds", None)


@ENGINES
def test_a_step_to_a_state_seen_before_is_judged_too(engine):
    found, run = find(small(epoch_grows, epoch_starts_again), BOUNDS, "epoch_never_falls",
                      engine=engine)  # fmt: skip

    assert run is not None
    assert [step.step for step in run.steps] == ["epoch_grows", "epoch_grows", "epoch_starts_again"]
    assert (run.verdict, found.claims["epoch_never_falls"].depth) == (Verdict.BROKEN, 4)
    assert settles_in_its_last_state_only(found, run)


@ENGINES
def test_a_step_that_changes_nothing_is_a_step(engine):
    found, run = find(small(epoch_grows, nothing_moves), BOUNDS, "epoch_changes", engine=engine)

    assert run is not None
    assert [step.step for step in run.steps] == ["nothing_moves"]
    assert verdicts(found)["epoch_changes"] == ("broken", 2)


@ENGINES
def test_a_step_beyond_a_bound_is_not_judged(engine):
    @always_step("the epoch never becomes four", companion="epoch_is_one")
    def epoch_stays_small(now, after):
        return after.epoch < 4

    found = explore(
        small(epoch_grows, claims=(epoch_stays_small, epoch_is_one)), BOUNDS, engine=engine
    )

    assert verdicts(found)["epoch_stays_small"] == ("holds", None)
    assert found.pruned == {"epoch": 1}


@ENGINES
def test_a_claim_about_steps_is_vacuous_without_its_companion(engine):
    found = explore(small(epoch_grows), BOUNDS, engine=engine)

    vacuous = found.claims["epoch_never_falls_vacuously"]
    assert (vacuous.verdict, vacuous.why) == (
        Verdict.UNKNOWN, "vacuous: epoch_is_nine is never reached",
    )  # fmt: skip


@ENGINES
def test_a_level_that_is_not_whole_settles_no_step(engine):
    steps = (epoch_grows, epoch_starts_again)
    cut, whole = (explore(small(*steps), BOUNDS, engine=engine, max_states=most) for most in (3, 4))

    # The third level's steps lead to a fourth state: with three allowed, none of them counts.
    assert verdicts(cut)["epoch_never_falls"] == ("unknown", None)
    assert verdicts(whole)["epoch_never_falls"] == ("broken", 4)


# -- engines, workers, symmetry -----------------------------------------------------------------


def common(found: Exploration) -> dict[str, Any]:
    own = {
        "engine", "workers", "symmetry", "seconds", "setup_seconds", "peak_memory_mb",
        "bytes_per_state",
    }  # fmt: skip
    return {key: value for key, value in as_data(found).items() if key not in own}


def test_engines_choose_the_same_step_among_many_that_break_a_claim():
    one, other = (
        explore(small(epoch_is_chosen, epoch=EPOCHS), BOUNDS, engine=engine)
        for engine in ("native", "python")
    )

    assert verdicts(one)["epoch_never_falls"] == ("broken", 3)
    assert common(one) == common(other)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.deep), 3])
def test_the_shortest_run_does_not_depend_on_workers(monkeypatch, workers):
    monkeypatch.setattr("specs.native.search.WORTH_SHARING", 50)
    bug = BUGS["election", "controller_epoch_never_falls"][0]
    recorded, limits = bug.planted("election"), ELECTION.limits({})

    found = explore(recorded, limits, workers=workers)

    assert common(found) == common(explore(recorded, limits, engine="python"))
    assert verdicts(found)["controller_epoch_never_falls"] == ("broken", bug.depth)
    assert found.engine.workers == workers


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        (ELECTION, "controller_epoch_never_falls"),
        (REPLICATION, "leader_epoch_never_falls"),
        (REPLICATION, "hw_never_falls"),
    ],
    ids=lambda one: getattr(one, "name", one),
)
def test_a_claim_about_steps_is_broken_by_the_same_run_with_symmetry_and_without(model, claim):
    bug = BUGS[model.name, claim][0]
    recorded, limits = bug.planted(model.name), model.limits(bug.bounds)

    plain, shortest = find(recorded, limits, claim)
    orbits, same = find(recorded, limits, claim, symmetry=True)

    assert shortest is not None
    assert same is not None
    assert as_data(shortest) == as_data(same)
    assert orbits.distinct < plain.distinct
    assert settles_in_its_last_state_only(orbits, same)


def test_a_step_is_judged_before_its_end_is_renamed():
    def owner_changes(now, new, broker):
        """A broker becomes the owner."""
        new.owner = broker

    @always_step("the owner never changes to another broker", companion="somebody_owns_it")
    def owner_stays(now, after):
        return every(BROKERS, lambda one: implies(now.owner == one, after.owner == one))

    @sometimes("a broker is the owner")
    def somebody_owns_it(now):
        return some(BROKERS, lambda one: now.owner == one)

    recorded = system(owner_changes, claims=(owner_stays, somebody_owns_it), broker=BROKERS)
    found, run = find(recorded, BOUNDS, "owner_stays", symmetry=True)

    # Up to names there is one owned state, and a step from it to itself.
    assert found.distinct == 2
    assert run is not None
    assert [step.args for step in run.steps] == [{"broker": 1}, {"broker": 2}]


def test_a_claim_about_steps_that_names_a_broker_is_refused_under_symmetry():
    @always_step("the first broker stays the owner", companion="epoch_is_one")
    def first_stays(now, after):
        return implies(now.owner == 1, after.owner == 1)

    recorded = small(epoch_grows, claims=(first_stays, epoch_is_one))

    with pytest.raises(ProtocolError, match="the claim first_stays: it names the broker 1"):
        explore(recorded, BOUNDS, symmetry=True)


# -- misuse -----------------------------------------------------------------------------------


def test_a_claim_about_steps_takes_two_states():
    with pytest.raises(ProtocolError, match=r"write one_state\(now, after\)"):

        @always_step("it takes one", companion="epoch_is_one")
        def one_state(now):
            return now.epoch == 0


def test_no_claim_is_called_deadlock():
    with pytest.raises(ProtocolError, match="a claim cannot be called deadlock"):

        @sometimes("it is stuck")
        def deadlock(now):
            return now.epoch == 0


def test_the_twin_is_asked_about_steps_and_about_states_in_different_words():
    twin = Evaluator(small(epoch_grows), BOUNDS)
    now = twin.initial()

    assert twin.holds_of_step("epoch_never_falls", now, {"epoch": {(): 1}})
    assert not twin.holds_of_step("epoch_never_falls", {"epoch": {(): 1}}, now)
    with pytest.raises(ProtocolError, match="ask holds_of_step"):
        twin.holds("epoch_never_falls", now)
    with pytest.raises(ProtocolError, match="ask holds"):
        twin.holds_of_step("epoch_is_one", now, now)


def test_the_lowering_to_z3_refuses_the_state_after_in_words():
    recorded = small(epoch_grows)
    code = Z3Code(recorded)

    with pytest.raises(ProtocolError, match="a claim about steps is checked by exploring"):
        code.term(recorded.claim("epoch_never_falls")[1], code.state(), {})


def test_given_both_states_z3_reads_them():
    recorded = small(epoch_grows)
    code = Z3Code(recorded)
    now, after = code.state(), code.state("_after")
    both = {**now, **{f"{name}'": symbol for name, symbol in after.items()}}

    claim = code.term(recorded.claim("epoch_never_falls")[1], both, {})

    solver = z3.Solver()
    solver.add(z3.Not(claim == (after["epoch"]() >= now["epoch"]())))
    assert solver.check() == z3.unsat
