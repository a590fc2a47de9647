"""Steps of messages: notifications, controller requests, fetches, and their responses."""

from __future__ import annotations

from dataclasses import replace

from impl.core.answers import NONE
from impl.core.fetcher_thread import FetchReply
from impl.core.requests import LeaderAndIsr
from impl.sim.simulation import Arguments, offered
from impl.world.fetches import answer
from impl.world.whole_cluster.controller_requests import (
    Before,
    first_wrong,
    handled_request_mismatch,
)
from impl.world.whole_cluster.fetch_rounds import (
    RECORDS,
    FollowerBefore,
    LeaderBefore,
    applied_response_mismatch,
    fetch_request_mismatch,
    fetch_response_mismatch,
    kept_of_others,
)
from impl.world.whole_cluster.observations import (
    EventHandled,
    FetchAnswered,
    FetchRoundAdvanced,
    LateResponseHandled,
    RequestAnswered,
)
from impl.world.whole_cluster.state_writes import StatesBefore, written_state_mismatch
from impl.world.whole_cluster.whole_cluster import WholeCluster
from impl.znodes import TopicPartition

TO = "controller broker"
BY = "follower leader"


def _with_notifications(world: WholeCluster) -> Arguments:
    pending = world.zookeeper.watches.pending
    return [
        (number,) for number, node in world.running() if pending.get(node.session.session)
    ]  # fmt: skip


def zookeeper_notifies(world: WholeCluster, broker: int) -> None:
    """The next notification reaches its session, in order."""
    node = world.nodes[broker]
    pending = world.zookeeper.watches.pending
    event, *later = pending.pop(node.session.session)
    if later:
        pending[node.session.session] = later
    node.events.notified(event, world.now_ms())


def with_events(world: WholeCluster) -> Arguments:
    """Brokers whose controller has a queued event."""
    return [(number,) for number, node in world.running() if node.events.waiting]


def event_is_handled(world: WholeCluster, broker: int) -> None:
    """A broker's controller handles its next event."""
    node = world.nodes[broker]
    request, controller = node.events.waiting[0].request, node.controller
    late = request is not None and request.controller_epoch != controller.core.context.epoch
    before = controller.memory() if late else None
    states, changes = StatesBefore(world, node), node.state_changes
    node.handle_next()
    wrong = first_wrong(written_state_mismatch(world, node, states))
    world.happened.append((broker, EventHandled(states.name, wrong, changes.unsettled)))
    if request is not None and before is not None and controller.memory() != before:
        world.happened.append((broker, LateResponseHandled(request)))


# Requests of controllers


def _arriving(world: WholeCluster) -> Arguments:
    return [
        (controller, broker)
        for controller, node in world.nodes.items()
        for broker, channel in node.channels.busy()
        if channel.answer is None and world.nodes[broker].running
    ]


def request_arrives(world: WholeCluster, controller: int, broker: int) -> None:
    """A broker carries out a controller's request, or refuses it; its response is on the way."""
    channel, node = world.nodes[controller].channels.to(broker), world.nodes[broker]
    assert channel.under_way is not None, "a request is under way"
    sent = channel.under_way
    before = Before(node, sent.request)
    channel.answer = node.handle_request(sent)
    wrong = first_wrong(handled_request_mismatch(node, sent.request, before, channel.answer))
    done = RequestAnswered(sent.request, node.epoch, node.started, channel.answer[0], wrong)
    world.happened.append((broker, done))
    if isinstance(sent.request, LeaderAndIsr) and channel.epoch != node.epoch:
        obeyed = [one for one, error in channel.answer[1].items() if error == NONE]
        hosted = node.replicas.partitions  # a directory may have failed while it was obeyed
        led = [one for one in obeyed if one in hosted and hosted[one].leads]
        world.misled |= {(one, node.incarnations[one]) for one in led}
    if channel.orphan:
        channel.under_way = None


def _answered(world: WholeCluster) -> Arguments:
    return [
        (controller, broker)
        for controller, node in world.running()
        for broker, channel in node.channels.busy()
        if channel.answer is not None
    ]


def answer_arrives(world: WholeCluster, controller: int, broker: int) -> None:
    """The response reaches the controller, and the next request is sent."""
    node = world.nodes[controller]
    channel = node.channels.to(broker)
    sent, said = channel.under_way, channel.answer
    assert sent is not None, "a request is under way"
    assert said is not None, "it is answered"
    channel.done()
    node.events.answered(broker, sent.request, *said)


def answer_is_lost(world: WholeCluster, controller: int, broker: int) -> None:
    """The connection breaks before the response arrives: the broker gets the request again."""
    world.nodes[controller].channels.to(broker).lose()


def _sent(world: WholeCluster) -> Arguments:
    return [
        (controller, broker)
        for controller, node in world.nodes.items()
        for broker, channel in node.channels.busy()
        if channel.answer is None
    ]


def request_is_lost(world: WholeCluster, controller: int, broker: int) -> None:
    """The connection breaks before the request arrives; a controller that has resigned never sends
    it again.
    """
    world.nodes[controller].channels.to(broker).lose()


# Fetches


def _idle(world: WholeCluster) -> Arguments:
    return [
        (follower, leader)
        for follower, node in world.running()
        for leader, connection in node.connections.items()
        if connection.round is None and connection.rounds.states
    ]


def follower_asks(world: WholeCluster, follower: int, leader: int) -> None:
    """A round begins: it asks for leader epochs that have to be compared, else for records."""
    connection = world.nodes[follower].connections[leader]
    connection.ask()
    wrong = first_wrong(fetch_request_mismatch(connection, begins=True))
    world.happened.append((follower, FetchRoundAdvanced(leader, wrong)))


def _asked(world: WholeCluster) -> Arguments:
    return [
        (follower, leader)
        for follower, node in world.nodes.items()
        for leader, connection in node.connections.items()
        if connection.exchange is not None
        and connection.exchange.is_under_way
        and world.nodes[leader].running
    ]


def leader_answers(world: WholeCluster, follower: int, leader: int) -> None:
    """The leader answers, and records the follower's position."""
    connection = world.nodes[follower].connections[leader]
    assert connection.exchange is not None, "a question is under way"
    node, now = world.nodes[leader], world.now_ms()
    before = LeaderBefore(node, follower, connection.exchange)
    done = answer(node.replicas, follower, connection.exchange, now, world.fetch_bytes)
    connection.exchange = done
    wrong = first_wrong(fetch_response_mismatch(before, done, now))
    world.happened.append((leader, FetchAnswered(follower, wrong)))
    for one, offsets in kept_of_others(before, done, connection.logs):
        start = node.replicas.partitions[one].log_start
        known = world.diverged.setdefault((one, node.incarnations[one]), set())
        known |= {*offsets}
        known -= {at for at in known if at < start}


def _answered_fetches(world: WholeCluster) -> Arguments:
    return [
        (follower, leader)
        for follower, node in world.running()
        for leader, connection in node.connections.items()
        if connection.exchange is not None and not connection.exchange.is_under_way
    ]


def follower_applies(world: WholeCluster, follower: int, leader: int) -> None:
    """Truncate, append, and take over the high watermark; the next request may be sent at once."""
    node = world.nodes[follower]
    connection = node.connections[leader]
    before = FollowerBefore(node, connection)
    connection.apply()
    wrong = first_wrong(applied_response_mismatch(before, connection))
    wrong = wrong or first_wrong(fetch_request_mismatch(connection, begins=False))
    world.happened.append((follower, FetchRoundAdvanced(leader, wrong)))
    if not connection.rounds.states and connection.round is None:
        node.connections.pop(leader, None)


def _with_records(world: WholeCluster) -> Arguments:
    return [
        (follower, leader)
        for follower, leader in _answered_fetches(world)
        if _records_for(world, follower, leader)
    ]


def _records_for(
    world: WholeCluster, follower: int, leader: int
) -> dict[TopicPartition, FetchReply]:
    """The answers on their way that have records."""
    exchange = world.nodes[follower].connections[leader].exchange
    if exchange is None or exchange.kind != RECORDS:
        return {}
    return {one: reply for one, reply in (exchange.replies or {}).items() if reply.batch}


def records_are_altered(world: WholeCluster, follower: int, leader: int) -> None:
    """One bit of a response is altered on the way: in the first partition that has records."""
    connection = world.nodes[follower].connections[leader]
    assert connection.exchange is not None, "there is an answer"
    replies = dict(connection.exchange.replies or {})
    one, reply = next(iter(_records_for(world, follower, leader).items()))
    last = bytes([reply.batch[-1] ^ 1])
    replies[one] = reply._replace(batch=reply.batch[:-1] + last)
    connection.exchange = replace(connection.exchange, replies=replies)


def _under_way(world: WholeCluster) -> Arguments:
    return [
        (follower, leader)
        for follower, node in world.nodes.items()
        for leader, connection in node.connections.items()
        if connection.exchange is not None and not connection.exchange.is_lost
    ]


def fetch_is_lost(world: WholeCluster, follower: int, leader: int) -> None:
    """A request or its response never arrives."""
    world.nodes[follower].connections[leader].lose()


KINDS = (
    offered("zookeeper_notifies", "broker", _with_notifications, zookeeper_notifies, 100),
    offered("event_is_handled", "broker", with_events, event_is_handled, 150),
    offered("request_arrives", TO, _arriving, request_arrives, 120),
    offered("answer_arrives", TO, _answered, answer_arrives, 120),
    offered("answer_is_lost", TO, _answered, answer_is_lost, 0, "losses"),
    offered("request_is_lost", TO, _sent, request_is_lost, 0, "losses"),
    offered("follower_asks", BY, _idle, follower_asks, 100),
    offered("leader_answers", BY, _asked, leader_answers, 100),
    offered("follower_applies", BY, _answered_fetches, follower_applies, 100),
    offered("fetch_is_lost", BY, _under_way, fetch_is_lost, 0, "losses"),
    offered("records_are_altered", BY, _with_records, records_are_altered, 0, "alterations"),
)
