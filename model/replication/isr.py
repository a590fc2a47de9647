"""A leader changes the ISR by conditional writes with its cached zkVersion, and handles answers.

ZooKeeper executes or refuses a write before the leader receives the answer. Between the two, the
process may crash, its session may end, and the controller may write the state; all other work of
the leader for the partition waits (`is_unlocked`). After a crash nobody receives the answer.

A write whose answer is lost is sent again, and refused, because the version has changed. After a
refusal the leader therefore reads back whether the registered state is its own write (KAFKA-1382).
An answer in flight still arrives after the session has ended. But then the leader cannot read back,
and gives up the write (ZooKeeperClientExpiredException), unless the broker has a new session.

If another write came by then, the leader cannot tell whether its own was executed before. Up to 2.6
it continues with its previous ISR: a replica that the lost write added may be elected, and the
leader commits without it. The claims assume `lost_isr_answer_blocks` instead.

Source: Partition.maybeShrinkIsr, maybeExpandIsr, ReplicationUtils.updateLeaderAndIsr,
checkLeaderAndIsrZkData, KafkaZkClient.conditionalUpdatePath, retryRequestsUntilConnected (2.3).
"""

from model.language import BLANK, all_of, not_, require, transition, version, when
from model.protocol.isr import (
    register_isr,
    require_cached_version,
    require_leadership,
    require_member,
    require_outdated_version,
    require_outsider,
)
from model.protocol.state import BROKERS
from model.replication.fetching import known_end
from model.replication.state import is_unlocked


def is_conditional(v):
    return v.isr_write_conditional


def is_read_back(v):
    return v.isr_write_read_back


def require_free_leader(now, leader):
    require_leadership(now, leader, now.replica[leader].role == "leader")
    require(is_unlocked(now, leader), "none of its ISR writes waits for an answer")


def require_laggard(now, leader, replica):
    # redundant "the broker believes it leads", because only who leads has an ISR.
    mine = now.replica[leader]
    # redundant "a leader never drops itself", because it is never behind itself.
    require_member(leader, replica, mine.isr)
    require(known_end(now, leader, replica) != now.log[leader].end,
                                                     "the replica is not known to be caught up")


def require_may_rejoin_isr(now, leader, replica):
    mine = now.replica[leader]
    require_outsider(replica, mine.isr)
    require(known_end(now, leader, replica) >= mine.hw,   "the replica has reached the HW")
    if version.isr_join_needs_epoch_start:                 # KAFKA-7128
        require(known_end(now, leader, replica) >= mine.epoch_start,
                                                          "it has reached the leader's epoch start")


def require_current(now, leader):
    """The write names the version that the leader cached (KAFKA-428); before, the write was
    unconditional."""
    if version.isr_write_conditional:
        require_cached_version(now.replica[leader].zk_version, now.zk.version)


def write_isr(now, new, leader, isr):
    """ZooKeeper executes the write: the leader epoch stays, only the version is raised."""
    version_after = now.zk.version + 1
    # Whoever knows the version of the state knows the state, and leads by it.
    mine  = now.replica[leader].controller_epoch
    epoch = mine if version.isr_writes_name_newest else now.zk.state_epoch
    register_isr(now, new, leader, isr)
    new.zk.state_epoch    = epoch
    new.isr_write[leader] = {
        "state": "applied", "isr": isr, "state_epoch": epoch, "version": version_after}


def refuse_isr(now, new, leader, isr):
    """ZooKeeper refuses the write: nothing changes, and the answer is in flight."""
    new.isr_write[leader] = {
        "state": "refused", "isr": isr, "state_epoch": now.replica[leader].controller_epoch,
        "version": 0}


@transition(leader=BROKERS, replica=BROKERS)
def leader_shrinks_isr(now, new, leader, replica):
    """ZooKeeper executes a leader's write that removes a lagging replica; the answer is in flight.

    Why:     the write is fenced by the version that the leader cached, so a deposed leader's write
             is refused.
    Refused: leader_shrink_is_refused
    """
    require_free_leader(now, leader)
    require_laggard(now, leader, replica)
    require_current(now, leader)

    write_isr(now, new, leader, now.replica[leader].isr.without(replica))


@transition(ends="refused", shows="refused_write",
            only=is_conditional, leader=BROKERS, replica=BROKERS)
def leader_shrink_is_refused(now, new, leader, replica):
    """The version that a leader names is outdated: ZooKeeper refuses to remove the replica."""
    require_free_leader(now, leader)
    require_laggard(now, leader, replica)
    require_outdated_version(now.replica[leader].zk_version, now.zk.version)

    refuse_isr(now, new, leader, now.replica[leader].isr.without(replica))


@transition(leader=BROKERS, replica=BROKERS)
def leader_expands_isr(now, new, leader, replica):
    """ZooKeeper executes a leader's write that adds a replica to the ISR.

    The replica has reached the leader's high watermark and its epoch's start offset.

    Refused: leader_expand_is_refused
    """
    # redundant "none of its ISR writes waits for an answer", because the version has moved by it,
    # or had moved before it.
    require_free_leader(now, leader)
    require_may_rejoin_isr(now, leader, replica)
    require_current(now, leader)

    write_isr(now, new, leader, now.replica[leader].isr.including(replica))


@transition(ends="refused", shows="refused_write",
            only=is_conditional, leader=BROKERS, replica=BROKERS)
def leader_expand_is_refused(now, new, leader, replica):
    """The version that a leader names is outdated: ZooKeeper refuses to add the replica."""
    require_free_leader(now, leader)
    require_may_rejoin_isr(now, leader, replica)
    require_outdated_version(now.replica[leader].zk_version, now.zk.version)

    refuse_isr(now, new, leader, now.replica[leader].isr.including(replica))


@transition(ends="lost", fault=True, only=is_conditional, leader=BROKERS)
def isr_answer_is_lost(now, new, leader):
    """The connection breaks after ZooKeeper executed the write, and the response is lost.

    The client sends it again, and finds that its own first attempt has raised the version.
    """
    require(now.isr_write[leader].state == "applied",      "its write was applied")

    new.isr_write[leader].state   = "refused"
    new.isr_write[leader].version = 0
    new.spent.losses = now.spent.losses + 1


def adopt_written_isr(now, new, leader, state_version):
    """The leader adopts the ISR that it wrote, and the version under which it is registered."""
    mine, isr = now.replica[leader], now.isr_write[leader].isr
    if version.isr_write_locks:                            # else it may lead no more
        new.replica[leader].isr    = isr
    else:
        new.replica[leader].isr    = when(mine.role == "leader", isr, mine.isr)
    new.replica[leader].zk_version = state_version
    new.isr_write[leader]          = BLANK


@transition(leader=BROKERS)
def leader_learns_isr_is_written(now, new, leader):
    """The answer arrives: the leader adopts the ISR, and the version after its write.

    Why:   it may be late. A leader that is deposed already adopts the ISR of its write.
    Kafka: from 2.7 the controller answers (Partition.handleAlterIsrResponse, CommittedIsr)
    """
    require(now.isr_write[leader].state == "applied",      "its write was applied")

    adopt_written_isr(now, new, leader, now.isr_write[leader].version)


def is_its_own(now, leader):
    """checkLeaderAndIsrZkData: the registered state equals the one that the leader tried to write.
    """
    write, zk = now.isr_write[leader], now.zk
    its = all_of(
        zk.leader == leader, zk.leader_epoch == now.replica[leader].epoch, zk.isr == write.isr)
    if version.isr_writes_name_newest:
        return all_of(its, zk.state_epoch == write.state_epoch)
    return its                                   # of one leader epoch, so of one controller's


@transition(only=is_read_back, leader=BROKERS)
def leader_finds_isr_written(now, new, leader):
    """The write was refused; the leader reads the state back and finds what it wrote: success.

    Kafka: KAFKA-1382, ReplicationUtils.checkLeaderAndIsrZkData
    """
    require(now.isr_write[leader].state == "refused",      "its write was refused")
    require(now.zk.registered.has(leader),                "it has a ZooKeeper session")
    require(is_its_own(now, leader),                      "the registered state is what it wrote")

    adopt_written_isr(now, new, leader, now.zk.version)
    new.gave_up = now.gave_up.without(leader)


def continue_without_write(now, new, leader):
    """The leader continues as if the write had not been executed, although it may have been."""
    mine, write = now.replica[leader], now.isr_write[leader]
    if version.lost_isr_answer_blocks:                     # KIP-497: the larger of the two ISRs
        new.replica[leader].isr = when(mine.isr.is_subset_of(write.isr), write.isr, mine.isr)
    new.isr_write[leader]       = BLANK


@transition(ends="refused", only=is_conditional, leader=BROKERS)
def leader_learns_isr_is_refused(now, new, leader):
    """Another broker wrote the state: "Cached zkVersion not equal to that in zookeeper".

    Nothing changes.

    A deposed leader does not notice by this that it is deposed.
    """
    require(now.isr_write[leader].state == "refused",      "its write was refused")
    if version.isr_write_read_back:
        require(now.zk.registered.has(leader),            "it has a ZooKeeper session")
        require(not_(is_its_own(now, leader)),            "the registered state is another write")

    continue_without_write(now, new, leader)


@transition(only=is_read_back, leader=BROKERS)
def leader_gives_up_isr_write(now, new, leader):
    """The session ended before the write could be read back: the leader keeps ISR and version.

    Why:   if the write was its own, the leader's version is out of date until it receives a new
           leader epoch, or tries the same change again and finds it written.
    Kafka: ZooKeeperClientExpiredException out of KafkaZkClient.retryRequestsUntilConnected
    """
    require(now.isr_write[leader].state == "refused",      "its write was refused")
    require(not_(now.zk.registered.has(leader)),          "its session has expired")

    continue_without_write(now, new, leader)
    new.gave_up           = now.gave_up.including(leader)
