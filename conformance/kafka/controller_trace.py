"""The trace of a real broker as controller: events, reads of registrations, requests.

A controller's event thread logs what it does about an event, and each channel's thread what it
sends. A request enters a channel where the event thread first names it; the channel's thread logs
the correlation ids of each sending, and the content. Up to 2.5 only the channel's thread logs
requests that name no partition: they are placed where the controller makes such requests.

An event without an effect has no log line, so only events with an effect are traced
(`UNSEEN_OF_CONTROLLERS`). The log says which registrations a controller read; ZooKeeper's own log
says from which zxid on that can have been read.

Source: `KafkaController`, `ControllerChannelManager` (its `RequestSendThread`, and
`sendRequestsToBrokers`).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.kafka.protocol_log import LogLine, ids_in
from conformance.kafka.proxied_requests import ProxiedRequests
from impl.znodes import paths

UNSEEN_OF_CONTROLLERS = (
    "event_begun: events of which nothing came",
    "event_done: where an event is over, but for those that failed",
    "request_sent: UpdateMetadata without partitions that was never sent (up to 2.5)",
)

THREAD = "controller-event-thread"
Event = tuple[str, dict[str, Any]]
Placed = tuple[float, Event]
"""An event, and where it stands: between two lines of the log, by their numbers."""
History = Sequence[tuple[int, dict[int, int]]]
"""From each zxid on: who is registered -> the zxid of the registration."""

_KINDS = {"UPDATE_METADATA": "UpdateMetadata", "LEADER_AND_ISR": "LeaderAndIsr",
          "STOP_REPLICA": "StopReplica"}  # fmt: skip
_ELECTED = re.compile(r"successfully elected as the controller\. Epoch incremented to (\d+)")
_INITIAL = re.compile(r"Initialized broker epochs cache: \w+\((.*)\)$")
_CHANGED = re.compile(
    r"Newly added brokers: ([\d,]*), deleted brokers: ([\d,]*), bounced brokers: ([\d,]*), "
    r"all live brokers: ([\d,]*)"
)
_CONNECTS = re.compile(r"Controller \d+ trying to connect to broker (\d+)")
_ORDERS = re.compile(
    r"Sending become-(?:leader|follower) LeaderAndIsr request .*leaderEpoch=(-?\d+), .*"
    r"zkVersion=(-?\d+), .*isNew=(\w+)\) to broker (\d+) for partition (\S+-\d+)"
)
_TELLS = re.compile(
    r"Sending UpdateMetadata request \w+\(.*leaderEpoch=(-?\d+), .*zkVersion=(-?\d+), .* to "
    r"brokers \w+\(([\d, ]*)\) for partition (\S+-\d+)"
)
_TELLS_ALL = re.compile(r"Sending UpdateMetadata request to brokers \w+\(([\d, ]*)\) for (\d+) ")
_STOPS = re.compile(
    r"Sending StopReplica request StopReplicaPartitionState\(.*deletePartition=(\w+)\) to broker "
    r"(\d+) for partition (\S+-\d+)"
)
_LEAVES = re.compile(r"Shutting down broker (\d+)")
_LEADERS = re.compile(r"All leaders = (.*)")
_LEADS = re.compile(r"(\S+-\d+) -> \(Leader:(-?\d+),")
_FAILS = re.compile(r"Error processing event (\w+)")
_SENDS = re.compile(
    r"targetBrokerId=(\d+)\] Sending (UPDATE_METADATA|LEADER_AND_ISR|STOP_REPLICA) "
)
_ANSWERED = re.compile(r"Received response .* with correlation id (\d+) sent to broker")
_NUMBER = re.compile(r"correlationId=(\d+)|correlation id (\d+) to node")
_REGISTRATION = re.compile(r"broker_?[eE]poch=(-?\d+)")
_PARTS = re.compile(
    r"(?:\btopic(?:_name)?=([^,{}\[\]]+),partition_states=)|"
    r"\{partition(?:_index)?=(\d+),controller_epoch=-?\d+,leader=-?\d+,leader_epoch=(-?\d+),"
    r"isr=\[[^\]]*\],zk_version=(-?\d+)|"
    r"topicName='([^']*)', partitionIndex=(\d+), controllerEpoch=-?\d+, leader=-?\d+, "
    r"leaderEpoch=(-?\d+), isr=\[[^\]]*\], zkVersion=(-?\d+)"
)
_LIVE = re.compile(r"\{id=(\d+),end_?points=|UpdateMetadataBroker\(id=(\d+),")
_STOPPED_ALL = re.compile(r"delete_?[pP]artitions=(true|false)")
_STOPPED = re.compile(
    r"\btopic(?:_name)?=([^,{}\[\]]+),partition(?:_id)?s?=\[?(\d[\d, ]*)|"
    r"topic(?:Name)?='([^']*)', partitionInd(?:ex|exes)=\[?(\d[\d, ]*)|"
    r"topicName='([^']*)', partitionStates=\[(.*?)\]\)"
)
_STOPPED_ONE = re.compile(r"partitionIndex=(\d+), leaderEpoch=-?\d+, deletePartition=(\w+)")

_TOPICS = ("New topics: [", "New partitions to be added", "Delete topics listener fired",
           "Starting topic deletion", "Partitions being reassigned", "Handling reassignment",
           "Removing partitions ")  # fmt: skip
_BY_ADMIN = "AdminClientTriggered"


@dataclass(eq=False)
class _LoggedRequest:
    """A request on its way into a channel. ``states`` is None while they are not known."""

    place: float
    kind: str
    to: int
    epoch: int
    states: dict[str, list[int]] | None
    count: int = 0
    new: list[str] = field(default_factory=list)
    stops: dict[str, bool] = field(default_factory=dict)
    live: list[int] | None = None
    registration: int = -1
    numbers: list[int] = field(default_factory=list)

    def is_sent_as(self, sent: _LoggedRequest) -> bool:
        """This may be the request that was sent."""
        if self.kind != sent.kind:
            return False
        if self.states is None:
            return len(sent.states or {}) == self.count
        if self.kind == "StopReplica":
            return self.stops == sent.stops
        return self.states == sent.states


@dataclass
class _BrokerChannel:
    """One life of the channel to a broker: requests put in and requests sent, in order."""

    to: int
    since: float
    put_in: list[_LoggedRequest] = field(default_factory=list)
    sent: list[_LoggedRequest] = field(default_factory=list)
    answered: set[int] = field(default_factory=set)


class ControllerTraceReader:
    """Reads the lines of one start; ``history`` has all registrations, ``questions`` the requests
    that passed the proxies."""

    def __init__(self, broker: int, history: History, questions: ProxiedRequests) -> None:
        self.questions = questions
        self.broker, self.history = broker, history
        self.placed: list[Placed] = []
        self.epoch = -1
        self.zxid = 0  # of what was read last
        self.known: dict[int, int] = {}
        self.starting = False
        self.leaving: list[int] = []
        self.group: list[_LoggedRequest] = []  # whose partitions are being logged
        self.channels: dict[int, _BrokerChannel] = {}
        self.past: list[_BrokerChannel] = []
        self.hidden_at: list[float] = []
        self.leaving_at: list[float] = []
        self.left_at: list[float] = []

    def run(self, lines: Iterable[LogLine]) -> list[Placed]:
        """Returns all events of the controller, each with its place."""
        for line in lines:
            if line.thread == THREAD:
                self._event_thread(line)
            elif line.thread.endswith("-send-thread"):
                self._channel_thread(line)
        self._flush()
        for channel in (*self.past, *self.channels.values()):
            self._match(channel)
        return sorted(self.placed, key=lambda one: one[0])

    def _place_event(self, place: float, step: str, **args: Any) -> None:
        self.placed.append((place, (step, args)))

    # The thread of events

    def _event_thread(self, line: LogLine) -> None:
        text, at = line.text, line.number + 0.5
        if found := _ORDERS.search(text):
            self._orders(found, at)
            return
        if found := _TELLS.search(text):
            self._logs_update_metadata(found, at)
            return
        if found := _STOPS.search(text):
            self._stops(found, at)
            return
        self._flush()
        if found := _TELLS_ALL.search(text):
            self._tells_all(found, at)
        elif found := _ELECTED.search(text):
            self.epoch, self.known, self.starting = int(found[1]), {}, True
        elif found := _CONNECTS.search(text):
            to = int(found[1])
            if to in self.channels:
                self.past.append(self.channels[to])
            self.channels[to] = _BrokerChannel(to, at)
        elif text.endswith("Resigned"):
            self.past += self.channels.values()
            self.channels.clear()
            self.epoch = -1
        elif self.epoch >= 0:
            self._works_on_event(text, at, line.at)

    def _works_on_event(self, text: str, at: float, when: float) -> None:
        if found := _INITIAL.search(text):
            pairs = re.findall(r"(\d+) -> (\d+)", found[1])
            self._reads({int(one): int(epoch) for one, epoch in pairs}, at, when)
        elif found := _CHANGED.search(text):
            new = {*ids_in(found[1]), *ids_in(found[3])}
            self._reads(self._read_as(ids_in(found[4]), new), at, when, paths.BROKER_IDS)
        elif "Sending MetadataRequest to Brokers" in text:
            heard = self.questions.heard_of(self.broker, paths.ISR_CHANGES, when)
            self._begins(at, paths.ISR_CHANGES, heard)
        elif "Processing automatic preferred replica leader election" in text:
            self._begins(at, "AutoPreferredReplicaLeaderElection")
        elif "Starting the controller scheduler" in text:
            self.starting = False
        elif found := re.search(r"Starting .*leader election.* partitions (\S.*)", text):
            self._elects(text, at)
        elif found := re.search(r"Updated broker(?: (\d+)|:)", text):
            self.hidden_at.append(at)
            named = found[1] or next(iter(ids_in(text.partition("Updated broker")[2])), "")
            self._begins(at - 0.7, f"{paths.BROKER_IDS}/{named}")
        elif found := _LEAVES.search(text):
            self.leaving = [int(found[1])]
            self.leaving_at.append(at)
            heard = self.questions.heard_of(self.broker, "/", when)
            self._place_event(at, "shutdown_begun", epoch=self.epoch, subject=int(found[1]),
                       **({} if heard is None else {"zxid": heard}))  # fmt: skip
        elif found := _LEADERS.search(text):
            self._lets_go(found[1], at)
        elif found := _FAILS.search(text):
            self._place_event(at, "event_done", event=found[1], epoch=self.epoch, failed=True)
        elif "Sending update metadata request" in text or "New broker startup callback" in text:
            self.hidden_at.append(at)
        elif "Unregister BrokerModifications handler for" in text:
            self.hidden_at.append(at - 0.7)
        elif not self.starting and any(one in text for one in _TOPICS):
            self._begins(at, paths.TOPICS)

    def _begins(self, at: float, event: str, zxid: int | None = None) -> None:
        heard = {} if zxid is None else {"zxid": zxid}
        self._place_event(at, "event_begun", event=event, epoch=self.epoch, **heard)

    def _reads(
        self, registrations: dict[int, int], at: float, when: float, event: str = ""
    ) -> None:
        since = next((zxid for zxid, there in self.history
                      if zxid >= self.zxid and there == registrations), None)  # fmt: skip
        self.zxid = since or self.zxid
        self.known = registrations
        named = {str(one): epoch for one, epoch in sorted(registrations.items())}
        # What the proxies saw of it may be later: an answer has all that came before it.
        seen = self.questions.heard_of(self.broker, paths.BROKER_IDS, when)
        zxid = max((one for one in (since, seen) if one is not None), default=None)
        heard = {} if zxid is None else {"zxid": zxid}
        if event:
            self._begins(at, event, zxid)
        self._place_event(at, "registrations_read", epoch=self.epoch, registrations=named, **heard)

    def _read_as(self, live: list[int], new: set[int]) -> dict[int, int]:
        """The first registrations in ZooKeeper's history that fit what the controller read.

        Brokers in `new` have registered again since the controller read them last.
        """
        for zxid, there in self.history:
            same = all(there.get(one) == self.known.get(one) for one in live if one not in new)
            other = all(there.get(one) != self.known.get(one) for one in new)
            if zxid >= self.zxid and set(there) == set(live) and same and other:
                return dict(there)
        newest: dict[int, int] = {}
        for _, there in self.history:  # no state of ZooKeeper: read while it changed
            newest |= {
                one: epoch for one, epoch in there.items() if epoch > self.known.get(one, -1)
            }
        return {one: newest.get(one, -1) if one in new else self.known.get(one, -1) for one in live}

    def _elects(self, text: str, at: float) -> None:
        if self.starting or "AutoTriggered" in text:
            return
        by_admin = _BY_ADMIN in text
        self._begins(at, "ReplicaLeaderElection" if by_admin else paths.PREFERRED_ELECTION)

    def _lets_go(self, leaders: str, at: float) -> None:
        for broker in self.leaving:
            remaining = [name for name, leader in _LEADS.findall(leaders) if int(leader) == broker]
            self.left_at.append(at)
            self._place_event(at, "shutdown_answered", epoch=self.epoch, subject=broker,
                       remaining=remaining)  # fmt: skip
        self.leaving = []

    # Requests, as they are put into channels

    def _orders(self, found: re.Match[str], at: float) -> None:
        to, name = int(found[4]), found[5]
        one = next((one for one in self.group if one.kind == "LeaderAndIsr" and one.to == to), None)
        if one is None or name in (one.states or {}):
            self._flush()
            one = _LoggedRequest(at, "LeaderAndIsr", to, self.epoch, {})
            self.group = [one]
        one.place = at
        assert one.states is not None, "they are being logged"
        one.states[name] = [int(found[1]), int(found[2])]
        if found[3] == "true":
            one.new.append(name)

    def _logs_update_metadata(self, found: re.Match[str], at: float) -> None:
        brokers, name = ids_in(found[3]), found[4]
        same = [one.to for one in self.group if one.kind == "UpdateMetadata"] == brokers
        if not same or any(name in (one.states or {}) for one in self.group):
            self._flush()
            self.group = [
                _LoggedRequest(at, "UpdateMetadata", to, self.epoch, {}) for to in brokers
            ]
        for one in self.group:
            one.place = at
            assert one.states is not None, "they are being logged"
            one.states[name] = [int(found[1]), int(found[2])]

    def _stops(self, found: re.Match[str], at: float) -> None:
        """Collects a StopReplica from its lines, which releases write from 2.6 on."""
        to, name = int(found[2]), found[3]
        one = next((one for one in self.group if one.kind == "StopReplica" and one.to == to), None)
        if one is None or name in one.stops:
            self._flush()
            one = _LoggedRequest(at, "StopReplica", to, self.epoch, {})
            self.group = [one]
        one.place = at
        one.stops[name] = found[1] == "true"

    def _tells_all(self, found: re.Match[str], at: float) -> None:
        """The summary of an UpdateMetadata (from 2.6 on): to whom, and about how many partitions.

        It follows the lines of the single partitions, where these are logged.
        """
        for to in ids_in(found[1]):
            channel, number = self.channels.get(to), int(found[2])
            last = channel.put_in[-1] if channel is not None and channel.put_in else None
            is_last = last is not None and last.kind == "UpdateMetadata" and last.place == at - 1.0
            sent = is_last and last is not None and bool(last.states)
            if channel is not None and not sent:
                states: dict[str, list[int]] | None = None if number else {}
                channel.put_in.append(
                    _LoggedRequest(at, "UpdateMetadata", to, self.epoch, states, number)
                )

    def _flush(self) -> None:
        for one in self.group:
            channel = self.channels.get(one.to)
            if channel is not None:
                channel.put_in.append(one)
        self.group = []

    # Requests, as they are sent

    def _channel_thread(self, line: LogLine) -> None:
        found = _SENDS.search(line.text)
        if found is not None:
            channel = self.channels.get(int(found[1]))
            if channel is not None:
                channel.sent.append(_sent(found, line, self.epoch))
            return
        answered = _ANSWERED.search(line.text)
        to = re.search(r"-to-broker-(\d+)-send", line.thread)
        if answered is not None and to is not None and int(to[1]) in self.channels:
            self.channels[int(to[1])].answered.add(int(answered[1]))

    def _match(self, channel: _BrokerChannel) -> None:
        """Match the requests that were sent with those that were queued, in order.

        An unanswered request is sent again.
        """
        at, hidden = 0, list[_LoggedRequest]()
        made: list[_LoggedRequest] = []
        last: _LoggedRequest | None = None
        for sent in channel.sent:
            again = last is not None and not channel.answered & set(last.numbers)
            if again and last is not None and last.is_sent_as(sent) and last.stops == sent.stops:
                last.numbers += sent.numbers
                continue
            if at < len(channel.put_in) and channel.put_in[at].is_sent_as(sent):
                last = channel.put_in[at]
                self._place_unlogged(channel, hidden, made, last.place)
                last.states, last.live = sent.states, sent.live
                last.registration, last.numbers = sent.registration, sent.numbers
                made.append(last)
                at += 1
            else:
                last = sent
                hidden.append(sent)
        self._place_unlogged(channel, hidden, made, float("inf"))
        for one in (*made, *channel.put_in[at:]):
            self._request(one)

    def _place_unlogged(
        self, channel: _BrokerChannel, hidden: list[_LoggedRequest], made: list[_LoggedRequest],
        until: float,
    ) -> None:  # fmt: skip
        """Place requests of which only the sending is logged: where the controller makes such."""
        since = made[-1].place if made else channel.since
        for number, one in enumerate(hidden):
            end = min(until, one.place)
            left = len(hidden) - number
            there = [at for at in self.hidden_at if since < at < end]
            place = there[-left] if len(there) >= left else there[0] if there else end - 0.25
            if one.kind == "StopReplica":
                place = self._while_leaving(end)
            one.place = since = place
            made.append(one)
        hidden.clear()

    def _while_leaving(self, end: float) -> float:
        """A place in the last ControlledShutdown that begins before `end`, before its answer."""
        begun = max((at for at in self.leaving_at if at < end), default=0.0)
        return min((at for at in self.left_at if begun < at < end), default=end) - 0.25

    def _request(self, one: _LoggedRequest) -> None:
        more: dict[str, Any] = {}
        if one.kind == "LeaderAndIsr":
            more["new"] = one.new
        elif one.kind == "StopReplica":
            more["stops"] = one.stops
        elif one.live is not None:
            more["live"] = one.live
        registration = one.registration if one.registration >= 0 else self.known.get(one.to, -1)
        self._place_event(
            one.place, "request_sent", epoch=one.epoch, to=one.to, registration=registration,
            kind=one.kind, correlation=one.numbers[0] if one.numbers else None,
            again=one.numbers[1:], partitions=one.states, **more,
        )  # fmt: skip


def _sent(found: re.Match[str], line: LogLine, epoch: int) -> _LoggedRequest:
    text, kind = line.text, _KINDS[found[2]]
    number, registration = _NUMBER.search(text), _REGISTRATION.search(text)
    body = text[found.end() :]
    live = sorted(int(one or other) for one, other in _LIVE.findall(body))
    return _LoggedRequest(
        line.number + 0.5, kind, int(found[1]), epoch, states_in(body),
        stops=stops_in(body) if kind == "StopReplica" else {},
        live=live if kind == "UpdateMetadata" else None,
        registration=int(registration[1]) if registration else -1,
        numbers=[int(number[1] or number[2])] if number else [],
    )  # fmt: skip


def states_in(body: str) -> dict[str, list[int]]:
    """Partitions of a request as its text names them: leader epoch, zkVersion."""
    found: dict[str, list[int]] = {}
    topic = ""
    for one in _PARTS.finditer(body):
        if one[1] is not None:
            topic = one[1]
        elif one[2] is not None:
            found[f"{topic}-{one[2]}"] = [int(one[3]), int(one[4])]
        else:
            found[f"{one[5]}-{one[6]}"] = [int(one[7]), int(one[8])]
    return found


def stops_in(body: str) -> dict[str, bool]:
    """Partitions of a StopReplica as its text names them, and whether each is deleted."""
    all_ = _STOPPED_ALL.search(body)
    found: dict[str, bool] = {}
    for one in _STOPPED.finditer(body):
        if one[5] is not None:
            for index, deletes in _STOPPED_ONE.findall(one[6]):
                found[f"{one[5]}-{index}"] = deletes == "true"
            continue
        topic, indexes = (one[1], one[2]) if one[1] is not None else (one[3], one[4])
        for index in ids_in(indexes):
            found[f"{topic}-{index}"] = all_ is not None and all_[1] == "true"
    return found


def by_place(events: Iterable[Placed]) -> Callable[[float], list[Event]]:
    """A function that returns the events before a line that it has not returned yet."""
    waiting = deque(events)

    def before(number: float) -> list[Event]:
        found = []
        while waiting and waiting[0][0] < number:
            found.append(waiting.popleft()[1])
        return found

    return before
