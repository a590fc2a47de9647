# A broker finds the znode of its last session, and believes that it is registered.
# Shows: the node goes with the session that made it, and nobody makes it again; whose session it was
# is looked at since 0.9, and whole since 2.2. (KAFKA-1387, KAFKA-7165)
system cluster version 2.3 without znode_owner_checked brokers 2 partitions 1 replicas 2 versions 2 epoch 2 controllers 1 queue 3 crashes 0 expiries 0 losses 0 shutdowns 0 requests 0 lingering 1

session_ends_before_its_nodes broker=1
broker_keeps_registration_of_old_session broker=1
node_of_expired_session_is_deleted broker=1
check registered_brokers_stay_registered
----
session_ends_before_its_nodes(broker=1)
    zk.outlived: {} → {1}
    spent.lingering: 0 → 1
broker_keeps_registration_of_old_session(broker=1)
    mistaken: {} → {1}
node_of_expired_session_is_deleted(broker=1)
    zk.registered: {1,2} → {2}
    zk.outlived: {1} → {}
registered_brokers_stay_registered: broken — a broker that believes it is registered is registered
    (mistaken {1}, zk.registered {2})
