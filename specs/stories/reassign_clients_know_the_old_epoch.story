# Clients are sent a leader epoch that is outdated.
# Shows: step 2 raises the epoch in ZooKeeper and in LeaderAndIsr, and UpdateMetadata carries what
# was in the controller's memory before. (KAFKA-9212, fixed in 2.3.2 and 2.4)
system reassignment version 2.3 without raised_epoch_cached brokers 2

quietly topic_is_created first=1 second=none third=none
quietly admin_requests_reassignment first=2 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_begins_move broker=1
quietly controller_writes_union_of_replicas broker=1
controller_bumps_epoch broker=1
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
show replica[1].epoch
show metadata_epoch
check clients_know_the_leader_epoch
----
controller_bumps_epoch(broker=1)
    zk.leader_epoch: 0 → 1
    zk.version: 0 → 1
    cache[1].task: bumping → idle
    cache[1].version: 0 → 1
    request[1][1].to: {} → {1,2}
    request[1][1].leader: none → 1
    request[1][1].isr: {} → {1}
    request[1][1].version: 0 → 1
    request[1][1].replicas: {} → {1,2}
replica[1].epoch: 1
metadata_epoch: 0
clients_know_the_leader_epoch: broken — clients are notified of every leader epoch that a leader is notified of, unless a deposed controller notified the leader
    (metadata_epoch 0, replica[1].controller_epoch 1, replica[1].epoch 1, replica[1].role leader, zk.epoch 1)
