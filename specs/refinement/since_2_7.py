"""The refinement of 2.7, whose leaders go on while an ISR write is pending (AlterIsr).

It equals the refinement of 2.5 (`refinement_map`, `proof`) except for ISR writes. The leader sends
the write to the controller, which executes it later, as in the proof's form. The form keeps waiting
if an answer is lost, or if a refusal leaves the leader with both ISRs. An AlterIsr outlives the
process that sent it, and blocks no LeaderAndIsr.
"""

from __future__ import annotations

from dataclasses import replace

from model.language import all_of, any_of, implies, is_none, not_
from model.protocol.state import BROKERS
from model.replication.alter_isr import SYSTEM
from model.replication.state import CONTROLLERS, ELECTED
from specs.invariants import Proof, SolverHint, invariant
from specs.proofs.since_2_7 import PROOF as FORM
from specs.refinement import refinement_map
from specs.refinement.composed import ComposedSystem, compose
from specs.refinement.proof import INVARIANTS as BEFORE
from specs.refinement.proof import (
    has_the_isr,
    has_the_version,
    is_executed_but_unknown,
    is_sent_again,
    leader_of,
    leads,
    refinement_proof,
)
from specs.refinement.refinement_map import MapLine, ReplicationStep

# -- lines ----------------------------------------------------------------------------------------


def _asked_in(e: ReplicationStep):
    return {"epoch": e.now.isr_write[e["leader"]].epoch}


def _is_sent_to_a_new_process(e: ReplicationStep):
    return all_of(refinement_map._is_sent_again(e), e.now.up.has(e["replica"]))


# fmt: off
OTHER_LINES = (
    MapLine("controller_issues_leader_and_isr",
         "the epoch's request again, to a leader that came back; to a process that has died it "
         "says nothing",
         (refinement_map._maps_to(
             "controller_resends_state", lambda e: {}, _is_sent_to_a_new_process),)),
    MapLine("leader_asks_to_shrink_isr", "the same", (refinement_map.SMALLER,)),
    MapLine("leader_asks_to_expand_isr", "the same", (refinement_map.LARGER,)),
    MapLine("controller_writes_isr", "the same, the leader alive or not",
         (refinement_map._maps_to("isr_write_is_executed", _asked_in),)),
    MapLine("controller_refuses_isr", "there it is on its way still, and its version old"),
    MapLine("controller_finds_isr_written", "there it is answered as it was at first"),
    MapLine("leader_learns_isr_is_written", "the same",
         (refinement_map._maps_to("isr_write_response_arrives", _asked_in),)),
    MapLine("isr_answer_is_lost", "there the answer may still arrive"),
)
# fmt: on

_HERE = {one.name for one in SYSTEM.transitions}
_OTHER = {one.transition for one in OTHER_LINES}
LINES = (
    *(one for one in refinement_map.LINES if one.transition in _HERE - _OTHER),
    *OTHER_LINES,
)

# -- what the two sides have in common ------------------------------------------------------------


@invariant("who has asked for an ISR leads, or its process has died and its AlterIsr is under way",
           over=(BROKERS,), triggers=lambda now, b: [now.isr_write[b].state],
           why="what becomes of it is kept with the leader of its epoch")
def only_leaders_send_alter_isr(now, b):
    state = now.isr_write[b].state
    return any_of(state == "none", leads(now, b),
                  all_of(state == "asked", now.replica[b].role == "none"))


@invariant("what is asked for is asked in the broker's own epoch, which names it",
           over=(BROKERS,), triggers=lambda now, b: [now.isr_write[b].state],
           why="its write leaves the registered leader and epoch as they are")
def isr_requests_are_of_their_leaders(now, b):
    epoch = now.isr_write[b].epoch
    request = now.there.request[epoch]
    return implies(now.isr_write[b].state != "none", all_of(
        not_(is_none(epoch)), epoch == now.there.replica[b].epoch,
        now.there.began[epoch], request.named, request.leader == b))


@invariant("a request for an ISR is under way on both sides: asked is sent there, by the same "
           "version, or executed, if an answer was lost; applied is executed",
           over=(BROKERS,), triggers=lambda now, b: [now.isr_write[b].state],
           why="what its leader makes of the answer is the same")
def isr_requests_are_in_the_same_phase(now, b):
    asked = now.isr_write[b]
    leader = now.there.leader[asked.epoch]
    return all_of(
        implies(all_of(leads(now, b), asked.state == "none"), leader_of(now, b).write == "none"),
        implies(asked.state != "none", any_of(leader.write == "sent", leader.write == "executed")),
        implies(asked.state == "asked", all_of(
            implies(leader.write == "sent", asked.version == leader.zk_version),
            implies(leader.write == "executed", asked.version == leader.version_before))),
        implies(asked.state == "applied", all_of(
            leader.write == "executed", asked.version == leader.zk_version)))


@invariant("and it is for the same ISR",
           over=(BROKERS, BROKERS),
           triggers=lambda now, b, m: [
               now.isr_write[b].isr.has(m),
               now.there.leader[now.isr_write[b].epoch].written_isr.has(m)],
           why="what its leader makes of the answer is the same")
def isr_requests_are_for_the_same_isr(now, b, m):
    asked = now.isr_write[b]
    leader = now.there.leader[asked.epoch]
    return implies(asked.state != "none", all_of(
        asked.isr.has(m) == leader.written_isr.has(m),
        implies(is_executed_but_unknown(leader), leader.isr.has(m) == leader.written_isr.has(m))))


@invariant("a leader of the registered epoch has the registered version, unless its own write is "
           "executed and not answered",
           over=(BROKERS,), triggers=lambda now, b: [now.replica[b].role],
           why="what is registered as it asks, and by another version, is its own write")
def leaders_of_the_registered_epoch_are_current(now, b):
    mine = now.replica[b]
    return implies(
        all_of(leads(now, b), mine.epoch == now.zk.leader_epoch,
               not_(is_executed_but_unknown(leader_of(now, b)))),
        mine.zk_version == now.zk.version)


@invariant("to a process that has started while an AlterIsr of the one before is under way no "
           "request of that epoch is in flight",
           over=(ELECTED, CONTROLLERS, BROKERS),
           triggers=lambda now, e, c, b: [now.request[e][c][b].in_flight],
           why="whoever sends one refuses what was asked under the older registration")
def leader_and_isr_to_a_restarted_process_is_of_a_newer_epoch(now, e, c, b):
    return not_(all_of(
        now.isr_write[b].state == "asked", now.replica[b].role == "none", now.up.has(b),
        now.there.replica[b].epoch == e, now.request[e][c][b].in_flight))


def is_for_a_new_process(now, e, b):
    return all_of(is_sent_again(now, e, b), now.up.has(b))


@invariant("one that makes a leader has the version that its epoch was elected with, or, if it led "
           "before and has started again, the one of its epoch's leader, which is the registered "
           "one in the registered epoch",
           over=(ELECTED, CONTROLLERS, BROKERS),
           triggers=lambda now, e, c, b: [now.request[e][c][b].in_flight,
                                          now.request[e][c][b].version],
           why="that version is in force when it becomes leader")
def requests_have_the_version(now, e, c, b):
    return has_the_version(now, e, c, b, is_for_a_new_process(now, e, b))


@invariant("and the ISR",
           over=(ELECTED, CONTROLLERS, BROKERS, BROKERS),
           triggers=lambda now, e, c, b, m: [now.request[e][c][b].isr.has(m)],
           why="that ISR is the one it counts on when it becomes leader")
def requests_have_the_isr(now, e, c, b, m):
    return has_the_isr(now, e, c, b, m, is_for_a_new_process(now, e, b))


ELSE_THAN_BEFORE = (
    "only_leaders_write", "isr_writes_are_in_the_same_phase", "isr_writes_are_the_same",
    "isr_writes_add_or_remove_members", "refused_writes_name_old_versions",
    "requests_have_the_version",
    "requests_have_the_isr")
"""What is so of a write that ZooKeeper answers at once."""

INVARIANTS = (
    *(one for one in BEFORE if one.name not in ELSE_THAN_BEFORE),
    only_leaders_send_alter_isr, isr_requests_are_of_their_leaders,
    isr_requests_are_in_the_same_phase, isr_requests_are_for_the_same_isr,
    leaders_of_the_registered_epoch_are_current,
    leader_and_isr_to_a_restarted_process_is_of_a_newer_epoch, requests_have_the_version,
    requests_have_the_isr)


ITS_REQUEST = SolverHint(lambda now, broker, **_: [now.isr_write[broker].state])
"""Whom a leader commits with hangs on what it asked for."""


def compose_since_2_7(**chosen) -> ComposedSystem:
    """`replication` of 2.7 and its proof's form as one system."""
    return compose(**{"system": SYSTEM, "lines": LINES, "form": FORM.form, **chosen})


def refinement_since_2_7(composed: ComposedSystem) -> Proof:
    """The proof that `replication` of 2.7 refines its proof's form, over the two as one system."""
    proof = refinement_proof(composed, INVARIANTS)
    return replace(
        proof,
        system=SYSTEM.name,
        hints={**proof.hints, "leader_advances_hw": (ITS_REQUEST,)},
        about=(
            "proved step by step: every step of replication as brokers of 2.7 speak it is one of "
            "the form whose leaders go on while an ISR write is under way, some, or none, and "
            "keeps what the two have in common",
        ),
        assumes=(
            "whatever no_message_loss_since_2_7 assumes of what neither of the two has in it, and "
            "follower_ends_reset_on_election, which is true of no release",
            "where logs part is asked and answered as before 2.7; from then on a fetch asks it, "
            "and is answered so (KIP-595)",
            "a leader that drops several replicas from its ISR asks for it one by one",
            "guards that count members of the ISR (min.insync.replicas above 1) are left out, so "
            "that more is possible",
        ))
