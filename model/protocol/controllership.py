"""Controllership: a broker is elected controller, and resigns or is deposed.

Every system with a controller has these steps. They use the same parts of its state, declared by
`CONTROLLER_NODES` and `CONTROLLERSHIP` in `model.protocol.state`. A controller's memory is the
record `cache`, one for each broker. `election` has the same protocol in finer steps, with a proof.

Source: KafkaController.elect, KafkaZkClient.registerControllerAndIncrementControllerEpoch (2.1)
"""

from model.language import (
    BLANK,
    CLIENTS,
    all_of,
    any_of,
    is_none,
    not_,
    require,
    transition,
    version,
    when,
)
from model.protocol.state import BROKERS


def require_controllership(now, broker):
    require(now.belief[broker] > 0,                 "the broker believes it is the controller")
    require(now.zk.registered.has(broker),          "it has a ZooKeeper session")


def fence_is_passed(now, broker):
    """The epoch that the broker won is still the newest: KAFKA-6082, checked by every write."""
    return now.belief[broker] == now.zk.epoch


def require_task(now, broker, task, what):
    """The controller's event thread is at this task of its record `cache`."""
    # redundant "the broker believes it is the controller", because nobody else has a task.
    require_controllership(now, broker)
    require(now.cache[broker].task == task,         what)


def require_fence(now, broker):
    if version.zk_writes_fenced:                    # KAFKA-6082
        require(fence_is_passed(now, broker),       "the epoch that it won is the newest")


def require_deposed(now, broker):
    """ZooKeeper refuses a write without the newest controller epoch; see `resign`."""
    require(not_(fence_is_passed(now, broker)),     "a newer controller epoch was won")


def require_state_as_read(now, broker):
    """The conditional write of the partition's state passes."""
    require(now.cache[broker].version == now.zk.version,  "the version that it read is current")


def require_state_changed(now, broker):
    """BADVERSION: another write changed the state since the controller read it."""
    require(now.cache[broker].version != now.zk.version,  "the version that it read is out of date")


CONTROLLERSHIP_STEPS = (
    "broker_becomes_controller", "broker_learns_it_won", "broker_loses_controller_election",
    "controller_resigns")
"""What brokers do about their controllership by themselves; no fault."""


@transition(broker=BROKERS)
def broker_becomes_controller(now, new, broker):
    """ZooKeeper executes a broker's multi: /controller is created under the next epoch.

    Kafka: KafkaZkClient.registerControllerAndIncrementControllerEpoch; `election` has its steps.
    """
    require(is_none(now.zk.controller),          "/controller does not exist")
    require(now.zk.registered.has(broker),          "the broker has a session")
    require(now.up.has(broker),                     "its process runs")
    require(now.belief[broker] == 0,                "it does not believe it is the controller")
    require(now.campaign[broker] == 0,             "it has learned the outcome of its registration")

    new.zk = now.zk.but(controller=broker, epoch=now.zk.epoch + 1)
    new.campaign[broker] = now.zk.epoch + 1


@transition(ends="lost", fault=True, broker=BROKERS)
def reply_to_registration_is_lost(now, new, broker):
    """The connection breaks after ZooKeeper executed the multi, and the reply is lost.

    The winner must read /controller to learn that it won.
    """
    require(now.campaign[broker] > 0,               "the broker won and has not learned that yet")
    require(not_(now.reply_lost[broker]),           "the reply is on its way")

    new.reply_lost[broker] = True
    new.spent.losses       = now.spent.losses + 1


def reads_back_epoch(v):
    """Whether a winner reads the epoch back after a refused write of it.

    Before KAFKA-6082 the epoch was written separately, after `/controller` was created. If that
    write is sent again, it is refused, and the broker does not read who wrote the epoch.
    """
    return v.zk_writes_fenced


def reads_own_registration(now, broker):
    """checkControllerAndEpoch: /controller has the broker's own id, and the epoch is the one that
    it wrote."""
    return all_of(now.zk.controller == broker, now.zk.epoch == now.campaign[broker])


def goes_on_uncounted(v):
    """Up to 1.0 a winner continues after a refused write of the epoch, which was only logged.

    Its write was executed and sent again: it continues under the epoch that it had read.
    """
    return not reads_back_epoch(v) and not v.uncounted_controller_resigns


@transition(broker=BROKERS)
def broker_learns_it_won(now, new, broker):
    """The reply arrives, however late; or it was lost, and the broker reads its id in /controller.

    Why: a late reply makes a controller of a broker that is deposed already; the fence stops it.
    """
    require(now.campaign[broker] > 0,               "the broker won and has not learned that yet")
    heard = not_(now.reply_lost[broker])
    if version.winner_reads_controller_back and reads_back_epoch(version):  # else KAFKA-13407
        heard = any_of(heard, reads_own_registration(now, broker))
    if goes_on_uncounted(version):  # of the first epoch it sees that the znode is there already
        heard = any_of(heard, now.campaign[broker] > 1)
    require(heard,                                  "the reply arrives, or the broker finds itself")

    epoch = now.campaign[broker]
    if goes_on_uncounted(version):
        epoch = when(now.reply_lost[broker], epoch - 1, epoch)
    new.belief[broker]     = epoch
    new.campaign[broker]   = 0
    new.reply_lost[broker] = False


@transition(broker=BROKERS)
def broker_loses_controller_election(now, new, broker):
    """The reply was lost, and by now /controller or the epoch is not the broker's any more.

    From 1.1 to 2.0 it gives up without reading it, and deletes /controller, even if it belongs to
    another broker; up to 1.0 only the first controller of a cluster does.
    Kafka: KafkaController.incrementControllerEpoch, triggerControllerMove (up to 2.0)
    """
    lose_election(now, new, broker)


def lose_election(now, new, broker):
    # redundant because a reply is lost only to a broker that won and has not heard of it.
    require(now.campaign[broker] > 0,               "the broker won and has not learned that yet")
    require(now.reply_lost[broker],                 "its reply was lost")
    if goes_on_uncounted(version):
        # redundant because a broker may give up an election at any time: it takes part again.
        require(now.campaign[broker] == 1,          "it is the first controller there is")
    if reads_back_epoch(version):
        require(not_(reads_own_registration(now, broker)),
                                                    "/controller or the epoch is another's by now")
    else:
        new.zk.controller = when(now.zk.registered.has(broker), None, now.zk.controller)

    new.campaign[broker]   = 0
    new.reply_lost[broker] = False


@transition(only=lambda v: not v.winner_reads_controller_back and reads_back_epoch(v),
            broker=BROKERS)
def elected_broker_assumes_another_controller(now, new, broker):
    """The reply was lost; the broker reads an id in /controller, and assumes that it is another's.

    Kafka: KafkaController.elect returns at once if there is a controller, KAFKA-13407
    """
    require(now.campaign[broker] > 0,               "the broker won and has not learned that yet")
    require(now.reply_lost[broker],                 "its reply was lost")
    require(reads_own_registration(now, broker),    "/controller and the epoch are its own")

    new.campaign[broker]   = 0
    new.reply_lost[broker] = False


@transition(ends="lost", broker=BROKERS)
def controller_resigns(now, new, broker):
    """A deposed controller notices that /controller is not its own any more."""
    require_replaced(now, broker)

    resign(new, broker)


def require_replaced(now, broker):
    require(now.belief[broker] > 0,                 "the broker believes it is the controller")
    require(now.zk.controller != broker,            "/controller is not its own any more")


def register_state(now, new, leader, isr):
    """A controller writes the partition's state: the next leader epoch, and the next version."""
    new.zk.leader       = leader
    new.zk.leader_epoch = now.zk.leader_epoch + 1
    new.zk.isr          = isr
    new.zk.version      = now.zk.version + 1


def resign(new, broker):
    """A controller that learns that it is deposed clears its memory as a controller.

    Kafka: KafkaController.onControllerResignation, ControllerMovedException
    """
    new.belief[broker] = 0
    new.cache[broker]  = BLANK


@transition(actor=CLIENTS, fault=True)
def controller_node_is_deleted(now, new):
    """An operator deletes /controller to force an election; its owner keeps its session.

    Why: a deposed controller that can still write is what the fence of KAFKA-6082 is for.
    """
    delete_controller_node(now, new)


def delete_controller_node(now, new):
    require(not_(is_none(now.zk.controller)),       "/controller exists")

    new.zk.controller  = None
    new.spent.expiries = now.spent.expiries + 1


def is_fenced(v):
    return v.zk_writes_fenced


def forget_controllership(new, broker):
    """The broker's memory as a controller is cleared."""
    forget_election(new, broker)
    new.cache[broker]      = BLANK


def forget_election(new, broker):
    """The broker's memory of an election that it won, or took part in, is cleared."""
    new.campaign[broker]   = 0
    new.reply_lost[broker] = False
    new.belief[broker]     = 0
