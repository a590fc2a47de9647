# What is refused to brokers in a controller election, and to those that come too late.
# Shows: each line is refused for one reason alone.
system reassignment version 2.3 brokers 2 replicas 2

quietly broker_crashes broker=1
refused broker_becomes_controller broker=1
quietly session_expires broker=2
refused broker_becomes_controller broker=2
quietly topic_is_created first=1 second=none third=none
quietly broker_reconnects broker=2
quietly broker_becomes_controller broker=2
quietly session_expires broker=2
refused broker_loses_controller_election broker=2
quietly reply_to_registration_is_lost broker=2
refused broker_learns_it_won broker=2
refused reply_to_registration_is_lost broker=2
quietly admin_requests_reassignment first=1 second=none third=none
quietly broker_reconnects broker=2
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
refused older_epoch_is_refused broker=1 epoch=0 controller=2
----
refused broker_becomes_controller(broker=1)
    its process runs — false (up {2})
refused broker_becomes_controller(broker=2)
    the broker has a session — false (zk.registered {1})
refused broker_loses_controller_election(broker=2)
    its reply was lost — false (reply_lost[2] false)
refused broker_learns_it_won(broker=2)
    the reply arrives, or the broker finds itself — false (reply_lost[2] true, zk.controller none)
refused reply_to_registration_is_lost(broker=2)
    the reply is on its way — false (reply_lost[2] true)
refused older_epoch_is_refused(broker=1, epoch=0, controller=2)
    the process runs — false (up {2})
