# A controller is asked for a list of more replicas than the bound allows.
# Shows: what is a capacity of the instance is refused as such.
system reassignment version 2.4 brokers 2 replicas 1

quietly topic_is_created first=1 second=none third=none
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1

refused controller_is_asked_to_reassign broker=1 first=1 second=2 third=none
----
refused controller_is_asked_to_reassign(broker=1, first=1, second=2, third=none)
    the list may have two replicas — false
