"""What brokers do in a world of moving partitions: orders, records, fetches, and the ISR."""

from __future__ import annotations

from impl.core.requests import LeaderAndIsr, StopReplica
from impl.world.moves.controllers import MovesByControllers


class MovesByBrokers(MovesByControllers):
    """Steps of leaders and followers; each has its refusal beside it."""

    # Brokers

    def _order_arrives_refusal(self, broker: int, epoch: int, controller: int) -> str | None:
        queue = self.connections.get((controller, broker), ())
        if not queue or not isinstance(queue[0].request, LeaderAndIsr):
            return "a LeaderAndIsr is the next of its connection"
        if queue[0].epoch != epoch:
            return "it has that leader epoch"
        return self._unheard_refusal(broker)

    def _unheard_refusal(self, broker: int) -> str | None:
        """A leader whose ISR write was not answered holds the lock on all else."""
        replica = self.hosts[broker].replica
        waits = replica is not None and replica.unheard is not None
        return "no write of it is unanswered" if waits else None

    def order_arrives(self, broker: int, epoch: int, controller: int) -> None:
        """LeaderAndIsr of a leader epoch that the connection has not carried before."""
        first, *queue = self.connections[controller, broker]
        self._obey(broker, first.request)
        self._keep((controller, broker), queue)

    def _stop_arrives_refusal(self, broker: int, controller: int) -> str | None:
        queue = self.connections.get((controller, broker), ())
        if not queue or not isinstance(queue[0].request, StopReplica):
            return "StopReplica is next"
        return self._unheard_refusal(broker)

    def stop_arrives(self, broker: int, controller: int) -> None:
        """The StopReplica requests that are next on the connection."""
        queue = list(self.connections[controller, broker])
        while queue and isinstance(queue[0].request, StopReplica):
            self._obey(broker, queue.pop(0).request)
        self._keep((controller, broker), queue)

    # Records

    def _leader_appends_refusal(self, leader: int) -> str | None:
        if self.role(leader) != "leader":
            return "the broker believes it leads"
        return self._unheard_refusal(leader)

    def leader_appends(self, leader: int) -> None:
        """A producer's record, which no follower has yet."""
        self.replica(leader).produce(self.next_record)
        self.next_record += 1

    def _fetch_refusal(self, leader: int, follower: int) -> str | None:
        if self.role(leader) != "leader":
            return "the broker believes it leads"
        if self.role(follower) != "follower":
            return "the replica follows"
        if self._unheard_refusal(leader) is not None:
            return self._unheard_refusal(leader)
        mine, theirs = self.replica(leader), self.replica(follower)
        if theirs.leader != leader:
            return "it follows this leader"
        if theirs.leader_epoch != mine.leader_epoch:
            return "both are in the same epoch"
        return None if follower in mine.replicas else "the leader knows it as a replica"

    def _follower_catches_up_refusal(self, leader: int, follower: int) -> str | None:
        refusal = self._fetch_refusal(leader, follower)
        if refusal is not None:
            return refusal
        mine, theirs = self.replica(leader), self.replica(follower)
        same = theirs.stored.log.records == mine.stored.log.records
        return "it lacks records, or credit" if same and mine.knows_caught_up(follower) else None

    def follower_catches_up(self, leader: int, follower: int) -> None:
        """It fetches until it has all that its leader has, and the leader knows it."""
        self.replica(follower).fetch_all(self.replica(leader))

    def _in_office(self, leader: int) -> str | None:
        if self.role(leader) != "leader":
            return "the broker believes it leads"
        if not self.controllers[leader].port.alive:
            return "it has a ZooKeeper session"
        return self._unheard_refusal(leader)

    def _leader_expands_isr_refusal(self, leader: int, replica: int) -> str | None:
        refusal = self._in_office(leader)
        if refusal is not None:
            return refusal
        mine = self.replica(leader)
        if replica in mine.isr:
            return "the replica is not in the leader's ISR"
        refusal = self._fetch_refusal(leader, replica)
        if refusal is not None:
            return refusal
        same = self.replica(replica).has_all_of(mine)
        return None if same else "it has all of the leader's records"

    def leader_expands_isr(self, leader: int, replica: int) -> None:
        """A replica that has everything fetches again: its leader writes the larger ISR."""
        self.replica(replica).fetch_again(self.replica(leader))

    def _leader_shrinks_isr_refusal(self, leader: int, replica: int) -> str | None:
        refusal = self._in_office(leader)
        if refusal is not None:
            return refusal
        lags = replica in self.replica(leader).laggards()
        return None if lags else "the replica is in the leader's ISR, and lags"

    def leader_shrinks_isr(self, leader: int, replica: int) -> None:
        """The leader looks for laggards and writes the smaller ISR."""
        self.replica(leader).shrink([replica], 0)
