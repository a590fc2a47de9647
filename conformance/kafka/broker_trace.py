"""Makes the trace of one start of a real broker from what its threads logged.

The steps are those that a process of ours writes (`impl.core.replica_events`), so one checker
judges both. What a log line omits comes from the frames that the proxies read (`questions`). A read
for a fetch is placed where its thread first logged a result of it, or where another thread shows
that it was recorded; a fetch that waited for records (`DelayedFetch`) is placed where it was read
again. If nothing shows a step, no event is written; `UNSEEN` lists such steps.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.kafka.controller_trace import ControllerTraceReader, History, by_place
from conformance.kafka.protocol_log import LogLine, ids_in
from conformance.kafka.proxied_requests import SAME_MS, ProxiedRequests, SeenRequest

UNSEEN = (
    "state_written: whom a controller takes for alive when it writes",
    "producer_answered: where a producer was connected past the proxies",
    "fetch_served: the high watermark of a read whose answer was never sent is the last one logged",
    "high_watermark_raised: one that is logged when another thread has logged a higher one",
)
"""What the trace of a real broker does not show."""

Event = tuple[str, dict[str, Any]]
NOT_LEADER = "NOT_LEADER_FOR_PARTITION"

_STATE = re.compile(
    r"controllerEpoch=(-?\d+), leader=(-?\d+), leaderEpoch=(-?\d+), isr=\[?([\d, ]*?)\]?, "
    r"zkVersion=(-?\d+), replicas=\[?([\d, ]*?)\]?, (?:is|adding)"
)
_NAMED = re.compile(r"topicName='([^']*)', partitionIndex=(\d+)")
_CONNECTION = re.compile(r'connection"?[: ]"?[\d.]+:\d+-[\d.]+:(\d+)-')
_SESSION = re.compile(r"(?:session_id|sessionId|metadata)=(\d+)")
_CORRELATION = re.compile(r'correlationId"?[=:](\d+)')
_CORRELATION_ID = re.compile(r"correlation id (\d+)")
_ASKS = re.compile(r"leaderId=(\d+), fetcherId=\d+\] Sending (FETCH|OFFSET_FOR_LEADER_EPOCH) ")


@dataclass(eq=False)
class _Read:
    """The result of reading a partition for a fetch: its leader epoch and high watermark then."""

    offset: int
    epoch: int
    hw: int
    place: list[Event]
    is_of_log: bool = False
    """Its log was read: so it was not refused then, whatever it is answered in the end."""


@dataclass(eq=False)
class _Fetch:
    """A fetch that a leader serves; ``read`` are events whose answers may still be filled in."""

    question: SeenRequest
    follower: int
    begun: dict[str, _Read] = field(default_factory=dict)
    read: dict[str, dict[str, Any]] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)
    counted: set[str] = field(default_factory=set)
    """Partitions of which its thread logged that it took the follower's offset for its log end."""
    session: str = ""
    at_once: bool = False
    """Its own thread answers it with what it read at first: it does not wait."""
    done_at: int = 1 << 60
    recorded: bool = False
    """Its own thread has logged what it read at first: only then can it wait, and be read again."""
    sent: bool = False
    """Its answer is made: nothing is read for it any more."""
    closed: bool = False
    """What it read at first is logged: what its thread reads now is read again."""


@dataclass(eq=False)
class _ControllerRequest:
    """A controller's request that the broker handles. It is placed where the log first shows it,
    else where handling began (``place``), or at its answer if another was handled then."""

    event: Event
    place: list[Event] | None
    is_recorded: bool = False


_Sending = tuple[int, str, int]
"""To which leader, of which API, under which correlation id a question is sent."""


class Registrations(dict[int, int]):
    """The registrations of all brokers: the zxid of each -> its session."""

    def __init__(self) -> None:
        super().__init__()
        self._of: dict[int, list[tuple[float, int]]] = defaultdict(list)

    def note(self, broker: int, zxid: int, session: int, at: float) -> None:
        """Adds a registration and its time (s since 1970)."""
        self[zxid] = session
        self._of[broker].append((at, zxid))

    def newest(self, broker: int, at: float) -> int:
        """The zxid of a broker's last registration by a time; -1 if there is none."""
        return max((zxid for when, zxid in self._of[broker] if when <= at + SAME_MS), default=-1)


_Again = tuple[str, _Read]
"""A partition that is read again."""


class BrokerTraceReader:
    """Reads the lines of one start. ``sessions``: zxid of a registration -> its session.

    ``caches_epochs``: a leader knows the leader epochs of fetches within a session (KAFKA-9338).
    ``history``: of all registrations, if its steps as controller are to be read too.
    """

    def __init__(
        self, broker: int, questions: ProxiedRequests, sessions: Registrations,
        caches_epochs: bool = True, history: History | None = None,
    ) -> None:  # fmt: skip
        self.history = history
        self.requests: dict[tuple[int, int, int], _ControllerRequest] = {}
        self.under_way: dict[tuple[int, int], _ControllerRequest] = {}
        self.caches_epochs = caches_epochs
        self.broker, self.questions, self.sessions = broker, questions, sessions
        self.events: list[Event | list[Event]] = []  # a list: what its thread built there
        self.building: dict[tuple[str, str], list[Event]] = {}  # by thread and API
        self.end: dict[str, int] = {}
        self.hw: dict[str, int] = defaultdict(int)
        self.epoch: dict[str, int] = defaultdict(lambda: -1)
        self.leading: set[str] = set()
        """Whose leader it is, as far as is known."""
        self.isr: dict[str, list[int]] = {}  # of partitions that it leads
        self.known: dict[tuple[str, int], int] = {}  # log ends of followers that it logged
        self.zk_version: dict[str, int] = {}
        self.wants: set[str] = set()  # for which it logged that it wants another ISR
        self.loading: dict[str, int] = {}
        self.present: set[str] = set()
        self.tells_of_logs = False
        self.orders: dict[str, tuple[dict[str, Any], dict[str, int]]] = {}
        self.fetches: dict[str, _Fetch] = {}  # thread -> what it serves
        self.reading: dict[str, list[_Again]] = {}  # thread -> what it reads again
        self.epochs: dict[
            str, tuple[SeenRequest, set[str]]
        ] = {}  # thread -> what is not served yet
        self.left: dict[str, tuple[int, list[Event]]] = {}
        self.following: dict[str, list[str]] = {}  # thread -> of which it said that they follow
        self.failed: dict[str, tuple[int, int, list[Event]]] = {}
        """Partitions of a LeaderAndIsr that failed: leader epoch, leader, and where that was."""
        # By partition: the new leader and epoch of a follower whose old fetcher still runs.
        self.pending_followers: dict[str, dict[str, Any]] = {}
        self.open: list[_Fetch] = []
        self.handled: dict[str, LogLine] = {}
        self.appended: dict[tuple[str, int], tuple[int, int]] = {}
        self.appending: dict[str, dict[int, list[Event]]] = defaultdict(dict)
        """Of partitions that it leads: by its first offset, the place before an append."""
        self.wrote: dict[str, dict[str, int]] = defaultdict(dict)
        """By thread, where what it appended ends, of the request that it handles."""
        self.sent: dict[tuple[int, str, int], SeenRequest] = {}  # by leader, API and correlation id
        self.sendings: dict[_Sending, list[tuple[int, float]]] = defaultdict(list)
        """Where, and when, it says that it sends such a question: numbers begin anew."""
        self.asked: dict[str, int] = {}  # the offset that a follower's fetch brought
        self.taken: dict[str, tuple[int, int]] = {}
        self.completes: dict[tuple[int, int], list[int]] = defaultdict(list)
        self.stopped: set[str] = set()  # partitions of which it is no replica any more
        self.aside: set[str] = set()  # threads that load a log which is to be deleted
        self.at_once: set[int] = set()  # lines at which fetches are handled that do not wait

    def run(self, lines: Iterable[LogLine]) -> list[Event]:
        """Returns all events, in order."""
        log_lines = list(lines)
        for line in log_lines:
            if line.text.startswith("Completed request:"):
                key = _key(line.text)
                if key is not None:
                    self.completes[key].append(line.number)
            elif found := _ASKS.search(line.text):
                self.sendings[_sending(found, line)].append((line.number, line.at))
        self.at_once = set(self._answered_at_once(log_lines))
        before = by_place(())
        if self.history is not None:
            controller = ControllerTraceReader(self.broker, self.history, self.questions)
            before = by_place(controller.run(log_lines))
        for line in log_lines:
            self.events += before(line.number)
            self._thread(line)
            for pattern, take in _LINES:
                found = pattern.search(line.text)
                if found is not None:
                    take(self, found, line)
                    break
        self.events += before(float("inf"))
        for one in self.open:
            self._complete(one)
        for partition in list(self.pending_followers):
            self._record_became_follower(partition)
        all_: list[Event] = []
        for event in self.events:
            all_ += event if isinstance(event, list) else [event]
        return _after_causes(list(_appended_first(list(_rising(all_)))))

    def _answered_at_once(self, lines: Iterable[LogLine]) -> Iterator[int]:
        """Where fetches are handled whose threads answer them with nothing read again in between: a
        partition for the second time, one that it does not ask for, or any after the thread has
        logged what it read."""
        handled: dict[str, int] = {}
        unread: dict[str, set[str]] = {}
        again: set[str] = set()
        for line in lines:
            thread = line.thread
            if thread in handled and (segment := _SEGMENT.match(line.text)) is not None:
                if segment[1] not in unread[thread]:
                    again.add(thread)
                unread[thread].discard(segment[1])
            elif thread in handled and line.text.startswith("[Partition "):
                unread[thread].clear()
            elif line.text.startswith("[KafkaApi-"):
                if "Sending Fetch response" in line.text:
                    if thread in handled and thread not in again:
                        yield handled.pop(thread)
                    again.discard(thread)
                elif "Handling request:" in line.text:
                    handled.pop(thread, None)
                    again.discard(thread)
                    key = _key(line.text) if "apiKey=FETCH," in line.text else None
                    question = self.questions.handled(*key, line.at) if key else None
                    if question is not None:
                        handled[thread], unread[thread] = line.number, {*question.asked}

    def add_event(
        self, step: str, partition: str | None = None, into: list[Event] | None = None, **args: Any
    ) -> dict[str, Any]:
        """Adds an event, at the end or into a place that was reserved for it."""
        epoch = self.pending_followers.get(partition or "", {}).get("leader_epoch", -1)
        of_before = (
            step in _OF_FETCHERS or args.get("asked", {}).get("leader_epoch", epoch) != epoch
        )
        if into is None and epoch >= 0 and not of_before:
            self._record_became_follower(partition or "")
        if "sender" in args:
            self._record_pending_followers()
        found = ({"partition": partition} if partition else {}) | args
        (self.events if into is None else into).append((step, found))
        return found

    # Requests that are handled

    def _thread(self, line: LogLine) -> None:
        """A thread that begins another request has logged what it read for the one before."""
        if line.text.startswith("[KafkaApi-") and (
            "Handling request:" in line.text or "Sending Fetch response" in line.text
        ):
            fetch = self.fetches.get(line.thread)
            again = self.reading.pop(line.thread, [])
            sends = "Sending Fetch response" in line.text
            if sends and again:  # of a fetch that waited, maybe while it handles another one
                self._sends(line, again)
                return
            if fetch is not None and not fetch.closed:
                for partition in list(fetch.begun):
                    if partition in fetch.question.answer:
                        self._served(fetch, partition)  # refused
                fetch.closed = fetch.recorded = True
            if fetch is not None and sends:
                fetch.sent = True

    def _handles_request(self, found: re.Match[str], line: LogLine) -> None:
        self.fetches.pop(line.thread, None)
        self.wrote.pop(line.thread, None)
        key = _key(line.text)
        if found[1] in _CONTROL:
            self._handles_control(_CONTROL[found[1]], key, line)
            return
        question = key and self.questions.handled(*key, line.at)
        if not key or not question:
            return
        if found[1] == "FETCH":
            follower = int(question.sender) if question.sender.isdecimal() else -1
            fetch = self.fetches[line.thread] = _Fetch(question, follower)
            session = _SESSION.search(line.text)
            fetch.session = session[1] if session else ""
            fetch.at_once = line.number in self.at_once
            later = [one for one in self.completes.get(key, ()) if one > line.number]
            fetch.done_at = later[0] if later else fetch.done_at
        elif found[1] == "OFFSET_FOR_LEADER_EPOCH" and question.sender.isdecimal():
            left = set(question.asked)
            for partition in sorted(left):
                if self._would_refuse(question, partition):
                    left.discard(partition)
                    self._serves_epoch(question, partition)
            self.epochs[line.thread] = question, left

    def _would_refuse(self, question: SeenRequest, partition: str) -> bool:
        """Whether the broker's present state explains its error. It may become leader before the
        answer is logged, though it was not when the request came."""
        error = question.answer.get(partition, {}).get("error", "NONE")
        if str(error).startswith("NOT_LEADER"):
            return partition not in self.leading
        asked, mine = int(question.asked[partition]["leader_epoch"]), self.epoch[partition]
        if error == "UNKNOWN_LEADER_EPOCH":
            return bool(mine < asked)
        return error == "FENCED_LEADER_EPOCH" and bool(mine > asked)

    def _looks_up(self, found: re.Match[str], line: LogLine) -> None:
        """A thread looks up the end of an epoch: as leader for a follower, or as follower."""
        question, left = self.epochs.get(line.thread, (None, set[str]()))
        partition = found[1] or found[2]
        if question is not None and partition in left:
            left.discard(partition)
            self._serves_epoch(question, partition)

    def _epochs_served(self, key: tuple[int, int] | None, line: LogLine) -> None:
        """Epochs that were not looked up: the request was refused, or the log has no epochs."""
        for question, left in self.epochs.values():
            if key and question is self.questions.handled(*key, line.at):
                for partition in sorted(left):
                    self._serves_epoch(question, partition)
                left.clear()

    def _serves_epoch(self, question: SeenRequest, partition: str) -> None:
        asked, answer = question.asked[partition], question.answer.get(partition)
        if answer is not None and not _asks_of_none(question.api, asked):
            known = asked["leader_epoch"]
            self.add_event(
                "epoch_served", partition,
                asked={"leader_epoch": known if known >= 0 else None, "epoch": asked["epoch"]},
                reply={"error": answer["error"],
                       "end": {"epoch": answer["epoch"], "end": answer["end"]}},
                client=f"broker-{question.sender}-fetcher-0", correlation=question.number,
            )  # fmt: skip

    def _reads(self, found: re.Match[str], line: LogLine) -> None:
        partition, offset = found[1], int(found[2])
        fetch = self.fetches.get(line.thread)
        # A thread that counts what it has read may complete another's fetch meanwhile.
        its_own = fetch is not None and not fetch.closed and partition in fetch.question.asked
        if fetch is not None and its_own and partition not in {*fetch.read, *fetch.begun}:
            fetch.begun[partition] = self._read(partition, offset)
            return
        self._reads_again(line, partition, offset)

    def _reads_log(self, found: re.Match[str], line: LogLine) -> None:
        self.tells_of_logs = True
        fetch = self.fetches.get(line.thread)
        reads = [read for name, read in self.reading.get(line.thread, ()) if name == found[1]]
        if fetch is not None and found[1] in fetch.begun:
            reads = [fetch.begun[found[1]]]
        for one in reads[-1:]:
            one.is_of_log = one.offset == int(found[2])

    def _reads_again(self, line: LogLine, partition: str, offset: int) -> None:
        """For whom, the thread logs when it has read everything: by the session of the fetch."""
        reads = self.reading.setdefault(line.thread, [])
        reads.append((partition, self._read(partition, offset)))

    def _read(self, partition: str, offset: int) -> _Read:
        return _Read(offset, self.epoch[partition], self.hw[partition], self._slot())

    def _sends(self, line: LogLine, reads: list[_Again]) -> None:
        """A thread that read again makes the answer of a fetch that waited."""

        session = _SESSION.search(line.text)

        def fits(one: _Fetch) -> bool:
            if not one.recorded or one.sent or one.at_once or one.done_at <= line.number:
                return False
            if session and one.question.in_session and one.session != session[1]:
                return False
            offsets: dict[str, int] = {
                name: read["asked"]["offset"] for name, read in one.read.items()
            }
            return all(offsets.get(name) == read.offset for name, read in reads)

        waiting = [one for one in self.open if fits(one)]
        ours = [one for one in waiting if session and one.session == session[1]]
        if not waiting:
            return
        fetch = min(ours or waiting, key=lambda one: one.done_at)
        fetch.sent = True
        for partition, read in reads:
            fetch.again.add(partition)
            reply = self._reply(fetch, partition, read)
            args = {**fetch.read[partition], "waited": True, "reply": reply}
            read.place.append(("fetch_served", args))

    def _served(self, fetch: _Fetch, partition: str, at_once: bool = False) -> None:
        """Adds the event here, or with `at_once` where the partition was read."""
        read = fetch.begun.pop(partition)
        asked = fetch.question.asked.get(partition, {})
        known = asked.get("leader_epoch", -1)
        if fetch.question.in_session and not self.caches_epochs:
            known = -1
        # Its epoch is compared where it is read, and not where it is counted: that may be in the
        # next leader epoch of the same leader.
        # What a consumer reads counts for nothing.
        counts_later = partition in fetch.counted and 0 <= known == read.epoch
        in_next = (counts_later or fetch.follower < 0) and read.epoch < self.epoch[partition]
        in_next = in_next or partition in self.stopped
        fetch.read[partition] = self.add_event(
            "fetch_served", partition, into=read.place if at_once or in_next else None,
            reader=fetch.follower,
            asked={"leader_epoch": known if known >= 0 else None, "offset": read.offset,
                   "last_fetched_epoch": None},
            reply=self._empty_answer(read.offset, read.hw if in_next else self.hw[partition]),
            waited=False,
            client=f"broker-{fetch.follower}-fetcher-0", correlation=fetch.question.number,
        )  # fmt: skip
        self.known[partition, fetch.follower] = read.offset
        if fetch not in self.open:
            self.open.append(fetch)

    def _empty_answer(self, offset: int, hw: int) -> dict[str, Any]:
        return {"error": "NONE", "high_watermark": hw, "log_start": 0, "diverging": None,
                "end": offset}  # fmt: skip

    def _reply(self, fetch: _Fetch, partition: str, read: _Read) -> dict[str, Any]:
        """The answer; within a session it leaves out partitions without changes."""
        part = fetch.question.answer.get(partition)
        if part is not None:
            return _answered(part, read.offset)
        nothing = self._empty_answer(read.offset, read.hw)
        if not fetch.question.answered and self.tells_of_logs and not read.is_of_log:
            return nothing | {"error": NOT_LEADER}  # nobody saw it: its log was not even read
        return nothing

    def _handles_control(self, kind: str, key: tuple[int, int] | None, line: LogLine) -> None:
        """The broker begins to handle a controller's request, which may wait for a lock."""
        numbers = [pattern.search(line.text) for pattern in (_CONTROLLER, _EPOCH, _REGISTRATION)]
        controller, epoch, registration = (int(one[1]) if one else -1 for one in numbers)
        if self.history is None or key is None or registration < 0:
            return
        sender = {"controller": controller, "epoch": epoch, "correlation": key[1]}
        event = "request_received", {"kind": kind, "sender": sender, "registration": registration}
        for earlier in [one for one in self.under_way if one[0] == key[0]]:
            self._control_done(earlier, line)  # whose answer its sender has
        one = _ControllerRequest(event, None if self.under_way else self._slot())
        self.requests[controller, epoch, key[1]] = self.under_way[key] = one

    def _record_request(self, sender: Mapping[str, int]) -> None:
        """Records a controller's request at its first visible effect."""
        one = self.requests.get((sender["controller"], sender["epoch"], sender["correlation"]))
        if one is not None and not one.is_recorded:
            self._record_pending_followers()
            one.is_recorded = True
            self.events.append(one.event)

    def _control_done(self, key: tuple[int, int] | None, line: LogLine) -> None:
        one = self.under_way.pop(key, None) if key else None
        if one is not None and not one.is_recorded and not _STALE.search(line.text):
            one.is_recorded = True
            if one.place is None:
                self._record_pending_followers()
            (self.events if one.place is None else one.place).append(one.event)

    def _completes(self, found: re.Match[str], line: LogLine) -> None:
        key = _key(line.text)
        self._control_done(key, line)
        for one in list(self.open):
            if one.done_at == line.number:
                self._complete(one)
                self.open.remove(one)
        if "OFFSET_FOR_LEADER_EPOCH" in found[0]:
            self._epochs_served(key, line)
        elif "PRODUCE" in found[0] and key is not None:
            question = self.questions.handled(*key, line.at)
            for partition, answer in question.answer.items() if question else ():
                first = answer["first"]
                # What it has not appended was there when an idempotent producer sent it again.
                again = first + 1, self.epoch[partition]
                end, epoch = self.appended.get((partition, first), again)
                self.add_event("producer_answered", partition, leader_epoch=epoch,
                          acks=question.acks if question else 0, first=first, end=end,
                          error=answer["error"])  # fmt: skip

    def _complete(self, one: _Fetch) -> None:
        for partition, read in one.read.items():
            if partition not in one.again and partition in one.question.answer:
                read["reply"] = _answered(one.question.answer[partition], read["asked"]["offset"])
                read["counted"] = partition in one.counted

    def _recorded(self, found: re.Match[str], line: LogLine) -> None:
        self._first(line, found[1])
        fetch = self.fetches.get(line.thread)
        refused = fetch is not None and found[2] == "-1" and found[1] in fetch.read
        if fetch is not None and refused and found[1] not in fetch.question.answer:
            # Nobody saw the answer, and an end of -1 is that of a read that failed.
            reply = fetch.read[found[1]]["reply"]
            fetch.read[found[1]]["reply"] = {**reply, "error": "UNKNOWN_LEADER_EPOCH"}
            self.known.pop((found[1], fetch.follower), None)

    def _first(self, line: LogLine, partition: str, at_once: bool = False) -> list[Event] | None:
        """A thread logs its first result of reading a partition; returns the place of the read."""
        fetch = self.fetches.get(line.thread)
        if fetch is not None and not fetch.closed:
            read = fetch.begun.get(partition)
            if read is not None:
                fetch.counted.add(partition)
                self._served(fetch, partition, at_once)
            fetch.recorded = not fetch.begun
            return read.place if read is not None else None
        return None

    # A controller's requests

    def _received(self, found: re.Match[str], line: LogLine) -> None:
        state, named = _STATE.search(line.text), _NAMED.search(line.text)
        if state is None:
            return
        partition = found[4] or (f"{named[1]}-{named[2]}" if named else "")
        order = {
            "leader": int(state[2]), "leader_epoch": int(state[3]), "isr": ids_in(state[4]),
            "controller_epoch": int(state[1]), "zk_version": int(state[5]),
            "replicas": ids_in(state[6]),
        }  # fmt: skip
        sender = {"controller": int(found[2]), "epoch": int(found[3]), "correlation": int(found[1])}
        self.orders[partition] = order, sender
        self._record_request(sender)
        self.add_event("leader_and_isr_received", partition, order=order, sender=sender)

    def _loaded(self, found: re.Match[str], _line: LogLine) -> None:
        partition = found[1]
        if partition not in self.present:
            self.loading[partition] = max(self.loading.get(partition, 0), int(found[2]))

    def _is_there(self, partition: str) -> None:
        hw = self.loading.pop(partition, None)
        if hw is not None and partition not in self.present:
            self.present.add(partition)
            self.hw[partition] = hw
            self.add_event("log_loaded", partition, log_end=self.end.get(partition, 0),
                      high_watermark=hw)  # fmt: skip

    def _log_created(self, found: re.Match[str], _line: LogLine) -> None:
        self.present.add(found[1])
        self.end[found[1]] = self.hw[found[1]] = 0
        self.add_event("log_created", found[1], directory=found[2])

    def _loads(self, found: re.Match[str], line: LogLine) -> None:
        """A log that is to be deleted is loaded too, under the name of the partition."""
        self.aside.discard(line.thread)
        if found[1].endswith("-delete"):
            self.aside.add(line.thread)

    def _log_loaded(self, found: re.Match[str], line: LogLine) -> None:
        self._ends(f"{found[1]}-{found[2]}", int(found[3]), line)

    def _log_ends(self, found: re.Match[str], line: LogLine) -> None:
        self._ends(found[1], int(found[2]), line)

    def _ends(self, partition: str, end: int, line: LogLine) -> None:
        if line.thread not in self.aside:
            self.end[partition] = end

    def _leads(self, found: re.Match[str], _line: LogLine) -> None:
        partition, epoch = found[1], int(found[2])
        self._is_there(partition)
        self.stopped.discard(partition)
        self.epoch[partition] = epoch
        order, _ = self.orders.get(partition, ({}, {}))
        self.isr[partition] = order.get("isr", [])
        self.zk_version[partition] = order.get("zk_version", -1)
        self.wants.discard(partition)
        self.appending.pop(partition, None)
        self._leaves_epoch(partition, epoch)
        self.leading.add(partition)
        self.add_event("became_leader", partition, leader_epoch=epoch, previous_epoch=int(found[4]),
                  start=int(found[3]), high_watermark=self.hw[partition])  # fmt: skip

    def _follows(self, found: re.Match[str], line: LogLine) -> None:
        partition = found[1]
        order, _ = self.orders.get(partition, ({}, {}))
        epoch = order.get("leader_epoch", -1)
        if epoch <= self.epoch[partition]:
            return  # logged already
        self._is_there(partition)
        self.stopped.discard(partition)
        self.epoch[partition] = epoch
        self.pending_followers[partition] = {"leader": order["leader"], "leader_epoch": epoch}
        if not line.text.endswith("."):  # up to 2.6 it is logged when its fetcher has stopped
            self._record_became_follower(partition)

    def _record_became_follower(self, partition: str) -> None:
        args = self.pending_followers.pop(partition, None)
        if args is not None:
            for key in [one for one in self.known if one[0] == partition]:
                del self.known[key]
            self._leaves_epoch(partition, args["leader_epoch"])
            self.leading.discard(partition)
            self.add_event("became_follower", partition, **args)

    def _slot(self) -> list[Event]:
        """Reserves a place for events that later lines show to belong here."""
        slot: list[Event] = []
        self.events.append(slot)
        return slot

    def _leaves_epoch(self, partition: str, epoch: int) -> None:
        """Requests built in an earlier epoch, and sent later, were built before this."""
        self.left[partition] = epoch, self._slot()

    def _stops_fetchers(self, _found: re.Match[str], _line: LogLine) -> None:
        """Until its fetcher is stopped, the follower may append the last leader's answer."""
        self._record_pending_followers()

    def _record_pending_followers(self) -> None:
        for partition in list(self.pending_followers):
            self._record_became_follower(partition)

    def _begins_to_follow(self, found: re.Match[str], line: LogLine) -> None:
        self.following.setdefault(line.thread, []).append(found[1])

    def _fails(self, found: re.Match[str], line: LogLine) -> None:
        """A LeaderAndIsr failed (KAFKA-9769). When that epoch is sent again and ignored as known,
        it shows which partitions are in the new leader epoch, and follow without a fetcher."""
        if found[4]:
            self._failed(found)
            return
        for partition in self.following.pop(line.thread, []):
            order, _ = self.orders.get(partition, ({}, {}))
            if order.get("leader_epoch", -1) > self.epoch[partition]:
                self.failed[partition] = order["leader_epoch"], order["leader"], self._slot()
        self._failed(found)

    def _failed(self, found: re.Match[str]) -> None:
        """The line of a leader names one partition; what was not done before it is not done."""
        if self.history is not None:
            sender = {"controller": int(found[2]), "epoch": int(found[3]),
                      "correlation": int(found[1])}  # fmt: skip
            self.events.append(("leader_and_isr_failed", {"sender": sender}))

    def _ignored(self, found: re.Match[str], line: LogLine) -> None:
        partition = found[1]
        order, sender = self.orders.get(partition, (None, None))
        number = _CURRENT.search(line.text)
        current = int(number[1] or number[2]) if number else self.epoch[partition]
        epoch, leader, slot = self.failed.get(partition, (-1, -1, []))
        if self.epoch[partition] < epoch == current:
            self.epoch[partition] = epoch
            self.add_event("became_follower", partition, into=slot, leader=leader,
                           leader_epoch=epoch,
                      fetching=False)  # fmt: skip
        if order is not None:
            self.add_event("leader_and_isr_ignored", partition, order=order, sender=sender,
                      current=current, error="STALE_CONTROLLER_EPOCH")  # fmt: skip

    def _unavailable(self, found: re.Match[str], _line: LogLine) -> None:
        order, sender = self.orders.get(found[1], (None, None))
        if order is not None:
            self._is_there(found[1])
            self.add_event("leader_unavailable", found[1], order=order, sender=sender)

    def _refused(self, found: re.Match[str], line: LogLine) -> None:
        kind = next(
            (kind for word, kind in (("LeaderAndIsr", "LeaderAndIsr"), ("update metadata",
             "UpdateMetadata"), ("top", "StopReplica")) if word in line.text), ""
        )  # fmt: skip
        numbers = {name: int(number) for name, number in _REFUSED.findall(line.text)}
        sender = {"controller": numbers.get("controller", numbers.get("old controller", -1)),
                  "epoch": numbers.get("epoch", -1),
                  "correlation": numbers.get("correlation id", -1)}  # fmt: skip
        self._record_request(sender)
        self.add_event("request_refused", kind=kind, sender=sender, known=int(found[1]))

    def _cached(self, found: re.Match[str], _line: LogLine) -> None:
        sender = {"controller": int(found[2]), "epoch": int(found[3]), "correlation": int(found[4])}
        self._record_request(sender)
        self.add_event("leader_cached", found[1], sender=sender)

    def _stopped(self, found: re.Match[str], _line: LogLine) -> None:
        self.stopped.add(found[2])
        self.add_event("stop_replica_completed", found[2], delete=found[1] == "true", error="NONE")

    # A leader

    def _high_watermark_raised(self, found: re.Match[str], line: LogLine) -> None:
        partition, now = found[1], int(found[2])
        self._first(line, partition)
        for other in list(self.fetches.values()):
            # Another thread recorded what this one counts, and tells of it later.
            answer = other.question.answer.get(partition, {})
            read, known = other.begun.get(partition), self.known.get((partition, other.follower))
            if known is not None and known >= now:
                continue
            if read is None or read.offset < now:
                continue
            if read.is_of_log or answer.get("error", "NONE") == "NONE":
                other.counted.add(partition)
                self._served(other, partition)
        place = self._where_it_ended(partition, now, line.thread)
        if now > self.hw[partition] or place is not None:
            self.add_event("high_watermark_raised", partition, into=place,
                      before=self.hw[partition], now=now)  # fmt: skip
            self.hw[partition] = max(now, self.hw[partition])

    def _where_it_ended(self, partition: str, now: int, thread: str) -> list[Event] | None:
        """The place before an append that the raised high watermark does not include: its thread
        has appended before, the leader is alone in its ISR, and another thread has logged more."""
        alone = self.isr.get(partition) == [self.broker]
        held = any(end == now for (one, _), end in self.known.items() if one == partition)
        if not alone or held or self.wrote.get(thread, {}).get(partition, now + 1) > now:
            return None
        return self.appending[partition].get(now)

    def _appends(self, found: re.Match[str], line: LogLine) -> None:
        partition, end = found[1], int(found[2])
        first = self.end.get(partition, 0)
        self.end[partition] = end
        if not line.thread.startswith("ReplicaFetcherThread"):
            self.appended[partition, first] = end, self.epoch[partition]
            self.appending[partition][first] = self._slot()
            self.wrote[line.thread][partition] = end
            self.add_event("records_appended", partition, leader_epoch=self.epoch[partition],
                      first=first, end=end)  # fmt: skip

    def _shrinks(self, found: re.Match[str], line: LogLine) -> None:
        self._first(line, found[1])
        self.wants.add(found[1])
        late = [[int(one), int(end)] for one, end in _LATE.findall(line.text)]
        self.add_event("isr_shrinking", found[1], isr=ids_in(found[2]), wanted=ids_in(found[3]),
                  late=late, high_watermark=self.hw[found[1]],
                  log_end=self.end.get(found[1], 0))  # fmt: skip

    def _expands(self, found: re.Match[str], line: LogLine) -> None:
        self._first(line, found[1])
        self.wants.add(found[1])
        self.add_event("isr_expanding", found[1], isr=ids_in(found[2]), wanted=ids_in(found[3]),
                  by_request=False)  # fmt: skip

    def _wanted(
        self, partition: str, wanted: list[int], into: list[Event] | None = None
    ) -> None:  # fmt: skip
        """From 2.7 on a leader logs an ISR expansion only after ZooKeeper's answer."""
        if partition not in self.wants:
            self.add_event("isr_expanding", partition, into=into, isr=self.isr.get(partition, []),
                      wanted=wanted, by_request=False)  # fmt: skip
        self.wants.discard(partition)

    def _isr_updated(self, found: re.Match[str], line: LogLine) -> None:
        self._first(line, found[1])
        shown = _REPLICA.findall(found[2])  # up to 2.3 replicas as a whole
        isr = [int(one) for one in shown] or ids_in(found[2])
        self._wanted(found[1], isr)
        self.isr[found[1]], self.zk_version[found[1]] = isr, int(found[3])
        self.add_event("isr_updated", found[1], isr=isr, zk_version=int(found[3]), by_request=False)

    def _isr_refused(self, found: re.Match[str], line: LogLine) -> None:
        self._first(line, found[1])
        pending = _PENDING.search(line.text)
        if pending is not None:
            self._wanted(found[1], [*ids_in(pending[1]), *ids_in(pending[2])])
        self.wants.discard(found[1])
        number = re.search(r"zkVersion \[?(\d+)", line.text)
        known = int(number[1]) if number else self.zk_version.get(found[1], -1)
        self.add_event("isr_update_refused", found[1], zk_version=known)

    def _isr_write_failed(self, found: re.Match[str], line: LogLine) -> None:
        """ZooKeeper did not answer, because the session ended: the write may be done or not.

        The broker logs that when it knows of the session's end; it had sent the write by then.
        """
        partition, data = f"{found[1]}-{found[2]}", _ISR.search(found[3])
        place = self._first(line, partition, at_once=True)
        if data is not None:
            self._wanted(partition, ids_in(data[1]), place)
            self.add_event("isr_update_failed", partition, zk_version=int(found[4]))

    # A follower

    def _asks(self, found: re.Match[str], line: LogLine) -> None:
        sending = _sending(found, line)
        again = self.sendings[sending]
        leader, api, number = sending
        later = next((at for place, at in again if place > line.number), None)
        question = self.questions.sent_by(
            self.broker, leader, api, number, line.at, line.text, later
        )
        if not question:
            return
        self.sent[leader, question.api, question.correlation] = question
        built = self.building.pop((line.thread, api), None)
        for partition, asked in question.asked.items():
            known = asked["leader_epoch"] if asked["leader_epoch"] >= 0 else None
            if api == "Fetch":
                what = {
                    "leader_epoch": known,
                    "offset": asked["offset"],
                    "last_fetched_epoch": None,
                }
            else:
                what = {"leader_epoch": known, "epoch": asked["epoch"]}
            if _asks_of_none(api, asked):
                continue
            step = "records_asked" if api == "Fetch" else "epoch_asked"
            args: dict[str, Any] = {
                "leader": leader, "asked": what, "correlation": question.number
            }  # fmt: skip
            epoch, before = self.left.get(partition, (-1, []))
            if known is not None and known < epoch:
                before.append((step, {"partition": partition} | args))
            elif built is not None:
                built.append((step, {"partition": partition} | args))
            else:
                self.add_event(step, partition, **args)

    def _builds(self, found: re.Match[str], line: LogLine) -> None:
        """A fetcher has built a request; it sends it once connected, possibly after it receives
        StopReplica."""
        self.building[line.thread, _BUILT[found[1]]] = self._slot()

    def _answer_received(self, found: re.Match[str], line: LogLine) -> None:
        """An answer may omit a partition; the next request about it is sent after the answer."""
        number = _CORRELATION.search(line.text) or _CORRELATION_ID.search(line.text)
        key = (int(found[1]), _APIS[found[2] or found[3]], int(number[1]) if number else -1)
        question = self.sent.pop(key, None)
        if question is not None:
            for partition, asked in question.asked.items():
                if not _asks_of_none(question.api, asked):
                    self.add_event("answer_received", partition, correlation=question.number)

    def _truncation_asked(self, found: re.Match[str], _line: LogLine) -> None:
        self.asked[found[2]] = int(found[1])

    def _truncation_done(self, found: re.Match[str], _line: LogLine) -> None:
        self.end[found[2]] = int(found[1])

    def _follower_hw(self, found: re.Match[str], _line: LogLine) -> None:
        partition = found[1]
        self.hw[partition] = int(found[2])
        self.add_event("records_replicated", partition, offset=self.asked.get(partition, -1),
                  log_end=self.end.get(partition, 0), high_watermark=int(found[2]))  # fmt: skip

    def _truncates(self, found: re.Match[str], _line: LogLine) -> None:
        partition, offset = found[1], int(found[2])
        end = self.end.get(partition, 0)
        self.add_event("log_truncating", partition, offset=offset, log_end=end,
                  high_watermark=self.hw[partition])  # fmt: skip
        self.end[partition] = min(end, offset)
        self.hw[partition] = min(self.hw[partition], offset)

    # Processes and controllers

    def _registered(self, found: re.Match[str], line: LogLine) -> None:
        """Up to 2.1 the line does not name the transaction."""
        zxid = int(found[1]) if found[1] else self.sessions.newest(self.broker, line.at)
        self.add_event("registered", epoch=zxid, session=self.sessions.get(zxid, -1))

    def _elected(self, found: re.Match[str], _line: LogLine) -> None:
        """Up to 2.0 without the version of `/controller_epoch`: it begins at 0, the epoch at 1."""
        epoch = int(found[1] or found[3])
        version = int(found[2]) if found[2] else epoch - 1
        self.add_event("controller_elected", epoch=epoch, epoch_version=version)

    def _resigned(self, _found: re.Match[str], _line: LogLine) -> None:
        self.add_event("controller_resigned")


def _rising(events: Iterable[Event]) -> Iterator[Event]:
    """Keeps high watermarks rising: a thread may log one when another is higher already."""
    hw: dict[str, int] = defaultdict(int)
    for step, args in events:
        partition = args.get("partition", "")
        if step == "became_leader":
            hw[partition] = args["high_watermark"]
        elif step == "high_watermark_raised":
            if args["now"] <= hw[partition]:
                continue
            args["before"], hw[partition] = hw[partition], args["now"]
        yield step, args


def _appended_first(events: list[Event]) -> Iterator[Event]:
    """Moves appends before what was read or committed of them: the appending thread logs after its
    append, when others may have read and logged the records."""
    coming: dict[str, deque[tuple[int, Event]]] = defaultdict(deque)
    for at, (step, args) in enumerate(events):
        if step in ("records_appended", "became_leader", "became_follower"):
            coming[args["partition"]].append((at, (step, args)))
    end: dict[str, int] = defaultdict(int)
    done: set[int] = set()
    for at, (step, args) in enumerate(events):
        if at in done:
            continue
        partition = args.get("partition", "")
        ahead = coming[partition]
        while ahead and ahead[0][0] <= at:
            ahead.popleft()
        while _end_seen(step, args) > end[partition] and ahead:
            number, (other, its) = ahead[0]
            if other != "records_appended":
                break  # of another leader epoch
            ahead.popleft()
            done.add(number)
            end[partition] = its["end"]
            yield other, its
        if step == "became_leader":
            end[partition] = args["start"]
        elif step == "records_appended":
            end[partition] = args["end"]
        yield step, args


def _end_seen(step: str, args: Mapping[str, Any]) -> int:
    """The least log end of a leader that its event shows; 0 if it shows none."""
    if step == "fetch_served" and args["reply"]["error"] == "NONE":
        return int(max(args["reply"]["end"], args["asked"]["offset"]))
    return int(args["now"]) if step == "high_watermark_raised" else 0


def _after_causes(events: list[Event]) -> list[Event]:
    """Moves fetch answers behind the append and the high watermark that they contain: a read may be
    logged before these."""
    found: list[Event] = []
    early: dict[str, list[Event]] = defaultdict(list)
    end: dict[str, int] = defaultdict(int)
    hw: dict[str, int] = defaultdict(int)
    for step, args in events:
        partition = args.get("partition", "")
        if step == "fetch_served":
            reply = args["reply"]
            if reply["end"] > end[partition] or reply["high_watermark"] > hw[partition]:
                early[partition].append((step, args))
                continue
        found.append((step, args))
        if step == "records_appended":
            end[partition] = args["end"]
        elif step == "high_watermark_raised":
            hw[partition] = args["now"]
        elif step == "became_leader":
            end[partition], hw[partition] = args["start"], args["high_watermark"]
        elif step == "records_replicated":  # consumers may read from a follower (KIP-392)
            end[partition], hw[partition] = args["log_end"], args["high_watermark"]
        else:
            continue
        waiting = early.pop(partition, [])
        for one in waiting:
            reply = one[1]["reply"]
            late = reply["end"] > end[partition] or reply["high_watermark"] > hw[partition]
            (early[partition] if late else found).append(one)
    for some in early.values():
        found += some
    return found


def _answered(part: Mapping[str, Any], offset: int) -> dict[str, Any]:
    return {"error": part["error"], "high_watermark": part["high_watermark"],
            "log_start": part["log_start"], "diverging": None,
            "end": part.get("end", offset)}  # fmt: skip


def _sending(found: re.Match[str], line: LogLine) -> _Sending:
    number = _CORRELATION.search(line.text) or _CORRELATION_ID.search(line.text)
    return int(found[1]), _APIS[found[2]], int(number[1]) if number else -1


def _asks_of_none(api: str, asked: Mapping[str, Any]) -> bool:
    """Up to 2.0 a follower without any leader epoch sends a request too (KAFKA-6859), without
    effect."""
    return api == "OffsetForLeaderEpoch" and int(asked["epoch"]) < 0


def _key(text: str) -> tuple[int, int] | None:
    """The connection of a request as its broker names it, and its correlation id."""
    port, correlation = _CONNECTION.search(text), _CORRELATION.search(text)
    return (int(port[1]), int(correlation[1])) if port and correlation else None


_CONTROL = {"LEADER_AND_ISR": "LeaderAndIsr", "UPDATE_METADATA": "UpdateMetadata",
            "STOP_REPLICA": "StopReplica"}  # fmt: skip
_SEGMENT = re.compile(
    r"\[ReplicaManager broker=\d+\] Fetching log segment for partition (\S+-\d+), offset \d+,"
)
_CONTROLLER = re.compile(r"(?:\{controller_id|RequestData\(controllerId)=(\d+)")
_EPOCH = re.compile(r"controller_?[eE]poch=(-?\d+)")
_REGISTRATION = re.compile(r"broker_?[eE]poch=(-?\d+)")
_STALE = re.compile(r'response"?:\{"?error_?[cC]ode"?[=:]77\b')
_OF_FETCHERS = ("records_replicated", "answer_received", "log_truncating")
_BUILT = {"fetch": "Fetch", "offset for leader epoch": "OffsetForLeaderEpoch"}
_APIS = {"FETCH": "Fetch", "OFFSET_FOR_LEADER_EPOCH": "OffsetForLeaderEpoch"}
_LATE = re.compile(r"\(brokerId: (\d+), endOffset: (-?\d+)\)")
_REFUSED = re.compile(r"(old controller|controller|correlation id|epoch) (\d+)")
_CURRENT = re.compile(r"current leader epoch (-?\d+)|leader epoch (\d+) matches the current")
_ISR = re.compile(r'"isr":\[([\d,]*)\]')
_PENDING = re.compile(r"PendingExpandIsr\(isr=Set\(([\d, ]*)\), newInSyncReplicaId=(\d+)")
_REPLICA = re.compile(r"[rR]eplicaId(?:=|: )(\d+)")
_OFFSET = r"(?:\(offset=)?(\d+) (?:segment|\[)"
Take = Callable[[BrokerTraceReader, re.Match[str], LogLine], None]


def _line(pattern: str, take: Take) -> tuple[re.Pattern[str], Take]:
    return re.compile(pattern), take


_OF = r"^\[Partition (\S+-\d+) broker=\d+\] "
_LOG = r"^\[Log partition=(\S+-\d+), dir="
_SENT_BY = r"controller (\d+) epoch (\d+)"
_LINES = [
    _line(r"^\[KafkaApi-\d+\] Handling request:RequestHeader\(apiKey=(\w+),",
          BrokerTraceReader._handles_request),
    _line(r"^\[ReplicaManager broker=\d+\] Fetching log segment for partition (\S+-\d+), "
          r"offset (\d+),", BrokerTraceReader._reads),
    _line(_LOG + r".*\] Reading (?:maximum )?\d+ bytes (?:from|at) offset (\d+)",
          BrokerTraceReader._reads_log),
    _line(r"^Completed request:.*?(?:FETCH|PRODUCE|OFFSET_FOR_LEADER_EPOCH|"
          r"LEADER_AND_ISR|UPDATE_METADATA|STOP_REPLICA)", BrokerTraceReader._completes),
    _line(r"^\[LeaderEpochCache (\S+-\d+)\] Processed end offset request|"
          r"^Processed offset for epoch request for partition (\S+-\d+) ",
          BrokerTraceReader._looks_up),
    _line(_OF + r"Recorded replica \d+ log end offset \(LEO\) position (-?\d+)",
          BrokerTraceReader._recorded),
    _line(_OF + f"High watermark updated (?:from .* )?to {_OFFSET}",
          BrokerTraceReader._high_watermark_raised),
    _line(_OF + r"Shrinking ISR from ([\d,]+) to ([\d,]+)", BrokerTraceReader._shrinks),
    _line(_OF + r"Expanding ISR from ([\d,]+) to ([\d,]+)", BrokerTraceReader._expands),
    _line(_OF + r"ISR updated to (.*) and (?:zkV|v)ersion updated to \[(\d+)\]",
          BrokerTraceReader._isr_updated),
    _line(_OF + "(?:Cached zkVersion .* not equal|"
          "(?:Controller f|F)ailed to update ISR .* due to invalid (?:zk )?version)",
          BrokerTraceReader._isr_refused),
    _line(r"^Conditional update of path /brokers/topics/([^/]+)/partitions/(\d+)/state with data "
          r"(.*) and expected version (\d+) failed due to KeeperErrorCode = (?!BadVersion|NoNode)",
          BrokerTraceReader._isr_write_failed),
    _line(_LOG + r".*\] Appended message set with .* next offset: (\d+),",
          BrokerTraceReader._appends),
    _line(_LOG + r".*\] Truncating to (?:offset )?(\d+)", BrokerTraceReader._truncates),
    _line(r"^Loading log '?(\S+?)'?$", BrokerTraceReader._loads),
    _line(_LOG + r".*\] Completed load of log with .* log end offset (\d+)",
          BrokerTraceReader._log_ends),
    _line(r"Completed load of Log\(dir=.* topic=(\S+), partition=(\d+),.* logEndOffset=(\d+)\)",
          BrokerTraceReader._log_loaded),
    _line(r"Created log for partition (\S+-\d+) in (\S+) with", BrokerTraceReader._log_created),
    _line(r"(?:Replica|Log) loaded for partition (\S+-\d+) with initial high watermark (\d+)",
          BrokerTraceReader._loaded),
    _line(r"Received LeaderAndIsr request .* correlation id (\d+) from " + _SENT_BY
          + r"(?: for partition (\S+-\d+))?", BrokerTraceReader._received),
    _line(r"Follower (\S+-\d+) starts at leader epoch", BrokerTraceReader._follows),
    _line(r"(\S+-\d+) starts at [Ll]eader [Ee]poch (\d+) from offset (\d+).* "
          r"Previous [Ll]eader [Ee]poch was:? (-?\d+)", BrokerTraceReader._leads),
    _line(r"Stopped fetchers as part of become-follower request from .* for partition (\S+-\d+)"
          r"(?: with|$)", BrokerTraceReader._follows),
    _line(r"Stopped fetchers as part of become-follower request from .* for \d+ partitions",
          BrokerTraceReader._stops_fetchers),
    _line(r"Skipped the become-follower state change after marking .* for partition (\S+-\d+) ",
          BrokerTraceReader._follows),
    _line(r"Handling LeaderAndIsr request .* starting the become-follower transition for partition "
          r"(\S+-\d+) ", BrokerTraceReader._begins_to_follow),
    _line(r"Error while processing LeaderAndIsr request (?:with )?correlationId (\d+) received "
          r"from " + _SENT_BY + r"(?: for partition (\S+-\d+))?", BrokerTraceReader._fails),
    _line(r"Ignoring LeaderAndIsr request from .* for partition (\S+-\d+) since its associated",
          BrokerTraceReader._ignored),
    _line(r"Received LeaderAndIsrRequest .* for partition (\S+-\d+) .*but cannot become follower",
          BrokerTraceReader._unavailable),
    _line(r"(?:Ignoring|old controller).* Latest known controller epoch is (\d+)",
          BrokerTraceReader._refused),
    _line(r"Cached leader info .* for partition (\S+-\d+) in response to UpdateMetadata request "
          r"sent by controller (\d+) epoch (\d+) with correlation id (\d+)",
          BrokerTraceReader._cached),
    _line(r"Finished handling stop replica \(delete=(\w+)\) for partition (\S+-\d+)",
          BrokerTraceReader._stopped),
    _line(r"fetcherId=\d+\] Sending (fetch|offset for leader epoch) request ",
          BrokerTraceReader._builds),
    (_ASKS, BrokerTraceReader._asks),
    _line(r"leaderId=(\d+), fetcherId=\d+\] (?:Completed receive from node \d+ for "
          r"(FETCH|OFFSET_FOR_LEADER_EPOCH) |Received (FETCH|OFFSET_FOR_LEADER_EPOCH) response )",
          BrokerTraceReader._answer_received),
    _line(r"Follower has replica log end offset (\d+) for partition (\S+-\d+)\. Received",
          BrokerTraceReader._truncation_asked),
    _line(r"Follower has replica log end offset (\d+) after appending \d+ bytes of messages for "
          r"partition (\S+-\d+)", BrokerTraceReader._truncation_done),
    _line(r"Follower set replica high watermark for partition (\S+-\d+) to (\d+)",
          BrokerTraceReader._follower_hw),
    _line(r"^Registered broker \d+ at path (?:.* czxid \(broker epoch\): (\d+))?",
          BrokerTraceReader._registered),
    _line(r"successfully elected as the controller\. Epoch incremented to (\d+) and epoch zk "
          r"version is now (\d+)|^\[Controller id=\d+\] Epoch incremented to (\d+)$",
          BrokerTraceReader._elected),
    _line(r"^\[Controller id=\d+\] Resigned$", BrokerTraceReader._resigned),
]  # fmt: skip
