# Lists of more replicas than the bound allows are not requested: one.
# Shows: what is a capacity of the instance is refused as such.
system reassignment version 2.3 brokers 2 replicas 1

refused topic_is_created first=1 second=2 third=none
quietly topic_is_created first=1 second=none third=none
refused admin_requests_reassignment first=1 second=2 third=none
refused admin_requests_two_reassignments first=1 second=2 third=none
----
refused topic_is_created(first=1, second=2, third=none)
    the list may have two replicas — false
refused admin_requests_reassignment(first=1, second=2, third=none)
    the list may have two replicas — false
refused admin_requests_two_reassignments(first=1, second=2, third=none)
    the list may have two replicas — false
