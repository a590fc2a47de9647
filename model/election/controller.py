"""A broker becomes controller, acts as controller, and resigns or does not notice its deposition.

Source: KafkaController.elect and KafkaZkClient.registerControllerAndIncrementControllerEpoch
(2.1 and later, KAFKA-6082). An election is one event of a broker's event thread: it ends, won or
lost, before the thread does anything else.
"""

from model.election.state import BROKERS
from model.language import (
    BLANK,
    NOBODY,
    all_of,
    any_of,
    is_none,
    not_,
    require,
    transition,
    version,
    when,
)


@transition(shows="read", broker=BROKERS)
def broker_reads_epoch(now, new, broker):
    """A candidate sees no /controller, and reads /controller_epoch: the value and its zkVersion."""
    # redundant because reading changes nothing: the multi itself requires a session.
    require(now.session[broker],                 "the broker has a session")
    require(not_(now.belief[broker].held),       "the broker does not believe it is the controller")
    # redundant because safety needs no such guard: it only keeps the one event thread to one thing.
    require(not_(now.pending[broker].any),       "its event thread is not waiting for a write")
    # redundant because safety needs no such guard: it only keeps the one event thread to one thing.
    require(not_(now.read[broker].done),         "it has no election under way")
    # redundant because safety needs no such guard: the multi fails where somebody is registered.
    require(is_none(now.zk.controller),          "/controller does not exist")

    new.read[broker] = {"done": True, "epoch": now.zk.epoch, "version": now.zk.epoch_version}


@transition(broker=BROKERS)
def broker_wins_election(now, new, broker):
    """ZooKeeper executes the multi: create /controller, set /controller_epoch by its version.

    Why:   the multi is atomic, so no broker owns /controller under an epoch that it did not write.
           The response is a separate step: the winner may never receive it.
    Kafka: KAFKA-6082
    """
    read = now.read[broker]
    require(now.session[broker],                     "the broker has a session")
    # redundant because who has read nothing holds version 0, which /controller_epoch has only
    # at first, and 1 is the next epoch then.
    require(read.done,                               "the broker has read the controller epoch")
    require(is_none(now.zk.controller),              "/controller does not exist")
    require(now.zk.epoch_version == read.version,    "/controller_epoch is as it was read")

    epoch = read.epoch + 1
    new.zk = now.zk.but(
        controller=broker, epoch=epoch, epoch_version=now.zk.epoch_version + 1)
    new.won = now.won.including(broker, epoch)


@transition(broker=BROKERS)
def broker_learns_it_won(now, new, broker):
    """The reply arrives; or it was lost, and the broker finds its own id and epoch in ZooKeeper.

    Kafka: KafkaZkClient checkControllerAndEpoch
    """
    read = now.read[broker]
    # redundant because who owns /controller won the newest epoch, whether it knows it or not.
    require(read.done,                               "the broker asked to be elected")
    require(now.zk.controller == broker,             "/controller is the broker's own")
    # redundant because who owns /controller won the newest epoch: it is right to believe in it.
    require(now.zk.epoch == read.epoch + 1,          "the epoch is the one that it wrote")

    new.belief[broker] = {"held": True, "epoch": now.zk.epoch, "version": now.zk.epoch_version}
    new.read[broker]   = BLANK


@transition(broker=BROKERS)
def broker_loses_controller_election(now, new, broker):
    """The election is lost: the multi was refused, or its session has ended.

    Kafka: KafkaController.elect, ControllerMovedException
    """
    read = now.read[broker]
    # redundant because the step would change nothing.
    require(read.done,                               "the broker asked to be elected")
    # redundant because a candidate may give up at any time: it stands again.
    require(not_(all_of(now.zk.controller == broker, now.zk.epoch == read.epoch + 1)),
                                                     "it is not the controller of the next epoch")
    # redundant because a candidate may give up at any time: it stands again.
    require(any_of(not_(now.session[broker]), now.zk.epoch_version != read.version),
                                                     "its session expired, or the epoch changed")

    new.read[broker] = BLANK


@transition(ends="lost", broker=BROKERS)
def controller_resigns_and_deletes_znode(now, new, broker):
    """A controller resigns, and deletes /controller if /controller_epoch still has its version.

    Why:   the deletion is fenced by the epoch's version, so a zombie cannot delete its successor.
    Kafka: KafkaController.triggerControllerMove, KafkaZkClient.deleteController
    """
    belief = now.belief[broker]
    # redundant because the step would change nothing: version 0, which is what a broker without a
    # belief holds, was current only before anybody owned /controller.
    require(belief.held,                             "the broker believes it is the controller")
    # redundant because safety needs no such guard: it only keeps the one event thread to one thing.
    require(not_(now.pending[broker].any),           "its event thread is not waiting for a write")

    mine = now.zk.epoch_version == belief.version
    new.belief[broker] = BLANK
    new.zk.controller  = when(mine, None, now.zk.controller)


@transition(actor=NOBODY, ends="lost", fault=True, broker=BROKERS)
def broker_crashes(now, new, broker):
    """The process dies: all that it held in memory is gone.

    Its session lasts until it expires, and a write that it sent may still reach ZooKeeper.

    Why:   since 2.2 a request for an earlier incarnation of the broker is refused (broker epoch).
           In effect the broker still knows the newest controller epoch after a restart; before 2.2
           it forgot it.
    Kafka: KIP-380
    """
    # redundant because the step would change nothing.
    require(any_of(
        now.belief[broker].held, now.read[broker].done,
        now.seen[broker] > 0),                       "the broker has something to forget")

    new.belief[broker]  = BLANK
    new.read[broker]    = BLANK
    if not version.broker_epoch:
        new.seen[broker] = BLANK


@transition(broker=BROKERS)
def controller_starts_write(now, new, broker):
    """A controller reads the state, and sends a write of it with the epoch that it believes in.

    Kafka: PartitionStateMachine; StateChangeFailedException if the state was written by a newer
    controller
    """
    belief = now.belief[broker]
    require(belief.held,                             "the broker believes it is the controller")
    require(not_(now.pending[broker].any),           "no write of the broker is under way")
    # redundant because its write would be refused, by the fence or by the brokers that hear of it.
    require(now.zk.state_epoch <= belief.epoch,      "no newer controller has written the state")

    new.pending[broker] = {
        "any": True, "epoch": belief.epoch,
        "epoch_version": belief.version, "state_version": now.zk.state_version}


@transition(broker=BROKERS)
def write_is_applied(now, new, broker):
    """ZooKeeper executes the write: check /controller_epoch, set the state by its version.

    Why:   the sender may have been deposed since; without the check it would still be obeyed.
    Kafka: KafkaZkClient.retryRequestsUntilConnected with expectedControllerEpochZkVersion (2.1)
    """
    write = now.pending[broker]
    require(write.any,                                        "a write of the broker is under way")
    # redundant because only controllers write here: another's write since then means a newer
    # epoch. In `replication` leaders write the state as well, and this is what fences them.
    require(write.state_version == now.zk.state_version,      "the state is as it was read")
    if version.zk_writes_fenced:
        require(write.epoch_version == now.zk.epoch_version,  "/controller_epoch is as it was won")

    new.pending[broker] = BLANK
    new.zk = now.zk.but(state_version=now.zk.state_version + 1, state_epoch=write.epoch)
    new.stale_write = any_of(now.stale_write, write.epoch < now.zk.epoch)


@transition(ends="refused", broker=BROKERS)
def write_is_refused(now, new, broker):
    """ZooKeeper refuses the write. A sender that the fence stopped was deposed, and resigns.

    Kafka: ControllerMovedException, KafkaController.process
    """
    write = now.pending[broker]
    # redundant because the step would change nothing: there is no write to drop.
    require(write.any,                                        "a write of the broker is under way")
    current = write.state_version == now.zk.state_version
    if version.zk_writes_fenced:
        current = all_of(current, write.epoch_version == now.zk.epoch_version)
    require(not_(current),                                    "a version in it is out of date")

    new.pending[broker] = BLANK
    if version.zk_writes_fenced:
        stays, belief = write.epoch_version == now.zk.epoch_version, now.belief[broker]
        new.belief[broker] = {
            "held": all_of(stays, belief.held),
            "epoch": when(stays, belief.epoch, 0), "version": when(stays, belief.version, 0)}
