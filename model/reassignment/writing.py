"""Writes of a controller, fenced by its epoch and by zkVersion, and the requests that follow them.

A write of the partition's state has a new leader epoch. Refusals and lost replies are separate
steps, the same for every write; the controller's task determines the write.

Source: KafkaZkClient.updateLeaderAndIsr, ControllerBrokerRequestBatch (2.3)
"""

from model.language import (
    all_of,
    any_of,
    lam,
    not_,
    require,
    some,
    transition,
    version,
    when,
)
from model.language.scalars import scalar
from model.protocol.controllership import (
    fence_is_passed,
    is_fenced,
    register_state,
    require_controllership,
    require_deposed,
    require_fence,
    require_state_as_read,
    resign,
)
from model.protocol.state import BROKERS
from model.reassignment.replica_lists import (
    brokers_if,
    brokers_where,
    is_empty,
    is_same,
    list_when,
    listed,
)
from model.reassignment.state import TASKS


def task(name):
    """A task as a value to choose: `when(..., task("electing"), task("idle"))`."""
    return scalar(name, TASKS)


def is_at(now, broker, *tasks):
    return any_of(*(now.cache[broker].task == one for one in tasks))


def is_conditional(now, broker):
    """The controller is about to write the partition's state."""
    leaves = all_of(
        is_at(now, broker, "leaving", "replacing"), some_leaves_isr(now, broker))
    return any_of(leaves, is_at(now, broker, "bumping", "leading", "electing", "removing"))


def some_leaves_isr(now, broker):
    """An old replica that is about to go offline is in the registered ISR; otherwise nothing is
    written."""
    return some(BROKERS, lambda b: all_of(now.cache[broker].leaving.has(b), now.zk.isr.has(b)))


def is_unconditional(now, broker):
    """The controller is about to write the topic or the request: no version is compared."""
    target = now.cache[broker].target
    return any_of(
        is_at(now, broker, "assigning", "settling", "closing", "rewriting"),
        all_of(is_at(now, broker, "idle"),
               any_of(drops_request(now, broker, now.zk.requested), now.zk.other != "none")),
        all_of(is_at(now, broker, "beginning"),
               any_of(drops_request(now, broker, target), is_empty(target))))


def drops_request(now, broker, target):
    """The controller removes the request without a reassignment."""
    cache   = now.cache[broker]
    refused = cache.deleting
    if version.reassignment == "twelve_steps":
        refused = any_of(refused, is_same(target, cache.assignment))
    waits = any_of(cache.task == "beginning", is_empty(cache.target))
    return all_of(not_(is_empty(target)), waits, refused)


def rewrite_request(now, new, broker, ends=None):
    """From 2.0 to 2.3, a controller that began a reassignment writes the request znode from memory.

    A change of the znode since it was read is overwritten unnoticed. The write is done when the
    controller `ends` its work; None: always. Returns the fields of its cache that change.
    Kafka: removePartitionsFromReassignedPartitions, of none (KAFKA-6617)
    """
    if version.request_znode_not_rewritten:
        return {}
    begins = now.cache[broker].begins
    over   = begins if ends is None else all_of(ends, begins)
    cache  = now.cache[broker]
    new.zk.requested = list_when(over, cache.target, now.zk.requested)
    new.zk.other     = when(over, cache.other, now.zk.other)
    return {"begins": False if ends is None else all_of(begins, not_(ends))}


def require_current(now, broker):
    require_fence(now, broker)
    require_state_as_read(now, broker)


def read_znode(now):
    """The content of the partition's znode, as the controller reads it for its next task."""
    zk = now.zk
    return {"leader": zk.leader, "isr": zk.isr, "version": zk.version}


def goes_to(now, cache, then, looks=None):
    """The next task, with the partition's state as read when that was decided.

    To see whether the targets have caught up, a controller only reads the state: it keeps the
    leader that it has in memory, and a deposed controller does not know the leader that its
    successor elected. Where the replicas stay as they were it `looks` at nothing; None: it does.

    Kafka: KafkaController.areReplicasInIsr, isReassignmentComplete (2.4)
    """
    found = {**read_znode(now), "leader": when(then == "adopting", cache.leader, now.zk.leader)}
    if looks is not None:
        found = {part: when(looks, value, getattr(cache, part)) for part, value in found.items()}
    return {"task": then, **found}


def read_state(now, **more):
    """The state that the controller reads and caches, and the leader epoch that brokers know."""
    return {**read_znode(now), "epoch": now.zk.leader_epoch, **more}


def write_state(now, new, broker, leader, isr, to, replicas, sent=None, sends=None, **more):
    """Writes a state, caches what was written, and sends LeaderAndIsr and UpdateMetadata.

    The requests are sent now if it `sends`, else after further writes; None: now.
    """
    epoch, version_after, reached = (
        now.zk.leader_epoch + 1, now.zk.version + 1, now.cache[broker].reached)
    if sends is not None:
        reached = brokers_if(sends, reached)
    register_state(now, new, leader, isr)
    send(now, new, broker, epoch, to.within(reached), {
        "leader": leader, "isr": isr, "version": version_after, "replicas": replicas})
    sent = epoch if sent is None else sent
    new.cache[broker] = now.cache[broker].but(
        leader=leader, isr=isr, version=version_after, epoch=sent, **more)
    send_update_metadata(now, new, broker, sent, leader, to=reached)


def send(now, new, broker, epoch, to, state):
    """Puts LeaderAndIsr of a leader epoch in flight to more brokers.

    All requests of one controller with one leader epoch have the same content for brokers that do
    not know that epoch yet: until the new leader knows it, no other write of the state is possible.
    """
    mine, was = now.belief[broker], now.request[epoch][now.belief[broker]]
    added = brokers_where(lambda b: any_of(was.to.has(b), to.has(b)))
    nothing = to.is_empty()
    entry = {part: when(nothing, getattr(was, part), value) for part, value in state.items()}
    # a changed move (KIP-455) has other replicas; what is in flight already is not changed by it
    entry["replicas"] = when(was.to.is_empty(), entry["replicas"], was.replicas)
    new.request[epoch][mine] = was.but(to=added, **entry)


def stop(now, new, broker, whom, how, epoch):
    """Puts StopReplica in flight, behind the requests of this epoch and of earlier ones."""
    reached, mine = now.cache[broker].reached, now.belief[broker]
    new.stop[mine] = lam(BROKERS, lambda b: when(
        all_of(whom.has(b), reached.has(b)),
        now.stop[mine][b].but(what=how, epoch=epoch),
        now.stop[mine][b]))


def send_update_metadata(now, new, broker, epoch, leader, to=None, says=None):
    """UpdateMetadata to every broker that the controller reaches: the leader and its epoch.

    Each LeaderAndIsr is sent with one. It arrives at once, except on a slow connection. If it
    `says` nothing of the partition, brokers only learn the controller epoch; None: it does. With an
    empty `to` none is sent. A topic that is queued for deletion has no leader in it.
    Kafka: ControllerBrokerRequestBatch.addUpdateMetadataRequestForBrokers
    """
    cache, mine = now.cache[broker], now.belief[broker]
    to, update  = cache.reached if to is None else to, now.update[mine]
    leader      = when(cache.deleting, None, leader)
    if says is None:
        said, newest = to, all_of(not_(to.is_empty()), fence_is_passed(now, broker))
    else:
        said = brokers_where(lambda b: all_of(says, to.has(b)))
        newest = all_of(says, fence_is_passed(now, broker))
    late = said.within(update.slow)
    new.update[mine] = when(to.is_empty(), update, update.but(
        to=late, leader=when(late.is_empty(), None, leader),
        epoch=when(late.is_empty(), 0, epoch)))
    new.metadata = lam(BROKERS, lambda b: when(
        all_of(to.has(b), not_(update.slow.has(b)), now.up.has(b), not_(is_outdated(now, b, mine))),
        now.metadata[b].but(
            leader=when(said.has(b), leader, now.metadata[b].leader), controller=mine),
        now.metadata[b]))
    new.metadata_epoch = when(newest, epoch, now.metadata_epoch)


def is_outdated(now, broker, controller):
    """The broker has seen a newer controller than the sender of this UpdateMetadata.

    A LeaderAndIsr is not compared with the controller epoch of an UpdateMetadata, which arrives at
    once here, while in Kafka it may be late.
    """
    return any_of(controller < now.replica[broker].controller_epoch,
                  controller < now.metadata[broker].controller)


def finds_no_target(cache, isr):
    """Step 7 has to elect, and no target is alive and in the ISR."""
    able = some(BROKERS, lambda b: all_of(
        listed(cache.target, b), cache.live.has(b), isr.has(b)))
    return all_of(cache.task == "leading", not_(leader_stays(cache)), not_(able))


def leader_stays(cache):
    """The leader that the controller has in memory is a live target."""
    return some(BROKERS, lambda b: all_of(
        cache.leader == b, listed(cache.target, b), cache.live.has(b)))


@transition(shows="refused_write", only=is_fenced, broker=BROKERS)
def controller_write_is_fenced(now, new, broker):
    """A deposed controller's write fails at the check of /controller_epoch, and it resigns.

    Kafka: ControllerMovedException, KAFKA-6082
    """
    require_controllership(now, broker)
    require(any_of(is_conditional(now, broker), is_unconditional(now, broker)),
                                                    "it is about to write to ZooKeeper")
    require_deposed(now, broker)

    resign(new, broker)


def require_lost_response(now, broker, *names):
    """ZooKeeper executes a write, and the response is lost: the client sends the write again,
    finds another version, and takes its own write for that of another."""
    # redundant "the broker believes it is the controller", because nobody else has a task.
    require_controllership(now, broker)
    require(is_at(now, broker, *names),             "it is about to write the partition's state")
    require_current(now, broker)

