# Lists of more replicas than the bound allows are not asked for: two.
# Shows: what is a capacity of the instance is refused as such.
system reassignment version 2.3 brokers 3 replicas 2

refused topic_is_created first=1 second=2 third=3
quietly topic_is_created first=1 second=none third=none
refused administrator_asks_for_move first=1 second=2 third=3
refused administrator_asks_for_two_moves first=1 second=2 third=3
----
refused topic_is_created(first=1, second=2, third=3)
    the list may have three replicas — false
refused administrator_asks_for_move(first=1, second=2, third=3)
    the list may have three replicas — false
refused administrator_asks_for_two_moves(first=1, second=2, third=3)
    the list may have three replicas — false
