"""What happens in the end: fair loops, runs that stay, bounds, and the twins that must agree."""

from __future__ import annotations

import pytest

from model.election import SYSTEM as ELECTION
from model.language import (
    ProtocolError,
    always_eventually,
    any_of,
    require,
    when,
)
from model.replication import SYSTEM as REPLICATION
from specs.explorer import explore, find
from specs.verdict import Verdict
from tests.language.small import BROKERS, system
from tests.specs.following import settles_in_its_last_state_only
from tests.specs.in_the_end import (
    BOUNDS,
    ENGINES,
    answered,
    epoch_falls,
    epoch_grows,
    epoch_jumps,
    epoch_starts_again,
    heat_turns,
    labels,
    two,
)
from tests.specs.planted import BUGS, Bug

# -- what it means ----------------------------------------------------------------------------


@ENGINES
def test_what_must_happen_happens_in_the_end(engine):
    ending, _ = answered(system(epoch_grows, heat_turns, claims=(two("epoch_grows"),)), engine)

    assert (ending.verdict, ending.why) == (Verdict.HOLDS, None)


@ENGINES
def test_what_nobody_must_do_may_never_happen_and_the_run_stays(engine):
    ending, found = answered(system(epoch_grows, heat_turns, claims=(two("heat_turns"),)), engine)

    assert ending.verdict is Verdict.BROKEN
    assert labels(found, ending) == ["|", "heat_turns()", "heat_turns()"]


@ENGINES
def test_a_run_stays_where_nothing_fair_is_possible_though_something_else_is(engine):
    ending, found = answered(system(epoch_grows, epoch_jumps, claims=(two("epoch_jumps"),)), engine)

    assert labels(found, ending) == ["|"]  # at zero nobody has to grow
    run = found.run("it_is_two")
    assert run is not None
    assert run.as_text() == "and so it stays: nothing that must happen can happen any more"


@ENGINES
def test_a_dead_end_without_it_breaks_it(engine):
    def epoch_is_lost(now, new):
        """From one the epoch becomes three, and nothing follows."""
        require(now.epoch == 1, "the epoch is one")

        new.epoch = 3

    steps = (epoch_grows, epoch_is_lost)
    fair = tuple(step.__name__ for step in steps)
    ending, found = answered(system(*steps, claims=(two(*fair),)), engine)

    assert labels(found, ending) == ["epoch_grows()", "epoch_is_lost()", "|"]


@ENGINES
def test_a_loop_in_which_the_fair_step_is_impossible_again_and_again_is_fair(engine):
    def epoch_starts(now, new):
        """From zero to one."""
        require(now.epoch == 0, "the epoch is zero")

        new.epoch = 1

    steps = (epoch_starts, epoch_falls, epoch_jumps)
    weak = two("epoch_starts", "epoch_jumps")
    ending, found = answered(system(*steps, claims=(weak,)), engine)

    # Weak fairness: at zero the jump is impossible, so that it may be missed for ever.
    assert labels(found, ending) == ["|", "epoch_starts()", "epoch_falls()"]


@ENGINES
def test_it_is_not_enough_that_it_held_once(engine):
    steps = (epoch_grows, epoch_starts_again)
    again, _ = answered(system(*steps, claims=(two("epoch_grows"),)), engine)

    def epoch_is_lost(now, new):
        """From two the epoch becomes three, and nothing follows."""
        require(now.epoch == 2, "the epoch is two")

        new.epoch = 3

    lost, found = answered(system(epoch_grows, epoch_is_lost, claims=(two("epoch_grows"),)), engine)

    assert again.verdict is Verdict.HOLDS
    assert labels(found, lost) == ["epoch_grows()", "epoch_grows()", "epoch_is_lost()", "|"]


@ENGINES
def test_each_instance_of_a_fair_step_is_treated_fairly_by_itself(engine):
    def broker_acts(now, new, broker):
        """A broker turns the heat; the second one makes the epoch two, too."""
        new.heat = when(now.heat == 0, 1, 0)
        new.epoch = when(broker == 2, 2, now.epoch)

    fair, _ = answered(system(broker_acts, claims=(two("broker_acts"),), broker=BROKERS), engine)

    # By the step's name alone the first broker could act for ever; the second has its own right.
    assert fair.verdict is Verdict.HOLDS


@ENGINES
def test_a_loop_takes_or_passes_by_everything_fair(engine):
    def owner_is_found(now, new, broker):
        """A broker becomes the owner, unless it is."""
        require(now.owner != broker, "another is the owner")

        new.owner = broker

    ending, found = answered(
        system(owner_is_found, claims=(two("owner_is_found"),), broker=BROKERS), engine
    )
    run = found.run("it_is_two")

    assert labels(found, ending) == [
        "owner_is_found(broker=1)", "|", "owner_is_found(broker=2)", "owner_is_found(broker=1)",
    ]  # fmt: skip
    assert run is not None
    assert (run.loop, run.depth) == (1, 4)
    assert run.as_text().endswith("and again from step 2, without end")
    assert settles_in_its_last_state_only(found, run)


@ENGINES
def test_a_fair_step_that_changes_nothing_is_taken_for_ever(engine):
    def nothing_moves(now, new):
        """A step that changes nothing."""

    ending, found = answered(system(nothing_moves, claims=(two("nothing_moves"),)), engine)

    assert labels(found, ending) == ["|", "nothing_moves()"]


@ENGINES
def test_what_holds_everywhere_is_vacuous(engine):
    @always_eventually("the epoch is a number", fair=("epoch_grows",))
    def it_is_a_number(now):
        return now.epoch >= 0

    ending, _ = answered(system(epoch_grows, claims=(it_is_a_number,)), engine)

    assert (ending.verdict, ending.why) == (
        Verdict.UNKNOWN, "vacuous: it holds in every reachable state already",
    )  # fmt: skip


# -- bounds -----------------------------------------------------------------------------------


def epoch_grows_for_ever(now, new):
    """The epoch grows by one."""
    new.epoch = now.epoch + 1


@always_eventually("the epoch is nine", fair=("epoch_grows_for_ever",))
def it_is_nine(now):
    return now.epoch == 9


@ENGINES
def test_what_must_lead_beyond_a_bound_is_unknown_and_never_green(engine):
    ending, found = answered(system(epoch_grows_for_ever, claims=(it_is_nine,)), engine)

    assert (ending.verdict, found.run("it_is_nine")) == (Verdict.UNKNOWN, None)
    assert ending.why == (
        "a run can come to where epoch_grows_for_ever must follow and leads beyond a bound"
    )


@ENGINES
def test_a_loop_within_the_bounds_breaks_it_whatever_lies_beyond(engine):
    def epoch_may_be_lost(now, new):
        """From one the epoch becomes zero again, with a limit on neither."""
        require(now.epoch == 1, "the epoch is one")

        new.epoch = 0

    @always_eventually("the epoch is nine", fair=("epoch_may_be_lost",))
    def it_is_nine_by_loss(now):
        return now.epoch == 9

    ending, found = answered(
        system(epoch_grows_for_ever, epoch_may_be_lost, claims=(it_is_nine_by_loss,)), engine
    )

    assert ending.verdict is Verdict.BROKEN
    assert labels(found, ending) == ["|"]


@ENGINES
def test_an_unfair_step_beyond_a_bound_does_not_matter(engine):
    def heat_rises(now, new):
        """It gets warmer, without any limit of its own."""
        new.epoch = now.epoch + 1

    @always_eventually("a broker owns it", fair=("owner_is_found",))
    def it_is_owned(now):
        return any_of(now.owner == 1, now.owner == 2)

    def owner_is_found(now, new):
        """The first broker becomes the owner."""
        new.owner = 1

    ending, found = answered(system(heat_rises, owner_is_found, claims=(it_is_owned,)), engine)

    assert found.pruned == {"epoch": 2}
    assert ending.verdict is Verdict.HOLDS


@ENGINES
def test_a_visit_that_was_cut_short_claims_nothing(engine):
    recorded = system(epoch_grows, heat_turns, claims=(two("epoch_grows"),))

    found = explore(recorded, BOUNDS, max_states=2, engine=engine)

    reported = found.claims["it_is_two"]
    assert (reported.verdict, reported.why) == (Verdict.UNKNOWN, "the bound of 2 states is reached")


# -- misuse, symmetry, memory -----------------------------------------------------------------


def test_a_fair_step_that_does_not_exist_is_refused_with_the_nearest():
    recorded = system(epoch_grows, claims=(two("epoch_grow"),))

    with pytest.raises(ProtocolError, match=r"it_is_two: .*'epoch_grow'.*'epoch_grows'"):
        explore(recorded, BOUNDS)


def test_under_symmetry_what_happens_in_the_end_is_not_checked_and_cannot_be_asked_for():
    recorded, limits = ELECTION.recorded(), ELECTION.limits({})

    found = explore(recorded, limits, symmetry=True)

    assert found.claims["newest_controller_becomes_known"].verdict is Verdict.NOT_CHECKED
    with pytest.raises(ProtocolError, match="leave --symmetry out"):
        find(recorded, limits, "newest_controller_becomes_known", symmetry=True)


def test_without_the_memory_for_loops_the_answer_is_unknown(monkeypatch):
    monkeypatch.setattr("specs.native.loops.BYTES_A_STATE", 10**9)

    found = explore(ELECTION.recorded(), ELECTION.limits({}), memory_bytes=10**8)

    reported = found.claims["newest_controller_becomes_known"]
    assert found.complete
    assert reported.verdict is Verdict.UNKNOWN
    assert reported.why is not None
    assert reported.why.startswith("memory: loops would take")


# -- the real ones ----------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_loop_does_not_depend_on_the_engine_or_on_workers(monkeypatch, workers):
    monkeypatch.setattr("specs.native.search.WORTH_SHARING", 50)
    recorded = BUGS["election", "newest_controller_becomes_known"][0].planted("election")
    limits = ELECTION.limits({"epoch": 1})

    found = explore(recorded, limits, workers=workers)
    plain = explore(recorded, limits, engine="python")

    assert found.eventually_results == plain.eventually_results
    assert found.eventually_results["newest_controller_becomes_known"].verdict is Verdict.BROKEN


def test_without_kip_380_a_broker_forgets_the_newest_controller_again_and_again():
    recorded = ELECTION.recorded("2.1")

    found, run = find(recorded, ELECTION.limits({}), "newest_controller_becomes_known")

    assert run is not None
    assert run.loop == 6
    assert [step.step for step in run.steps[run.loop :]] == [
        "broker_handles_request", "broker_crashes", "broker_handles_request", "broker_crashes",
    ]  # fmt: skip
    assert settles_in_its_last_state_only(found, run)


@pytest.mark.parametrize(
    "version",
    [
        one if one in ("0.10", "1.1", "2.3", "2.7") else pytest.param(one, marks=pytest.mark.deep)
        for one in REPLICATION.versions
    ],
)
def test_followers_catch_up_in_every_version(version):
    found, run = find(REPLICATION.recorded(version), REPLICATION.limits({}), "followers_catch_up")

    assert (found.claims["followers_catch_up"].verdict, run) == (Verdict.HOLDS, None)


NEEDED = ("follower_sends_epoch_request", "leader_answers_epoch", "follower_truncates",
          "follower_sends_fetch", "leader_answers_fetch", "leader_refuses_fetch",
          "follower_appends", "fetch_answer_is_ignored")  # fmt: skip


@pytest.mark.parametrize("step", NEEDED)
def test_without_the_fairness_of_one_step_a_follower_may_never_catch_up(step):
    recorded = Bug(0, unfair=(step,)).planted("replication")

    found, run = find(recorded, REPLICATION.limits({}), "followers_catch_up")

    assert run is not None
    assert settles_in_its_last_state_only(found, run)
