"""A leader changes the ISR by a conditional write with its cached zkVersion, step by step.

From sending the write until it knows the outcome, the leader changes neither its ISR nor its high
watermark: the write is synchronous, under the lock that guards both. So it makes no difference
whether the leader adopts the written ISR as soon as ZooKeeper executed the write, or later.

Source: Partition.maybeShrinkIsr, maybeExpandIsr, ReplicationUtils.updateLeaderAndIsr (2.3).
"""

from model.language import SetOf, require, transition, version
from model.replication.history.state import BROKERS, EPOCHS


def require_no_isr_write_in_flight(now, broker):
    """The broker leads, and none of its ISR writes is under way."""
    require(now.replica[broker].role == "leading",          "the broker believes it leads")
    require(now.leader[now.replica[broker].epoch].write == "none",
                                                            "none of its ISR writes is under way")


@transition(broker=BROKERS, isr=SetOf(BROKERS))
def leader_shrinks_isr(now, new, broker, isr):
    """A leader sends a smaller ISR to ZooKeeper; which followers lag is not safety's affair."""
    epoch = now.replica[broker].epoch
    # redundant because of two writes the older is in force already, or would never be sent.
    require_no_isr_write_in_flight(now, broker)
    require(isr.has(broker),                                "the leader stays in its ISR")
    require(isr.is_subset_of(now.leader[epoch].isr),        "no broker is added")

    new.leader[epoch].write       = "sent"
    new.leader[epoch].written_isr = isr


@transition(broker=BROKERS, follower=BROKERS)
def leader_expands_isr(now, new, broker, follower):
    """A leader sends an ISR with a follower that has reached its HW and the start of its epoch."""
    mine = now.replica[broker]
    epoch, known = mine.epoch, now.leader[mine.epoch].known_end[follower]
    # redundant because of two writes the older is in force already, or would never be sent.
    require_no_isr_write_in_flight(now, broker)
    require(known >= mine.hw,                               "the follower has reached the HW")
    if version.isr_join_needs_epoch_start:                  # KAFKA-7128
        require(known >= now.leader[epoch].start,           "it has reached the epoch's start")

    new.leader[epoch].write       = "sent"
    new.leader[epoch].written_isr = now.leader[epoch].isr.including(follower)


@transition(epoch=EPOCHS)
def isr_write_is_executed(now, new, epoch):
    """ZooKeeper executes the write: its version is current. The sender may be dead by now."""
    mine = now.leader[epoch]
    require(mine.write == "sent",                           "an ISR write is on its way")
    if version.isr_write_conditional:                       # KAFKA-428
        require(mine.zk_version == now.zk.version,          "the version that it names is current")

    bumped = now.zk.version + 1
    new.zk            = now.zk.but(isr=mine.written_isr, version=bumped)
    new.leader[epoch] = mine.but(
        write="executed", isr=mine.written_isr, zk_version=bumped,
        isr_before=mine.isr, version_before=mine.zk_version)


@transition(ends="refused", only=lambda v: v.isr_write_conditional, epoch=EPOCHS)
def isr_write_is_refused(now, new, epoch):
    """The version is out of date, and the leader goes on without the write.

    It cannot tell this from the refusal of a write that it sent again: so it counts on the larger
    of the two ISRs here, too.
    Kafka: "Cached zkVersion not equal to that in zookeeper, skip updating ISR"
    """
    mine = now.leader[epoch]
    require(mine.write == "sent",                           "an ISR write is on its way")
    require(mine.zk_version != now.zk.version,              "the version that it names is old")

    isr = mine.isr.joined(mine.written_isr) if version.lost_isr_answer_blocks else mine.isr
    new.leader[epoch] = mine.but(write="none", isr=isr)


@transition(epoch=EPOCHS)
def isr_write_response_arrives(now, new, epoch):
    """The answer arrives, however late: the leader works with the ISR that it wrote."""
    # redundant because the ISR is in force since it was executed, and nothing else hangs on it.
    require(now.leader[epoch].write == "executed",          "the write was executed, and answered")

    new.leader[epoch].write = "none"


@transition(ends="lost", fault=True, epoch=EPOCHS)
def isr_answer_is_lost(now, new, epoch):
    """The connection breaks after ZooKeeper executed the write: the leader knows nothing."""
    require(now.leader[epoch].write == "executed",          "the write was executed, and answered")

    new.leader[epoch].write = "unanswered"


@transition(shows="read", epoch=EPOCHS)
def leader_reads_its_isr_back(now, new, epoch):
    """The retried write is refused, but the state is what the leader wrote: it was done.

    Kafka: ReplicationUtils.checkLeaderAndIsrZkData, KAFKA-1382
    """
    # redundant because the ISR is in force since it was executed; so for the next two.
    require(now.leader[epoch].write == "unanswered",        "the write's answer was lost")
    # redundant because of the same.
    require(now.zk.epoch == epoch,                          "the state has the leader's epoch")
    # redundant because of the same.
    require(now.zk.isr == now.leader[epoch].written_isr,    "it has the ISR that was written")

    new.leader[epoch].write = "none"


@transition(epoch=EPOCHS)
def leader_finds_isr_registered(now, new, epoch):
    """The write is refused, but its ISR is registered: an earlier write of the leader did it.

    Why:   a leader that gave up a write which was executed has an old version, and tries again.
    Kafka: ReplicationUtils.checkLeaderAndIsrZkData, KAFKA-1382
    """
    mine = now.leader[epoch]
    require(mine.write == "sent",                           "an ISR write is on its way")
    require(now.zk.epoch == epoch,                          "the state has the leader's epoch")
    require(now.zk.isr == mine.written_isr,                 "it has the ISR that the write says")

    new.leader[epoch] = mine.but(write="none", isr=mine.written_isr, zk_version=now.zk.version)


@transition(epoch=EPOCHS)
def leader_gives_up_isr_write(now, new, epoch):
    """The answer was lost, and cannot be had: the state is another's by now, or the session ended.

    The leader keeps its version, which is out of date if the write was executed. But it counts on
    the larger of the two ISRs: whom it took in may have been elected since.
    Why:   else it no longer waits for that follower, and commits what the follower never saw.
    Kafka: up to 2.6 it goes on with its old ISR; from 2.7 both count (KIP-497)
    """
    mine = now.leader[epoch]
    require(mine.write == "unanswered",                     "the write's answer was lost")

    isr = mine.isr_before
    if version.lost_isr_answer_blocks:
        isr = mine.isr.joined(mine.isr_before)
    new.leader[epoch] = mine.but(write="none", isr=isr, zk_version=mine.version_before)
