"""The controller's hand on the partition: read, decide, write by version, send LeaderAndIsr.

Every write is a multi that checks /controller_epoch, so only the newest controller's writes pass.
"""

from model.language import (
    BLANK,
    all_of,
    any_of,
    implies,
    is_none,
    lam,
    not_,
    require,
    some,
    transition,
    version,
    when,
)
from model.replication.state import BROKERS, CONTROLLERS, ELECTED


def require_office(now, broker):
    require(now.belief[broker] > 0,                 "the broker believes it is the controller")
    require(now.zk.registered.has(broker),          "it has a ZooKeeper session")


def fence_is_passed(now, broker):
    """The epoch that the broker won is still the newest: KAFKA-6082, checked by every write."""
    return now.belief[broker] == now.zk.epoch


@transition(broker=BROKERS)
def broker_becomes_controller(now, new, broker):
    """ZooKeeper executes a broker's multi: /controller is created under the next epoch.

    Kafka: KafkaZkClient.registerControllerAndIncrementControllerEpoch; `election` has its steps.
    """
    require(is_none(now.zk.controller),          "/controller does not exist")
    require(now.zk.registered.has(broker),          "the broker has a session")
    require(now.up.has(broker),                     "its process runs")
    require(now.belief[broker] == 0,                "it does not believe it is the controller")
    require(now.campaign[broker] == 0,              "no registration of it is unheard of")

    new.zk = now.zk.but(controller=broker, epoch=now.zk.epoch + 1)
    new.campaign[broker] = now.zk.epoch + 1


@transition(broker=BROKERS)
def reply_is_lost(now, new, broker):
    """The connection breaks after ZooKeeper executed the multi: the winner must look for itself."""
    require(now.campaign[broker] > 0,               "the broker won and has not heard of it")
    require(not_(now.reply_lost[broker]),           "the reply is on its way")

    new.reply_lost[broker] = True
    new.spent.losses       = now.spent.losses + 1


def finds_itself(now, broker):
    """checkControllerAndEpoch: /controller is its own, and the epoch is the one that it wrote."""
    return all_of(now.zk.controller == broker, now.zk.epoch == now.campaign[broker])


@transition(broker=BROKERS)
def broker_learns_it_won(now, new, broker):
    """The reply arrives, however late; or it was lost, and the broker finds itself in ZooKeeper.

    Why: a late reply makes a controller of a broker that is deposed already; the fence stops it.
    """
    require(now.campaign[broker] > 0,               "the broker won and has not heard of it")
    heard = not_(now.reply_lost[broker])
    if version.winner_finds_itself:                 # else KAFKA-13407
        heard = any_of(heard, finds_itself(now, broker))
    require(heard,                                  "the reply arrives, or the broker finds itself")

    new.belief[broker]     = now.campaign[broker]
    new.campaign[broker]   = 0
    new.reply_lost[broker] = False


@transition(broker=BROKERS)
def broker_finds_it_moved(now, new, broker):
    """The reply was lost, and by now /controller or the epoch is not the broker's any more."""
    require(now.campaign[broker] > 0,               "the broker won and has not heard of it")
    require(now.reply_lost[broker],                 "its reply was lost")
    require(not_(finds_itself(now, broker)),        "/controller or the epoch is another's by now")

    new.campaign[broker]   = 0
    new.reply_lost[broker] = False


@transition(only=lambda v: not v.winner_finds_itself, broker=BROKERS)
def winner_takes_itself_for_another(now, new, broker):
    """The reply was lost; the broker finds some id in /controller, and asks no further whose it is.

    Kafka: KafkaController.elect returns at once if there is a controller, KAFKA-13407
    """
    require(now.campaign[broker] > 0,               "the broker won and has not heard of it")
    require(now.reply_lost[broker],                 "its reply was lost")
    require(finds_itself(now, broker),              "/controller and the epoch are its own")

    new.campaign[broker]   = 0
    new.reply_lost[broker] = False


@transition(broker=BROKERS)
def controller_resigns(now, new, broker):
    """A deposed controller notices that /controller is not its own any more."""
    require(now.belief[broker] > 0,                 "the broker believes it is the controller")
    require(now.zk.controller != broker,            "/controller is not its own any more")

    new.belief[broker] = 0
    new.cache[broker]  = BLANK


@transition()
def controller_node_is_deleted(now, new):
    """An operator deletes /controller to force an election; its owner lives on with its session.

    Why: a deposed controller that can still write is what the fence of KAFKA-6082 is for.
    """
    require(not_(is_none(now.zk.controller)),              "/controller exists")

    new.zk.controller   = None
    new.spent.expiries  = now.spent.expiries + 1


@transition(broker=BROKERS)
def controller_reads_partition(now, new, broker):
    """The controller reads the partition's state, its version, and which brokers are alive."""
    require_office(now, broker)

    zk = now.zk
    new.cache[broker] = {
        "held": True, "leader": zk.leader, "isr": zk.isr, "version": zk.version,
        "live": zk.registered, "reached": zk.registered}


def send(now, new, sender, to, epoch, isr, state_version):
    """Puts one LeaderAndIsr of a controller epoch in flight to each broker of a set."""
    new.request[epoch][sender] = lam(BROKERS, lambda target: when(
        to.has(target),
        now.request[epoch][sender][target].but(in_flight=True, isr=isr, version=state_version),
        now.request[epoch][sender][target]))


def write_state(now, new, broker, leader, isr, to):
    """The fenced, conditional write of the state under the next leader epoch; then the requests."""
    epoch, version_after = now.zk.leader_epoch + 1, now.zk.version + 1
    new.zk = now.zk.but(
        leader=leader, leader_epoch=epoch, isr=isr, state_epoch=now.belief[broker],
        version=version_after)
    new.elected[epoch] = leader
    new.cache[broker]  = now.cache[broker].but(
        leader=leader, isr=isr, version=version_after)
    send(now, new, now.belief[broker], to, epoch, isr, version_after)


def require_candidate(now, broker, leader):
    cache = now.cache[broker]
    eligible = cache.isr.has(leader)
    if version.unclean_leader_election:             # any live replica, if no ISR member lives
        eligible = any_of(eligible, not_(some(BROKERS, lambda member: all_of(
            cache.isr.has(member), cache.live.has(member)))))
    require(cache.held,                             "it has read the partition's state")
    require(eligible,                               "the candidate is in the ISR that it read")
    require(cache.live.has(leader),                 "the candidate was alive when it read")


@transition(broker=BROKERS, leader=BROKERS)
def controller_elects_leader(now, new, broker, leader):
    """The controller makes a live ISR member the leader, and keeps the live part of the ISR.

    Any live ISR member may win here; which one is the strategy's affair, not safety's.
    Kafka: ZkPartitionStateMachine.doElectLeaderForPartitions, Election.leaderForOffline
    Refused: controller_election_conflicts
    """
    cache = now.cache[broker]
    require_office(now, broker)
    require_candidate(now, broker, leader)
    if version.zk_writes_fenced:
        require(fence_is_passed(now, broker),       "the epoch that it won is the newest")
    require(cache.version == now.zk.version,        "the version that it read is current")

    isr = cache.isr.within(cache.live)
    if version.unclean_leader_election:
        isr = isr.including(leader)
    write_state(now, new, broker, leader, isr, to=cache.reached)


@transition(broker=BROKERS, leader=BROKERS)
def controller_election_conflicts(now, new, broker, leader):
    """The state changed since the controller read it: the write is refused, it must read again."""
    require_office(now, broker)
    require_candidate(now, broker, leader)
    if version.zk_writes_fenced:
        require(fence_is_passed(now, broker),       "the epoch that it won is the newest")
    require(now.cache[broker].version != now.zk.version,  "the version that it read is out of date")

    new.cache[broker] = BLANK


def is_fenced(v):
    return v.zk_writes_fenced


@transition(only=is_fenced, broker=BROKERS, leader=BROKERS)
def controller_election_is_fenced(now, new, broker, leader):
    """A deposed controller's write fails at the check of /controller_epoch, and it resigns.

    Kafka: ControllerMovedException, KAFKA-6082
    """
    require_office(now, broker)
    require_candidate(now, broker, leader)
    require(not_(fence_is_passed(now, broker)),     "a newer controller epoch was won")

    new.belief[broker] = 0
    new.cache[broker]  = BLANK


def require_removable(now, broker, replica):
    cache = now.cache[broker]
    require(cache.held,                             "it has read the partition's state")
    require(cache.isr.has(replica),                 "the replica is in the ISR that it read")
    require(not_(cache.live.has(replica)),          "the replica was dead when it read")
    require(implies(cache.isr.is_only(replica), cache.leader == replica),
                                                    "leader or ISR change by it")


@transition(broker=BROKERS, replica=BROKERS)
def controller_removes_replica(now, new, broker, replica):
    """A dead replica is taken out of office and out of the ISR; the last ISR member is kept.

    Why:   with an empty ISR nobody could ever be elected; before 0.8 it became empty (KAFKA-708).

    Kafka: ZkReplicaStateMachine.removeReplicasFromIsr (1.1)
    Refused: controller_removal_conflicts
    """
    cache = now.cache[broker]
    require_office(now, broker)
    require_removable(now, broker, replica)
    if version.zk_writes_fenced:
        require(fence_is_passed(now, broker),       "the epoch that it won is the newest")
    require(cache.version == now.zk.version,        "the version that it read is current")

    isr = cache.isr.without(replica)
    if version.isr_keeps_last_member:
        isr = when(cache.isr.is_only(replica), cache.isr, isr)
    write_state(
        now, new, broker, when(cache.leader == replica, None, cache.leader), isr,
        to=cache.reached.without(replica))


@transition(broker=BROKERS, replica=BROKERS)
def controller_removal_conflicts(now, new, broker, replica):
    """The state changed since the controller read it: it is refused, and must read again."""
    require_office(now, broker)
    require_removable(now, broker, replica)
    if version.zk_writes_fenced:
        require(fence_is_passed(now, broker),       "the epoch that it won is the newest")
    require(now.cache[broker].version != now.zk.version,  "the version that it read is out of date")

    new.cache[broker] = BLANK


@transition(only=is_fenced, broker=BROKERS, replica=BROKERS)
def controller_removal_is_fenced(now, new, broker, replica):
    """A deposed controller's removal fails at the check of /controller_epoch, and it resigns."""
    require_office(now, broker)
    require_removable(now, broker, replica)
    require(not_(fence_is_passed(now, broker)),     "a newer controller epoch was won")

    new.belief[broker] = 0
    new.cache[broker]  = BLANK


@transition(broker=BROKERS, replica=BROKERS)
def controller_informs(now, new, broker, replica):
    """The controller sends a registered broker the state as it is now.

    Why:   at failover, and when a broker has started. Leader epoch and version are the current.
    Kafka: ReplicaStateMachine.startup, KafkaController.onBrokerStartup
    """
    zk, mine = now.zk, now.belief[broker]
    require_office(now, broker)
    require(zk.controller == broker,                "/controller is its own")
    require(not_(is_none(zk.leader)),               "the partition has a leader")
    require(zk.registered.has(replica),             "the replica is registered")
    require(not_(now.request[zk.leader_epoch][mine][replica].in_flight),
                                                    "no such request is in flight to it already")

    new.request[zk.leader_epoch][mine][replica] = {
        "in_flight": True, "isr": zk.isr, "version": zk.version}


@transition(broker=BROKERS, epoch=ELECTED, controller=CONTROLLERS)
def request_is_lost(now, new, broker, epoch, controller):
    """A LeaderAndIsr in flight never arrives."""
    require(now.request[epoch][controller][broker].in_flight,   "the request is in flight")

    new.request[epoch][controller][broker] = BLANK
    new.spent.losses = now.spent.losses + 1
