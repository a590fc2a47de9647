"""Replicas: appends, fetches, and the leader's conditional writes of the ISR.

A fetch and its answer are one step, which copies all records of the leader. `replication` has the
separate steps.

Source: Partition.maybeShrinkIsr, maybeExpandIsr, updateFollowerLogReadResults (2.3)
"""

from model.language import (
    ALL,
    all_of,
    any_of,
    every,
    implies,
    not_,
    require,
    some,
    transition,
    version,
)
from model.language.sets import as_set
from model.protocol.isr import (
    register_isr,
    require_cached_version,
    require_leadership,
    require_member,
    require_outdated_version,
    require_outsider,
)
from model.protocol.state import BROKERS
from model.reassignment.replica_lists import listed
from model.reassignment.state import RECORDS
from model.reassignment.writing import is_at


def committed_by(now, leader, replicas, isr, caught_up, log):
    """The committed records of a leader with these replicas, this ISR and log, and these caught-up
    followers.

    A leader computes this after every append, fetch and ISR change. Kafka's leader asks only ISR
    members that are among its replicas: towards the end of a reassignment these are the target
    replicas, while the ISR still has old and new ones.
    Kafka: Partition.maybeIncrementLeaderHW (0.10 to 3.9)
    """
    members, followers = as_set((BROKERS,), isr), as_set((BROKERS,), caught_up)
    known = as_set((BROKERS,), ALL if version.high_watermark_waits_for_isr else replicas)
    everywhere = every(BROKERS, lambda b: implies(
        all_of(members.has(b), known.has(b)), any_of(b == leader, followers.has(b))))
    return as_set((RECORDS,), ALL).such_that(lambda record: any_of(
        now.committed.has(record), all_of(everywhere, log.has(record))))


@transition(shows="produce", leader=BROKERS)
def leader_appends(now, new, leader):
    """A producer's record is appended by a broker that believes it leads; no follower has it."""
    mine = now.replica[leader]
    require(mine.role == "leader",                         "the broker believes it leads")
    require(not_(mine.isr_write_unanswered), "none of its writes waits for a response")

    log = now.log[leader].including(now.next_record)
    new.log[leader] = log
    new.next_record = now.next_record + 1
    new.replica[leader].caught_up = []
    new.committed = committed_by(now, leader, mine.replicas, mine.isr, [], log)


def require_fetch(now, leader, follower):
    mine, theirs = now.replica[leader], now.replica[follower]
    require(theirs.role == "follower",                     "the replica follows")
    require(theirs.leader == leader,                       "it follows this leader")
    if version.fetch_fencing:                              # KIP-320
        require(theirs.epoch == mine.epoch,                "both are in the same epoch")
    if version.leader_knows_replicas:                      # KAFKA-1097
        # redundant because since KIP-320 both are in one epoch, whose request listed the follower.
        require(mine.replicas.has(follower),               "the leader knows it as a replica")


@transition(shows="fetch", leader=BROKERS, follower=BROKERS)
def follower_catches_up(now, new, leader, follower):
    """A follower truncates to its leader's log and fetches the rest; the leader learns that.

    A leader that does not know the follower as a replica returns no records.
    """
    mine = now.replica[leader]
    require(mine.role == "leader",                         "the broker believes it leads")
    require(not_(mine.isr_write_unanswered),                 "no write of the leader is unanswered")
    require_fetch(now, leader, follower)
    require(any_of(not_(mine.caught_up.has(follower)), now.log[follower] != now.log[leader]),
                                                           "it lacks records, or credit for them")

    new.log[follower] = now.log[leader]
    note_fetch(now, new, leader, follower)


def note_fetch(now, new, leader, follower):
    """Records the follower's fetch offset, before the fetch has an effect."""
    mine = now.replica[leader]
    caught_up = mine.caught_up.including(follower)
    new.replica[leader].caught_up = caught_up
    new.committed = committed_by(now, leader, mine.replicas, mine.isr, caught_up, now.log[leader])


def require_free_leader(now, leader):
    require_leadership(now, leader, now.replica[leader].role == "leader")
    require(not_(now.replica[leader].isr_write_unanswered),
            "none of its writes waits for a response")


def adopt(now, new, leader, isr, state_version, caught_up=None):
    """The leader uses the written ISR from now on, for the high watermark too."""
    mine = now.replica[leader]
    caught_up = mine.caught_up if caught_up is None else caught_up
    new.replica[leader] = mine.but(
        isr=isr, zk_version=state_version, caught_up=caught_up, isr_write_unanswered=False)
    new.committed = committed_by(now, leader, mine.replicas, isr, caught_up, now.log[leader])


def require_laggard(now, leader, replica):
    mine = now.replica[leader]
    require_free_leader(now, leader)
    require_member(leader, replica, mine.isr)
    require(not_(mine.caught_up.has(replica)),             "it is not known to be caught up")


def require_current(now, leader):
    require_cached_version(now.replica[leader].zk_version, now.zk.version)


def is_target_of_one_who_leaves(now, replica):
    """Some controller moves the partition to the replica, and is removing the old replicas."""
    return some(BROKERS, lambda b: all_of(
        listed(now.cache[b].target, replica),
        is_at(now, b, "adopting", "leading", "leaving", "deleting")))


def note_isr_removal(now, new, replica):
    new.dropped       = now.dropped.including(replica)
    new.slipped       = any_of(now.slipped, is_target_of_one_who_leaves(now, replica))


def require_known(now, leader, replica):
    """The check for lagging followers throws at an ISR member that the leader does not know as a
    replica."""
    if not version.leader_drops_non_replicas:
        require(now.replica[leader].replicas.has(replica), "the leader knows it as a replica")
        require(now.replica[leader].isr.within(now.replica[leader].replicas)
                == now.replica[leader].isr,                "it knows the others of the ISR, too")


@transition(only=lambda v: not v.leader_drops_non_replicas, leader=BROKERS, replica=BROKERS)
def leader_throws_on_non_replica_in_isr(now, new, leader, replica):
    """The lagging ISR member is no replica that the leader knows: the ISR check throws.

    It throws each time, and removes no member.

    Kafka: KAFKA-9672, Partition.getOutOfSyncReplicas (2.4 to 2.8)
    """
    require_laggard(now, leader, replica)
    require(not_(now.replica[leader].replicas.has(replica)),
                                                           "the leader does not know it")

    new.stuck = True


@transition(leader=BROKERS, replica=BROKERS)
def leader_shrinks_isr(now, new, leader, replica):
    """A leader removes a lagging replica by a conditional write to ZooKeeper."""
    require_laggard(now, leader, replica)
    require_known(now, leader, replica)
    require_current(now, leader)

    isr = now.replica[leader].isr.without(replica)
    register_isr(now, new, leader, isr)
    adopt(now, new, leader, isr, now.zk.version + 1)
    note_isr_removal(now, new, replica)
    new.spent.expiries = now.spent.expiries + 1


@transition(shows="write_without_response", fault=True, leader=BROKERS, replica=BROKERS)
def leader_loses_response_to_isr_shrink(now, new, leader, replica):
    """The smaller ISR is written, and the response is lost.

    The leader keeps the larger ISR until it reads the state back.
    """
    require_laggard(now, leader, replica)
    require_known(now, leader, replica)
    require_current(now, leader)

    register_isr(now, new, leader, now.replica[leader].isr.without(replica))
    new.replica[leader].isr_write_unanswered = True
    new.spent.expiries = now.spent.expiries + 1
    note_isr_removal(now, new, replica)


@transition(ends="refused", shows="refused_write", leader=BROKERS, replica=BROKERS)
def leader_shrink_is_refused(now, new, leader, replica):
    """ "Cached zkVersion not equal to that in zookeeper": nothing changes."""
    require_laggard(now, leader, replica)
    require_known(now, leader, replica)
    require_outdated_version(now.replica[leader].zk_version, now.zk.version)


def require_may_rejoin_isr(now, leader, replica):
    mine = now.replica[leader]
    require_free_leader(now, leader)
    require_outsider(replica, mine.isr)
    require_fetch(now, leader, replica)
    require(now.log[leader] == now.log[replica],           "its log is the leader's")


@transition(leader=BROKERS, replica=BROKERS)
def leader_expands_isr(now, new, leader, replica):
    """A replica that has caught up fetches again, and its leader takes it into the ISR."""
    require_may_rejoin_isr(now, leader, replica)
    require_current(now, leader)

    isr = now.replica[leader].isr.including(replica)
    register_isr(now, new, leader, isr)
    adopt(now, new, leader, isr, now.zk.version + 1,
          caught_up=now.replica[leader].caught_up.including(replica))
    new.dropped = now.dropped.without(replica)


@transition(shows="write_without_response", fault=True, leader=BROKERS, replica=BROKERS)
def leader_loses_response_to_isr_expand(now, new, leader, replica):
    """The larger ISR is written, and the response is lost.

    The leader keeps the smaller ISR until it reads the state back.
    """
    require_may_rejoin_isr(now, leader, replica)
    require_current(now, leader)

    register_isr(now, new, leader, now.replica[leader].isr.including(replica))
    note_fetch(now, new, leader, replica)
    new.replica[leader].isr_write_unanswered = True
    new.spent.expiries = now.spent.expiries + 1
    new.dropped = now.dropped.without(replica)


@transition(ends="refused", shows="refused_write", leader=BROKERS, replica=BROKERS)
def leader_expand_is_refused(now, new, leader, replica):
    """The write is refused: the ISR stays as it is, and the fetch counts.

    "Cached zkVersion not equal to that in zookeeper"
    """
    require_may_rejoin_isr(now, leader, replica)
    require_outdated_version(now.replica[leader].zk_version, now.zk.version)

    note_fetch(now, new, leader, replica)


def require_lost_response(now, leader):
    require(now.replica[leader].role == "leader",          "the broker believes it leads")
    require(now.replica[leader].isr_write_unanswered,                  "its write was not answered")
    require(now.zk.registered.has(leader),                 "it has a ZooKeeper session")


@transition(shows="read", leader=BROKERS)
def leader_finds_own_isr_write(now, new, leader):
    """The write is sent again and refused; the leader reads the state and finds its own ISR in it.

    Kafka: KAFKA-1382, ReplicationUtils.checkLeaderAndIsrZkData
    """
    require_lost_response(now, leader)
    require(now.zk.version == now.replica[leader].zk_version + 1,
            "the registered state is its own write")

    adopt(now, new, leader, now.zk.isr, now.zk.version)


@transition(shows="read", leader=BROKERS)
def leader_finds_other_isr_write(now, new, leader):
    """The leader reads the state and finds another write: it keeps its ISR and its old version."""
    require_lost_response(now, leader)
    require(now.zk.version != now.replica[leader].zk_version + 1,
            "the registered state is another write")

    new.replica[leader].isr_write_unanswered = False
    new.overtaken = True
