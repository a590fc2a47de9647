"""Steps of an administrator: create the topic, request reassignments, withdraw the request, delete
the topic.

Source: ReassignPartitionsCommand.executeAssignment (2.3)
"""

from model.language import (
    BLANK,
    CLIENTS,
    all_of,
    any_of,
    lam,
    not_,
    require,
    transition,
    version,
    when,
)
from model.protocol.state import BROKERS
from model.reassignment.kip_455 import is_kip_455, is_twelve_steps
from model.reassignment.replica_lists import (
    brokers_where,
    is_empty,
    listed,
    members,
    require_list,
    written,
)


@transition(actor=CLIENTS, first=BROKERS, second=BROKERS.or_none, third=BROKERS.or_none)
def topic_is_created(now, new, first, second, third):
    """The partition begins with a leader that all of its replicas follow, in epoch 0.

    `topics` has the steps of its creation.
    """
    require(is_empty(now.zk.assignment),            "there is no such topic")
    require(now.zk.epoch == 0,                      "no controller was there before")
    require_list(first, second, third)

    places = written(first, second, third)
    replicas = members(places)
    new.zk.assignment = places
    new.zk.leader     = first
    new.zk.isr        = replicas
    new.origin        = places
    follower = now.replica[first].but(role="follower", leader=first, epoch=0)
    leader = follower.but(role="leader", isr=replicas, replicas=replicas, caught_up=replicas)
    new.replica = lam(BROKERS, lambda b: when(
        b == first, leader, when(listed(places, b), follower, now.replica[b])))


def require_no_request(now):
    require(not_(is_empty(now.zk.assignment)),      "there is a topic")
    require(all_of(is_empty(now.zk.requested), now.zk.other == "none"),
                                                    "no other request is there")
    if is_kip_455(version):
        require(all_of(now.zk.adding.is_empty(), now.zk.removing.is_empty()),
                                                    "the topic's znode has no reassignment")


def ask(now, new, places):
    new.zk.requested = places
    new.origin       = now.zk.assignment
    new.wanted       = places
    new.dropped      = replicas_outside_isr(now)
    new.spent.moves  = now.spent.moves + 1


def replicas_outside_isr(now):
    """Replicas that are not in the ISR: they may lack committed records."""
    return brokers_where(lambda b: any_of(
        now.dropped.has(b), all_of(listed(now.zk.assignment, b), not_(now.zk.isr.has(b)))))


@transition(first=BROKERS, second=BROKERS.or_none, third=BROKERS.or_none)
def admin_requests_reassignment(now, new, first, second, third):
    """/admin/reassign_partitions is created, with the list that the partition is to have.

    Refused where one is there: "There is an existing assignment running."
    """
    require_no_request(now)
    require_list(first, second, third)

    ask(now, new, written(first, second, third))


@transition(first=BROKERS, second=BROKERS.or_none, third=BROKERS.or_none)
def admin_requests_two_reassignments(now, new, first, second, third):
    """/admin/reassign_partitions is created with an entry for another partition as well."""
    require_no_request(now)
    require_list(first, second, third)

    ask(now, new, written(first, second, third))
    new.zk.other      = "moving"
    new.other_is_open = True
    new.spent.expiries = now.spent.expiries + 1


@transition()
def admin_requests_unknown_partition(now, new):
    """/admin/reassign_partitions is created for a partition that does not exist."""
    require_no_request(now)

    new.zk.other     = "unknown"
    new.spent.expiries = now.spent.expiries + 1


@transition(only=is_twelve_steps)
def admin_withdraws_request(now, new):
    """/admin/reassign_partitions is deleted by hand: up to 2.3 there is no other way to cancel.

    What a controller has in memory goes on; to stop it, /controller has to be deleted as well.
    """
    require(not_(is_empty(now.zk.requested)),       "a move is asked for")

    new.zk.requested      = BLANK
    new.zk.other          = "none"
    new.wanted            = BLANK
    new.other_is_open     = False
    new.withdrawn         = True
    new.withdrawn_in      = now.zk.epoch
    new.spent.expiries = now.spent.expiries + 1


@transition()
def admin_deletes_topic(now, new):
    """/admin/delete_topics gets the topic.

    The deletion itself is in `topics`. Here a newly elected controller may find that the deletion
    has to wait for a reassignment.
    """
    require(not_(is_empty(now.zk.assignment)),      "there is a topic")
    require(not_(now.zk.deleting),                  "it is not to be deleted yet")

    new.zk.deleting     = True
    new.spent.expiries = now.spent.expiries + 1
