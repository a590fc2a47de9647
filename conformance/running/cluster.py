"""Replays the controllers of a running cluster on `cluster`: events, reads, writes, requests.

The lines of a controller's thread drive the model's: which event it takes from its queue, what it
reads of the registrations, which states it writes, which requests it sends and about what. The
model says what each must be: which event a watch queues, which leader is elected, which broker is
notified of which state. Steps that no line shows, such as reading a state before writing it, or
finding that no broker may lead, are taken when the next line needs them, and only if possible. A
broker that obeys a request is compared with the request, and with the newest controller it knows.

What the model abstracts from, or what this system leaves to others (`replication` has the logs,
`topics` the creation of partitions), is forced into the state, and each reason is counted.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from conformance.mapping.cluster import AS_RELEASED, EVENT_OF
from conformance.running.model_driver import ModelDriver
from conformance.running.order import OrderedLines, StateWrite, refused, request_of, requests_of
from conformance.running.partition import NEW_SESSION
from conformance.running.process_traces import IDS, STARTED, ZOOKEEPER, TraceLine
from conformance.running.result import LeftToOthers, MisfitError, NotModelled, ReplayResult
from impl.znodes import paths
from model.cluster.start import MOST
from model.cluster.state import EVENTS, LEAVING, REQUESTS, STAGES
from model.systems import system
from specs.partial.compiled_steps import CompiledSteps

NAME = "cluster"
NONE_VERSION, NOBODY = -1, 0

CREATED = "partitions are created (`topics`): their states, and the notified brokers of them"
BY_OTHERS = "a controller works on what other systems have (topics, requests of administrators)"
UNREACHED = "a request goes to an earlier registration of a broker: it would be refused"
ANNOUNCED_LAST = "a failover that worked on a request for preferred leaders ends as any (0.10.1)"
LATER = "a request that was under way arrives after its channel was closed"
TWICE = "a request arrives again, since its answer was lost"
DATA = "who has all that was committed is what `replication` has"
SEVERAL = "a leader writes several changes of the ISR at once"
READ_EARLIER = "a controller reads one thing after the other, and the model all at once"
OVERTAKES = "a request, or a timer, comes into the queue before a notification that is on its way"
DEPARTS = "a broker asks again to be let go"
BY_REQUEST = "a controller writes the ISR that a leader asks for (KIP-497)"
RESIGNS = "a controller resigns before the model sees why"
FETCHED = "a leader writes the ISR by a fetch that it answered a while ago"
SESSION_OVER = "a controller goes on for a while whose session is over"
NOTED_AGAIN = "a leader notes an ISR change again, since it has not heard that it did"
AWAY = "a broker that is not registered yet hears of controllers"
HALF_WAY = "a LeaderAndIsr fails half way, since the broker has no session"
UNSEEN_EVENT = "an event of which nothing comes has no line"
UNSEEN_REQUEST = "an UpdateMetadata without partitions that was never sent has no line"

_NOTHING_TO_DO = {
    "controller_change": ("controller_is_still_active",),
    "broker_change": (
        "controller_finds_brokers_unchanged", "controller_misses_bounced_brokers"),
    "isr_change": ("controller_finds_no_isr_change",),
    "log_dir_event": ("controller_finds_no_log_dir_event",),
    "broker_modification": ("controller_finds_endpoints_unchanged",),
    "preferred_election": ("controller_finds_no_request",),
    "rebalance": ("controller_finds_no_imbalance",),
    "leader_and_isr_response": ("controller_finds_log_dirs_unchanged",),
}  # fmt: skip
"""An event -> how it is over without anybody having seen anything of it."""

_BEGINS = {
    "isr_change": ("controller_reads_isr_changes",),
    "broker_modification": ("controller_reads_endpoints",),
    "preferred_election": ("controller_begins_preferred_election",),
    "rebalance": ("controller_begins_rebalance",),
    "controlled_shutdown": ("controller_begins_controlled_shutdown",),
}
_DELETED = (f"{paths.ISR_CHANGES}/", paths.PREFERRED_ELECTION)
_HAS_SUBJECT = ("broker_modification", "leader_and_isr_response", "controlled_shutdown")
_OVERTAKING = ("rebalance", "controlled_shutdown", "leader_and_isr_response")

_SILENT_OF_PARTITION = (
    "controller_write_conflicts", "controller_reads_state", "controller_finds_a_newer_controller",
    "controller_finds_no_leader", "controller_finds_no_other_isr_member",
    "controller_cannot_elect_preferred",
)  # fmt: skip
_SILENT_OF_REPLICA = ("controller_skips_isr_removal", "controller_finds_replica_not_in_isr")
_SILENT = (
    "controller_sends_initial_update_metadata", "controller_starts_replica_state_machine",
    "controller_sends_election_batch", "controller_sends_removal_batch",
    "controller_sends_update_metadata_for_dead_brokers",
    "controller_sends_update_metadata_for_new_brokers", "controller_brings_replicas_online",
    "controller_sends_shutdown_batch", "controller_stops_follower", "controller_answers_shutdown",
    "controller_sends_preferred_batch",
)  # fmt: skip
_WRITES = ("controller_elects_leader", "controller_moves_leader", "controller_elects_preferred")
_ORDERS = (
    "broker_becomes_leader", "broker_becomes_follower", "broker_finds_leader_not_in_metadata_cache",
    "older_epoch_is_refused", "broker_answers_kafka_storage_error",
)  # fmt: skip
_SHOWN_BY = {
    "became_leader": "broker_becomes_leader",
    "became_follower": "broker_becomes_follower",
    "leader_unavailable": "broker_finds_leader_not_in_metadata_cache",
}
_KINDS = {"LeaderAndIsr": "leader_and_isr", "UpdateMetadata": "update_metadata",
          "StopReplica": "stop_replica"}  # fmt: skip
_CONTROLLERS = (
    "event_begun", "event_done", "registrations_read", "request_sent", "shutdown_begun",
    "shutdown_answered", "controller_elected", "controller_resigned",
)  # fmt: skip
_GOES_ON = ("event_begun", "event_done", "registrations_read", "request_sent", "shutdown_begun")
_COMES_OF_IT = ("registrations_read", "request_sent", "controller_resigned")
_BROKERS = ("request_received", "request_refused", "leader_and_isr_received", "became_leader",
            "became_follower", "leader_unavailable", "leader_and_isr_ignored",
            "leader_and_isr_failed")  # fmt: skip


@lru_cache(maxsize=8)
def _moves(
    version: str, switches: tuple[tuple[str, object], ...], brokers: int, partitions: int
) -> CompiledSteps:
    recorded = system(NAME).recorded(version, {**AS_RELEASED, **dict(switches)})
    bounds = {"brokers": brokers, "partitions": partitions, "replicas": brokers}
    moves = CompiledSteps(recorded, bounds, frozenset(), is_started=False)
    moves.ledger.is_keyed = False
    return moves


def replay_cluster(
    order: OrderedLines, brokers: Iterable[int], version: str, switches: Mapping[str, object]
) -> ReplayResult:
    """Replays all controllers of one cluster, up to the first line that does not fit."""
    return ClusterReplay(order, sorted(brokers), version, switches).run()


def tells_of_controllers(order: OrderedLines) -> bool:
    """Whether the traces contain controllers' steps and arriving requests.

    Traces of Apache Kafka do not, nor do those of our earlier releases.
    """
    versions = {line.broker for line in order.lines if line.step == "request_received"}
    obeying = {line.broker for line in order.lines if line.step == "leader_and_isr_received"}
    return obeying <= versions and any(line.step == "registrations_read" for line in order.lines)


@dataclass(eq=False)
class TracedRequest:
    """A controller's request, as the model puts it into a broker's queue.

    `about` is the version of each partition's state, by the model's numbers. `parts` are partitions
    that were named in requests of their own: up to 2.2 a StopReplica names one.
    """

    kind: str
    about: dict[int, int]
    alive: frozenset[int]
    endpoints: dict[int, int]
    epoch: int
    stopped: frozenset[int] = frozenset()


class ClusterReplay(ModelDriver):
    """Replays all lines but those of logs on the model's `cluster`."""

    def __init__(
        self, order: OrderedLines, ids: list[int], version: str, switches: Mapping[str, object]
    ) -> None:
        known = system(NAME).switches
        self.version = version
        self.switches = tuple(sorted((name, one) for name, one in switches.items()
                                     if name in known))  # fmt: skip
        self.partitions: dict[str, int] = {}
        moves = _moves(version, self.switches, len(ids), 0)
        moves.ledger.load({})
        super().__init__(moves, ids, ReplayResult(NAME))
        self.order = order
        self.assigned: dict[str, list[int]] = {}
        self.born_by: dict[int, set[str]] = defaultdict(set)  # in the event that is worked on
        self.announced: dict[int, set[tuple[int, str, str]]] = defaultdict(set)
        """Of those: to which broker, in which kind of request, which partition."""
        self.announces_last: set[int] = set()  # whose failover elects as a request asks
        self.registrations: dict[int, int] = {}  # as ZooKeeper has them
        self.registered_as: dict[int, int] = {}  # as the broker knows
        self.event: dict[int, tuple[str, int] | None] = {}  # begun, and not seen in the model yet
        self.outside: dict[int, str] = {}  # what the model does not have is worked on
        self.elsewhere: set[int] = set()  # resigned, and the model does not know why
        self.expected: dict[int, list[tuple[int, TracedRequest]]] = defaultdict(list)
        self.waiting: dict[tuple[int, int], list[TracedRequest]] = defaultdict(list)
        self.sent: dict[tuple[int, ...], TracedRequest] = {}
        self.arrived: set[TracedRequest] = set()
        self.half_way: dict[int, str] = {}
        """Controllers whose event ended with an error: it matters not to those that resign then."""
        self.partial: set[int] = set()
        """Brokers whose events have a line only if something came of them (Apache Kafka's)."""
        self.outcomes: dict[int, dict[str, str]] = {}
        self.made = [one for some in order.writes.values() for one in some if one.is_new]
        self.together = _made_together(order)
        self.unborn: set[str] = set()
        self.zxid = 0  # of the newest transaction so far
        self.notifications: dict[str, set[str]] = {}  # of ISR changes: by path, whose they are
        self.taken_in = _taken_in(order)
        self.later = _later_events(order)
        self.takes: dict[int, set[str]] = {}  # by controller, in the event that it works on
        self.fruitful = _fruitful(order)
        self.refused = refused(order.lines)
        self.undone = _unhandled_partitions(order)

    # Lines

    def lines(self) -> Iterable[TraceLine]:
        """The lines of ZooKeeper, of controllers, and of brokers that obey them."""
        if len(self.ids) > MOST:
            raise LeftToOthers(f"there are more than {MOST} brokers")
        names_none = not self.moves.recorded.switches["broker_epoch"]
        for line in self.order.lines:
            if names_none and line.step == "request_received" and line.args["registration"] >= 0:
                self.done.at = line
                raise NotModelled(
                    "the file's release is another than its header says: requests name the "
                    "registrations of brokers (KIP-380, 2.2)"
                )
        for line in self.order.lines:
            if line.process[0] == ZOOKEEPER or line.step in (*_CONTROLLERS, *_BROKERS):
                self.done.lines += 1
                yield line
            elif line.step in (STARTED, "registered"):
                yield line

    def take(self, line: TraceLine) -> None:
        """Replays one line."""
        if line.process[0] == ZOOKEEPER:
            self._zookeeper(line)
            self.zxid = line.args.get("zxid", self.zxid)
            return
        b = self.of[line.broker]
        if b in self.half_way and line.step in _GOES_ON:
            raise LeftToOthers(f"{self.half_way[b]} ended half way, with an error")
        match line.step:
            case "process_started":
                self._starts(line, b)
            case "registered":
                self.registered_as[b] = line.args["epoch"]
            case "controller_elected":
                self.step("broker_learns_it_won", b)
                self.expect("the controller epoch", line.args["epoch"], self.read("belief", b))
                self.event[b], self.elsewhere = None, self.elsewhere - {b}
                self.outside.pop(b, None)
                self._bears_none(b)
            case "controller_resigned":
                self._resigns(b)
            case "request_received":
                self._arrives(line, b)
            case step if step in _BROKERS:
                self._obeys(line, b)
            case _ if self.read("belief", b) != line.args["epoch"]:
                raise MisfitError(
                    "a controller acts in the epoch that it won",
                    f"it acts in controller epoch {line.args['epoch']}, where the model has "
                    f"{self.read('belief', b)}", f"controller epoch {self.read('belief', b)}",
                )  # fmt: skip
            case "event_begun":
                self._event_begun(line, b)
            case "event_done" if line.args["failed"]:
                self.half_way[b] = str(line.args["event"])
            case "event_done":
                self._is_done(b, f"is done with {line.args['event']}")
                self.event[b] = None
            case "registrations_read":
                self._registrations(line, b)
            case "shutdown_begun":
                self._shutdown(line, b)
            case "shutdown_answered":
                self._shutdown_answered(line, b)
            case "request_sent":
                self._sends(line, b)

    # What the model has

    def step(self, name: str, *arguments: int) -> None:
        """Takes a step, and updates the queues."""
        super().step(name, *arguments)
        self._sync()

    def force(self, reason: str, *cells: tuple[str, tuple[int, ...], int]) -> None:
        """Forces a change into the state, and updates the queues."""
        super().force(reason, *cells)
        self._sync()

    def _sync(self) -> None:
        for (c, to), requests in self.waiting.items():
            if requests and not self.read("cache.queue.end", c, to):
                requests.clear()

    def possible(self, name: str, *arguments: int) -> bool:
        """Whether a step is possible now."""
        move = self.moves.by_name.get(name)
        return move is not None and move.refusal(*arguments) < 0

    def stage(self, c: int) -> str:
        """The model's task of a controller's thread."""
        return STAGES.show(self.read("cache.stage", c))

    def held(self, name: str, *index: int) -> frozenset[int]:
        """A set of brokers, by the model's numbers."""
        return frozenset(at for at in self.of.values() if self.read(name, *index, at))

    def _add_partitions(self, names: Iterable[str]) -> None:
        """Adds partitions: copies the state into a model that has them."""
        for name in names:
            self.partitions[name] = len(self.partitions)
        state = self.ledger.state()
        self.moves = _moves(self.version, self.switches, len(self.ids), len(self.partitions))
        self.ledger, self.numbers = self.moves.ledger, self.moves.numbers
        self.ledger.load(state)

    def _number(self, partition: str) -> int:
        if partition not in self.partitions:
            raise MisfitError(
                f"{self.named} names partitions that were made", f"nobody has made {partition}",
                "a partition with a state in ZooKeeper",
            )  # fmt: skip
        return self.partitions[partition]

    # ZooKeeper

    def _zookeeper(self, line: TraceLine) -> None:
        if line.step == STARTED and line.start > 1:
            for one in self.of.values():
                if self.read("zk.registered", one):
                    self._session_ends(one, False)
        elif line.step == "session_ended":
            broker = self.order.brokers.get(line.args["session"])
            if broker is not None and f"{IDS}{broker}" in line.args["gone"]:
                self._session_ends(self.of[broker], bool(line.args.get("closed")))
        owner = self.order.brokers.get(line.args.get("session", -1), -1)
        for op in line.args.get("ops", ()):
            self._op(line, op, owner)
        for write in self.order.writes.get(line, ()):
            self._written(write, owner)

    def _session_ends(self, b: int, closed: bool) -> None:
        if closed and self.possible("broker_stops", b):
            self._forget_process(b)
            self.step("broker_stops", b)
        else:
            self.step("session_expires", b)
        self.registrations.pop(b, None)

    def _op(self, line: TraceLine, op: Mapping[str, Any], owner: int) -> None:
        path, kind = str(op["path"]), op["op"]
        if path.startswith(IDS):
            self._registration(line, kind, self.of[int(path.removeprefix(IDS))])
        elif path == paths.CONTROLLER_EPOCH and kind != "Check" and int(op["data"]) > 0:
            if owner not in self.of:
                raise LeftToOthers("/controller_epoch was written in a session of no broker")
            self.step("broker_becomes_controller", self.of[owner])
            self.expect("/controller_epoch", int(op["data"]), self.read("zk.epoch"))
        elif path == paths.CONTROLLER and kind == "Delete":
            if self.possible("controller_node_is_deleted"):
                self.step("controller_node_is_deleted")
        elif path.startswith(f"{paths.ISR_CHANGES}/"):
            self._notification(line, op, kind, owner)
        elif path == paths.PREFERRED_ELECTION:
            self._preferred(op, kind, owner)
        elif path.startswith(f"{paths.LOG_DIR_EVENTS}/"):
            raise LeftToOthers("a log directory has failed, which no line of a broker says so far")
        elif path == paths.REASSIGN_PARTITIONS and kind != "Check":
            raise LeftToOthers("partitions are moved, which `reassignment` has")
        elif path.startswith(f"{paths.DELETE_TOPICS}/") and kind == "Create":
            raise LeftToOthers("a topic is deleted, which `topics` has")
        elif path.startswith(f"{paths.TOPICS}/") and path.count("/") == 3 and "data" in op:
            self._assigned(path.rpartition("/")[2], json.loads(op["data"]))

    def _registration(self, line: TraceLine, kind: str, b: int) -> None:
        if kind == "Delete":
            self.step("session_expires", b)
            self.registrations.pop(b, None)
        elif kind == "SetData":
            self.step("broker_changes_endpoints", b)
        elif kind == "Create":
            self.step("broker_reconnects" if self.read("up", b) else "broker_starts", b)
            self.registrations[b] = line.args["zxid"]
            self.event[b] = None
            self.elsewhere.discard(b)
            self.outside.pop(b, None)
            self.expected[b].clear()

    def _assigned(self, topic: str, data: Mapping[str, Any]) -> None:
        for number, replicas in data["partitions"].items():
            name = f"{topic}-{number}"
            if name in self.partitions and self.assigned.get(name) != replicas:
                raise LeftToOthers(f"the replicas of {name} change, which `reassignment` has")
            self.assigned[name] = replicas

    def _notification(self, line: TraceLine, op: Mapping[str, Any], kind: str, owner: int) -> None:
        if owner not in self.of:
            raise LeftToOthers("a notification was written in a session of no broker")
        b = self.of[owner]
        if kind == "Create":
            named = [f"{one['topic']}-{one['partition']}"
                     for one in json.loads(op["data"])["partitions"]]  # fmt: skip
            for c in self.partial:
                self._finishes_echo(c, line)
            self.notifications[str(op["path"])] = {*named}
            returns = not self.read("zk.registered", b)
            if returns:
                self.force(NEW_SESSION, ("zk.registered", (b,), 1))
            for p in map(self._number, named):
                if not self.read("partition.replica.unreported", p, b):
                    self.force(NOTED_AGAIN, ("partition.replica.unreported", (p, b), 1))
                self.step("broker_reports_isr_change", b, p)
            if returns:
                self.force(NEW_SESSION, ("zk.registered", (b,), 0))
        elif kind == "Delete":
            if self.event.get(b) is not None:
                self._enters(b)
            self.notifications.pop(str(op["path"]), None)

    def _finishes_echo(self, c: int, line: TraceLine) -> None:
        """A controller deletes ISR notifications, and is notified of that itself. That event has no
        effect, and no line shows it. If an event that arrived later begins before any other ISR
        change event, the controller had handled it before the next notification came."""
        if self._slot(c, "isr_change", NOBODY) != 0:
            return
        names, count = self.later[line].get(self.ids[c - 1], ([], 0))
        later = (self._as_modelled(names[place]) for place in reversed(range(count)))
        for event in itertools.chain((self.event.get(c),), later):
            if event is None or event[0] in _OVERTAKING or self._slot(c, *event) is None:
                continue
            if event[0] != "isr_change":
                self._nothing_comes_of(c, "isr_change")
            return

    def _preferred(self, op: Mapping[str, Any], kind: str, owner: int) -> None:
        if kind == "Create":
            named = {f"{one['topic']}-{one['partition']}"
                     for one in json.loads(op["data"])["partitions"]}  # fmt: skip
            self.step("admin_asks_for_preferred_leaders")
            self.force("a request for preferred leaders names some partitions", *(
                ("partition.wanted", (p,), int(name in named))
                for name, p in self.partitions.items()
            ))  # fmt: skip
        elif kind == "Delete" and owner in self.of:
            c = self.of[owner]
            self._enters(c)
            if self._is_wanted():
                self._advance_to(
                    c,
                    "deletes the request for preferred leaders",
                    lambda: self.possible("controller_deletes_preferred_request", c),
                )
                self.step("controller_deletes_preferred_request", c)
                if c in self.announces_last:
                    self.force(ANNOUNCED_LAST, ("cache.stage", (c,), STAGES.code("announcing")))

    def _is_wanted(self) -> bool:
        """Whether the request for preferred leaders names a partition."""
        return any(self.read("partition.wanted", p) for p in self.partitions.values())

    # States

    def _written(self, write: StateWrite, owner: int) -> None:
        if write.is_new:
            self._partition_created(write, owner)
            return
        p = self._number(write.partition)
        before, leader = write.version - 1, self._leader(write.state)
        self.expect(f"the version of {write.partition} before", before,
                    self.read("partition.version", p))  # fmt: skip
        if write.by_leader:
            self._isr_written(write, p, owner)
        elif owner not in self.of:
            raise LeftToOthers("a state was written in a session of no broker")
        else:
            self._controller_writes(write, p, self.of[owner], leader)
        self._as_written(write, p)

    def _leader(self, state: Mapping[str, Any]) -> int:
        return self.of[state["leader"]] if state["leader"] >= 0 else NOBODY

    def _as_written(self, write: StateWrite, p: int) -> None:
        state, at = write.state, (p, write.version)
        name = f"of {write.partition}"
        self.expect(f"the version {name}", write.version, self.read("partition.version", p))
        self.expect(f"the leader epoch {name}", state["leader_epoch"],
                    self.read("partition.state.epoch", *at))  # fmt: skip
        self.expect(f"the controller epoch of the state {name}", state["controller_epoch"],
                    self.read("partition.state.controller", *at))  # fmt: skip
        mine = self.read("partition.state.leader", *at)
        self.expect(f"the leader {name}", state["leader"], self.kafka_id(mine, -1))
        isr = self.members("partition.state.isr", *at)
        if isr != set(state["isr"]):
            raise MisfitError(
                "a state is written as the model's step does", f"the ISR {name} is "
                f"{sorted(state['isr'])}, where the model has {sorted(isr)}",
                f"the ISR is {sorted(isr)}",
            )  # fmt: skip

    def _cells(self, write: StateWrite, p: int) -> list[tuple[str, tuple[int, ...], int]]:
        state, at = write.state, (p, write.version)
        return [
            ("partition.version", (p,), write.version),
            ("partition.state.leader", at, self._leader(state)),
            ("partition.state.epoch", at, state["leader_epoch"]),
            ("partition.state.controller", at, state["controller_epoch"]),
            *self.set_cells("partition.state.isr", at, state["isr"]),
        ]

    def _partition_created(self, write: StateWrite, owner: int) -> None:
        """A controller creates it, with those of its replicas that are alive."""
        name = write.partition
        if name in self.partitions and name not in self.unborn:
            raise LeftToOthers(f"{name} is made once more, which `topics` has")
        if name not in self.assigned:
            raise LeftToOthers(f"{name} is made, and nobody has assigned it")
        if name not in self.partitions:
            if owner in self.of and not self._works_besides(self.of[owner]):
                self._goes_on_to_new_ones(self.of[owner])
            together = self.together[write.line]
            self._add_partitions(together)
            self.unborn |= {*together}
            for one in together:  # as soon as the model has them at all
                self._as_made(next(w for w in self.made if w.partition == one), owner)
        self.unborn.discard(name)

    def _works_besides(self, c: int) -> bool:
        return c in self.outside or c in self.elsewhere

    def _goes_on_to_new_ones(self, c: int) -> None:
        """A new controller creates partitions last: finishes what concerns the others first."""
        while self.stage(c) not in ("looking", "idle") and self._silently(c):
            pass

    def _as_made(self, write: StateWrite, owner: int) -> None:
        name = write.partition
        p, replicas = self.partitions[name], self.assigned[name]
        ranked = [*replicas, *(one for one in self.ids if one not in replicas)]
        self.force(
            CREATED, *self._cells(write, p),
            *self.set_cells("partition.replicas", (p,), replicas),
            *(("partition.place", (p, self.of[one]), at) for at, one in enumerate(ranked)),
            *self.set_cells("partition.complete", (p,), write.state["isr"]),
        )  # fmt: skip
        if owner in self.of:
            c = self.of[owner]
            self.born_by[c].add(name)
            self.force(CREATED, ("partition.context.version", (p, c), 0))

    def _isr_written(self, write: StateWrite, p: int, owner: int) -> None:
        leader = self._leader(write.state)
        before = self.members("partition.state.isr", p, write.version - 1)
        after = set(write.state["isr"])
        took = False
        if any(op["op"] == "Check" for op in write.line.args["ops"]):
            self._asked_for(write, p, leader, self.of[owner])
            return
        returns = self.of.get(owner) == leader and not self.read("zk.registered", leader)
        if returns:
            self.force(NEW_SESSION, ("zk.registered", (leader,), 1))
        for name, changed in (
            ("leader_shrinks_isr", before - after), ("leader_expands_isr", after - before)
        ):  # fmt: skip
            has_all = name == "leader_expands_isr"
            for one in sorted(changed):
                at = self.of[one]
                if not self.possible(name, leader, at, p):
                    self.force(DATA, ("partition.complete", (p, at), int(has_all)))
                if not took:
                    with self._fetching(p, at, leader, name):
                        self.step(name, leader, at, p)
                    took = True
                else:
                    self.force(SEVERAL, *self.set_cells(
                        "partition.state.isr", (p, write.version), after))  # fmt: skip
        if not took:
            self.force(SEVERAL, *self._cells(write, p),
                       ("partition.replica.version", (p, leader), write.version))  # fmt: skip
        if returns:
            self.force(NEW_SESSION, ("zk.registered", (leader,), 0))

    def _asked_for(self, write: StateWrite, p: int, leader: int, c: int) -> None:
        """A controller writes the ISR for a leader, which may have moved on since its request."""
        self.force(BY_REQUEST, *self._cells(write, p),
                   ("partition.context.version", (p, c), write.version))  # fmt: skip
        known = self.read("partition.replica.version", p, leader)
        if known == write.version - 1:
            self.force(BY_REQUEST, ("partition.replica.version", (p, leader), write.version))

    @contextmanager
    def _fetching(self, p: int, at: int, leader: int, name: str) -> Iterator[None]:
        """Within the block the follower fetches, as when the leader had its last fetch."""
        if name != "leader_expands_isr" or self.possible(name, leader, at, p):
            yield
            return
        cells = ["up", "partition.replica.version", "partition.replica.fetching"]
        at_ = [(at,), (p, at), (p, at)]
        before = [self.read(cell, *index) for cell, index in zip(cells, at_, strict=True)]
        now = [1, self.read("partition.replica.version", p, leader), 1]
        self.force(FETCHED, *zip(cells, at_, now, strict=True))
        yield
        self.force(FETCHED, *zip(cells, at_, before, strict=True))

    def _controller_writes(self, write: StateWrite, p: int, c: int, leader: int) -> None:
        if c in self.outside:
            self.force(
                f"{BY_OTHERS}: {self.outside[c]}", *self._cells(write, p),
                ("partition.context.version", (p, c), write.version),
                ("partition.context.offline", (p, c), int(leader == NOBODY)),
            )  # fmt: skip
            return
        self._enters(c)
        before = self.members("partition.state.isr", p, write.version - 1)
        # Of several that are gone, whoever the write takes out; the last one stays in the ISR.
        gone = [self.of[one] for one in sorted(before - set(write.state["isr"]))]

        def steps() -> Iterator[tuple[str, tuple[int, ...]]]:
            if leader != NOBODY:
                yield from ((name, (c, leader, p)) for name in _WRITES)
            yield from (
                ("controller_removes_replica", (c, one, p)) for one in gone or self.of.values()
            )

        self._advance_to(
            c, f"writes {_shown(write.state)} for {write.partition}",
            lambda: any(self.possible(name, *given) for name, given in steps()),
        )  # fmt: skip
        for name, given in steps():
            if self.possible(name, *given):
                self.step(name, *given)
                return

    # Processes

    def _starts(self, line: TraceLine, b: int) -> None:
        if any(one.startswith("event_begun:") for one in line.args.get("not_seen", ())):
            self.partial.add(b)
        if line.start > 1:
            self._forget_process(b)
            if self.read("up", b):
                self.step("broker_crashes", b)

    def _forget_process(self, b: int) -> None:
        self.outcomes.pop(b, None)
        self.half_way.pop(b, None)
        self.expected[b].clear()
        self.event[b] = None
        self.outside.pop(b, None)
        self.elsewhere.discard(b)

    # A controller's events

    def _bears_none(self, c: int) -> None:
        """Forgets what the last event created and announced: another event begins."""
        self.born_by[c].clear()
        self.announced[c].clear()
        self.announces_last.discard(c)

    def _event_begun(self, line: TraceLine, c: int) -> None:
        name = line.args["event"]
        self._is_done(c, f"takes up {name}")
        self._bears_none(c)
        self.outside.pop(c, None)
        self.takes[c] = self.taken_in.get(line, set())
        self.event[c] = self._as_modelled(name)
        if self.event[c] is None:
            self.outside[c] = name
        if line not in self.fruitful:
            self._passes_over(c, line.args.get("zxid", self.zxid))

    def _as_modelled(self, name: str) -> tuple[str, int] | None:
        """Kind and subject of an event, if the model has it."""
        if EVENT_OF.get(name, _HAS_SUBJECT[0]) not in _HAS_SUBJECT:
            return EVENT_OF[name], NOBODY
        if name.startswith(IDS):
            return "broker_modification", self.of[int(name.removeprefix(IDS))]
        return None

    def _is_done(self, c: int, what: str) -> None:
        """Finishes the previous event in the model as well."""
        if c in self.elsewhere:
            return
        if self.stage(c) != "starting":
            self._advance_to(c, what, lambda: self.stage(c) == "idle")
        if c in self.partial:
            self._leave_unseen(c)
        if self.expected[c]:
            to, request = self.expected[c][0]
            raise MisfitError(
                "a controller sends the same requests as in the model",
                f"it {what}, and has not sent "
                f"{self._request(request)} to broker {self.ids[to - 1]}", "that request first",
            )  # fmt: skip

    def _leave_unseen(self, c: int) -> None:
        """Leaves empty requests that were never sent in the queue."""
        for to, request in list(self.expected[c]):
            self._leave_unsent(c, to, request)

    def _leave_unsent(self, c: int, to: int, request: TracedRequest) -> bool:
        """An empty request: if it was never sent, no line shows that it was made."""
        if request.kind != "update_metadata" or request.about:
            return False
        self._claimed(c, to, request)
        self.done.forced[UNSEEN_REQUEST] += 1
        return True

    def _passes_over(self, c: int, zxid: int) -> None:
        """Handles an event without visible effect; `zxid`: the newest its controller knew of."""
        event, self.event[c] = self.event.get(c), None
        if event is None:
            return
        kind, subject = event
        at = self._slot(c, kind, subject)
        if at is None or kind == "rebalance":
            return  # of something that the model does not have, or too few for a rebalance
        if self.zxid > zxid:
            return  # what there is to be done came later, with an event of its own
        self._to_the_head(c, kind, subject)
        for name in _NOTHING_TO_DO.get(kind, ()):
            given = (c, subject) if kind in _HAS_SUBJECT else (c,)
            if self.possible(name, *given):
                self.step(name, *given)
                return
        raise MisfitError(
            "an event is handled as the model's controller does",
            f"it is done with {kind}, and nothing came of it, where the model has something to do",
            " or ".join(_BEGINS.get(kind, (kind,))),
        )  # fmt: skip

    def _slot(self, c: int, kind: str, subject: int) -> int | None:
        code = EVENTS.code(kind)
        for slot in range(self.read("cache.events.end", c)):
            same = self.read("cache.events.at.subject", c, slot) == subject
            if self.read("cache.events.at.kind", c, slot) == code and same:
                return slot
        return None

    def _to_the_head(self, c: int, kind: str, subject: int) -> None:
        """Makes the event the first of the model's queue."""
        while True:
            slot = self._slot(c, kind, subject)
            if slot is None:
                raise MisfitError(
                    "a controller handles only events that it was notified of",
                    f"it handles {kind}, and nothing that it watches has changed", self._queue(c),
                )  # fmt: skip
            if slot == 0:
                return
            first = EVENTS.show(self.read("cache.events.at.kind", c, 0))
            if c in self.partial and self._nothing_comes_of(c, first):
                continue
            if kind not in _OVERTAKING and first not in _OVERTAKING:
                raise MisfitError(
                    "a controller handles notifications in the order in which they arrived",
                    f"it handles {kind}, and {first} was notified before", self._queue(c),
                )  # fmt: skip
            self._overtakes(c, slot)

    def _nothing_comes_of(self, c: int, kind: str) -> bool:
        """Handles the first event, if it can have no effect."""
        subject = self.read("cache.events.at.subject", c, 0)
        for name in _NOTHING_TO_DO.get(kind, ()):
            given = (c, subject) if kind in _HAS_SUBJECT else (c,)
            if self.possible(name, *given):
                self.step(name, *given)
                self.done.forced[UNSEEN_EVENT] += 1
                return True
        return False

    def _queue(self, c: int) -> str:
        names = [EVENTS.show(self.read("cache.events.at.kind", c, slot))
                 for slot in range(self.read("cache.events.end", c))]  # fmt: skip
        return f"what waits in the queue: {', '.join(names)}" if names else "an empty queue"

    def _overtakes(self, c: int, slot: int) -> None:
        events = [
            (self.read("cache.events.at.kind", c, at), self.read("cache.events.at.subject", c, at))
            for at in range(slot + 1)
        ]
        moved = [events[-1], *events[:-1]]
        self.force(OVERTAKES, *(
            cell for at, (kind, subject) in enumerate(moved)
            for cell in (("cache.events.at.kind", (c, at), kind),
                         ("cache.events.at.subject", (c, at), subject))
        ))  # fmt: skip

    def _enters(self, c: int) -> None:
        """Takes the begun event from the model's queue, unless it has been taken already."""
        event = self.event.get(c)
        if event is None:
            return
        self.event[c] = None
        kind, subject = event
        if kind == "rebalance":
            self.step("rebalance_timer_fires", c)
        self._to_the_head(c, kind, subject)
        given = (c, subject) if kind in _HAS_SUBJECT else (c,)
        names: tuple[str, ...] = _BEGINS.get(kind, ())
        if kind == "preferred_election" and not self._is_wanted():
            names = _NOTHING_TO_DO[kind]  # a request that names no partition is worked off at once
        for name in names:
            with self._as_noted(c, kind):
                self.step(name, *given)
            self._noted(c)

    @contextmanager
    def _as_noted(self, c: int, kind: str) -> Iterator[None]:
        """Within the block only those ISR changes are noted that the controller deletes in the same
        event; what was noted after its read is left to the next event."""
        if kind != "isr_change" or not self.takes.get(c, set()) & self.notifications.keys():
            yield
            return
        read, left = set[str](), set[str]()
        for path, named in self.notifications.items():
            (read if path in self.takes[c] else left).update(named)
        for noted in (read, left):
            cells = [("partition.noted", (p,), int(name in noted))
                     for name, p in self.partitions.items()]  # fmt: skip
            if any(self.read(name, *at) != value for name, at, value in cells):
                self.force(READ_EARLIER, *cells)
            if noted is read:
                yield

    def _registrations(self, line: TraceLine, c: int) -> None:
        read = {self.of[int(broker)]: epoch
                for broker, epoch in line.args["registrations"].items()}  # fmt: skip
        with self._registrations_as_read(c, read):
            if self.stage(c) == "starting":
                self.step("controller_reads_context", c)
                return
            self.event[c] = None
            self._to_the_head(c, "broker_change", NOBODY)
            for name in (
                "controller_sees_new_brokers", "controller_sees_bounced_brokers",
                "controller_sees_dead_brokers", *_NOTHING_TO_DO["broker_change"],
            ):  # fmt: skip
                if self.possible(name, c):
                    self.step(name, c)
                    return
            self.step("controller_finds_brokers_unchanged", c)

    @contextmanager
    def _registrations_as_read(self, c: int, read: Mapping[int, int]) -> Iterator[None]:
        """Within the block ZooKeeper has the registrations that the controller read earlier."""
        if read == self.registrations:
            yield
            return
        there = self.held("zk.registered")
        cells = [("zk.registered", (at,), int(at in read)) for at in self.of.values()]
        if {at for at in self.of.values() if at in read} == there:
            yield  # one has registered anew since: that is another event
            return
        self.force(READ_EARLIER, *cells)
        yield
        self.force(READ_EARLIER, *(("zk.registered", (at,), int(at in there))
                                   for at in self.of.values()))  # fmt: skip
        self._notified_since(c)

    def _notified_since(self, c: int) -> None:
        """The read has set the watch again, and later changes have fired it."""
        slot = self.read("cache.events.end", c)
        if self._slot(c, "broker_change", NOBODY) is None:
            self.force(
                READ_EARLIER, ("cache.events.end", (c,), slot + 1),
                ("cache.events.at.kind", (c, slot), EVENTS.code("broker_change")),
                ("cache.events.at.subject", (c, slot), NOBODY),
            )  # fmt: skip

    def _shutdown(self, line: TraceLine, c: int) -> None:
        subject = self.of[line.args["subject"]]
        self._is_done(c, f"takes up the ControlledShutdown of broker {line.args['subject']}")
        self.outside.pop(c, None)
        self._bears_none(c)
        if self.possible("broker_asks_for_controlled_shutdown", subject):
            self.step("broker_asks_for_controlled_shutdown", subject)
        else:
            self.force(DEPARTS, ("asked", (subject,), 1), ("former", (subject,), 0),
                       ("leaving", (subject,), LEAVING.code("asks")))  # fmt: skip
        self.step("shutdown_request_arrives", c, subject)
        self.event[c] = "controlled_shutdown", subject
        self._enters(c)

    def _shutdown_answered(self, line: TraceLine, c: int) -> None:
        subject = self.of[line.args["subject"]]
        self._is_done(c, f"answers the ControlledShutdown of broker {line.args['subject']}")
        leaving = LEAVING.show(self.read("leaving", subject))
        goes = leaving == "may_go"
        if c not in self.elsewhere and leaving != "stays" and goes == bool(line.args["remaining"]):
            raise MisfitError(
                "a broker may go that leads nothing any more",
                f"it is notified that it leads {line.args['remaining'] or 'nothing'}",
                "nothing" if goes else "what the model has it lead",
            )  # fmt: skip

    def _resigns(self, c: int) -> None:
        self.half_way.pop(c, None)
        self.expected[c].clear()
        self.outside.pop(c, None)
        event = self.event.pop(c, None)
        if event is None and c in self.partial and self._slot(c, "controller_change", NOBODY) == 0:
            event = "controller_change", NOBODY
        if event is not None and event[0] == "controller_change":
            self._to_the_head(c, *event)
            for name in ("controller_resigns", "controller_resigns_and_keeps_its_queue"):
                if self.possible(name, c):
                    self.step(name, c)
                    return
            self.step("controller_resigns", c)
        if not self.read("zk.registered", c):
            self.elsewhere.add(c)  # its session is over: it forgets all when it registers anew
            return
        while self._silently(c) and not self.possible("controller_write_is_fenced", c):
            pass
        if self.possible("controller_write_is_fenced", c):
            self.step("controller_write_is_fenced", c)
            return
        self._forget_controllership(c)

    def _forget_controllership(self, c: int) -> None:
        cells: list[tuple[str, tuple[int, ...], int]] = [("belief", (c,), 0)]
        for name, number in self.numbers.items():
            mine = 1 if name.startswith("partition.context.") else 0
            if mine or name.startswith("cache."):
                blank = self.ledger.blanks[number]
                cells += [(name, at, blank) for at in list(self.ledger.cells[number])
                          if at[mine] == c]  # fmt: skip
        self.force(RESIGNS, *cells)
        self.elsewhere.discard(c)

    # Its thread

    def _silently(self, c: int) -> bool:
        """Takes a step of the thread that no line shows, if one is possible now."""
        for p in self.partitions.values():
            for name in _SILENT_OF_PARTITION:
                if self.possible(name, c, p):
                    self.step(name, c, p)
                    return True
            for name in _SILENT_OF_REPLICA:
                for one in self.of.values():
                    if self.possible(name, c, one, p):
                        self.step(name, c, one, p)
                        return True
        stage = self.stage(c)
        if stage == "looking":
            wanted = self.possible("controller_begins_preferred_election", c)
            if wanted and not self.moves.recorded.switches["update_metadata_first"]:
                self.announces_last.add(c)
            self.step("controller_begins_preferred_election" if wanted
                      else "controller_finds_no_request", c)  # fmt: skip
            return True
        if stage == "comparing":
            for name in ("controller_sees_bounced_brokers", "controller_sees_dead_brokers"):
                if self.possible(name, c):
                    self.step(name, c)
                    return True
        for name in _SILENT:
            if self.possible(name, c):
                self.step(name, c)
                self._noted(c)
                return True
        return False

    def _advance_to(self, c: int, what: str, is_there: Any) -> None:
        while not is_there():
            if not self._silently(c):
                if not self.read("zk.registered", c):
                    self.elsewhere.add(c)  # its session is over, which it will hear
                    return
                raise MisfitError(
                    "a controller continues as in the model",
                    f"it {what}; in the model {self._thread_position(c)}", self._possible_next(c),
                )  # fmt: skip

    def _thread_position(self, c: int) -> str:
        stage = self.stage(c)
        if not self.read("belief", c):
            return "it is not the controller"
        return "its thread is done with the last event" if stage == "idle" else (
            f"its thread is at the stage {stage}")  # fmt: skip

    def _possible_next(self, c: int) -> str:
        found = []
        for name in self.moves.by_name:
            if not name.startswith("controller_"):
                continue
            move = self.moves.by_name[name]
            ranges = [
                [c] if parameter == "broker" else
                list(self.partitions.values()) if parameter == "partition" else
                list(self.of.values()) for parameter in move.parameters
            ]  # fmt: skip
            found += [name for given in _products(ranges) if self.possible(name, *given)]
        return " or ".join(dict.fromkeys(found)) or "nothing before something else happens"

    def _noted(self, c: int) -> None:
        """Notes the requests that the step has put into queues: they must be sent."""
        for to in self.of.values():
            requests = self.waiting[c, to]
            for slot in range(len(requests), self.read("cache.queue.end", c, to)):
                about = {
                    p: version for p in self.partitions.values()
                    if (version := self.read("cache.queue.at.about", c, to, slot, p))
                    != NONE_VERSION
                }  # fmt: skip
                request = TracedRequest(
                    str(REQUESTS.show(self.read("cache.queue.at.kind", c, to, slot))), about,
                    self.held("cache.queue.at.alive", c, to, slot),
                    {at: self.read("cache.queue.at.endpoints", c, to, slot, at)
                     for at in self.of.values()}, self.read("belief", c),
                )  # fmt: skip
                requests.append(request)
                self.expected[c].append((to, request))

    # Requests

    def _sends(self, line: TraceLine, c: int) -> None:
        to, kind = self.of[line.args["to"]], _KINDS[line.args["kind"]]
        versions = self._sent_versions(line, kind)
        if c in self.outside:
            self._sends_besides(line, c, to, kind, versions, f"{BY_OTHERS}: {self.outside[c]}")
            return
        if c in self.elsewhere:
            self._sends_besides(line, c, to, kind, versions, SESSION_OVER)
            return
        if self.event.get(c) is not None:
            self._enters(c)
        if kind == "stop_replica" and versions == {}:
            return  # a request that names nothing, as it was up to 2.2
        request = self._next_to(c, to)
        if request is not None and c in self.partial and _is_never_sent(line):
            # What stands before it in its channel was never sent either.
            while request is not None and versions and self._leave_unsent(c, to, request):
                request = self._next_to(c, to)
        if request is None and not self._is_reached(c, to):
            self._sends_besides(line, c, to, kind, versions, UNREACHED, is_queued=False)
            return
        named = line.args["partitions"] or ()
        about = {(to, kind, name) for name in self.born_by[c].intersection(named)}
        only_new = len(about) == len(named) and not about <= self.announced[c]
        self.announced[c] |= about
        while request is None and not only_new:
            if not self._silently(c):
                if kind == "update_metadata" and versions == {} and self._is_some_unmade():
                    break  # the request has partitions without a state yet
                if not self.read("zk.registered", c):
                    self.elsewhere.add(c)
                    self._sends_besides(line, c, to, kind, versions, SESSION_OVER)
                    return
                raise MisfitError(
                    "a controller sends the same requests as in the model",
                    f"it sends {line.args['kind']} to broker {line.args['to']}; in the model "
                    f"{self._thread_position(c)}", self._possible_next(c),
                )  # fmt: skip
            request = self._next_to(c, to)
        if request is None:
            self._sends_besides(line, c, to, kind, versions, CREATED)
            return
        self._matches(line, c, to, kind, versions, request)
        self.sent |= dict.fromkeys(requests_of(line), request)

    def _is_some_unmade(self) -> bool:
        made = self.partitions.keys() - self.unborn
        return any(one not in made for one in self.assigned)

    def _sent_versions(self, line: TraceLine, kind: str) -> dict[int, int] | None:
        """Versions of the states that it names; None if that was not seen."""
        if line.args["partitions"] is None:
            return None
        if kind == "stop_replica":
            return {self._number(name): 0 for name in line.args["stops"]}
        found = {}
        for name, (epoch, version) in line.args["partitions"].items():
            p = self._number(name)
            known = version <= self.read("partition.version", p)
            if not known or self.read("partition.state.epoch", p, version) != epoch:
                raise MisfitError(
                    "a controller sends states that were written",
                    f"it sends leader epoch {epoch} of {name} under version {version}",
                    f"version {self.read('partition.version', p)} is the newest",
                )  # fmt: skip
            found[p] = version
        return found

    def _next_to(self, c: int, to: int) -> TracedRequest | None:
        return next((one for target, one in self.expected[c] if target == to), None)

    def _is_reached(self, c: int, to: int) -> bool:
        live = bool(self.read("cache.live", c, to))
        if not self.moves.recorded.switches["broker_epoch"]:
            return live
        reached = bool(self.read("cache.reached", c, to))
        return live and reached and not self.read("cache.bounced", c, to)

    def _matches(
        self, line: TraceLine, c: int, to: int, kind: str, versions: dict[int, int] | None,
        request: TracedRequest,
    ) -> None:  # fmt: skip
        named = f"{line.args['kind']} to broker {line.args['to']}"
        if request.kind != kind:
            raise MisfitError(
                "a controller sends the same requests as in the model",
                f"it sends {named}, where the model "
                f"has {self._request(request)} next", self._request(request),
            )  # fmt: skip
        if versions is None:
            self._claimed(c, to, request)
            return
        slot = self._place(c, to, request)
        if kind == "stop_replica":
            parts = request.stopped | frozenset(versions)
            if not parts <= set(request.about):
                self._refuse_request(named, versions, request)
            request.stopped = parts
            if parts == set(request.about):
                self._claimed(c, to, request)
            return
        born = {self.partitions[name] for name in self.born_by[c]}
        self._claimed(c, to, request)
        for p in [p for p in versions if p not in request.about and p in born]:
            self._correct_version(c, to, slot, request, p, versions[p], CREATED)
        if versions.keys() != request.about.keys():
            self._refuse_request(named, versions, request)
        for p, version in versions.items():
            mine = request.about[p]
            if version != mine:
                if not self._may_have_read(c, p, version, mine):
                    self._refuse_request(named, versions, request)
                self._correct_version(c, to, slot, request, p, version, READ_EARLIER)
        live = frozenset(self.of[one] for one in line.args.get("live", ()))
        if kind == "update_metadata" and "live" in line.args and live != request.alive:
            raise MisfitError(
                "a controller sends the live brokers", f"{named} says that "
                f"{self._ids(live)} are alive", f"{self._ids(request.alive)}",
            )  # fmt: skip

    def _may_have_read(self, c: int, p: int, version: int, mine: int) -> bool:
        """A leader has written the ISR between what was read really, and here; a request to another
        broker may have shown it by now."""
        epoch = "partition.state.epoch"
        known = self.read("partition.context.version", p, c)
        same = self.read(epoch, p, version) == self.read(epoch, p, mine)
        return same and known in (mine, version)

    def _correct_version(
        self, c: int, to: int, slot: int | None, request: TracedRequest, p: int, version: int,
        reason: str,
    ) -> None:  # fmt: skip
        request.about[p] = version
        cells = [("partition.context.version", (p, c), version)]
        if slot is not None:
            cells.append(("cache.queue.at.about", (c, to, slot, p), version))  # type: ignore[arg-type]
        self.force(reason, *cells)

    def _place(self, c: int, to: int, request: TracedRequest) -> int | None:
        requests = self.waiting[c, to]
        return requests.index(request) if request in requests else None

    def _claimed(self, c: int, to: int, request: TracedRequest) -> None:
        self.expected[c].remove((to, request))

    def _sends_besides(
        self, line: TraceLine, c: int, to: int, kind: str, versions: dict[int, int] | None,
        reason: str, is_queued: bool = True,
    ) -> None:  # fmt: skip
        """A request that the model's controller does not send: in its queue by force."""
        if versions is None:
            return  # it was never sent
        alive = frozenset(self.of[one] for one in line.args.get("live", ()))
        request = TracedRequest(
            kind, versions, alive, {at: self.read("cache.endpoints", c, at) for at in alive},
            line.args["epoch"],
        )  # fmt: skip
        self.sent |= dict.fromkeys(requests_of(line), request)
        cells: list[tuple[str, tuple[int, ...], int]] = []
        if kind != "stop_replica":
            cells = [("partition.context.version", (p, c), version)
                     for p, version in versions.items()
                     if version > self.read("partition.context.version", p, c)]  # fmt: skip
        if is_queued:
            slot = self.read("cache.queue.end", c, to)
            cells += self._in_queue(c, to, slot, request)
            self.waiting[c, to].append(request)
        self.force(reason, *cells)

    def _in_queue(
        self, c: int, to: int, slot: int, request: TracedRequest
    ) -> list[tuple[str, tuple[int, ...], int]]:
        at = (c, to, slot)
        return [
            ("cache.queue.end", (c, to), slot + 1),
            ("cache.queue.at.kind", at, REQUESTS.code(request.kind)),
            *(("cache.queue.at.about", (*at, p), request.about.get(p, NONE_VERSION))
              for p in self.partitions.values()),
            *(("cache.queue.at.alive", (*at, one), int(one in request.alive))
              for one in self.of.values()),
            *(("cache.queue.at.endpoints", (*at, one), request.endpoints.get(one, 0))
              for one in self.of.values()),
        ]  # fmt: skip

    def _refuse_request(
        self, named: str, versions: Mapping[int, int], request: TracedRequest
    ) -> None:
        raise MisfitError(
            "a controller sends the same requests as in the model",
            f"{named} is about {self._states(versions)}", self._request(request),
        )  # fmt: skip

    def _states(self, about: Mapping[int, int]) -> str:
        names = {p: name for name, p in self.partitions.items()}
        versions = [f"{names[p]} in version {version}" for p, version in sorted(about.items())]
        return ", ".join(versions) or "no partition"

    def _request(self, request: TracedRequest) -> str:
        title = next(name for name, kind in _KINDS.items() if kind == request.kind)
        return f"{title} about {self._states(request.about)}"

    def _ids(self, brokers: Iterable[int]) -> str:
        return ", ".join(str(self.ids[at - 1]) for at in sorted(brokers)) or "none"

    # Arrivals

    def _arrives(self, line: TraceLine, b: int) -> None:
        self._confirmed(b)
        sender = line.args["sender"]
        c = self.of[sender["controller"]]
        registration = line.args["registration"]
        # A newer one than the broker knows is obeyed: its controller may hear of it earlier.
        if 0 <= registration < self.registered_as.get(b, -1):
            raise MisfitError(
                "a request names the registration of the broker that obeys it (KIP-380)",
                f"it names broker epoch {registration}, and the broker's is "
                f"{self.registered_as[b]}", "STALE_BROKER_EPOCH",
            )  # fmt: skip
        key = request_of(line)
        request = self.sent.get(key)
        if request is None:
            if line.args["kind"] == "StopReplica":
                return  # that named nothing
            raise MisfitError(
                "a request that arrives was sent",
                f"controller {sender['controller']} has not sent number {sender['correlation']} in "
                f"epoch {sender['epoch']}", "a request_sent line",
            )  # fmt: skip
        queue = self.waiting[c, b]
        is_refused = line in self.refused
        again = request in self.arrived
        self.arrived.add(request)
        if request in queue and queue[0] is not request:
            raise MisfitError(
                "requests of a controller arrive in the order in which they were sent",
                f"{self._request(request)} arrives", self._request(queue[0]),
            )  # fmt: skip
        if queue and queue[0] is request and self.read("belief", c) == request.epoch:
            queue.pop(0)
            self._handled(c, b, request, is_refused, self.undone.get(line, set()))
            return
        with self._alone_in_queue(c, b, request, TWICE if again else LATER):
            self._handled(c, b, request, is_refused, self.undone.get(line, set()))

    @contextmanager
    def _alone_in_queue(
        self, c: int, b: int, request: TracedRequest, reason: str
    ) -> Iterator[None]:
        """As if it were the only one in its queue, of a controller in the epoch of then."""
        if not self.read("up", b):
            self.force(AWAY, ("up", (b,), 1))
        belief, queue = self.read("belief", c), self.waiting[c, b]
        before = list(queue)
        self.force(reason, ("belief", (c,), request.epoch),
                   ("cache.queue.end", (c, b), 0))  # fmt: skip
        self.force(reason, *self._in_queue(c, b, 0, request))
        yield
        cells: list[tuple[str, tuple[int, ...], int]] = [("cache.queue.end", (c, b), 0)]
        self.force(reason, *cells, ("belief", (c,), belief))
        for slot, one in enumerate(before):
            self.force(reason, *self._in_queue(c, b, slot, one))
        self.waiting[c, b] = before

    def _handled(
        self, c: int, b: int, request: TracedRequest, is_refused: bool, undone: set[str]
    ) -> None:  # fmt: skip
        refuses = self.possible("older_controller_is_refused", b, c)
        if refuses != is_refused:
            seen = self.read("seen", b)
            raise MisfitError(
                "a broker refuses a controller only if it knows a newer one",
                f"a request of controller epoch {request.epoch} is "
                f"{'refused' if is_refused else 'obeyed'}, and the newest known is {seen}",
                "STALE_CONTROLLER_EPOCH" if refuses else "that it is obeyed",
            )  # fmt: skip
        if refuses:
            self.step("older_controller_is_refused", b, c)
        elif request.kind == "update_metadata":
            self.step("broker_updates_metadata", b, c)
        elif request.kind == "stop_replica":
            self.step("broker_stops_fetching", b, c)
        else:
            names = {p: name for name, p in self.partitions.items()}
            found = self.outcomes[b] = {}
            if not request.about:
                self.force("a LeaderAndIsr that names nothing", ("cache.queue.end", (c, b), 0))
            for p in sorted(request.about):
                before = self._replica(b, p) if names[p] in undone else []
                name = next((one for one in _ORDERS if self.possible(one, b, c, p)), "")
                self.step(name or "broker_becomes_follower", b, c, p)
                found[names[p]] = name
                if names[p] in undone:
                    self.force(HALF_WAY, *before)
                    del found[names[p]]

    def _replica(self, b: int, p: int) -> list[tuple[str, tuple[int, ...], int]]:
        """All that a broker knows of a partition."""
        return [
            (name, (p, b), self.read(name, p, b))
            for name in self.numbers if name.startswith("partition.replica.")
        ]  # fmt: skip

    def _obeys(self, line: TraceLine, b: int) -> None:
        """What the broker made of a partition of the last LeaderAndIsr."""
        if line.step in ("request_refused", "leader_and_isr_received", "leader_and_isr_failed"):
            return
        outcomes = self.outcomes.get(b, {})
        name = outcomes.pop(str(line.partition), None)
        shown = _SHOWN_BY.get(line.step, "older_epoch_is_refused")
        if line.step == "leader_and_isr_ignored" and line.args["error"] == "KAFKA_STORAGE_ERROR":
            raise LeftToOthers("a log directory has failed, which no line of a broker says so far")
        if name is None or name != shown:
            raise MisfitError(
                "a broker takes a LeaderAndIsr as the model's does",
                f"{line.step} of {line.partition}, where the model has {name or 'no request'}",
                name or "a request that says so",
            )  # fmt: skip

    def _confirmed(self, b: int) -> None:
        """Every partition of the LeaderAndIsr before was dealt with."""
        for partition, name in self.outcomes.pop(b, {}).items():
            if name in ("broker_becomes_leader", "broker_becomes_follower"):
                raise MisfitError(
                    "a broker takes a LeaderAndIsr as the model's does",
                    f"it goes on with the next request, and has done nothing about {partition}",
                    name,
                )  # fmt: skip


def _is_never_sent(line: TraceLine) -> bool:
    """A request that was put into its channel, and stayed there."""
    return line.args["correlation"] is None


def _unhandled_partitions(order: OrderedLines) -> dict[TraceLine, set[str]]:
    """A LeaderAndIsr that arrives and fails -> partitions of it that nothing was done about."""
    found: dict[TraceLine, set[str]] = {}
    last: dict[int, tuple[TraceLine, set[str]]] = {}  # later lines about it count too
    for line in order.lines:
        if line.step == "request_received" and line.args["kind"] == "LeaderAndIsr":
            last[line.broker] = line, set()
        elif line.step == "leader_and_isr_received" and line.broker in last:
            last[line.broker][1].add(str(line.partition))
        elif line.step in (*_SHOWN_BY, "leader_and_isr_ignored") and line.broker in last:
            last[line.broker][1].discard(str(line.partition))
        elif line.step == "leader_and_isr_failed" and line.broker in last:
            request, left = last[line.broker]
            if request.args["sender"] == line.args["sender"]:
                found[request] = left
    return found


def _fruitful(order: OrderedLines) -> set[TraceLine]:
    """Events of which something comes: a request, a read of the registrations, or a write."""
    found: set[TraceLine] = set()
    last: dict[int, TraceLine] = {}
    for line in order.lines:
        if line.process[0] == ZOOKEEPER:
            controller = order.brokers.get(line.args.get("session", -1), -1)
            event = last.get(controller)
            ops = line.args.get("ops", ())
            states = [one for one in order.writes.get(line, ()) if not one.by_leader]
            if event is not None and (states or any(
                one["op"] == "Delete" and str(one["path"]).startswith(_DELETED) for one in ops
            )):  # fmt: skip
                found.add(event)
        elif line.step == "event_begun":
            last[line.broker] = line
        elif line.step in (STARTED, "controller_elected", "event_done"):
            last.pop(line.broker, None)
        elif line.step in _COMES_OF_IT and line.broker in last:
            found.add(last[line.broker])
    return found


def _taken_in(order: OrderedLines) -> dict[TraceLine, set[str]]:
    """An event -> the notifications of ISR changes that its controller deletes in it."""
    found: dict[TraceLine, set[str]] = defaultdict(set)
    last: dict[int, TraceLine] = {}
    for line in order.lines:
        if line.step == "event_begun":
            last[line.broker] = line
        elif line.step in (STARTED, "controller_elected"):
            last.pop(line.broker, None)
        elif line.process[0] == ZOOKEEPER:
            event = last.get(order.brokers.get(line.args.get("session", -1), -1))
            for op in line.args.get("ops", ()):
                path = str(op["path"])
                named = op["op"] == "Delete" and path.startswith(f"{paths.ISR_CHANGES}/")
                if named and event is not None and event.args["event"] == paths.ISR_CHANGES:
                    found[event].add(path)
    return dict(found)


def _later_events(order: OrderedLines) -> dict[TraceLine, dict[int, tuple[list[str], int]]]:
    """A transaction that notes ISR changes -> by broker, the events that it begins from there on
    as the same controller: the last one first, and how many of the list they are."""
    found: dict[TraceLine, dict[int, tuple[list[str], int]]] = {}
    begins: dict[int, list[str]] = defaultdict(list)
    for line in reversed(order.lines):
        if line.step == "event_begun":
            begins[line.broker].append(str(line.args["event"]))
        elif line.step in (STARTED, "controller_elected"):
            begins.pop(line.broker, None)
        elif any(
            one["op"] == "Create" and str(one["path"]).startswith(f"{paths.ISR_CHANGES}/")
            for one in line.args.get("ops", ())
        ):
            found[line] = {broker: (names, len(names)) for broker, names in begins.items()}
    return found


def _made_together(order: OrderedLines) -> dict[TraceLine, list[str]]:
    """A write that makes a partition -> all that are made from there on, with nothing between."""
    found: dict[TraceLine, list[str]] = {}
    run: list[str] = []
    for line in order.lines:
        writes = order.writes.get(line, ())
        if any(one.is_new for one in writes):
            run += [one.partition for one in writes if one.is_new]
            found[line] = run
        elif line.process[0] == ZOOKEEPER:
            run = []
    return found


def _products(ranges: list[list[int]]) -> Iterator[tuple[int, ...]]:
    if not ranges:
        yield ()
        return
    for one in ranges[0]:
        for rest in _products(ranges[1:]):
            yield (one, *rest)


def _shown(state: Mapping[str, Any]) -> str:
    return f"leader {state['leader']} in leader epoch {state['leader_epoch']}, ISR {state['isr']}"
