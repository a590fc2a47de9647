"""Checks by which a broker obeys or refuses a LeaderAndIsr: controller epoch, leader epoch, leader.

The conditions take values, because each system keeps the epochs that a broker has seen, and the
requests in flight, in its own fields. The effect on the broker's replica differs, too:
`replication` has logs and truncation, `reassignment` sets of records, `cluster` versions of the
state.

Source: ReplicaManager.becomeLeaderOrFollower (2.3)
"""

from model.language import is_none, not_, require


def require_current_controller(sent, seen):
    """`sent`: the controller epoch of the request; `seen`: the highest that the broker knows."""
    require(sent >= seen,                      "the broker has seen no newer controller")


def require_older_controller(sent, seen):
    """The condition for answering STALE_CONTROLLER_EPOCH."""
    require(sent < seen,                       "the broker has seen a newer controller")


def require_newer_epoch(sent, known):
    """`sent`: the leader epoch of the request; `known`: the broker's own of the partition."""
    require(sent > known,                      "the leader epoch is newer than the broker's")


def require_known_epoch(sent, known):
    require(not_(sent > known),                "the broker knows this leader epoch or a newer one")


def require_to_lead(broker, leader):
    """`leader`: the leader in the request."""
    require(leader == broker,                  "the request names the broker the leader")


def require_to_follow(broker, leader):
    require(not_(is_none(leader)),             "the request names a leader")
    require(leader != broker,                  "the request names another broker the leader")


def require_leaderless(leader):
    require(is_none(leader),                   "the request names no leader")
