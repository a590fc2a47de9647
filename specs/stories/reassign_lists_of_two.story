# Lists of more replicas than the bound allows are not requested: two.
# Shows: what is a capacity of the instance is refused as such.
system reassignment version 2.3 brokers 3 replicas 2

refused topic_is_created first=1 second=2 third=3
quietly topic_is_created first=1 second=none third=none
refused admin_requests_reassignment first=1 second=2 third=3
refused admin_requests_two_reassignments first=1 second=2 third=3
----
refused topic_is_created(first=1, second=2, third=3)
    the list may have three replicas — false
refused admin_requests_reassignment(first=1, second=2, third=3)
    the list may have three replicas — false
refused admin_requests_two_reassignments(first=1, second=2, third=3)
    the list may have three replicas — false
