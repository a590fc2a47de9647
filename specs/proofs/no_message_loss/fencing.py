"""ZooKeeper fencing: a write with the right version is made by the newest epoch's leader."""

from model.language import all_of, implies, not_
from model.replication.history.state import BROKERS, EPOCHS
from specs.invariants import invariant


@invariant("a leader whose version is current is the leader of the registered epoch",
           over=(EPOCHS,), triggers=lambda now, e: [now.began[e], now.leader[e].zk_version],
           why="the conditional write of a deposed leader is refused")
def current_versions_are_of_the_registered_epoch(now, e):
    return implies(all_of(now.began[e], now.leader[e].zk_version == now.zk.version),
                   e == now.zk.epoch)


@invariant("once it leads, the leader of the registered epoch counts on all of the registered ISR",
           over=(BROKERS,),
           triggers=lambda now, b: [now.zk.isr.has(b), now.leader[now.zk.epoch].isr.has(b)],
           why="who may be elected has what it commits")
def the_current_leaders_isr_includes_the_registered_isr(now, b):
    e = now.zk.epoch
    return implies(all_of(now.began[e], now.zk.isr.has(b)), now.leader[e].isr.has(b))


@invariant("and on nobody else, if its version is current",
           over=(BROKERS,),
           triggers=lambda now, b: [now.zk.isr.has(b), now.leader[now.zk.epoch].isr.has(b)],
           why="what it writes next adds to the registered ISR only whom it took in")
def a_leader_with_the_current_version_has_the_registered_isr(now, b):
    e = now.zk.epoch
    return implies(
        all_of(now.began[e], now.leader[e].zk_version == now.zk.version, now.leader[e].isr.has(b)),
        now.zk.isr.has(b))


@invariant("until its leader leads, the registered epoch's request has the registered version",
           why="with it the leader will pass the version check")
def an_unled_epochs_request_has_the_registered_version(now):
    e = now.zk.epoch
    return implies(all_of(now.request[e].sent, not_(now.began[e])),
                   now.request[e].version == now.zk.version)


@invariant("and the registered ISR",
           over=(BROKERS,),
           triggers=lambda now, b: [now.zk.isr.has(b), now.request[now.zk.epoch].isr.has(b)],
           why="the leader will take it from there")
def an_unled_epochs_request_has_the_registered_isr(now, b):
    e = now.zk.epoch
    return implies(all_of(now.request[e].sent, not_(now.began[e])),
                   now.request[e].isr.has(b) == now.zk.isr.has(b))


@invariant("requests and leaders of older epochs have older versions, and none has a newer one",
           over=(EPOCHS,), triggers=lambda now, e: [now.request[e].sent],
           why="they lose every conditional write from now on")
def older_epochs_have_older_versions(now, e):
    old = e < now.zk.epoch
    return all_of(
        implies(all_of(now.request[e].sent, old), now.request[e].version < now.zk.version),
        implies(now.request[e].sent, now.request[e].version <= now.zk.version),
        implies(all_of(now.began[e], old), now.leader[e].zk_version < now.zk.version),
        implies(now.began[e], now.leader[e].zk_version <= now.zk.version))


@invariant("the leader that a request names is in the request's ISR",
           over=(EPOCHS,), triggers=lambda now, e: [now.request[e].named],
           why="only a member of the ISR is elected")
def elected_leaders_are_in_the_isr(now, e):
    return implies(all_of(now.request[e].sent, now.request[e].named),
                   now.request[e].isr.has(now.request[e].leader))


@invariant("a leader is in its own ISR",
           over=(EPOCHS,), triggers=lambda now, e: [now.began[e]],
           why="a successor that was in it can be traced back to it")
def leaders_are_in_their_isr(now, e):
    return implies(now.began[e], now.leader[e].isr.has(now.request[e].leader))


@invariant("the registered leader is in the registered ISR, and is the one that was sent so",
           why="it holds what the ISR holds")
def the_registered_leader_is_in_the_isr(now):
    request = now.request[now.zk.epoch]
    return implies(now.zk.named, all_of(
        now.zk.isr.has(now.zk.leader), request.named, request.leader == now.zk.leader))


INVARIANTS = (
    current_versions_are_of_the_registered_epoch,
    the_current_leaders_isr_includes_the_registered_isr,
    a_leader_with_the_current_version_has_the_registered_isr,
    an_unled_epochs_request_has_the_registered_version,
    an_unled_epochs_request_has_the_registered_isr, older_epochs_have_older_versions,
    elected_leaders_are_in_the_isr, leaders_are_in_their_isr, the_registered_leader_is_in_the_isr)
