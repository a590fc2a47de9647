"""Invariants of controllers and brokers: copies of a partition's state, by zkVersion.

No zkVersion is written twice, so that every version in memory or in a request stands for a state
that ZooKeeper had.
"""

from model.cluster.state import PARTITIONS, SLOTS
from model.language import all_of, implies, not_
from model.protocol.state import BROKERS, ZK_VERSIONS
from specs.invariants import invariant


def written(now, p, v):
    """The version has a state."""
    return v <= now.partition[p].version


@invariant("what brokers and controllers have of a partition was written",
           over=(PARTITIONS, BROKERS),
           why="two brokers that lead obeyed, or wrote, a state that ZooKeeper had")
def versions_were_written(now, p, b):
    own = now.partition[p]
    return all_of(
        written(now, p, own.replica[b].version), written(now, p, own.context[b].version),
        written(now, p, own.context[b].read), own.version >= 0)


@invariant("what a request says of a partition was written",
           over=(PARTITIONS, BROKERS, BROKERS, SLOTS),
           why="a broker obeys it, however late")
def requests_were_written(now, p, b, target, slot):
    queue = now.cache[b].queue[target]
    return implies(slot < queue.end, written(now, p, queue[slot].about[p]))


@invariant("of two states that were written the later one has no older leader epoch",
           over=(PARTITIONS, ZK_VERSIONS, ZK_VERSIONS),
           why="the next election's epoch is above all of them")
def leader_epochs_never_fall(now, p, v, later):
    state = now.partition[p].state
    return implies(all_of(v <= later, written(now, p, later)),
                   state[v].epoch <= state[later].epoch)


@invariant("two states of one leader epoch have one leader",
           over=(PARTITIONS, ZK_VERSIONS, ZK_VERSIONS),
           why="only an election names another, and it is of another epoch")
def one_leader_an_epoch(now, p, v, later):
    state = now.partition[p].state
    return implies(
        all_of(written(now, p, v), written(now, p, later), state[v].epoch == state[later].epoch),
        state[v].leader == state[later].leader)


@invariant("of every state that was written the leader, if it has one, is in the ISR",
           over=(PARTITIONS, BROKERS, ZK_VERSIONS),
           why="a leader never drops itself, and who leaves the ISR leads no more")
def leaders_are_in_the_isr(now, p, b, v):
    state = now.partition[p].state[v]
    return implies(all_of(written(now, p, v), state.leader == b), state.isr.has(b))


@invariant("nobody takes the node of its last session for its own",
           over=(BROKERS,), why="that node goes; from 2.2 its owner is looked at (KAFKA-7165)")
def no_broker_keeps_the_registration_of_its_last_session(now, b):
    return not_(now.mistaken.has(b))


@invariant("nobody who has resigned goes on with what was queued",
           over=(BROKERS,), why="its handlers are removed when it resigns (KAFKA-4447)")
def no_resigned_controller_keeps_its_queue(now, b):
    return not_(now.resigned.has(b))


LEADERS = (versions_were_written, requests_were_written, leader_epochs_never_fall,
           one_leader_an_epoch)
REGISTRATIONS = (no_broker_keeps_the_registration_of_its_last_session,)
RESIGNATIONS = (no_resigned_controller_keeps_its_queue,)
ELECTIONS = (versions_were_written, requests_were_written, leaders_are_in_the_isr)
