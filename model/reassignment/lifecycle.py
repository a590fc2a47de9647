"""Processes: a crash loses everything except the log; a start registers the broker again."""

from model.language import BLANK, NOBODY, lam, transition, version, when
from model.protocol.processes import crash, reconnect, start
from model.protocol.state import BROKERS, LEADER_EPOCHS
from model.protocol.zookeeper import is_reached_no_longer
from model.reassignment.state import CONTROLLERS


def without_update(now, controller, broker):
    """The controller's UpdateMetadata when none is in flight to the broker."""
    update = now.update[controller]
    slow, to = update.slow.without(broker), update.to.without(broker)
    return when(to.is_empty(), update.but(slow=slow, to=[], leader=None, epoch=0),
                update.but(slow=slow, to=to))


def discard_requests(now, new, broker):
    """Requests for an older registration are refused (KIP-380); before, any broker with the id
    obeyed them."""
    if not version.broker_epoch:
        return
    new.request = lam(LEADER_EPOCHS, lambda epoch: lam(CONTROLLERS, lambda controller: when(
        now.request[epoch][controller].to.is_only(broker),
        now.request[epoch][controller].but(to=[], leader=None, isr=[], version=0, replicas=[]),
        now.request[epoch][controller].but(
            to=now.request[epoch][controller].to.without(broker)))))
    new.stop = lam(CONTROLLERS, lambda controller: lam(BROKERS, lambda b: when(
        b == broker, now.stop[controller][b].but(what="none", epoch=0), now.stop[controller][b])))
    new.update = lam(CONTROLLERS, lambda controller: without_update(now, controller, broker))


@transition(actor=NOBODY, ends="lost", fault=True, broker=BROKERS)
def broker_crashes(now, new, broker):
    """A process dies: its memory is gone, and its log stays. Its session lasts until it expires."""
    crash(now, new, broker)

    new.replica[broker]  = BLANK
    new.metadata[broker] = BLANK
    if not version.moves_forgotten_on_resign:
        new.kept[broker] = BLANK
    discard_requests(now, new, broker)


@transition(ends="lost", broker=BROKERS)
def broker_starts(now, new, broker):
    """A process starts and registers; it hosts nothing until it gets a LeaderAndIsr."""
    start(now, new, broker)
    is_reached_no_longer(now, new, broker)

    discard_requests(now, new, broker)


@transition(ends="lost", broker=BROKERS)
def broker_reconnects(now, new, broker):
    """A live process whose session expired opens a new one, resigns and registers again."""
    reconnect(now, new, broker)
    is_reached_no_longer(now, new, broker)

    discard_requests(now, new, broker)
