"""Replays one partition of a running cluster on `replication`: each line is a step of the model.

Offsets that no line distinguishes are one record of the model. Leader epochs begin at 0 in Kafka
and at 1 in the model; zkVersions are numbered by the writes. What the model abstracts from is
forced into its state, and each reason is counted (`Forced`); every other line must be a possible
step that leads to what the line shows.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from conformance.mapping import AS_RELEASED, UNOBSERVED
from conformance.running.model_driver import ModelDriver
from conformance.running.order import OrderedLines, StateWrite, follower_of
from conformance.running.process_traces import IDS, STARTED, ZOOKEEPER, TraceLine
from conformance.running.result import MisfitError, NotModelled, ReplayResult
from impl.releases import Release
from impl.znodes.paths import REASSIGN_PARTITIONS, TOPICS, deletion
from model.language.sparse import Index
from model.systems import system
from specs.partial.compiled_steps import CompiledSteps

CREATED = "a partition is made with those of its replicas that are alive (`topics`)"
LIVE = "whom a controller takes for alive is what it said when it wrote"
KEPT_ISR = "an election of the preferred leader, or in a shutdown, keeps the dead in the ISR"
DELETED = "a topic is deleted: who lives is taken out of its ISRs (`topics`)"
MOVED = "a partition moves: who lives is taken out of its ISR (`reassignment`)"
TAKEN_AWAY = "a move has a replica's log deleted (`reassignment`)"
SEVERAL = "an answer to a fetch brings several records, and the model's brings one"
HELD_BACK = "the high watermark waits for who is caught up and not in the ISR yet"
FROM_FOLLOWER = "a consumer reads from a follower, below its high watermark"
COUNTED_MEANWHILE = "the high watermark is computed before a fetch that is counted meanwhile"
UNCOUNTED = "a high watermark does not wait for a member of the ISR that a move takes away"
EARLIER = "an answer has the high watermark of when it was read"
NOTHING = "an answer is empty though there are records: it was full, or held back"
OWN_EPOCH = "a controller sends a state that it found as one of its own epoch"
STALE_STATE_SENT = "a controller sends a state that was registered, and is not any more"
METADATA = "a broker hears of a controller by other requests too"
STOPPED = "a replica is instructed to stop by a controller (`cluster`)"
GOES = "a broker that goes resigns before its session ends"
GIVEN_UP = "a leader's write failed, and it has a session still"
CHECKPOINT = "a broker starts with a high watermark that it had: its checkpoint"
OUT_OF_RANGE = "a follower goes on where its leader's log begins or ends"
OFFSET_OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"
ELECTED_BY = "a leader writes the controller epoch that elected it, not the newest that it knows"
KEEPS = "a leader that is elected again keeps what it knows of the others' ends"
GONE = "a leader answers a question that its asker has given up, or did not outlive"
CAUGHT_UP = "up to 2.0 a follower is dropped that has all there is, if it had so long ago only"
TWICE = "a producer that sends again is answered by what is there"
EMPTY_EPOCH = "a log that is loaded forgets a leader epoch in which nothing was written"
UNHEARD = "a follower has not heard that its leader is in a newer epoch"
LATE = "a producer is answered in a later epoch of the same leader"
ASKED_EARLIER = (
    "a controller writes the ISR that a leader asked for before, and the leader has moved on"
)
VOID = "an order makes void what a leader has asked its controller for"
AS_BEFORE = "a state without a leader is written once more, as its last ISR member is dead"
FAILED = "a leader counts what it read, and then fails to answer"
NO_FETCHER = (
    "KAFKA-9769: a LeaderAndIsr failed; its leader epoch is taken, and no fetcher was started"
)
KEPT_EPOCH = "a follower that cuts nothing keeps a leader epoch in which nothing was written"
NEW_SESSION = "a broker writes in its new session before it has registered again"
UNTRACED = "a process that was killed had appended what it did not come to trace"
OFFLINE = "a log cannot be used: what was fetched for it, or asked of it, comes to nothing"
WAITS = "a follower whose leader is not known to it goes on as it was"


def _parsed(op: Mapping[str, Any]) -> dict[str, Any]:
    """What a node holds, nothing if it is no JSON."""
    try:
        content = json.loads(op.get("data") or "{}")
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


class ReplicationJudge:
    """Replays partitions of one cluster on one model."""

    def __init__(
        self, order: OrderedLines, brokers: Iterable[int], version: str,
        switches: Mapping[str, object],
        at_the_end: Callable[[PartitionReplay], None] | None = None,
    ) -> None:  # fmt: skip
        self.order, self.at_the_end = order, at_the_end
        self.ids = sorted(brokers)
        self.by_request = not switches.get("isr_write_locks", True)
        """Who leads asks the controller for an ISR (2.7), and fetches may say where logs part."""
        recorded = system("replication").recorded(version, {**AS_RELEASED, **switches})
        self.followers_are_read = Release.of(version).since("2.4")
        self.switches = recorded.switches
        self.moves = CompiledSteps(recorded, {"brokers": len(self.ids)}, frozenset(UNOBSERVED))
        self.moves.ledger.is_keyed = False

    def replay(self, partition: str) -> ReplayResult:
        """Replays one partition, up to the first misfit; then checks its final state."""
        self.moves.ledger.load({})
        replay = PartitionReplay(self, partition)
        if (check := self.at_the_end) is not None:
            replay.ends_with(lambda: check(replay))
        return replay.run()

    def partitions(self) -> list[str]:
        """The partitions whose state was written."""
        return sorted({one.partition for some in self.order.writes.values() for one in some})


class PartitionReplay(ModelDriver):
    """Drives `replication` by the lines of one partition and of controllers."""

    def __init__(self, judge: ReplicationJudge, partition: str) -> None:
        super().__init__(judge.moves, judge.ids, ReplayResult(partition))
        self.judge, self.order, self.partition = judge, judge.order, partition
        self.bounds = self._bounds()
        self.ends: dict[int, int] = {}  # real log ends, by broker
        self.ended_at: dict[
            tuple[int, int], int
        ] = {}  # by leader and follower, before its last fetch
        self.had: dict[int, set[int]] = {}  # high watermarks of a broker since it was loaded
        self.pending: dict[int, tuple[TraceLine, dict[str, Any]]] = {}
        self.versions: dict[int, int] = {}  # zkVersion -> the model's
        self.states: dict[int, dict[str, Any]] = {}  # zkVersion -> what was registered
        self.committed: list[tuple[int, TraceLine]] = []
        self.loads = self._loads()
        self.last_asked = {
            (one.broker, one.start): one.args["correlation"]
            for one in self._own_lines() if one.step == "records_asked"
        }  # fmt: skip
        self.born = self.gone = False
        self.wanted: dict[int, tuple[int, ...]] = {}
        self.asked: dict[tuple[int, int], int] = {}  # the offset of it
        self.out_of_range: dict[
            int, tuple[int, int]
        ] = {}  # follower -> its leader, and its log end
        self.slots: dict[tuple[int, int], int] = {}  # the question that a follower waits for
        self.sent_replicas: dict[int, set[int]] = {}  # the replicas that were sent to a leader last
        self.leads_since: dict[int, int] = {}  # the leader epoch in which a leader became one
        self.unfetched: set[int] = set()  # follow, and their fetcher was not started
        self.starts: dict[int, int] = {}  # which start of a broker this is
        self.kept_epoch: dict[int, int] = {}  # of who has cut nothing when it followed
        self.assigned: set[int] = set()
        self.leaving: set[int] = set()  # whom a move takes away
        self.deleting = False
        self.halted: set[int] = set()  # lead, and got StopReplica without delete
        self.departed: set[int] = set()  # whom a move took out of the ISR, alive

    # Offsets

    def _own_lines(self) -> list[TraceLine]:
        return [one for one in self.order.lines if one.partition == self.partition]

    def _bounds(self) -> list[int]:
        """Offsets that lines distinguish: where a record of the model ends, and the next begins."""
        found, begun = {0}, set[tuple[int, int]]()
        for line in self._own_lines():
            args = line.args
            match line.step:
                case "fetch_served":
                    reply = args["reply"]
                    found |= {args["asked"]["offset"], reply["high_watermark"], reply["end"]}
                    found |= {*(reply["diverging"] or ())[1:]}
                case "epoch_served":
                    found.add(args["reply"]["end"]["end"])
                case "records_asked":
                    found.add(args["asked"]["offset"])
                case "producer_answered":
                    found |= {args["end"]} if args["acks"] == -1 else set()
                case "records_appended":
                    epoch = line.broker, args["leader_epoch"]
                    if epoch not in begun:  # in which epoch a log ends may be asked later
                        found |= {args["first"], args["end"]}
                    begun.add(epoch)
                case _:
                    names = ("offset", "log_end", "high_watermark", "start", "before", "now")
                    found |= {args[name] for name in names if isinstance(args.get(name), int)}
                    found |= {end for _, end in args.get("late") or ()}
        return sorted(one for one in found if one >= 0)

    def index(self, offset: int) -> int:
        """How many records of the model are below an offset."""
        if offset < 0:
            return -1
        at = bisect_left(self.bounds, offset)
        if at == len(self.bounds) or self.bounds[at] != offset:
            return bisect_right(self.bounds, offset) - 1
        return at

    def _loads(self) -> dict[tuple[int, int], TraceLine]:
        found: dict[tuple[int, int], TraceLine] = {}
        for line in self._own_lines():
            if line.step == "log_loaded":
                found.setdefault((line.broker, line.start), line)
        return found

    # Steps

    def lines(self) -> Iterable[TraceLine]:
        """The lines that concern the partition."""
        for line in self.order.lines:
            if self._concerns(line):
                self.done.lines += line.partition == self.partition
                yield line

    def _concerns(self, line: TraceLine) -> bool:
        if line.partition is not None:
            return line.partition == self.partition or line.step in _OF_CONTROLLERS
        return line.process[0] == ZOOKEEPER or line.step in _OF_PROCESSES

    def take(self, line: TraceLine) -> None:
        """Replays one line."""
        if line.process[0] == ZOOKEEPER:
            self._zookeeper(line)
            return
        if line.partition is not None and line.partition != self.partition:
            self._note_controller(line)
            return
        handler: Callable[[TraceLine, int], None] | None = getattr(self, f"_on_{line.step}", None)
        if handler is not None and (self.born or line.step in _OF_PROCESSES):
            b = self.of[line.broker]
            if b in self.halted and self._is_refused(line):
                self._stops(b)
            handler(line, b)

    def _is_refused(self, line: TraceLine) -> bool:
        """Whether a request is answered with an error."""
        return bool(line.args.get("reply", line.args).get("error", "NONE") != "NONE")

    def expect_offset(self, what: str, seen: int, mine: int) -> None:
        """Like `expect`, for an offset, which is shown in the cluster's own numbers."""
        if self.index(seen) != mine:
            there = self.bounds[mine] if 0 <= mine < len(self.bounds) else mine
            raise MisfitError(
                f"{self.named} ends as the model's step does",
                f"{what} is {seen}, where the model has {there}{self._lost(what, seen)}",
                f"{what} is {there}",
            )  # fmt: skip

    def _lost(self, what: str, seen: int) -> str:
        if what != "the log end":
            return ""
        above = [(hw, line) for hw, line in self.committed if hw > seen]
        if not above:
            return ""
        hw, line = above[0]
        return (
            f": below {hw} is committed, by broker {line.broker} ({line.file}, line {line.number}),"
            " and this replica has it no more"
        )

    # ZooKeeper

    def _zookeeper(self, line: TraceLine) -> None:
        if line.step == STARTED and line.start > 1:
            for one, at in self.of.items():
                if one in self.members("zk.registered"):
                    self.step("session_expires", at)
            return
        if line.step == "session_ended":
            broker = self.order.brokers.get(line.args["session"])
            if f"{IDS}{broker}" in line.args["gone"]:
                assert broker is not None, "it has a registration"
                self.step("session_expires", self.of[broker])
            return
        for op in line.args.get("ops", ()):
            self._node(line, op)
        for write in self.order.writes.get(line, ()):
            if write.partition == self.partition:
                self._written(write)

    def _node(self, line: TraceLine, op: Mapping[str, Any]) -> None:
        path, kind = str(op["path"]), op["op"]
        broker = self.order.brokers.get(line.args["session"], -1)
        if path.startswith(IDS) and kind == "Create":
            self._registers(int(path.removeprefix(IDS)))
        elif path == "/controller" and kind == "Delete":
            self.step("controller_node_is_deleted")
        elif path == "/controller_epoch" and kind != "Check" and int(op["data"]) > 0:
            if broker not in self.of:
                raise NotModelled(f"session {line.args['session']} of no broker wrote {path}")
            self.step("broker_becomes_controller", self.of[broker])
            self.expect("/controller_epoch", int(op["data"]), self.read("zk.epoch"))
        elif path == f"{TOPICS}/{self.partition.rpartition('-')[0]}" and kind != "Check":
            self._topic(op)
        elif path == REASSIGN_PARTITIONS and kind in ("Create", "SetData"):
            self._asked_to_move(op)
        elif path == deletion(self.partition.rpartition("-")[0]) and kind == "Create":
            self.deleting = True
        elif (
            self.gone
            and kind == "Create"
            and path.startswith(f"{TOPICS}/{self.partition.rpartition('-')[0]}/")
        ):
            raise NotModelled("the topic was deleted and made anew (the system `topics` has that)")

    def _topic(self, op: Mapping[str, Any]) -> None:
        """The topic's znode: the assignment, and since 2.4 what a move removes (KIP-455)."""
        if op["op"] == "Delete":
            self.gone = True
            return
        number, content = self.partition.rpartition("-")[2], _parsed(op)
        self.assigned = {*content.get("partitions", {}).get(number, ())}
        if "removing_replicas" in content:
            self.leaving |= {*content["removing_replicas"].get(number, ())}

    def _asked_to_move(self, op: Mapping[str, Any]) -> None:
        """Up to 2.3 a move is known from the request alone."""
        topic, _, number = self.partition.rpartition("-")
        for one in _parsed(op).get("partitions", ()):
            if (one.get("topic"), one.get("partition")) == (topic, int(number)):
                self.leaving = self.assigned - {*one.get("replicas", ())}

    def _registers(self, broker: int) -> None:
        at = self.of[broker]
        if at in [self.of[one] for one in self.members("up")]:
            self.step("broker_reconnects", at)
            return
        loaded = self.loads.get((broker, self.starts.get(broker, 0)))
        if loaded is not None:
            hw = loaded.args["high_watermark"]
            if hw in self.had.get(broker, set()):
                code = self.index(hw)
                self.force(CHECKPOINT, ("replica.checkpoint", (at,), code))
        self.step("broker_starts", at)
        end = self.read("log.end", at)
        last = self.read("log.at.epoch", at, end - 1) if end else -1
        self.force(EMPTY_EPOCH, ("replica.latest_epoch", (at,), last))
        if loaded is not None:  # else its checkpoint is what it was
            self.had[broker] = {0, loaded.args["high_watermark"]}

    def _written(self, write: StateWrite) -> None:
        state, zk = write.state, write.version
        epoch, before = state["leader_epoch"] + 1, self.states.get(zk - 1)
        if write.is_new:
            self.born = True
            self.force(CREATED, *self.set_cells("zk.isr", (), state["isr"]))
        elif before is None:
            raise NotModelled(f"no line shows the state of zkVersion {zk - 1}")
        if before is not None and write.by_leader:
            self._isr_written(write, before)
        else:
            self._controller_writes(write, before)
        self.versions[zk], self.states[zk] = self.read("zk.version"), state
        self.expect("the leader", state["leader"], self.kafka_id(self.read("zk.leader"), -1))
        self.expect("the leader epoch", epoch, self.read("zk.leader_epoch"))
        isr, mine = set(state["isr"]), self.members("zk.isr")
        if isr != mine:
            raise MisfitError(
                "a written state is what the model's step writes",
                f"the ISR is {sorted(isr)}, where the model has {sorted(mine)}",
                f"the ISR is {sorted(mine)}",
            )  # fmt: skip
        self._keeps_committed(state, before)

    def _keeps_committed(self, state: Mapping[str, Any], before: Mapping[str, Any] | None) -> None:
        """An election from the ISR loses nothing; what another one loses is committed no more."""
        leader = state["leader"]
        if not self.committed or leader not in self.of:
            return
        end = self.read("log.end", self.of[leader])
        if self.judge.switches["unclean_leader_election"] and (
            before is None or leader not in before["isr"]
        ):
            self.committed = [one for one in self.committed if self.index(one[0]) <= end]
            return
        hw, line = max(self.committed, key=lambda one: one[0])
        if end < self.index(hw):
            raise MisfitError(
                "no_message_loss: a leader has every committed record",
                f"broker {leader} is to lead and has no more than offset "
                f"{self.bounds[end]}; below {hw} is committed "
                f"({line.file}, line {line.number})",
                "a leader that has every committed record",
            )  # fmt: skip

    def _controller_writes(self, write: StateWrite, before: Mapping[str, Any] | None) -> None:
        state = write.state
        c = self.of.get(self.order.brokers.get(write.session, -1), 0)
        if not c:
            raise NotModelled("a state was written in a session of no broker")
        self.expect("the controller epoch", state["controller_epoch"], self.read("belief", c))
        self.step("controller_reads_partition", c)
        written = self.order.wrote.get((self.partition, state["leader_epoch"], write.version))
        isr = set(state["isr"])
        if written is not None:
            live = set(written.args["live"])
        else:
            had = set(before["isr"]) if before else isr
            leads = isr if before and state["leader"] >= 0 else set()
            dead = had - isr if state["leader"] >= 0 else had
            live = (self.members("zk.registered") - dead) | leads
        if write.is_new:
            live |= isr
        leader, removed = state["leader"], (set(before["isr"]) if before else isr) - isr
        left = removed | ({before["leader"]} if before and leader < 0 else set())
        if self.deleting and left & live:
            self.force(DELETED, *self.set_cells("cache.live", (c,), live - left))
        elif taken := removed & live & self.leaving:
            self.departed |= taken
            self.force(MOVED, *self.set_cells("cache.live", (c,), live - taken))
        elif before and isr - live and (
            before["leader"] in self.members("zk.registered") - live
            if removed else before["leader"] in live
        ):  # fmt: skip
            self.force(KEPT_ISR, *self.set_cells("cache.live", (c,), live | isr))
        else:
            self.force(LIVE, *self.set_cells("cache.live", (c,), live))
        elects = write.is_new or before is None or (
            leader >= 0 and (leader != before["leader"] or not removed)
        )  # fmt: skip
        if elects and leader >= 0:
            self.step("controller_elects_leader", c, self.of[leader])
        elif len(removed) == 1 or (before is not None and not removed):
            gone = next(iter(removed)) if removed else (before or {})["leader"]
            if gone < 0:
                self._written_once_more(state)
                return
            self.step("controller_removes_replica", c, self.of[gone])
        else:
            raise MisfitError(
                "a controller elects a leader or removes a replica",
                f"it writes leader {leader} and ISR {sorted(isr)} over {before}",
                "one of the two",
            )  # fmt: skip

    def _written_once_more(self, state: Mapping[str, Any]) -> None:
        """The last ISR member of a partition without a leader fails again."""
        self.force(
            AS_BEFORE, ("zk.version", (), self.read("zk.version") + 1),
            ("zk.leader_epoch", (), self.read("zk.leader_epoch") + 1),
            ("zk.state_epoch", (), state["controller_epoch"]),
        )  # fmt: skip

    def _changes_isr(self, name: str, b: int, replica: int) -> None:
        """Up to 2.0 a leader may drop a caught-up follower, if it caught up too long ago."""
        known = self.read("known_end", b, replica)
        if self.judge.by_request and "refused" not in name:
            self._changes_isr_by_request(name, b, replica)
            return
        old = not self.judge.switches["fetch_fencing"] and "shrink" in name
        if old and known == self.read("log.end", b):
            self.force(CAUGHT_UP, ("known_end", (b, replica), -1))
            self.step(name, b, replica)
            self.force(CAUGHT_UP, ("known_end", (b, replica), known))
        else:
            self.step(name, b, replica)

    def _changes_isr_by_request(self, name: str, b: int, replica: int) -> None:
        """The controller writes the ISR later (KIP-497): what the leader knows now is not what it
        knew when it sent the request, and its own session is not checked."""
        if self.read("isr_write.state", b) == 1:  # an answer that it did not hear, or did not take
            self.step("leader_learns_isr_is_written", b)
        known, end = self.read("known_end", b, replica), self.read("log.end", b)
        there = self.read("zk.registered", b)
        caught_up = "shrinks" in name and known == end
        cells = [("known_end", (b, replica), -1)] if caught_up else []
        self.force(ASKED_EARLIER, *cells, ("zk.registered", (b,), 1))
        self.step(name, b, replica)
        cells = [("known_end", (b, replica), known)] if caught_up else []
        self.force(ASKED_EARLIER, *cells, ("zk.registered", (b,), there))

    def _requested_by_ended_process(self, write: StateWrite, b: int) -> bool:
        """The controller writes the ISR that a process requested which has ended since."""
        if self.read("replica.role", b) == _LEADS:
            return False
        wanted = self.wanted.get(b, ())
        if set(wanted) != set(write.state["isr"]):
            raise MisfitError("a controller writes the ISR that a leader asked for",
                         f"the ISR is {write.state['isr']}, and broker {write.state['leader']} "
                         f"asked for {sorted(wanted)}", f"the ISR is {sorted(wanted)}")  # fmt: skip
        self.force(
            ASKED_EARLIER, *self.set_cells("zk.isr", (), write.state["isr"]),
            ("zk.version", (), self.read("zk.version") + 1),
            ("zk.state_epoch", (), write.state["controller_epoch"]),
        )  # fmt: skip
        return True

    def _forgets_its_request(self, b: int) -> None:
        """A LeaderAndIsr voids the leader's pending request (`clearPending`; KAFKA-12686)."""
        if self.judge.by_request:
            self.force(
                VOID, ("isr_write.state", (b,), 0), ("isr_write.state_epoch", (b,), 0),
                ("isr_write.version", (b,), 0), *self.set_cells("isr_write.isr", (b,), ()),
            )  # fmt: skip

    def _isr_written(self, write: StateWrite, before: Mapping[str, Any]) -> None:
        """A leader's own write; changes of several replicas are taken one after the other."""
        leader = write.state["leader"]
        at = self.of.get(leader, 0)
        if self.judge.by_request and self._requested_by_ended_process(write, at):
            return
        joins = sorted(set(write.state["isr"]) - set(before["isr"]))
        leaves = sorted(set(before["isr"]) - set(write.state["isr"]))
        steps = [("leader_expands_isr", one) for one in joins]
        steps += [("leader_shrinks_isr", one) for one in leaves]
        returns = (
            not self.judge.by_request
            and not self.read("zk.registered", at)
            and self.order.brokers.get(write.session) == leader
        )
        if returns:
            self.force(NEW_SESSION, ("zk.registered", (at,), 1))
        for number, (name, one) in enumerate(steps, 1):
            self._changes_isr(name, at, self.of[one])
            if number < len(steps):
                self.step("leader_learns_isr_is_written", at)
        if returns:
            self.force(NEW_SESSION, ("zk.registered", (at,), 0))
        if not steps:
            raise MisfitError("an ISR write changes the ISR", f"{before['isr']} is written again",
                         "another ISR")  # fmt: skip
        epoch = before["controller_epoch"]
        if self.judge.by_request:
            epoch = self.read("belief", self.of[self.order.brokers.get(write.session, -1)])
        self.expect("the state's controller epoch", write.state["controller_epoch"], epoch)
        cells = [(name, index, epoch) for name, index in
                 (("zk.state_epoch", ()), ("isr_write.state_epoch", (at,)))]  # fmt: skip
        self.force(ELECTED_BY, *cells)

    # Processes and controllers

    def _on_process_started(self, line: TraceLine, b: int) -> None:
        self.unfetched.discard(b)
        self.halted.discard(b)
        self.starts[line.broker] = line.start
        self.kept_epoch.pop(b, None)
        if line.broker in self.members("up"):
            self._appends_untraced(line, b)
            self.step("broker_crashes", b)

    def _on_controller_elected(self, line: TraceLine, b: int) -> None:
        self.step("broker_learns_it_won", b)
        self.expect("the controller epoch", line.args["epoch"], self.read("belief", b))

    def _on_controller_resigned(self, _line: TraceLine, b: int) -> None:
        if not self.read("belief", b):
            return
        if self.read("zk.controller") != b:
            self.step("controller_resigns", b)
        else:
            cells = [("belief", (b,), 0), ("cache.held", (b,), 0)]
            self.force(GOES, *cells, *self.set_cells("cache.live", (b,), ()),
                       *self.set_cells("cache.isr", (b,), ()),
                       *self.set_cells("cache.reached", (b,), ()))  # fmt: skip

    def _note_controller(self, line: TraceLine) -> None:
        """A controller's request, about any partition, that the broker did not refuse."""
        self._heard_of(self.of[line.broker], line.args["sender"]["epoch"])

    def _heard_of(self, b: int, epoch: int) -> None:
        if epoch > self.read("zk.epoch"):
            raise MisfitError("a controller's epoch was won in ZooKeeper",
                         f"epoch {epoch}, and the newest is {self.read('zk.epoch')}",
                         f"{self.read('zk.epoch')} or less")  # fmt: skip
        if self.judge.ids[b - 1] in self.members("up"):
            known = self.read("replica.controller_epoch", b)
            if epoch > known:
                self.force(METADATA, ("replica.controller_epoch", (b,), epoch))

    def _on_state_written(self, line: TraceLine, _b: int) -> None:
        """The state that a controller reports as written is the one that ZooKeeper got."""
        there = self.states.get(line.args["zk_version"], {})
        for name in ("leader", "leader_epoch", "isr"):
            if there.get(name) != line.args[name]:
                raise MisfitError(
                    "a controller writes what it says",
                    f"{name} is {line.args[name]}, and {there.get(name)} was written",
                    f"{name} is {there.get(name)}",
                )  # fmt: skip

    def _on_leader_cached(self, line: TraceLine, _b: int) -> None:
        self._note_controller(line)

    # Orders

    def _on_leader_and_isr_received(self, line: TraceLine, b: int) -> None:
        self.pending[b] = line, line.args["order"]

    def _arrives(self, b: int) -> tuple[int, int]:
        """The request is in flight in the model: its leader epoch and controller epoch."""
        if b not in self.pending:
            raise MisfitError(
                "a broker applies a LeaderAndIsr only after it received it",
                f"{self.named}, and no LeaderAndIsr for {self.partition} was received since the "
                "last one was obeyed", "leader_and_isr_received before it",
            )  # fmt: skip
        line, order = self.pending.pop(b)
        epoch, c = order["leader_epoch"] + 1, line.args["sender"]["epoch"]
        there = self.states.get(order["zk_version"])
        shown = {name: order[name] for name in ("leader", "leader_epoch", "controller_epoch")}
        if there and there["controller_epoch"] < order["controller_epoch"] == c:
            # A controller removes a dead broker from an ISR in which it is not any more: it writes
            # nothing, and tells the state as one of its own epoch (doRemoveReplicasFromIsr).
            self.done.forced[OWN_EPOCH] += 1
            shown.pop("controller_epoch")
        if (
            there is None
            or any(there[name] != value for name, value in shown.items())
            or (set(there["isr"]) != set(order["isr"]))
        ):
            raise MisfitError(
                "a LeaderAndIsr has a state that was registered",
                f"leader {order['leader']}, leader epoch {order['leader_epoch']}, ISR "
                f"{order['isr']}, zkVersion {order['zk_version']}; registered was {there}",
                "a state as ZooKeeper had it",
            )  # fmt: skip
        index, version = (epoch, c, b), self.versions[order["zk_version"]]
        cells = [("request.in_flight", index, 1), ("request.version", index, version),
                 *self.set_cells("request.isr", index, order["isr"])]  # fmt: skip
        older = c < order["controller_epoch"] and order["leader"] >= 0
        if c > self.read("zk.epoch") or older:
            raise MisfitError("a controller sends a state that it or an earlier one wrote",
                         f"controller epoch {c} sends what epoch {order['controller_epoch']} wrote",
                         "the epoch that wrote it, or a later one")  # fmt: skip
        if not self.read("request.in_flight", *index):
            sender = self.of.get(line.args["sender"]["controller"], 0)
            now = self.read("zk.version") == version and self.read("zk.leader_epoch") == epoch
            if now and sender and not self.refusal("controller_issues_leader_and_isr", sender, b):
                self.step("controller_issues_leader_and_isr", sender, b)
        self.force(STALE_STATE_SENT, *cells)
        return epoch, c

    def _on_became_leader(self, line: TraceLine, b: int) -> None:
        self.halted.discard(b)
        self.unfetched.discard(b)
        request = self.pending.get(b)
        epoch, c = self._arrives(b)
        self.expect("the leader epoch", line.args["leader_epoch"] + 1, epoch)
        leads = self.read("replica.role", b) == _LEADS
        known = [("known_end", (b, one), self.read("known_end", b, one))
                 for one in self.of.values()]  # fmt: skip
        self.step("broker_becomes_leader", b, epoch, c)
        self._forgets_its_request(b)
        assert request is not None, "a LeaderAndIsr arrived"
        self.sent_replicas[b] = {*request[1]["replicas"]}
        if leads:
            self.force(KEEPS, *known)
        else:
            self.leads_since[b] = epoch
        self.expect_offset("the log end", line.args["start"], self.read("log.end", b))
        self.expect_offset(
            "the high watermark", line.args["high_watermark"], self.read("replica.hw", b)
        )

    def _on_became_follower(self, line: TraceLine, b: int) -> None:
        self.halted.discard(b)
        epoch, c = self._arrives(b)
        self.expect("the leader epoch", line.args["leader_epoch"] + 1, epoch)
        self.step("broker_becomes_follower", b, epoch, c)
        self._forgets_its_request(b)
        if self.judge.switches["truncation"] == "hw":  # it truncates as it begins to follow
            self.ends[line.broker] = self.bounds[self.read("log.end", b)]
        leader = self.kafka_id(self.read("replica.leader", b), -1)
        self.expect("the leader", line.args["leader"], leader)
        self.unfetched.discard(b)
        if not line.args.get("fetching", True):
            self.done.forced[NO_FETCHER] += 1
            self.unfetched.add(b)

    def _on_leader_and_isr_ignored(self, line: TraceLine, b: int) -> None:
        epoch, c = self._arrives(b)
        if line.args["error"] == "STALE_CONTROLLER_EPOCH":
            self.step("older_epoch_is_refused", b, epoch, c)
        else:
            self.step("leader_and_isr_is_lost", b, epoch, c)
            self._heard_of(b, c)

    def _on_leader_unavailable(self, line: TraceLine, b: int) -> None:
        epoch, c = self._arrives(b)
        if line.args["order"]["leader"] < 0:
            self.step("leaderless_request_is_ignored", b, epoch, c)
            return
        self.step("leader_and_isr_is_lost", b, epoch, c)
        self.done.forced[WAITS] += 1
        self._heard_of(b, c)

    def _on_request_refused(self, line: TraceLine, b: int) -> None:
        known = line.args["known"]
        self._heard_of(b, known)
        if line.args["kind"] == "LeaderAndIsr" and b in self.pending:
            epoch, c = self._arrives(b)
            self.step("older_controller_is_refused", b, epoch, c)

    def _on_stop_replica_completed(self, line: TraceLine, b: int) -> None:
        if line.args["delete"]:
            self.ends.pop(line.broker, None)
            if line.broker in self.departed | self.leaving:
                self._loses_its_log(line.broker, b)
            else:
                self.gone = True
        elif self.read("replica.role", b) == _LEADS:
            self.halted.add(b)  # Kafka's go on to lead until the replica is deleted; ours do not
            return
        self._stops(b)

    def _stops(self, b: int) -> None:
        self.halted.discard(b)
        self.force(
            STOPPED, ("replica.role", (b,), 0), ("replica.leader", (b,), 0),
            ("replica.truncating", (b,), 0), ("replica.epoch_start", (b,), 0),
            *self.set_cells("replica.isr", (b,), ()),
            *[("known_end", (b, other), -1) for other in self.of.values()],
        )  # fmt: skip

    def _loses_its_log(self, broker: int, b: int) -> None:
        """A replica that a move removed starts with an empty log if another move brings it back."""
        self.had[broker] = {0}
        self.kept_epoch.pop(b, None)
        offsets = [(b, at) for at in range(self.read("log.end", b))]
        cells: list[tuple[str, Index]] = [
            (name, index) for name in ("log.at.id", "log.at.epoch") for index in offsets
        ]
        cells += [(name, (b,)) for name in ("log.end", "replica.hw", "replica.checkpoint",
                                            "replica.latest_epoch")]  # fmt: skip
        self.force(TAKEN_AWAY, *[(name, index, self.ledger.blanks[self.numbers[name]])
                                 for name, index in cells if name in self.numbers])  # fmt: skip

    # Logs

    def _on_log_created(self, line: TraceLine, b: int) -> None:
        self.ends[line.broker] = 0
        if self.read("log.end", b) and not self.gone:
            end = self.bounds[self.read("log.end", b)]
            raise MisfitError(
                "a log outlives its process", f"a new log, where the old ended at {end}",
                f"a log that ends at {end}",
            )  # fmt: skip
        if self.read("log.end", b):  # deleted before anything showed that a move asked for it
            self._loses_its_log(line.broker, b)

    def _on_log_loaded(self, line: TraceLine, b: int) -> None:
        self.ends[line.broker] = line.args["log_end"]
        self._extend_log(b, line.args["log_end"], only_check=True)
        self.expect_offset("the log end", line.args["log_end"], self.read("log.end", b))
        self.expect_offset(
            "the high watermark", line.args["high_watermark"], self.read("replica.hw", b)
        )

    def _extend_log(self, b: int, end: int, only_check: bool = False) -> None:
        """A leader's log reaches an offset: with as many records as lines distinguish."""
        if not only_check:
            while self.read("log.end", b) < self.index(end):
                self.step("leader_appends", b)

    def _on_records_appended(self, line: TraceLine, b: int) -> None:
        self.expect("the leader epoch", line.args["leader_epoch"] + 1,
                    self.read("replica.epoch", b))  # fmt: skip
        end = self.ends.get(line.broker, 0)
        if line.args["first"] != end:
            raise MisfitError("records are appended at the end of the log",
                         f"at offset {line.args['first']}, and the log ends at {end}",
                         f"offset {end}")  # fmt: skip
        if self.read("replica.role", b) != _LEADS:
            self.step("leader_appends", b)
        self.ends[line.broker] = line.args["end"]
        self._extend_log(b, line.args["end"])

    def _on_producer_answered(self, line: TraceLine, b: int) -> None:
        if line.args["error"] != "NONE" or line.args["acks"] != -1:
            return
        last = self.index(line.args["end"]) - 1
        if last < 0:
            return
        epoch = line.args["leader_epoch"] + 1
        leads = self.read("replica.role", b) == _LEADS
        committed = last < self.read("replica.hw", b)
        written = self.read("log.at.epoch", b, last)
        if leads and committed and self.read("replica.epoch", b) > written <= epoch:
            if written == epoch < self.leads_since.get(b, 0):
                raise MisfitError(
                    "a broker that lost the leadership answers its producers with an error",
                    f"records of leader epoch {epoch - 1} are acknowledged, and broker "
                    f"{line.broker} leads since epoch {self.leads_since[b] - 1}", "an error",
                )  # fmt: skip
            self.done.forced[LATE if written == epoch else TWICE] += 1
            return
        if self.read("log.end", b) > last:
            self.expect("the leader epoch", epoch, written)
        self.step("leader_acknowledges_acks_all", b, last)

    def _on_high_watermark_raised(self, line: TraceLine, b: int) -> None:
        now = self.index(line.args["now"])
        self.expect_offset("the high watermark before", line.args["before"],
                           self.read("replica.hw", b))  # fmt: skip
        self._advances(b, now)
        mine = self.read("replica.hw", b)
        if now < mine:
            outside = set(self.of) - self.members("replica.isr", b)
            if any(self.read("known_end", b, self.of[one]) == now for one in outside):
                self.force(HELD_BACK, ("replica.hw", (b,), now))
            elif any(self.ended_at.get((b, self.of[one])) == now for one in self.of):
                self.force(COUNTED_MEANWHILE, ("replica.hw", (b,), now))
        self.expect_offset("the high watermark", line.args["now"], self.read("replica.hw", b))
        self.had.setdefault(line.broker, set()).add(line.args["now"])
        if not self.committed or self.committed[-1][0] < line.args["now"]:
            self.committed.append((line.args["now"], line))

    def _advances(self, b: int, now: int) -> None:
        """A leader waits for those ISR members that are replicas by the last LeaderAndIsr: before a
        move is done that names only the target, with the unchanged ISR
        (`Partition.maybeIncrementLeaderHW`, `moveReassignedPartitionLeaderIfRequired`)."""
        gone = self.members("replica.isr", b) - self.sent_replicas.get(b, {*self.of})
        known = [("known_end", (b, self.of[one]), self.read("known_end", b, self.of[one]))
                 for one in sorted(gone)]  # fmt: skip
        behind = [cell for cell in known if cell[2] < now]
        self.force(UNCOUNTED, *[(name, index, now) for name, index, _ in behind])
        self.step("leader_advances_hw", b)
        self.force(UNCOUNTED, *behind)

    def _on_offset_listed(self, line: TraceLine, b: int) -> None:
        """The end of a log: for consumers the high watermark, once it has reached the epoch."""
        args, epoch = line.args, self.read("replica.epoch", b) - 1
        hw, timestamp = self.read("replica.hw", b), args["timestamp"]
        fenced = self.judge.switches["fetch_fencing"]
        asked = args["leader_epoch"] if fenced and args["leader_epoch"] is not None else epoch
        late = hw < self.read("replica.epoch_start", b) and bool(
            self.judge.switches["broker_epoch"]
        )
        error, offset = "NONE", -1
        if self.read("replica.role", b) != _LEADS:
            error = args["error"] if str(args["error"]).startswith("NOT_LEADER") else "NOT_LEADER"
        elif asked != epoch:
            error = "FENCED_LEADER_EPOCH" if asked < epoch else "UNKNOWN_LEADER_EPOCH"
        elif timestamp == _EARLIEST:
            offset = args["log_start"]
        elif not args["for_consumer"]:
            offset = self.ends.get(line.broker, 0)
        elif timestamp == _LATEST or (timestamp == 0 and self.bounds[hw] <= args["log_start"]):
            offset = self.bounds[hw] if timestamp == _LATEST else -1
            has_one = timestamp == _LATEST or self.ends.get(line.broker, 0) > args["log_start"]
            error, offset = ("OFFSET_NOT_AVAILABLE", -1) if late and has_one else (error, offset)
        elif timestamp == 0:
            offset = args["log_start"]
        if (args["error"], args["offset"]) != (error, offset):
            raise MisfitError(
                "a request for a log's end is answered by its leader",
                f"asked for time {timestamp} in leader epoch {args['leader_epoch']} it answers "
                f"{args['error']}, offset {args['offset']}, where the model has {error}, {offset}",
                f"{error}, offset {offset}",
            )  # fmt: skip

    def _on_leaders_elected(self, line: TraceLine, b: int) -> None:
        """ElectLeaders: a controller answers with the state that it has registered."""
        args = line.args
        error = "NONE" if self.read("belief", b) else "NOT_CONTROLLER"
        if args["error"] != error:
            raise MisfitError(
                "the controller answers ElectLeaders",
                f"it answers {args['error']}, where the model has {error}", error,
            )  # fmt: skip
        nowhere = [code for one, code in args["errors"].items() if one not in args["preferred"]]
        if any(code != "UNKNOWN_TOPIC_OR_PARTITION" for code in nowhere) or (
            error == "NONE" and not args["all"] and not nowhere
        ):
            raise MisfitError("a request for a missing topic gets an error",
                         f"the answers are {nowhere}", "UNKNOWN_TOPIC_OR_PARTITION")  # fmt: skip
        if args["error"] != "NONE" or self.partition not in args["preferred"]:
            return
        known = [version for version, one in self.states.items()
                 if one["controller_epoch"] <= args["epoch"]]  # fmt: skip
        leads = known and self.states[max(known)]["leader"] == args["preferred"][self.partition]
        code = args["errors"].get(self.partition)
        if not self.states and code == "UNKNOWN_TOPIC_OR_PARTITION":
            return  # the topic is there, and its controller has not read it yet
        said = {None: True, "ELECTION_NOT_NEEDED": True, "NONE": True,
                "PREFERRED_LEADER_NOT_AVAILABLE": False}.get(code)  # fmt: skip
        if said is not bool(leads) or (code is None and not args["all"]):
            raise MisfitError(
                "a controller answers ElectLeaders by what is registered",
                f"it answers {code}, and the preferred replica "
                f"{'leads' if leads else 'does not lead'}", "the leader that there is",
            )  # fmt: skip

    # ProxiedRequests of followers

    def _leader_asked(self, line: TraceLine, b: int) -> int:
        if b in self.unfetched:
            raise NotModelled(f"{NO_FETCHER}: the one of the leader before asks on")
        leader = self.of[line.args["leader"]]
        state = self.read("fetch.state", b, leader)
        if state == _GIVEN_UP:
            asks_epoch = int(line.step == "epoch_asked" or self._compares(line))
            self.force(UNHEARD, ("fetch.state", (b, leader), 0),
                       ("replica.truncating", (b,), asks_epoch))  # fmt: skip
        elif state:
            self.step("fetch_is_lost", b, leader)
        self.slots[b, leader] = line.args["correlation"]
        return leader

    def _compares(self, line: TraceLine) -> bool:
        """Whether the leader looks for the diverging offset of the two logs in this fetch (2.7)."""
        return self.judge.by_request and line.args["asked"]["last_fetched_epoch"] is not None

    def _names_epoch(self, line: TraceLine, mine: int) -> None:
        """Since 2.1 a request names the follower's leader epoch (KIP-320)."""
        sent = line.args["asked"]["leader_epoch"]
        if not self.judge.switches["fetch_fencing"]:
            if sent is not None:
                raise NotModelled(
                    "the file's release is another than its header says: leader epochs are sent"
                )
            return
        if sent is None or sent + 1 != mine:
            raise MisfitError("a request names the leader epoch of its sender (KIP-320)",
                         f"the leader epoch is {sent}, and the follower is in {mine - 1}",
                         f"the leader epoch is {mine - 1}")  # fmt: skip

    def _keep_epoch(self, b: int, epoch: int) -> None:
        """Sets the epoch that a follower names, where it has kept one that the model drops."""
        if epoch == self.kept_epoch.get(b) != self.read("replica.latest_epoch", b):
            self.force(KEPT_EPOCH, ("replica.latest_epoch", (b,), epoch),
                       ("replica.truncating", (b,), 1))  # fmt: skip

    def _on_records_asked(self, line: TraceLine, b: int) -> None:
        leader = self._leader_asked(line, b)
        offset = self.asked[b, leader] = line.args["asked"]["offset"]
        if self._compares(line):
            last = line.args["asked"]["last_fetched_epoch"] + 1
            self._keep_epoch(b, last)
            self.expect("the epoch of the last record", last, self.read("replica.latest_epoch", b))
        if self._compares(line) and self.read("replica.truncating", b):
            self.step("follower_sends_epoch_request", b, leader)
            self._names_epoch(line, self.read("fetch.epoch", b, leader))
            self.expect_offset("the offset", offset, self.read("log.end", b))
            return
        self.step("follower_sends_fetch", b, leader)
        self._names_epoch(line, self.read("fetch.epoch", b, leader))
        self.expect_offset("the offset", offset, self.read("fetch.offset", b, leader))

    def _on_epoch_asked(self, line: TraceLine, b: int) -> None:
        leader = self._leader_asked(line, b)
        self._keep_epoch(b, line.args["asked"]["epoch"] + 1)
        self.step("follower_sends_epoch_request", b, leader)
        self._names_epoch(line, self.read("fetch.epoch", b, leader))
        self.expect("the epoch asked for", line.args["asked"]["epoch"] + 1,
                    self.read("fetch.last_epoch", b, leader))  # fmt: skip

    def _on_epoch_served(self, line: TraceLine, b: int) -> None:
        follower = follower_of(line)
        if follower is None:
            return
        f, reply = self.of[follower], line.args["reply"]
        if self._is_given_up(f, b, line.args["correlation"], _EPOCH_ASKED):
            return  # it changes nothing at the leader
        self._answer_to(line, f, b)
        if reply["error"] == NO_STORAGE:
            self._cannot_look(f, b)
            return
        if reply["error"] != "NONE":
            self.step("leader_refuses_epoch", b, f)
            return
        self.step("leader_answers_epoch", b, f)
        epoch, end = reply["end"]["epoch"], reply["end"]["end"]
        if epoch >= 0 or end < 0:
            mine = self.read("fetch.answer_epoch", f, b)
            self.expect("the epoch", epoch + 1 if epoch >= 0 else -1, mine)
        self.expect_offset("its end", end, self.read("fetch.answer_end", f, b))

    def _on_fetch_served(self, line: TraceLine, b: int) -> None:
        args, follower = line.args, line.args["reader"]
        reply, offset = args["reply"], args["asked"]["offset"]
        end = reply["end"]
        if end > max(offset, self.ends.get(line.broker, 0)):  # else nothing is handed out
            raise MisfitError("returned records are in the log",
                         f"records up to {end}, and the log ends at {self.ends.get(line.broker)}",
                         "no more than the log has")  # fmt: skip
        if follower < 0:
            if end > offset:
                self._is_read(b, self.index(end) - 1)
            return
        f = self.of[follower]
        compares = self._compares(line) and not self._is_given_up(
            f, b, args["correlation"], _EPOCH_ASKED
        )
        if reply["error"] == FAILURE:
            self._fails_to_answer(line, b, f)
            return
        if reply["error"] == NO_STORAGE:
            given_up = self._is_given_up(f, b, args["correlation"], _RECORDS_ASKED)
            if not given_up and not args["waited"]:
                self._cannot_look(f, b)
            return
        if reply["error"] != "NONE":
            if compares:
                self.step("leader_refuses_epoch", b, f)
            if self._is_given_up(f, b, args["correlation"], _RECORDS_ASKED):
                return
            if reply["error"] == OFFSET_OUT_OF_RANGE:
                self.out_of_range[f] = line.broker, self.ends.get(line.broker, 0)
            if not args["waited"]:
                self.step("leader_refuses_fetch", b, f)
            return
        if compares and not self._compared(line, b, f, reply, offset):
            self._answers_nobody(line, b, f)
            return
        if reply["diverging"] is not None:
            if not self._is_given_up(f, b, args["correlation"], _RECORDS_ASKED):
                raise MisfitError(
                    "a leader looks where logs part once", "it says so again to a follower whose "
                    "log is a beginning of its own", "records, if there are any",
                )  # fmt: skip
            return
        if args["waited"]:
            if self._is_given_up(f, b, args["correlation"], _RECORDS_ANSWERED):
                return  # the follower has moved on, and will not look at it
            epoch = self.read("fetch.epoch", f, b)
            self.step("fetch_is_lost", f, b)
            if self.refusal("follower_sends_fetch", f, b):
                return
            self.step("follower_sends_fetch", f, b)
            anew = self.read("fetch.epoch", f, b) != epoch  # it follows in another one by now
            if not self.judge.switches["fetch_fencing"]:
                anew = False  # up to 2.0 an answer names no epoch, and is taken
            if anew or self.read("fetch.offset", f, b) != self.index(offset):
                self.step("fetch_is_lost", f, b)
                return
        if self._is_given_up(f, b, args["correlation"], _RECORDS_ASKED):
            if not args["waited"]:
                self._answers_nobody(line, b, f)
            return
        self._answer_to(line, f, b)
        self._counts(line, b, f)
        self._answer_is(b, f, reply, offset)
        take = self.order.takes.get((follower, self.partition, args["correlation"]))
        taken = self._appended_untraced(follower, args["correlation"], offset)
        if take is not None and take.step in ("records_replicated", "append_failed"):
            taken = self._appended_to(take, offset)
        if taken <= end:
            self._append_records(line, b, f, taken)

    def _is_read(self, b: int, last: int) -> None:
        """A consumer reads committed records: from the leader, or since 2.4 from a follower
        (KIP-392)."""
        if not self.judge.followers_are_read or self.read("replica.role", b) == _LEADS:
            self.step("consumer_reads", b, last)
            return
        hw = self.read("replica.hw", b)
        if last >= hw:
            raise MisfitError(
                "a follower returns only committed records to consumers",
                f"it shows records up to {self.bounds[last + 1]}, and its high watermark is "
                f"{self.bounds[hw]}", f"records up to {self.bounds[hw]}",
            )  # fmt: skip
        self.done.forced[FROM_FOLLOWER] += 1

    def _cannot_look(self, f: int, b: int) -> None:
        """The leader's log is in a directory that has failed: the request has no effect."""
        self.step("fetch_is_lost", f, b)
        self.done.forced[OFFLINE] += 1

    def _counts(self, line: TraceLine, b: int, f: int) -> None:
        self.ended_at[b, f] = self.read("known_end", b, f)
        self.step(self._answers(line, f, b), b, f)

    def _fails_to_answer(self, line: TraceLine, b: int, f: int) -> None:
        """The read fails; the follower's offset may have been noted for some partitions before."""
        given_up = self._is_given_up(f, b, line.args["correlation"], _RECORDS_ASKED)
        if not line.args.get("counted"):
            if not given_up:
                self.step("fetch_is_lost", f, b)
        elif given_up:
            self._answers_nobody(line, b, f)
        else:
            self._answer_to(line, f, b)
            self._counts(line, b, f)
            self.step("fetch_is_lost", f, b)
        self.done.forced[FAILED] += 1

    def _compared(
        self, line: TraceLine, b: int, f: int, reply: Mapping[str, Any], offset: int
    ) -> bool:
        """The leader looks where the follower's log diverges from its own: nowhere, or there (2.7).

        False if it diverges nowhere, and the follower has a new LeaderAndIsr meanwhile.
        """
        self._names_epoch(line, self.read("fetch.epoch", f, b))
        last = line.args["asked"]["last_fetched_epoch"] + 1
        self.expect("the epoch asked for", last, self.read("fetch.last_epoch", f, b))
        self.step("leader_answers_epoch", b, f)
        if reply["diverging"] is not None:
            epoch, end = reply["diverging"]
            self.expect("the epoch", epoch + 1, self.read("fetch.answer_epoch", f, b))
            self.expect_offset("its end", end, self.read("fetch.answer_end", f, b))
            return True
        if self.refusal("follower_truncates", f, b):
            return False
        end, known = self.read("log.end", f), self.read("replica.latest_epoch", f)
        self.step("follower_truncates", f, b)
        self.expect_offset("the follower's log end", offset, self.read("log.end", f))
        if self.read("log.end", f) == end:
            self.kept_epoch[f] = known
        self.step("follower_sends_fetch", f, b)
        return True

    def _answer_to(self, line: TraceLine, f: int, b: int) -> None:
        """A leader answers a request; a fetch in a session may name no epoch (to 2.4)."""
        asked = line.args["asked"]
        if not self._is_of_a_session(line):
            self._names_epoch(line, self.read("fetch.epoch", f, b))
        if "offset" in asked:
            self.expect_offset("the offset", asked["offset"], self.read("fetch.offset", f, b))
        else:
            mine = self.read("fetch.last_epoch", f, b)
            self.expect("the epoch asked for", asked["epoch"] + 1, mine)

    def _is_of_a_session(self, line: TraceLine) -> bool:
        """Whether a leader reads the fetch from its cache, without leader epoch (2.1 to 2.4)."""
        asked, switches = line.args["asked"], self.judge.switches
        kept = switches["fetch_session_caches_epoch"] or not switches["fetch_fencing"]
        return "offset" in asked and asked["leader_epoch"] is None and not kept

    def _answers(self, line: TraceLine, f: int, b: int) -> str:
        """The step by which a leader answers a fetch: one in a session may be of another epoch."""
        same = self.read("fetch.epoch", f, b) == self.read("replica.epoch", b)
        of_a_session = not same and self._is_of_a_session(line)
        return "leader_answers_fetch_in_session" if of_a_session else "leader_answers_fetch"

    def _is_given_up(self, f: int, b: int, correlation: int, state: int) -> bool:
        """Whether the request is not the one that the follower waits for."""
        return self.slots.get((f, b)) != correlation or self.read("fetch.state", f, b) != state

    def _answers_nobody(self, line: TraceLine, b: int, f: int) -> None:
        """The leader notes the offset of a follower that no longer waits for the answer."""
        asked = line.args["asked"]
        kept = [(name, (f, b), self.read(name, f, b)) for name in self.numbers
                if name.startswith("fetch.")]  # fmt: skip
        epoch = asked["leader_epoch"]
        mine = self.read("replica.epoch", b) if epoch is None else epoch + 1
        blank = [(name, index, self.ledger.blanks[self.numbers[name]]) for name, index, _ in kept]
        self.force(GONE, *blank)
        self.force(GONE, ("fetch.state", (f, b), _RECORDS_ASKED), ("fetch.epoch", (f, b), mine),
                   ("fetch.offset", (f, b), self.index(asked["offset"])))  # fmt: skip
        self.step("leader_answers_fetch", b, f)
        if line.args["reply"]["error"] == "NONE":
            self._answer_is(b, f, line.args["reply"], asked["offset"])
        self.force(GONE, *kept)

    def _answer_is(self, b: int, f: int, reply: Mapping[str, Any], offset: int) -> None:
        hw, mine = self.index(reply["high_watermark"]), self.read("fetch.hw", f, b)
        if hw < mine:
            self.force(EARLIER, ("fetch.hw", (f, b), hw))
        self.expect_offset("the high watermark", reply["high_watermark"],
                           self.read("fetch.hw", f, b))  # fmt: skip
        has = self.index(reply["end"]) > self.index(offset)
        if not has and self.read("fetch.has_record", f, b):
            self.force(NOTHING, *[(f"fetch.{name}", (f, b), 0)
                                  for name in ("has_record", "id", "record_epoch")])  # fmt: skip
        self.expect("whether there are records", int(has), self.read("fetch.has_record", f, b))

    def _append_records(self, line: TraceLine, b: int, f: int, end: int) -> None:
        """Appends all but the last record of an answer that the follower will take."""
        offset, reply = line.args["asked"]["offset"], line.args["reply"]
        more = self.index(end) - self.index(offset) - 1
        if more < 1:
            return
        known, hw = self.read("known_end", b, f), self.read("replica.hw", f)
        for _ in range(more):
            self.step("follower_appends", f, b)
            self.step("follower_sends_fetch", f, b)
            self.step(self._answers(line, f, b), b, f)
        self.force(
            SEVERAL, ("known_end", (b, f), known), ("replica.hw", (f,), hw),
            ("fetch.hw", (f, b), self.index(reply["high_watermark"])),
        )  # fmt: skip

    def _on_records_replicated(self, line: TraceLine, b: int) -> None:
        leader = self.read("replica.leader", b)
        if not leader:
            raise MisfitError("a follower appends the records of its leader's response",
                              "it has no leader",
                         "a leader")  # fmt: skip
        asked = self.asked.get((b, leader), -1)
        self.expect("the offset that was asked for", line.args["offset"], asked)
        self.step("follower_appends", b, leader)
        if line.args["log_end"] > self.ends.get(line.broker, 0):
            self.kept_epoch.pop(b, None)
        self.ends[line.broker] = line.args["log_end"]
        self.expect_offset("the log end", line.args["log_end"], self.read("log.end", b))
        hw = line.args["high_watermark"]
        self.expect_offset("the high watermark", hw, self.read("replica.hw", b))
        self.had.setdefault(line.broker, set()).add(hw)

    def _on_log_truncating(self, line: TraceLine, b: int) -> None:
        end = min(line.args["offset"], line.args["log_end"])
        leader = self.read("replica.leader", b)
        hw = line.args["high_watermark"]
        self.expect("the log end before", line.args["log_end"], self.ends.get(line.broker, 0))
        self.expect_offset("the high watermark before", hw, self.read("replica.hw", b))
        before = self.read("log.end", b)
        if self.index(end) >= before:
            self.kept_epoch[b] = self.read("replica.latest_epoch", b)
        else:
            self.kept_epoch.pop(b, None)
        if leader and self.read("fetch.state", b, leader) == _EPOCH_ANSWERED:
            self.step("follower_truncates", b, leader)
        elif self.index(end) < before and not self._ends_with_its_leader(b, leader, end):
            raise MisfitError(
                "a follower cuts its log by its leader's answer",
                f"it cuts to offset {end} and no answer says so{self._lost('the log end', end)}",
                f"its log up to offset {self.bounds[before]}",
            )  # fmt: skip
        self.ends[line.broker] = end
        self.expect_offset("the log end", end, self.read("log.end", b))
        self.had.setdefault(line.broker, set()).add(self.bounds[self.read("replica.hw", b)])

    def _ends_with_its_leader(self, b: int, leader: int, end: int) -> bool:
        """A follower's log is longer than that of its leader, which was elected from outside the
        ISR; it truncates to the leader's end, now or at the answer (``handleOffsetOutOfRange``)."""
        if not self.judge.switches["unclean_leader_election"] or b not in self.out_of_range:
            return False
        broker, least = self.out_of_range.pop(b)
        if self.of[broker] != leader or not least <= end <= self.ends.get(broker, 0):
            return False
        cut, hw = self.index(end), self.read("replica.hw", b)
        gone = [(b, at) for at in range(cut, self.read("log.end", b))]
        last = self.read("log.at.epoch", b, cut - 1) if cut else -1
        self.force(
            OUT_OF_RANGE, ("log.end", (b,), cut), ("replica.hw", (b,), min(hw, cut)),
            ("replica.latest_epoch", (b,), last),
            *[(name, index, self.ledger.blanks[self.numbers[name]])
              for name in ("log.at.id", "log.at.epoch") for index in gone],
        )  # fmt: skip
        return True

    def _appended_to(self, line: TraceLine, offset: int) -> int:
        """The end of a follower's log after it has handled the answer to a request at an offset.

        A failed append leaves whole batches on the disk, or none: the next start shows which.
        """
        if line.step == "records_replicated":
            return int(line.args["log_end"])
        loaded = self.loads.get((line.broker, line.start + 1))
        return offset if loaded is None else max(offset, int(loaded.args["log_end"]))

    def _appended_untraced(self, follower: int, correlation: int, offset: int) -> int:
        """The log end of a follower that was killed after its last request.

        It may have appended the answer without a trace line: its next start shows it.
        """
        start = self.starts.get(follower, 0)
        loaded = self.loads.get((follower, start + 1))
        if loaded is None or self.last_asked.get((follower, start)) != correlation:
            return offset
        return max(offset, int(loaded.args["log_end"]))

    def _appends_untraced(self, line: TraceLine, b: int) -> None:
        """A process has ended; its next start has more in its log than it had traced."""
        loaded = self.loads.get((line.broker, line.start))
        end = -1 if loaded is None else int(loaded.args["log_end"])
        if end <= self.ends.get(line.broker, 0):
            return
        leader = self.read("replica.leader", b)
        if self.read("replica.role", b) == _LEADS:
            self._extend_log(b, end)
        elif leader and self.read("fetch.state", b, leader) == _RECORDS_ANSWERED:
            self.step("follower_appends", b, leader)
        if self.read("log.end", b) == self.index(end):  # else that is found when it is loaded
            self.done.forced[UNTRACED] += 1

    def _on_append_failed(self, line: TraceLine, b: int) -> None:
        leader, before = self.read("replica.leader", b), self.ends.get(line.broker, 0)
        end = self._appended_to(line, before)
        if leader and self.read("fetch.state", b, leader) == _RECORDS_ANSWERED:
            self.step("follower_appends" if end > before else "fetch_is_lost", b, leader)
        self.ends[line.broker] = end
        self.expect_offset("the log end", end, self.read("log.end", b))
        self.done.forced[OFFLINE] += 1

    def _on_log_failed(self, _line: TraceLine, b: int) -> None:
        """The broker could not carry out a controller's request: the replica stays as it was."""
        if b in self.pending:
            epoch, c = self._arrives(b)
            self.step("leader_and_isr_is_lost", b, epoch, c)
            self._heard_of(b, c)
        self.done.forced[OFFLINE] += 1

    # The ISR

    def _on_isr_request_refused(self, line: TraceLine, b: int) -> None:
        """The controller refuses an AlterIsr; a leader that gives up sent it in an old state."""
        if line.args["gives_up"]:
            if self.read("isr_write.state", b) == 1:
                self.step("isr_answer_is_lost", b)
            else:
                self._refused_by_zookeeper(b)
            self.step("leader_learns_isr_is_refused", b)

    def _on_isr_expanding(self, line: TraceLine, b: int) -> None:
        self._attempt(line, b)

    def _on_isr_shrinking(self, line: TraceLine, b: int) -> None:
        self._attempt(line, b)

    def _attempt(self, line: TraceLine, b: int) -> None:
        mine = self.members("replica.isr", b)
        if set(line.args["isr"]) != mine:
            raise MisfitError("a leader changes the ISR that it has",
                         f"the ISR is {line.args['isr']}, where the model has {sorted(mine)}",
                         f"the ISR is {sorted(mine)}")  # fmt: skip
        self.wanted[b] = tuple(line.args["wanted"])

    def _on_isr_updated(self, line: TraceLine, b: int) -> None:
        state = self.read("isr_write.state", b)
        if state == 0:
            self._refused_by_zookeeper(b)
            state = 2
        name = "leader_learns_isr_is_written" if state == 1 else "leader_finds_isr_written"
        self.step(name, b)
        isr, mine = set(line.args["isr"]), self.members("replica.isr", b)
        if isr != mine:
            raise MisfitError("a leader adopts the ISR that it wrote",
                         f"the ISR is {sorted(isr)}, where the model has {sorted(mine)}",
                         f"the ISR is {sorted(mine)}")  # fmt: skip
        known = self.versions.get(line.args["zk_version"], -1)
        self.expect("the zkVersion", known, self.read("replica.zk_version", b),
                    f"zkVersion {line.args['zk_version']} is not that of its write")  # fmt: skip

    def _on_isr_update_refused(self, _line: TraceLine, b: int) -> None:
        state = self.read("isr_write.state", b)
        returns = not self.read("zk.registered", b)
        if returns:
            self.force(NEW_SESSION, ("zk.registered", (b,), 1))
        if state == 1:
            self.step("isr_answer_is_lost", b)
        elif state == 0:
            self._refused_by_zookeeper(b)
        self.step("leader_learns_isr_is_refused", b)
        if returns:
            self.force(NEW_SESSION, ("zk.registered", (b,), 0))

    def _refused_by_zookeeper(self, b: int) -> None:
        """Nothing was written: ZooKeeper refused the ISR that the leader wanted."""
        isr, wanted = self.members("replica.isr", b), set(self.wanted.get(b, ()))
        joins, leaves = sorted(wanted - isr), sorted(isr - wanted)
        if joins:
            self.step("leader_expand_is_refused", b, self.of[joins[0]])
        elif leaves:
            self._changes_isr("leader_shrink_is_refused", b, self.of[leaves[0]])
        else:
            raise MisfitError("a leader gets the response to a write that it requested",
                              "it wanted no other ISR",
                         "a line in which it wants one")  # fmt: skip
        cells = self.set_cells("isr_write.isr", (b,), wanted)
        self.force("several replicas leave the ISR in one write", *cells)

    def _on_isr_update_failed(self, _line: TraceLine, b: int) -> None:
        state = self.read("isr_write.state", b)
        if state == 1:
            self.step("isr_answer_is_lost", b)
        if state and not self.refusal("leader_gives_up_isr_write", b):
            self.step("leader_gives_up_isr_write", b)
        elif state:
            self.force(
                GIVEN_UP, ("isr_write.state", (b,), 0), ("isr_write.state_epoch", (b,), 0),
                ("isr_write.version", (b,), 0), *self.set_cells("isr_write.isr", (b,), ()),
            )  # fmt: skip


_LEADS = 1
_EPOCH_ASKED, _EPOCH_ANSWERED, _RECORDS_ASKED, _RECORDS_ANSWERED, _GIVEN_UP = 1, 2, 3, 4, 5
_EARLIEST, _LATEST = -2, -1
FAILURE, NO_STORAGE = "UNKNOWN_SERVER_ERROR", "KAFKA_STORAGE_ERROR"
_OF_PROCESSES = (STARTED, "controller_elected", "controller_resigned", "leaders_elected")
_OF_CONTROLLERS = ("leader_cached", "leader_and_isr_received")
