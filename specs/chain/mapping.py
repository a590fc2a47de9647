"""The map: what each transition of `replication` is, in `replication_history`.

A line names the abstract steps that a transition may be, in the order in which they are taken (any
of them may be left out), how their parameters are read off, and why that is so. No step: a
stutter, the proof's form does not see it. What has no line has no counterpart there at all: the
switches that allow it are outside of the chain.

History variables are those of the proof's form itself: the histories of epochs, what was asked,
sent and told, the offices of leaders that are gone. They are not computed from a state, but follow
by the abstract steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from specs.chain.view import View

Step = tuple[str, tuple[tuple[str, object], ...]]
"""An abstract step and its parameters, by name."""


class Edge(Protocol):
    """One step of `replication`: the state before and after it, its parameters, and `seen`, the
    state of the proof's form before it."""

    now: View
    after: View
    seen: View

    def __getitem__(self, parameter: str) -> Any: ...

    def then(self, step: str, **parameters: int) -> View:
        """The state after one more step, which must be possible."""
        ...


@dataclass(frozen=True)
class Line:
    """What one transition is: `steps` by name in order, `read` with their parameters, and why."""

    transition: str
    steps: tuple[str, ...]
    why: str
    read: Callable[[Edge], list[Step]]


def do(step: str, **parameters: object) -> Step:
    """An abstract step; a frozenset is a set of brokers, a record is named from 1."""
    return step, tuple(parameters.items())


def waits(now: View, follower: int, leader: int) -> bool:
    """Does the follower still look for where to cut, in the epoch in which it asked that leader?"""
    return bool(
        now["replica.role", follower] == "follower"
        and now["replica.leader", follower] == leader
        and now["replica.truncating", follower]
        and now["replica.epoch", follower] == now["fetch.epoch", follower, leader]
    )


def kept(now: View, broker: int) -> int:
    """The high watermark that a broker would start with: its checkpoint, within its log."""
    return int(min(now["replica.checkpoint", broker], now["log.end", broker]))


# -- controllers and their orders -----------------------------------------------------------------


def _elects(e: Edge) -> list[Step]:
    return [
        do("controller_elects_leader", leader=e.after["zk.leader"], isr=e.after.members("zk.isr"))
    ]


def _removes(e: Edge) -> list[Step]:
    if e.after["zk.leader"] is None:
        return [do("controller_leaves_it_leaderless", isr=e.after.members("zk.isr"))]
    return _elects(e)


def _informs(e: Edge) -> list[Step]:
    told = e["replica"]
    back = e.seen["replica.role", told] == "down"
    mine = e.seen["replica.epoch", told] == e.now["zk.leader_epoch"]
    if told == e.now["zk.leader"] and back and mine:
        return [do("controller_repeats_the_state")]
    return []


def _becomes_leader(e: Edge) -> list[Step]:
    if e.seen["replica.epoch", e["broker"]] == e["epoch"]:
        return [do("broker_leads_again", broker=e["broker"])]
    return [do("broker_becomes_leader", broker=e["broker"], epoch=e["epoch"])]


def _becomes_follower(e: Edge) -> list[Step]:
    return [do("broker_becomes_follower", broker=e["broker"], epoch=e["epoch"])]


def _crashes(e: Edge) -> list[Step]:
    return [do("broker_crashes", broker=e["broker"], hw=kept(e.now, e["broker"]))]


# -- truncation -----------------------------------------------------------------------------------


def _answers_epoch(e: Edge) -> list[Step]:
    leader, follower = e["leader"], e["follower"]
    if not waits(e.now, follower, leader):
        return []
    cut = e.then("follower_truncates", follower=follower, leader=leader)
    asks_again = cut["replica.truncating", follower]
    name = "leader_shows_an_older_epoch" if asks_again else "leader_shows_the_cut"
    return [do(name, leader=leader, follower=follower, cut=cut["log.end", follower])]


def _truncates(e: Edge) -> list[Step]:
    asks_again = e.after["replica.truncating", e["follower"]]
    name = "follower_truncates_and_asks_again" if asks_again else "follower_truncates"
    return [do(name, follower=e["follower"])]


def _loses(e: Edge) -> list[Step]:
    follower, leader = e["follower"], e["leader"]
    answered = e.now["fetch.state", follower, leader] == "epoch_is_answered"
    if answered and waits(e.now, follower, leader):
        return [do("epoch_answer_is_lost", follower=follower)]
    return []


# -- records --------------------------------------------------------------------------------------


def _appends(e: Edge) -> list[Step]:
    return [do("leader_appends", broker=e["broker"], record=e.now["next_record"] + 1)]


def _asks(e: Edge) -> list[Step]:
    return [do("follower_asks_records", broker=e["broker"])]


def _answers_fetch(e: Edge) -> list[Step]:
    leader, follower = e["leader"], e["follower"]
    offset = e.now["fetch.offset", follower, leader]
    epoch = e.now["fetch.epoch", follower, leader]
    steps = [do("leader_learns_end", broker=leader, follower=follower, epoch=epoch, end=offset)]
    if e.after["fetch.has_record", follower, leader]:
        steps.append(do("leader_sends_record", broker=leader, offset=offset))
    return [*steps, do("leader_sends_hw", broker=leader)]


def _follower_appends(e: Edge) -> list[Step]:
    follower, leader = e["follower"], e["leader"]
    steps = []
    if e.now["fetch.has_record", follower, leader]:
        record = e.now["fetch.id", follower, leader] + 1
        steps.append(do("follower_appends", broker=follower, record=record))
    taken = e.after["replica.hw", follower]
    # Below the checkpoint it would rise again by a restart: it is kept where it was.
    if taken >= kept(e.after, follower) and taken != e.seen["replica.hw", follower]:
        steps.append(do("follower_takes_hw", broker=follower, hw=taken))
    return steps


def _advances(e: Edge) -> list[Step]:
    end = e.after["replica.hw", e["broker"]]
    if end > e.seen["replica.hw", e["broker"]]:
        return [do("leader_advances_hw", broker=e["broker"], end=end)]
    return []


# -- ISR writes -----------------------------------------------------------------------------------


def _sends_smaller(e: Edge) -> list[Step]:
    isr = e.after.members("isr_write.isr", e["leader"])
    return [do("leader_shrinks_isr", broker=e["leader"], isr=isr)]


def _sends_larger(e: Edge) -> list[Step]:
    return [do("leader_expands_isr", broker=e["leader"], follower=e["replica"])]


def _of_office(*steps: str) -> Callable[[Edge], list[Step]]:
    """Steps of the office that the leader holds."""
    return lambda e: [do(step, epoch=e.now["replica.epoch", e["leader"]]) for step in steps]


def _by_write(**names: str) -> Callable[[Edge], list[Step]]:
    """A step of the leader's office, by what has become of its ISR write there."""

    def read(e: Edge) -> list[Step]:
        epoch = e.now["replica.epoch", e["leader"]]
        first = next(iter(names.values()))  # where none fits: its guard says what is wrong
        return [do(names.get(e.seen["office.write", epoch], first), epoch=epoch)]

    return read


def _both(
    first: Callable[[Edge], list[Step]], second: Callable[[Edge], list[Step]]
) -> Callable[[Edge], list[Step]]:
    """One after the other."""
    return lambda e: [*first(e), *second(e)]


def _nothing(_: Edge) -> list[Step]:
    return []


EXECUTED = _of_office("isr_write_is_executed")
GONE_ON = _by_write(sent="isr_write_is_refused", unanswered="leader_gives_up_isr_write")
FOUND = _by_write(sent="leader_finds_isr_registered", unanswered="leader_reads_its_isr_back")

OFFICE = "who is the controller is election's affair; here only its writes count"
REFUSED = "nothing changes: the controller forgets what it read, or resigns"
UNHEARD = "a request that moves nobody: what was sent stays sent, and may still arrive"
CLIENT = "what clients are told and read is below the high watermark that the proof speaks of"
QUESTION = "a question is no message in the proof's form; its answer says all"
IGNORED = "the answer was for what the follower no longer is: it was dropped with its epoch"
SESSION = "sessions are election's affair; a leader without one writes no ISR"


def _stutter(transition: str, why: str) -> Line:
    return Line(transition, (), why, _nothing)


# fmt: off
LINES = (
    # lifecycle
    Line("broker_crashes", ("broker_crashes",),
         "the high watermark falls to the checkpoint at once, not when the process is back",
         _crashes),
    _stutter("session_expires", SESSION),
    _stutter("broker_starts", "down until it is told of the partition; its HW fell at the crash"),
    _stutter("broker_reconnects", SESSION),
    _stutter("broker_checkpoints_hw", "to which older value it falls is chosen at the crash"),
    # the controller's office
    _stutter("broker_becomes_controller", OFFICE),
    _stutter("reply_is_lost", OFFICE),
    _stutter("broker_learns_it_won", OFFICE),
    _stutter("broker_finds_it_moved", OFFICE),
    _stutter("controller_resigns", OFFICE),
    _stutter("controller_node_is_deleted", OFFICE),
    _stutter("controller_reads_partition", "what it read counts when it writes, by the version"),
    # its writes and orders
    Line("controller_elects_leader", ("controller_elects_leader",),
         "the fenced, conditional write and its requests are one step on both sides", _elects),
    _stutter("controller_election_conflicts", REFUSED),
    _stutter("controller_election_is_fenced", REFUSED),
    Line("controller_removes_replica",
         ("controller_elects_leader", "controller_leaves_it_leaderless"),
         "a next epoch with a smaller ISR, under the same leader or under none", _removes),
    _stutter("controller_removal_conflicts", REFUSED),
    _stutter("controller_removal_is_fenced", REFUSED),
    Line("controller_informs", ("controller_repeats_the_state",),
         "the epoch's request again; only a leader that came back finds another ISR in it",
         _informs),
    _stutter("request_is_lost", UNHEARD),
    # how brokers take them
    Line("broker_becomes_leader", ("broker_becomes_leader", "broker_leads_again"),
         "again if it has the epoch already, from before it crashed", _becomes_leader),
    Line("broker_becomes_follower", ("broker_becomes_follower",),
         "with an empty log it need not ask where to cut, on both sides", _becomes_follower),
    _stutter("leaderless_request_is_ignored", UNHEARD),
    _stutter("older_controller_is_refused", UNHEARD),
    _stutter("older_epoch_is_refused", UNHEARD),
    # truncation
    _stutter("follower_asks_epoch", QUESTION),
    Line("leader_answers_epoch", ("leader_shows_the_cut", "leader_shows_an_older_epoch"),
         "the answer and the follower's log say where it will cut: its log waits for the answer",
         _answers_epoch),
    _stutter("leader_refuses_epoch", QUESTION),
    Line("follower_truncates", ("follower_truncates", "follower_truncates_and_asks_again"),
         "done, or not", _truncates),
    _stutter("epoch_answer_is_ignored", IGNORED),
    # records
    Line("leader_appends", ("leader_appends",), "acks are the producer's affair", _appends),
    Line("leader_appends_for_isr", ("leader_appends",), "acks are the producer's affair", _appends),
    _stutter("leader_has_too_few_in_sync", CLIENT),
    _stutter("leader_acknowledges", CLIENT),
    _stutter("leader_acknowledges_for_isr", CLIENT),
    _stutter("leader_is_left_with_too_few", CLIENT),
    _stutter("consumer_reads", CLIENT),
    Line("follower_asks_records", ("follower_asks_records",), "the furthest offset says all",
         _asks),
    Line("leader_answers_fetch", ("leader_learns_end", "leader_sends_record", "leader_sends_hw"),
         "one answer on one side, three things that arrive each by itself on the other",
         _answers_fetch),
    _stutter("leader_refuses_fetch", "the request stays sent there, and may still arrive"),
    Line("follower_appends", ("follower_appends", "follower_takes_hw"),
         "the record, then the high watermark", _follower_appends),
    _stutter("fetch_answer_is_ignored", IGNORED),
    Line("fetch_is_lost", ("epoch_answer_is_lost",),
         "an answer about epochs is lost there too; all else stays, and may still arrive", _loses),
    Line("leader_advances_hw", ("leader_advances_hw",),
         "or nothing: after a restart it may rise to what the proof's form never let fall",
         _advances),
    # ISR writes
    Line("leader_shrinks_isr", ("leader_shrinks_isr", "isr_write_is_executed"),
         "sent and executed at once", _both(_sends_smaller, EXECUTED)),
    Line("leader_shrink_is_refused", ("leader_shrinks_isr",),
         "sent; that it is refused counts when it is heard", _sends_smaller),
    Line("leader_expands_isr", ("leader_expands_isr", "isr_write_is_executed"),
         "sent and executed at once", _both(_sends_larger, EXECUTED)),
    Line("leader_expand_is_refused", ("leader_expands_isr",),
         "sent; that it is refused counts when it is heard", _sends_larger),
    Line("leader_learns_isr_is_written", ("isr_write_is_heard",), "the same",
         _of_office("isr_write_is_heard")),
    Line("isr_answer_is_lost", ("isr_answer_is_lost",), "the same",
         _of_office("isr_answer_is_lost")),
    Line("leader_finds_isr_written", ("leader_reads_its_isr_back", "leader_finds_isr_registered"),
         "its own write, whose answer was lost; or an earlier one that it had given up", FOUND),
    Line("leader_learns_isr_is_refused", ("isr_write_is_refused", "leader_gives_up_isr_write"),
         "refused indeed, or executed and the answer lost: it cannot tell", GONE_ON),
    Line("leader_gives_up_isr_write", ("isr_write_is_refused", "leader_gives_up_isr_write"),
         "the session ended before it could look: the same two", GONE_ON),
)
# fmt: on

MAP: dict[str, Line] = {line.transition: line for line in LINES}

WITHOUT_LINE = {
    "broker_crashes_and_loses_its_tail": "a log survives the crash of its broker",
    "broker_starts_empty": "a disk loses nothing that was written",
    "broker_fails_half_way": "epoch and role are taken together",
    "broker_checkpoints_what_it_hosts": "a checkpoint lacks no partition",
    "winner_takes_itself_for_another": "a winner that looks for itself finds itself",
}
"""Transitions of switches outside of the chain, and what the proof assumes instead."""
