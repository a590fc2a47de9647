"""The state: one topic's znodes, controllers' memory, requests, brokers' directories.

The state does not count how often the topic was created: a directory belongs to the current topic,
or is *stale*, from a deleted topic of that name. Creation makes existing directories stale.
"""

from model.language import BOOL, Bounded, Names, Numbers, Record, SetOf, budget, ghost, per
from model.protocol.state import BROKERS, CONTROLLER_EPOCHS, CONTROLLER_NODES, CONTROLLERSHIP

PARTITIONS  = Numbers("partition", 0, Bounded("partitions", -1))
COUNTS      = Numbers("partition count", 1, Bounded("partitions"))
PLACES      = Numbers("place", 0, Bounded("brokers", -1))           # in a replica list
CONTROLLERS = Numbers("controller", 1, Bounded("controllers"))      # epochs that a controller had

PARTITION_STATES = Names("partition state", (
    "NonExistentPartition", "NewPartition", "OnlinePartition", "OfflinePartition"))
REPLICA_STATES = Names("replica state", (
    "NonExistentReplica", "NewReplica", "OnlineReplica", "OfflineReplica",
    "ReplicaDeletionStarted", "ReplicaDeletionSuccessful", "ReplicaDeletionIneligible"))

# What a controller's one event thread does next; each but the first two ends in `waits`
TASKS = Names("task", (
    "reads_zookeeper", "waits",
    "starts_replicas", "starts_partitions",                             # failover
    "makes_partitions", "makes_replicas", "elects_new", "enlists",      # creation
    "elects_for_failed", "takes_offline",                               # a broker fails,
    "starts_returned", "elects_for_started",                            # or starts
    "moves_leaders", "stops_followers",                                 # a broker asks to go
    "resumes", "stops", "deletes",                                      # deletion
    "unregisters", "removes_request",
    "rewrites"))                                # failover: the request for moves, in vain: fenced

ROLES       = Names("role", ("none", "leader", "follower"))
DIRECTORIES = Names("directory", ("none", "current", "stale"))
LEADER_AND_ISR      = Names("order", ("none", "lead", "follow",
                                               "leaderless"))      # in a LeaderAndIsr
# A StopReplica, or its answer; one that is `fenced` has a leader epoch that the broker knows
STOPS       = Names("stop", ("none", "stop", "delete", "deleted", "failed", "fenced"))

REPLICA_LISTS = per(PARTITIONS, per(PLACES, BROKERS.or_none))     # the preferred leader first

STATE = Record(
    zk=Record(
        **CONTROLLER_NODES,
        assignment=REPLICA_LISTS,               # /brokers/topics/T: exists if partition 0 is in it
        state=per(PARTITIONS, Record(           # /brokers/topics/T/partitions/P/state
            exists=BOOL, leader=BROKERS.or_none, isr=SetOf(BROKERS),
            epoch=CONTROLLER_EPOCHS)),          # of the controller that wrote it last
        requested=BOOL),                        # /admin/delete_topics/T
    up=SetOf(BROKERS),                          # processes that run
    **CONTROLLERSHIP,
    # A controller's memory: its context, its two state machines, its topic deletion manager
    cache=per(BROKERS, Record(
        task=TASKS,
        fired=Record(topics=BOOL, partitions=BOOL, deletions=BOOL),  # watches that fired
        live=SetOf(BROKERS),                    # the brokers that it knows of,
        reached=SetOf(BROKERS),                 # and those of them that it has a connection to
        shutting=SetOf(BROKERS),                # those that asked to go: not counted as live
        gone=BROKERS.or_none,                   # the broker that failed, or asks to go, at present
        returns=BROKERS.or_none,                # the failed broker, where it had registered again
        followed=per(PARTITIONS, BOOL),         # by the broker that asks to go
        outdated=BOOL,                          # a state that it is to write changed since its read
        known=REPLICA_LISTS,                    # the replica lists that it has read
        led=per(PARTITIONS, BOOL),              # has the partition a state, as far as it knows?
        leader=per(PARTITIONS, BROKERS.or_none),
        partition=per(PARTITIONS, PARTITION_STATES),
        replica=per(PARTITIONS, per(BROKERS, REPLICA_STATES)),
        queued=BOOL, started=BOOL, ineligible=BOOL)),               # the topic's deletion
    # What is under way from each controller to each broker, in the order of one connection: first
    # a LeaderAndIsr, of which only the newest is kept, then a StopReplica, then its answer
    request=per(CONTROLLERS, per(BROKERS, Record(
        order=per(PARTITIONS, LEADER_AND_ISR), outdated=per(PARTITIONS, BOOL),
        stop=per(PARTITIONS, STOPS)))),
    seen=per(BROKERS, CONTROLLER_EPOCHS),       # the highest controller epoch that a broker knows
    replica=per(BROKERS, per(PARTITIONS, Record(role=ROLES, directory=DIRECTORIES))),
    # Faults so far, counted only where a bound limits them
    spent=Record(crashes=budget("crashes"), expiries=budget("expiries"), losses=budget("losses"),
                 moves=budget("moves"), failures=budget("failures"),
                 conflicts=budget("conflicts"), elections=budget("elections"),
                 shutdowns=budget("shutdowns")),
    deleted_once=ghost(BOOL),                   # a topic of this name was deleted
    risen=ghost(BOOL),                          # a broker was made leader over a stale directory
    left_behind=ghost(BOOL),                    # a replica was moved off a broker that was away
    disk_failed=ghost(BOOL),                    # a broker could not delete a directory
)
