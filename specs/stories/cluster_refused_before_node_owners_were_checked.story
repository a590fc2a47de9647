# What is refused where a broker takes any znode with its id for its own.
# Shows: who takes itself for registered does not register (KAFKA-1387).
system cluster version 2.3 without znode_owner_checked brokers 2 partitions 1 replicas 2

quietly session_ends_before_its_nodes broker=1
refused broker_keeps_registration_of_old_session broker=2
quietly broker_keeps_registration_of_old_session broker=1
refused broker_keeps_registration_of_old_session broker=1
quietly node_of_expired_session_is_deleted broker=1
refused broker_reconnects broker=1
----
refused broker_keeps_registration_of_old_session(broker=2)
    a node of its last session is there — false (zk.outlived {1})
refused broker_keeps_registration_of_old_session(broker=1)
    it has not looked yet — false (mistaken {1})
refused broker_reconnects(broker=1)
    it does not take itself for registered — false (mistaken {1})

# Broker 2 dies before it looks.
quietly session_ends_before_its_nodes broker=2
quietly broker_crashes broker=2
refused broker_keeps_registration_of_old_session broker=2
refused leader_shrinks_isr leader=1 replica=2 partition=0
----
refused broker_keeps_registration_of_old_session(broker=2)
    its process runs — false (up {1})
refused leader_shrinks_isr(leader=1, replica=2, partition=0)
    it has a ZooKeeper session — false (zk.registered {2})
