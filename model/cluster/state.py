"""Several partitions under ZooKeeper's nodes, the controller's memory, and each broker's picture.

What a state znode ever said is kept by its zkVersion: a state that a controller cached, one that is
in a request, one that a broker obeyed or answers clients from, is then a version and no more.
"""

from model.language import BOOL, Bounded, Log, Names, Numbers, Record, SetOf, budget, per
from model.protocol.state import (
    BROKERS,
    CONTROLLER_EPOCHS,
    LEADER_EPOCHS,
    OFFICE,
    OFFICE_NODES,
    ZK_VERSIONS,
)

PARTITIONS = Numbers("partition", 0, Bounded("partitions", -1))
PLACES   = Numbers("place", 0, Bounded("brokers", -1))          # in an assignment, preferred first
SLOTS    = Numbers("slot", 0, Bounded("queue", -1))
WAITING  = Numbers("waiting requests", 0, Bounded("queue"))

REQUESTS = Names("request", ("leader_and_isr", "update_metadata", "stop_replica"))

# Where the controller's event thread is: between two stages it may be deposed, or crash
STAGES = Names("stage", (
    "starting",             # it was elected, and has read nothing yet
    "announcing",           # failover: UpdateMetadata, so that all know who is alive
    "restoring",            # failover: replicas of live brokers to Online
    "burying",              # failover: replicas of dead brokers to Offline
    "electing",             # offline partitions to Online
    "removing",             # replicas of failed brokers to Offline, after an election
    "removing_followers",   # the same, where no partition lost its leader
    "notifying",            # UpdateMetadata, for no other request said who is alive
    "welcoming",            # a broker started: UpdateMetadata
    "instating",            # its replicas to Online
    "idle"))                # the next event is taken from the queue

PARTITION = Record(
    version=ZK_VERSIONS,                        # of .../partitions/P/state
    state=per(ZK_VERSIONS, Record(              # what it says, or said, at a version
        leader=BROKERS.or_none, epoch=LEADER_EPOCHS, isr=SetOf(BROKERS),
        controller=CONTROLLER_EPOCHS)),
    replicas=SetOf(BROKERS),                    # the assignment, and its order
    place=per(BROKERS, PLACES),
    noted=BOOL,                                 # an /isr_change_notification names the partition
    # A broker's Partition: the state that it obeyed, or wrote since as the leader
    replica=per(BROKERS, Record(
        version=ZK_VERSIONS.or_none, fetching=BOOL,
        unreported=BOOL)),                      # an ISR change that it has not notified of
    known=per(BROKERS, ZK_VERSIONS.or_none),    # in a broker's metadata cache
    # What a controller has of it: leadership info; what its event thread has still to do with it
    context=per(BROKERS, Record(
        version=ZK_VERSIONS,
        due=BOOL,                               # a leader is to be elected
        gone=SetOf(BROKERS),                    # these replicas are to go Offline
        batched=BOOL)),                         # it is in the batch that is being put together
    complete=SetOf(BROKERS),                    # replicas that hold all that was committed
)

STATE = Record(
    zk=Record(**OFFICE_NODES),
    up=SetOf(BROKERS),
    **OFFICE,
    cache=per(BROKERS, Record(
        stage=STAGES,
        live=SetOf(BROKERS), reached=SetOf(BROKERS),        # ids; those whose registration it read
        started=SetOf(BROKERS),                             # brokers that it is instating
        queue=per(BROKERS, Log(SLOTS, WAITING, Record(      # requests, one queue for each broker
            kind=REQUESTS, about=per(PARTITIONS, ZK_VERSIONS.or_none), alive=SetOf(BROKERS)))))),
    seen=per(BROKERS, CONTROLLER_EPOCHS),       # the highest controller epoch that a broker knows
    alive=per(BROKERS, SetOf(BROKERS)),         # who lives, by a broker's metadata cache
    partition=per(PARTITIONS, PARTITION),
    spent=Record(crashes=budget("crashes"), expiries=budget("expiries"), losses=budget("losses")),
)
