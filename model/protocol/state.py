"""The parts of a system's state that shared transitions use, under common names."""

from model.language import BOOL, Bounded, Enumeration, Numbers, SetOf, per
from model.language.schema import Schema
from model.language.sorts import Sort

BROKERS = Enumeration("broker", "brokers")
LEADER_EPOCHS = Numbers("leader epoch", 0, Bounded("epoch"))
CONTROLLER_EPOCHS = Numbers("controller epoch", 0, Bounded("controllers"))
ZK_VERSIONS = Numbers("zkVersion", 0, Bounded("versions"))

# In ZooKeeper, parts of `zk`
CONTROLLER_NODES: dict[str, Schema | Sort] = {
    "controller": BROKERS.or_none,              # /controller: its owner
    "epoch": CONTROLLER_EPOCHS,                 # /controller_epoch
    "registered": SetOf(BROKERS),               # /brokers/ids
}

# How a broker becomes controller: the epoch it wrote and has not heard of; the one it believes in
CONTROLLERSHIP: dict[str, Schema | Sort] = {
    "campaign": per(BROKERS, CONTROLLER_EPOCHS),
    "reply_lost": per(BROKERS, BOOL),           # nobody will tell it; it must look for itself
    "belief": per(BROKERS, CONTROLLER_EPOCHS),
}
