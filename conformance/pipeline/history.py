"""Orders the events of one cluster, and collects evidence that the cluster began anew among them.

Within a broker, lines are ordered by file and line. The clock only decides whether a new beginning
may lie between two lines; every new beginning takes seconds, so clock skew does not matter.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from statistics import median

from conformance.ingest.schema import Event
from conformance.ingest.templates_broker import PARTITION
from conformance.ingest.znode_rows import TRANSACTIONS
from conformance.pipeline.places import Place, files_cover_interval, follow_on
from conformance.pipeline.request_rows import (
    RequestRow,
    Served,
    release_number,
    rows_by_partition,
)
from conformance.pipeline.resets import (
    Reset,
    find_resets,
    registrations,
    signs,
    weigh,
)
from conformance.pipeline.rules import OF_CLUSTERS
from conformance.pipeline.znodes import in_zxid_order

_ELECTED = frozenset(("partition_changed", "isr_removed"))
_NAMELESS = frozenset(
    ("process_starting", "cluster_id", "zookeeper_is_new", "release", "session_expired")
)
_NAMING = frozenset(("configuration", "process_started", "broker_registered"))
PROCESS = frozenset(
    (
        "process_starting",
        "process_started",
        "process_stopped",
        "process_logger",
        "process_controller_thread",
    )
)
_DROPPED = "metadata_dropped"
_ANEW = frozenset(("broker_registered", "process_starting", "process_stopped", "session_expired"))
# What a broker writes to server.log only, of the things that explain a value that goes back.
_SERVER_LOG = frozenset(
    (
        "process_starting",
        "process_started",
        "cluster_id",
        "broker_registered",
        "isr_expanded",
        "isr_shrunk",
        "isr_updated",
        "log_created",
        "log_removed",
    )
)
# Milliseconds: how far stamps of one file go back when threads write it; and what a process, or a
# ZooKeeper, needs at the least to end and start.
_JITTER, _RESTART = 1000, 2000
_BEFORE, _AFTER = 1000, 5000  # of what comes of another line, in another log of the broker
_LOADED = frozenset(("log_created", "high_watermark_loaded"))
_ROLE_LINES = frozenset(
    ("leader_started", "follower_started", "leader_and_isr_received", "leader_and_isr_applied")
)
_ACTS = frozenset(("partition_changed", "leader_and_isr_sent", "metadata_sent", "replica_changed"))
_NEW_TOPICS = "topics_changed"
_AGAIN = 2000  # what a further election needs: who holds the controllership has to lose it first
_NO_NEW_ZOOKEEPER = 1000  # milliseconds in which none begins
PASSED_ON = frozenset(
    ("leader_and_isr_sent", "metadata_sent", "leader_and_isr_received", "metadata_cached")
)
_APART = 900_000  # milliseconds by which clocks of two brokers may be apart
_ADDED = re.compile(
    r"([\w.-]+)-(\d+) -> (?:\(offset=(?P<offset>\d+), leaderEpoch=(?P<epoch>\d+)\)"
    r"|InitialFetchState\(\w+(?:\([\w-]+\))?,BrokerEndPoint\([^)]*\),(?P<epoch_3>\d+),"
    r"(?P<offset_3>\d+)\))"
)
"""A partition among those that are fetched since; the second form is that of 2.8 and later."""
_TOPIC_BEGINS = frozenset(("topics_changed", "partitions_created", "topic_deleted"))
_ASSIGN = frozenset(("topics_changed", "partitions_added"))
_ASSIGNED = re.compile(
    r"(?:\[([\w.-]+),(\d+)\]|([\w.-]+)-(\d+)) -> (?:ReplicaAssignment\(replicas=|\w+\()([\d, ]+)"
)
_REPLICA_BEGINS = frozenset(("log_created", "log_removed"))

Timed = tuple[list[int], list[Event]]
"""Events in the order of their clocks, and their times."""
_NO_LINES: Timed = ([], [])


class History:
    """The events of one cluster. `places` gives the place of each of their files.

    `reduced`: of large partitions, only lines that `screen` handed on are here, so two lines may
    wrongly look like neighbours. `marked`: `screen` handed on all of those lines, so each line
    that contradicts a neighbour says so.
    """

    def __init__(
        self,
        events: Iterable[Event],
        places: Mapping[str, Place],
        reduced: bool = False,
        marked: bool = False,
    ) -> None:
        self.reduced, self.marked = reduced, marked
        self.places = places
        self._rolls: dict[str, list[Place]] = defaultdict(list)
        for place in sorted(places.values(), key=lambda place: (place.stream, place.roll)):
            self._rolls[place.stream].append(place)
        self._part(events)
        self._name_the_nameless()

    def _part(self, events: Iterable[Event]) -> None:
        """Splits events into brokers' lines, in order, and entries of ZooKeeper's transaction log.

        The transaction log belongs to no broker and has another clock: only rules that know of it
        read it.
        """
        events = list(events)
        self.events = sorted((e for e in events if e.kind not in TRANSACTIONS), key=self.key)
        self.transactions = in_zxid_order(e for e in events if e.kind in TRANSACTIONS)

    def key(self, event: Event) -> tuple[str, int, int]:
        """The order of lines: by log, then by file of that log, then by line."""
        place = self.places[event.file]
        return place.stream, place.roll, event.line

    def streams(self, chosen: Callable[[Event], bool]) -> dict[tuple[str, int | None], list[Event]]:
        """The chosen events by log and broker, each list in order."""
        found: dict[tuple[str, int | None], list[Event]] = defaultdict(list)
        for event in self.events:
            if chosen(event):
                found[self.places[event.file].stream, event.broker].append(event)
        return found

    # --- is anything missing between two lines?

    def contiguous(self, a: Event, b: Event) -> bool:
        """Whether every line that the writer of `a` and `b` wrote between them is here.

        Within one file this holds even when several brokers share it; across files only when the
        log belongs to one broker and none of its files is missing or damaged.
        """
        if self.key(b) < self.key(a) or b.at < a.at - _JITTER:
            return False  # files were put together in another order than they were written
        first, last = self.places[a.file], self.places[b.file]
        if first.jumps and b.at > a.at + _RESTART:
            return False  # where a file was put together of parts, one may be missing anywhere
        if a.file == b.file:
            breaks = [*first.jumps, *(line for line, _ in first.holes)]
            return not any(a.line < line <= b.line for line in breaks)
        if first.stream != last.stream:
            return False
        between = self._rolls[first.stream][first.roll : last.roll + 1]
        if any(line > a.line for line, _ in first.holes):
            return False
        if any(line <= b.line for line, _ in last.holes):
            return False
        return not any(place.holes for place in between[1:-1]) and follow_on(between)

    def put_together(self, a: Event, b: Event) -> bool:
        """Whether two lines of one file are in parts of it whose order is unknown."""
        jumps = self.places[a.file].jumps if a.file == b.file else ()
        low, high = sorted((a.line, b.line))
        return any(low < line <= high for line in jumps)

    def complete(self, event: Event) -> bool:
        """Whether this line's log is complete and of one broker."""
        place = self.places[event.file]
        return place.sole and not any(
            each.damaged or each.gap_before or each.holes for each in self._rolls[place.stream]
        )

    def server_log_covers(self, a: Event, b: Event) -> bool:
        """Whether the server log of the writer of `b` is here without gaps, from `a` to `b`.

        It would show a restart of the process, replicas made or removed, and registrations.
        """
        low, high = _between(a, b)
        streams = self._server_logs.get(b.broker, set())
        return any(
            files_cover_interval(self._rolls[stream], low, high) for stream in sorted(streams)
        )

    @cached_property
    def _server_logs(self) -> dict[int | None, set[str]]:
        found: dict[int | None, set[str]] = defaultdict(set)
        for event in self.events:
            if event.kind in _SERVER_LOG:
                found[event.broker].add(self.places[event.file].stream)
        return found

    def isr_is_kept(self, a: Event, b: Event) -> bool:
        """Whether the leader in `a` did not change its ISR before `b`, by its own server log."""
        low, high = _between(a, b)
        begins = (
            event.at
            for event in self._isr_lines.get((a.leader, a.tp), ())
            if not event.detail or numbers(event.detail) == set(a.isr or ())
        )
        return self.tells_isr_changes(a.leader, low, high) and not any(
            low - _APART <= at <= high + _APART for at in begins
        )

    def tells_isr_changes(self, leader: int | None, low: int, high: int) -> bool:
        """Whether a leader's log would show each ISR change in that time, with both ISRs.

        Up to 2.6 it logs them before it writes (Partition.shrinkIsr, expandIsr); with AlterIsr
        (KIP-497) it logs an expansion only when the answer has come.
        """
        known = self.releases
        return (
            bool(known)
            and all(release_number(each) < (2, 7) for each in known)
            and leader in self._log_isrs
            and any(
                files_cover_interval(self._rolls[log], low, high)
                for log in self._server_logs[leader]
            )
            and not self.out_of_step(leader)
        )

    @cached_property
    def _isr_lines(self) -> dict[tuple[int | None, tuple[str, int] | None], list[Event]]:
        """Lines about a partition's ISR that each broker logged as leader before a change."""
        found: dict[tuple[int | None, tuple[str, int] | None], list[Event]] = defaultdict(list)
        for event in self.events:
            if event.kind in ("isr_shrunk", "isr_expanded"):
                found[event.broker, event.tp].append(event)
        return found

    @cached_property
    def _log_isrs(self) -> frozenset[int | None]:
        """Brokers whose logs have lines at INFO from the logger that reports ISR changes."""
        return frozenset(
            event.broker
            for event in self.events
            if event.logger == PARTITION and event.level == "INFO"
        )

    def log_covers(self, event: Event, until: int) -> bool:
        """Whether the log of this line is here without gaps, from the line until a time."""
        low, high = min(event.at, until), max(event.at, until)
        return files_cover_interval(self._rolls[self.places[event.file].stream], low, high)

    def first_stamp(self, event: Event) -> int | None:
        """The first stamp in the log of this line, among the files that are here."""
        stamps = (place.since for place in self._rolls[self.places[event.file].stream])
        return min((at for at in stamps if at is not None), default=None)

    @cached_property
    def elections(self) -> dict[tuple[int | None, int | None], list[int]]:
        """When each broker was elected controller, by broker and controller epoch."""
        found: dict[tuple[int | None, int | None], list[int]] = defaultdict(list)
        for event in self.events:
            if event.kind in ("controller_elected", "controller_ready"):
                found[event.broker, event.controller_epoch].append(event.at)
        return found

    @cached_property
    def live_brokers(self) -> frozenset[int]:
        """Brokers that controllers counted as live; empty where no line lists them."""
        found: set[int] = set()
        for event in self.events:
            if event.kind == "brokers_changed" and "all live brokers" in (event.detail or ""):
                found |= numbers((event.detail or "").split("all live brokers:")[1])
                found |= numbers((event.detail or "").split(",", 1)[0])
            elif event.kind == "broker_epochs":
                found |= {int(each) for each in re.findall(r"(\d+) ->", event.detail or "")}
        return frozenset(found)

    @cached_property
    def writers_of_logs(self) -> dict[str, dict[int, int]]:
        """By log, the brokers that its lines name as their writers, and how many lines each."""
        found: dict[str, dict[int, int]] = {}
        for place in self.places.values():
            counted = found.setdefault(place.stream, {})
            for broker, count in place.writers:
                counted[broker] = counted.get(broker, 0) + count
        return found

    @cached_property
    def writers(self) -> frozenset[int]:
        """Brokers that wrote lines."""
        return frozenset(event.broker for event in self.events if event.broker is not None)

    def assigned(self, tp: tuple[str, int]) -> list[tuple[Event, list[int]]]:
        """The replicas that a partition was created with, by the controller's lines."""
        return self._assigned.get(tp, [])

    @cached_property
    def _assigned(self) -> dict[tuple[str, int], list[tuple[Event, list[int]]]]:
        found: dict[tuple[str, int], list[tuple[Event, list[int]]]] = defaultdict(list)
        for event in self.events:
            if event.kind in _ASSIGN and event.detail:
                for old, number, name, partition, brokers in _ASSIGNED.findall(event.detail):
                    tp = (old, int(number)) if old else (name, int(partition))
                    found[tp].append((event, sorted(numbers(brokers))))
        return found

    def fetchers(self, tp: tuple[str, int]) -> list[Event]:
        """The lines in which brokers begin to fetch a partition, each as one of this partition
        alone: from which leader, in which leader epoch, and from which offset on."""
        return self._fetchers.get(tp, [])

    @cached_property
    def _fetchers(self) -> dict[tuple[str, int], list[Event]]:
        found: dict[tuple[str, int], list[Event]] = defaultdict(list)
        for event in self.events:
            if event.kind != "fetchers_added":
                continue
            leader = min(numbers((event.detail or "").split(", host=")[0].split(" for ")[0]))
            for each in _ADDED.finditer(event.detail or ""):
                topic, partition = each[1], int(each[2])
                found[topic, partition].append(
                    replace(
                        event,
                        topic=topic,
                        partition=partition,
                        leader=leader,
                        leader_epoch=int(each["epoch"] or each["epoch_3"]),
                        offset=int(each["offset"] or each["offset_3"]),
                    )
                )
        return found

    def value_counts(self, column: str, tp: tuple[str, int] | None) -> Counter[int]:
        """How many lines have each value of a column, in one partition or in the cluster."""
        known = self._value_counts.get((column, tp))
        if known is None:
            lines = self.events if tp is None else self._of_partitions.get(tp, ())
            values = (getattr(event, column) for event in lines)
            known = self._value_counts[column, tp] = Counter(
                one for one in values if one is not None
            )
        return known

    def of_partition(self, tp: tuple[str, int]) -> list[Event]:
        """The lines of one partition."""
        return self._of_partitions.get(tp, [])

    @cached_property
    def _of_partitions(self) -> dict[tuple[str, int], list[Event]]:
        found: dict[tuple[str, int], list[Event]] = defaultdict(list)
        for event in self.events:
            if event.tp is not None:
                found[event.tp].append(event)
        return found

    @cached_property
    def _value_counts(self) -> dict[tuple[str, tuple[str, int] | None], Counter[int]]:
        return {}

    def obeyed_before(self, event: Event) -> Event | None:
        """The last line before this one, in its log, in which its broker obeys a controller."""
        here = self.places[event.file].stream, event.broker
        keys, lines = self._obeyed.get(here, ([], []))
        place = bisect_left(keys, self.key(event))
        return lines[place - 1] if place else None

    @cached_property
    def _obeyed(
        self,
    ) -> dict[tuple[str, int | None], tuple[list[tuple[str, int, int]], list[Event]]]:
        found: dict[tuple[str, int | None], tuple[list[tuple[str, int, int]], list[Event]]] = {}
        for event in self.events:
            if event.kind == "obeyed" and event.controller_epoch is not None:
                here = self.places[event.file].stream, event.broker
                keys, lines = found.setdefault(here, ([], []))
                keys.append(self.key(event))
                lines.append(event)
        return found

    @cached_property
    def oldest_release(self) -> tuple[int, ...]:
        """Major and minor number of the oldest release that a broker logs; (0,) if none does."""
        return min(
            (tuple(int(n) for n in re.findall(r"\d+", each)[:2]) for each in self.releases),
            default=(0,),
        )

    @cached_property
    def releases(self) -> frozenset[str]:
        """Every release that a broker logs as its own."""
        named = (event.detail for event in self.events if event.kind == "release")
        return frozenset(each for each in named if each)

    @property
    def fenced(self) -> bool:
        """Whether all brokers are known to fence a deposed controller's writes (KAFKA-6082)."""
        return self.oldest_release >= (2, 1)

    @property
    def controllers_remember_writes(self) -> bool:
        """Whether controllers are known to keep in memory each state that they write.

        Up to 2.3 a controller does not keep the write that raises the leader epoch for a
        reassignment (updateLeaderEpochAndSendRequest), and sends the state before it once more.
        """
        return self.oldest_release >= (2, 4)

    def wrote_deposed(self, event: Event, later: Event) -> bool:
        """Whether the controller of `event` wrote it after the controller of `later` was elected.

        Up to 2.0 nothing prevents this (KAFKA-6082), and the new controller has read the state from
        before the write.
        """
        epoch, newer = event.controller_epoch or 0, later.controller_epoch or 0
        return not self.fenced and any(
            epoch < elected <= newer and times and min(times) <= event.at
            for (_, elected), times in self.elections.items()
            if elected is not None
        )

    def is_of_a_successor(self, event: Event) -> bool:
        """Whether a controller sends a state that a later controller wrote.

        A deposed controller reads states after an IsrChangeNotification and sends them before a
        write of its own is fenced (KafkaController.updateLeaderAndIsrCache). Clocks of two brokers
        may differ.
        """
        epoch, state = event.controller_epoch or 0, event.state_epoch or 0
        return event.kind in PASSED_ON and any(
            epoch < elected == state and times and min(times) <= event.at + _APART
            for (_, elected), times in self.elections.items()
            if elected is not None
        )

    def passed_on(self, events: Iterable[Event]) -> set[int]:
        """Ids of one partition's lines, given in order, whose leader epoch had been raised before.

        Up to 2.3 a controller that raises the leader epoch for a reassignment keeps the old state
        in memory, and sends it until it elects or reads again (KafkaController.updateLeaderEpoch;
        KAFKA-9212). Its memory itself never goes back.
        """
        found: set[int] = set()
        if self.oldest_release >= (2, 4):
            return found
        newest: dict[int, int] = {}
        memory: dict[int, int] = {}
        for event in events:
            epoch, controller = event.leader_epoch, event.controller_epoch
            if epoch is None or controller is None:
                continue
            created = event.kind == "partition_changed" and event.from_state == "NewPartition"
            first = epoch == 0 < memory.get(controller, 0) and (
                event.is_new is True or event.version == 0
            )
            if created or first:  # the topic was deleted, and is another of the same name
                newest.pop(controller, None)
                memory.pop(controller, None)
            is_older = epoch < newest.get(controller, epoch)
            newest[controller] = max(epoch, newest.get(controller, epoch))
            if event.kind not in _ELECTED and is_older and epoch >= memory.get(controller, epoch):
                found.add(id(event))
            if is_older or not event.kind.startswith("leader_and_isr"):
                memory[controller] = max(epoch, memory.get(controller, epoch))
        return found

    def may_be_passed_on(self, a: Event, b: Event) -> bool:
        """Whether a controller, after it had sent `a`, may have sent an older state that it kept.

        It may up to 2.3 if it raised the leader epoch of `a` without an election or a read
        (KAFKA-9212): its memory, and requests not yet sent, have the epoch before.
        """
        if self.oldest_release >= (2, 4) or a.controller_epoch != b.controller_epoch:
            return False
        if b.controller_epoch is None and "before_2_4" not in b.template:
            return False  # a start as newer releases tell it
        raised = self._epoch_told(a)
        return not any(
            event.kind in _ELECTED
            and event.tp == b.tp
            and event.controller_epoch == b.controller_epoch
            and event.leader_epoch == raised
            for event in self.events
        )

    def _epoch_told(self, event: Event) -> int | None:
        """The leader epoch that a line applies; where it shows none, that of its request."""
        if event.leader_epoch is not None:
            return event.leader_epoch
        asked = [
            each.leader_epoch
            for each in self.events
            if each.kind == "leader_and_isr_received"
            and each.tp == event.tp
            and each.broker == event.broker
            and (each.controller, each.controller_epoch, each.correlation)
            == (event.controller, event.controller_epoch, event.correlation)
        ]
        return asked[-1] if asked else None

    def suspects(self, event: Event, other: str) -> bool:
        """Whether a line may be compared with `other`, its neighbour as far as is known.

        Where lines are left out, only lines that were neighbours in the complete log are compared.
        """
        return not self.reduced or event.beside == other

    def may_doubt(self, event: Event, rule: str) -> bool:
        """Whether a rule may doubt a line of a partition that is not certainly wrong.

        Where lines are left out, only a line that contradicted another in the complete log may be.
        """
        return (
            not self.marked or event.tp is None or event.beside is not None or rule in OF_CLUSTERS
        )

    # --- did a process start or end between two lines?

    def restart_between(self, a: Event, b: Event, but: Collection[str] = ()) -> Event | None:
        """A line that shows the process of the broker of `b` start or end between `a` and `b`.

        Lines of the kinds in `but` do not count.
        """
        low, high = _between(a, b)
        folder = self.places[b.file].folder
        for times, marks in (
            self._marks.get((b.broker, ""), ([], [])),
            self._marks.get((None, folder), ([], [])),
        ):
            inside = marks[bisect_left(times, low) : bisect_right(times, high)]
            found = next(
                (mark for mark in inside if mark.kind not in but and not _outside(mark, a, b)), None
            )
            if found is not None:
                return found
        return None

    def registered_anew(self, a: Event, b: Event) -> bool:
        """Whether the broker of `b` got a new session, or restarted, between `a` and `b`."""
        low, high = _between(a, b)
        return any(low <= at <= high for at in self._anew.get((b.broker, ""), ()))

    def same_process(self, a: Event, b: Event) -> bool:
        """Whether the lines would show a restart of the writer of `b` between two of its lines."""
        return 0 <= b.at - a.at < _RESTART or self.server_log_covers(a, b)

    @cached_property
    def _marks(self) -> dict[tuple[int | None, str], tuple[list[int], list[Event]]]:
        found: dict[tuple[int | None, str], list[Event]] = defaultdict(list)
        for event in self.events:
            if event.kind in PROCESS:
                # A start that names nobody may be that of any broker logging to this folder.
                folder = "" if event.broker is not None else self.places[event.file].folder
                found[event.broker, folder].append(event)
        table = {}
        for whose, marks in found.items():
            marks.sort(key=lambda mark: mark.at)
            table[whose] = [mark.at for mark in marks], marks
        return table

    def _name_the_nameless(self) -> None:
        """Gives a `starting` line, which lacks the broker id, that of the next line with one."""
        waiting: list[Event] = []
        stream = ""
        for event in self.events:
            here = self.places[event.file].stream
            if here != stream:
                waiting, stream = [], here
            if event.kind in _NAMELESS and event.broker is None:
                waiting.append(event)
            elif event.kind in _NAMING and event.broker is not None:
                for nameless in waiting:
                    nameless.broker = event.broker
                waiting = []

    # --- did a new ZooKeeper begin between two lines?

    def reset(self, a: Event, b: Event) -> Reset | None:
        """A new beginning of the cluster that may lie between `a` and `b`."""
        low, high = _between(a, b)
        for reset in self.resets:
            if max(reset.low, low) < min(reset.high, high) and not self._in_one_go(a, b, reset):
                return reset
        return None

    def _in_one_go(self, a: Event, b: Event, reset: Reset) -> bool:
        """Whether one process wrote two lines so close together that no ZooKeeper began in between.

        A new ZooKeeper, whose signs date it only within hours, has to be started, its brokers'
        sessions have to expire, and a controller has to be elected.
        """
        low, high = _between(a, b)
        return (
            a.file == b.file
            and a.broker == b.broker
            and high - low < _NO_NEW_ZOOKEEPER
            and reset.low < low - _NO_NEW_ZOOKEEPER
            and high + _NO_NEW_ZOOKEEPER < reset.high
            and not self.put_together(a, b)
            and self.restart_between(a, b) is None
        )

    def age(self, event: Event) -> int | None:
        """How many resets lie before this line; None where this is unknown."""
        count = 0
        for reset in self.resets:
            if reset.high <= event.at:
                count += 1
            elif reset.low < event.at:
                return None
        return count

    def same_zookeeper_throughout(self, a: Event, b: Event) -> bool:
        """Whether registrations rule out a new ZooKeeper between `a` and `b`.

        They do if czxids, which never fall, are seen before and after in one log without gaps in
        between, and keep growing. Where lines are missing, a new ZooKeeper may have reached the old
        one's zxids in the meantime.
        """
        low, high = _between(a, b)
        for times, seen in self._sightings:
            before, after = bisect_right(times, low) - 1, bisect_left(times, high)
            if before < 0 or after == len(times):
                continue
            since, until = seen[before], seen[after]
            if not self.contiguous(since, until):
                continue
            if not any(max(sign.low, since.at) < min(sign.high, until.at) for sign in self._signs):
                return True
        return False

    def same_zookeeper(self, a: Event, b: Event, epoch: int) -> bool:
        """Whether a new ZooKeeper between `a` and `b` with this epoch would be noticed.

        It would by registrations; by the clock, since a ZooKeeper needs time to start and every
        election after the first too; and by both writers' server logs, which show each registration
        and, by the cluster id, the ZooKeeper.
        """
        if self.doubted(a, b):
            return False
        if self.same_zookeeper_throughout(a, b):
            return True
        # Clocks of two brokers may be apart; that matters only where a ZooKeeper did begin anew.
        one_clock = a.broker == b.broker or a.file == b.file or not (self.resets or self._doubtful)
        if one_clock and abs(b.at - a.at) < _RESTART + _AGAIN * max(epoch - 1, 0):
            return True
        return all(
            self.server_log_covers(one, other) and self._kept_zookeeper(one, other)
            for one, other in ((a, b), (b, a))
        )

    def doubted(self, a: Event, b: Event) -> bool:
        """Whether a sign of a new ZooKeeper lies between them that nothing confirms or denies."""
        low, high = _between(a, b)
        return any(max(sign.low, low) < min(sign.high, high) for sign in self._doubtful)

    def _kept_zookeeper(self, a: Event, b: Event) -> bool:
        """Whether the broker of `b` stayed with one ZooKeeper from `a` to `b`.

        It did if it neither restarted nor registered again; otherwise its cluster id decides.
        """
        low, high = _between(a, b)
        folder = self.places[b.file].folder
        anew = (*self._anew.get((b.broker, ""), ()), *self._anew.get((None, folder), ()))
        if not any(low <= at <= high for at in anew):
            return True
        named = self._ids.get(b.broker, [])
        before = [name for at, name in named if at <= low]
        after = [name for at, name in named if at > low]
        return bool(before and after) and all(name == before[-1] for name in after)

    @cached_property
    def _doubtful(self) -> list[Reset]:
        return [reset for reset, sure in weigh(self.events, self.contiguous) if not sure]

    @cached_property
    def _anew(self) -> dict[tuple[int | None, str], list[int]]:
        """The times at which a broker started or ended, or got a new session."""
        found: dict[tuple[int | None, str], list[int]] = defaultdict(list)
        for event in self.events:
            if event.kind in _ANEW or event.to_state == "Stopped":
                folder = "" if event.broker is not None else self.places[event.file].folder
                found[event.broker, folder].append(event.at)
        return found

    @cached_property
    def _ids(self) -> dict[int | None, list[tuple[int, str | None]]]:
        found: dict[int | None, list[tuple[int, str | None]]] = defaultdict(list)
        for event in self.events:
            if event.kind == "cluster_id":
                found[event.broker].append((event.at, event.detail))
        for named in found.values():
            named.sort(key=lambda each: each[0])
        return found

    @cached_property
    def resets(self) -> tuple[Reset, ...]:
        """Every new beginning for which the lines give evidence, in order of time."""
        return find_resets(self.events, self.contiguous)

    @cached_property
    def _signs(self) -> list[Reset]:
        """Every sign of a new beginning, separately: two signs need not be of the same one."""
        return list(signs(self.events, self.contiguous))

    @cached_property
    def _sightings(self) -> list[tuple[list[int], list[Event]]]:
        """Sightings of registrations by log, with their times."""
        found: dict[str, list[Event]] = defaultdict(list)
        for each in registrations(self.events):
            found[self.places[each.event.file].stream].append(each.event)
        return [([event.at for event in seen], seen) for _, seen in sorted(found.items())]

    @cached_property
    def served(self) -> dict[Served, list[RequestRow]]:
        """The requests and responses about each partition, from the request logs."""
        return rows_by_partition(self.events, self.places)

    @cached_property
    def epoch_answers(self) -> dict[tuple[int, str, int, int], list[tuple[int, Event]]]:
        """The answers to followers about the end of an epoch, from the request logs.

        By follower, partition and the leader epoch in the request.
        """
        found: dict[tuple[int, str, int, int], list[tuple[int, Event]]] = defaultdict(list)
        for (_, _, topic, partition), rows in sorted(self.served.items()):
            for row in rows:
                follower = row.event.replica
                if (
                    not row.fetch
                    and row.fine
                    and row.current_leader_epoch >= 0
                    and follower is not None
                ):
                    end = row.answered.get("endoffset", -1)
                    found[follower, topic, partition, row.current_leader_epoch].append(
                        (end, row.event)
                    )
        return found

    # --- did a topic, or a replica of it, begin anew between two lines?

    def topic_began(self, a: Event, b: Event) -> Event | None:
        """A line that shows the topic of `b` created or completely deleted between `a` and `b`."""
        return _first(self._of_topic(b.topic or ""), a, b)

    def deletions(self, topic: str) -> list[Event]:
        """The lines that end the deletion of a topic, by the clock."""
        return [event for event in self._of_topic(topic)[1] if event.kind == "topic_deleted"]

    def forgotten(self, a: Event, b: Event) -> Event | None:
        """A line in which a broker drops the partition of `b` from its metadata, between `a` and
        `b`: its topic is being deleted."""
        return _first(self._dropped.get(b.tp, _NO_LINES), a, b)

    @cached_property
    def _dropped(self) -> dict[tuple[str, int] | None, Timed]:
        found: dict[tuple[str, int] | None, list[Event]] = defaultdict(list)
        for event in self.events:
            if event.template == _DROPPED:
                found[event.tp].append(event)
        return {tp: timed(events) for tp, events in found.items()}

    def lived_twice(self, event: Event) -> bool:
        """Whether any line shows the topic of `event` deleted, or one of its partitions made twice.

        Two brokers, whose clocks may differ, then do not surely mean the same topic.
        """
        return self._made_twice(event.topic)

    def _made_twice(self, topic: str | None) -> bool:
        return topic in self._twice

    @cached_property
    def _twice(self) -> frozenset[str | None]:
        made: set[tuple[str, int]] = set()
        found: set[str | None] = set()
        for event in self.events:
            if event.kind in ("topic_deleted", "log_removed") or event.template == _DROPPED:
                found.add(event.topic)
            elif event.to_state == "NewPartition" and event.tp is not None:
                if event.tp in made:
                    found.add(event.topic)
                made.add(event.tp)
        return frozenset(found)

    def clock_was_set(self, *events: Event) -> bool:
        """Whether a clock of these lines' brokers was set back, or their files are in no order.

        Lines in different files then have no order.
        """
        return any(
            self._folder_jumps[self.places[each.file].folder] or self.out_of_step(each.broker)
            for each in events
        )

    def out_of_step(self, broker: int | None) -> bool:
        """Whether two logs of a broker disagree by its clock: one was shifted in time.

        Causes and effects in two logs, moments apart, show this: a replica's log is created or
        loaded when its broker gets a LeaderAndIsr for it; a controller acts when it is elected or,
        without work, when it sees the first topic; it creates the topics that it sees.
        """
        return any(
            whose == broker and not -_BEFORE <= median(gaps) <= _AFTER
            for (whose, _), gaps in self._gaps.items()
        )

    def in_step(self, a: Event, b: Event) -> bool:
        """Whether causes and effects show that the files of two lines have one clock."""
        both = frozenset((a.file, b.file))
        return any(
            files == both and -_BEFORE <= median(gaps) <= _AFTER
            for (_, files), gaps in self._gaps.items()
        )

    @cached_property
    def _gaps(self) -> dict[tuple[int | None, frozenset[str]], list[int]]:
        """Milliseconds between cause and effect, by broker and pair of files of two logs, of which
        one may be shifted alone."""
        effects: dict[tuple[object, ...], list[Event]] = defaultdict(list)
        causes: list[tuple[tuple[object, ...], Event]] = []
        acted: set[tuple[object, ...]] = set()
        for event in self.events:
            if event.broker is None:
                continue
            stream = self.places[event.file].stream
            if event.kind in _LOADED and event.tp is not None:
                causes.append(((event.broker, *event.tp), event))
            elif event.kind in _ROLE_LINES and event.tp is not None:
                effects[event.broker, *event.tp].append(event)
            elif event.kind == "controller_elected":
                causes.append(((event.broker, event.controller_epoch), event))
            elif event.template == _NEW_TOPICS:
                for topic in _topics((event.detail or "").split("deleted topics")[0]):
                    causes.append(((event.broker, topic), event))
            elif event.kind in _ACTS and event.controller == event.broker:
                act = (event.broker, event.controller_epoch, stream)
                if event.to_state == "NewPartition":
                    effects[event.broker, event.topic].append(event)
                if act not in acted:
                    acted.add(act)
                    effects[act[:2]].append(event)
        found: dict[tuple[int | None, frozenset[str]], list[int]] = defaultdict(list)
        seen = {key: cause.at for key, cause in causes if cause.template == _NEW_TOPICS}
        for key, cause in causes:
            stream = self.places[cause.file].stream
            near: dict[str, Event] = {}
            for event in sorted(effects.get(key, ()), key=lambda each: each.at):
                made = seen.get((event.broker, event.topic), cause.at)
                if cause.kind == "controller_elected" and cause.at < made <= event.at:
                    continue  # there was nothing to do before
                other = self.places[event.file].stream
                if other != stream:
                    both = near.get(other, event), event
                    near[other] = min(both, key=lambda each: abs(each.at - cause.at))
            for event in near.values():
                files = frozenset((cause.file, event.file))
                found[cause.broker, files].append(event.at - cause.at)
        return found

    @cached_property
    def _folder_jumps(self) -> dict[str, bool]:
        found: dict[str, bool] = defaultdict(bool)
        for place in self.places.values():
            found[place.folder] |= bool(place.jumps) or place.tangled
        return found

    def replica_began(self, a: Event, b: Event) -> Event | None:
        """A line that shows the broker of `b` create or remove the log of its partition."""
        lines = self._replica_lines.get((b.broker, b.topic, b.partition), _NO_LINES)
        return _first(lines, a, b)

    def replica_stopped(self, a: Event, b: Event) -> bool:
        """Whether the broker of `b` was asked in between to stop replicas, perhaps this one."""
        low, high = _between(a, b)
        return any(
            low <= event.at <= high and event.tp in (None, b.tp)
            for event in self._stops_of(b.broker)
        )

    def _stops_of(self, broker: int | None) -> Iterable[Event]:
        return self._stops.get(broker, ())

    @cached_property
    def _stops(self) -> dict[int | None, list[Event]]:
        found: dict[int | None, list[Event]] = defaultdict(list)
        for event in self.events:
            if event.kind == "stop_replica_handled":
                found[event.broker].append(event)
        return found

    def _of_topic(self, topic: str) -> Timed:
        return self._topic_lines.get(topic, _NO_LINES)

    @cached_property
    def _topic_lines(self) -> dict[str, Timed]:
        found: dict[str, list[Event]] = defaultdict(list)
        for event in self.events:
            if event.kind == "partition_changed" and event.to_state == "NewPartition":
                found[event.topic or ""].append(event)
            elif event.kind in _TOPIC_BEGINS:
                for topic in {event.topic} if event.topic else _topics(event.detail or ""):
                    found[topic].append(event)
        return {topic: timed(events) for topic, events in found.items()}

    @cached_property
    def _replica_lines(self) -> dict[tuple[int | None, str | None, int | None], Timed]:
        found: dict[tuple[int | None, str | None, int | None], list[Event]] = defaultdict(list)
        for event in self.events:
            if event.kind in _REPLICA_BEGINS:
                found[event.broker, event.topic, event.partition].append(event)
        return {key: timed(events) for key, events in found.items()}


class Within(History):
    """All lines of one partition, in a cluster of which the rest is known.

    `cluster` has the lines that the rules of a whole cluster need (`cluster_evidence`): process
    starts, deleted topics, new ZooKeepers. Facts that only lines of this partition show are taken
    from those lines.
    """

    def __init__(
        self, events: Iterable[Event], places: Mapping[str, Place], cluster: History
    ) -> None:
        self.reduced, self.marked, self.places = False, False, places
        self._rolls, self._cluster = cluster._rolls, cluster
        self._part(events)

    def _made_twice(self, topic: str | None) -> bool:
        return topic in self._twice or topic in self._cluster._twice

    def _stops_of(self, broker: int | None) -> Iterable[Event]:
        return (*self._stops.get(broker, ()), *self._cluster._stops.get(broker, ()))

    def _of_topic(self, topic: str) -> Timed:
        own, others = super()._of_topic(topic), self._cluster._of_topic(topic)
        if not own[0] or not others[0]:
            return own if own[0] else others
        if topic not in self._joined_lines:
            self._joined_lines[topic] = timed([*own[1], *others[1]])
        return self._joined_lines[topic]

    @cached_property
    def _joined_lines(self) -> dict[str, Timed]:
        return {}

    @cached_property
    def resets(self) -> tuple[Reset, ...]:
        """Those of the cluster."""
        return self._cluster.resets

    @cached_property
    def served(self) -> dict[Served, list[RequestRow]]:
        """Those of the cluster."""
        return self._cluster.served

    @cached_property
    def epoch_answers(self) -> dict[tuple[int, str, int, int], list[tuple[int, Event]]]:
        """Those of the cluster."""
        return self._cluster.epoch_answers

    @cached_property
    def elections(self) -> dict[tuple[int | None, int | None], list[int]]:
        """Those of the cluster."""
        return self._cluster.elections

    @cached_property
    def live_brokers(self) -> frozenset[int]:
        """Those of the cluster."""
        return self._cluster.live_brokers

    @cached_property
    def writers_of_logs(self) -> dict[str, dict[int, int]]:
        """Those of the cluster."""
        return self._cluster.writers_of_logs

    @cached_property
    def writers(self) -> frozenset[int]:
        """Those of the cluster."""
        return super().writers | self._cluster.writers

    @cached_property
    def _assigned(self) -> dict[tuple[str, int], list[tuple[Event, list[int]]]]:
        return self._cluster._assigned

    @cached_property
    def _fetchers(self) -> dict[tuple[str, int], list[Event]]:
        return self._cluster._fetchers

    @cached_property
    def _obeyed(
        self,
    ) -> dict[tuple[str, int | None], tuple[list[tuple[str, int, int]], list[Event]]]:
        return self._cluster._obeyed

    @cached_property
    def releases(self) -> frozenset[str]:
        """Those of the cluster."""
        return self._cluster.releases

    @cached_property
    def _server_logs(self) -> dict[int | None, set[str]]:
        found = super()._server_logs
        for broker, streams in self._cluster._server_logs.items():
            found[broker] |= streams
        return found

    @cached_property
    def _marks(self) -> dict[tuple[int | None, str], tuple[list[int], list[Event]]]:
        return self._cluster._marks

    @cached_property
    def _doubtful(self) -> list[Reset]:
        return self._cluster._doubtful

    @cached_property
    def _anew(self) -> dict[tuple[int | None, str], list[int]]:
        return self._cluster._anew

    @cached_property
    def _ids(self) -> dict[int | None, list[tuple[int, str | None]]]:
        return self._cluster._ids

    @cached_property
    def _signs(self) -> list[Reset]:
        return self._cluster._signs

    @cached_property
    def _sightings(self) -> list[tuple[list[int], list[Event]]]:
        return self._cluster._sightings

    @cached_property
    def _folder_jumps(self) -> dict[str, bool]:
        return self._cluster._folder_jumps

    @cached_property
    def _gaps(self) -> dict[tuple[int | None, frozenset[str]], list[int]]:
        found = super()._gaps
        for pair, gaps in self._cluster._gaps.items():
            found[pair] = [*found[pair], *gaps]
        return found


def _between(a: Event, b: Event) -> tuple[int, int]:
    """The time interval from `a` to `b`, wider if a clock was set back in between."""
    return (a.at, b.at) if a.at <= b.at else (b.at - 1, a.at + 1)


def _outside(mark: Event, a: Event, b: Event) -> bool:
    """Whether a line of the same millisecond stands before `a` or after `b` in their file."""
    return (mark.file == a.file and mark.at == a.at and mark.line < a.line) or (
        mark.file == b.file and mark.at == b.at and mark.line > b.line
    )


def timed(events: Iterable[Event]) -> Timed:
    """Events and their times, by their clocks."""
    ordered = sorted(events, key=lambda event: (event.at, event.file, event.line))
    return [event.at for event in ordered], ordered


def _first(lines: Timed, a: Event, b: Event) -> Event | None:
    low, high = _between(a, b)
    times, events = lines
    for event in events[bisect_left(times, low) : bisect_right(times, high)]:
        if event.partition in (None, b.partition):
            return event
    return None


def numbers(text: str | None) -> frozenset[int]:
    """The numbers in a text."""
    return frozenset(int(each) for each in re.findall(r"\d+", text or ""))


def _topics(detail: str) -> set[str]:
    """Names of topics in a list of topics, `Set(orders)`, or of partitions, `orders-0,orders-1`."""
    found = set()
    for word in re.findall(r"[A-Za-z0-9._-]+", detail.split("new partition replica")[0]):
        found.add(word)
        name, dash, number = word.rpartition("-")
        if dash and number.isdigit():
            found.add(name)
    return found
