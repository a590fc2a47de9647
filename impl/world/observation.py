"""The observable state of a world as nested plain data, and its leaves by path.

The shape (broker ids are int keys; epochs, offsets, versions are -1 while there are none):

    zookeeper: controller (broker id or None), controller_epoch, epoch_version,
               state {leader, leader_epoch, isr (sorted), controller_epoch, version},
               registered (sorted ids), broker_epochs {id: czxid of its last registration}
    brokers:   {id: {up, session_alive, believes (epoch or None), seen_controller_epoch,
               role ("none" | "leader" | "follower"), leader, leader_epoch, isr (sorted),
               zk_version, epoch_start, known_end {other: offset or -1}, truncating,
               isr_write {isr (sorted), controller_epoch, version (None: refused)} or None,
               log [[record id, epoch], ...], epoch_cache [[epoch, start], ...], hw, checkpoint,
               controller {epoch_version, read [epoch, version] or None,
                           reply ("elected" | "failed" | "lost" or None),
                           won (what ZooKeeper answered), cached or None}}}
    network:   leader_and_isr [{target, controller, controller_epoch, broker_epoch, leader,
               leader_epoch, isr, state_controller_epoch, zk_version}, ...] sorted by key,
               fetch {follower: {leader: {slot, ...}}}
    next_record

``cached`` is {leader, leader_epoch, isr, controller_epoch, version, live {id: broker epoch}}.
``slot`` is "idle", "asked_epoch" (with leader_epoch, epoch), "answered_epoch" (leader_epoch, epoch,
end), "asked_records" (leader_epoch, offset) or "answered_records" (leader_epoch, offset, record
[id, epoch] or None, hw); or "fenced": idle until the next LeaderAndIsr.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import Any

from impl.core.fetcher_thread import EpochQuestion, EpochReply, FetchQuestion, FetchReply
from impl.core.partition import UNKNOWN_END
from impl.world.broker import PartitionBroker, SteppedPartition
from impl.world.candidates import each_leader_and_isr
from impl.world.cluster import PartitionCluster
from impl.world.fetches import Exchange
from impl.world.partition_controller import Cached
from impl.world.stepped.controller_run import FIRST
from impl.znodes import LeaderIsrAndControllerEpoch
from impl.znodes.client import ControllerEpoch
from impl.znodes.states import NO_LEADER

NOT_LEADING = -1
"""The start of a leader epoch, where a broker leads in none."""

Observation = dict[Any, Any]
"""Nested dictionaries, lists, ints, strings, booleans and None."""


def observe(world: PartitionCluster) -> Observation:
    """Every fact of the world; see the module for the shape."""
    return {
        "zookeeper": _zookeeper(world),
        "brokers": {number: _broker(world, number) for number in world.brokers},
        "network": {
            "leader_and_isr": _in_flight(world),
            "fetch": {
                follower: {
                    leader: _slot(_connection(world, follower, leader))
                    for leader in world.brokers
                    if leader != follower
                }
                for follower in world.brokers
            },
        },
        "next_record": world.next_record,
    }


def _in_flight(world: PartitionCluster) -> list[Observation]:
    return [_leader_and_isr(world, *key) for key in each_leader_and_isr(world)]


def _zookeeper(world: PartitionCluster) -> Observation:
    registered, state = world.registered_controller_epoch, world.registered_state
    return {
        "controller": world.registered_controller,
        "controller_epoch": registered.epoch,
        "epoch_version": registered.epoch_version,
        "state": {**_state(state), "version": state.zk_version},
        "registered": list(world.registrations()),
        "broker_epochs": dict(world.epochs),
    }


def _state(state: LeaderIsrAndControllerEpoch) -> Observation:
    return {
        "leader": state.leader,
        "leader_epoch": state.leader_epoch,
        "isr": sorted(state.isr),
        "controller_epoch": state.controller_epoch,
    }


def _broker(world: PartitionCluster, number: int, has_lists: bool = True) -> Observation:
    """What is seen of a broker; without its log and its leader epochs, which may be long."""
    broker, controller = world.hosts[number], world.controllers[number]
    partition = broker.partition
    belief, candidacy, cached = controller.belief, controller.candidacy, controller.cached
    reply = controller.reply
    return {
        "up": broker.up,
        "session_alive": broker.alive,
        "believes": None if belief is None else belief.epoch,
        "seen_controller_epoch": broker.seen,
        "role": broker.does,
        "leader": NO_LEADER if partition.leader is None else partition.leader,
        "leader_epoch": partition.leader_epoch,
        "isr": sorted(partition.isr),
        "zk_version": partition.zk_version,
        "epoch_start": partition.epoch_start if partition.leads else NOT_LEADING,
        "known_end": {
            other: known.end if (known := partition.remotes.get(other)) else UNKNOWN_END
            for other in world.brokers
            if other != number
        },
        "truncating": broker.truncating,
        "isr_write": None if partition.isr_write is None else _isr_write(partition),
        **({name: _listed(entries) for name, entries in _lists(broker)} if has_lists else {}),
        "hw": broker.log.high_watermark,
        "checkpoint": broker.checkpoint.offset,
        "controller": {
            "epoch_version": None if belief is None else belief.epoch_version,
            "read": None if candidacy is None else _epoch_of(candidacy.read),
            "reply": None if reply is None else reply.value,
            "won": candidacy is not None and candidacy.won,
            "cached": None if cached is None else _cached(cached),
        },
    }


def _lists(broker: PartitionBroker) -> Iterator[tuple[str, Sequence[tuple[int, int]]]]:
    yield "log", broker.log.log.records
    yield "epoch_cache", broker.log.epochs.entries


def _listed(entries: Iterable[tuple[int, int]]) -> list[list[int]]:
    return [list(entry) for entry in entries]


def _epoch_of(read: ControllerEpoch | None) -> list[int] | None:
    return None if read is None else [read.epoch, read.epoch_version]


def _isr_write(partition: SteppedPartition) -> Observation:
    write = partition.isr_write
    assert write is not None, "there is one"
    return {
        "isr": sorted(partition.pending or ()),
        "controller_epoch": partition.controller_epoch,
        "version": write.version,
    }


def _cached(cached: Cached) -> Observation:
    state = cached.state
    return {**_state(state), "version": state.zk_version, "live": dict(cached.live)}


def _leader_and_isr(
    world: PartitionCluster, target: int, leader_epoch: int, controller: int
) -> Observation:
    request = world.in_flight(target, leader_epoch, controller)
    assert request is not None, "it is in flight"
    state = request.partitions[FIRST].state
    return {
        "target": target,
        "controller": request.controller,
        "controller_epoch": request.controller_epoch,
        "broker_epoch": request.broker_epoch,
        "leader": state.leader,
        "leader_epoch": state.leader_epoch,
        "isr": sorted(state.isr),
        "state_controller_epoch": state.controller_epoch,
        "zk_version": state.zk_version,
    }


FENCED = "fenced"


def _connection(world: PartitionCluster, follower: int, leader: int) -> Exchange | str | None:
    """What is on a connection; FENCED where it is idle, since the fetcher failed."""
    slot = world.hosts[follower].under_way(leader)
    failed = slot is None and world.hosts[follower].has_failed(leader)
    return FENCED if failed else slot


def _slot(slot: Exchange | str | None) -> Observation:
    if slot is None or isinstance(slot, str):
        return {"slot": slot or "idle"}
    question, reply = slot.questions[FIRST], slot.replies and slot.replies[FIRST]
    about = "epoch" if isinstance(question, EpochQuestion) else "records"
    seen: Observation = {
        "slot": f"{'asked' if reply is None else 'answered'}_{about}",
        "leader_epoch": slot.asked_in[FIRST],
    }
    match question, reply:
        case EpochQuestion(), EpochReply():
            seen |= {"epoch": reply.end.epoch, "end": reply.end.end}
        case EpochQuestion(), _:
            seen["epoch"] = question.epoch
        case FetchQuestion(), FetchReply():
            record = list(reply.batch[0]) if reply.batch else None
            seen |= {
                "offset": question.offset, "record": record, "hw": reply.high_watermark,
            }  # fmt: skip
        case FetchQuestion(), _:
            seen["offset"] = question.offset
    return seen


LEAVES = ("cached", "isr_write", "known_end", "broker_epochs")
"""Dictionaries that are leaves by themselves, because their keys come and go (or are few)."""


def leaves(observation: Observation) -> dict[str, Any]:
    """The facts by path, such as ``brokers.1.hw`` or ``network.fetch.2.1``, in order.

    Lists, fetch slots and the dictionaries named in LEAVES are leaves, because their keys vary.
    """
    found: dict[str, Any] = {}
    _collect(observation, "", found)
    return found


def _collect(value: Observation, prefix: str, found: dict[str, Any]) -> None:
    for key, inner in value.items():
        path = f"{prefix}{key}"
        if isinstance(inner, dict) and key not in LEAVES and "slot" not in inner:
            _collect(inner, f"{path}.", found)
        else:
            found[path] = inner


class ChangeTracker:
    """Finds the leaves that changed since the last look, without reading all of them.

    Brokers are compared by a key of their observed state, ZooKeeper by its zxid. A step either
    appends to a log or truncates it, so a log is compared by its length and last record, and only
    its new end is reported; the same holds for a log's leader epochs. ``initial`` has all leaves of
    the first state.
    """

    def __init__(self, world: PartitionCluster) -> None:
        self.world = world
        self.initial = leaves(observe(world))
        self.known = dict(self.initial)
        self._lists: dict[str, list[tuple[int, int]]] = {
            f"brokers.{number}.{name}": list(entries)
            for number, broker in world.hosts.items()
            for name, entries in _lists(broker)
        }
        for path in self._lists:
            del self.known[path]
        self._zxid = world.zookeeper.zxid
        self._brokers = {number: _key(world, number) for number in world.brokers}
        self._in_flight = tuple(each_leader_and_isr(world))
        self._slots = self._connections()
        self._next_record = world.next_record

    def _connections(self) -> dict[tuple[int, int], Exchange | str | None]:
        pairs = permutations(self.world.brokers, 2)
        return {pair: _connection(self.world, *pair) for pair in pairs}

    def look(self) -> dict[str, Any]:
        """The leaves that changed since the last look, in order."""
        world, changed = self.world, dict[str, Any]()
        if world.zookeeper.zxid != self._zxid:
            self._zxid = world.zookeeper.zxid
            self._compare(_zookeeper(world), "zookeeper.", changed)
        for number, broker in world.hosts.items():
            key = _key(world, number)
            if key != self._brokers[number]:
                self._brokers[number] = key
                seen = _broker(world, number, has_lists=False)
                self._compare(seen, f"brokers.{number}.", changed)
                for name, entries in _lists(broker):
                    self._compare_end(f"brokers.{number}.{name}", entries, changed)
        in_flight = tuple(each_leader_and_isr(world))
        if in_flight != self._in_flight:
            self._in_flight = in_flight
            reported = {"leader_and_isr": _in_flight(world)}
            self._compare(reported, "network.", changed)
        slots = self._connections()
        if slots != self._slots:
            for (follower, leader), slot in slots.items():
                if slot != self._slots[follower, leader]:
                    self._slots[follower, leader] = slot
                    path = f"network.fetch.{follower}.{leader}"
                    self.known[path] = changed[path] = _slot(slot)
        if world.next_record != self._next_record:
            self._next_record = world.next_record
            self.known["next_record"] = changed["next_record"] = world.next_record
        return changed

    def _compare(self, seen: Observation, prefix: str, changed: dict[str, Any]) -> None:
        found: dict[str, Any] = {}
        _collect(seen, prefix, found)
        for path, value in found.items():
            if self.known[path] != value:
                self.known[path] = changed[path] = value

    def _compare_end(
        self, path: str, entries: Sequence[tuple[int, int]], changed: dict[str, Any]
    ) -> None:
        known = self._lists[path]
        same = min(len(known), len(entries))
        while same and known[same - 1] != entries[same - 1]:
            same -= 1
        if same < max(len(known), len(entries)):
            known[same:] = entries[same:]
            changed[path] = {"from": same, "then": _listed(known[same:])}


def _key(world: PartitionCluster, number: int) -> tuple[Any, ...]:
    """Equal for two moments only if nothing that is seen of the broker differs."""
    broker = world.hosts[number]
    records, epochs = broker.log.log.records, broker.log.epochs.entries
    return (
        broker.up, broker.alive, broker.checkpoint.offset, broker.seen, broker.truncating,
        broker.partition.save(), world.controllers[number].save(),
        len(records), records[-1] if records else None,
        len(epochs), epochs[-1] if epochs else None,
    )  # fmt: skip
