# Two brokers lead, and the follower fetches from the newer leader only.
# Shows: what a deposed leader knows of a follower is of the past, and it takes nobody in.
system reassignment version 2.3 brokers 3 replicas 3

quietly topic_is_created first=1 second=2 third=3
quietly broker_becomes_controller broker=3
quietly broker_learns_it_won broker=3
quietly controller_reads_context broker=3
quietly leader_appends leader=1
quietly leader_shrinks_isr leader=1 replica=3
quietly session_expires broker=1
quietly controller_sees_broker_failure broker=3 dead=1
quietly controller_elects_leader broker=3 leader=2
quietly older_epoch_is_refused broker=3 epoch=0 controller=1
quietly broker_becomes_follower broker=3 epoch=1 controller=1
refused follower_catches_up leader=1 follower=3
quietly broker_reconnects broker=1
refused leader_expands_isr leader=1 replica=3
refused leader_loses_response_to_isr_expand leader=1 replica=3
refused leader_expand_is_refused leader=1 replica=3
check leader_in_isr
----
refused follower_catches_up(leader=1, follower=3)
    it follows this leader — false (replica[3].leader 2)
refused leader_expands_isr(leader=1, replica=3)
    it follows this leader — false (replica[3].leader 2)
refused leader_loses_response_to_isr_expand(leader=1, replica=3)
    it follows this leader — false (replica[3].leader 2)
refused leader_expand_is_refused(leader=1, replica=3)
    it follows this leader — false (replica[3].leader 2)
leader_in_isr: holds
