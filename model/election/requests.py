"""Requests from controllers to brokers, and the checks by which a broker obeys or refuses them."""

from model.election.state import BROKERS, EPOCHS
from model.language import any_of, larger, not_, require, transition, version


@transition(broker=BROKERS)
def controller_sends_request(now, new, broker):
    """A controller sends a LeaderAndIsr under its controller epoch."""
    belief = now.belief[broker]
    require(belief.held,                                 "the broker believes it is the controller")
    # redundant because the step would change nothing: what was sent stays in flight.
    require(not_(now.sent.has(broker, belief.epoch)),    "it has not sent this before")

    new.sent = now.sent.including(broker, belief.epoch)


@transition(broker=BROKERS, sender=BROKERS, epoch=EPOCHS)
def broker_handles_request(now, new, broker, sender, epoch):
    """A broker carries out a request of a controller that is not older than any it knows.

    Kafka: ReplicaManager.becomeLeaderOrFollower, STALE_CONTROLLER_EPOCH otherwise
    """
    require(now.sent.has(sender, epoch),                 "the request was sent")
    if version.requests_fenced:
        require(epoch >= now.seen[broker],               "the broker knows no newer controller")

    new.seen[broker]    = epoch
    new.obeyed[broker]  = larger(epoch, now.obeyed[broker])
    new.stale_obedience = any_of(now.stale_obedience, epoch < now.obeyed[broker])
