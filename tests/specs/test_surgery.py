"""Guard surgery: who notices when a `require` is gone, and what is said of those nobody misses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.classic import SYSTEM as CLASSIC
from model.election import SYSTEM as ELECTION
from model.language import ProtocolError, RecordedSystem, always, always_step, require, sometimes
from model.replication import SYSTEM as REPLICATION
from specs.explorer import find
from specs.redundant_guards import marks_of
from specs.story import parse, play, read_story, rerecorded
from specs.surgery import SMALL, Guard, GuardTrial, Surgery, guards_of, remove_guard
from specs.verdict import Verdict
from tests.language.small import BROKERS, system
from tests.specs.test_guards_of_replication import CLAIMED
from tests.story.test_stories import STORIES

BOUNDS = {"brokers": 2, "epoch": 2, "log": 1, "hottest": 1}


@sometimes("somebody owns it")
def it_is_owned(now):
    return now.epoch > 0


@always("the second epoch is never entered", companion="it_is_owned")
def one_epoch(now):
    return now.epoch < 2


@always_step("the epoch never goes back", companion="it_is_owned")
def epoch_never_falls(now, after):
    return after.epoch >= now.epoch


CLAIMS = (one_epoch, epoch_never_falls, it_is_owned)


def require_small(now):
    # redundant because the next guard says more: it is there for the sake of the text.
    require(now.epoch < 2, "the epoch is small")


def epoch_begins(now, new, broker):
    """The epoch goes up, once."""
    require_small(now)
    require(now.epoch == 0, "no epoch has begun")
    # redundant because the owner is not part of any claim;
    # it may be any broker.
    require(broker == 1, "it is the first broker's turn")

    new.epoch = now.epoch + 1


def heat_rises(now, new, broker):
    """It gets warmer, up to what there is."""
    require(now.heat < 1, "it is cold")
    require(now.epoch == 1, "the epoch has begun")

    new.heat = now.heat + 1


def epoch_ends(now, new, broker):
    """Never possible: the guard alone keeps it from going back."""
    require(now.heat > 1, "it is hot")  # redundant because this is a lie

    new.epoch = 0


def findings(recorded: RecordedSystem, **options) -> dict[str, GuardTrial]:
    surgery = Surgery(recorded, BOUNDS, **options)
    return {one.guard.reason: one for one in surgery.findings(guards_of(recorded))}


@pytest.fixture(scope="module")
def small() -> RecordedSystem:
    return system(epoch_begins, heat_rises, epoch_ends, claims=CLAIMS, broker=BROKERS)


@pytest.fixture(scope="module")
def found(small: RecordedSystem) -> dict[str, GuardTrial]:
    return findings(small)


def test_a_guard_is_noticed_by_the_claim_that_breaks_first_after_the_fewest_steps(found):
    guard = found["no epoch has begun"]

    assert (guard.by, guard.who, guard.after) == ("claim", "one_epoch", 2)
    assert guard.verdict is Verdict.HOLDS


def test_a_guard_that_keeps_a_field_in_its_domain_is_noticed_by_the_check(found):
    guard = found["it is cold"]

    assert guard.by == "raises"
    assert "heat would leave 0..1" in str(guard.who)
    assert guard.verdict is Verdict.HOLDS


def test_a_guard_that_nobody_misses_is_reported_with_what_it_had_kept_out(found):
    guard = found["the epoch has begun"]

    assert (guard.by, guard.mark, guard.verdict) == (None, None, Verdict.BROKEN)
    assert (guard.more_states, guard.changes_nothing) == (1, False)


def test_a_mark_above_the_guard_explains_it_over_as_many_lines_as_it_takes(found):
    guard = found["it is the first broker's turn"]

    assert guard.mark == "the owner is not part of any claim; it may be any broker."
    assert (guard.by, guard.verdict) == (None, Verdict.HOLDS)


def test_a_mark_in_a_shared_helper_counts_for_who_calls_it(found):
    guard = found["the epoch is small"]

    assert guard.mark == "the next guard says more: it is there for the sake of the text."
    assert guard.changes_nothing
    assert guard.verdict is Verdict.HOLDS


def test_a_mark_that_a_claim_contradicts_is_broken(found):
    guard = found["it is hot"]

    assert (guard.who, guard.after) == ("epoch_never_falls", 2)
    assert guard.mark == "this is a lie"
    assert (guard.mark_is_wrong, guard.verdict) == (True, Verdict.BROKEN)


def test_a_helpers_guard_may_be_marked_by_its_reason_for_one_transition_alone():
    def begins_too(now, new, broker):
        """The same, with its own words about it."""
        require_small(now)
        # redundant "no epoch has begun", because this is only about
        # how marks are read.
        require(now.epoch == 0, "no epoch has begun")

        new.epoch = now.epoch + 1

    marks = marks_of(system(begins_too, claims=CLAIMS, broker=BROKERS))

    assert marks.get("begins_too", "no epoch has begun") == (
        "this is only about how marks are read.", True,
    )  # fmt: skip
    assert marks.get("begins_too", "another") == (None, False)


def test_what_was_not_looked_at_to_the_end_is_unknown(small):
    cut = findings(small, max_states=2)

    assert cut["the epoch has begun"].verdict is Verdict.UNKNOWN
    assert cut["the epoch has begun"].unknown == "the bound of 2 states is reached"
    assert cut["it is the first broker's turn"].verdict is Verdict.HOLDS


def test_a_guard_that_never_decides_is_unknown_where_bounds_cut_something_off():
    def epoch_grows(now, new, broker):
        """The epoch grows as far as the bound."""
        require(now.epoch < 9, "it is within what the bound allows anyway")

        new.epoch = now.epoch + 1

    recorded = system(epoch_grows, claims=(epoch_never_falls, it_is_owned), broker=BROKERS)
    (one,) = findings(recorded).values()

    assert (one.changes_nothing, one.unknown) == (True, SMALL)
    assert one.verdict is Verdict.UNKNOWN


def test_a_claim_that_breaks_with_every_guard_in_place_makes_surgery_senseless():
    def goes_on(now, new, broker):
        """The epoch goes up for ever."""
        require(now.epoch < 2, "there is a next one")

        new.epoch = now.epoch + 1

    with pytest.raises(ProtocolError, match="one_epoch of small only breaks with every guard"):
        findings(system(goes_on, claims=CLAIMS, broker=BROKERS))


def test_an_unknown_guard_is_answered_with_the_nearest(small):
    with pytest.raises(ProtocolError, match="did you mean 'it is cold'"):
        guards_of(small, "it was cold")


def test_the_run_to_what_a_guard_prevents_is_as_short_as_find_says():
    guard = Guard("broker_wins_election", "/controller_epoch is as it was read")
    recorded, bounds = ELECTION.recorded(), ELECTION.limits({})

    (one,) = Surgery(recorded, bounds).findings([guard])
    cut = remove_guard(recorded, guard)
    assert cut is not None
    _, run = find(cut, bounds, str(one.who))

    assert run is not None
    assert one.after == len(run.steps)


def test_without_takes_out_one_guard_of_one_step_and_nothing_else():
    recorded = ELECTION.recorded("2.1", {"requests_fenced": False})
    guard = Guard("write_is_applied", "the state is as it was read")

    cut = remove_guard(recorded, guard)

    assert cut is not None
    assert (cut.version, cut.switches) == (recorded.version, recorded.switches)
    whole, left = guards_of(recorded), guards_of(cut)
    assert [one for one in whole if one not in left] == [guard]
    assert remove_guard(recorded, replace(guard, reason="no such")) is None


def test_a_story_notices_a_guard_that_no_claim_does():
    lines = "quietly broker_connects broker=1\nrefused broker_connects broker=1\n"
    text = f"system election brokers 2\n{lines}----\n"
    story = parse(rerecorded(play(parse(text))), "connected.story")
    guard = Guard("broker_connects", "the broker has no session")

    (reported,) = Surgery(ELECTION.recorded(), ELECTION.limits({}), [story]).findings([guard])
    (unexplained,) = Surgery(ELECTION.recorded(), ELECTION.limits({})).findings([guard])

    assert (reported.by, reported.who, reported.after) == ("story", "connected.story", 1)
    assert unexplained.by is None


def test_a_story_that_is_not_as_recorded_anyway_notices_nothing():
    text = "system election brokers 2\nrefused session_expires broker=1\n----\nsomething else\n"

    surgery = Surgery(ELECTION.recorded(), ELECTION.limits({}), [parse(text)])

    assert surgery.stories == []


# -- the systems themselves ------------------------------------------------------------------------


@pytest.mark.parametrize("model", [CLASSIC, ELECTION], ids=lambda model: str(model.name))
def test_every_guard_is_noticed_or_marked_and_no_mark_is_contradicted(model):
    stories = [read_story(path) for path in STORIES]
    recorded = model.recorded()

    results = list(Surgery(recorded, model.limits({}), stories).findings(guards_of(recorded)))

    wrong = [f"{one.guard} ({one.who or one.unknown})" for one in results
             if one.verdict is not Verdict.HOLDS]  # fmt: skip
    assert wrong == []
    assert sum(one.by is not None for one in results) >= NOTICED[model.name]


def test_a_guard_of_a_capacity_is_looked_at_again_where_it_is_reached():
    recorded, bounds = CLASSIC.recorded(), CLASSIC.limits({})
    guards = [Guard("leader_writes", "the log is not full"),
              Guard("fenced_follower_fetches", "the follower's log is not full")]  # fmt: skip

    full, implied = Surgery(recorded, bounds).findings(guards)

    assert (full.by, full.within) == ("raises", {"log": 1})
    assert "an offset that does not exist" in str(full.who)
    assert (implied.by, implied.within) == (None, {})
    assert implied.changes_nothing


NOTICED = {"classic": 19, "election": 13}
NOTICED_IN_REPLICATION = 150
"""By claims, checks and stories, at the default bounds. The numbers may only grow."""


@pytest.mark.deep
def test_every_guard_of_replication_is_looked_at_to_the_end():
    recorded = REPLICATION.recorded()
    stories = [read_story(path) for path in STORIES]
    surgery = Surgery(recorded, REPLICATION.limits({}), stories, symmetry=True)

    results = list(surgery.findings(guards_of(recorded)))

    unnoticed = {one.guard for one in results if one.verdict is not Verdict.HOLDS}
    assert unnoticed <= set(CLAIMED), "what these keep out takes a crash, and breaks a claim there"
    assert sum(one.by is not None for one in results) >= NOTICED_IN_REPLICATION
