# A broker sends clients to a replica that is removed, until UpdateMetadata arrives.
# Shows: each batch of the controller has an UpdateMetadata for every broker, which waits where a
# connection is slow; the removed replica is gone before broker 3 hears of it. Of what waits only
# the newest counts. What a deposed controller sent last is refused.
system reassignment version 2.3 brokers 3

quietly topic_is_created first=1 second=none third=none
quietly admin_requests_reassignment first=2 second=none third=none
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
refused metadata_is_delayed broker=3 controller=2
metadata_is_delayed broker=3 controller=1
refused metadata_is_delayed broker=3 controller=1
refused broker_updates_metadata broker=3 controller=1
quietly controller_begins_move broker=3
quietly controller_writes_union_of_replicas broker=3
quietly controller_bumps_epoch broker=3
quietly broker_becomes_follower broker=2 epoch=1 controller=1
quietly older_epoch_is_refused broker=1 epoch=0 controller=1
quietly broker_becomes_leader broker=1 epoch=1 controller=1
quietly follower_catches_up leader=1 follower=2
quietly leader_expands_isr leader=1 replica=2
quietly controller_sees_targets_in_sync broker=3
quietly controller_sets_target_in_memory broker=3
controller_moves_leader_to_target broker=3 leader=2
----
refused metadata_is_delayed(broker=3, controller=2)
    there was such a controller — false (zk.epoch 1)
metadata_is_delayed(broker=3, controller=1)
    update[1].slow: {} → {3}
refused metadata_is_delayed(broker=3, controller=1)
    the connection is not slow yet — false (update[1].slow {3})
refused broker_updates_metadata(broker=3, controller=1)
    UpdateMetadata is in flight — false (update[1].to {})
controller_moves_leader_to_target(broker=3, leader=2)
    zk.leader: 1 → 2
    zk.leader_epoch: 1 → 2
    zk.version: 2 → 3
    cache[3].task: leading → leaving
    cache[3].leader: 1 → 2
    cache[3].version: 2 → 3
    cache[3].epoch: 1 → 2
    request[2][1].to: {} → {2}
    request[2][1].leader: none → 2
    request[2][1].isr: {} → {1,2}
    request[2][1].version: 0 → 3
    request[2][1].replicas: {} → {2}
    update[1].leader: 1 → 2
    update[1].epoch: 1 → 2
    metadata[1].leader: 1 → 2
    metadata[2].leader: 1 → 2

quietly broker_becomes_leader broker=2 epoch=2 controller=1
quietly controller_takes_old_replica_offline broker=3 replica=1
quietly controller_deletes_old_replicas broker=3
broker_deletes_replica broker=1 controller=1
quietly controller_writes_target_replicas broker=3
show metadata
check clients_are_sent_to_a_deleted_replica
----
broker_deletes_replica(broker=1, controller=1)
    stop[1][1].what: delete → none
    stop[1][1].epoch: 3 → 0
    replica[1].role: leader → none
    replica[1].leader: 1 → none
    replica[1].epoch: 1 → none
    replica[1].isr: {1,2} → {}
    replica[1].zk_version: 2 → 0
    replica[1].replicas: {1,2} → {}
    replica[1].caught_up: {1,2} → {}
metadata[1].leader: 2
metadata[2].leader: 2
metadata[3].leader: 1
metadata[1].controller: 1
metadata[2].controller: 1
metadata[3].controller: 1
clients_are_sent_to_a_deleted_replica: so it is — a broker sends clients to one whose replica is deleted: UpdateMetadata is on its way

quietly controller_removes_request_entry broker=3
quietly metadata_is_delayed broker=1 controller=1
controller_sends_final_update_metadata broker=3
broker_updates_metadata broker=3 controller=1
check metadata_names_the_leader
check a_move_is_done
----
controller_sends_final_update_metadata(broker=3)
    cache[3].task: telling → idle
    update[1].to: {3} → {1,3}
broker_updates_metadata(broker=3, controller=1)
    update[1].slow: {1,3} → {1}
    update[1].to: {1,3} → {1}
    metadata[3].leader: 1 → 2
metadata_names_the_leader: holds
a_move_is_done: so it is — a move is done: the target is the assignment, it was not before, and no request is there

refused update_of_older_controller_is_refused broker=1 controller=1
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
refused broker_updates_metadata broker=1 controller=1
update_of_older_controller_is_refused broker=1 controller=1
show metadata[1]
----
refused update_of_older_controller_is_refused(broker=1, controller=1)
    the broker has seen a newer controller — false (metadata[1].controller 1, replica[1].controller_epoch 1)
refused broker_updates_metadata(broker=1, controller=1)
    the broker has seen no newer controller — false (metadata[1].controller 2)
update_of_older_controller_is_refused(broker=1, controller=1)
    update[1].slow: {1} → {}
    update[1].to: {1} → {}
    update[1].leader: 2 → none
    update[1].epoch: 3 → 0
metadata[1].leader: 2
metadata[1].controller: 2
