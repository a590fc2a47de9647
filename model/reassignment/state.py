"""The state: znodes of one partition, the controller's context, requests in flight, its replicas.

A list of replicas is kept as the position of each broker in it, or none if it is not listed.
Records have no offsets: a replica has a set of records, and a fetch copies all of its leader's.
"""

from model.language import (
    BLANK,
    BOOL,
    Bounded,
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

CONTROLLERS = Numbers("controller", 1, Bounded("controllers"))     # epochs that a controller had
PLACES = Numbers("place", 0, Bounded("brokers", -1))             # 0 is the first of a list
RECORDS = Numbers("record", 0, Bounded("records", -1))
NEXT_RECORD = Numbers("next record", 0, Bounded("records"))
LIST = per(BROKERS, PLACES.or_none)

ROLES = Names("role", ("none", "leader", "follower", "stopped"))
STOPS = Names("stop", ("none", "stop", "delete"))
OTHERS = Names("other entry", ("none", "moving", "unknown"))
TASKS = Names("task", (
    "none",                                     # it has not read the cluster
    "idle",                                     # it waits for events
    "beginning",                                # it was elected, and comes to what it found
    "assigning", "bumping",                     # steps 1 to 3; then it waits
    "adopting", "leading", "leaving", "deleting", "settling", "closing", "telling",    # 5 to 12
    "replacing",                                # a move was changed: some are not needed any more
    "electing", "removing",                     # a leader, or a member of the ISR, is dead
    "rewriting"))                               # the request again, in vain: it is deposed

STATE = Record(
    zk=Record(
        **CONTROLLER_NODES,
        # /brokers/topics/t/partitions/0/state, and its zkVersion
        leader=BROKERS.or_none, leader_epoch=LEADER_EPOCHS, isr=SetOf(BROKERS),
        version=ZK_VERSIONS,
        assignment=LIST,                        # /brokers/topics/t
        requested=LIST,                         # /admin/reassign_partitions: this partition's entry
        other=OTHERS,                           # and the entry of another partition
        adding=SetOf(BROKERS), removing=SetOf(BROKERS),   # in the topic's znode, since KIP-455
        deleting=BOOL),                         # /admin/delete_topics/t
    up=SetOf(BROKERS),                          # processes that run
    **CONTROLLERSHIP,
    # What a controller has in memory; `reached` are the live brokers whose registration is still
    # the one that it knows.
    cache=per(BROKERS, Record(
        task=TASKS,
        leader=BROKERS.or_none, isr=SetOf(BROKERS), version=ZK_VERSIONS, epoch=LEADER_EPOCHS,
        live=SetOf(BROKERS), reached=SetOf(BROKERS),
        assignment=LIST, target=LIST,           # and where the partition is to go, if it moves
        old=SetOf(BROKERS), leaving=SetOf(BROKERS),     # who is to go, and has not gone offline yet
        unsent=BOOL,                            # one has left the ISR in ZooKeeper: nobody knows
        other=OTHERS,
        deleting=BOOL,                          # the topic is queued for deletion, which waits
        begins=BOOL,                            # what was asked for when it looked; no more is seen
        resumes=BOOL)),                         # what it found comes when it is done with the dead
    kept=per(BROKERS, LIST),                    # what outlives its term; only before KAFKA-5310
    # LeaderAndIsr in flight: of a leader epoch and a controller epoch, to these brokers
    request=per(LEADER_EPOCHS, per(CONTROLLERS, Record(
        to=SetOf(BROKERS), leader=BROKERS.or_none, isr=SetOf(BROKERS), version=ZK_VERSIONS,
        replicas=SetOf(BROKERS)))),
    # StopReplica in flight, and the leader epoch that was the newest when it was sent
    stop=per(CONTROLLERS, per(BROKERS, Record(what=STOPS, epoch=LEADER_EPOCHS))),
    replica=per(BROKERS, Record(
        role=ROLES, leader=BROKERS.or_none, epoch=LEADER_EPOCHS.or_none,
        isr=SetOf(BROKERS), zk_version=ZK_VERSIONS,
        controller_epoch=CONTROLLER_EPOCHS,     # the highest it has seen
        replicas=SetOf(BROKERS),                # those that it was notified of as a leader
        caught_up=SetOf(BROKERS),               # who has all of its log, as far as it knows
        isr_write_unanswered=BOOL)),                         # its ISR write was not answered
    # UpdateMetadata, and to whom it is in flight: of several the newest, which says all they say.
    # It waits only where the connection is slow.
    update=per(CONTROLLERS, Record(
        slow=SetOf(BROKERS), to=SetOf(BROKERS), leader=BROKERS.or_none, epoch=LEADER_EPOCHS)),
    log=per(BROKERS, SetOf(RECORDS)),
    next_record=NEXT_RECORD,
    # Where a broker sends clients, and the controller epoch of the UpdateMetadata that said so
    metadata=per(BROKERS, Record(leader=BROKERS.or_none, controller=CONTROLLER_EPOCHS)),
    metadata_epoch=ghost(LEADER_EPOCHS),        # the leader epoch that UpdateMetadata had last
    # Counted only where a bound limits them. Whatever happens unasked is counted with the sessions
    # that expire, so that one bound says how much of it there is in all.
    spent=Record(
        moves=budget("moves"), crashes=budget("crashes"), losses=budget("losses"),
        expiries=budget("faults"), delays=budget("delays")),
    committed=ghost(SetOf(RECORDS)),
    origin=ghost(LIST), wanted=ghost(LIST),     # the last move that was asked for, and not refused
    other_is_open=ghost(BOOL),                  # the other partition's move was asked for, not done
    dropped=ghost(SetOf(BROKERS)),              # out of the ISR: slow, dead, or never in it
    slipped=ghost(BOOL),                        # a target was dropped while the old were leaving
    overtaken=ghost(BOOL),                      # a leader took its own ISR write for a failure
    crossed=ghost(BOOL),                        # whom a changed move left out was in the ISR
    stuck=ghost(BOOL),                          # a leader could not drop who lagged behind
    read_late=ghost(BOOL),                      # a controller became active after it was deposed
    withdrawn=ghost(BOOL),                      # a request was withdrawn
    withdrawn_in=ghost(CONTROLLER_EPOCHS),      # the controller epoch in which that was
)

NOBODY = BLANK
