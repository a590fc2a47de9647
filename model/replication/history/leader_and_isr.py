"""The controller elects by a conditional write; brokers obey a request with a newer epoch.

`election` covers which broker is the controller, and that a deposed controller writes nothing. An
election here is only its fenced, conditional write.
"""

from model.language import (
    BLANK,
    NOBODY,
    SetOf,
    all_of,
    any_of,
    lam,
    larger,
    literal,
    not_,
    require,
    transition,
    version,
    when,
)
from model.replication.history.state import BROKERS, ENDS, EPOCHS, ROLES


def write_leader_and_isr(now, new, isr, **names):
    """The next leader epoch, and its LeaderAndIsr to every broker."""
    epoch, bumped = now.zk.epoch + 1, now.zk.version + 1
    new.zk = now.zk.but(epoch=epoch, isr=isr, version=bumped, **names)
    new.request[epoch] = now.request[epoch].but(sent=True, isr=isr, version=bumped, **names)


@transition(leader=BROKERS, isr=SetOf(BROKERS))
def controller_elects_leader(now, new, leader, isr):
    """The controller makes an ISR member the leader, and keeps a part of the ISR.

    Any member may win, and any others be dropped, alive or not: safety does not depend on it.
    Kafka: ZkPartitionStateMachine.doElectLeaderForPartitions
    """
    require(isr.has(leader),                        "the new leader is in the new ISR")
    if not version.unclean_leader_election:
        require(isr.is_subset_of(now.zk.isr),       "the new ISR is part of the registered one")

    write_leader_and_isr(now, new, isr, named=True, leader=leader)


@transition(isr=SetOf(BROKERS))
def controller_writes_no_leader(now, new, isr):
    """No member of the ISR is alive: the controller takes the leader away, and keeps an ISR."""
    # redundant because safety does not need that somebody can be elected again.
    require(not_(isr.is_empty()),                   "the ISR keeps a member")
    require(isr.is_subset_of(now.zk.isr),           "the new ISR is part of the registered one")

    write_leader_and_isr(now, new, isr, named=False)


@transition(broker=BROKERS, epoch=EPOCHS)
def broker_becomes_leader(now, new, broker, epoch):
    """A broker becomes leader with the ISR and version it is sent, and its log as it is.

    Kafka: Partition.makeLeader
    """
    request, mine = now.request[epoch], now.replica[broker]
    require(request.sent,                           "the request was sent")
    require(request.named,                          "it names a leader")
    require(request.leader == broker,               "it names this broker")
    if version.leader_epoch_checked:                # KAFKA-1188
        require(epoch > mine.epoch,                 "the leader epoch is newer than the broker's")

    new.replica[broker] = mine.but(role="leading", epoch=epoch)
    new.answer[broker]  = BLANK
    new.leader[epoch]   = now.leader[epoch].but(
        isr=request.isr, zk_version=request.version, start=now.log[broker].end,
        known_end=lam(BROKERS, lambda other: None), write="none", written_isr=[], isr_before=[],
        version_before=0)
    new.began[epoch]        = True
    new.newest              = larger(now.newest, epoch)
    new.history[epoch]      = now.log[broker]
    new.committed_in[epoch] = 0
    new.gone                = lam(EPOCHS, lambda older: when(
        all_of(now.newest <= older, older < epoch), broker, now.gone[older]))


@transition(broker=BROKERS, epoch=EPOCHS)
def broker_becomes_follower(now, new, broker, epoch):
    """A broker follows, and must first find where its log leaves the leader's, if it has records.

    After a restart it may be notified of its own epoch again; no leader named is no leader to
    follow.
    Kafka: Partition.makeFollower
    """
    request, mine = now.request[epoch], now.replica[broker]
    again = all_of(mine.role == "down", mine.epoch == epoch)
    require(request.sent,                           "the request was sent")
    require(not_(all_of(request.named, request.leader == broker)),
                                                    "it does not name this broker the leader")
    if version.leader_epoch_checked:
        require(any_of(mine.epoch < epoch, again),  "it is news, or the broker has restarted")

    asks_at_once = all_of(request.named, now.log[broker].end == 0)
    new.replica[broker] = mine.but(epoch=epoch, role=when(
        asks_at_once, literal(ROLES, "following"), literal(ROLES, "truncating")))
    new.answer[broker]  = BLANK


@transition()
def controller_resends_state(now, new):
    """The leader's process died unnoticed: the controller sends its next process the state.

    As nobody leads the epoch meanwhile, what it is sent may stand there at once.
    Kafka: ReplicaStateMachine.startup, KafkaController.onBrokerStartup
    """
    epoch, leader = now.zk.epoch, now.replica[now.zk.leader]
    require(now.zk.named,                           "a leader is registered")
    # redundant because an active leader may count on the registered ISR, too: it is current.
    require(leader.role == "down",                  "it was notified of nothing since it started")
    # redundant because what nobody leads by yet is written again by who becomes leader.
    require(leader.epoch == epoch,                  "it led in the registered epoch before")

    new.leader[epoch] = now.leader[epoch].but(
        isr=now.zk.isr, zk_version=now.zk.version, write="none", written_isr=[], isr_before=[],
        version_before=0)


@transition(broker=BROKERS)
def broker_leads_again(now, new, broker):
    """A leader that crashed and restarted unnoticed leads in its own epoch again.

    Its epoch starts again at the end of its log, which holds all that it committed, though its high
    watermark may have fallen below that; it knows nothing of the others. What it wrote before is
    executed by now, or never will be: its old session ended before the new one began.
    Kafka: Partition.makeLeader, after KafkaController.onBrokerStartup
    """
    mine = now.replica[broker]
    request, leader = now.request[mine.epoch], now.leader[mine.epoch]
    # redundant because a leader that forgets what it knows of the others does no harm.
    require(mine.role == "down",                    "it was notified of nothing since it started")
    require(request.sent,                           "it was notified of an epoch before")
    require(request.named,                          "its epoch has a leader")
    require(request.leader == broker,               "that is this broker")

    new.replica[broker].role = "leading"
    new.leader[mine.epoch]   = leader.but(
        start=now.log[broker].end, known_end=lam(BROKERS, lambda other: None), write="none",
        written_isr=[], isr_before=[], version_before=0)


@transition(actor=NOBODY, ends="lost", fault=True, broker=BROKERS, hw=ENDS)
def broker_crashes(now, new, broker, hw):
    """A process dies. Its log stays; its high watermark falls back to an older checkpoint.

    Why:   it keeps its epoch in effect: requests for the incarnation that died are refused.
    Kafka: KIP-380
    """
    mine = now.replica[broker]
    require(hw <= mine.hw,                          "the checkpoint is not newer than the HW")

    epoch = mine.epoch if version.broker_epoch else 0
    new.replica[broker] = mine.but(role="down", hw=hw, epoch=epoch)
    new.answer[broker]  = BLANK
