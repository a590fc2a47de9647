"""Reads the messages in flight in a state of each system, from lane to lane.

Each system of the model stores messages in flight in its own way: by epochs, by pairs of brokers,
in queues. Here each is read as it is on the wire: a request or an answer, with Kafka's name, from a
lane to others. A lost message counts only while somebody waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from model.language.evaluate import Evaluator, SparseState
from specs.state_text import plain, text

ZOOKEEPER, CONTROLLERS, CLIENTS = "zookeeper", "controllers", "clients"


@dataclass(frozen=True)
class MessageInFlight:
    """A message: its name and content, from a lane to others. An answer is drawn dashed.

    `fate` is its state: `flying`, `late` (overtaken, or in a slow queue), `copy` (it was obeyed,
    and may come again), `lost`, `refused`, `arrived`.
    """

    name: str
    source: str
    target: str
    label: str
    answer: bool = False
    fate: str = "flying"


class MessageReader:
    """Reads a state's fields as plain values."""

    def __init__(self, twin: Evaluator, state: SparseState) -> None:
        self._twin, self._state = twin, state

    def value(self, name: str, *keys: int) -> Any:
        """A leaf's value, which may be None."""
        leaf = self._twin.recorded.fields[name]
        return plain(leaf.sort, self._twin.read(self._state, name, keys))

    def non_blank_indices(self, name: str) -> list[tuple[int, ...]]:
        """The indices at which a field is not blank, in order."""
        return sorted(self._state.get(name, {}))

    def members(self, name: str, *keys: int) -> str:
        """A set as `{1,2}`."""
        size = len(keys)
        found = [index[size] for index in self.non_blank_indices(name) if index[:size] == keys]
        return text(found, is_set=True)

    def domain(self, name: str) -> list[int]:
        """Every index of a field with one key."""
        return list(self._twin.recorded.fields[name].dims[0].domain(self._twin.bounds))

    def has(self, name: str) -> bool:
        """Whether the system, under its switches, has such a field."""
        return name in self._twin.recorded.fields


def _registration_reply(now: MessageReader) -> Iterator[MessageInFlight]:
    """The answer to the multi that became controller, until its broker has heard of it."""
    for (broker,) in now.non_blank_indices("campaign"):
        lost = bool(now.value("reply_lost", broker))
        yield MessageInFlight("multi", ZOOKEEPER, str(broker),
                      f"controller epoch {now.value('campaign', broker)} is won", True,
                      "lost" if lost else "flying")  # fmt: skip


def _classic(now: MessageReader) -> Iterator[MessageInFlight]:
    for epoch in range(now.value("next_epoch")):
        leader = now.value("request.leader", epoch)
        label = (f"epoch {epoch}, leader {text(leader)}, "
                 f"isr {now.members('request.isr', epoch)}")  # fmt: skip
        for replica in now.domain("view.epoch"):
            known = now.value("view.epoch", replica)
            if known is None or known < epoch:
                yield MessageInFlight("LeaderAndIsr", CONTROLLERS, str(replica), label)


def _election(now: MessageReader) -> Iterator[MessageInFlight]:
    for broker in now.domain("session"):
        if now.value("read.done", broker) and not now.value("belief.held", broker):
            won = now.value("read.epoch", broker) + 1
            if (broker, won) in now.non_blank_indices("won"):
                yield MessageInFlight("multi", ZOOKEEPER, str(broker),
                                      f"controller epoch {won} is won", True)  # fmt: skip
        if now.value("pending.any", broker):
            label = (f"broker {broker}, state under epoch {now.value('pending.epoch', broker)}, "
                     f"if its version is {now.value('pending.state_version', broker)}")  # fmt: skip
            yield MessageInFlight("setData", CONTROLLERS, ZOOKEEPER, label)
    for sender, epoch in now.non_blank_indices("sent"):
        label = f"of broker {sender}, controller epoch {epoch}"
        for broker in now.domain("seen"):
            seen = now.value("seen", broker)
            fate = "late" if seen > epoch else "copy" if seen == epoch else "flying"
            yield MessageInFlight("LeaderAndIsr", CONTROLLERS, str(broker), label, False, fate)


def _replication(now: MessageReader) -> Iterator[MessageInFlight]:
    yield from _registration_reply(now)
    for epoch, controller, broker in now.non_blank_indices("request.in_flight"):
        label = (f"leader epoch {epoch}, leader {text(now.value('elected', epoch))}, "
                 f"isr {now.members('request.isr', epoch, controller, broker)}, "
                 f"controller epoch {controller}")  # fmt: skip
        late = now.value("replica.controller_epoch", broker) > controller
        yield MessageInFlight("LeaderAndIsr", CONTROLLERS, str(broker), label, False,
                      "late" if late else "flying")  # fmt: skip
    for follower, leader in now.non_blank_indices("fetch.state"):
        yield _fetch(now, follower, leader)
    for (leader,) in now.non_blank_indices("isr_write.state"):
        wrote = f"isr {now.members('isr_write.isr', leader)}"
        done = now.value("isr_write.state", leader) == "applied"
        version = now.value("isr_write.version", leader)
        yield MessageInFlight("setData", ZOOKEEPER, str(leader),
                      f"{wrote} is written as version {version}" if done
                      else "the version is not current", True)  # fmt: skip


def _fetch(now: MessageReader, follower: int, leader: int) -> MessageInFlight:
    def said(name: str) -> Any:
        return now.value(f"fetch.{name}", follower, leader)

    ends = str(follower), str(leader)
    state, epoch = said("state"), f"leader epoch {text(said('epoch'))}"
    if state == "asks_epoch":
        return MessageInFlight("OffsetsForLeaderEpoch", *ends,
                       f"{epoch}: where does epoch {text(said('last_epoch'))} end?")  # fmt: skip
    if state == "epoch_is_answered":
        return MessageInFlight("OffsetsForLeaderEpoch", *ends[::-1],
                       f"epoch {text(said('answer_epoch'))} ends at {text(said('answer_end'))}",
                       True)  # fmt: skip
    if state == "asks_records":
        return MessageInFlight("Fetch", *ends, f"{epoch}, from offset {said('offset')}")
    if state == "records_are_answered":
        record = (f"record {said('id')} of epoch {said('record_epoch')}" if said("has_record")
                  else "no record")  # fmt: skip
        return MessageInFlight("Fetch", *ends[::-1], f"{record}, hw {said('hw')}", True)
    return MessageInFlight("Fetch", *ends, "given up", False, "lost")


def _reassignment(now: MessageReader) -> Iterator[MessageInFlight]:
    yield from _registration_reply(now)
    for epoch, controller, broker in now.non_blank_indices("request.to"):
        keys = epoch, controller
        label = (f"leader epoch {epoch}, leader {text(now.value('request.leader', *keys))}, "
                 f"isr {now.members('request.isr', *keys)}, "
                 f"controller epoch {controller}")  # fmt: skip
        yield _of_controller(now, "LeaderAndIsr", controller, broker, label)
    for controller, broker in now.non_blank_indices("stop.what"):
        deletes = now.value("stop.what", controller, broker) == "delete"
        label = f"{'with delete, ' * deletes}controller epoch {controller}"
        yield _of_controller(now, "StopReplica", controller, broker, label)
    for controller, broker in now.non_blank_indices("update.to"):
        leader = text(now.value("update.leader", controller))
        yield MessageInFlight("UpdateMetadata", CONTROLLERS, str(broker),
                      f"leader {leader}, controller epoch {controller}", False, "late")  # fmt: skip
    for (broker,) in now.non_blank_indices("replica.isr_write_unanswered"):
        yield MessageInFlight("setData", ZOOKEEPER, str(broker), "the ISR is written", True, "lost")


def _of_controller(
    now: MessageReader, name: str, controller: int, broker: int, label: str, seen: str = ""
) -> MessageInFlight:
    late = now.value(seen or "replica.controller_epoch", broker) > controller
    return MessageInFlight(
        name, CONTROLLERS, str(broker), label, False, "late" if late else "flying"
    )


def _topics(now: MessageReader) -> Iterator[MessageInFlight]:
    yield from _registration_reply(now)
    for what in ("topics", "partitions", "deletions"):
        for (broker,) in now.non_blank_indices(f"cache.fired.{what}"):
            yield MessageInFlight("watch", ZOOKEEPER, CONTROLLERS,
                                  f"{what} changed, to broker {broker}", True)  # fmt: skip
    for controller, broker, partition in now.non_blank_indices("request.order"):
        order = now.value("request.order", controller, broker, partition)
        old = ", outdated" * bool(now.value("request.outdated", controller, broker, partition))
        label = f"partition {partition}: {order}{old}, controller epoch {controller}"
        yield _of_controller(now, "LeaderAndIsr", controller, broker, label, "seen")
    for controller, broker, partition in now.non_blank_indices("request.stop"):
        stop = now.value("request.stop", controller, broker, partition)
        label = f"partition {partition}: {stop}, controller epoch {controller}"
        if stop in ("deleted", "failed"):
            yield MessageInFlight("StopReplica", str(broker), CONTROLLERS, label, True)
        else:
            yield _of_controller(now, "StopReplica", controller, broker, label, "seen")


_REQUESTS = {"leader_and_isr": "LeaderAndIsr", "update_metadata": "UpdateMetadata",
             "stop_replica": "StopReplica"}  # fmt: skip


def _cluster(now: MessageReader) -> Iterator[MessageInFlight]:
    yield from _registration_reply(now)
    for sender, broker in now.non_blank_indices("cache.queue.end"):
        for slot in range(now.value("cache.queue.end", sender, broker)):
            kind = _REQUESTS[now.value("cache.queue.at.kind", sender, broker, slot)]
            known = {p: now.value("cache.queue.at.about", sender, broker, slot, p)
                     for p in now.domain("partition.version")}  # fmt: skip
            about = [f"partition {p} version {v}" for p, v in known.items() if v is not None]
            place = f", no. {slot + 1} in its queue" * (slot > 0)
            label = f"of broker {sender}: {'; '.join(about) or 'no partition'}{place}"
            yield MessageInFlight(kind, CONTROLLERS, str(broker), label)
    for (broker,) in now.non_blank_indices("late.held"):
        label = f"the first of two copies, controller epoch {now.value('late.controller', broker)}"
        yield MessageInFlight("StopReplica", CONTROLLERS, str(broker), label, False, "copy")
    for (broker,) in now.non_blank_indices("asked"):
        yield MessageInFlight(
            "ControlledShutdown", str(broker), CONTROLLERS, f"broker {broker} asks to go"
        )


READERS: dict[str, Callable[[MessageReader], Iterator[MessageInFlight]]] = {
    "classic": _classic, "election": _election, "replication": _replication,
    "reassignment": _reassignment, "topics": _topics, "cluster": _cluster,
}  # fmt: skip

SHOWN: dict[str, frozenset[str]] = {
    "classic": frozenset({"request"}),
    "election": frozenset({"sent", "pending"}),
    "replication": frozenset({"request", "fetch", "isr_write"}),
    "reassignment": frozenset({"request", "stop", "update"}),
    "topics": frozenset({"request"}),
    "cluster": frozenset({"late", "asked"}),
}
"""By system: the parts of the state that messages show whole, so that no lane repeats them."""


def in_flight(twin: Evaluator, state: SparseState) -> tuple[MessageInFlight, ...]:
    """The messages in flight; none for systems that this module does not know."""
    reads = READERS.get(twin.recorded.system.name)
    return tuple(reads(MessageReader(twin, state))) if reads is not None else ()
