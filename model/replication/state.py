"""The state: one partition's znode, each broker's view of it, logs, and messages in flight."""

from model.language import (
    BOOL,
    Bounded,
    LogOf,
    Names,
    Numbers,
    Record,
    SetOf,
    budget,
    ghost,
    per,
)
from model.protocol.state import (
    BROKERS,
    CONTROLLER_EPOCHS,
    CONTROLLER_NODES,
    CONTROLLERSHIP,
    LEADER_EPOCHS,
    ZK_VERSIONS,
)

ELECTED = Numbers("elected epoch", 1, Bounded("epoch"))            # epochs that a controller wrote
CONTROLLERS = Numbers("controller", 1, Bounded("controllers"))     # epochs that a controller had
RECORDS = Numbers("record", 0, Bounded("records", -1))
NEXT_RECORD = Numbers("next record", 0, Bounded("records"))
OFFSETS = Numbers("offset", 0, Bounded("log", -1))
ENDS    = Numbers("end", 0, Bounded("log"))

ROLES = Names("role", ("none", "leader", "follower"))
FETCH = Names("fetch", (
    "idle", "asks_epoch", "epoch_is_answered", "asks_records", "records_are_answered",
    "given_up"))                                # fenced: before KAFKA-7786, or as released
ACKS = Names("acks", ("none", "one", "all"))
ISR_WRITES = Names("isr write", ("none", "applied", "refused"))

STATE = Record(
    zk=Record(
        **CONTROLLER_NODES,
        # /brokers/topics/t/partitions/0/state, and its zkVersion
        leader=BROKERS.or_none, leader_epoch=LEADER_EPOCHS, isr=SetOf(BROKERS),
        state_epoch=CONTROLLER_EPOCHS, version=ZK_VERSIONS),
    up=SetOf(BROKERS),                          # processes that run
    **CONTROLLERSHIP,
    # What a controller read of the partition, to decide on; `reached` are the live brokers whose
    # registration is still the one that it read.
    cache=per(BROKERS, Record(
        held=BOOL, leader=BROKERS.or_none, isr=SetOf(BROKERS), version=ZK_VERSIONS,
        live=SetOf(BROKERS), reached=SetOf(BROKERS))),
    elected=per(ELECTED, BROKERS.or_none),      # the leader of each epoch that was written
    # LeaderAndIsr in flight, by leader epoch, controller epoch and target
    request=per(ELECTED, per(CONTROLLERS, per(BROKERS, Record(
        in_flight=BOOL, isr=SetOf(BROKERS), version=ZK_VERSIONS)))),
    replica=per(BROKERS, Record(
        role=ROLES, leader=BROKERS.or_none, epoch=LEADER_EPOCHS.or_none,
        isr=SetOf(BROKERS), zk_version=ZK_VERSIONS,
        controller_epoch=CONTROLLER_EPOCHS,     # the highest it has seen
        epoch_start=ENDS,                       # where its epoch starts, if it leads
        latest_epoch=LEADER_EPOCHS.or_none,     # the last entry of its epoch cache
        truncating=BOOL, hw=ENDS, checkpoint=ENDS)),
    known_end=per(BROKERS, per(BROKERS, ENDS.or_none)),   # what a leader knows of the others' ends
    # A leader's ISR write that ZooKeeper has answered and the leader has not heard of: what it
    # wrote, and under which version that is registered
    isr_write=per(BROKERS, Record(
        state=ISR_WRITES, isr=SetOf(BROKERS), state_epoch=CONTROLLER_EPOCHS, version=ZK_VERSIONS)),
    log=per(BROKERS, LogOf(OFFSETS, ENDS, Record(id=RECORDS, epoch=LEADER_EPOCHS))),
    # One fetcher request at a time from each follower to each leader, with its answer
    fetch=per(BROKERS, per(BROKERS, Record(
        state=FETCH, epoch=LEADER_EPOCHS.or_none,
        last_epoch=LEADER_EPOCHS.or_none, offset=ENDS,                    # what is asked
        answer_epoch=LEADER_EPOCHS.or_none, answer_end=ENDS.or_none,      # where the epoch ends
        has_record=BOOL, id=RECORDS, record_epoch=LEADER_EPOCHS, hw=ENDS))),
    next_record=NEXT_RECORD,
    # Faults so far, counted only where a bound limits them
    spent=Record(crashes=budget("crashes"), expiries=budget("expiries"), losses=budget("losses")),
    # What was committed: raised above by a leader's high watermark, at any time
    committed=ghost(Record(end=ENDS, at=per(OFFSETS, Record(id=RECORDS, epoch=LEADER_EPOCHS)))),
    committed_twice=ghost(BOOL),                # two records were committed at one offset
    # What producers asked for, by record, and which records were acknowledged to them
    acks=ghost(per(RECORDS, ACKS)),
    acknowledged=ghost(SetOf(RECORDS)),
    # What consumers read, by offset, and whether two ever read different records at one
    read=ghost(per(OFFSETS, Record(done=BOOL, id=RECORDS, epoch=LEADER_EPOCHS))),
    read_differed=ghost(BOOL),
    gave_up=ghost(SetOf(BROKERS)),              # leaders whose session ended before the answer came
)


def is_unlocked(now, broker):
    """leaderIsrUpdateLock: while a leader waits for the answer to its ISR write, all other work for
    the partition waits.

    Up to 2.6 the leader holds the write lock until it is answered. Appends, fetches,
    OffsetForLeaderEpoch and the high watermark need the lock for reading, makeLeader and
    makeFollower for writing. So a LeaderAndIsr waits too, and is applied to the state after the
    answer. Requests with an old epoch are refused before the lock is taken. From 2.7 (KIP-497)
    nothing waits, and the answer must be compared with the partition's present state (KAFKA-12686).

    Source: Partition.maybeExpandIsr, maybeShrinkIsr, makeLeader, readRecords (2.3)
    """
    return now.isr_write[broker].state == "none"
