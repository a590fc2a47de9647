"""The control plane alone: sessions, `/controller`, `/controller_epoch`, belief, requests."""

from model.language import BOOL, Bounded, Enumeration, Numbers, Record, Relation, ghost, per

BROKERS = Enumeration("broker", "brokers")
EPOCHS  = Numbers("controller epoch", 1, Bounded("epoch"))
KNOWN   = Numbers("known epoch", 0, Bounded("epoch"))       # 0: none yet
ZK_VERSIONS = Numbers("zkVersion", 0, Bounded("epoch"))     # of /controller_epoch: one a change
PARTITION_VERSIONS = Numbers("partition zkVersion", 0, Bounded("writes"))

STATE = Record(
    zk=Record(
        controller=BROKERS.or_none,               # /controller, ephemeral: its owner
        epoch=KNOWN, epoch_version=ZK_VERSIONS,   # /controller_epoch and its zkVersion
        state_version=PARTITION_VERSIONS,         # a partition's state znode, for the writes
        state_epoch=KNOWN),                       # the controller epoch stored in it
    session=per(BROKERS, BOOL),                   # as ZooKeeper sees it
    read=per(BROKERS, Record(                     # /controller_epoch as read before the multi
        done=BOOL, epoch=KNOWN, version=ZK_VERSIONS)),
    belief=per(BROKERS, Record(                   # I am the controller, with this epoch
        held=BOOL, epoch=KNOWN, version=ZK_VERSIONS)),
    pending=per(BROKERS, Record(                  # a state write under way to ZooKeeper
        any=BOOL, epoch=KNOWN, epoch_version=ZK_VERSIONS, state_version=PARTITION_VERSIONS)),
    # LeaderAndIsr requests ever sent, by sender and controller epoch: never taken away, so any
    # of them may arrive late, twice, or never.
    sent=Relation(BROKERS, EPOCHS),
    seen=per(BROKERS, KNOWN),                     # the highest controller epoch a broker knows
    won=ghost(Relation(BROKERS, EPOCHS)),         # who was elected with which epoch
    obeyed=ghost(per(BROKERS, KNOWN)),            # the highest controller epoch ever obeyed
    stale_write=ghost(BOOL),                      # ZooKeeper took a write of an older controller
    stale_obedience=ghost(BOOL),                  # a broker obeyed an older controller
)
