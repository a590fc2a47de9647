"""Changes of a running broker's endpoints, which the controller sends to every broker.

Source: KafkaController.processBrokerModification, onBrokerUpdate (1.1, KIP-226)
"""

from model.cluster.batch import update_metadata_of_live_brokers
from model.cluster.events import dequeued, notified, require_next
from model.language import all_of, lam, not_, require, transition, version, when
from model.protocol.controllership import require_controllership
from model.protocol.state import BROKERS

MODIFIED = "a BrokerModifications of the broker is next in its queue"


@transition(broker=BROKERS)
def broker_changes_endpoints(now, new, broker):
    """A broker writes other listeners into its own znode, and watches on its data fire."""
    require(now.up.has(broker),                     "the process runs")
    require(now.zk.registered.has(broker),          "it is registered")
    require(not_(now.zk.outlived.has(broker)),      "its node is that of its session")

    new.zk.endpoints[broker] = now.zk.endpoints[broker] + 1
    if version.broker_data_watched:
        new.cache = notified(now, "broker_modification", subject=broker)


def has_other_endpoints(now, broker, subject):
    """The endpoints that the controller knows differ from the registered ones."""
    cache = now.cache[broker]
    return all_of(now.zk.registered.has(subject), cache.live.has(subject),
                  now.zk.endpoints[subject] != cache.endpoints[subject])


@transition(shows="read", broker=BROKERS, subject=BROKERS)
def controller_reads_endpoints(now, new, broker, subject):
    """The controller reads the broker's znode, and sends UpdateMetadata.

    The read sets the watch again.
    """
    cache = now.cache[broker]
    require_controllership(now, broker)
    require_next(now, broker, "broker_modification", MODIFIED, subject)
    require(has_other_endpoints(now, broker, subject), "the broker's endpoints are others by now")

    endpoints = lam(BROKERS, lambda one: when(
        one == subject, now.zk.endpoints[one], cache.endpoints[one]))
    new.cache[broker] = dequeued(cache).but(
        watched=cache.watched.including(subject), endpoints=endpoints,
        queue=update_metadata_of_live_brokers(now, broker, endpoints=endpoints))


@transition(broker=BROKERS, subject=BROKERS)
def controller_finds_endpoints_unchanged(now, new, broker, subject):
    """The broker is not registered, or its endpoints were read with another event.

    If the controller knows the broker and its znode exists, the read sets the watch again, whatever
    the registration.
    """
    cache = now.cache[broker]
    require_controllership(now, broker)
    require_next(now, broker, "broker_modification", MODIFIED, subject)
    require(not_(has_other_endpoints(now, broker, subject)),
            "the broker is gone, or its endpoints are the same")

    new.cache[broker] = dequeued(cache).but(watched=when(
        all_of(now.zk.registered.has(subject), cache.live.has(subject)),
        cache.watched.including(subject), cache.watched))
