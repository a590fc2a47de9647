"""Logs, reduced to which replicas hold every committed record.

After a commit, replicas outside the ISR lack a record. A follower that fetches takes over its
leader's log: it gains committed records, or loses them. `replication` has the logs.
"""

from model.language import all_of, any_of, every, is_none, not_, require, some, transition, when
from model.protocol.state import BROKERS


def state_of_replica(now, broker):
    """The state that a broker acts on."""
    return now.state[now.replica[broker].version]


def leads(now, broker):
    """The broker believes that it leads."""
    return all_of(now.up.has(broker), not_(is_none(now.replica[broker].version)),
                  state_of_replica(now, broker).leader == broker)


def fetches_from(now, follower, leader):
    """A follower's fetches are answered: both are in one leader epoch."""
    return all_of(
        now.up.has(follower), now.replica[follower].fetching, leads(now, leader),
        state_of_replica(now, follower).leader == leader,
        state_of_replica(now, follower).epoch == state_of_replica(now, leader).epoch)


@transition(leader=BROKERS)
def leader_commits(now, new, leader):
    """A record is committed by the ISR; replicas outside the ISR lack it."""
    isr = state_of_replica(now, leader).isr
    require(leads(now, leader),                     "the broker believes it leads")
    require(every(BROKERS, lambda one: any_of(
        not_(isr.has(one)), one == leader, fetches_from(now, one, leader))),
                                                    "every other ISR member fetches")
    require(some(BROKERS, lambda one: all_of(now.complete.has(one), not_(isr.has(one)))),
                                                    "a replica out of the ISR lacks nothing yet")

    new.complete = now.complete.within(isr)


@transition(shows="fetch", follower=BROKERS, leader=BROKERS)
def follower_catches_up(now, new, follower, leader):
    """A follower truncates its log to where it diverges from the leader's, and fetches the rest."""
    require(fetches_from(now, follower, leader),    "the follower fetches from the leader")
    require(now.complete.has(follower) != now.complete.has(leader),
                                                    "their logs differ in what was committed")

    new.complete = when(
        now.complete.has(leader),
        now.complete.including(follower), now.complete.without(follower))
