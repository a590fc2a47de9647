"""The leader's own hand on the ISR: conditional writes by its cached zkVersion.

Source: Partition.maybeShrinkIsr, maybeExpandIsr, ReplicationUtils.updateLeaderAndIsr (2.3).
"""

from model.language import not_, require, transition, version
from model.protocol.state import BROKERS
from model.replication.fetching import known_end


def is_conditional(v):
    return v.isr_write_conditional


def is_read_back(v):
    return v.isr_write_read_back


def require_office(now, leader):
    require(now.replica[leader].role == "leader",          "the broker believes it leads")
    require(now.zk.registered.has(leader),                "it has a ZooKeeper session")


def register_isr(now, new, leader, isr):
    """No new leader epoch: only the version moves."""
    new.zk = now.zk.but(
        leader=leader, leader_epoch=now.replica[leader].epoch, isr=isr,
        state_epoch=now.replica[leader].controller_epoch, version=now.zk.version + 1)


def write_isr(now, new, leader, isr):
    """The leader adopts what it wrote, and the version after it, at once."""
    register_isr(now, new, leader, isr)
    new.replica[leader].isr        = isr
    new.replica[leader].zk_version = now.zk.version + 1


def require_current(now, leader):
    """The write names the version that the leader cached (KAFKA-428); before, any would do."""
    if version.isr_write_conditional:
        require(now.replica[leader].zk_version == now.zk.version, "the cached version is current")


def require_laggard(now, leader, replica):
    mine = now.replica[leader]
    require(leader != replica,                            "a leader never drops itself")
    require(mine.isr.has(replica),                        "the replica is in the leader's ISR")
    require(known_end(now, leader, replica) != now.log[leader].end,
                                                     "the replica is not known to be caught up")


@transition(leader=BROKERS, replica=BROKERS)
def leader_shrinks_isr(now, new, leader, replica):
    """A leader drops a lagging replica by a conditional write to ZooKeeper.

    Why:     the write is fenced by the version that the leader cached, so a deposed leader loses.
    Refused: leader_shrink_is_refused
    """
    mine = now.replica[leader]
    require_office(now, leader)
    require_laggard(now, leader, replica)
    require_current(now, leader)

    write_isr(now, new, leader, mine.isr.without(replica))


@transition(only=lambda v: not is_read_back(v), leader=BROKERS, replica=BROKERS)
def leader_shrink_is_unheard(now, new, leader, replica):
    """The write succeeds and its answer is lost; the retry is refused, and the leader gives up.

    Why:   up to 0.8.1 nobody read the state back to see that the refused write is one's own.
    Kafka: KAFKA-1382, ReplicationUtils.checkLeaderAndIsrZkData since
    """
    require_office(now, leader)
    require_laggard(now, leader, replica)
    require_current(now, leader)

    register_isr(now, new, leader, now.replica[leader].isr.without(replica))
    new.spent.losses = now.spent.losses + 1


@transition(only=is_conditional, leader=BROKERS, replica=BROKERS)
def leader_shrink_is_refused(now, new, leader, replica):
    """A deposed leader's write is refused: "Cached zkVersion not equal to that in zookeeper".

    It does not notice that it is deposed, and its ISR and HW stay as they are.
    """
    require_office(now, leader)
    require_laggard(now, leader, replica)
    require(now.replica[leader].zk_version != now.zk.version,
                                                          "the cached version is out of date")

    if not version.isr_adopted_when_written:               # KIP-497: it counts on the smaller ISR
        new.replica[leader].isr = now.replica[leader].isr.without(replica)


def require_returner(now, leader, replica):
    mine = now.replica[leader]
    require(not_(mine.isr.has(replica)),                  "the replica is not in the leader's ISR")
    require(known_end(now, leader, replica) >= mine.hw,   "the replica has reached the HW")
    if version.isr_join_needs_epoch_start:                 # KAFKA-7128
        require(known_end(now, leader, replica) >= mine.epoch_start,
                                                          "it has reached the leader's epoch start")


@transition(leader=BROKERS, replica=BROKERS)
def leader_expands_isr(now, new, leader, replica):
    """A leader takes back a replica that has reached its high watermark and its epoch's start.

    Refused: leader_expand_is_refused
    """
    mine = now.replica[leader]
    require_office(now, leader)
    require_returner(now, leader, replica)
    require_current(now, leader)

    write_isr(now, new, leader, mine.isr.including(replica))


@transition(only=is_conditional, leader=BROKERS, replica=BROKERS)
def leader_expand_is_refused(now, new, leader, replica):
    """A deposed leader's write is refused; nothing changes."""
    require_office(now, leader)
    require_returner(now, leader, replica)
    require(now.replica[leader].zk_version != now.zk.version,
                                                          "the cached version is out of date")
