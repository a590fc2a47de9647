"""ZooKeeper's side: sessions begin and expire, and expiry deletes their ephemeral nodes."""

from model.election.state import BROKERS
from model.language import NOBODY, not_, require, transition, when


@transition(broker=BROKERS)
def broker_connects(now, new, broker):
    """A broker's process opens a ZooKeeper session, when its event thread is done with the last.

    Kafka: ZooKeeperClient.reinitialize, KafkaController.Expire
    """
    # redundant because the step would change nothing.
    require(not_(now.session[broker]),      "the broker has no session")
    # redundant because safety needs no such guard: it only keeps the one event thread to one thing.
    require(not_(now.read[broker].done),    "it has no election under way")

    new.session[broker] = True


@transition(actor=NOBODY, fault=True, broker=BROKERS)
def session_expires(now, new, broker):
    """ZooKeeper ends a session and removes its /controller; the broker may not notice.

    Why:   a long GC pause, or a network partition. The process keeps running as a zombie.
    Kafka: KafkaController.Expire comes only when the client hears of it
    """
    # redundant because the step would change nothing: /controller has no owner without a session.
    require(now.session[broker],            "the broker has a session")

    new.session[broker] = False
    new.zk.controller   = when(now.zk.controller == broker, None, now.zk.controller)
