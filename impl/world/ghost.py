"""Invariants that every world checks, by an observer that keeps the history.

The ghost sees everything and changes nothing. Call ``look()`` after every step; a record counts as
committed once it has been below the high watermark of a broker that leads.
"""

from __future__ import annotations

from impl.log import Record
from impl.world.world import World
from impl.znodes.states import NO_LEADER


class ClaimBroken(Exception):
    """A claim does not hold in the world as it is now; the message says which, and where."""


class PartitionHistory:
    """Remembers what was ever committed, led and held, and checks each new moment against it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.committed: list[Record] = []
        self.holders: dict[int, int] = {}
        self.leaders: dict[int, int] = {}
        self.registered_epoch = 0
        self.heard: dict[int, tuple[int, int]] = {}

    def look(self) -> None:
        """Take in the world as it is now; ClaimBroken if a claim does not hold."""
        self._committed_records_stay()
        self._isr_members_hold_committed_records()
        self._logs_match()
        self._one_holder_an_epoch()
        self._brokers_obey_no_older_epoch()
        self._clients_saw_the_truth()

    def _clients_saw_the_truth(self) -> None:
        reported = self.world.client_view
        committed = {record for record, _ in self.committed}
        for record in reported.acknowledged:
            if reported.acks[record] == "all":
                _claim(
                    record in committed, f"record {record} was acknowledged and is not committed"
                )
        for offset, record_read in reported.read.items():
            _claim(self.committed[offset] == record_read, f"offset {offset} was read otherwise")
        _claim(not reported.differed, "two reads of one offset gave two records")

    def _committed_records_stay(self) -> None:
        for number, broker in self.world.brokers.items():
            partition = broker.replicas.partition
            if partition.leads:
                visible = broker.log.records[: partition.hw]
                known = self.committed[: len(visible)]
                _claim(visible[: len(known)] == known, f"leader {number} commits other records")
                self.committed.extend(visible[len(known) :])

    def _isr_members_hold_committed_records(self) -> None:
        state = self.world.registered_state
        for member in state.isr:
            held = self.world.brokers[member].log.records[: len(self.committed)]
            _claim(held == self.committed, f"ISR member {member} lacks committed records")
        _claim(state.leader in (NO_LEADER, *state.isr), "the registered leader is not in the ISR")
        _claim(state.leader_epoch >= self.registered_epoch, "the leader epoch went back")
        self.registered_epoch = state.leader_epoch

    def _logs_match(self) -> None:
        brokers = self.world.brokers
        logs = [brokers[number].log.records for number in sorted(brokers)]
        for position, one in enumerate(logs):
            for two in logs[:position]:
                end = min(len(one), len(two))
                while end and one[end - 1][1] != two[end - 1][1]:
                    end -= 1
                _claim(one[:end] == two[:end], "two logs differ below a record of one epoch")

    def _one_holder_an_epoch(self) -> None:
        for number, broker in self.world.brokers.items():
            belief = broker.controller.belief
            if belief is not None:
                holder = self.holders.setdefault(belief.epoch, number)
                _claim(holder == number, f"two brokers held controller epoch {belief.epoch}")
            partition = broker.replicas.partition
            if partition.leads:
                leader = self.leaders.setdefault(partition.leader_epoch, number)
                _claim(leader == number, f"two brokers led epoch {partition.leader_epoch}")

    def _brokers_obey_no_older_epoch(self) -> None:
        for number, broker in self.world.brokers.items():
            if not broker.up:
                self.heard.pop(number, None)
                continue
            now = broker.replicas.controller_epoch, broker.replicas.partition.leader_epoch
            before = self.heard.get(number, now)
            _claim(now[0] >= before[0], f"broker {number} obeys an older controller")
            _claim(now[1] >= before[1], f"broker {number} applies an older leader epoch")
            self.heard[number] = now


def _claim(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ClaimBroken(otherwise)
