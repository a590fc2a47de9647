"""Processes: a crash forgets all but the log; a start registers anew."""

from model.language import BLANK, NOBODY, lam, not_, require, transition, version, when
from model.protocol.controllership import forget_controllership
from model.protocol.state import BROKERS, LEADER_EPOCHS
from model.reassignment.state import CONTROLLERS


def without_update(now, controller, broker):
    """The controller's UpdateMetadata when none is in flight to the broker."""
    update = now.update[controller]
    slow, to = update.slow.without(broker), update.to.without(broker)
    return when(to.is_empty(), update.but(slow=slow, to=[], leader=None, epoch=0),
                update.but(slow=slow, to=to))


def discard_requests(now, new, broker):
    """Requests made for an older registration are dead (KIP-380); before, whoever has the id
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
    require(now.up.has(broker),                     "the process runs")

    new.spent.crashes   = now.spent.crashes + 1
    new.up              = now.up.without(broker)
    forget_controllership(new, broker)
    new.replica[broker] = BLANK
    new.metadata[broker] = BLANK
    if not version.moves_forgotten_on_resign:
        new.kept[broker] = BLANK
    discard_requests(now, new, broker)


@transition(ends="lost", broker=BROKERS)
def broker_starts(now, new, broker):
    """A process starts and registers; nobody has sent it what it hosts."""
    require(not_(now.up.has(broker)),               "the process does not run")
    require(not_(now.zk.registered.has(broker)),    "the old registration is gone")

    new.up            = now.up.including(broker)
    new.zk.registered = now.zk.registered.including(broker)
    discard_requests(now, new, broker)


@transition(ends="lost", broker=BROKERS)
def broker_reconnects(now, new, broker):
    """A live process whose session expired opens a new one, resigns and registers again."""
    require(now.up.has(broker),                     "the process runs")
    require(not_(now.zk.registered.has(broker)),    "its session has expired")

    forget_controllership(new, broker)
    new.zk.registered = now.zk.registered.including(broker)
    discard_requests(now, new, broker)
