"""Claims about the cluster: leaders, records, and agreement of all brokers at rest.

At rest every broker knows the registered state in ZooKeeper, and acts on it. At any time there is
one leader per epoch, elected cleanly, and no committed record is lost.
"""

from model.cluster.data import fetches_from, leads, state_of_replica
from model.cluster.state import PARTITIONS
from model.language import (
    all_of,
    always,
    always_step,
    any_of,
    every,
    focus,
    implies,
    is_none,
    not_,
    some,
    sometimes,
)
from model.protocol.state import BROKERS


def everywhere(now, rule):
    """The rule holds of every partition: `rule(now)` reads it as its own state."""
    return every(PARTITIONS, lambda partition: rule(focus(now, "partition", partition)))


def somewhere(now, rule):
    return some(PARTITIONS, lambda partition: rule(focus(now, "partition", partition)))


def current(now):
    """The state in the partition's znode."""
    return now.state[now.version]


def is_live(now, broker):
    return all_of(now.up.has(broker), now.zk.registered.has(broker))


def acts(now, broker):
    """The broker is the controller, and knows it."""
    return all_of(now.zk.controller == broker, now.belief[broker] == now.zk.epoch,
                  is_live(now, broker))


def is_at_rest(now, controller):
    """Its event thread is idle, no event is queued, and every request has arrived."""
    cache = now.cache[controller]
    return all_of(
        acts(now, controller), cache.stage == "idle", cache.events.end == 0,
        every(BROKERS, lambda broker: implies(
            now.up.has(broker), cache.queue[broker].end == 0)))


def remains_available(now, broker):
    """The broker is live, is not shutting down, and the partition's log directory works."""
    return all_of(has_its_log(now, broker), now.leaving[broker] == "stays")


def has_its_log(now, broker):
    """A live broker whose log directory of the partition works."""
    return all_of(is_live(now, broker), not_(now.failed.has(broker)))


def is_settled(now):
    """With faults over: processes and sessions agree, and nothing is pending or under way."""
    return all_of(
        now.up == now.zk.registered, now.zk.outlived.is_empty(), now.asked.is_empty(),
        now.failure_unreported.is_empty(),
        every(BROKERS, lambda broker: not_(now.late[broker].held)),
        some(BROKERS, lambda broker: is_at_rest(now, broker)),
        everywhere(now, lambda own: every(BROKERS, lambda broker:
            not_(all_of(now.up.has(broker), own.replica[broker].unreported)))))


@always("when nothing is under way, every live broker knows the live brokers and their endpoints, "
        "and of every partition the state that ZooKeeper has, and leads no partition of which "
        "another broker is the registered leader",
        companion="the_cluster_settles_after_an_election")
def idle_metadata_agrees_with_zookeeper(now):
    return implies(is_settled(now), every(BROKERS, lambda broker: implies(
        is_live(now, broker), all_of(
            now.alive[broker] == now.zk.registered,
            every(BROKERS, lambda one: implies(
                now.zk.registered.has(one),
                now.addresses[broker][one] == now.zk.endpoints[one])),
            everywhere(now, lambda own: all_of(
                own.known[broker] == own.version,
                implies(leads(own, broker), any_of(
                    is_none(current(own).leader), current(own).leader == broker))))))))


@always("when nothing is under way, a partition with a live ISR member has a live leader in the "
        "registered epoch, which knows the registered ISR, and every other live replica fetches "
        "from it, except brokers that have requested a controlled shutdown",
        companion="the_cluster_settles_after_an_election")
def idle_partitions_have_leaders(now):
    return implies(is_settled(now), everywhere(now, lambda own: implies(
        some(BROKERS, lambda member: all_of(
            current(own).isr.has(member), remains_available(own, member))),
        some(BROKERS, lambda leader: all_of(
            current(own).leader == leader, has_its_log(own, leader), leads(own, leader),
            own.replica[leader].version == own.version,
            every(BROKERS, lambda one: implies(
                all_of(remains_available(own, one), own.replicas.has(one), one != leader),
                fetches_from(own, one, leader))))))))


@always("when nothing is under way, the controller has handled everything in ZooKeeper: it knows "
        "the registered brokers and their failed log directories, and no notification and no "
        "request is left",
        companion="the_cluster_settles_after_an_election")
def no_event_is_missed(now):
    return implies(is_settled(now), all_of(
        now.zk.log_dir_events.is_empty(),
        everywhere(now, lambda own: not_(any_of(own.noted, own.wanted))),
        every(BROKERS, lambda broker: implies(acts(now, broker), all_of(
            now.cache[broker].live == now.zk.registered,
            now.cache[broker].reached == now.zk.registered,
            everywhere(now, lambda own:
                own.failed.within(now.zk.registered) == own.context[broker].lost))))))


@always("when nothing is under way, no dead broker is registered as a leader, nor one whose log "
        "directory has failed",
        companion="a_partition_is_without_leader")
def dead_leaders_are_noticed(now):
    return implies(is_settled(now), everywhere(now, lambda own: every(BROKERS, lambda broker:
        implies(current(own).leader == broker, has_its_log(own, broker)))))


@always("no two brokers lead in one leader epoch", companion="two_brokers_believe_they_lead")
def leader_unique(now):
    return everywhere(now, lambda own: every(BROKERS, lambda one: every(BROKERS, lambda other:
        implies(all_of(leads(own, one), leads(own, other),
                       state_of_replica(own, one).epoch == state_of_replica(own, other).epoch),
                one == other))))


@always("the registered leader, if there is one, is in the registered ISR",
        companion="a_second_leader_is_elected")
def leader_in_isr(now):
    return everywhere(now, lambda own: every(BROKERS, lambda broker: implies(
        current(own).leader == broker, current(own).isr.has(broker))))


@always("every member of the registered ISR holds all that was committed",
        companion="a_replica_lacks_what_was_committed")
def isr_holds_committed(now):
    return everywhere(now, lambda own: current(own).isr.is_subset_of(own.complete))


@always("the registered leader holds all that was committed",
        companion="a_replica_lacks_what_was_committed")
def no_message_loss(now):
    return everywhere(now, lambda own: every(BROKERS, lambda broker: implies(
        current(own).leader == broker, own.complete.has(broker))))


@always("a broker that believes it is registered is registered",
        companion="an_ephemeral_znode_outlives_its_session")
def registered_brokers_stay_registered(now):
    return every(BROKERS, lambda broker: implies(
        now.mistaken.has(broker), now.zk.registered.has(broker)))


@always_step("a broker that has resigned as the controller writes no state",
             companion="a_deposed_controller_is_at_work")
def resigned_controllers_write_nothing(now, after):
    return every(BROKERS, lambda broker: implies(
        now.resigned.has(broker), every(PARTITIONS, lambda partition: not_(is_written_in_epoch(
            now.belief[broker],
            focus(now, "partition", partition), focus(after, "partition", partition))))))


def is_written_in_epoch(epoch, before, after):
    """A controller of this epoch wrote the state: only controllers raise the leader epoch."""
    return all_of(current(after).epoch > current(before).epoch,
                  current(after).controller == epoch)


@always_step("a controller writes a state only under the newest controller epoch",
             companion="a_deposed_controller_is_at_work")
def single_writer(now, after):
    return every(PARTITIONS, lambda partition: writes_as_newest(
        now, focus(now, "partition", partition), focus(after, "partition", partition)))


def writes_as_newest(now, before, after):
    elected = all_of(
        before.version != after.version, current(after).epoch > current(before).epoch)
    return implies(elected, current(after).controller == now.zk.epoch)


@always_step("the registered leader epoch never goes back, nor does the controller epoch in it",
             companion="a_second_leader_is_elected")
def leader_epoch_never_falls(now, after):
    return every(PARTITIONS, lambda partition: grows(
        current(focus(now, "partition", partition)), current(focus(after, "partition", partition))))


@always_step("a leader adds no broker to the ISR that it knows to be dead",
             companion="a_dead_broker_still_fetches")
def dead_brokers_do_not_join_the_isr(now, after):
    return every(PARTITIONS, lambda partition: adds_only_live_brokers(
        now, focus(now, "partition", partition), focus(after, "partition", partition)))


def adds_only_live_brokers(now, before, after):
    by_the_leader = current(before).epoch == current(after).epoch
    return implies(by_the_leader, every(BROKERS, lambda one: every(BROKERS, lambda leader: implies(
        all_of(not_(current(before).isr.has(one)), current(after).isr.has(one),
               current(after).leader == leader),
        now.alive[leader].has(one)))))


def grows(before, after):
    return all_of(after.epoch >= before.epoch, after.controller >= before.controller)


@sometimes("nothing is under way, after a controller has raised a leader epoch")
def the_cluster_settles_after_an_election(now):
    return all_of(is_settled(now), somewhere(now, lambda own: current(own).epoch > 0))


@sometimes("nothing is under way, and a partition has no leader, because no member of its ISR is "
           "alive")
def a_partition_is_without_leader(now):
    return all_of(is_settled(now), somewhere(now, lambda own: is_none(current(own).leader)))


@sometimes("two brokers believe they lead, under different epochs")
def two_brokers_believe_they_lead(now):
    return somewhere(now, lambda own: some(BROKERS, lambda one: some(BROKERS, lambda other: all_of(
        leads(own, one), leads(own, other),
        state_of_replica(own, one).epoch < state_of_replica(own, other).epoch))))


@sometimes("a leader is elected that was not the leader before")
def a_second_leader_is_elected(now):
    return somewhere(now, lambda own: all_of(
        not_(is_none(current(own).leader)), current(own).leader != own.state[0].leader))


@sometimes("a replica lacks what was committed without it")
def a_replica_lacks_what_was_committed(now):
    return somewhere(now, lambda own: some(BROKERS, lambda broker: all_of(
        own.replicas.has(broker), not_(own.complete.has(broker)))))


@sometimes("a deposed controller still works on what it had begun")
def a_deposed_controller_is_at_work(now):
    return some(BROKERS, lambda broker: all_of(
        now.belief[broker] > 0, now.belief[broker] < now.zk.epoch,
        now.cache[broker].stage == "electing"))


@sometimes("a broker fetches from a leader that knows it is dead")
def a_dead_broker_still_fetches(now):
    return somewhere(now, lambda own: some(BROKERS, lambda one: some(BROKERS, lambda leader:
        all_of(fetches_from(own, one, leader), not_(now.alive[leader].has(one))))))


@sometimes("the znode of a session that has ended still exists")
def an_ephemeral_znode_outlives_its_session(now):
    return some(BROKERS, lambda broker: now.zk.outlived.has(broker))


CLAIMS = (
    idle_metadata_agrees_with_zookeeper, idle_partitions_have_leaders, no_event_is_missed,
    dead_leaders_are_noticed, leader_unique, leader_in_isr, isr_holds_committed, no_message_loss,
    registered_brokers_stay_registered, resigned_controllers_write_nothing, single_writer,
    leader_epoch_never_falls, dead_brokers_do_not_join_the_isr,
    the_cluster_settles_after_an_election, a_partition_is_without_leader,
    two_brokers_believe_they_lead, a_second_leader_is_elected, a_replica_lacks_what_was_committed,
    a_deposed_controller_is_at_work, a_dead_broker_still_fetches,
    an_ephemeral_znode_outlives_its_session)
