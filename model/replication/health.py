"""Claims whose violation leaves the partition stuck, because no step repairs such a state."""

from model.language import (
    all_of,
    always,
    any_of,
    below,
    every,
    implies,
    not_,
    some,
    sometimes,
)
from model.protocol.state import BROKERS
from model.replication.state import OFFSETS


@always("a follower that fetches from the leader of its own epoch has nothing but the leader's "
        "records, each at its offset",
        companion="two_replicas_have_a_high_watermark")
def fetchers_match_their_leader(now):
    return every(BROKERS, lambda follower: every(BROKERS, lambda leader: implies(
        fetches_from(now, follower, leader),
        all_of(
            now.log[follower].end <= now.log[leader].end,
            every(below(OFFSETS, now.log[follower].end),
                  lambda o: now.log[follower][o] == now.log[leader][o])))))


def fetches_from(now, follower, leader):
    return all_of(
        now.replica[follower].role == "follower", not_(now.replica[follower].truncating),
        now.replica[follower].leader == leader, now.replica[leader].role == "leader",
        now.replica[follower].epoch == now.replica[leader].epoch)


@always("a leader in the registered leader epoch knows the registered ISR and zkVersion, unless "
        "it waits for the response to its own write, or gave that write up when its session ended",
        companion="isr_write_response_is_pending")
def leader_is_current(now):
    return every(BROKERS, lambda b: implies(
        all_of(now.replica[b].role == "leader", now.replica[b].epoch == now.zk.leader_epoch),
        any_of(
            all_of(now.replica[b].zk_version == now.zk.version, now.replica[b].isr == now.zk.isr),
            now.isr_write[b].state != "none",
            now.gave_up.has(b))))


@always("the registered ISR has a member, so that somebody can be elected",
        companion="a_leader_is_elected")
def isr_is_never_empty(now):
    return some(BROKERS, lambda b: now.zk.isr.has(b))


@always("the broker in /controller acts as the controller, or has not learned yet that it won, as "
        "long as its process runs",
        companion="a_leader_is_elected")
def registered_controller_is_active(now):
    return every(BROKERS, lambda b: implies(
        all_of(now.zk.controller == b, now.up.has(b)),
        any_of(now.belief[b] == now.zk.epoch, now.campaign[b] == now.zk.epoch)))


@always("the high watermark that a broker started with stays in its checkpoint until it is "
        "notified of the partition",
        companion="a_high_watermark_is_checkpointed")
def checkpoint_survives_start(now):
    return every(BROKERS, lambda b: implies(
        all_of(now.up.has(b), now.replica[b].role == "none"),
        now.replica[b].checkpoint >= now.replica[b].hw))


@sometimes("a leader's ISR write was applied, and the leader has not learned that")
def isr_write_response_is_pending(now):
    return some(BROKERS, lambda b: now.isr_write[b].state == "applied")


@sometimes("a high watermark above zero is checkpointed")
def a_high_watermark_is_checkpointed(now):
    return some(BROKERS, lambda b: now.replica[b].checkpoint > 0)


HEALTH = (
    fetchers_match_their_leader, leader_is_current, isr_is_never_empty,
    registered_controller_is_active, checkpoint_survives_start, isr_write_response_is_pending,
    a_high_watermark_is_checkpointed)
