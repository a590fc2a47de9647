"""What controllers keep of one topic: the newest, whose writes pass the fence, knows what it writes
over."""

from model.language import all_of, any_of, every, implies, is_none, not_, when
from model.protocol.state import BROKERS
from model.topics.conduct import lists_are_sound, the_dead_do_nothing
from model.topics.leadership import clean_election
from model.topics.state import PARTITIONS, PLACES
from model.topics.zookeeper import has_partition
from specs.invariants import Invariant, invariant

BLANK_TASK = "reads_zookeeper"


def is_newest(now, b):
    """It believes that it is the controller, under the epoch that ZooKeeper has."""
    return all_of(now.belief[b] > 0, now.belief[b] == now.zk.epoch)


def knows_nothing(now, b):
    return every(PARTITIONS, lambda p: every(PLACES, lambda k: is_none(
        now.cache[b].known[p][k])))


@invariant("nobody won an epoch that is not there yet",
           over=(BROKERS,), why="the next epoch that is won is nobody's")
def epochs_were_won(now, b):
    return all_of(now.belief[b] <= now.zk.epoch, now.campaign[b] <= now.zk.epoch)


@invariant("no two brokers won one epoch",
           over=(BROKERS, BROKERS), why="the newest controller is one, so nobody else passes the "
                                        "fence")
def one_winner_an_epoch(now, b, other):
    return all_of(
        implies(all_of(now.belief[b] > 0, now.belief[b] == now.belief[other]), b == other),
        implies(all_of(now.campaign[b] > 0, now.campaign[b] == now.campaign[other]), b == other),
        implies(now.belief[b] > 0, all_of(
            now.campaign[b] == 0, now.belief[b] != now.campaign[other])))


@invariant("who does not believe that it is the controller knows no topic and has no task",
           over=(BROKERS,), why="a new controller begins with what it reads")
def the_others_know_nothing(now, b):
    return implies(now.belief[b] == 0, all_of(
        now.cache[b].task == BLANK_TASK, knows_nothing(now, b)))


@invariant("before it reads ZooKeeper a controller knows no topic",
           over=(BROKERS,), why="what it knows is what it read")
def who_has_not_read_knows_nothing(now, b):
    return implies(now.cache[b].task == BLANK_TASK, knows_nothing(now, b))


@invariant("the newest controller knows a partition's replicas as ZooKeeper has them",
           over=(BROKERS, PARTITIONS, PLACES),
           why="what it writes over is what is there")
def the_newest_knows_the_lists(now, b, p, k):
    known = now.cache[b].known
    return implies(is_newest(now, b), when(
        has_partition(known, p), known[p][k] == now.zk.assignment[p][k], is_none(known[p][k])))


@invariant("who removes a topic's nodes has forgotten it",
           over=(BROKERS, PARTITIONS), why="they go one by one")
def who_removes_has_forgotten(now, b, p):
    return implies(
        any_of(now.cache[b].task == "unregisters", now.cache[b].task == "removes_request"),
        not_(has_partition(now.cache[b].known, p)))


@invariant("and knows the partitions without a gap",
           over=(BROKERS, PARTITIONS, PARTITIONS),
           why="that is how it writes them, when it undoes an addition")
def the_newest_knows_no_gap(now, b, p, q):
    known = now.cache[b].known
    return implies(all_of(is_newest(now, b), q < p, has_partition(known, p)),
                   has_partition(known, q))


def as_invariant(claim) -> Invariant:
    """A claim that steps keep by itself, or with others."""
    return Invariant(f"{claim.name}_is_kept", claim.sentence, "the claim", claim.function)


CONTROLLERSHIP = (epochs_were_won, one_winner_an_epoch, the_others_know_nothing,
          who_has_not_read_knows_nothing)
LISTS = (*CONTROLLERSHIP, the_newest_knows_the_lists, the_newest_knows_no_gap,
         who_removes_has_forgotten, as_invariant(lists_are_sound))
DEAD = (as_invariant(the_dead_do_nothing),)
ELECTIONS = (as_invariant(clean_election),)
