"""ISR ancestry: a later ISR member that has not heard of an epoch was in that epoch's ISR."""

from model.language import all_of, any_of, implies, not_
from model.replication.history.state import BROKERS, EPOCHS
from specs.invariants import given, invariant
from specs.proofs.no_message_loss.definitions import is_reached_without


def is_newest_or_unknown_to(now, b, e):
    return any_of(now.replica[b].epoch < e, e == now.newest)


@invariant("a registered ISR member that has not heard of an epoch was in that epoch's first ISR",
           over=(BROKERS, EPOCHS),
           triggers=lambda now, b, e: [
               (now.zk.isr.has(b), now.request[e].sent),
               (now.zk.isr.has(b), now.request[e].isr.has(b))],
           why="controllers only take members out; a leader takes in whom it heard in its epoch")
def members_were_in_older_requests(now, b, e):
    return implies(
        all_of(now.zk.isr.has(b), now.request[e].sent, is_reached_without(now, b, e)),
        now.request[e].isr.has(b))


@invariant("the same for the members of a later request's ISR",
           over=(BROKERS, EPOCHS, EPOCHS),
           triggers=lambda now, b, e, later: [
               (now.request[later].isr.has(b), now.request[e].sent),
               (now.request[later].isr.has(b), now.request[e].isr.has(b))],
           why="who is named there may become leader after the registered ISR has changed")
def candidates_were_in_older_requests(now, b, e, later):
    return implies(
        all_of(now.request[later].sent, now.request[later].isr.has(b), now.request[e].sent,
               e < later, is_reached_without(now, b, e)),
        now.request[e].isr.has(b))


@invariant("a registered ISR member that has not heard of an epoch, or of none newer, is in the "
           "ISR of that epoch's leader",
           over=(BROKERS, EPOCHS),
           triggers=lambda now, b, e: [
               (now.zk.isr.has(b), now.began[e]), (now.zk.isr.has(b), now.leader[e].isr.has(b))],
           why="so that leader cannot commit without it")
def members_are_in_older_isrs(now, b, e):
    return implies(
        all_of(now.zk.isr.has(b), now.began[e], is_newest_or_unknown_to(now, b, e)),
        now.leader[e].isr.has(b))


@invariant("the same for the members of a later request's ISR",
           over=(BROKERS, EPOCHS, EPOCHS),
           triggers=lambda now, b, e, later: [
               (now.request[later].isr.has(b), now.began[e]),
               (now.request[later].isr.has(b), now.leader[e].isr.has(b))],
           why="the next leader is one of them")
def candidates_are_in_older_isrs(now, b, e, later):
    return implies(
        all_of(now.request[later].sent, now.request[later].isr.has(b), now.began[e],
               e < later, is_newest_or_unknown_to(now, b, e)),
        now.leader[e].isr.has(b))


@invariant("of every epoch older than the newest led, somebody has left for a newer one: its "
           "leader, or a member of the ISR that it counts on, or would become leader with",
           over=(EPOCHS,), triggers=lambda now, e: [now.began[e], given(e)],
           why="its leader, a zombie, commits nothing that this member did not ask for")
def a_member_of_each_older_epoch_has_left(now, e):
    gone = now.gone[e]
    return implies(all_of(now.request[e].sent, e < now.newest), all_of(
        e < now.replica[gone].epoch,
        implies(not_(now.began[e]), now.request[e].isr.has(gone)),
        implies(now.began[e],
                any_of(gone == now.request[e].leader, now.leader[e].isr.has(gone)))))


INVARIANTS = (
    members_were_in_older_requests, candidates_were_in_older_requests,
    members_are_in_older_isrs, candidates_are_in_older_isrs, a_member_of_each_older_epoch_has_left)
