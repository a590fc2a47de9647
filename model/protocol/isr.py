"""A leader's ISR write: the replicas that may leave or join, and the version that fences the write.

Each system defines itself which followers lag or have caught up: `replication` has log end offsets,
`reassignment` and `cluster` only know who is caught up. In `topics` a leader writes the registered
ISR directly, without a version.

Source: Partition.maybeShrinkIsr, maybeExpandIsr (2.3)
"""

from model.language import not_, require


def require_leadership(now, leader, leads):
    """`leads`: the broker believes that it leads, rightly or not."""
    require(leads,                             "the broker believes it leads")
    require(now.zk.registered.has(leader),     "it has a ZooKeeper session")


def require_member(leader, replica, isr):
    """`isr`: as the leader has it in memory."""
    require(leader != replica,                 "a leader never drops itself")
    require(isr.has(replica),                  "the replica is in the leader's ISR")


def require_outsider(replica, isr):
    require(not_(isr.has(replica)),            "the replica is not in the leader's ISR")


def require_cached_version(cached, registered):
    """The conditional write passes: KAFKA-428."""
    require(cached == registered,              "the cached version is current")


def require_outdated_version(cached, registered):
    """"Cached zkVersion not equal to that in zookeeper": the write is refused."""
    require(cached != registered,              "the cached version is out of date")


def register_isr(now, new, leader, isr):
    """ZooKeeper executes the write: the leader epoch stays, only the version is raised."""
    new.zk.leader       = leader
    new.zk.leader_epoch = now.replica[leader].epoch
    new.zk.isr          = isr
    new.zk.version      = now.zk.version + 1
