"""The state: several partitions, ZooKeeper's nodes, the controller's memory, each broker's view.

All contents that a state znode ever had are kept by zkVersion. A state that a controller cached,
that a request contains, or that a broker uses is therefore stored as its zkVersion only.
"""

from model.language import BOOL, Bounded, LogOf, Names, Numbers, Record, SetOf, budget, per
from model.protocol.state import (
    BROKERS,
    CONTROLLER_EPOCHS,
    CONTROLLER_NODES,
    CONTROLLERSHIP,
    LEADER_EPOCHS,
    ZK_VERSIONS,
)

PARTITIONS = Numbers("partition", 0, Bounded("partitions", -1))
PLACES   = Numbers("place", 0, Bounded("brokers", -1))          # in an assignment, preferred first
SLOTS    = Numbers("slot", 0, Bounded("queue", -1))
WAITING  = Numbers("waiting requests", 0, Bounded("queue"))
ENDPOINTS = Numbers("endpoints", 0, Bounded("endpoints"))       # how often they were changed
EVENT_SLOTS = Numbers("event slot", 0, Bounded("events", -1))
EVENTS_WAITING = Numbers("waiting events", 0, Bounded("events"))

REQUESTS = Names("request", ("leader_and_isr", "update_metadata", "stop_replica"))

# What the controller's one event queue holds, in order of arrival; the last three have a subject
EVENTS = Names("event", (
    "controller_change",        # /controller was deleted, or is another's
    "broker_change",            # a child of /brokers/ids came or went
    "isr_change",               # a child of /isr_change_notification came or went
    "log_dir_event",            # a child of /log_dir_event_notification came or went
    "preferred_election",       # /admin/preferred_replica_election was created
    "rebalance",                # a timer: AutoPreferredReplicaLeaderElection
    "broker_modification",      # the data of /brokers/ids/N changed
    "leader_and_isr_response",  # of a broker, with an error or after one
    "controlled_shutdown"))     # a broker's request

# Where the controller's event thread is: between two stages it may be deposed, or crash
STAGES = Names("stage", (
    "starting",             # it was elected, and has read nothing yet
    "announcing",           # failover: UpdateMetadata, so that all know who is alive
    "restoring",            # failover: replicas of live brokers to Online
    "offlining",            # failover: replicas of dead brokers to Offline
    "onlining",             # failover: offline partitions to Online
    "looking",              # failover: is there a request for preferred leaders?
    "electing",             # offline partitions to Online
    "retrying",             # the same, where every partition's leader is alive
    "removing",             # replicas of failed brokers to Offline, after an election
    "removing_followers",   # the same, where every partition's leader is alive
    "notifying",            # UpdateMetadata, for no other request said who is alive
    "announcing_new",       # a broker started: UpdateMetadata
    "instating",            # its replicas to Online
    "moving",               # controlled shutdown: what the broker leads to others
    "stopping",             # controlled shutdown: StopReplica for what it follows
    "retiring",             # controlled shutdown: its replicas to Offline
    "answering",            # controlled shutdown: may the broker go?
    "comparing",            # of one BrokerChange, the brokers that bounced, then those that died
    "preferring",           # preferred leaders, as an administrator asked
    "cleaning",             # the request is deleted
    "rebalancing",          # preferred leaders, as the imbalance asks
    "idle",                 # the next event is taken from the queue
    "rewriting"))           # failover: the request for moves, in vain: it is deposed

LEAVING = Names("leaving", ("stays", "asks", "may_go"))

PARTITION = Record(
    version=ZK_VERSIONS,                        # of .../partitions/P/state
    state=per(ZK_VERSIONS, Record(              # what it says, or said, at a version
        leader=BROKERS.or_none, epoch=LEADER_EPOCHS, isr=SetOf(BROKERS),
        controller=CONTROLLER_EPOCHS)),
    replicas=SetOf(BROKERS),                    # the assignment, and its order
    place=per(BROKERS, PLACES),
    noted=BOOL,                                 # an /isr_change_notification names the partition
    failed=SetOf(BROKERS),                      # whose log directory of it has failed
    wanted=BOOL,                                # /admin/preferred_replica_election names it
    # A broker's Partition: the state that it obeyed, or wrote since as the leader
    replica=per(BROKERS, Record(
        version=ZK_VERSIONS.or_none, fetching=BOOL,
        unreported=BOOL)),                      # an ISR change that it has not notified of
    known=per(BROKERS, ZK_VERSIONS.or_none),    # in a broker's metadata cache
    # What a controller has of it: leadership info; what its event thread has still to do with it
    context=per(BROKERS, Record(
        version=ZK_VERSIONS,
        offline=BOOL,                           # the partition is OfflinePartition, else Online
        due=BOOL,                               # a leader is to be elected
        gone=SetOf(BROKERS),                    # these replicas are to go Offline
        lost=SetOf(BROKERS),                    # replicasOnOfflineDirs
        refusing=SetOf(BROKERS),                # responses that wait say that it is on such a one,
        obeying=SetOf(BROKERS),                 # or that it is not
        stops=BOOL,                             # StopReplica is due though nothing was written
        read=ZK_VERSIONS.or_none,               # the state as it was read, to be written
        batched=BOOL)),                         # it is in the batch that is being put together
    complete=SetOf(BROKERS),                    # replicas that hold all that was committed
)

STATE = Record(
    # /brokers/ids nodes of sessions that have ended already are there, and about to go
    zk=Record(**CONTROLLER_NODES, outlived=SetOf(BROKERS), endpoints=per(BROKERS, ENDPOINTS),
              log_dir_events=SetOf(BROKERS)),           # whom a /log_dir_event_notification names
    up=SetOf(BROKERS),
    **CONTROLLERSHIP,
    cache=per(BROKERS, Record(
        stage=STAGES,
        live=SetOf(BROKERS), reached=SetOf(BROKERS),        # ids; those whose registration it read
        watched=SetOf(BROKERS),                             # whose node has its data watch
        endpoints=per(BROKERS, ENDPOINTS),                  # of brokers, as it read them
        started=SetOf(BROKERS),                             # brokers that it is instating
        shutting=SetOf(BROKERS),                            # shuttingDownBrokerIds
        subject=BROKERS.or_none,                            # whose shutdown or failed log
                                                            # directory it works on
        bounced=SetOf(BROKERS), dead=SetOf(BROKERS),        # what a BrokerChange has still to do
        unbalanced=SetOf(BROKERS),                          # preferred brokers that a rebalance
                                                            # has still to elect
        events=LogOf(EVENT_SLOTS, EVENTS_WAITING, Record(   # the one event queue
            kind=EVENTS, subject=BROKERS.or_none)),
        queue=per(BROKERS, LogOf(SLOTS, WAITING, Record(    # requests, one queue for each broker
            kind=REQUESTS, about=per(PARTITIONS, ZK_VERSIONS.or_none), alive=SetOf(BROKERS),
            endpoints=per(BROKERS, ENDPOINTS)))))),
    seen=per(BROKERS, CONTROLLER_EPOCHS),       # the highest controller epoch that a broker knows
    alive=per(BROKERS, SetOf(BROKERS)),         # who is alive, by a broker's metadata cache
    addresses=per(BROKERS, per(BROKERS, ENDPOINTS)),        # their endpoints, by the same
    leaving=per(BROKERS, LEAVING),              # how far a broker is with its controlled shutdown
    asked=SetOf(BROKERS),                       # whose ControlledShutdown is under way
    former=SetOf(BROKERS),                      # and whose names their last registration
    failure_unreported=SetOf(BROKERS),          # a log directory failed, and they have not said so
    mistaken=SetOf(BROKERS),                    # took the node of their last session for their own
    resigned=SetOf(BROKERS),                    # resigned, and go on with events (KAFKA-4447)
    # A StopReplica that was sent again after its connection broke: the first copy is still to come
    late=per(BROKERS, Record(
        held=BOOL, controller=CONTROLLER_EPOCHS, about=per(PARTITIONS, BOOL))),
    partition=per(PARTITIONS, PARTITION),
    spent=Record(
        crashes=budget("crashes"), expiries=budget("expiries"), losses=budget("losses"),
        shutdowns=budget("shutdowns"), requests=budget("requests"), lingering=budget("lingering"),
        directories=budget("directories")),
)
