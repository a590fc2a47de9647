"""What is committed: the records of a leader's log that its whole ISR has, as far as it knows."""

from model.language import ALL, all_of, any_of, every, implies
from model.language.sets import as_set
from model.protocol.state import BROKERS
from model.reassignment.state import RECORDS


def committed_by(now, leader, isr, caught_up, log):
    """What is committed once a leader has this ISR, this log, and these followers with it.

    A leader looks after every append, fetch and change of ISR (Partition.maybeIncrementLeaderHW).
    """
    members, followers = as_set((BROKERS,), isr), as_set((BROKERS,), caught_up)
    everywhere = every(BROKERS, lambda b: implies(
        members.has(b), any_of(b == leader, followers.has(b))))
    return as_set((RECORDS,), ALL).such_that(lambda record: any_of(
        now.committed.has(record), all_of(everywhere, log.has(record))))
