"""Claims about replication: committed records are never lost, and logs agree below the HW.

No claim says that a follower's high watermark never decreases. It does if its next leader has
not yet learned the latest one. Consumers see the high watermark of an acting leader.
"""

from model.language import (
    all_of,
    always,
    always_eventually,
    always_step,
    any_of,
    below,
    every,
    implies,
    not_,
    some,
    sometimes,
    when,
)
from model.protocol.state import BROKERS
from model.replication.state import OFFSETS, is_unlocked


def holds_committed(now, broker):
    """Every committed record is in the broker's log, at its offset."""
    return all_of(
        now.committed.end <= now.log[broker].end,
        every(below(OFFSETS, now.committed.end),
              lambda o: now.log[broker][o] == now.committed.at[o]))


@always("every committed record is in the log of the registered leader, at its offset, and no two "
        "records are ever committed at one offset",
        companion="a_commit_survives_an_election")
def no_message_loss(now):
    return all_of(
        not_(now.committed_twice),
        every(BROKERS, lambda b: implies(now.zk.leader == b, holds_committed(now, b))))


@always("every member of the registered ISR holds every committed record",
        companion="a_commit_survives_an_election")
def isr_holds_committed(now):
    return every(BROKERS, lambda b: implies(now.zk.isr.has(b), holds_committed(now, b)))


@always("any two logs hold the same records below both high watermarks",
        companion="two_replicas_have_a_high_watermark")
def log_matching(now):
    return every(BROKERS, lambda one: every(BROKERS, lambda other: every(OFFSETS, lambda o: implies(
        all_of(o < now.replica[one].hw, o < now.replica[other].hw),
        all_of(
            o < now.log[one].end, o < now.log[other].end,
            now.log[one][o] == now.log[other][o])))))


@always("no two brokers lead in one leader epoch", companion="two_brokers_believe_they_lead")
def leader_unique(now):
    return every(BROKERS, lambda one: every(BROKERS, lambda other: implies(
        all_of(now.replica[one].role == "leader", now.replica[other].role == "leader",
               now.replica[one].epoch == now.replica[other].epoch),
        one == other)))


@always("the registered leader, if there is one, is in the registered ISR",
        companion="a_leader_is_elected")
def leader_in_isr(now):
    return every(BROKERS, lambda b: implies(now.zk.leader == b, now.zk.isr.has(b)))


@always_step("the registered leader epoch never goes back, and the zkVersion of the state grows "
             "whenever it is written, and only then",
             companion="a_leader_is_elected")
def leader_epoch_never_falls(now, after):
    untouched = all_of(
        after.zk.leader == now.zk.leader, after.zk.leader_epoch == now.zk.leader_epoch,
        after.zk.isr == now.zk.isr, after.zk.state_epoch == now.zk.state_epoch)
    return all_of(
        after.zk.leader_epoch >= now.zk.leader_epoch,
        when(untouched, after.zk.version == now.zk.version, after.zk.version > now.zk.version))


@always_step("the high watermark of a broker never falls as long as it believes it leads",
             companion="a_commit_survives_an_election")
def hw_never_falls(now, after):
    return every(BROKERS, lambda b: implies(
        all_of(now.replica[b].role == "leader", after.replica[b].role == "leader"),
        after.replica[b].hw >= now.replica[b].hw))


@always_eventually("a follower whose leader leads in the follower's own epoch, and waits for no "
                   "answer to an ISR write, has cut its log where it must, and has every record of "
                   "the leader",
                   fair=("follower_sends_epoch_request", "leader_answers_epoch",
                         "leader_refuses_epoch", "follower_truncates", "epoch_answer_is_ignored",
                         "follower_sends_fetch", "leader_answers_fetch", "leader_refuses_fetch",
                         "follower_appends", "fetch_answer_is_ignored",
                         "leader_learns_isr_is_written", "leader_learns_isr_is_refused",
                         "leader_finds_isr_written", "leader_gives_up_isr_write"))
def followers_catch_up(now):
    return every(BROKERS, lambda follower: every(BROKERS, lambda leader: implies(
        all_of(now.replica[follower].role == "follower", now.replica[follower].leader == leader,
               now.replica[leader].role == "leader",
               now.replica[leader].epoch == now.replica[follower].epoch,
               is_unlocked(now, leader)),
        all_of(not_(now.replica[follower].truncating),
               now.log[follower].end == now.log[leader].end))))


@sometimes("a leader is registered")
def a_leader_is_elected(now):
    return some(BROKERS, lambda b: now.zk.leader == b)


@sometimes("a record is committed, and a later epoch has a leader")
def a_commit_survives_an_election(now):
    return some(BROKERS, lambda b: all_of(
        now.committed.end > 0,
        now.replica[b].role == "leader",
        now.replica[b].epoch > now.committed.at[0].epoch))


@sometimes("two replicas have a high watermark above zero")
def two_replicas_have_a_high_watermark(now):
    return some(BROKERS, lambda one: some(BROKERS, lambda other: all_of(
        one != other, now.replica[one].hw > 0, now.replica[other].hw > 0)))


@sometimes("two brokers believe they lead, under different epochs")
def two_brokers_believe_they_lead(now):
    return some(BROKERS, lambda one: some(BROKERS, lambda other: all_of(
        now.replica[one].role == "leader", now.replica[other].role == "leader",
        now.replica[one].epoch < now.replica[other].epoch)))


@sometimes("a fetch request of an older epoch is still on its way to a deposed leader")
def an_old_fetch_is_in_flight(now):
    return some(BROKERS, lambda follower: some(BROKERS, lambda leader: all_of(
        any_of(now.fetch[follower][leader].state == "asks_records",
               now.fetch[follower][leader].state == "records_are_answered"),
        now.replica[follower].epoch > now.fetch[follower][leader].epoch)))


CLAIMS = (
    no_message_loss, isr_holds_committed, log_matching, leader_unique, leader_in_isr,
    leader_epoch_never_falls, hw_never_falls, followers_catch_up,
    a_leader_is_elected, a_commit_survives_an_election, two_replicas_have_a_high_watermark,
    two_brokers_believe_they_lead, an_old_fetch_is_in_flight)
