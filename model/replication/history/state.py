"""The state of the form that is proved: messages are never removed, each epoch keeps its history.

A sent message stays sent, so that it may arrive late, twice, or never. A leader's knowledge is kept
by its epoch, not by its broker: an epoch is led once, by one broker. Ghosts keep the history that a
proof needs; no step depends on them.
"""

from model.language import (
    BOOL,
    Bounded,
    Enumeration,
    LogOf,
    Names,
    Numbers,
    Record,
    Relation,
    SetOf,
    ghost,
    per,
)

BROKERS = Enumeration("broker", "brokers")
EPOCHS  = Numbers("leader epoch", 0, Bounded("epoch"))          # 0: none yet
ZK_VERSIONS = Numbers("zkVersion", 0, Bounded("versions"))
OFFSETS = Numbers("offset", 0, Bounded("log", -1))
ENDS    = Numbers("end", 0, Bounded("log"))
RECORDS = Enumeration("record", "records")

ROLES   = Names("role", ("down", "truncating", "following", "leading"))
WRITE   = Names("isr write", ("none", "sent", "executed", "unanswered"))

ENTRY   = Record(id=RECORDS)

STATE = Record(
    # The partition's state in ZooKeeper, and its zkVersion
    zk=Record(epoch=EPOCHS, named=BOOL, leader=BROKERS, isr=SetOf(BROKERS), version=ZK_VERSIONS),
    # The LeaderAndIsr of each leader epoch; `named`: it names a leader
    request=per(EPOCHS, Record(
        sent=BOOL, named=BOOL, leader=BROKERS, isr=SetOf(BROKERS), version=ZK_VERSIONS)),
    replica=per(BROKERS, Record(role=ROLES, epoch=EPOCHS, hw=ENDS)),
    log=per(BROKERS, LogOf(OFFSETS, ENDS, ENTRY)),
    written_in=per(RECORDS, EPOCHS),            # the epoch that a record carries; 0: not written
    # What the leader of an epoch knows. Its ISR and version are those of its last write that
    # ZooKeeper executed: while it has not heard of that write, it uses neither.
    leader=per(EPOCHS, Record(
        isr=SetOf(BROKERS), zk_version=ZK_VERSIONS,
        start=ENDS,                             # where its epoch starts
        known_end=per(BROKERS, ENDS.or_none),   # what it knows of the others' ends
        write=WRITE, written_isr=SetOf(BROKERS),    # its ISR write under way
        isr_before=SetOf(BROKERS), version_before=ZK_VERSIONS)),    # before its last write
    # A fetch request at an offset may arrive as one at a lower offset: so the furthest says all.
    asked=per(BROKERS, per(EPOCHS, ENDS.or_none)),
    answered=Relation(EPOCHS, OFFSETS, RECORDS),    # data sent by the leader of an epoch
    sent_hw=per(EPOCHS, ENDS),                  # the highest HW that the leader of an epoch sent
    # The answer to the question where a follower's log leaves its leader's; `agreed`: no more to
    # ask. It dies with the follower's process, and with its epoch.
    answer=per(BROKERS, Record(given=BOOL, agreed=BOOL, cut=ENDS)),
    began=ghost(per(EPOCHS, BOOL)),             # an epoch that was ever led
    newest=ghost(EPOCHS),                       # the newest of them
    history=ghost(per(EPOCHS, LogOf(OFFSETS, ENDS, ENTRY))),  # its leader's log, while it leads
    committed_in=ghost(per(EPOCHS, ENDS)),      # the HW that its leader advanced to
    # An epoch whose leader committed as far as a broker's HW, or as the HW that a leader sent
    hw_from=ghost(per(BROKERS, EPOCHS)),
    sent_from=ghost(per(EPOCHS, EPOCHS)),
    gone=ghost(per(EPOCHS, BROKERS)),           # a broker of its ISR that left it for a newer one
    # What was ever committed, by any leader, and an epoch whose leader committed that much
    committed=ghost(Record(end=ENDS, epoch=EPOCHS, at=per(OFFSETS, ENTRY))),
    committed_twice=ghost(BOOL),                # two records were committed at one offset
)
