"""The controller that every broker carries: registration, belief, elections (``KafkaController``).

Each method is one grain of the world: what happens between two of them is anybody's guess.
"""

from __future__ import annotations

from dataclasses import replace

from impl.controller.context import Belief, CachedPartition, EpochRead, Reply
from impl.journal import Journal
from impl.requests import LeaderAndIsrRequest
from impl.zookeeper import NO_LEADER, BadVersion, ControllerMoved, KafkaZkClient, PartitionState

SavedController = tuple[EpochRead | None, Reply | None, bool, Belief | None, CachedPartition | None]


class KafkaController:
    """One broker's controller; it is in office only as far as ``belief`` goes."""

    def __init__(self, broker: int, client: KafkaZkClient, journal: Journal) -> None:
        self.broker = broker
        self.client = client
        self.journal = journal
        self.read: EpochRead | None = None
        self.reply: Reply | None = None
        self.won = False  # what ZooKeeper answered; the broker may not hear it, an observer may
        self.belief: Belief | None = None
        self.cached: CachedPartition | None = None

    # Taking office (KAFKA-6082)

    def read_epoch(self) -> None:
        """Remember the controller epoch and its version, for a registration."""
        self.read = EpochRead(*self.client.controller_epoch())

    def register(self, session: int) -> None:
        """Have ZooKeeper execute the registration; its reply is on the way."""
        read = self._read()
        self.won = self.client.register_controller(self.broker, session, read.epoch, read.version)
        self.reply = Reply.ELECTED if self.won else Reply.FAILED

    def learn_outcome(self) -> None:
        """The reply is here: in office, or not."""
        if self.reply is Reply.ELECTED:
            read = self._read()
            self._take_office(Belief(read.epoch + 1, read.version + 1))
        else:
            self._give_up()

    def lose_reply(self) -> None:
        """The reply will never come."""
        self.reply = Reply.LOST

    def check_outcome(self) -> None:
        """``checkControllerAndEpoch``: my id and the epoch that I wrote, or moved."""
        registered = self.client.controller()
        epoch, version = self.client.controller_epoch()
        mine = registered is not None and registered.broker == self.broker
        if mine and epoch == self._read().epoch + 1:
            self._take_office(Belief(epoch, version))
        else:
            self._give_up()

    def _take_office(self, belief: Belief) -> None:
        self.read, self.reply, self.won, self.belief = None, None, False, belief
        self.journal.controller_elected(self.broker, belief.epoch, belief.epoch_version)

    def _give_up(self) -> None:
        self.read, self.reply, self.won = None, None, False
        registered = self.client.controller()
        self.journal.controller_lost_the_race(
            self.broker, -1 if registered is None else registered.broker
        )

    # Leaving office

    def is_registered(self, session: int) -> bool:
        """/controller is this very session's."""
        return self.client.controller_owner() == session

    def resign(self, moved: bool = False) -> None:
        """Stop believing and forget everything that was known in office."""
        if self.belief is not None:
            self.journal.controller_resigned(self.broker, moved)
        self.forget()

    def forget(self) -> None:
        """No belief, no registration under way, nothing cached."""
        self.read, self.reply, self.won, self.belief, self.cached = None, None, False, None, None

    # In office

    def read_partition(self) -> None:
        """Cache the partition's state and version, and who is registered."""
        live = self.client.live_brokers()
        state, version = self.client.partition_state()
        self.cached = CachedPartition(state, version, tuple(live.items()))
        self.journal.controller_read_brokers(self.broker, live)

    def elected_state(self, leader: int) -> PartitionState:
        """The state that makes a replica the leader: a new epoch, the ISR without the dead."""
        state, live = self._cached().state, self._cached().live_ids
        return PartitionState(
            leader=leader,
            leader_epoch=state.leader_epoch + 1,
            isr=tuple(member for member in state.isr if member in live),
            controller_epoch=self._belief().epoch,
        )

    def state_without(self, replica: int) -> PartitionState:
        """The state with a replica taken off the ISR; the last member stays (semantics c.2)."""
        state = self._cached().state
        fewer = tuple(member for member in state.isr if member != replica)
        return PartitionState(
            leader=NO_LEADER if state.leader == replica else state.leader,
            leader_epoch=state.leader_epoch + 1,
            isr=fewer or state.isr,
            controller_epoch=self._belief().epoch,
        )

    def elect_leader(self, leader: int) -> list[LeaderAndIsrRequest]:
        """Write an elected state; returns what is to be sent, nothing if the write was refused."""
        return self._write(self.elected_state(leader), None)

    def remove_replica(self, replica: int) -> list[LeaderAndIsrRequest]:
        """Take a dead replica off the ISR; returns what is to be sent to the other ones."""
        return self._write(self.state_without(replica), replica)

    def _write(self, state: PartitionState, removed: int | None) -> list[LeaderAndIsrRequest]:
        cached, belief = self._cached(), self._belief()
        try:
            version = self.client.write_state_as_controller(
                state, cached.version, belief.epoch_version
            )
        except BadVersion:
            self.cached = None
            return []
        except ControllerMoved:
            self.resign(moved=True)
            return []
        self.cached = replace(cached, state=state, version=version)
        self.journal.controller_wrote_state(
            self.broker, belief.epoch, cached.state, state, version, removed
        )
        return [
            self._request(target, broker_epoch, state, version)
            for target, broker_epoch in cached.live
            if target != removed
        ]

    def inform(self, replica: int) -> LeaderAndIsrRequest:
        """A request that tells a registered replica the state of this moment."""
        state, version = self.client.partition_state()
        broker_epoch = self.client.broker_epoch(replica)
        assert broker_epoch is not None, f"broker {replica} is not registered"
        return self._request(replica, broker_epoch, state, version)

    def _request(
        self, target: int, broker_epoch: int, state: PartitionState, version: int
    ) -> LeaderAndIsrRequest:
        epoch = self._belief().epoch
        return LeaderAndIsrRequest(target, self.broker, epoch, broker_epoch, state, version)

    # What a step has made sure of

    def _read(self) -> EpochRead:
        assert self.read is not None, "the controller epoch has not been read"
        return self.read

    def _belief(self) -> Belief:
        assert self.belief is not None, "not in office"
        return self.belief

    def _cached(self) -> CachedPartition:
        assert self.cached is not None, "the partition has not been read"
        return self.cached

    # Plain data

    def save(self) -> SavedController:
        """Everything, as an immutable value."""
        return self.read, self.reply, self.won, self.belief, self.cached

    def load(self, saved: SavedController) -> None:
        """Become what was saved."""
        self.read, self.reply, self.won, self.belief, self.cached = saved
