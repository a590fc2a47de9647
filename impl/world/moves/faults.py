"""What goes wrong in a world of moving partitions: answers that are lost, and an office that is.

A write whose answer is lost is done. Who wrote it sends it again, is refused, and looks: a
controller takes it for another's, a leader may find that it is its own (KAFKA-1382).
"""

from __future__ import annotations

from impl.world.moves.brokers import MovesByBrokers
from impl.znodes import TopicPartition, paths
from impl.znodes.partitions import encode_reassignment
from impl.zookeeper.port import wait

UNKNOWN = TopicPartition("nobody", 0)
"""A partition that there is not."""


class MovesWithFaults(MovesByBrokers):
    """Steps that are nobody's wish; each has its refusal beside it."""

    # Answers to a controller

    def _raises(self, broker: int) -> bool:
        """A controller is about to write the state, and elects nobody."""
        before, then = self.registered(), self.snapshot()
        self.controllers[broker].go_on()
        after = self.registered()
        self.restore(then)
        return after.zk_version != before.zk_version and self.elects(broker) is None

    def _controller_raise_is_unheard_refusal(self, broker: int) -> str | None:
        if self.acts(broker) not in ("bumping", "leading"):
            return "it is about to write the partition's state"
        if self.news(broker):
            return "the state that it knows is the registered one"
        return None if self._raises(broker) else "the leader stays"

    def controller_raise_is_unheard(self, broker: int) -> None:
        """A new leader epoch is written, and the answer is lost."""
        self.controllers[broker].go_on(unheard=True)

    def _controller_move_is_unheard_refusal(self, broker: int, leader: int) -> str | None:
        if self.acts(broker) != "leading":
            return "the leader is to be a target"
        return self._controller_elects_refusal(broker, leader)

    def controller_move_is_unheard(self, broker: int, leader: int) -> None:
        """A new leader is written, and the answer is lost."""
        self.controllers[broker].go_on(unheard=True)

    def _controller_removal_is_unheard_refusal(self, broker: int, replica: int) -> str | None:
        if self.acts(broker) not in ("leaving", "replacing"):
            return "old replicas are to go offline"
        if self.news(broker):
            return "the state that it knows is the registered one"
        if replica not in self.leaving(broker):
            return "the replica is one of them"
        return None if replica in self.registered().isr else "it is in the registered ISR"

    def controller_removal_is_unheard(self, broker: int, replica: int) -> None:
        """A smaller ISR is written, and the answer is lost."""
        self.controllers[broker].go_on(unheard=True)

    # Answers to a leader

    def _leader_shrink_is_unheard_refusal(self, leader: int, replica: int) -> str | None:
        refusal = self._leader_shrinks_isr_refusal(leader, replica)
        return refusal or self._version_refusal(leader)

    def leader_shrink_is_unheard(self, leader: int, replica: int) -> None:
        """A smaller ISR is written, and the answer is lost."""
        self.replica(leader).loses = True
        self.leader_shrinks_isr(leader, replica)

    def _leader_expand_is_unheard_refusal(self, leader: int, replica: int) -> str | None:
        refusal = self._leader_expands_isr_refusal(leader, replica)
        return refusal or self._version_refusal(leader)

    def leader_expand_is_unheard(self, leader: int, replica: int) -> None:
        """A larger ISR is written, and the answer is lost."""
        self.replica(leader).loses = True
        self.leader_expands_isr(leader, replica)

    def _version_refusal(self, leader: int) -> str | None:
        current = self.replica(leader).zk_version == self.registered().zk_version
        return None if current else "the cached version is current"

    def _leader_reads_back_refusal(self, leader: int) -> str | None:
        if self.role(leader) != "leader":
            return "the broker believes it leads"
        if not self.replica(leader).unheard:
            return "its write was not answered"
        return None if self.controllers[leader].port.alive else "it has a ZooKeeper session"

    def leader_reads_back(self, leader: int) -> None:
        """Its write is sent again, and refused; it reads what is there."""
        self.replica(leader).reads_back()

    # Administrators

    def _admin_cancels_move_refusal(self, broker: int) -> str | None:
        if self.acts(broker) != "waits":
            return "it waits for events"
        if not self.target(broker):
            return "the partition is to move"
        there = self.zookeeper.exists(paths.REASSIGN_PARTITIONS)
        return "no request stands under /admin" if there else None

    def admin_cancels_move(self, broker: int) -> None:
        """AlterPartitionReassignments without a target comes to the controller (KIP-455)."""
        self.controllers[broker].begin("asked", None)

    def _admin_asks_for_unknown_refusal(self) -> str | None:
        return self._admin_asks_for_move_refusal()

    def admin_asks_for_unknown(self) -> None:
        """``/admin/reassign_partitions`` names a partition that there is not."""
        text = encode_reassignment({UNKNOWN: [1]})
        wait(self.admin.port.create(paths.REASSIGN_PARTITIONS, text))

    # Office

    def _controller_node_is_deleted_refusal(self) -> str | None:
        return "/controller exists" if wait(self.admin.controller()) is None else None

    def controller_node_is_deleted(self) -> None:
        """``/controller`` is deleted by hand; who was controller does not know."""
        wait(self.admin.port.delete(paths.CONTROLLER))

    def _controller_resigns_refusal(self, broker: int) -> str | None:
        if self.acts(broker) in (None, "campaign"):
            return "the broker believes it is the controller"
        mine = wait(self.admin.controller()) == broker
        return "/controller is not its own any more" if mine else None

    def controller_resigns(self, broker: int) -> None:
        """It is told that /controller is not its own any more."""
        self.controllers[broker].resign()
