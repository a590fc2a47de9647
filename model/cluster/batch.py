"""ControllerBrokerRequestBatch: requests are collected in a batch; each broker has one send queue.

LeaderAndIsr is sent before UpdateMetadata, and never without it: brokers learn of a new leader
first, and of the live brokers afterwards. The queues are in the controller's memory, and are
dropped when it resigns.

UpdateMetadata is sent alone for six reasons, five of them here (the sixth is reassignment):
failover (`controller_sends_initial_update_metadata`), a broker's start
(`controller_sends_update_metadata_for_new_brokers`), another address
(`controller_reads_endpoints`), replicas that go offline without a leader among them
(`controller_sends_update_metadata_for_dead_brokers`), and ISR changes
(`controller_reads_isr_changes`).

Source: ControllerBrokerRequestBatch, ControllerChannelManager (2.3)
"""

from model.cluster.state import PARTITIONS
from model.language import BLANK, all_of, lam, not_, some, version, when
from model.protocol.state import BROKERS


def is_reached(now, broker, target, live):
    """The controller believes that the target is live, and its request names the present
    registration.

    Why: from 2.2 a request names the epoch of the registration that the controller knows (KIP-380);
         one for an earlier registration would be refused, so it is left out here. For a bounced
         broker the controller knows the earlier one until it handles the bounce.
    """
    cache = now.cache[broker]
    if version.broker_epoch:
        return all_of(
            live.has(target), cache.reached.has(target), not_(cache.bounced.has(target)))
    return live.has(target)


def cached(now, broker, partition):
    """The state of a partition that the controller has in memory."""
    return now.partition[partition].context[broker].version


def states_of_request(rule):
    """The partition states in a request: `rule(partition)` is a zkVersion, or none."""
    return lam(PARTITIONS, rule)


def batch(now, broker, goes, tells, stops=None):
    """The send queues with one more batch of requests.

    LeaderAndIsr where `goes(partition, target)` and the target has a replica; then UpdateMetadata
    to every live broker for the partitions with `tells(partition)`; then StopReplica where
    `stops(partition, target)`, for which `goes` is false.
    """
    live = now.cache[broker].live

    def obeys(partition, target):
        return all_of(now.partition[partition].replicas.has(target), goes(partition, target))

    def with_requests(target):
        queue = now.cache[broker].queue[target]
        order = {"kind": "leader_and_isr", "alive": [], "endpoints": BLANK,
                 "about": states_of_request(lambda partition: when(
                     obeys(partition, target), cached(now, broker, partition), None))}
        news = {"kind": "update_metadata", "alive": live,
                "endpoints": now.cache[broker].endpoints,
                "about": states_of_request(lambda partition: when(
                    tells(partition), cached(now, broker, partition), None))}
        informing = when(
            all_of(is_reached(now, broker, target, live), some(PARTITIONS, tells)),
            when(some(PARTITIONS, lambda partition: obeys(partition, target)),
                queue.append(**order).append(**news),
                queue.append(**news)),
            queue)
        if not stops:
            return informing
        return when(
            all_of(is_reached(now, broker, target, live),
                   some(PARTITIONS, lambda partition: stops(partition, target))),
            when(some(PARTITIONS, tells), queue.append(**news), queue)
                .append(**stopping(now, broker, target, stops)),
            informing)

    return lam(BROKERS, with_requests)


def stop_replica(now, broker, queue, target, stops):
    """The queue with one more StopReplica (without deletion) for the partitions with
    `stops(partition, target)`."""
    return when(
        all_of(is_reached(now, broker, target, now.cache[broker].live),
               some(PARTITIONS, lambda partition: stops(partition, target))),
        queue.append(**stopping(now, broker, target, stops)), queue)


def stopping(now, broker, target, stops):
    return {"kind": "stop_replica", "alive": [], "endpoints": BLANK,
            "about": states_of_request(lambda partition: when(
                stops(partition, target), cached(now, broker, partition), None))}


def update_metadata(now, broker, live, says, endpoints=None):
    """The queues with one more UpdateMetadata for every live broker: the live brokers with their
    endpoints, and `says(partition, target)` of partitions."""
    def with_request(target):
        queue = now.cache[broker].queue[target]
        return when(
            is_reached(now, broker, target, live),
            queue.append(kind="update_metadata", alive=live,
                endpoints=now.cache[broker].endpoints if endpoints is None else endpoints,
                about=states_of_request(lambda partition: says(partition, target))),
            queue)

    return lam(BROKERS, with_request)


def update_metadata_of_live_brokers(now, broker, live=None, to_whom_all=None, endpoints=None):
    """UpdateMetadata with the live brokers; with all partitions only to brokers that need them, and
    before 2.2 to all brokers."""
    def says(partition, target):
        state = cached(now, broker, partition)
        if version.announcement == "all_partitions":
            return state
        return when(to_whom_all(target), state, None) if to_whom_all else None

    return update_metadata(
        now, broker, now.cache[broker].live if live is None else live, says, endpoints)
