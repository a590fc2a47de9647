"""Steps of leaders and followers: appends, fetches, and ISR changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from impl.world.processes import each_broker
from impl.world.stepped.controller_run import FIRST, TOPIC, is_to_write
from impl.world.stepped.parts import Many, SteppedParts, Unmet, each_two, step
from impl.world.stepped.requests import RequestSteps
from impl.znodes import LeaderIsrAndControllerEpoch, paths
from impl.znodes.states import encode_state
from impl.zookeeper.port import wait

MOST_ROUNDS = 8
"""Fetches of a follower until it has everything: it cuts, it fetches, and that is noted."""


def each_member(world: SteppedParts) -> Iterator[tuple[int, int, int]]:
    """(leader, replica, partition), of who believes that it leads."""
    for leader in world.brokers:
        for number in world.partitions:
            if world.role(leader, number) == "leader":
                yield from ((leader, replica, number) for replica in world.brokers)


def each_member_and_controller(world: SteppedParts) -> Many:
    """(leader, replica, partition, broker)."""
    return ((*one, broker) for one in each_member(world) for broker in world.brokers)


class RecordSteps(RequestSteps):
    """A leader appends, is fetched from, and changes the ISR."""

    # Records

    def _leader_appends_unmet(self, leader: int) -> Unmet:
        if self.role(leader) != "leader":
            return "the broker believes it leads"
        return self.unheard_unmet(leader)

    @step(each_broker)
    def leader_appends(self, leader: int) -> None:
        """A producer's record, which no follower has yet."""
        self.replica(leader).produce(self.next_record)
        self.next_record += 1

    def _fetch_unmet(self, leader: int, follower: int) -> Unmet:
        if self.role(leader) != "leader":
            return "the broker believes it leads"
        if self.role(follower) != "follower":
            return "the replica follows"
        unmet = self.unheard_unmet(leader)
        if unmet is not None:
            return unmet
        mine, theirs = self.replica(leader), self.replica(follower)
        if theirs.leader != leader:
            return "it follows this leader"
        if theirs.leader_epoch != mine.leader_epoch:
            return "both are in the same epoch"
        return None if follower in mine.replicas else "the leader knows it as a replica"

    def _follower_catches_up_unmet(self, leader: int, follower: int) -> Unmet:
        unmet = self._fetch_unmet(leader, follower)
        if unmet is not None:
            return unmet
        mine, theirs = self.replica(leader), self.replica(follower)
        same = theirs.has_log_of(mine)
        return "it lacks records, or credit" if same and mine.knows_caught_up(follower) else None

    @step(each_two)
    def follower_catches_up(self, leader: int, follower: int) -> None:
        """A follower fetches until it has all of its leader's records, and the leader knows it."""
        mine, theirs = self.replica(leader), self.replica(follower)
        for _ in range(MOST_ROUNDS):
            self.hosts[follower].fetch(FIRST, self.hosts[leader].manager, 0)
            if theirs.has_log_of(mine) and mine.knows_caught_up(follower):
                break

    # The ISR, by a leader that knows what it registered last

    def _leads_with_session(self, leader: int) -> Unmet:
        if self.role(leader) != "leader":
            return "the broker believes it leads"
        if not self.has_session(leader):
            return "it has a ZooKeeper session"
        return self.unheard_unmet(leader)

    def _leader_expands_isr_unmet(self, leader: int, replica: int) -> Unmet:
        unmet = self._leads_with_session(leader)
        if unmet is not None:
            return unmet
        mine = self.replica(leader)
        if replica in mine.isr:
            return "the replica is not in the leader's ISR"
        unmet = self._fetch_unmet(leader, replica)
        if unmet is not None:
            return unmet
        same = self.replica(replica).has_log_of(mine)
        return None if same else "its log is the leader's"

    @step(each_two)
    def leader_expands_isr(self, leader: int, replica: int) -> None:
        """A replica that has everything fetches again: its leader writes the larger ISR."""
        self.hosts[replica].fetch(FIRST, self.hosts[leader].manager, 0)
        self.replica(leader).write_isr(replica, joins=True)

    def _leader_shrinks_isr_unmet(self, leader: int, replica: int) -> Unmet:
        unmet = self._leads_with_session(leader)
        if unmet is not None:
            return unmet
        lags = replica in self.replica(leader).out_of_sync_replicas()
        return None if lags else "the replica is in the leader's ISR, and lags"

    @step(each_two)
    def leader_shrinks_isr(self, leader: int, replica: int) -> None:
        """The leader checks its ISR and writes the smaller one, unless the check throws."""
        if self.replica(leader).isr_member_without_replica is None:
            self.replica(leader).write_isr(replica, joins=False)

    # Answers that are lost: what was written is done, and the leader sends it again

    def _version_unmet(self, leader: int) -> Unmet:
        state = self.state()
        current = state is not None and self.replica(leader).zk_version == state.zk_version
        return None if current else "the cached version is current"

    def _leader_shrink_is_unheard_unmet(self, leader: int, replica: int) -> Unmet:
        unmet = self._leader_shrinks_isr_unmet(leader, replica)
        if unmet is None and self.replica(leader).isr_member_without_replica is not None:
            return "the leader knows every member of the ISR as a replica"
        return unmet or self._version_unmet(leader)

    @step(each_two)
    def leader_shrink_is_unheard(self, leader: int, replica: int) -> None:
        """A smaller ISR is written, and the answer is lost."""
        self.replica(leader).begin_isr_write(replica, joins=False)
        self.replica(leader).lose_isr_answer()

    def _leader_expand_is_unheard_unmet(self, leader: int, replica: int) -> Unmet:
        unmet = self._leader_expands_isr_unmet(leader, replica)
        return unmet or self._version_unmet(leader)

    @step(each_two)
    def leader_expand_is_unheard(self, leader: int, replica: int) -> None:
        """A larger ISR is written, and the answer is lost."""
        self.hosts[replica].fetch(FIRST, self.hosts[leader].manager, 0)
        self.replica(leader).begin_isr_write(replica, joins=True)
        self.replica(leader).lose_isr_answer()

    def _leader_reads_back_unmet(self, leader: int) -> Unmet:
        if self.role(leader) != "leader":
            return "the broker believes it leads"
        if self.replica(leader).isr_write is None:
            return "its write was not answered"
        return None if self.has_session(leader) else "it has a ZooKeeper session"

    @step(each_broker)
    def leader_reads_back(self, leader: int) -> None:
        """Its write is sent again, and refused; it reads what is there (KAFKA-1382)."""
        self.replica(leader).end_isr_write()

    # The ISR, by a leader that has just read what is registered

    def _returner(
        self, leader: int, replica: int, number: int
    ) -> LeaderIsrAndControllerEpoch | str:
        if self.role(leader, number) != "leader":
            return "the broker believes it leads"
        if not self.has_session(leader):
            return "it has a ZooKeeper session"
        state = self.state(number)
        if state is None or state.leader != leader:
            return "the state names it"
        if self.role(replica, number) != "follower":
            return "the replica follows"
        return "it is not in the ISR" if replica in state.isr else state

    def _isr_is_expanded_unmet(self, leader: int, replica: int, number: int) -> Unmet:
        found = self._returner(leader, replica, number)
        return found if isinstance(found, str) else None

    @step(each_member)
    def isr_is_expanded(self, leader: int, replica: int, number: int) -> None:
        """A follower has caught up; the write is conditional on the state's version."""
        state = self._returner(leader, replica, number)
        assert not isinstance(state, str), "the step was possible"
        larger = replace(state, isr=(*state.isr, replica))
        path = paths.state(TOPIC, number)
        wait(self.admin.port.set_data(path, encode_state(larger), state.zk_version))

    def _isr_is_expanded_first_unmet(
        self, leader: int, replica: int, number: int, broker: int
    ) -> Unmet:
        reason = self._isr_is_expanded_unmet(leader, replica, number)
        if reason is not None:
            return reason
        if self.place(broker) is None or not self.has_session(broker):
            return "the controller is about to write the state"
        return None if self._comes_to_write(broker) else "the controller is about to write it"

    def _comes_to_write(self, broker: int) -> bool:
        """Gone on with, the controller comes to a write over a state that it has read."""
        if is_to_write(self.place(broker)):
            return True
        before = self.snapshot()
        self.controllers[broker].go_on(to_write=True)
        writes = is_to_write(self.place(broker))
        self.restore(before)
        return writes

    @step(each_member_and_controller)
    def isr_is_expanded_first(self, leader: int, replica: int, number: int, broker: int) -> None:
        """The same, after a controller has read the state that it is about to write over."""
        if not is_to_write(self.place(broker)):
            self.controllers[broker].go_on(to_write=True)
        self.isr_is_expanded(leader, replica, number)
