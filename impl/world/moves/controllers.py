"""What administrators and controllers do in a world of moving partitions."""

from __future__ import annotations

from impl.core.requests import PartitionOrder
from impl.world.moves.held import ELECTS, REPLACES, MovesHeld
from impl.world.moves.steps import LOOKS_FIRST, MOVED, STATE
from impl.znodes import LeaderIsrAndControllerEpoch, paths
from impl.znodes.partitions import encode_reassignment
from impl.znodes.states import NO_LEADER, encode_state
from impl.zookeeper.port import wait


class MovesByControllers(MovesHeld):
    """Steps of administrators and controllers; each has its refusal beside it."""

    # Administrators

    def _topic_is_created_refusal(self, *args: int) -> str | None:
        if self.state() is not None:
            return "there is no such topic"
        office = wait(self.admin.controller_epoch())
        return None if office is None or office.epoch == 0 else "no controller was there before"

    def topic_is_created(self, first: int, second: int, third: int) -> None:
        """Its znodes are written, and its replicas lead and follow in epoch 0.

        How that comes about is the matter of `impl.world.topics.life`.
        """
        ids = tuple(one for one in (first, second, third) if one)
        wait(self.admin.create_topic(MOVED.topic, {MOVED.partition: ids}))
        wait(self.admin.make_path(paths.partition(*MOVED)))
        state = LeaderIsrAndControllerEpoch(first, 0, ids, 0)
        wait(self.admin.port.create(STATE, encode_state(state)))
        order = PartitionOrder(state, ids, True)
        for broker in ids:
            self._hosted(broker).take(order, self.brokers)
        leader = self.replica(first)
        leader.first = True
        for broker in ids[1:]:
            self.replica(broker).fetch_all(leader)

    def _admin_asks_for_move_refusal(self, *args: int) -> str | None:
        if self.state() is None:
            return "there is a topic"
        if self.zookeeper.exists(paths.REASSIGN_PARTITIONS):
            return "no other request is there"
        node = wait(self.admin.topic(MOVED.topic))
        moves = node is not None and node.partitions[MOVED.partition].is_being_reassigned
        if moves:
            return "no move stands in the topic's znode"
        return self._list_refusal(args)

    def _list_refusal(self, args: tuple[int, ...]) -> str | None:
        written = not args or tuple(one for one in args if one) in self.lists
        return None if written else "the list may have so many replicas"

    def admin_asks_for_move(self, first: int, second: int, third: int) -> None:
        """``/admin/reassign_partitions`` is created."""
        target = [one for one in (first, second, third) if one]
        wait(
            self.admin.port.create(paths.REASSIGN_PARTITIONS, encode_reassignment({MOVED: target}))
        )

    def _admin_asks_controller_refusal(self, broker: int, *args: int) -> str | None:
        if self.acts(broker) != "waits":
            return "it waits for events"
        if self.zookeeper.exists(paths.REASSIGN_PARTITIONS):
            return "no request stands under /admin"
        core, target = self.controllers[broker].core, tuple(one for one in args if one)
        known = core.context.replicas(MOVED)
        if not core.context.live.issuperset(set(target) - set(known)):
            return "every new replica is alive"
        if target == (self.target(broker) or known):
            return "another list is asked for than it works on"
        return self._list_refusal(args)

    def admin_asks_controller(self, broker: int, first: int, second: int, third: int) -> None:
        """AlterPartitionReassignments comes to the controller (KIP-455)."""
        target = tuple(one for one in (first, second, third) if one)
        self.controllers[broker].begin("asked", target)

    # Controllers

    def _broker_stands_refusal(self, broker: int) -> str | None:
        if wait(self.admin.controller()) is not None:
            return "/controller does not exist"
        return None if self.acts(broker) is None else "it is not in office"

    def broker_stands(self, broker: int) -> None:
        """It registers; ZooKeeper has executed that, and the answer is on its way."""
        self.controllers[broker].begin("stands")

    def news(self, broker: int) -> bool:
        """The partition's state is another than the one that a controller knows."""
        seen = self.controllers[broker].port.seen
        return seen is None or seen.zk_version != self.registered().zk_version

    def _controller_goes_on_refusal(self, broker: int) -> str | None:
        one, label = self.controllers[broker], self.acts(broker)
        if one.unfinished is None or label == "begins":
            return "it is in the middle of an event"
        if label == "reads_zookeeper" and self.state() is None:
            return "the partition exists"
        if label in LOOKS_FIRST and self.news(broker):
            return "the state that it knows is the registered one"
        if label in ("leaving", "replacing"):
            return "it takes no replica offline"
        if label in ELECTS and self.elects(broker) is not None:
            return "it elects nobody"
        return None

    def elects(self, broker: int) -> int | None:
        """Whom a controller is about to elect, found out by letting it; None if nobody."""
        before, then = self.registered(), self.snapshot()
        known = self.controllers[broker].core.context.leadership[MOVED].leader
        self.controllers[broker].go_on()
        after = self.registered()
        self.restore(then)
        wrote = after.zk_version != before.zk_version
        return after.leader if wrote and after.leader not in (known, NO_LEADER) else None

    def _controller_elects_refusal(self, broker: int, leader: int) -> str | None:
        if self.acts(broker) not in ELECTS:
            return "it is about to elect"
        if self.news(broker):
            return "the state that it knows is the registered one"
        return None if self.elects(broker) == leader else "that is whom it elects"

    def controller_elects(self, broker: int, leader: int) -> None:
        """The partition gets another leader, the one that the controller chooses."""
        self.controllers[broker].go_on()

    def _controller_takes_offline_refusal(self, broker: int, replica: int) -> str | None:
        if self.acts(broker) not in ("leaving", "replacing"):
            return "it takes old replicas offline"
        if self.news(broker) and not self._passes_over(broker):
            return "the state that it knows is the registered one"
        return None if replica in self.leaving(broker) else "the replica is one of them"

    def controller_takes_offline(self, broker: int, replica: int) -> None:
        """An old replica is told to stop, and leaves the ISR if it is in it."""
        self.controllers[broker].go_on()

    def _passes_over(self, broker: int) -> bool:
        """Whom it takes offline next is not in the registered ISR: nothing is written."""
        leaves = self.acts(broker) in ("leaving", "replacing")
        return leaves and not self.leaving(broker).intersection(self.registered().isr)

    def old(self, broker: int) -> set[int]:
        """The replicas that a controller's move leaves behind, as long as it knows of them."""
        context = self.controllers[broker].core.context
        widens = self.acts(broker) in REPLACES
        kept = context.replicas(MOVED) if widens else self.target(broker)
        return {one.broker for one in context.replica_states} - set(kept)

    def leaving(self, broker: int) -> set[int]:
        """Those of them that have not gone offline yet."""
        waits = self.acts(broker) in ("leading", "leaving", "replacing")
        return self.old(broker) if waits else set()

    def target(self, broker: int) -> tuple[int, ...]:
        """Where a controller moves the partition; nowhere if it does not."""
        one = self.controllers[broker]
        begins = self.release.since("2.4") and self.acts(broker) in ("assigning", *REPLACES)
        if begins and one.unfinished is not None:
            return one.unfinished.goal  # not in its memory before the znode is written
        return one.reassigner.targets.get(MOVED, ())

    def controller_goes_on(self, broker: int) -> None:
        """The next write or batch of the event that it is in the middle of."""
        self.controllers[broker].go_on()

    def _controller_looks_refusal(self, broker: int) -> str | None:
        if self.acts(broker) not in LOOKS_FIRST:
            return "it is about to write the partition's state"
        if self.deposed(broker):
            return "the epoch that it won is the newest"  # else that it meets the fence is told
        return None if self.news(broker) else "the state has changed since it looked"

    def deposed(self, broker: int) -> bool:
        """A newer controller epoch was won than the one that a controller has."""
        newest = wait(self.admin.controller_epoch())
        return newest is not None and newest.epoch > self.controllers[broker].core.context.epoch

    def controller_looks(self, broker: int) -> None:
        """It reads the state before its write, or because its write was refused."""
        self.controllers[broker].go_on(looks=True)

    def _controller_hears_of_moves_refusal(self, broker: int) -> str | None:
        if self.acts(broker) == "begins":
            return None
        if self.acts(broker) != "waits":
            return "it waits for events"
        return None if "moves" in self.inbox[broker] else "its watch fired"

    def controller_hears_of_moves(self, broker: int) -> None:
        """It looks at what is asked for, or has found it when it came to office."""
        one = self.controllers[broker]
        if self.acts(broker) == "waits":
            self.inbox[broker] -= {"moves"}
            one.begin("moves")
        if self.acts(broker) == "begins":
            one.go_on()

    def _controller_hears_of_isr_refusal(self, broker: int) -> str | None:
        if self.acts(broker) != "waits":
            return "it waits for events"
        return None if "state" in self.inbox[broker] else "its watch fired"

    def controller_hears_of_isr(self, broker: int) -> None:
        """The state of the partition changed: are the targets in the ISR?"""
        self.inbox[broker] -= {"state"}
        self.controllers[broker].begin("state")
