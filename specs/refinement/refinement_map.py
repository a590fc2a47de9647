"""The refinement map: the `replication_history` steps for each transition of `replication`.

A line lists, in order, the steps of the proof's form that a transition is. Their parameters are
computed from the state before and after the transition. A stage may have alternatives: the first
whose condition holds is taken, or none. A line without stages is a stutter: the proof's form does
not change. A transition without a line has no counterpart there: the switches that allow it are
outside of the refinement.

The history variables are those of the proof's form itself: the histories of epochs, earlier
requests, messages and answers, and the terms of former leaders. They are not computed from a state;
the steps of the form write them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from model.language import all_of, is_none, not_, smaller
from model.language.scalars import Scalar


@dataclass(frozen=True)
class ReplicationStep:
    """One step of `replication`: the state before and after it, and its parameters by name.

    `now.there` is the state of the proof's form when its step is taken. `cut` gives the effect of
    `follower_truncates` on a follower's log in the state after: its end, and whether the follower
    would ask again.
    """

    now: Any
    after: Any
    parameters: Mapping[str, Any]
    cut: Callable[[Scalar, Scalar], tuple[Scalar, Scalar]]

    @property
    def there(self) -> Any:
        """The proof's form."""
        return self.now.there

    def __getitem__(self, parameter: str) -> Any:
        return self.parameters[parameter]


@dataclass(frozen=True)
class Alternative:
    """A step of the proof's form, its parameters, and the condition under which it is taken."""

    step: str
    parameters: Callable[[ReplicationStep], dict[str, Any]]
    only_if: Callable[[ReplicationStep], Scalar] | None = None


@dataclass(frozen=True)
class MapLine:
    """The line of one transition: its stages in order, and the reason."""

    transition: str
    why: str
    stages: tuple[tuple[Alternative, ...], ...] = ()

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps that it may be, by name."""
        return tuple(one.step for stage in self.stages for one in stage)


def waits(now: Any, follower: Any, leader: Any) -> Scalar:
    """Does the follower still look for where to cut, in the epoch in which it asked that leader?"""
    mine = now.replica[follower]
    return all_of(
        mine.role == "follower", mine.leader == leader, mine.truncating,
        mine.epoch == now.fetch[follower][leader].epoch)  # fmt: skip


def kept(now: Any, broker: Any) -> Scalar:
    """The high watermark that a broker would start with: its checkpoint, within its log."""
    return smaller(now.replica[broker].checkpoint, now.log[broker].end)


def _maps_to(
    step: str,
    parameters: Callable[[ReplicationStep], dict[str, Any]],
    only_if: Callable[[ReplicationStep], Scalar] | None = None,
) -> tuple[Alternative, ...]:
    return (Alternative(step, parameters, only_if),)


def _epoch(e: ReplicationStep, broker: str) -> Any:
    return e.now.replica[e[broker]].epoch


def _of_its_epoch(e: ReplicationStep) -> dict[str, Any]:
    """Of the leader of that epoch."""
    return {"epoch": _epoch(e, "leader")}


def _write(what: str) -> Callable[[ReplicationStep], Scalar]:
    """What has become there of the leader's ISR write."""
    return lambda e: e.there.leader[_epoch(e, "leader")].write == what


# -- controllers and their orders -----------------------------------------------------------------


def _elected(e: ReplicationStep) -> dict[str, Any]:
    return {"leader": e.after.zk.leader, "isr": e.after.zk.isr}


def _is_sent_again(e: ReplicationStep) -> Scalar:
    replica = e["replica"]
    return all_of(
        replica == e.now.zk.leader, e.there.replica[replica].role == "down",
        e.there.replica[replica].epoch == e.now.zk.leader_epoch)  # fmt: skip


# -- truncation -----------------------------------------------------------------------------------


def _cut_of(e: ReplicationStep) -> dict[str, Any]:
    end, _ = e.cut(e["follower"], e["leader"])
    return {"leader": e["leader"], "follower": e["follower"], "cut": end}


def _is_shown(again: bool) -> Callable[[ReplicationStep], Scalar]:
    def condition(e: ReplicationStep) -> Scalar:
        _, asks_again = e.cut(e["follower"], e["leader"])
        answer = asks_again if again else not_(asks_again)
        return all_of(waits(e.now, e["follower"], e["leader"]), answer)

    return condition


def _is_lost(e: ReplicationStep) -> Scalar:
    follower, leader = e["follower"], e["leader"]
    return all_of(e.now.fetch[follower][leader].state == "epoch_is_answered",
                  waits(e.now, follower, leader))  # fmt: skip


# -- records --------------------------------------------------------------------------------------


def _slot(e: ReplicationStep) -> Any:
    return e.now.fetch[e["follower"]][e["leader"]]


def _takes_hw(e: ReplicationStep) -> Scalar:
    """Below the checkpoint it would rise again by a restart: there it stays where it was."""
    rises: Scalar = e.after.replica[e["follower"]].hw >= kept(e.after, e["follower"])
    return rises


def _same_argument(name: str) -> Callable[[ReplicationStep], dict[str, Any]]:
    return lambda e: {name: e[name]}


APPENDS = (_maps_to("leader_appends",
               lambda e: {"broker": e["broker"], "record": e.now.next_record}),)  # fmt: skip
ANSWERED = (
    _maps_to("leader_learns_end",
        lambda e: {"broker": e["leader"], "follower": e["follower"],
                   "epoch": _slot(e).epoch, "end": _slot(e).offset}),
    _maps_to("leader_sends_record",
        lambda e: {"broker": e["leader"], "offset": _slot(e).offset},
        lambda e: e.after.fetch[e["follower"]][e["leader"]].has_record),
    _maps_to("leader_sends_hw", lambda e: {"broker": e["leader"]}))  # fmt: skip
EXECUTED = _maps_to("isr_write_is_executed", _of_its_epoch)
SMALLER = _maps_to("leader_shrinks_isr",
              lambda e: {"broker": e["leader"],
                         "isr": e.after.isr_write[e["leader"]].isr})  # fmt: skip
LARGER = _maps_to("leader_expands_isr",
             lambda e: {"broker": e["leader"], "follower": e["replica"]})  # fmt: skip
GONE_ON = (
    Alternative("isr_write_is_refused", _of_its_epoch, _write("sent")),
    Alternative("leader_gives_up_isr_write", _of_its_epoch, _write("unanswered")),
)
FOUND = (
    Alternative("leader_finds_isr_registered", _of_its_epoch, _write("sent")),
    Alternative("leader_reads_its_isr_back", _of_its_epoch, _write("unanswered")),
)

CONTROLLERSHIP = "who is the controller is election's affair; here only its writes count"
REFUSED = "nothing changes: the controller forgets what it read, or resigns"
CHANGES_NO_ROLE = "a request that moves nobody: what was sent stays sent, and may still arrive"
CLIENT = "what clients are answered and read is below the high watermark that the proof mentions"
QUESTION = "a question is no message in the proof's form; its answer says all"
IGNORED = "the answer was for what the follower no longer is: it was dropped with its epoch"
SESSION = "sessions are election's affair; a leader without one writes no ISR"

# fmt: off
LINES = (
    # lifecycle
    MapLine("broker_crashes",
         "the high watermark falls to the checkpoint at once, not when the process is back",
         (_maps_to("broker_crashes",
              lambda e: {"broker": e["broker"], "hw": kept(e.now, e["broker"])}),)),
    MapLine("session_expires", SESSION),
    MapLine("broker_starts", "down until notified of the partition; its HW fell at the crash"),
    MapLine("broker_reconnects", SESSION),
    MapLine("broker_checkpoints_hw", "to which older value it falls is chosen at the crash"),
    # the controller
    MapLine("broker_becomes_controller", CONTROLLERSHIP),
    MapLine("reply_to_registration_is_lost", CONTROLLERSHIP),
    MapLine("broker_learns_it_won", CONTROLLERSHIP),
    MapLine("broker_loses_controller_election", CONTROLLERSHIP),
    MapLine("controller_resigns", CONTROLLERSHIP),
    MapLine("controller_node_is_deleted", CONTROLLERSHIP),
    MapLine("controller_reads_partition", "what it read counts when it writes, by the version"),
    # its writes and orders
    MapLine("controller_elects_leader",
         "the fenced, conditional write and its requests are one step on both sides",
         (_maps_to("controller_elects_leader", _elected),)),
    MapLine("controller_election_conflicts", REFUSED),
    MapLine("controller_election_is_fenced", REFUSED),
    MapLine("controller_removes_replica",
         "a next epoch with a smaller ISR, under the same leader or under none",
         ((Alternative("controller_writes_no_leader", lambda e: {"isr": e.after.zk.isr},
                       lambda e: is_none(e.after.zk.leader)),
           Alternative("controller_elects_leader", _elected)),)),
    MapLine("controller_removal_conflicts", REFUSED),
    MapLine("controller_removal_is_fenced", REFUSED),
    MapLine("controller_issues_leader_and_isr",
         "the epoch's request again; only a leader that came back finds another ISR in it",
         (_maps_to("controller_resends_state", lambda e: {}, _is_sent_again),)),
    MapLine("leader_and_isr_is_lost", CHANGES_NO_ROLE),
    # how brokers take them
    MapLine("broker_becomes_leader", "again if it has the epoch already, from before it crashed",
         ((Alternative("broker_leads_again", _same_argument("broker"),
                       lambda e: e.there.replica[e["broker"]].epoch == e["epoch"]),
           Alternative("broker_becomes_leader",
                       lambda e: {"broker": e["broker"], "epoch": e["epoch"]})),)),
    MapLine("broker_becomes_follower",
         "with an empty log it need not ask where to cut, on both sides",
         (_maps_to("broker_becomes_follower",
              lambda e: {"broker": e["broker"], "epoch": e["epoch"]}),)),
    MapLine("leaderless_request_is_ignored", CHANGES_NO_ROLE),
    MapLine("older_controller_is_refused", CHANGES_NO_ROLE),
    MapLine("older_epoch_is_refused", CHANGES_NO_ROLE),
    # truncation
    MapLine("follower_sends_epoch_request", QUESTION),
    MapLine("leader_answers_epoch",
         "the answer and the follower's log say where it will cut: its log waits for the answer",
         ((Alternative("leader_answers_unknown_epoch", _cut_of, _is_shown(again=True)),
           Alternative("leader_answers_truncation_offset", _cut_of, _is_shown(again=False))),)),
    MapLine("leader_refuses_epoch", QUESTION),
    MapLine("follower_truncates", "done, or not",
         ((Alternative("follower_truncates_and_asks_again", _same_argument("follower"),
                       lambda e: e.after.replica[e["follower"]].truncating),
           Alternative("follower_truncates", _same_argument("follower"))),)),
    MapLine("epoch_answer_is_ignored", IGNORED),
    # records
    MapLine("leader_appends", "acks are the producer's affair", APPENDS),
    MapLine("leader_appends_acks_all", "acks are the producer's affair", APPENDS),
    MapLine("leader_answers_not_enough_replicas", CLIENT),
    MapLine("leader_acknowledges", CLIENT),
    MapLine("leader_acknowledges_acks_all", CLIENT),
    MapLine("leader_answers_not_enough_replicas_after_append", CLIENT),
    MapLine("consumer_reads", CLIENT),
    MapLine("follower_sends_fetch", "the furthest offset says all",
         (_maps_to("follower_sends_fetch", _same_argument("broker")),)),
    MapLine("leader_answers_fetch",
         "one answer on one side, three things that arrive each by itself on the other",
         ANSWERED),
    MapLine("leader_answers_fetch_in_session",
         "up to 2.4 the same, in another epoch than the request's", ANSWERED),
    MapLine("leader_refuses_fetch", "the request stays sent there, and may still arrive"),
    MapLine("follower_appends", "the record, then the high watermark",
         (_maps_to("follower_appends", lambda e: {"broker": e["follower"], "record": _slot(e).id},
              lambda e: _slot(e).has_record),
          _maps_to("follower_takes_hw",
              lambda e: {"broker": e["follower"], "hw": e.after.replica[e["follower"]].hw},
              _takes_hw))),
    MapLine("fetch_answer_is_ignored", IGNORED),
    MapLine("fetch_is_lost",
         "an answer about epochs is lost there too; all else stays, and may still arrive",
         (_maps_to("epoch_answer_is_lost", _same_argument("follower"), _is_lost),)),
    MapLine("leader_advances_hw",
         "or nothing: after a restart it may rise to what the proof's form never let fall",
         (_maps_to("leader_advances_hw",
              lambda e: {"broker": e["broker"], "end": e.after.replica[e["broker"]].hw},
              lambda e: e.after.replica[e["broker"]].hw > e.there.replica[e["broker"]].hw),)),
    # ISR writes
    MapLine("leader_shrinks_isr", "sent and executed at once", (SMALLER, EXECUTED)),
    MapLine("leader_shrink_is_refused", "sent; that it is refused counts when it is heard",
         (SMALLER,)),
    MapLine("leader_expands_isr", "sent and executed at once", (LARGER, EXECUTED)),
    MapLine("leader_expand_is_refused", "sent; that it is refused counts when it is heard",
         (LARGER,)),
    MapLine("leader_learns_isr_is_written", "the same",
         (_maps_to("isr_write_response_arrives", _of_its_epoch),)),
    MapLine("isr_answer_is_lost", "the same", (_maps_to("isr_answer_is_lost", _of_its_epoch),)),
    MapLine("leader_finds_isr_written",
         "its own write, whose answer was lost; or an earlier one that it had given up", (FOUND,)),
    MapLine("leader_learns_isr_is_refused",
         "refused indeed, or executed and the answer lost: it cannot tell", (GONE_ON,)),
    MapLine("leader_gives_up_isr_write", "the session ended before it could look: the same two",
         (GONE_ON,)),
)
# fmt: on

WITHOUT_LINE = {
    "broker_crashes_losing_unflushed_records": "a log survives the crash of its broker",
    "broker_starts_empty": "a disk loses nothing that was written",
    "broker_fails_while_becoming_follower": "epoch and role are taken together",
    "broker_checkpoints_without_partition": "a checkpoint lacks no partition",
    "elected_broker_assumes_another_controller": "a winner that looks for itself finds itself",
}
"""Transitions of switches outside of the refinement, and what the proof assumes instead."""
