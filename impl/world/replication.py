"""Steps of replication: epoch questions, fetches, the high watermark and its checkpoint."""

from __future__ import annotations

from impl.core.fetch_sessions import forgets_epochs
from impl.core.fetcher_thread import FetchErrorCode
from impl.sim.simulation import refusable
from impl.world.candidates import (
    ISR_IS_UNLOCKED,
    LEADS,
    each_connection,
    each_leader,
    each_pending_request,
    leads_unmet,
)
from impl.world.cluster import PartitionCluster
from impl.world.processes import PROCESS_IS_UP, each_broker
from impl.world.stepped.controller_run import FIRST

FOLLOWS = "the broker follows a leader"
HAS_NOT_FAILED = "the fetcher was not fenced: then it waits for the next LeaderAndIsr"
IDLE = "the connection to the leader is idle"
HAS_THE_OFFSET = "the leader's log reaches to the offset"
EPOCHS, RECORDS = "OffsetForLeaderEpoch", "Fetch"


def _answers_unmet(world: PartitionCluster, leader: int) -> str | None:
    """A process answers nothing while it is down, nor about a partition that is locked."""
    server = world.hosts[leader]
    if not server.up:
        return PROCESS_IS_UP
    return ISR_IS_UNLOCKED if server.locked else None


def _kind(world: PartitionCluster, follower: int, leader: int, is_answered: bool) -> str | None:
    """What is asked on a connection, or answered."""
    asked = world.hosts[follower].under_way(leader)
    if asked is None or (asked.replies is not None) != is_answered:
        return None
    return asked.kind


# A follower asks


def _asks_unmet(
    world: PartitionCluster, broker: int, truncating: bool, otherwise: str
) -> str | None:
    replicas = world.hosts[broker]
    if replicas.does != "follower":
        return FOLLOWS
    leader = replicas.partition.leader
    assert leader is not None, "a follower has a leader"
    if replicas.has_failed(leader):
        return HAS_NOT_FAILED
    if replicas.truncating != truncating:
        return otherwise
    return None if replicas.under_way(leader) is None else IDLE


def _asks_epoch_unmet(world: PartitionCluster, broker: int) -> str | None:
    return _asks_unmet(
        world, broker, True, "the follower has yet to compare its log with the leader's"
    )


def _asks_records_unmet(world: PartitionCluster, broker: int) -> str | None:
    return _asks_unmet(world, broker, False, "the follower has compared its log with the leader's")


def follower_asks(world: PartitionCluster, broker: int) -> None:
    """A round of the fetcher begins: OffsetForLeaderEpoch goes out, or a fetch."""
    replicas = world.hosts[broker]
    leader = replicas.partition.leader
    assert leader is not None, "a follower has a leader"
    replicas.ask(leader)


# A leader answers


def _answers_epoch_unmet(world: PartitionCluster, leader: int, follower: int) -> str | None:
    if _kind(world, follower, leader, is_answered=False) != EPOCHS:
        return "the follower has asked for the end of an epoch"
    return _answers_unmet(world, leader)


def _answers_fetch_unmet(world: PartitionCluster, leader: int, follower: int) -> str | None:
    if _kind(world, follower, leader, is_answered=False) != RECORDS:
        return "the follower has asked for records"
    return _answers_unmet(world, leader)


def _answers_in_session_unmet(world: PartitionCluster, leader: int, follower: int) -> str | None:
    """Whether a fetch is of a session is not for this partition to say: a fetcher has one session
    for all that it follows at a leader. It is distinguished where that makes a difference.
    """
    unmet = _answers_fetch_unmet(world, leader, follower)
    if unmet is not None:
        return unmet
    asked, partition = world.hosts[follower].under_way(leader), world.hosts[leader].partition
    assert asked is not None, "something was asked"
    question = asked.questions[FIRST]
    if not forgets_epochs(world.release):
        return "leaders forget the leader epochs of a session's fetches"
    if not partition.leads:
        return LEADS
    if question.leader_epoch == partition.leader_epoch:
        return "the fetch is of another leader epoch than the leader's"
    return None if question.offset <= partition.log_end else HAS_THE_OFFSET


def leader_answers(
    world: PartitionCluster, leader: int, follower: int, in_session: bool = False
) -> None:
    """The leader answers and records the follower's position; an error arrives at once."""
    connection = world.hosts[follower].connections[leader]
    assert connection.exchange is not None, "something was asked"
    answered = world.hosts[leader].answer(follower, connection.exchange, in_session)
    assert answered.replies is not None, "a leader answers"
    connection.exchange = answered
    if answered.replies[FIRST].error is not FetchErrorCode.NONE:
        connection.apply()


def leader_answers_in_session(world: PartitionCluster, leader: int, follower: int) -> None:
    """The leader answers a fetch of a session; up to 2.4 it does so in any leader epoch."""
    leader_answers(world, leader, follower, in_session=True)


# The follower applies the answer


def _truncates_unmet(world: PartitionCluster, follower: int, leader: int) -> str | None:
    if _kind(world, follower, leader, is_answered=True) != EPOCHS:
        return "the leader's answer about an epoch is on its way to the follower"
    return None if world.hosts[follower].up else PROCESS_IS_UP


def _appends_unmet(world: PartitionCluster, follower: int, leader: int) -> str | None:
    if _kind(world, follower, leader, is_answered=True) != RECORDS:
        return "the leader's answer to a fetch is on its way to the follower"
    return None if world.hosts[follower].up else PROCESS_IS_UP


def follower_applies(world: PartitionCluster, follower: int, leader: int) -> None:
    """Truncate to the leader's log (KIP-101, KIP-279), or append the fetched records; a response
    for another epoch or another log end is ignored.
    """
    world.hosts[follower].connections[leader].apply()


def _fetch_is_lost_unmet(world: PartitionCluster, follower: int, leader: int) -> str | None:
    if world.hosts[follower].under_way(leader) is None:
        return "something is on the connection from the follower to the leader"
    return None


def fetch_is_lost(world: PartitionCluster, follower: int, leader: int) -> None:
    """A request or its response is lost; the follower may ask again."""
    world.hosts[follower].connections[leader].exchange = None


# The leader's timers


def _advances_unmet(world: PartitionCluster, broker: int) -> str | None:
    unmet = leads_unmet(world, broker)
    if unmet is None and not world.hosts[broker].may_advance:
        return "every ISR member is known to reach beyond the high watermark"
    return unmet


def leader_advances_hw(world: PartitionCluster, broker: int) -> None:
    """Advance the high watermark to what every ISR member is known to have."""
    world.hosts[broker].partition.advance_now()


def _checkpoint_unmet(world: PartitionCluster, broker: int) -> str | None:
    if not world.hosts[broker].up:
        return PROCESS_IS_UP
    if world.hosts[broker].checkpoint.offset == world.hosts[broker].log.high_watermark:
        return "the high watermark differs from the checkpointed one"
    return None


def broker_checkpoints_hw(world: PartitionCluster, broker: int) -> None:
    """``checkpointHighWatermarks``, every 5 s in Kafka."""
    server = world.hosts[broker]
    server.checkpoint.write(server.log.high_watermark)


KINDS = (
    refusable(broker_checkpoints_hw, each_broker, _checkpoint_unmet),
    refusable(follower_asks, each_broker, _asks_epoch_unmet, name="follower_sends_epoch_request"),
    refusable(leader_answers, each_pending_request, _answers_epoch_unmet, "leader follower",
              name="leader_answers_epoch"),
    refusable(follower_applies, each_connection, _truncates_unmet, "follower leader",
              name="follower_truncates"),
    refusable(follower_asks, each_broker, _asks_records_unmet, name="follower_sends_fetch"),
    refusable(leader_answers, each_pending_request, _answers_fetch_unmet, "leader follower",
              name="leader_answers_fetch"),
    refusable(leader_answers_in_session, each_pending_request, _answers_in_session_unmet,
              "leader follower", name="leader_answers_fetch_in_session"),
    refusable(follower_applies, each_connection, _appends_unmet, "follower leader",
              name="follower_appends"),
    refusable(fetch_is_lost, each_connection, _fetch_is_lost_unmet, "follower leader"),
    refusable(leader_advances_hw, each_leader, _advances_unmet),
)  # fmt: skip
