"""Which records are committed: those of a leader's log that its ISR has, as far as it knows."""

from model.language import ALL, all_of, any_of, every, implies, version
from model.language.sets import as_set
from model.protocol.state import BROKERS
from model.reassignment.state import RECORDS


def committed_by(now, leader, replicas, isr, caught_up, log):
    """What is committed once a leader has these replicas, this ISR and log, and these followers
    with it.

    A leader looks after every append, fetch and change of ISR. Kafka's asks only the members of the
    ISR that are among its replicas: towards the end of a move they are the target, and the ISR is
    still the old and the new replicas'. Kafka: Partition.maybeIncrementLeaderHW (0.10 to 3.9)
    """
    members, followers = as_set((BROKERS,), isr), as_set((BROKERS,), caught_up)
    known = as_set((BROKERS,), ALL if version.high_watermark_waits_for_isr else replicas)
    everywhere = every(BROKERS, lambda b: implies(
        all_of(members.has(b), known.has(b)), any_of(b == leader, followers.has(b))))
    return as_set((RECORDS,), ALL).such_that(lambda record: any_of(
        now.committed.has(record), all_of(everywhere, log.has(record))))
