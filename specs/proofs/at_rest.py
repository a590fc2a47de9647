"""Invariants of the newest controller: what it does not know yet, an event or a request will say.

While a controller's session lasts, each difference between ZooKeeper and its memory has an event
in its queue, or is worked on by its event thread. A log directory that has failed is unreported,
or notified of, or a LeaderAndIsr is under way whose answer will say so.
"""

from model.cluster.events import is_queued, watches
from model.cluster.state import PARTITIONS, SLOTS
from model.language import all_of, any_of, below, implies, is_none, not_, some
from model.protocol.state import BROKERS, ZK_VERSIONS
from specs.invariants import invariant
from specs.proofs.cluster import ELECTIONS, written
from specs.proofs.topics import epochs_were_won, is_newest, one_winner_per_epoch


def is_at(now, b, *stages):
    return any_of(*(now.cache[b].stage == one for one in stages))


def is_event_queued(now, b, kind, subject=None):
    return is_queued(now.cache[b].events, kind, subject)


def is_active(now, b):
    """The newest controller, once it has read ZooKeeper, while its session lasts."""
    return all_of(is_newest(now, b), watches(now, b))


@invariant("a broker that does not run neither believes that it is the controller nor won an "
           "election",
           over=(BROKERS,), why="a broker that starts has no earlier session")
def stopped_brokers_are_no_controllers(now, b):
    return any_of(now.up.has(b), all_of(now.belief[b] == 0, now.campaign[b] == 0))


@invariant("nobody knows a controller epoch that nobody won",
           over=(BROKERS,), why="the newest controller is not refused")
def known_epochs_were_won(now, b):
    return all_of(now.seen[b] <= now.zk.epoch, now.late[b].controller <= now.zk.epoch)


@invariant("a broker that is not the controller has read nothing",
           over=(BROKERS,), why="a new controller begins with what it reads")
def only_controllers_have_read_zookeeper(now, b):
    return implies(now.belief[b] == 0, is_at(now, b, "starting"))


@invariant("a controller that has read nothing knows no broker, and has no request under way",
           over=(BROKERS, BROKERS), why="what it knows is what it read")
def controllers_know_no_broker_before_they_read(now, b, x):
    cache = now.cache[b]
    return implies(is_at(now, b, "starting"), all_of(
        not_(cache.live.has(x)), not_(cache.reached.has(x)), not_(cache.started.has(x)),
        not_(cache.bounced.has(x)), not_(cache.dead.has(x)), cache.queue[x].end == 0))


CHANGING = ("electing", "retrying", "removing", "removing_followers", "notifying",
            "announcing_new", "instating")
"""Stages in which brokers may wait that have started."""


@invariant("brokers wait to be instated, or to be handled, only while a BrokerChange is handled",
           over=(BROKERS, BROKERS), why="an idle controller has handled all that it read")
def changes_are_handled(now, b, x):
    cache = now.cache[b]
    return all_of(
        implies(cache.started.has(x), is_at(now, b, *CHANGING)),
        implies(any_of(cache.bounced.has(x), cache.dead.has(x)),
                is_at(now, b, "comparing", *CHANGING)))


@invariant("brokers that are instated count as live",
           over=(BROKERS, BROKERS), why="they are sent LeaderAndIsr, and stay live afterwards")
def starting_brokers_count_as_live(now, b, x):
    return implies(all_of(is_at(now, b, "instating"), now.cache[b].started.has(x)),
                   now.cache[b].live.has(x))


@invariant("a broker that has bounced, or died, counts as live until that is handled",
           over=(BROKERS, BROKERS), why="no broker is both new and bounced")
def bounced_brokers_count_as_live(now, b, x):
    cache = now.cache[b]
    return all_of(
        implies(any_of(cache.bounced.has(x), cache.dead.has(x)),
                all_of(cache.live.has(x), not_(cache.started.has(x)))),
        not_(all_of(cache.bounced.has(x), cache.dead.has(x))))


@invariant("a registration that the controller reaches is of a broker that it takes for live",
           over=(BROKERS, BROKERS), why="or it would be read as new again")
def reached_brokers_count_as_live(now, b, x):
    cache = now.cache[b]
    return all_of(
        implies(cache.reached.has(x), any_of(cache.live.has(x), cache.started.has(x))),
        not_(all_of(cache.reached.has(x), cache.dead.has(x))))


@invariant("a broker that comes or goes is in a BrokerChange, or was read",
           over=(BROKERS, BROKERS), why="an idle controller knows who is registered")
def brokers_are_known_or_will_be(now, b, x):
    cache = now.cache[b]
    return implies(watches(now, b), any_of(
        is_event_queued(now, b, "broker_change"),
        now.zk.registered.has(x) == any_of(
            all_of(cache.live.has(x), not_(cache.dead.has(x))), cache.started.has(x))))


@invariant("so is a new registration",
           over=(BROKERS, BROKERS), why="requests name the registration")
def registrations_are_known_or_will_be(now, b, x):
    return implies(watches(now, b), any_of(
        is_event_queued(now, b, "broker_change"),
        now.zk.registered.has(x) == now.cache[b].reached.has(x)))


@invariant("a notification of an ISR has its event",
           over=(BROKERS, PARTITIONS), why="an idle controller would not look")
def isr_changes_have_their_event(now, b, p):
    return implies(all_of(watches(now, b), now.partition[p].noted),
                   is_event_queued(now, b, "isr_change"))


@invariant("so has one of a log directory",
           over=(BROKERS, BROKERS), why="an idle controller would not look")
def log_dir_failures_have_their_event(now, b, x):
    return implies(all_of(watches(now, b), now.zk.log_dir_events.has(x)),
                   is_event_queued(now, b, "log_dir_event"))


@invariant("a request for preferred leaders has its event, or is worked on, or the failover will "
           "read it",
           over=(BROKERS, PARTITIONS), why="an idle controller would not look")
def requests_have_their_event(now, b, p):
    return implies(all_of(watches(now, b), now.partition[p].wanted), any_of(
        is_event_queued(now, b, "preferred_election"),
        is_at(now, b, "announcing", "restoring", "offlining", "onlining", "rewriting", "looking",
              "preferring", "cleaning")))


# -- log directories -------------------------------------------------------------------------------


def waits_for_a_new_registration(now, b, x):
    """The controller knows the broker under an earlier registration, or has not instated it."""
    cache = now.cache[b]
    return any_of(not_(cache.reached.has(x)), cache.bounced.has(x))


def is_ordered(now, b, x, p):
    """A LeaderAndIsr about the partition is under way."""
    queue = now.cache[b].queue[x]
    return some(below(SLOTS, queue.end), lambda slot: all_of(
        queue[slot].kind == "leader_and_isr", not_(is_none(queue[slot].about[p]))))


def is_response_expected(now, b, x):
    """A response is in the event queue, or will be after the next partition of a request."""
    queue = now.cache[b].queue[x]
    return any_of(
        is_event_queued(now, b, "leader_and_isr_response", x),
        all_of(queue.end > 0, queue[0].kind == "leader_and_isr"))


@invariant("the log directories that have failed are of replicas",
           over=(PARTITIONS, BROKERS), why="a LeaderAndIsr asks for them")
def failures_are_of_replicas(now, p, x):
    return implies(now.partition[p].failed.has(x), now.partition[p].replicas.has(x))


@invariant("a request is under way to a broker that counts as live",
           over=(BROKERS, BROKERS), why="those to others are dropped with their channel")
def requests_are_sent_to_live_brokers(now, b, x):
    return implies(now.cache[b].queue[x].end > 0, all_of(
        now.cache[b].live.has(x), not_(now.cache[b].dead.has(x))))


@invariant("what a controller knows of a broker's log directories is of a live one",
           over=(BROKERS, PARTITIONS, BROKERS), why="a broker that starts has none that failed")
def known_log_dirs_are_of_live_brokers(now, b, p, x):
    mine = now.partition[p].context[b]
    return implies(any_of(mine.lost.has(x), mine.refusing.has(x), mine.obeying.has(x)),
                   now.cache[b].live.has(x))


@invariant("a log directory that is not as the controller knows it works again since the broker "
           "started, which the controller will read",
           over=(BROKERS, PARTITIONS, BROKERS),
           why="it forgets log directories when it handles a failure")
def repairs_are_known_or_will_be(now, b, p, x):
    own = now.partition[p]
    return implies(
        all_of(watches(now, b), any_of(own.context[b].lost.has(x), own.context[b].refusing.has(x)),
               not_(own.failed.has(x)), now.zk.registered.has(x), now.up.has(x)),
        waits_for_a_new_registration(now, b, x))


@invariant("a log directory that has failed is known, or unreported, or notified of, or asked for",
           over=(BROKERS, PARTITIONS, BROKERS), why="an idle controller elects no leader on it")
def failures_are_known_or_will_be(now, b, p, x):
    own, mine = now.partition[p], now.partition[p].context[b]
    return implies(
        all_of(is_active(now, b), own.failed.has(x), now.zk.registered.has(x), now.up.has(x)),
        any_of(
            now.failure_unreported.has(x), now.zk.log_dir_events.has(x),
            waits_for_a_new_registration(now, b, x), now.cache[b].started.has(x),
            is_at(now, b, "announcing", "restoring"), is_ordered(now, b, x, p),
            all_of(not_(mine.obeying.has(x)), any_of(
                mine.lost.has(x),
                all_of(mine.refusing.has(x), is_response_expected(now, b, x))))))


# -- leaders ---------------------------------------------------------------------------------------


@invariant("no state was written under a controller epoch that nobody won",
           over=(PARTITIONS, ZK_VERSIONS), why="the newest controller writes over every state")
def states_are_of_won_epochs(now, p, v):
    return now.partition[p].state[v].controller <= now.zk.epoch


@invariant("of every state that was written the members of the ISR are replicas",
           over=(PARTITIONS, BROKERS, ZK_VERSIONS),
           why="when a broker fails, its replicas go offline")
def isr_members_are_replicas(now, p, x, v):
    own = now.partition[p]
    return implies(all_of(written(now, p, v), own.state[v].isr.has(x)), own.replicas.has(x))


@invariant("before it starts its state machines a controller takes no replica offline, and knows "
           "of no log directory that failed",
           over=(BROKERS, PARTITIONS, BROKERS), why="whom it has read as live may lead")
def failovers_begin_without_offline_replicas(now, b, p, x):
    mine = now.partition[p].context[b]
    return implies(is_at(now, b, "starting", "announcing", "restoring"), all_of(
        not_(mine.gone.has(x)), not_(mine.lost.has(x)), is_none(mine.read)))


TAKING_OFFLINE = ("offlining", "electing", "retrying", "removing", "removing_followers", "moving",
                  "stopping", "retiring")
"""Stages in which replicas may wait to be taken offline."""


@invariant("replicas wait to go offline only while a failure or a departure is handled",
           over=(BROKERS, PARTITIONS, BROKERS),
           why="an idle controller has taken all of them offline")
def replicas_wait_to_go_offline(now, b, p, x):
    return implies(now.partition[p].context[b].gone.has(x), is_at(now, b, *TAKING_OFFLINE))


@invariant("the newest controller knows the registered leader, and has read no other",
           over=(BROKERS, PARTITIONS), why="only it names another, and leaders change only the ISR")
def newest_controller_knows_the_leader(now, b, p):
    own, mine = now.partition[p], now.partition[p].context[b]
    leader = own.state[own.version].leader
    return implies(is_newest(now, b), all_of(
        any_of(is_at(now, b, "starting"), own.state[mine.version].leader == leader),
        any_of(is_none(mine.read), own.state[mine.read].leader == leader)))


@invariant("a leader counts as live, and its log directory as one that works, or it is to go "
           "offline",
           over=(BROKERS, PARTITIONS, BROKERS), why="an idle controller has nobody left to replace")
def leaders_are_live_or_going_offline(now, b, p, x):
    own, mine = now.partition[p], now.partition[p].context[b]
    return implies(
        all_of(is_newest(now, b), not_(is_at(now, b, "starting", "announcing", "restoring")),
               own.state[own.version].leader == x),
        any_of(mine.gone.has(x), all_of(now.cache[b].live.has(x), not_(mine.lost.has(x)))))


AT_REST = (
    epochs_were_won, one_winner_per_epoch, stopped_brokers_are_no_controllers,
    known_epochs_were_won, only_controllers_have_read_zookeeper,
    controllers_know_no_broker_before_they_read, changes_are_handled,
    starting_brokers_count_as_live, bounced_brokers_count_as_live, reached_brokers_count_as_live,
    brokers_are_known_or_will_be, registrations_are_known_or_will_be, isr_changes_have_their_event,
    log_dir_failures_have_their_event, requests_have_their_event, failures_are_of_replicas,
    requests_are_sent_to_live_brokers, known_log_dirs_are_of_live_brokers,
    repairs_are_known_or_will_be, failures_are_known_or_will_be, *ELECTIONS,
    states_are_of_won_epochs, isr_members_are_replicas, failovers_begin_without_offline_replicas,
    replicas_wait_to_go_offline, newest_controller_knows_the_leader,
    leaders_are_live_or_going_offline)
