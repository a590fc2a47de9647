"""The controller's event queue: events are handled in order, by one thread.

A watch is one-shot. The event's handler sets it again when it reads, so it is set exactly while its
event is not queued. Any number of changes become one event, and the handler reads the current
state, which may be unchanged. An expired session loses its watches; the broker clears its queue,
because Expire precedes all other events, and resigns (`broker_reconnects`). A clean shutdown clears
the queue as well (ShutdownEventThread, `broker_stops`).

Source: ControllerEventManager (2.3), KafkaZkClient's handlers of changes
"""

from model.cluster.state import EVENT_SLOTS
from model.cluster.thread import require_idle
from model.language import all_of, below, is_none, lam, require, some, version, when
from model.protocol.state import BROKERS


def is_same_subject(one, other):
    """Two subjects: the same broker, or none."""
    return is_none(one) if other is None else one == other


def is_queued(events, kind, subject=None):
    return some(below(EVENT_SLOTS, events.end), lambda slot: all_of(
        events[slot].kind == kind, is_same_subject(events[slot].subject, subject)))


def with_event(cache, kind, subject=None):
    """The queue with the event at its end, unless it is queued already."""
    return cache.but(events=when(
        is_queued(cache.events, kind, subject), cache.events,
        cache.events.append(kind=kind, subject=subject)))


def watches(now, one):
    """The controller has set its watches, and its session holds them."""
    return all_of(now.belief[one] > 0, now.zk.registered.has(one),
                  now.cache[one].stage != "starting")


def read_with_watches(now):
    """Every registration is read, which sets a watch on the data of each (KIP-226, 1.1)."""
    return now.zk.registered if version.broker_data_watched else []


def unwatched(cache, broker):
    """The broker's znode is deleted, and with it the watch on its data."""
    if not version.broker_data_watched:
        return cache
    return cache.but(watched=cache.watched.without(broker))


def notified(now, kind, caches=None, but=None, subject=None, fires=None):
    """The controllers' memory after a znode that they watch has changed.

    `but`: the broker whose own session begins or ends, which does not watch that. A change of a
    subject's data uses up the watch on its znode. If given, `fires` says whether anything changes
    at all.
    """
    def cache(one):
        mine = caches(one) if caches else now.cache[one]
        hears = watches(now, one) if but is None else all_of(watches(now, one), one != but)
        notified_one = with_event(mine, kind, subject)
        if subject is not None:
            hears = all_of(hears, mine.watched.has(subject))
            notified_one = notified_one.but(watched=mine.watched.without(subject))
        if fires is not None:
            hears = all_of(hears, fires)
        return when(hears, notified_one, mine)

    return lam(BROKERS, cache)


def is_next(now, broker, kind, subject=None):
    """The event is the first of the queue."""
    events = now.cache[broker].events
    return all_of(
        events.end > 0, events[0].kind == kind, is_same_subject(events[0].subject, subject))


def require_next(now, broker, kind, what, subject=None):
    require_idle(now, broker)
    require(is_next(now, broker, kind, subject),    what)


def dequeued(cache):
    """The queue without the event that is being handled."""
    return cache.but(events=cache.events.rest())
