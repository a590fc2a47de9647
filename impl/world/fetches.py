"""Connections of followers to leaders: requests, responses, lost responses.

A fetcher's round is a coroutine that is suspended while it waits for its leader. It notices changes
of its partitions when the response arrives.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Any

from impl.core.fetcher_thread import (
    FetcherListener,
    FetcherThread,
    FetchReply,
    FetchState,
    FollowedLog,
    truncates_on_fetch,
)
from impl.core.replica_events import (
    AppendFailed,
    LogTruncating,
    Observer,
    RecordsReplicated,
    ReplicaEvent,
    silent,
)
from impl.core.replica_manager import Replica, ReplicaManager
from impl.log.region import Region
from impl.releases import Release
from impl.sim.effects import LeaderByEffect
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait

MOST_BYTES = 8_192
"""So much at most in one answer."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """The request on a connection; ``replies`` is None until the leader has answered.

    ``began``: the states of the fetcher's partitions at the request; for ListOffsets, when its
    fetch was refused. ``asked_in``, for observers: the follower's leader epochs. ``is_lost``: the
    connection broke.
    """

    kind: str
    questions: Mapping[TopicPartition, Any]
    asked_in: Mapping[TopicPartition, int]
    began: Mapping[TopicPartition, FetchState]
    replies: Mapping[TopicPartition, Any] | None = None
    is_lost: bool = False

    @property
    def is_under_way(self) -> bool:
        """Whether the leader has not answered yet."""
        return self.replies is None and not self.is_lost


class FollowerConnection(LeaderByEffect, FetcherListener):
    """One broker's fetcher for the partitions that it follows on one leader.

    ``protocol`` is the inter.broker.protocol.version.
    """

    def __init__(
        self, leader: int, release: Release, protocol: Release, observer: Observer = silent
    ) -> None:
        self.leader = leader
        self.observer = observer
        self.logs: dict[TopicPartition, FollowedLog] = {}
        self.rounds: FetcherThread[TopicPartition] = FetcherThread(
            self, self.logs, release, truncates_on_fetch(release, protocol), self
        )
        self.round: Coroutine[Any, Any, None] | None = None
        self.exchange: Exchange | None = None

    @property
    def is_idle(self) -> bool:
        """Whether it follows nothing, and waits for nothing."""
        return not self.rounds.states and self.round is None

    def add(self, replica: Replica) -> None:
        """Follow one more partition."""
        log: Any = replica.log
        self.logs[replica.partition] = log
        self.rounds.follow({replica.partition: replica.leader_epoch})

    def remove(self, partition: TopicPartition) -> None:
        """Stop following a partition."""
        self.rounds.remove([partition])
        if self.round is None:
            self.logs.pop(partition, None)

    def ask(self) -> None:
        """Begin a round; puts its request on the connection, if there is one."""
        self.round = self.rounds.do_work()
        self._go_on(None)

    def lose(self) -> None:
        """Break the connection: a request without response gets none."""
        if self.exchange is not None:
            self.exchange = replace(self.exchange, replies=None, is_lost=True)

    def apply(self) -> None:
        """Continue the round with the response, or without one if it was lost."""
        done = self.exchange
        assert done is not None, "something was asked"
        self._go_on({} if done.is_lost else done.replies)

    def close(self) -> None:
        """End the round; the response to its request is not used."""
        if self.round is not None:
            self.round.close()
        self.round = self.exchange = None

    def _go_on(self, replies: Any) -> None:
        assert self.round is not None, "a round is under way"
        try:
            asked = self.round.send(replies)
        except StopIteration:
            self.round = self.exchange = None
            for partition in [one for one in self.logs if one not in self.rounds.states]:
                del self.logs[partition]
            return
        states = self.rounds.states
        began = {one: states[one] for one in asked.questions if one in states}
        last = self.exchange
        if last is not None and last.kind == "ListOffsets" and {*last.began} == {*asked.questions}:
            began = dict(last.began)  # after the log's end its start is asked for
        epochs = {one: state.leader_epoch for one, state in began.items()}
        self.exchange = Exchange(asked.kind, asked.questions, epochs, began)

    # What a round tells

    def truncating(
        self, key: TopicPartition, offset: int, log_end: int, high_watermark: int
    ) -> None:
        """Called before a follower truncates its log."""
        self.observer(LogTruncating(key, offset, log_end, high_watermark))

    def append_failed(self, key: TopicPartition, error: Exception, offset: int) -> None:
        """Called when an append to a log fails."""
        self.observer(AppendFailed(key, str(error)))

    def replicated(
        self, key: TopicPartition, offset: int, log_end: int, high_watermark: int
    ) -> None:
        """Called when a response was applied."""
        self.observer(RecordsReplicated(key, offset, log_end, high_watermark))


class SuspendedConnection(FollowerConnection):
    """A connection whose round is stored as its request and ends with the response: plain data.

    It remains while a request is under way or a partition has failed.
    """

    @property
    def is_idle(self) -> bool:
        """Whether it follows nothing, waits for nothing, and no partition has failed."""
        return super().is_idle and self.exchange is None and not self.rounds.failed

    def ask(self) -> None:
        """Put the next request on the connection, if there is one."""
        super().ask()
        asked = self.exchange
        self.close()
        self.exchange = asked

    def apply(self) -> None:
        """Apply the leader's response; if it then asks for log offsets, the follower gets none."""
        done, self.exchange = self.exchange, None
        assert done is not None, "something was asked"
        goes_on: Any = self.rounds.on_fetched if done.kind == "Fetch" else self.rounds.on_epoch_ends
        work = goes_on(done.began, done.replies)
        try:
            work.send(None)
            while True:
                work.send({})
        except StopIteration:
            return

    def save(self) -> Any:
        """Everything, as a value."""
        return tuple(self.rounds.states.items()), frozenset(self.rounds.failed), self.exchange

    def load(self, saved: Any) -> None:
        """Restore what `save` returned."""
        states, failed, self.exchange = saved
        self.rounds.states, self.rounds.failed = dict(states), set(failed)


def answer(
    leader: ReplicaManager, follower: int, asked: Exchange, now_ms: int,
    most_bytes: int = MOST_BYTES,
) -> Exchange:  # fmt: skip
    """Answer as the leader, and record the follower's position; its ISR may expand."""
    replies: Mapping[TopicPartition, Any]
    match asked.kind:
        case "Fetch":
            found = wait(leader.fetch(follower, asked.questions, most_bytes, now_ms))
            replies = {one: _sent(reply) for one, reply in found.items()}
        case "OffsetForLeaderEpoch":
            replies = wait(leader.epoch_ends(asked.questions))
        case _:
            replies = {
                one: wait(leader.list_offset(one, where, for_consumer=False, leader_epoch=epoch))
                for one, (epoch, where) in asked.questions.items()
            }
    return replace(asked, replies=replies)


def _sent(reply: FetchReply) -> FetchReply:
    """With the records as they are now, in place of where they lie on a disk."""
    lies = isinstance(reply.batch, Region)
    return reply._replace(batch=reply.batch.read()) if lies else reply


class SimulatedFetchers:
    """The fetchers of a broker, one for each leader (``ReplicaFetcherManager``)."""

    broker: int
    release: Release
    connections: dict[int, Any]
    new_connection: type[FollowerConnection] = FollowerConnection
    protocol: Release | None = None
    """An inter.broker.protocol.version that is not the release's."""

    def observe(self, event: ReplicaEvent) -> None:
        """Handle an event of the replicas; not every world does."""

    def add(self, partitions: Mapping[TopicPartition, Replica]) -> None:
        """Follow each one's leader."""
        for replica in partitions.values():
            assert replica.leader is not None, "a follower has a leader"
            self.connection_to(replica.leader).add(replica)

    def connection_to(self, leader: int) -> FollowerConnection:
        """The connection to a leader; creates it if there is none."""
        connection = self.connections.get(leader)
        if connection is None:
            protocol = self.protocol or self.release
            connection = self.new_connection(leader, self.release, protocol, self.observe)
            self.connections[leader] = connection
        return connection

    def remove(self, partitions: list[TopicPartition]) -> None:
        """Stop following these partitions."""
        for leader, connection in [*self.connections.items()]:
            for partition in partitions:
                connection.remove(partition)
            if connection.is_idle:
                del self.connections[leader]

    def is_following(self, partition: TopicPartition) -> bool:
        """Whether the broker fetches the partition from some leader."""
        return any(partition in one.rounds.states for one in self.connections.values())

    def exchange(
        self, partition: TopicPartition, leader: ReplicaManager, now_ms: int,
        loses_fetch: bool = False,
    ) -> str:  # fmt: skip
        """Send the leader one partition's request, and apply its response; returns the request.

        If the response to a fetch is lost, only the leader changes.
        """
        connection = self.connections[leader.broker]
        rounds = connection.rounds
        others, logs = rounds.states, dict(connection.logs)
        rounds.states = {partition: others[partition]}
        connection.ask()
        asked = connection.exchange
        if asked is not None:
            connection.exchange = answer(leader, self.broker, asked, now_ms)
            if not loses_fetch or asked.kind != "Fetch":
                connection.apply()
            connection.close()
        rest = {one: state for one, state in others.items() if one != partition}
        rounds.states = rest | rounds.states
        connection.logs.update({one: logs[one] for one in rest})
        return "" if asked is None else asked.kind

    def fetch(
        self, partition: TopicPartition, leader: ReplicaManager, now_ms: int,
        loses_fetch: bool = False,
    ) -> None:  # fmt: skip
        """Fetch once, after comparing the log with the leader's if necessary."""
        if self.exchange(partition, leader, now_ms, loses_fetch) == "OffsetForLeaderEpoch":
            self.exchange(partition, leader, now_ms, loses_fetch)
