"""The map of `election`: brokers that stand, write and are deposed (`impl.world.candidates`).

The model says less than ZooKeeper and Kafka do in some places, so that it can be proved for any
number of brokers: it allows more. Each is a row's `why`, and the implementation is driven along.
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.mapping.rows import Facts, FactTable, Row, SystemMap, row
from impl.releases import DEFAULT
from impl.sim.effects import Ask
from impl.sim.event_run import ControllerThread
from impl.world.candidates import PARTITION, ElectionWorld
from impl.znodes import paths
from impl.znodes.cluster import decode_controller, decode_controller_epoch
from impl.znodes.states import decode_state
from impl.zookeeper import Check, SetData, Znode

_RACE = "a registration that lost the race changes nothing"

ROWS: dict[str, Row] = {
    one.step: one
    for one in (
        row("broker_connects", "broker", "broker_connects",
            why="it resigns in an event of its own, Expire, which the model lets wait"),
        row("session_expires", "broker", "session_expires"),
        row("broker_crashes", "broker", "broker_crashes",
            why="the model does not tell a process from the next one, which goes on with the "
                "session; and since 2.2 a restarted broker refuses what was sent to the one before "
                "it (KIP-380), as if it still knew of the controllers that that one knew"),
        row("broker_stands", "broker", "broker_reads_epoch",
            why="the look whether somebody is registered and the read of the epoch are one step"),
        row("zookeeper_executes_registration", "broker", "broker_wins_election", silent=_RACE),
        row("answer_is_lost", "broker", silent="the broker knows as little as before"),
        row("broker_hears", "broker", "broker_learns_it_won", "broker_finds_it_moved",
            why="the new controller reads what there is, and has its first requests ready"),
        row("broker_hears_late", "broker",
            beyond="a win that is heard when it is over makes a zombie at once; in `election` a "
                   "broker becomes one later. `replication`, `topics` and `cluster` have the step"),
        row("controller_resigns", "broker", "controller_resigns",
            why="as after an event that fails (triggerControllerMove); one who was deposed deletes "
                "nothing"),
        row("controller_starts_write", "broker", "controller_starts_write"),
        row("controller_finds_newer_state", "broker",
            silent="a deposed controller writes nothing over what a newer one has written"),
        row("zookeeper_executes_write", "broker", "write_is_applied", "write_is_refused",
            why="ZooKeeper's client reconnects by itself, before the broker registers anew, and "
                "sends again what an expired session left unanswered"),
        row("controller_sends_request", "broker", "controller_sends_request",
            why="its first UpdateMetadata and LeaderAndIsr are one request here"),
        row("request_arrives", "broker sender epoch", "request_is_obeyed",
            why="what is sent may come to any broker, often and late: channels are not modelled"),
        row("request_is_refused", "broker sender epoch",
            silent="STALE_CONTROLLER_EPOCH: the broker stays as it is"),
    )
}  # fmt: skip

_READS = Ask("get", (paths.CONTROLLER_EPOCH, False))

UNOBSERVED: dict[str, str] = {
    "won": "ghost",
    "obeyed": "ghost",
    "stale_write": "ghost",
    "stale_obedience": "ghost",
}


def facts(world: ElectionWorld) -> Facts:
    """What the brokers and ZooKeeper hold, as facts of the model's `election`."""
    table = FactTable()
    nodes = world.zookeeper.nodes
    owner = nodes.get(paths.CONTROLLER)
    table.put("zk.controller", (), 0 if owner is None else decode_controller(owner.data))
    epoch = nodes[paths.CONTROLLER_EPOCH]
    table.put("zk.epoch", (), decode_controller_epoch(epoch.data))
    table.put("zk.epoch_version", (), epoch.version)
    state = nodes[paths.state(*PARTITION)]
    table.put("zk.state_version", (), state.version)
    written = decode_state(*PARTITION, state.data, state.version)
    table.put("zk.state_epoch", (), written.controller_epoch)
    for broker, thread in world.threads.items():
        table.put("session", (broker,), world.session_alive(broker))
        table.put("seen", (broker,), world.replicas[broker].controller_epoch)
        _candidate(table, (broker,), thread)
        _write(table, world, (broker,))
    for sent in world.requests:
        table.put("sent", sent, True)
    return table.found


def _candidate(table: FactTable, at: tuple[int], thread: ControllerThread) -> None:
    """What its event thread is at, and the controllership that it believes in."""
    read = _epoch_as_read(thread)
    if read is not None:
        table.put("read.done", at, True)
        table.put("read.epoch", at, decode_controller_epoch(read.data))
        table.put("read.version", at, read.version)
    context = thread.controller.core.context
    if thread.controller.active:
        table.put("belief.held", at, True)
        table.put("belief.epoch", at, context.epoch)
        table.put("belief.version", at, context.epoch_version)


def _epoch_as_read(thread: ControllerThread) -> Znode | None:
    """What `/controller_epoch` was when the election began that is under way."""
    for place in thread.reached():
        if place.effect == _READS and place.is_done:
            assert isinstance(place.answer, Znode), "the epoch is there from the beginning"
            return place.answer
    return None


def _write(table: FactTable, world: ElectionWorld, at: tuple[int]) -> None:
    for op in world.under_way(*at):
        if isinstance(op, Check):
            table.put("pending.epoch_version", at, op.version)
        elif isinstance(op, SetData):
            state = decode_state(*PARTITION, op.data, op.version)
            table.put("pending.any", at, True)
            table.put("pending.epoch", at, state.controller_epoch)
            table.put("pending.state_version", at, op.version)


def _world(bounds: Mapping[str, int], version: str | None) -> ElectionWorld:
    return ElectionWorld(bounds["brokers"], version or DEFAULT)


MAP = SystemMap(
    system="election",
    rows=ROWS,
    world=_world,
    facts=facts,
    unobserved=UNOBSERVED,
    small={"brokers": 2, "epoch": 2, "writes": 1},
)
