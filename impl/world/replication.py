"""Steps of replication: epoch questions, fetches, the high watermark and its checkpoint."""

from __future__ import annotations

from impl.core.fetch_sessions import forgets_epochs
from impl.core.fetcher_thread import FetcherError, FetchQuestion
from impl.sim.world_of_steps import refusable
from impl.world.candidates import (
    ISR_IS_UNLOCKED,
    LEADS,
    each_connection,
    each_leader,
    each_question,
)
from impl.world.cluster import PartitionCluster
from impl.world.processes import PROCESS_IS_UP, each_broker

FOLLOWS = "the broker follows a leader"
HAS_NOT_FAILED = "the fetcher was not fenced: then it waits for the next LeaderAndIsr"
IDLE = "the connection to the leader is idle"
HAS_THE_OFFSET = "the leader's log reaches to the offset"


def _leads_unmet(world: PartitionCluster, broker: int) -> str | None:
    replicas = world.brokers[broker].replicas
    if not replicas.partition.leads:
        return LEADS
    return ISR_IS_UNLOCKED if replicas.locked else None


def _answers_unmet(world: PartitionCluster, leader: int) -> str | None:
    """A process answers nothing while it is down, nor about a partition that is locked."""
    server = world.brokers[leader]
    if not server.up:
        return PROCESS_IS_UP
    return ISR_IS_UNLOCKED if server.replicas.locked else None


# A follower asks


def _asks_unmet(
    world: PartitionCluster, broker: int, truncating: bool, otherwise: str
) -> str | None:
    replicas = world.brokers[broker].replicas
    if replicas.role != "follower":
        return FOLLOWS
    leader = replicas.partition.leader
    assert leader is not None, "a follower has a leader"
    if replicas.has_failed(leader):
        return HAS_NOT_FAILED
    if replicas.truncating != truncating:
        return otherwise
    return None if world.network.fetch[broker, leader] is None else IDLE


def _asks_epoch_unmet(world: PartitionCluster, broker: int) -> str | None:
    return _asks_unmet(
        world, broker, True, "the follower has yet to compare its log with the leader's"
    )


def _asks_records_unmet(world: PartitionCluster, broker: int) -> str | None:
    return _asks_unmet(world, broker, False, "the follower has compared its log with the leader's")


def follower_asks(world: PartitionCluster, broker: int) -> None:
    """A round of the fetcher begins: OffsetForLeaderEpoch goes out, or a fetch."""
    replicas = world.brokers[broker].replicas
    leader = replicas.partition.leader
    assert leader is not None, "a follower has a leader"
    world.network.fetch[broker, leader] = replicas.ask(leader)


# A leader answers


def _answers_epoch_unmet(world: PartitionCluster, leader: int, follower: int) -> str | None:
    slot = world.network.fetch.get((follower, leader))
    if slot is None or slot.reply is not None or not slot.asks_epoch:
        return "the follower has asked for the end of an epoch"
    return _answers_unmet(world, leader)


def _answers_fetch_unmet(world: PartitionCluster, leader: int, follower: int) -> str | None:
    slot = world.network.fetch.get((follower, leader))
    if slot is None or slot.reply is not None or slot.asks_epoch:
        return "the follower has asked for records"
    return _answers_unmet(world, leader)


def _answers_in_session_unmet(world: PartitionCluster, leader: int, follower: int) -> str | None:
    """Whether a fetch is of a session is not for this partition to say: a fetcher has one session
    for all that it follows at a leader. It is distinguished where that makes a difference.
    """
    unmet = _answers_fetch_unmet(world, leader, follower)
    if unmet is not None:
        return unmet
    slot, partition = (
        world.network.fetch[follower, leader],
        world.brokers[leader].replicas.partition,
    )
    assert slot is not None, "something was asked"
    assert isinstance(slot.question, FetchQuestion), "for records"
    if not forgets_epochs(world.release):
        return "leaders forget the leader epochs of a session's fetches"
    if not partition.leads:
        return LEADS
    if slot.question.leader_epoch == partition.leader_epoch:
        return "the fetch is of another leader epoch than the leader's"
    return None if slot.question.offset <= partition.log_end else HAS_THE_OFFSET


def leader_answers(
    world: PartitionCluster, leader: int, follower: int, in_session: bool = False
) -> None:
    """The answer goes out, and the leader notes where the follower is; an error arrives at once."""
    question = world.network.fetch[follower, leader]
    assert question is not None, "something was asked"
    answered = world.brokers[leader].replicas.answer(follower, question, in_session)
    assert answered.reply is not None, "a leader answers"
    if answered.reply.error is not FetcherError.NONE:
        world.network.fetch[follower, leader] = None
        world.brokers[follower].replicas.apply(leader, answered)
    else:
        world.network.fetch[follower, leader] = answered


def leader_answers_in_session(world: PartitionCluster, leader: int, follower: int) -> None:
    """A fetch of a session is answered: up to 2.4 in whatever leader epoch it is."""
    leader_answers(world, leader, follower, in_session=True)


# The follower applies the answer


def _truncates_unmet(world: PartitionCluster, follower: int, leader: int) -> str | None:
    slot = world.network.fetch.get((follower, leader))
    if slot is None or slot.reply is None or not slot.asks_epoch:
        return "the leader's answer about an epoch is on its way to the follower"
    return None if world.brokers[follower].up else PROCESS_IS_UP


def _appends_unmet(world: PartitionCluster, follower: int, leader: int) -> str | None:
    slot = world.network.fetch.get((follower, leader))
    if slot is None or slot.reply is None or slot.asks_epoch:
        return "the leader's answer to a fetch is on its way to the follower"
    return None if world.brokers[follower].up else PROCESS_IS_UP


def follower_applies(world: PartitionCluster, follower: int, leader: int) -> None:
    """Cut what the leader does not have (KIP-101, KIP-279), or append what was fetched; one that
    is not for the current epoch, or not for this very log end, is ignored.
    """
    answer = world.network.fetch[follower, leader]
    assert answer is not None, "something was answered"
    world.network.fetch[follower, leader] = None
    world.brokers[follower].replicas.apply(leader, answer)


def _fetch_is_lost_unmet(world: PartitionCluster, follower: int, leader: int) -> str | None:
    if world.network.fetch.get((follower, leader)) is None:
        return "something is on the connection from the follower to the leader"
    return None


def fetch_is_lost(world: PartitionCluster, follower: int, leader: int) -> None:
    """A question or an answer never arrives; the follower may ask again."""
    world.network.fetch[follower, leader] = None


# The leader's timers


def _advances_unmet(world: PartitionCluster, broker: int) -> str | None:
    unmet = _leads_unmet(world, broker)
    if unmet is None and not world.brokers[broker].replicas.may_advance:
        return "every ISR member is known to reach beyond the high watermark"
    return unmet


def leader_advances_hw(world: PartitionCluster, broker: int) -> None:
    """Commit what every ISR member is known to have."""
    world.brokers[broker].replicas.partition.advance_now()


def _checkpoint_unmet(world: PartitionCluster, broker: int) -> str | None:
    if not world.brokers[broker].up:
        return PROCESS_IS_UP
    if world.brokers[broker].checkpoint.offset == world.brokers[broker].replicas.log.high_watermark:
        return "the high watermark differs from the checkpointed one"
    return None


def broker_checkpoints_hw(world: PartitionCluster, broker: int) -> None:
    """``checkpointHighWatermarks``, every 5 s in Kafka."""
    server = world.brokers[broker]
    server.checkpoint.write(server.replicas.log.high_watermark)


KINDS = (
    refusable(broker_checkpoints_hw, each_broker, _checkpoint_unmet),
    refusable(follower_asks, each_broker, _asks_epoch_unmet, name="follower_sends_epoch_request"),
    refusable(leader_answers, each_question, _answers_epoch_unmet, "leader follower",
              name="leader_answers_epoch"),
    refusable(follower_applies, each_connection, _truncates_unmet, "follower leader",
              name="follower_truncates"),
    refusable(follower_asks, each_broker, _asks_records_unmet, name="follower_sends_fetch"),
    refusable(leader_answers, each_question, _answers_fetch_unmet, "leader follower",
              name="leader_answers_fetch"),
    refusable(leader_answers_in_session, each_question, _answers_in_session_unmet,
              "leader follower", name="leader_answers_fetch_in_session"),
    refusable(follower_applies, each_connection, _appends_unmet, "follower leader",
              name="follower_appends"),
    refusable(fetch_is_lost, each_connection, _fetch_is_lost_unmet, "follower leader"),
    refusable(leader_advances_hw, each_leader, _advances_unmet),
)  # fmt: skip
