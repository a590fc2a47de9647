"""Replays the controllership of a running cluster on `election`.

Each line is a step: of candidates, their epochs, what they wrote to partitions and which
controllers brokers obeyed. The read before the multi, and the sending of a request, are steps that
no line shows: the multi's condition and the request's arrival prove them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.running.at_rest import AtRest, controllership_at_rest
from conformance.running.model_driver import ModelDriver
from conformance.running.order import OrderedLines, refused
from conformance.running.process_traces import IDS, STARTED, ZOOKEEPER, TraceLine
from conformance.running.result import MisfitError, NotModelled, ReplayResult
from model.systems import system
from specs.partial.compiled_steps import CompiledSteps

NAME = "/controller"
BY_HAND = "/controller is deleted by hand"
_OBEYED = ("leader_and_isr_received", "leader_cached")


def replay_controllership(
    order: OrderedLines, brokers: Iterable[int], version: str, switches: Mapping[str, object],
    rest: AtRest | None = None,
) -> ReplayResult:  # fmt: skip
    """Replays one cluster's controllership, up to the first misfit; then checks its end."""
    ids = sorted(brokers)
    recorded = system("election").recorded(version, switches)
    moves = CompiledSteps(recorded, {"brokers": len(ids)}, frozenset())
    moves.ledger.is_keyed = False
    moves.ledger.load({})
    replay = _ControllershipReplay(order, moves, ids)
    if rest is not None:
        replay.ends_with(lambda: controllership_at_rest(replay, rest))
    return replay.run()


class _ControllershipReplay(ModelDriver):
    def __init__(self, order: OrderedLines, moves: CompiledSteps, ids: list[int]) -> None:
        super().__init__(moves, ids, ReplayResult(NAME))
        self.order = order
        self.fenced = bool(moves.recorded.switches["zk_writes_fenced"])
        self.refused = refused(order.lines)

    def lines(self) -> Iterable[TraceLine]:
        """All lines: those about one partition also show controllers."""
        for line in self.order.lines:
            self.done.lines += line.process[0] == ZOOKEEPER or line.step in _OBEYED
            yield line

    def take(self, line: TraceLine) -> None:
        """Replays one line."""
        if line.process[0] == ZOOKEEPER:
            self._zookeeper(line)
            return
        b = self.of[line.broker]
        match line.step:
            case "process_started" if line.start > 1:
                if not self.refusal("broker_crashes", b):
                    self.step("broker_crashes", b)
            case "controller_elected":
                self.step("broker_learns_it_won", b)
                self.expect("the controller epoch", line.args["epoch"],
                            self.read("belief.epoch", b))  # fmt: skip
                self.step("controller_sends_request", b)
            case "controller_resigned":
                if self.read("belief.held", b):
                    self.step("controller_resigns_and_deletes_znode", b)
            case step if step in _OBEYED:
                self._obeyed(line, b)
            case "request_refused":
                sender = line.args["sender"]
                c = self.of[sender["controller"]]
                self._heard_of(b, line.args["known"])
                if not self.refusal("broker_handles_request", b, c, sender["epoch"]):
                    raise MisfitError(
                        "only a controller older than one that is known is refused",
                        f"controller epoch {sender['epoch']} is refused, and the newest known is "
                        f"{self.read('seen', b)}", "that it is obeyed",
                    )  # fmt: skip

    def _heard_of(self, b: int, known: int) -> None:
        """A request that names no partition, as the first UpdateMetadata may be, has no line."""
        if self.read("seen", b) < known:
            for c in self.of.values():
                if not self.refusal("broker_handles_request", b, c, known):
                    self.step("broker_handles_request", b, c, known)
                    return

    def _obeyed(self, line: TraceLine, b: int) -> None:
        sender = line.args["sender"]
        if line not in self.refused:
            self.step("broker_handles_request", b, self.of[sender["controller"]], sender["epoch"])

    def _zookeeper(self, line: TraceLine) -> None:
        if line.step == STARTED and line.start > 1:
            for one in self.of.values():
                if self.read("session", one):
                    self.step("session_expires", one)
        elif line.step == "session_ended":
            broker = self.order.brokers.get(line.args["session"])
            if broker is not None and f"{IDS}{broker}" in line.args["gone"]:
                self.step("session_expires", self.of[broker])
        owner = self.order.brokers.get(line.args.get("session", -1), -1)
        for op in line.args.get("ops", ()):
            path, kind = str(op["path"]), op["op"]
            if path.startswith(IDS) and kind == "Create":
                self.step("broker_connects", self.of[int(path.removeprefix(IDS))])
            elif path == "/controller_epoch" and kind != "Check" and int(op["data"]) > 0:
                self._elected(owner, int(op["data"]))
            elif path == "/controller" and kind == "Delete" and self.read("zk.controller"):
                if owner in self.of:
                    raise NotModelled("a broker deletes /controller, which `election` has not")
                self.force(BY_HAND, ("zk.controller", (), 0))
        for write in self.order.writes.get(line, ()):
            if not write.by_leader:
                self._written(owner, int(write.state["controller_epoch"]))

    def _elected(self, owner: int, epoch: int) -> None:
        if owner not in self.of:
            raise NotModelled("/controller_epoch was written in a session of no broker")
        b = self.of[owner]
        self.step("broker_reads_epoch", b)
        self.step("broker_wins_election", b)
        self.expect("/controller_epoch", epoch, self.read("zk.epoch"))

    def _written(self, owner: int, epoch: int) -> None:
        if owner not in self.of:
            raise NotModelled("a state was written in a session of no broker")
        b = self.of[owner]
        self.step("controller_starts_write", b)
        self.step("write_is_applied", b)
        self.expect("the controller epoch of the state", epoch, self.read("zk.state_epoch"))
