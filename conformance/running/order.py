"""Orders the lines of several processes by zxid, epochs and requests, not by clocks.

Lines of a process keep their order; ZooKeeper's lines are ordered by zxid. Between processes a line
comes after each line that it depends on: a broker's notification of a write after the write, an
answer after its question, what is made of an answer after the answer. Any such order shows each
process the same; the chosen order takes each line as early as possible.
"""

from __future__ import annotations

import heapq
import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from conformance.running.process_traces import (
    IDS,
    STARTED,
    ZOOKEEPER,
    ClusterTraces,
    Process,
    TraceLine,
)

STATE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state")
_FETCHER = re.compile(r"broker-(\d+)-fetcher-\d+")
ATTEMPTS = ("isr_expanding", "isr_shrinking")
RECEIVED, LOADED = "answer_received", "log_loaded"
MOST_WAYS = 20
_ASKS = ("records_asked", "epoch_asked")
TAKES = ("log_truncating", "records_replicated", "append_failed")


@dataclass(frozen=True)
class StateWrite:
    """The state of a partition that ZooKeeper has from a transaction on."""

    line: TraceLine
    partition: str
    version: int
    state: dict[str, Any]
    session: int
    by_leader: bool
    """The leader epoch is that of the state before: its leader wrote another ISR."""

    @property
    def is_new(self) -> bool:
        """Whether the znode was created."""
        return self.version == 0


@dataclass
class OrderedLines:
    """Lines in an order that satisfies each "after"; `stuck` are those that wait for each other."""

    lines: list[TraceLine] = field(default_factory=list)
    stuck: list[TraceLine] = field(default_factory=list)
    circle: list[TraceLine] = field(default_factory=list)
    """Why some are stuck: each of these is before the next one, and the last before the first."""
    writes: dict[TraceLine, list[StateWrite]] = field(default_factory=dict)
    takes: dict[tuple[int, str, int], TraceLine] = field(default_factory=dict)
    """(follower, partition, correlation) -> what the follower made of the answer."""
    wrote: dict[tuple[str, int, int], TraceLine] = field(default_factory=dict)
    """(partition, leader epoch, zkVersion) -> where the controller tells of its write."""
    brokers: dict[int, int] = field(default_factory=dict)
    """Session -> broker."""
    sent: dict[tuple[int, ...], TraceLine] = field(default_factory=dict)
    """By `requests_of`: where a controller hands a request to a broker's channel."""


def follower_of(line: TraceLine) -> int | None:
    """The follower that is answered: its requests name it."""
    found = _FETCHER.fullmatch(str(line.args.get("client", "")))
    return int(found[1]) if found else None


def request_of(line: TraceLine) -> tuple[int, ...]:
    """The request that a broker's line is about: controller, its epoch, the broker, the number of
    the request among those for it, and the registration that it names, if it does (KIP-380)."""
    args = line.args
    sender = args["sender"]
    found = sender["controller"], sender["epoch"], line.broker, sender["correlation"]
    registration = args.get("registration", -1)
    return (*found, registration) if registration >= 0 else found


def requests_of(line: TraceLine) -> list[tuple[int, ...]]:
    """The forms in which a request in a broker's channel may arrive: with and without the
    registration, once for each time that the channel sent it. None if it never did."""
    args = line.args
    numbers = [one for one in (args["correlation"], *args.get("again", ())) if one is not None]
    found: list[tuple[int, ...]] = []
    for number in numbers:
        one = line.broker, args["epoch"], args["to"], number
        found += [one, (*one, args["registration"])]
    return found


def refused(lines: Iterable[TraceLine]) -> set[TraceLine]:
    """Brokers' lines about requests that were refused as a whole. A request may arrive twice, and
    only the second may be refused; if no line shows an arrival, both count as refused."""
    found: set[TraceLine] = set()
    about: dict[tuple[object, ...], list[TraceLine]] = defaultdict(list)
    comes: set[tuple[object, ...]] = set()
    keys: set[tuple[object, ...]] = set()
    for line in lines:
        sender = line.args.get("sender")
        if not isinstance(sender, dict):
            continue
        key: tuple[object, ...] = (
            line.broker, line.start, sender["correlation"], sender["controller"], sender["epoch"],
        )  # fmt: skip
        if line.step == "request_received":
            about[key] = []
            comes.add(key)
        about[key].append(line)
        if line.step == "request_refused":
            keys.add(key)
            found.update(about[key])
    for key in keys - comes:
        found.update(about[key])
    return found


def past_former_fetchers(chain: list[TraceLine]) -> list[TraceLine]:
    """Moves each "became_follower" of a process behind what the former fetcher did meanwhile.

    A LeaderAndIsr makes followers one partition after the other, and stops their fetchers after all
    of them (`ReplicaManager.makeFollowers`). While it waits for one partition, for example for an
    ISR write, the fetchers of the others continue under the former leader and leader epoch, which
    they store themselves. So their steps count as earlier. A new fetcher sends a request before it
    takes an answer. Up to 2.0 a fetcher may continue at the same leader; it is no former one.
    """
    became: dict[str, int] = {}
    asked: dict[str, tuple[int, int | None]] = {}  # whom, and in which leader epoch if that is said
    last: dict[int, int] = {}  # index of a "became_follower" -> of what it comes after
    for at, line in enumerate(chain):
        partition = line.partition
        if line.step == STARTED:
            became.clear()
            asked.clear()
        elif partition is None:
            continue
        elif line.step == "became_follower":
            became[partition] = at
        elif line.step in ("became_leader", "stop_replica_completed"):
            became.pop(partition, None)
        elif line.step in (*_ASKS, "records_replicated", "append_failed"):
            if line.step in _ASKS:
                asked[partition] = line.args["leader"], line.args["asked"]["leader_epoch"]
            if partition not in became or partition not in asked:
                continue
            order, (leader, epoch) = chain[became[partition]].args, asked[partition]
            newer = epoch is not None and epoch < order["leader_epoch"]
            if leader != order["leader"] or newer:
                last[became[partition]] = at
            elif line.step in _ASKS:
                del became[partition]
    moved: dict[int, list[TraceLine]] = defaultdict(list)
    for at, after in sorted(last.items()):
        moved[after].append(chain[at])
    found: list[TraceLine] = []
    for at, line in enumerate(chain):
        if at not in last:
            found += [line, *moved.get(at, ())]
    return found


def order_lines(gathered: ClusterTraces) -> OrderedLines:
    """Orders all lines."""
    return _Ordering(gathered).run()


class _Ordering:
    def __init__(self, gathered: ClusterTraces) -> None:
        self.gathered = gathered
        self.found = OrderedLines()
        self.lines: list[TraceLine] = []
        self.at: dict[TraceLine, int] = {}
        self.after: dict[int, list[int]] = defaultdict(list)
        self.known: dict[TraceLine, int] = {}
        self.left: dict[TraceLine | None, TraceLine] = {}

    def run(self) -> OrderedLines:
        chains: dict[Process, list[TraceLine]] = defaultdict(list)
        for start in sorted(self.gathered.starts, key=lambda one: (one.process, one.number)):
            chains[start.process] += start.lines
        for process, lines in chains.items():
            chains[process] = chain = past_former_fetchers(lines)
            for line in chain:
                self.at[line] = len(self.lines)
                self.lines.append(line)
            for one, other in pairwise(chain):
                self._follows(other, one)
        self._zookeeper(chains[ZOOKEEPER, 0])
        for process, chain in sorted(chains.items()):
            if process[0] == "broker":
                self._requests(chain)
        self._controllerships(chains)
        self._heard_of(chains[ZOOKEEPER, 0])
        self._channels()
        self._senders()
        self._lives(chains)
        self._states()
        self._sort()
        return self.found

    def _follows(self, later: TraceLine | None, earlier: TraceLine | None) -> None:
        if later is not None and earlier is not None and later is not earlier:
            self.after[self.at[earlier]].append(self.at[later])

    # ZooKeeper

    def _zookeeper(self, chain: list[TraceLine]) -> None:
        starts = {(one.process[1], one.lines[0].start): one for one in self.gathered.starts}
        registered = {
            (line.broker, line.args.get("epoch")): line
            for line in self.lines
            if line.step == "registered"
        }
        epochs: dict[str, int] = {}
        for line in chain:
            for op in line.args.get("ops", ()):
                path = str(op.get("path", ""))
                if op["op"] == "Create" and path.startswith(IDS):
                    broker = int(path.removeprefix(IDS))
                    self.found.brokers[op.get("owner", -1)] = broker
                    at = registered.get((broker, line.args["zxid"]))
                    self._follows(at, line)
                    if at is not None:
                        self._follows(line, starts[broker, at.start].lines[0])
                place = STATE.fullmatch(path)
                if place is not None and "data" in op:
                    name, state = f"{place[1]}-{place[2]}", json.loads(op["data"])
                    same = epochs.get(name) == state["leader_epoch"] and op["version"] > 0
                    epochs[name] = state["leader_epoch"]
                    write = StateWrite(
                        line, name, op["version"], state, line.args.get("session", -1), same
                    )
                    self.found.writes.setdefault(line, []).append(write)

    def _controllerships(self, chains: dict[Process, list[TraceLine]]) -> None:
        """A controller's write to its epoch, and when it heard of it."""
        elected = {
            (line.broker, line.args.get("epoch")): line
            for line in self.lines
            if line.step == "controller_elected"
        }
        for line in chains[ZOOKEEPER, 0]:
            for op in line.args.get("ops", ()):
                if op.get("path") == "/controller_epoch" and "data" in op:
                    broker = self.found.brokers.get(line.args.get("session", -1), -1)
                    heard = elected.get((broker, int(op["data"])))
                    self._follows(heard, line)
                    if heard is not None:
                        self._follows(line, self._before(chains["broker", broker], heard))

    def _heard_of(self, chain: list[TraceLine]) -> None:
        """A controller's line comes after the newest transaction that its session had heard of."""
        done = [line for line in chain if "zxid" in line.args]
        zxids = [line.args["zxid"] for line in done]
        for line in self.lines:
            if line.process[0] != ZOOKEEPER and isinstance(line.args.get("zxid"), int):
                at = bisect_right(zxids, line.args["zxid"])
                self._follows(line, done[at - 1] if at else None)

    def _channels(self) -> None:
        """A controller's request arrives after it was sent."""
        for line in self.lines:
            if line.step == "request_sent":
                self.found.sent |= dict.fromkeys(requests_of(line), line)
        for line in self.lines:
            if line.step == "request_received":
                self._follows(line, self.found.sent.get(request_of(line)))

    def _senders(self) -> None:
        """What a controller asks for comes after it was elected."""
        elected = {
            (line.broker, line.args.get("epoch")): line
            for line in self.lines
            if line.step == "controller_elected"
        }
        of_epoch = {epoch: line for (_, epoch), line in elected.items()}
        for line in self.lines:
            sender = line.args.get("sender")
            if isinstance(sender, dict):
                self._follows(line, elected.get((sender["controller"], sender["epoch"])))
            if line.step == "request_refused":
                self._follows(line, of_epoch.get(line.args.get("known")))

    def _lives(self, chains: dict[Process, list[TraceLine]]) -> None:
        """A process writes to ZooKeeper before its next start; a lost controllership is resigned
        after."""
        started = {(line.process, line.start): line for line in self.lines if line.step == STARTED}
        sessions: dict[int, TraceLine | None] = {}
        for line in self.lines:
            if line.step == "registered":
                following = started.get((line.process, line.start + 1))
                sessions[line.args.get("session", -1)] = following
        owner: int | None = None  # the session that has /controller
        held: TraceLine | None = None
        controllerships = {
            line.args["epoch"]: line for line in self.lines if line.step == "controller_elected"
        }
        self._ends_of_controllerships()
        for line in chains[ZOOKEEPER, 0]:
            if line.step == "session_ended":
                if owner == line.args["session"]:
                    if not line.args.get("closed"):
                        self._follows(self.left.get(held), line)
                    owner = None
                continue
            following = sessions.get(line.args.get("session", -1))
            self._follows(following, line)
            for op in line.args.get("ops", ()):
                if op["path"] == "/controller" and op["op"] == "Delete":
                    self._follows(self.left.get(held), line)
                    owner = None
                elif op["path"] == "/controller_epoch" and int(op.get("data") or 0) > 0:
                    owner, held = line.args["session"], controllerships.get(int(op["data"]))

    def _before(self, chain: list[TraceLine], line: TraceLine) -> TraceLine | None:
        """The last time that a broker resigned before it came into it."""
        found: TraceLine | None = None
        for one in chain:
            if one is line:
                return found
            if one.step in ("controller_resigned", "controller_elected"):
                found = one
        return found

    # States

    def _ends_of_controllerships(self) -> None:
        """Where each controller left its controllership, by the line at which it came into it."""
        holds: dict[int, TraceLine] = {}
        for line in self.lines:
            if line.step == "controller_elected":
                holds[line.broker] = line
            elif line.step == "controller_resigned" and line.broker in holds:
                self.left[holds.pop(line.broker)] = line
            elif line.step == STARTED:
                holds.pop(line.broker, None)

    def _states(self) -> None:
        writes: dict[tuple[str, int, int], StateWrite] = {}
        epochs: dict[int, TraceLine] = {
            int(line.args["epoch"]): line
            for line in self.lines
            if line.step == "controller_elected"
        }
        for some in self.found.writes.values():
            for one in some:
                writes[one.partition, one.version, int(one.state["leader_epoch"])] = one
        of_version = {(one.partition, one.version): one for one in writes.values()}
        attempts: dict[tuple[int, str], list[TraceLine]] = defaultdict(list)
        known: dict[tuple[int, str], int] = {}
        for line in self.lines:
            self._note_version(line, known)
            self._state(line, writes, of_version, attempts)
            if line.step == "request_sent" and "zxid" not in line.args:
                for name, (epoch, version) in (line.args["partitions"] or {}).items():
                    its = writes.get((name, version, epoch))
                    self._follows(line, None if its is None else its.line)
        used: set[TraceLine] = set()
        for key in sorted(writes):
            one = writes[key]
            if not one.by_leader:
                at = self.found.wrote.get((one.partition, key[2], one.version))
                self._follows(at, one.line)
                elected = epochs.get(int(one.state["controller_epoch"]))
                self._follows(one.line, elected)
                self._follows(self.left.get(elected), one.line)
                continue
            for line in attempts[int(one.state["leader"]), one.partition]:
                named = set(line.args["wanted"]) == set(one.state["isr"])
                if line not in used and named and self.known.get(line) == one.version - 1:
                    used.add(line)
                    self._follows(one.line, line)
                    break

    def _note_version(self, line: TraceLine, known: dict[tuple[int, str], int]) -> None:
        """The zkVersion under which a leader wants another ISR: the last one that it was sent."""
        if line.partition is None:
            return
        key = line.broker, line.partition
        if line.step == "leader_and_isr_received":  # which is refused if it is an old one
            known[key] = max(known.get(key, -1), line.args["order"]["zk_version"])
        elif line.step == "isr_updated":
            known[key] = line.args["zk_version"]
        elif line.step in (*ATTEMPTS, "isr_request_refused"):
            self.known[line] = known.get(key, -1)

    def _state(
        self, line: TraceLine, writes: dict[tuple[str, int, int], StateWrite],
        of_version: dict[tuple[str, int], StateWrite],
        attempts: dict[tuple[int, str], list[TraceLine]],
    ) -> None:  # fmt: skip
        args, partition = line.args, line.partition
        if partition is None:
            return
        match line.step:
            case "leader_and_isr_received":
                order = args["order"]
                there = writes.get((partition, order["zk_version"], order["leader_epoch"]))
                self._follows(line, None if there is None else there.line)
            case "state_written":
                key = (partition, args["leader_epoch"], args["zk_version"])
                self.found.wrote[key] = line
            case "isr_updated":
                heard = of_version.get((partition, args["zk_version"]))
                self._follows(line, None if heard is None else heard.line)
            case "isr_update_refused":
                other = of_version.get((partition, args["zk_version"] + 1))
                self._follows(line, None if other is None else other.line)
            case "isr_request_refused" if args["gives_up"]:
                other = of_version.get((partition, self.known[line] + 1))
                if other is not None and other.by_leader:  # its own, of which it did not hear
                    same = set(other.state["isr"]) == set(args["isr"])
                    other = of_version.get((partition, other.version + 1)) if same else other
                self._follows(line, None if other is None else other.line)
            case step if step in ATTEMPTS:
                attempts[line.broker, partition].append(line)

    # ProxiedRequests and answers

    def _requests(self, chain: list[TraceLine]) -> None:
        """A follower's questions, their answers, and what it made of them."""
        if not hasattr(self, "_answers"):
            self._answers: dict[tuple[int, str, int], list[TraceLine]] = defaultdict(list)
            self._started = {
                (line.process, line.start): line for line in self.lines if line.step == STARTED
            }
            for line in self.lines:
                if line.step in ("fetch_served", "epoch_served"):
                    follower, partition = follower_of(line), line.partition
                    if follower is not None and partition is not None:
                        key = (follower, partition, line.args["correlation"])
                        self._answers[key].append(line)
        asked: dict[str, tuple[int, str, int]] = {}
        of_epochs: dict[str, int] = {}  # whom an epoch was asked of last, if nothing else was
        anew: set[str] = set()  # followed anew since they were asked for
        loaded = {
            (line.start, line.partition): line.args["log_end"]
            for line in chain
            if line.step == LOADED
        }
        ends: dict[str, int] = {}  # of followers, as far as they came to trace
        for line in chain:
            partition = line.partition
            if line.step == STARTED:
                for name, key in asked.items():
                    # Its last answer was appended, and the process ended before it traced that.
                    grew = loaded.get((line.start, name), -1) > ends.get(name, 1 << 62)
                    for answer in self._answers.get(key, ()) if grew else ():
                        self._follows(line, answer)
                ends.clear()
                asked.clear()
                of_epochs.clear()
            if partition is None:
                continue
            if line.step == "records_replicated":
                ends[partition] = line.args["log_end"]
            elif line.step in ("became_leader", "became_follower", "log_truncating"):
                ends.pop(partition, None)
            # A fetcher that goes on at its leader (up to 2.0) awaits the answer to its question;
            # one that does not asks again before it cuts, for it has an epoch to ask for.
            if line.step == "became_follower" and of_epochs.get(partition) != line.args["leader"]:
                anew.add(partition)
            if line.step in ("records_asked", "epoch_asked"):
                anew.discard(partition)
            asks_nobody = line.step == "log_truncating" and partition in anew
            if asks_nobody and line.args["offset"] >= line.args["log_end"]:
                continue  # it has nothing to be compared
            if line.step in ("records_asked", "epoch_asked"):
                of_epochs.pop(partition, None)
                if line.step == "epoch_asked":
                    of_epochs[partition] = line.args["leader"]
                key = asked[partition] = (line.broker, partition, line.args["correlation"])
                for answer in self._answers.get(key, ()):
                    self._follows(answer, line)
                    # Nobody is connected to a process before it starts.
                    self._follows(line, self._started.get((answer.process, answer.start)))
            elif line.step == RECEIVED:
                for answer in self._answers.get(
                    (line.broker, partition, line.args["correlation"]), ()
                ):
                    self._follows(line, answer)
            elif line.step in TAKES and partition in asked:
                key = asked[partition]
                if key not in self.found.takes:
                    self.found.takes[key] = line
                for answer in self._answers.get(key, ()):
                    self._follows(line, answer)

    # Sorting

    def _sort(self) -> None:
        waits = [0] * len(self.lines)
        for laters in self.after.values():
            for later in laters:
                waits[later] += 1
        depth = [0] * len(self.lines)
        late = [line.process[0] == ZOOKEEPER for line in self.lines]
        ready = [(late[at], 0, at) for at, count in enumerate(waits) if not count]
        heapq.heapify(ready)
        done = [False] * len(self.lines)
        while ready:
            _, _, at = heapq.heappop(ready)
            done[at] = True
            self.found.lines.append(self.lines[at])
            for later in self.after.get(at, ()):
                waits[later] -= 1
                depth[later] = max(depth[later], depth[at] + 1)
                if not waits[later]:
                    heapq.heappush(ready, (late[later], depth[later], later))
        self.found.stuck = [one for at, one in enumerate(self.lines) if not done[at]]
        if self.found.stuck:
            self.found.circle = self._cycle(done)

    def _cycle(self, done: list[bool]) -> list[TraceLine]:
        """A short one: whoever waits, waits for one that waits, and so comes to one once more."""
        waits_for = {
            later: at for at, laters in self.after.items() if not done[at] for later in laters
        }
        at, walked = next(iter(waits_for)), dict[int, None]()
        while at not in walked:
            walked[at] = None
            at = waits_for[at]
        among = list(walked)
        ways = [self._way_round(one, done) for one in among[among.index(at) :][:MOST_WAYS]]
        way = min(ways, key=len)
        found = [self.lines[one] for one in way]
        first = found.index(min(found, key=lambda one: (one.file, one.number)))
        return found[first:] + found[:first]

    def _way_round(self, start: int, done: list[bool]) -> list[int]:
        """The shortest way from a line through later ones back to it."""
        came: dict[int, int] = {}
        reached = [start]
        while start not in came:
            further = []
            for at in reached:
                for later in self.after.get(at, ()):
                    if not done[later] and later not in came:
                        came[later] = at
                        further.append(later)
            reached = further
        way = [came[start]]
        while way[-1] != start:
            way.append(came[way[-1]])
        return way[::-1]
