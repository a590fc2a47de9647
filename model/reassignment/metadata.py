"""A broker handles UpdateMetadata: it directs clients to the leader named in the request.

Until it arrives, a broker directs clients to the previous leader, which may be a removed replica.

Source: ReplicaManager.maybeUpdateMetadataCache, MetadataCache (2.3)
"""

from model.language import not_, require, transition
from model.protocol.state import BROKERS
from model.reassignment.leader_and_isr import has_all_leader_and_isr
from model.reassignment.lifecycle import without_update
from model.reassignment.state import CONTROLLERS
from model.reassignment.writing import is_outdated


@transition(broker=BROKERS, controller=CONTROLLERS)
def metadata_is_delayed(now, new, broker, controller):
    """The connection of a controller to a broker is slow: UpdateMetadata waits in its queue.

    LeaderAndIsr and StopReplica may be late on any connection, without a step of this kind.
    """
    require(now.zk.epoch >= controller,        "there was such a controller")
    require(not_(now.update[controller].slow.has(broker)), "the connection is not slow yet")

    new.update[controller].slow = now.update[controller].slow.including(broker)
    new.spent.delays            = now.spent.delays + 1


def require_update(now, broker, controller):
    update = now.update[controller]
    require(update.to.has(broker),             "UpdateMetadata is in flight")
    require(now.up.has(broker),                "the process runs")
    require(has_all_leader_and_isr(now, broker, controller, update.epoch),
                                               "all earlier requests have arrived")


@transition(broker=BROKERS, controller=CONTROLLERS)
def broker_updates_metadata(now, new, broker, controller):
    """A delayed UpdateMetadata arrives: the broker tells clients the leader that it names."""
    require_update(now, broker, controller)
    require(not_(is_outdated(now, broker, controller)),
                                               "the broker has seen no newer controller")

    new.metadata[broker] = {"leader": now.update[controller].leader, "controller": controller}
    new.update[controller] = without_update(now, controller, broker)


@transition(ends="refused", broker=BROKERS, controller=CONTROLLERS)
def update_of_older_controller_is_refused(now, new, broker, controller):
    """STALE_CONTROLLER_EPOCH: the broker's metadata cache stays as it is."""
    require_update(now, broker, controller)
    require(is_outdated(now, broker, controller),
                                               "the broker has seen a newer controller")

    new.update[controller] = without_update(now, controller, broker)
