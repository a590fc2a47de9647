"""One topic by its name, under controllers that are stepped batch by batch (`put_down`).

The controllers are those of a running broker. A broker is as much of one as they can tell: it
leads, follows, stops, has a directory or none, and answers; `impl.world.wide` has the whole of it.
Nobody crashes here, and no session expires. Source: fact sheet b.5, c, e, f.2, i.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from typing import Any

from impl.controller.cluster_context import ClusterContext, Replica
from impl.controller.requests import LeaderAndIsr, Request, StopReplica
from impl.releases import DEFAULT, Release
from impl.world.put_down import SteppedController
from impl.world.steps import Step, StepNotPossible
from impl.znodes import BrokerInfo, TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.znodes.topics import ReplicaAssignment, TopicZnode, encode_topic, topic_version
from impl.zookeeper import EmbeddedSession, ZooKeeper

TOPIC = "t"
FIRST_ALIKE = "2.3"
"""Before, an offline replica was no candidate for a second try, and requests were grouped apart."""

KINDS = {paths.TOPICS: "topics", paths.DELETE_TOPICS: "deletions", paths.topic(TOPIC): "partitions"}
"""Path of a watch -> the event that it brings."""

Connection = tuple[int, int]
"""Controller epoch and target."""


@dataclass(frozen=True, slots=True)
class Hosted:
    """What a broker holds of the topic: its roles, its directories, the controllers it knows."""

    roles: tuple[tuple[int, str], ...] = ()
    directories: frozenset[int] = frozenset()
    seen: int = 0


class TopicLife:
    """Brokers 1..N, registered, and no topic; ``partitions`` is how many it may come to have.

    ``version`` is a release from 2.3 on; ValueError for an older one.
    """

    def __init__(self, brokers: int = 2, partitions: int = 1, version: str = DEFAULT) -> None:
        self.release = Release.of(version)
        if not self.release.since(FIRST_ALIKE):
            raise ValueError(f"deletion is stepped as since {FIRST_ALIKE}, not as in {version}")
        self.partitions = range(partitions)
        self.zookeeper = ZooKeeper()
        self.admin = ZnodeClient(EmbeddedSession(self.zookeeper), self.release)
        for path in paths.persistent(self.release):
            self.admin.make_path(path)
        self.admin.make_path(paths.CONTROLLER_EPOCH, "0")
        self.brokers = range(1, brokers + 1)
        self.controllers: dict[int, SteppedController] = {}
        self.connections: dict[Connection, tuple[Request, ...]] = {}
        self.answers: dict[Connection, tuple[int, ...]] = {}
        self.inbox = {broker: frozenset[str]() for broker in self.brokers}
        self.hosted = {broker: Hosted() for broker in self.brokers}
        for broker in self.brokers:
            session = EmbeddedSession(self.zookeeper)
            registered = ZnodeClient(session, self.release)
            registered.register_broker(broker, BrokerInfo((f"PLAINTEXT://b{broker}:9092",), 0))
            self.controllers[broker] = SteppedController(
                broker, self.zookeeper, session.session, self.release, self._send
            )
            context = self.controllers[broker].core.context
            self.controllers[broker].core.replicas.in_turn = partial(_leaders_last, context)

    def _send(self, broker: int, request: Request) -> None:
        if isinstance(request, LeaderAndIsr | StopReplica):
            to = (request.controller_epoch, broker)
            self.connections[to] = (*self.connections.get(to, ()), request)

    # What can be seen

    def registered_lists(self) -> dict[int, tuple[int, ...]]:
        """Partition -> its replicas in ZooKeeper; nothing if there is no topic."""
        node = self.admin.topic(TOPIC)
        return {} if node is None else {
            number: one.replicas for number, one in node.partitions.items()
        }  # fmt: skip

    def known(self, broker: int) -> dict[int, tuple[int, ...]]:
        """Partition -> its replicas, as far as a controller knows."""
        context = self.controllers[broker].core.context
        return {
            one.partition: context.replicas(one)
            for one in context.partitions_of(TOPIC)
            if context.replicas(one)
        }

    def acts(self, broker: int) -> str | None:
        """What the broker's controller is about to do; None if it is not in office."""
        one = self.controllers[broker]
        if one.unfinished is not None:
            return one.unfinished.label
        return "waits" if one.controller.active else None

    # Steps

    def enabled(self) -> list[Step]:
        """Every step that may be taken now, sorted by name and arguments."""
        return [step for step in self._candidates() if self.why_not(step) is None]

    def _candidates(self) -> Iterable[Step]:
        lists = [(*ids, *[0] * (3 - len(ids))) for ids in self._lists()]
        for number in self.partitions:
            yield from (Step("admin_adds_partition", (number, *ids)) for ids in lists)
        for count in range(1, len(self.partitions) + 1):
            yield from (Step("admin_creates_topic", (*ids, count)) for ids in lists)
        yield Step("admin_deletes_topic", ())
        for broker in self.brokers:
            yield Step("broker_stands", (broker,))
            yield Step("controller_goes_on", (broker,))
            yield from (Step(f"controller_hears_of_{kind}", (broker,)) for kind in KINDS.values())
            yield from (Step("partition_is_removed", (broker, one)) for one in self.partitions)
            for controller, target in self.connections.keys() | self.answers.keys():
                if target == broker:
                    yield Step("orders_arrive", (broker, controller))
                    yield Step("stops_arrive", (broker, controller))
                    yield from (Step("answer_arrives", (one, broker)) for one in self.brokers)

    def _lists(self) -> list[tuple[int, ...]]:
        most = min(3, len(self.brokers))
        return [ids for size in range(1, most + 1) for ids in permutations(self.brokers, size)]

    def why_not(self, step: Step) -> str | None:
        """The first condition of the step that does not hold, None if it may be taken."""
        refusal = getattr(self, f"_{step.name}_refusal", None)
        if refusal is None and not step.name.startswith("controller_hears_of_"):
            return f"{step.name} is the name of a step"
        if refusal is None:
            return self._hears_refusal(step.args[0], step.name.rpartition("_")[2])
        reason: str | None = refusal(*step.args)
        return reason

    def do(self, step: Step) -> None:
        """Take a step; StepNotPossible with the reason if it is not enabled."""
        reason = self.why_not(step)
        if reason is not None:
            raise StepNotPossible(step, reason)
        if step.name.startswith("controller_hears_of_"):
            self._hears(step.args[0], step.name.rpartition("_")[2])
        else:
            getattr(self, step.name)(*step.args)
        self._take_notifications()

    def _take_notifications(self) -> None:
        # A watch of the topic's node counts only while the controller knows the topic: Kafka takes
        # its handler back when a deletion is complete.
        for broker, one in self.controllers.items():
            heard = {KINDS[event.path] for event in one.port.events() if event.path in KINDS}
            inbox = self.inbox[broker] | heard if one.controller.active else frozenset()
            known = bool(self.known(broker))
            self.inbox[broker] = inbox if known else inbox - {"partitions"}

    # Administrators

    def _admin_creates_topic_refusal(self, *args: int) -> str | None:
        return "there is no topic of that name" if self.registered_lists() else None

    def admin_creates_topic(self, first: int, second: int, third: int, count: int) -> None:
        """Its replica lists are written, each turned by one against the one before."""
        ids = [one for one in (first, second, third) if one]
        self.admin.create_topic(TOPIC, {
            number: [*ids[number % len(ids):], *ids[: number % len(ids)]] for number in range(count)
        })  # fmt: skip

    def _admin_adds_partition_refusal(self, number: int, *args: int) -> str | None:
        lists = self.registered_lists()
        if not lists:
            return "the topic exists"
        if number != len(lists):
            return "it is the next partition"
        ids = [one for one in args if one]
        if len({*ids}) < len(ids):
            return "no broker is named twice"
        return None if len(ids) == len(lists[0]) else "it has as many replicas"

    def admin_adds_partition(self, number: int, first: int, second: int, third: int) -> None:
        """The topic's node is written with one partition more; nobody checks anything."""
        lists = self.registered_lists() | {
            number: tuple(one for one in (first, second, third) if one)
        }
        node = TopicZnode({one: ReplicaAssignment(ids) for one, ids in lists.items()})
        text = encode_topic(node, min(topic_version(self.release), 2))
        self.admin.port.set_data(paths.topic(TOPIC), text)

    def _admin_deletes_topic_refusal(self) -> str | None:
        if not self.registered_lists():
            return "the topic exists"
        return "no deletion is requested" if self.admin.deletions() else None

    def admin_deletes_topic(self) -> None:
        """A deletion is requested."""
        self.admin.request_deletion(TOPIC)

    # Controllers

    def _broker_stands_refusal(self, broker: int) -> str | None:
        if self.admin.controller() is not None:
            return "/controller does not exist"
        return None if self.acts(broker) is None else "it is not in office"

    def broker_stands(self, broker: int) -> None:
        """It registers; ZooKeeper has executed that, and the answer is on its way."""
        self.controllers[broker].begin("stands")

    def _controller_goes_on_refusal(self, broker: int) -> str | None:
        if self.controllers[broker].unfinished is None:
            return "it is in the middle of an event"
        states = any(self.zookeeper.exists(paths.state(TOPIC, one)) for one in self.partitions)
        return (
            "no partition's node is left" if self.acts(broker) == "unregisters" and states else None
        )

    def controller_goes_on(self, broker: int) -> None:
        """The next batch of the event that it is in the middle of."""
        self.controllers[broker].go_on()

    def _partition_is_removed_refusal(self, broker: int, number: int) -> str | None:
        if self.acts(broker) != "unregisters":
            return "it removes the topic's nodes"
        there = self.zookeeper.exists(paths.state(TOPIC, number))
        return None if there else "the partition has a state"

    def partition_is_removed(self, broker: int, number: int) -> None:
        """The node of one partition goes."""
        self.controllers[broker].go_on(first=number)

    def _hears_refusal(self, broker: int, kind: str) -> str | None:
        if self.acts(broker) != "waits":
            return "it waits for events"
        return None if kind in self.inbox[broker] else "its watch fired"

    def _hears(self, broker: int, kind: str) -> None:
        one, asked = self.controllers[broker], self.admin.deletions()
        self.inbox[broker] -= {kind}
        one.begin(kind, TOPIC)
        if kind == "deletions" and asked and one.unfinished is None:
            # The request was dropped, which fires the controller's own watch: it looks once more.
            self._take_notifications()
            self.inbox[broker] -= {kind}
            one.begin(kind, TOPIC)

    # Brokers

    def _orders_arrive_refusal(self, broker: int, controller: int) -> str | None:
        queue = self.connections.get((controller, broker), ())
        return None if queue and isinstance(queue[0], LeaderAndIsr) else "a LeaderAndIsr is next"

    def orders_arrive(self, broker: int, controller: int) -> None:
        """The LeaderAndIsr requests that are next on the connection, one after the other."""
        one = self.hosted[broker]
        roles, directories = dict(one.roles), set(one.directories)
        for request in self._taken(controller, broker, LeaderAndIsr):
            for partition, order in request.partitions.items():
                directories.add(partition.partition)
                if order.state.leader >= 0:
                    leads = order.state.leader == broker
                    roles[partition.partition] = "leader" if leads else "follower"
        self.hosted[broker] = Hosted(
            tuple(sorted(roles.items())), frozenset(directories), max(one.seen, controller)
        )

    def _stops_arrive_refusal(self, broker: int, controller: int) -> str | None:
        queue = self.connections.get((controller, broker), ())
        return None if queue and isinstance(queue[0], StopReplica) else "a StopReplica is next"

    def stops_arrive(self, broker: int, controller: int) -> None:
        """The StopReplica requests that are next; what is to be deleted is, and answered."""
        one = self.hosted[broker]
        stopped, deleted = set(), set()
        for request in self._taken(controller, broker, StopReplica):
            for partition, stop in request.partitions.items():
                stopped.add(partition.partition)
                if stop.delete:
                    deleted.add(partition.partition)
        self.hosted[broker] = replace(
            one,
            roles=tuple(pair for pair in one.roles if pair[0] not in stopped),
            directories=one.directories - deleted,
            seen=max(one.seen, controller),
        )
        if deleted:
            self.answers[controller, broker] = tuple(sorted(deleted))

    def _taken(self, controller: int, broker: int, kind: type[Any]) -> list[Any]:
        queue = list(self.connections.pop((controller, broker)))
        taken = []
        while queue and isinstance(queue[0], kind):
            taken.append(queue.pop(0))
        if queue:
            self.connections[controller, broker] = tuple(queue)
        return taken

    def _answer_arrives_refusal(self, broker: int, replica: int) -> str | None:
        if self.acts(broker) != "waits":
            return "it waits for events"
        epoch = self.controllers[broker].core.context.epoch
        return None if (epoch, replica) in self.answers else "the broker answered"

    def answer_arrives(self, broker: int, replica: int) -> None:
        """The controller hears what a broker has deleted."""
        epoch = self.controllers[broker].core.context.epoch
        gone = self.answers.pop((epoch, replica))
        deleted = [Replica(TopicPartition(TOPIC, number), replica) for number in gone]
        self.controllers[broker].begin("answer", TOPIC, deleted)

    # Plain data

    def snapshot(self) -> Any:
        """The whole state as a value."""
        return (
            self.zookeeper.save(), tuple(one.save() for one in self.controllers.values()),
            dict(self.connections), dict(self.answers), dict(self.inbox), dict(self.hosted),
        )  # fmt: skip

    def restore(self, snapshot: Any) -> None:
        """Become what a snapshot says."""
        zookeeper, controllers, connections, answers, inbox, hosted = snapshot
        self.zookeeper.load(zookeeper)
        for one, saved in zip(self.controllers.values(), controllers, strict=True):
            one.load(saved)
        self.connections, self.answers = dict(connections), dict(answers)
        self.inbox, self.hosted = dict(inbox), dict(hosted)


def _leaders_last(context: ClusterContext, brokers: Iterable[int]) -> list[int]:
    known = context.leadership.get(TopicPartition(TOPIC, 0))
    return sorted(brokers, key=lambda one: (known is not None and one == known.leader, one))
