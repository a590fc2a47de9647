"""Claims beside the main ones: proved by two solvers, and not when something is amiss."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.cli.theorems import NAMES
from model.cluster import SYSTEM as CLUSTER
from model.election import SYSTEM as ELECTION
from model.language import Claim
from model.protocol.assignment import assign_replicas
from model.replication.history import SYSTEM as HISTORY
from model.topics import SYSTEM as TOPICS
from specs.explorer import explore
from specs.induction_counterexamples import contradicts_itself
from specs.invariants import Invariant, Proof
from specs.obligations import Obligation
from specs.proofs import at_rest, cluster, directories, topics
from specs.proofs.corollaries import (
    a_lost_disk_is_survived,
    sent_high_watermark_never_falls,
    visible_records_are_committed,
)
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.single_controller import PROOF as SINGLE_CONTROLLER
from specs.solvers import PROVED
from specs.theorems import THEOREMS, Theorem
from specs.theorems.batches import batches
from specs.theorems.by_induction import INDUCTIVE_CLAIMS, kept
from specs.theorems.controller_claims import KEPT
from specs.theorems.corollaries import in_every_state, of_every_step
from specs.theorems.epoch_cache import answers, assigns, truncates
from specs.theorems.placement import balanced, distinct
from specs.theorems.theorem import TheoremResult, prove_theorem
from specs.verdict import Verdict

LONG = (
    "cluster_leader_in_isr", "cluster_leader_unique", "replica_lists_are_valid",
    "only_controllers_have_tasks", "deposed_controllers_write_nothing",
    "brokers_shutting_down_are_not_elected",
)  # fmt: skip
"""cvc5 takes half a minute together; Z3 is asked always, and both are in a deep run."""

LONGEST = (
    "topics_are_deleted_only_on_request", "no_leader_and_isr_for_topics_being_deleted",
    "deleted_data_is_never_served", "state_writes_are_conditional",
    "idle_controller_knows_zookeeper", "no_event_is_missed",
)  # fmt: skip
"""Z3 takes six seconds or more for each: both solvers are asked in a deep run."""


@pytest.mark.parametrize(
    "name", [*LONG, *(pytest.param(one, marks=pytest.mark.deep) for one in LONGEST)]
)
def test_the_long_theorems_are_proved(name):
    assert prove_theorem(THEOREMS[name], solvers=("z3",)).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one, marks=pytest.mark.deep if one in (*LONG, *LONGEST) else ())
        for one in THEOREMS
    ],
)
def test_every_theorem_is_proved_by_both_solvers(name):
    result = prove_theorem(THEOREMS[name], solvers=("z3", "cvc5"))

    assert result.verdict is Verdict.HOLDS
    assert {tuple(one.answers.values()) for one in result.obligations} == {(PROVED, PROVED)}


def test_the_command_line_knows_every_theorem():
    assert tuple(THEOREMS) == NAMES


def test_a_theorem_without_obligations_is_not_checked_and_one_with_an_open_one_is_unknown():
    nothing = TheoremResult(Theorem("nothing", "nothing is said", "nothing", lambda v, s: ()))

    assert nothing.verdict is Verdict.NOT_CHECKED
    asked = [Obligation("a step", "an invariant", {"z3": "unknown"}, 0.0)]
    assert replace(nothing, obligations=asked).verdict is Verdict.UNKNOWN


def _fails(parts):
    return sorted({f"{where} {what}" for where, what, one in parts if one.answer("z3") != PROVED})


@pytest.mark.parametrize(
    ("parts", "failing"),
    [
        (distinct(among=0), ["a follower is not the leader"]),
        (balanced(extra=1), ["one more partition is one more for its leader"]),
        pytest.param(
            answers(last_of_them=False),
            ["endOffsetFor from the answer on are records of newer epochs"],
            marks=pytest.mark.deep,
        ),
        (
            batches(None, {}, once=False),
            [
                "leader_appends the two do to written_in what the batch does",
                "leader_appends what is left is a batch",
            ],
        ),
        pytest.param(
            assigns(pops_late_starts=False),
            ["assign entries still rise"],
            marks=pytest.mark.deep,
        ),
        pytest.param(
            truncates(keeps_the_start=True),
            ["truncateFromEnd no entry begins at the new end or beyond"],
            marks=pytest.mark.deep,
        ),
    ],
    ids=[
        "turn among all",
        "leaders drift",
        "any older entry",
        "a record twice",
        "late starts stay",
        "empty epochs",
    ],
)
def test_a_function_with_a_mistake_is_not_proved(parts, failing):
    """The three of the epoch cache that take five seconds and more each run with --deep."""
    assert _fails(parts) == failing


@pytest.mark.parametrize("condition", [a_lost_disk_is_survived, visible_records_are_committed])
def test_a_corollary_needs_the_invariants(condition):
    alone = replace(NO_MESSAGE_LOSS, invariants=())

    parts = in_every_state(alone, condition, "claim", HISTORY.recorded())

    assert _fails(parts) == ["every state claim"]


@pytest.mark.parametrize(
    ("proof", "system", "claim", "step", "reason"),
    [
        (SINGLE_CONTROLLER, ELECTION, "controller_epoch_never_falls",
         "broker_wins_election", "/controller_epoch is as it was read"),
        (SINGLE_CONTROLLER, ELECTION, "nobody_takes_over_the_controllership",
         "broker_wins_election", "/controller does not exist"),
        (SINGLE_CONTROLLER, ELECTION, "one_write_at_a_time",
         "controller_starts_write", "no write of the broker is under way"),
        (NO_MESSAGE_LOSS, HISTORY, "sent_high_watermark_never_falls",
         "leader_advances_hw", "the HW rises"),
    ],
)  # fmt: skip
def test_a_claim_about_steps_fails_at_the_step_that_lost_its_guard(
    proof, system, claim, step, reason
):
    recorded = system.recorded()
    broken = next(one for one in recorded.steps if one.transition.name == step)
    kept = [one for one in broken.requires if one.reason != reason]
    assert len(kept) == len(broken.requires) - 1
    recorded.steps[recorded.steps.index(broken)] = replace(broken, requires=kept)
    known = {one.name: one.function for one in system.claims}
    condition = known.get(claim, sent_high_watermark_never_falls)

    assert _fails(of_every_step(proof, condition, claim, recorded)) == [f"{step} {claim}"]


@pytest.mark.parametrize("brokers", range(1, 7))
def test_the_formulas_of_the_placement_are_those_of_the_model(brokers):
    racks = dict.fromkeys(range(brokers))

    for start in range(brokers):
        for shift in range(brokers):
            placed = assign_replicas(racks, 2 * brokers + 1, brokers, start, shift)
            for partition, replicas in placed.items():
                leader, turned = (partition + start) % brokers, shift + partition // brokers
                among = max(brokers - 1, 1)
                places = [(leader + 1 + (turned + k) % among) % brokers
                          for k in range(brokers - 1)]  # fmt: skip
                assert replicas == [leader, *places]


@pytest.mark.parametrize(
    ("name", "without", "step"),
    [
        ("cluster_has_a_single_writer", "zk_writes_fenced", "controller_elects_leader"),
        ("dead_brokers_do_not_join_the_isr", "isr_expansion_checks_liveness", "leader_expands_isr"),
    ],
)
def test_what_a_step_keeps_to_in_any_state_needs_its_fence(name, without, step):
    parts = [part for part in THEOREMS[name].parts(None, {without: False}) if part[0] == step]

    assert _fails(parts) == [f"{step} {parts[0][1]}"]


@pytest.mark.parametrize(
    ("name", "changed", "open_one"),
    [
        ("cluster_leader_in_isr", {"preferred_needs_isr": False},
         ("controller_elects_preferred", "leaders_are_in_the_isr")),
        ("registered_brokers_stay_registered", {"znode_owner_checked": False},
         ("broker_keeps_registration_of_old_session",
          "no_broker_keeps_the_registration_of_its_last_session")),
        ("resigned_controllers_write_nothing", {"events_dropped": False},
         ("controller_resigns_and_keeps_its_queue", "no_resigned_controller_keeps_its_queue")),
        ("no_event_is_missed", {"responses_fenced": False},
         ("controller_sees_bounced_brokers", "repairs_are_known_or_will_be")),
    ],
)  # fmt: skip
def test_what_every_step_keeps_needs_what_a_later_release_brought(name, changed, open_one):
    parts = [part for part in THEOREMS[name].parts(None, changed) if part[:2] == open_one]

    assert _fails(parts) == [" ".join(open_one)]


@pytest.mark.parametrize(
    ("system", "invariants", "step", "reason", "open_one"),
    [
        (CLUSTER, cluster.LEADERS, "leader_shrinks_isr", "the cached version is current",
         "leader_epochs_never_fall"),
        (CLUSTER, cluster.ELECTIONS, "leader_shrinks_isr", "a leader never drops itself",
         "leaders_are_in_the_isr"),
        (CLUSTER, at_rest.AT_REST, "controller_finds_no_isr_change", "no notification is there",
         "isr_changes_have_their_event"),
        (CLUSTER, at_rest.AT_REST, "controller_sends_removal_batch",
         "no replica waits for it", "replicas_wait_to_go_offline"),
        (CLUSTER, at_rest.AT_REST, "broker_becomes_leader", "the partition's log directory works",
         "failures_are_known_or_will_be"),
        (TOPICS, topics.CONTROLLERSHIP, "broker_becomes_controller",
         "it does not believe it is the controller", "one_winner_per_epoch"),
        (TOPICS, topics.DEAD, "broker_becomes_controller", "its process runs",
         "stopped_brokers_do_nothing_is_kept"),
        (TOPICS, topics.LISTS, "admin_creates_topic", "the list has no gap",
         "replica_lists_are_valid_is_kept"),
        pytest.param(
            TOPICS, topics.DELETIONS, "controller_queues_deletion", "a deletion is requested",
            "queued_deletions_are_requested", marks=pytest.mark.deep),
    ],
)  # fmt: skip
def test_an_invariant_of_whole_controllers_is_lost_by_the_step_that_lost_its_guard(
    system, invariants, step, reason, open_one
):
    recorded = system.recorded()
    broken = next(one for one in recorded.steps if one.transition.name == step)
    left = [one for one in broken.requires if one.reason != reason]
    assert len(left) == len(broken.requires) - 1
    recorded.steps[:] = [replace(broken, requires=left)]

    found = _fails(kept(Proof("planted", system.name, invariants, ()), recorded))

    assert found == [f"{step} {open_one}"]


def test_of_all_steps_of_a_cluster_a_commit_and_a_fetch_may_part_the_isr_from_what_is_committed():
    (claim,) = (one for one in CLUSTER.claims if one.name == "isr_holds_committed")
    held = topics.as_invariant(claim)
    known = dict.fromkeys((*cluster.LEADERS, *cluster.ELECTIONS, held))
    recorded = CLUSTER.recorded(None, {"controller_epoch_kept": True})

    parts = [part for part in kept(Proof("open", CLUSTER.name, tuple(known), ()), recorded)
             if part[1] == held.name]  # fmt: skip

    assert len({step for step, _, _ in parts}) > 2
    assert _fails(parts) == [f"follower_catches_up {held.name}", f"leader_commits {held.name}"]


@pytest.mark.parametrize(
    ("system", "invariants"),
    [
        (CLUSTER, cluster.LEADERS),
        (CLUSTER, cluster.ELECTIONS),
        (CLUSTER, at_rest.AT_REST),
        (TOPICS, topics.LISTS),
    ],
)
def test_the_premises_of_what_every_step_keeps_do_not_contradict_each_other(system, invariants):
    recorded = system.recorded()
    recorded.steps[:] = recorded.steps[-1:]

    proof = Proof("x", system.name, invariants, ())

    assert not any(one.proves_anything() for _, _, one in kept(proof, recorded))


@pytest.mark.parametrize(
    ("needed", "step", "what"),
    [
        (topics.bounced_brokers_are_started_before_the_controller_waits,
         "controller_begins_controlled_shutdown",
         "bounced_brokers_are_not_shutting_down"),
        (topics.bounced_brokers_are_not_shutting_down, "controller_starts_bounced_broker",
         "brokers_shutting_down_are_not_live"),
        (topics.brokers_shutting_down_are_not_live, "controller_elects_preferred", "it"),
        (topics.one_winner_per_epoch, "controller_moves_leaders", "it"),
    ],
)  # fmt: skip
def test_each_invariant_is_needed_so_that_who_goes_is_not_elected(needed, step, what):
    (claim,) = (one for one in TOPICS.claims if one.name == "brokers_shutting_down_are_not_elected")
    recorded = TOPICS.recorded()
    recorded.steps[:] = [one for one in recorded.steps if one.transition.name == step]
    rest = tuple(one for one in topics.DEPARTURES if one is not needed)
    proof = Proof("without one", TOPICS.name, rest, ())

    found = [*_fails(kept(proof, recorded)),
             *_fails(of_every_step(proof, claim.function, "it", recorded))]  # fmt: skip

    assert found == [f"{step} {what}"]


def test_the_last_steps_of_a_deletion_keep_what_makes_it_a_requested_one():
    recorded = TOPICS.recorded()
    last = (
        "topic_znode_is_deleted",
        "request_is_removed",
        "controller_receives_stop_replica_response",
    )
    recorded.steps[:] = [one for one in recorded.steps if one.transition.name in last]

    parts = list(kept(Proof("a few", TOPICS.name, topics.DELETIONS, ()), recorded))

    assert {step for step, _, _ in parts} == set(last)
    assert _fails(iter(parts)) == []


def _open_at(steps, invariants, rests_on, changed):
    recorded = TOPICS.recorded(None, changed)
    recorded.steps[:] = [one for one in recorded.steps if one.transition.name in steps]
    return _fails(kept(Proof("a few", TOPICS.name, invariants, ()), recorded, rests_on))


ADDITIONS = ("admin_adds_partition", "controller_undoes_addition", "controller_skips_addition")


@pytest.mark.parametrize(
    ("changed", "open_ones"),
    [
        pytest.param({}, [], id="undone"),
        pytest.param({"additions_undone": False},
                     ["controller_skips_addition unknown_partitions_have_fired_their_watch"],
                     id="skipped", marks=pytest.mark.deep),
    ],
)  # fmt: skip
def test_a_partition_that_a_controller_does_not_know_fired_its_watch_unless_it_was_skipped(
    changed, open_ones
):
    found = _open_at(ADDITIONS, topics.KNOWN, topics.KNOWN_RESTS_ON, changed)

    assert [one for one in found if one.split()[1] in topics.KNOWN_RESTS_ON] == open_ones


RETURNING = ("broker_starts", "controller_undoes_addition")


def test_what_a_broker_that_starts_is_told_of_a_deleted_topic_it_refuses():
    recorded = TOPICS.recorded(None, {"controller_epoch_kept": True})
    recorded.steps[:] = [one for one in recorded.steps if one.transition.name in RETURNING]
    proof = Proof("a few", TOPICS.name, directories.DIRECTORIES, ())

    parts = [part for part in kept(proof, recorded, directories.RESTS_ON)
             if part[1] in directories.RESTS_ON]  # fmt: skip

    assert {step for step, _, _ in parts} == set(RETURNING)
    assert _fails(iter(parts)) == []


@pytest.mark.deep
def test_a_broker_that_starts_without_the_newest_epoch_refuses_nothing():
    found = _open_at(("broker_starts",), directories.DIRECTORIES, directories.RESTS_ON, {})

    assert "broker_starts future_leader_and_isr_about_unknown_partitions_is_refused" in found
    assert "broker_starts memories_are_of_the_topic_or_refused" in found


@pytest.mark.deep
def test_nobody_stops_a_replica_of_a_topic_that_stays_and_is_sent_an_order_then():
    steps = ("controller_sees_start", "controller_starts_bounced_broker", "request_is_removed")

    assert _open_at(steps, topics.OF_LEADER_AND_ISR, {}, {}) == []


def test_a_theorem_from_invariants_that_contradict_each_other_is_refused():
    never = Invariant("never", "nothing is so", "to see that it is refused", lambda now: (
        now.zk.epoch < 0))  # fmt: skip
    sound = THEOREMS["deleted_topics_leave_no_data"]

    contradiction = Proof("planted", TOPICS.name, (never,), ())

    planted = replace(sound, given=lambda version, switches: (
        contradiction, TOPICS.recorded(version, switches)))  # fmt: skip

    assert prove_theorem(sound).verdict is Verdict.HOLDS
    refused = prove_theorem(planted)
    assert refused.contradictory
    assert refused.verdict is Verdict.UNKNOWN


def test_of_every_theorem_that_assumes_something_of_a_state_it_is_asked_whether_that_can_be():
    bare = {name for name, one in THEOREMS.items() if one.given is None}

    from_any_state = {name for name in bare if "from any state" in THEOREMS[name].label}
    of_functions = {name for name in bare if THEOREMS[name].system is None}
    assert bare == from_any_state | of_functions | {"batches_are_steps"}
    shown_from = [one.given(None, {}) for one in INDUCTIVE_CLAIMS if one.given is not None]
    assert len(shown_from) == len(INDUCTIVE_CLAIMS)
    assert not any(contradicts_itself(*one) for one in shown_from)


@pytest.mark.parametrize(
    "name", ["batches_are_steps", "placement_is_distinct", "placement_is_balanced",
             pytest.param("epoch_cache_is_the_logs", marks=pytest.mark.deep),
             *(pytest.param(name, marks=pytest.mark.deep) for _, _, name in KEPT)],
)  # fmt: skip
def test_what_is_assumed_of_functions_and_of_a_batch_or_a_step_does_not_prove_everything(name):
    questions = list(THEOREMS[name].parts(None, {}))

    assert [(where, what) for where, what, one in questions if one.proves_anything()] == []
    assert len(questions) > 1


@pytest.mark.parametrize("name", [one.claim for one in INDUCTIVE_CLAIMS if "given" in one.label])
def test_what_is_given_to_a_theorem_is_shown_by_the_one_that_it_names(name):
    theorem = THEOREMS[name]
    shown_by = THEOREMS[theorem.label.partition("given the invariants of ")[2]]
    assert theorem.given is not None
    assert shown_by.given is not None

    assert "by induction" in shown_by.label
    assert {one.name for one in theorem.given(None, {})[0].invariants} <= {
        one.name for one in shown_by.given(None, {})[0].invariants}  # fmt: skip


@pytest.mark.deep
@pytest.mark.parametrize(
    ("system", "invariants", "bounds", "step"),
    [(CLUSTER, at_rest.AT_REST, {"lingering": 0, "crashes": 0, "directories": 1, "controllers": 1},
      "controller_marks_replicas_offline"),
     (TOPICS, topics.DELETIONS, {}, "topic_znode_is_deleted"),
     (TOPICS, topics.OF_LEADER_AND_ISR, {"shutdowns": 1, "controllers": 1},
      "controller_stops_followers"),
     (TOPICS, topics.KNOWN, {"partitions": 2, "controllers": 1, "crashes": 0},
      "controller_sees_partitions"),
     (TOPICS, topics.READ_AGAIN, {"conflicts": 1, "controllers": 1}, "controller_write_conflicts"),
     (TOPICS, directories.DIRECTORIES, {}, "topic_znode_is_deleted"),
     (TOPICS, topics.DEPARTURES, {"shutdowns": 1, "crashes": 0}, "controller_moves_leaders")],
)  # fmt: skip
def test_what_is_assumed_of_a_state_is_so_in_every_state_that_is_reached(
    system, invariants, bounds, step
):
    seen = next(one.name for one in system.claims if one.kind == "sometimes")

    def lasting(one: Invariant) -> Claim:
        return Claim(f"{one.name}_here", "always", one.sentence, one.function, companion=seen)

    kept_here = [lasting(one) for one in invariants]
    observed = replace(system, claims=(*system.claims, *kept_here))
    names = [one.name for one in kept_here]

    switches = {"controller_epoch_kept": True} if invariants is directories.DIRECTORIES else {}
    recorded = observed.recorded(None, switches)

    found = explore(recorded, observed.limits(bounds), names, symmetry=system is TOPICS)

    assert {found.claims[name].verdict for name in names} == {Verdict.HOLDS}
    assert found.fired[step] > 0


def test_a_claim_that_another_system_has_too_has_a_name_of_its_own():
    others = {claim.name for one in (ELECTION, HISTORY) for claim in one.claims}

    assert not others & {name for _, _, name in KEPT}
    assert not others & {theorem.claim for theorem in INDUCTIVE_CLAIMS}
