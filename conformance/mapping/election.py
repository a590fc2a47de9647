"""The map of `election`: brokers become controller, write, are deposed (`impl.world.stepped`).

In places the model is less strict than ZooKeeper and Kafka, so that it can be proved for any number
of brokers. Each such place is a row's `why`, and the implementation is driven along.
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.mapping.rows import Facts, FactTable, Run, StepRow, SystemMap, row
from impl.releases import DEFAULT, Release
from impl.sim.effects import ZkOperation
from impl.sim.event_run import ControllerThread
from impl.sim.suspension_points import is_claim, is_lost, is_registered, newest_controller_epoch
from impl.world.stepped.controller_run import FIRST, is_to_write
from impl.world.stepped.elections import ELECTIONS, under_way
from impl.world.stepped.stepped_cluster import SteppedCluster
from impl.world.stepped.stepped_steps import stepped_cluster
from impl.znodes import paths
from impl.znodes.client import ControllerEpoch
from impl.znodes.cluster import decode_controller, decode_controller_epoch
from impl.znodes.states import decode_state
from impl.zookeeper import Check, SetData, Znode

_RACE = "a registration that lost the race changes nothing"
_HEARS = "broker_learns_it_won", "broker_loses_controller_election"
_WRITES = "write_is_applied", "write_is_refused"


def _next_transitions(world: SteppedCluster, broker: int) -> tuple[tuple[str, ...], dict[str, int]]:
    """ZooKeeper executes what is sent; or the answer is heard. A win that is heard when it is over
    makes a zombie at once: in `election` a broker becomes one later, and nothing is that step."""
    place = world.place(broker)
    if place is None or is_to_write(place):
        return _WRITES, {}
    if not place.is_done:
        return ("broker_wins_election",), {}
    node = world.zookeeper.nodes.get(paths.CONTROLLER)
    is_own = node is not None and node.owner == world.controllers[broker].port.session
    is_late = is_registered(place) and not is_lost(place) and not is_own
    return (() if is_late else _HEARS), {}


def _after_session_ends(
    world: SteppedCluster, broker: int
) -> tuple[tuple[str, ...], dict[str, int]]:
    """A registration fails with its session. Of a write the model says that it arrives late."""
    return (() if is_to_write(world.place(broker)) else _HEARS[1:]), {}


ROWS: dict[str, StepRow] = {
    one.step: one
    for one in (
        row("broker_connects", "broker", "broker_connects",
            why="it resigns in an event of its own, Expire, which the model lets wait"),
        row("session_expires", "broker", "session_expires"),
        row("broker_restarts", "broker", "broker_crashes",
            why="the model does not tell a process from the next one, which goes on with the "
                "session; and since 2.2 a restarted broker refuses what was sent to the one before "
                "it (KIP-380), as if it still knew of the controllers that that one knew"),
        row("broker_runs_for_controller", "broker", "broker_reads_epoch",
            why="the look whether somebody is registered and the read of the epoch are one step"),
        row("controller_continues_event", "broker", "broker_wins_election", *_HEARS, *_WRITES,
            silent=_RACE, possible_now=_next_transitions,
            why="the new controller reads what there is, and has its first requests ready; a win "
                "that is heard when it is over `replication`, `topics` and `cluster` have"),
        row("controller_continues_without_session", "broker", "broker_loses_controller_election",
            possible_now=_after_session_ends),
        row("reply_to_registration_is_lost", "broker",
            silent="the broker knows as little as before"),
        row("controller_event_fails", "broker", "controller_resigns_and_deletes_znode",
            why="as after an event that fails (triggerControllerMove); one who was deposed deletes "
                "nothing"),
        row("controller_starts_write", "broker", "controller_starts_write",
            silent="a deposed controller writes nothing over what a newer one has written"),
        row("write_arrives_late", "broker", *_WRITES,
            why="ZooKeeper's client reconnects by itself, before the broker registers anew, and "
                "sends again what an expired session left unanswered"),
        row("controller_sends_request", "broker", "controller_sends_request",
            why="its first UpdateMetadata and LeaderAndIsr are one request here"),
        row("request_arrives", "broker sender epoch", "broker_handles_request",
            silent="STALE_CONTROLLER_EPOCH: the broker stays as it is",
            why="what is sent may come to any broker, often and late: channels are not modelled"),
    )
}  # fmt: skip

_READS = ZkOperation("get", (paths.CONTROLLER_EPOCH, False))

UNOBSERVED: dict[str, str] = {
    "won": "ghost",
    "obeyed": "ghost",
    "stale_write": "ghost",
    "stale_obedience": "ghost",
}


def facts(world: SteppedCluster) -> Facts:
    """What the brokers and ZooKeeper hold, as facts of the model's `election`."""
    table = FactTable()
    nodes = world.zookeeper.nodes
    owner = nodes.get(paths.CONTROLLER)
    table.put("zk.controller", (), 0 if owner is None else decode_controller(owner.data))
    epoch = _as_counted(world, newest_controller_epoch(world.zookeeper))
    table.put("zk.epoch", (), epoch.epoch)
    table.put("zk.epoch_version", (), epoch.epoch_version)
    state = nodes[paths.state(*FIRST)]
    table.put("zk.state_version", (), state.version)
    written = decode_state(*FIRST, state.data, state.version)
    table.put("zk.state_epoch", (), written.controller_epoch)
    for broker in world.controllers:
        table.put("session", (broker,), world.has_session(broker))
        table.put("seen", (broker,), world.hosts[broker].seen)
        _candidate(table, world, (broker,), epoch)
        _write(table, world, (broker,))
    for term, broker in world.sent:
        table.put("sent", (broker, term), True)
    return table.found


def _as_counted(world: SteppedCluster, one: ControllerEpoch) -> ControllerEpoch:
    """Up to 2.0 the first controller creates the znode, and no write depends on its version but the
    next epoch's: each epoch is a version."""
    return one if world.release.since("2.1") else ControllerEpoch(one.epoch, one.epoch)


def _candidate(
    table: FactTable, world: SteppedCluster, at: tuple[int], epoch: ControllerEpoch
) -> None:
    """What its event thread is at, and the controllership that it believes in.

    Up to 2.0 the epoch is read when `/controller` is there: whatever it is by then.
    """
    thread = world.controllers[at[0]]
    read = epoch if is_claim(thread.place) else _epoch_as_read(thread)
    if read is not None:
        read = _as_counted(world, read)
        table.put("read.done", at, True)
        table.put("read.epoch", at, read.epoch)
        table.put("read.version", at, read.epoch_version)
    context = thread.controller.core.context
    if thread.controller.active:
        belief = _as_counted(world, ControllerEpoch(context.epoch, context.epoch_version))
        table.put("belief.held", at, True)
        table.put("belief.epoch", at, belief.epoch)
        table.put("belief.version", at, belief.epoch_version)


def _epoch_as_read(thread: ControllerThread) -> ControllerEpoch | None:
    """What `/controller_epoch` was when the election began that is under way."""
    for place in thread.reached():
        if place.effect == _READS and place.is_done:
            if not isinstance(place.answer, Znode):  # up to 2.0 the first controller creates it
                return ControllerEpoch(0, 0)
            read = decode_controller_epoch(place.answer.data)
            return ControllerEpoch(read, place.answer.version)
    return None


def _write(table: FactTable, world: SteppedCluster, at: tuple[int]) -> None:
    for op in under_way(world, *at):
        if isinstance(op, Check):
            table.put("pending.epoch_version", at, op.version)
        elif isinstance(op, SetData):
            state = decode_state(*FIRST, op.data, op.version)
            table.put("pending.any", at, True)
            table.put("pending.epoch", at, state.controller_epoch)
            table.put("pending.state_version", at, op.version)
            if not world.release.since("2.1"):  # unfenced; each epoch is a version of its node
                table.put("pending.epoch_version", at, state.controller_epoch)


def _world(bounds: Mapping[str, int], version: str | None) -> SteppedCluster:
    return stepped_cluster(bounds["brokers"], ELECTIONS, version or DEFAULT, only=ROWS)


def _not_alike(version: str, run: Run) -> str | None:
    reading = set[int]()
    for name, given in run:
        if name == "broker_reads_epoch":
            reading.add(given["broker"])
        elif name in ("broker_wins_election", "broker_loses_controller_election"):
            reading.discard(given["broker"])
            if name == "broker_wins_election" and reading and not Release.of(version).since("2.1"):
                return (
                    "up to 2.0 a broker reads the epoch when /controller is its own, and in the "
                    "model before: here another counts one in between"
                )
    return None


MAP = SystemMap(
    system="election",
    rows=ROWS,
    world=_world,
    facts=facts,
    unobserved=UNOBSERVED,
    not_alike=_not_alike,
    walked_since="2.1",
    small={"brokers": 2, "epoch": 2, "writes": 1},
)
