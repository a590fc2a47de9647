"""Rules about ZooKeeper's transaction log, for checks that need the order of all writes.

**A reassignment request is seen.** Its znode is created while a controller watches for it, so that
the session of that controller is notified, and notifications come in the order of zxids. A
controller queues every notification (up to 0.10: one client thread runs the listeners), and the
event of a request writes at once, in every release: the topic's assignment, the partition's state
with the next leader epoch, or the request itself without what was refused. So when a later event
was handled, this one was due too, if it was queued before that one:

- A notification of an ISR change, deleted by the controller. Children of `/isr_change_notification`
  are read, and so watched, by that event alone; one may have been queued when the request came, and
  have read what came later; the next was queued behind the request.
- A topic, whose `partitions` the controller creates (since 2.4). Up to 2.3 other threads of the
  broker set the watch on `/brokers/topics` as well, whenever they list the topics, and several such
  events may have been queued before the request's. They are counted: each needs a topic created or
  deleted, and each topic handled that was created after the previous event had been used one up.

If somebody else deleted a znode, its watch was deleted too: the next request need not be seen.
The moves themselves may wait for replicas as long as they like.

**Controller epochs.** `/controller_epoch` rises by one with its version, and a controller's write
of a partition carries the epoch that is registered there. Up to 2.0 nothing kept a deposed
controller from writing (KAFKA-6082).

The model's events have no zxid: only this log shows which of two was queued first.

Sources: `KafkaController.processPartitionReassignment`, `maybeTriggerPartitionReassignment`,
`removePartitionsFromReassignedPartitions`, `processTopicChange`, `processIsrChangeNotification`,
`ControllerEventManager`, `ZooKeeperClient.shouldWatch` at 1.1.1, 2.3.1, 2.8.2; `ZkClient` and the
listeners of `KafkaController` and `PartitionStateMachine` at 0.10.2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from conformance.ingest.znode_rows import STATE_WRITTEN
from conformance.pipeline.request_rows import release_number
from conformance.pipeline.rule_context import RuleContext
from conformance.pipeline.rules import (
    CONTROLLER_EPOCHS_STRICTLY_GROW,
    EPOCH_VERSION,
    ONE_CLUSTER,
    REQUEST_SEEN,
    FindingKind,
)
from conformance.pipeline.znodes import Operation, ZnodeHistory

CONTROLLER, EPOCH, MIGRATION = "/controller", "/controller_epoch", "/migration"
REQUEST = "/admin/reassign_partitions"
_TOPIC = re.compile(r"/brokers/topics/([^/]+)")
_MADE = re.compile(r"/brokers/topics/([^/]+)/partitions(?:/.*)?")
_NOTIFICATION = re.compile(r"/isr_change_notification/([^/]+)")
_WATCHED_ALONE = (2, 4)  # from here on only the controller's own events watch the list of topics
_NAMED = 3


def check(context: RuleContext, release: str | None) -> None:
    """Checks each cluster in this ZooKeeper, from one gap of the log to the next."""
    known = ZnodeHistory(context.history.transactions)
    mixed = known.mixed()
    if mixed is not None:
        context.report(
            FindingKind.NOT_JUDGED,
            ONE_CLUSTER,
            mixed[1],
            f"the transactions of two ZooKeepers lie together: {mixed[1].offset:#x} is another one "
            f"at {mixed[0].where}; nothing of them is judged. Put each into a folder of its own",
        )
        return
    for root in known.roots():
        keeper = _Keeper(context, release)
        stretch = None
        for one in known.operations:
            if one.root != root and one.op != "Close":
                continue
            if one.op == "Close" and stretch is None:
                continue
            here = known.stretches.of(one.zxid)
            if stretch is not None and here != stretch:
                keeper.end()
                keeper = _Keeper(context, release)
            stretch = here
            if keeper.kraft(one):
                break
            keeper.take(one)
        keeper.end()


@dataclass
class _OperatorsRequest:
    """A pending reassignment request, and the events handled since."""

    made: Operation
    partitions: dict[str, set[int]]
    topics: _EventsHandledSince
    notifications: _EventsHandledSince
    is_reported: bool = False


@dataclass
class _EventsHandledSince:
    """Later events that were handled one after another: each began when the previous was over.

    `ahead`: how many of their kind may have been queued before the request's; None if not counted.
    """

    since: int
    ahead: int | None = None
    acts: list[tuple[Operation, Operation]] = field(default_factory=list)

    def take(self, cause: Operation, act: Operation, ahead: int) -> None:
        """Notes an event as handled if its cause came after the previous one was handled."""
        if cause.zxid > self.since:
            if self.ahead is None:
                self.ahead = ahead
            self.acts.append((cause, act))
            self.since = act.zxid

    @property
    def sure(self) -> bool:
        """Whether the last of them was queued behind the request."""
        return self.ahead is not None and len(self.acts) > self.ahead


class _Keeper:
    """One cluster's znodes, from one gap in the transactions to the next."""

    def __init__(self, context: RuleContext, release: str | None) -> None:
        self.context = context
        self.alone = release is not None and release_number(release) >= _WATCHED_ALONE
        self.controller: Operation | None = None
        self.request: _OperatorsRequest | None = None
        self.unwatched = False
        self.queued = 1
        self.last_topic = 0
        self.topics: dict[str, Operation] = {}
        self.moving: set[str] = set()
        self.notifications: dict[str, Operation] = {}
        self.epoch: tuple[int, Operation] | None = None
        self.leader_epochs: dict[tuple[str, int], int] = {}

    def kraft(self, one: Operation) -> bool:
        """Whether KRaft's controllers write from here on (KIP-866)."""
        if one.path == CONTROLLER and one.op != "Delete":
            data = one.data
            return isinstance(data, dict) and data.get("kraftControllerEpoch", -1) not in (-1, None)
        return one.path == MIGRATION

    def take(self, one: Operation) -> None:
        """Takes in the next operation."""
        if one.op == "Close" or one.path == CONTROLLER:
            self._controllership(one)
        elif one.path == EPOCH:
            self._epoch(one)
        elif one.path == REQUEST:
            self._requested(one)
        elif one.event.kind == STATE_WRITTEN:
            self._state(one)
        topic = _TOPIC.fullmatch(one.path)
        if topic:
            (self.moving.add if one.fields.get("moves") else self.moving.discard)(topic[1])
        if self.controller is None or one.op == "Close":
            return
        own = one.session == self.controller.session
        if own and self.request is not None and self._is_for(self.request, one):
            self.context.looked(REQUEST_SEEN)
            self.request = None
        if topic:
            self._topic(topic[1], one)
        elif (made := _MADE.fullmatch(one.path)) and own and one.op == "Create":
            self._topic_made(made[1], one)
        elif notification := _NOTIFICATION.fullmatch(one.path):
            self._notified(notification[1], one, own)

    def end(self) -> None:
        """Ends the known operations."""
        self._controller_lost()

    # --- who is the controller

    def _controllership(self, one: Operation) -> None:
        if one.op == "Close":
            if self.controller is not None and one.session == self.controller.session:
                self._controller_lost()
                self.controller = None
            return
        self._controller_lost()
        data = one.data
        ours = one.op == "Create" and one.fields.get("ephemeral") and isinstance(data, dict)
        self.controller = one if ours else None
        self.unwatched, self.queued, self.last_topic = False, 1, one.zxid
        self.topics.clear()
        self.notifications.clear()

    def _controller_lost(self) -> None:
        """The controller resigned or lost its session, or nothing more is known of it."""
        if self.request is not None:
            self._undecided(self.request)
        self.request = None

    # --- requests for moves

    def _requested(self, one: Operation) -> None:
        if self.controller is None:
            return
        own = one.session == self.controller.session
        if one.op == "Create" and not own:
            partitions = _partitions_of(one.data)
            judged = partitions and not self.unwatched and one.fields.get("readable", True)
            # What is on its way there already need not be written.
            judged = judged and not self.moving & set(partitions)
            since = one.zxid
            if judged:
                self.request = _OperatorsRequest(
                    one, partitions, _EventsHandledSince(since), _EventsHandledSince(since)
                )
            return
        if not own:
            if self.request is not None:
                self._undecided(self.request)
            self.request = None
        # The controller sets the watch again when it has written; else nobody does.
        self.unwatched = not own and (one.op == "Delete" or self.unwatched)

    @staticmethod
    def _is_for(request: _OperatorsRequest, one: Operation) -> bool:
        """Whether a controller's write may result from the request."""
        if one.path == REQUEST:
            return True
        event = one.event
        if event.kind == STATE_WRITTEN:
            return (event.partition or 0) in request.partitions.get(event.topic or "", ())
        topic = _TOPIC.fullmatch(one.path)
        return topic is not None and topic[1] in request.partitions

    def _topic(self, name: str, one: Operation) -> None:
        """A topic is created or deleted: ZooKeeper notifies whoever watches the list of topics."""
        if one.op == "Create":
            self.topics[name] = one
        elif one.op == "Delete":
            self.topics.pop(name, None)
        if one.op in ("Create", "Delete"):
            self.queued += 1

    def _topic_made(self, name: str, one: Operation) -> None:
        """The controller creates a topic's partitions: it has read the list of topics since."""
        cause = self.topics.pop(name, None)
        if cause is None:
            return
        if self.request is not None:
            self._go_on(self.request, self.request.topics, cause, one, self.queued)
        if cause.zxid > self.last_topic:
            self.last_topic = one.zxid
            self.queued = max(0, self.queued - 1)

    def _notified(self, name: str, one: Operation, own: bool) -> None:
        if one.op == "Create":
            self.notifications[name] = one
        elif one.op == "Delete":
            cause = self.notifications.pop(name, None)
            if cause is not None and own and self.request is not None:
                self._go_on(self.request, self.request.notifications, cause, one, 1)

    def _go_on(
        self,
        request: _OperatorsRequest,
        rounds: _EventsHandledSince,
        cause: Operation,
        act: Operation,
        ahead: int,
    ) -> None:
        rounds.take(cause, act, 1 if self.alone else ahead)
        if rounds.sure and not request.is_reported:
            request.is_reported = True
            self.context.looked(REQUEST_SEEN)
            later = rounds.acts[-1]
            self.context.report(
                FindingKind.VIOLATION,
                REQUEST_SEEN,
                request.made.event,
                f"{self._missed(request)}, which was queued behind it, at {later[1].event.where}: "
                "the request was not seen" + self._lines_about(later[0]),
            )

    def _undecided(self, request: _OperatorsRequest) -> None:
        """The request is pending, and the log or the controllership ends."""
        if request.is_reported or not (request.topics.acts or request.notifications.acts):
            return
        self.context.looked(REQUEST_SEEN)
        acts = [*request.topics.acts, *request.notifications.acts]
        self.context.report(
            FindingKind.INCOMPLETE,
            REQUEST_SEEN,
            request.made.event,
            f"{self._missed(request)}, at {acts[-1][1].event.where}; that may have been queued "
            "before the request",
        )

    def _missed(self, request: _OperatorsRequest) -> str:
        controller = self.controller
        assert controller is not None
        acts = sorted(
            (*request.topics.acts, *request.notifications.acts), key=lambda each: each[1].zxid
        )
        named = [f"{each.path.rpartition('/')[2]} ({each.zxid:#x})" for each, _ in acts[-_NAMED:]]
        return (
            f"{_text(request.partitions)}: requested in transaction {request.made.zxid:#x}, while "
            f"broker {controller.data.get('brokerid')} was the controller (since "
            f"{controller.zxid:#x}, {controller.event.where}); its session wrote nothing for it, "
            f"and has dealt with what came later: {', '.join(named)}"
        )

    def _lines_about(self, later: Operation) -> str:
        """Says where the controller's own log shows a later topic; "" if that log is not here."""
        name = later.path.rpartition("/")[2]
        controller = self.controller
        broker = controller.data.get("brokerid") if controller is not None else None
        for event in self.context.history.events:
            fits = event.kind == "topics_changed" and event.broker in (broker, None)
            if fits and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", event.detail or ""):
                return f"; its log tells of {name} at {event.where}, and of no move"
        return ""

    # --- controller epochs

    def _epoch(self, one: Operation) -> None:
        data, version = one.data, one.event.version
        if one.op == "Delete" or not isinstance(data, int) or version is None:
            self.epoch = None
            return
        if self.epoch is not None and one.op == "SetData":
            before, where = self.epoch
            self.context.looked(EPOCH_VERSION)
            if data != before + 1:
                self.context.report(
                    FindingKind.VIOLATION,
                    EPOCH_VERSION,
                    one.event,
                    f"/controller_epoch is {data} under version {version} (transaction "
                    f"{one.zxid:#x}), and was {before}, at {where.event.where}",
                    f"controller epoch {before + 1}",
                )
        self.epoch = data, one

    def _state(self, one: Operation) -> None:
        event = one.event
        tp, epoch, under = event.tp, event.leader_epoch, event.state_epoch
        if tp is None or epoch is None or under is None:
            return
        before = None if one.op == "Create" else self.leader_epochs.get(tp)
        self.leader_epochs[tp] = epoch
        if self.epoch is None:
            return
        newest, where = self.epoch
        of_controller = one.op == "Create" or (before is not None and epoch > before)
        if not of_controller and under <= newest:
            return  # a leader writes under the epoch of the controller that it obeys
        self.context.looked(CONTROLLER_EPOCHS_STRICTLY_GROW)
        if under == newest:
            return
        what = (
            f"{tp[0]}-{tp[1]}: written under controller epoch {under} in transaction "
            f"{one.zxid:#x}, and /controller_epoch is {newest} since {where.zxid:#x}, at "
            f"{where.event.where}"
        )
        kind, why = FindingKind.VIOLATION, ""
        if under < newest and not self.context.history.fenced:
            known = self.context.history.oldest_release > (0,)
            kind = FindingKind.EXPLAINED if known else FindingKind.INCOMPLETE
            why = "; up to 2.0 nothing keeps a deposed controller from writing (KAFKA-6082)"
        self.context.report(
            kind, CONTROLLER_EPOCHS_STRICTLY_GROW, event, what + why, f"controller epoch {newest}"
        )


def _partitions_of(data: Any) -> dict[str, set[int]]:
    """The partitions of a request by topic; none if a controller may ignore the request."""
    found: dict[str, set[int]] = {}
    try:
        for each in data["partitions"]:
            topic, partition, replicas = each["topic"], each["partition"], each["replicas"]
            numbers = [partition, *replicas]
            fine = isinstance(topic, str) and all(type(one) is int and one >= 0 for one in numbers)
            if not fine or len(numbers) < 2 or len(set(replicas)) < len(replicas):
                return {}
            found.setdefault(topic, set()).add(partition)
    except (TypeError, KeyError):
        return {}
    return found


def _text(partitions: dict[str, set[int]]) -> str:
    names = [f"{topic}-{one}" for topic in sorted(partitions) for one in sorted(partitions[topic])]
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
