"""The prover is sensitive: what is needed is missed, and nothing false or unanswered is proved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.classic import SYSTEM as CLASSIC
from model.election import SYSTEM as ELECTION
from model.election.state import BROKERS
from model.language import Claim, ProtocolError, always, every
from specs.explorer import explore, find
from specs.invariants import Proof, invariant
from specs.obligations import conjuncts
from specs.proofs.single_controller import PROOF
from specs.prover import DOMAINS, IMPLIED, INITIALLY, ProofResult, prove
from specs.verdict import Verdict
from tests.language.small import system

OPEN_WITHOUT_INVARIANT = {
    "one_broker_per_epoch": (IMPLIED, "single_controller"),
    "no_stale_write_or_request_is_accepted": (IMPLIED, "single_controller"),
    "the_owner_won_the_newest_epoch": ("broker_learns_it_won", "belief_was_won"),
    "epoch_and_version_move_together": (
        "write_is_applied",
        "no_stale_write_or_request_is_accepted",
    ),
    "won_epochs_are_not_in_the_future": ("broker_wins_election", "one_broker_per_epoch"),
    "what_was_read_is_consistent": ("broker_wins_election", "one_broker_per_epoch"),
    "belief_was_won": ("controller_starts_write", "a_write_under_way_was_won"),
    "a_write_under_way_was_won": ("write_is_applied", "no_stale_write_or_request_is_accepted"),
    "requests_were_won": ("broker_handles_request", "obeyed_epochs_were_seen"),
    "obeyed_epochs_were_seen": ("broker_handles_request", "no_stale_write_or_request_is_accepted"),
}
"""Invariant -> an obligation that cannot be met without it."""

SAID_FOR_ITS_OWN_SAKE = {"the_state_is_not_from_the_future", "epochs_start_at_zero"}
"""Invariants that no other leans on: the proof goes through without them, alone or together."""

OPEN_WITHOUT_SWITCH = [
    ("zk_writes_fenced", [("write_is_applied", "no_stale_write_or_request_is_accepted")], 11),
    (
        "requests_fenced",
        [
            ("broker_handles_request", "no_stale_write_or_request_is_accepted"),
            ("broker_handles_request", "obeyed_epochs_were_seen"),
        ],
        13,
    ),
    ("broker_epoch", [("broker_crashes", "obeyed_epochs_were_seen")], 14),
]
"""Switch, what stays open without it, and the states of the shortest run to the damage."""


def without(*names: str) -> Proof:
    return replace(PROOF, invariants=tuple(i for i in PROOF.invariants if i.name not in names))


def left_open(result: ProofResult) -> list[tuple[str, str]]:
    return [(one.step, one.invariant) for one in result.open]


@pytest.fixture(scope="module")
def proved() -> ProofResult:
    return prove(PROOF, ELECTION.recorded())


# -- what is proved ---------------------------------------------------------------------------


def test_every_step_keeps_every_invariant(proved):
    steps = [step.transition.name for step in ELECTION.recorded().steps]
    names = [one.name for one in PROOF.invariants]

    asked = [(one.step, one.invariant) for one in proved.obligations]

    assert proved.verdict is Verdict.HOLDS
    assert (len(asked), proved.solver_calls, len(steps), len(names)) == (183, 53, 13, 12)
    assert asked == [
        *((where, name) for where in (INITIALLY, *steps) for name in (*names, DOMAINS)),
        (IMPLIED, "single_controller"),
    ]


def test_the_frame_rule_is_used_only_where_nothing_that_is_read_is_written(proved):
    recorded = ELECTION.recorded()
    reads = {one.name: one.reads for one in conjuncts(PROOF, recorded)}
    writes = {s.transition.name: {w.field for w in s.writes} for s in recorded.steps}

    framed = [one for one in proved.obligations if one.by == "frame"]

    assert len(framed) == 130
    for one in framed:
        if one.invariant == DOMAINS:
            kinds = {recorded.fields[name].sort.name for name in writes[one.step]}
            assert kinds <= {"bool", "broker"}, one
        else:
            assert not reads[one.invariant] & writes[one.step], one


@pytest.mark.parametrize("brokers", [1, 2, 3])
def test_it_is_proved_for_a_given_number_of_brokers_too(brokers):
    assert prove(PROOF, ELECTION.recorded(), brokers=brokers).verdict is Verdict.HOLDS


@pytest.mark.parametrize("brokers", [0, -1])
def test_a_proof_about_no_brokers_is_refused(brokers):
    with pytest.raises(ProtocolError, match=rf"brokers={brokers} is too small: .* is brokers=1"):
        prove(PROOF, ELECTION.recorded(), brokers=brokers)


@pytest.mark.parametrize("changed", [{}, *({one: False} for one, _, _ in OPEN_WITHOUT_SWITCH)])
def test_what_is_invariant_holds_in_every_reachable_state_until_a_fence_is_gone(changed):
    claims = tuple(
        Claim(
            one.name,
            "always",
            one.sentence,
            one.function,
            companion="two_brokers_believe_they_are_controller",
        )
        for one in PROOF.invariants
    )
    reported = replace(ELECTION, claims=(*claims, *ELECTION.claims)).recorded(None, changed)

    found = explore(reported, ELECTION.limits({}), [one.name for one in claims])

    broken = {name for name, one in found.claims.items() if one.verdict is not Verdict.HOLDS}
    gone = [expected for switch, expected, _ in OPEN_WITHOUT_SWITCH if switch in changed]
    expected = {name for pairs in gone for _, name in pairs}
    # What an open obligation leads to may break one more invariant, a step later.
    assert expected <= broken <= expected | {"no_stale_write_or_request_is_accepted"}


# -- what is not ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [one.name for one in PROOF.invariants])
def test_each_invariant_is_needed_or_known_to_be_said_for_its_own_sake(name):
    result = prove(without(name), ELECTION.recorded())

    if name in SAID_FOR_ITS_OWN_SAKE:
        assert result.verdict is Verdict.HOLDS
        return
    assert result.verdict is Verdict.UNKNOWN
    assert OPEN_WITHOUT_INVARIANT[name] in left_open(result)


def test_the_proof_needs_ten_of_its_invariants():
    lean = prove(without(*SAID_FOR_ITS_OWN_SAKE), ELECTION.recorded())

    assert lean.verdict is Verdict.HOLDS
    assert len(lean.proof.invariants) == len(OPEN_WITHOUT_INVARIANT) == 10


@pytest.mark.parametrize(("switch", "expected", "depth"), OPEN_WITHOUT_SWITCH)
def test_without_a_fence_just_what_leans_on_it_stays_open(switch, expected, depth):
    recorded = ELECTION.recorded(None, {switch: False})

    result = prove(PROOF, recorded)
    _, run = find(recorded, ELECTION.limits({}), "single_controller")

    assert (result.verdict, left_open(result)) == (Verdict.UNKNOWN, expected)
    assert len(result.obligations) == 183
    assert {one.answer for one in result.open} == {"refuted"}
    assert run is not None
    assert run.depth == depth


@invariant("ZooKeeper never has an epoch", why="it is false")
def there_is_no_epoch(now):
    return now.zk.epoch == 0


@invariant("nothing is ever so", why="with it anything could be kept")
def nothing_is_so(now):
    return now.zk.epoch < 0


@invariant("nobody ever writes", why="true of no run with a controller")
def nobody_writes(now):
    return every(BROKERS, lambda b: now.pending[b].epoch == 0)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (there_is_no_epoch, ("broker_wins_election", "there_is_no_epoch")),
        (nothing_is_so, (INITIALLY, "nothing_is_so")),
        (nobody_writes, ("controller_starts_write", "nobody_writes")),
    ],
)
def test_an_invariant_that_is_false_stays_open(more, expected):
    result = prove(replace(PROOF, invariants=(*PROOF.invariants, more)), ELECTION.recorded())

    assert result.verdict is Verdict.UNKNOWN
    assert left_open(result) == [expected]


def test_a_false_claim_is_not_proved_by_true_invariants():
    @always("nobody is ever the controller", companion="two_brokers_believe_they_are_controller")
    def nobody_is_controller(now):
        return now.zk.epoch == 0

    reported = replace(ELECTION, claims=(*ELECTION.claims, nobody_is_controller)).recorded()

    result = prove(replace(PROOF, claim="nobody_is_controller"), reported)

    assert (result.verdict, left_open(result)) == (
        Verdict.UNKNOWN, [(IMPLIED, "nobody_is_controller")],
    )  # fmt: skip


def test_a_step_that_may_leave_the_domain_of_a_field_stays_open():
    def epoch_falls(now, new):
        """The epoch falls by one, whatever it is."""
        new.epoch = now.epoch - 1

    @always("the epoch is the epoch", companion="fine")
    def fine(now):
        return now.epoch == now.epoch

    proof = Proof("fine", "small", (invariant("so it is", why="it is so")(fine.function),), ())

    result = prove(proof, system(epoch_falls, claims=(fine,)))

    assert left_open(result) == [("epoch_falls", DOMAINS)]


def test_no_invariants_prove_nothing():
    result = prove(replace(PROOF, invariants=()), ELECTION.recorded())

    assert (result.verdict, left_open(result)) == (
        Verdict.UNKNOWN, [(IMPLIED, "single_controller")],
    )  # fmt: skip
    assert ProofResult(PROOF, ELECTION.recorded(), None).verdict is Verdict.NOT_CHECKED


def test_a_solver_that_gives_up_has_proved_nothing():
    result = prove(PROOF, ELECTION.recorded(), rlimit=1)

    assert result.verdict is Verdict.UNKNOWN
    assert {one.answer for one in result.open} == {"unknown"}
    assert len(result.open) == result.solver_calls == 53


def test_a_proof_asked_of_another_system_or_claim_is_refused():
    with pytest.raises(ProtocolError, match="unknown field 'won'"):
        prove(PROOF, CLASSIC.recorded())
    with pytest.raises(ProtocolError, match="did you mean 'single_controller'"):
        prove(replace(PROOF, claim="single_controler"), ELECTION.recorded())
