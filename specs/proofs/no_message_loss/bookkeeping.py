"""Bookkeeping: which epochs exist, who leads them, and what the brokers know of them."""

from model.language import all_of, any_of, implies, not_
from model.replication.history.state import BROKERS, EPOCHS
from specs.invariants import given, invariant
from specs.proofs.no_message_loss.definitions import (
    follows,
    is_elected_in_its_epoch,
    leads,
    truncates,
)


@invariant("a LeaderAndIsr that was sent is of an epoch from 1 to the registered one",
           over=(EPOCHS,), triggers=lambda now, e: [now.request[e].sent],
           why="the next election makes an epoch that nobody has heard of")
def requests_are_of_elected_epochs(now, e):
    return implies(now.request[e].sent, all_of(e > 0, e <= now.zk.epoch))


@invariant("the registered epoch was sent, unless nobody was elected yet",
           why="a write that passes the version check is the write of a requested epoch")
def the_registered_epoch_was_sent(now):
    return any_of(now.zk.epoch == 0, now.request[now.zk.epoch].sent)


@invariant("an epoch that was led was sent with a leader, and is not above the newest one led",
           over=(EPOCHS,), triggers=lambda now, e: [now.began[e]],
           why="`newest` is the newest")
def led_epochs_were_sent(now, e):
    return implies(now.began[e], all_of(
        now.request[e].sent, now.request[e].named, e <= now.newest))


@invariant("the newest epoch led was led, unless none was yet",
           why="`newest` is one of them")
def the_newest_led_epoch_was_led(now):
    return any_of(now.newest == 0, now.began[now.newest])


@invariant("a broker's epoch was sent, if it has one, and is not above the registered one",
           over=(BROKERS,), triggers=lambda now, b: [now.replica[b].epoch],
           why="brokers do not invent epochs")
def brokers_know_sent_epochs(now, b):
    epoch = now.replica[b].epoch
    return all_of(any_of(epoch == 0, now.request[epoch].sent), epoch <= now.zk.epoch)


@invariant("a broker that leads is the leader named for its epoch, which has begun",
           over=(BROKERS,), triggers=lambda now, b: [now.replica[b].role],
           why="one leader an epoch: what a leader knows may be kept by epoch")
def leaders_were_elected(now, b):
    epoch = now.replica[b].epoch
    return implies(leads(now, b), all_of(now.began[epoch], now.request[epoch].leader == b))


@invariant("a broker that fetches does so in an epoch that has begun, or has no record yet",
           over=(BROKERS,), triggers=lambda now, b: [now.replica[b].role],
           why="its log can be a prefix of that epoch's history")
def followers_are_in_epochs_that_began(now, b):
    return implies(all_of(follows(now, b), now.log[b].end > 0), now.began[now.replica[b].epoch])


@invariant("a broker whose own epoch names it the leader has led that epoch",
           over=(BROKERS,), triggers=lambda now, b: [given(b)],
           why="a leader that comes back from a crash finds the leadership that it held before")
def elected_leaders_have_led(now, b):
    epoch = now.replica[b].epoch
    return implies(is_elected_in_its_epoch(now, b), now.began[epoch])


@invariant("no follower is the leader of its own epoch",
           over=(BROKERS,), triggers=lambda now, b: [now.replica[b].role],
           why="what the leader asks or truncates would be its own log")
def followers_were_not_elected(now, b):
    request = now.request[now.replica[b].epoch]
    return implies(any_of(follows(now, b), truncates(now, b)),
                   not_(all_of(request.named, request.leader == b)))


@invariant("whoever led an epoch has that epoch or a newer one",
           over=(EPOCHS,), triggers=lambda now, e: [now.began[e]],
           why="an epoch begins once: its history is written by one log only")
def leaders_keep_their_epoch(now, e):
    return implies(now.began[e], e <= now.replica[now.request[e].leader].epoch)


@invariant("a high watermark is within its log",
           over=(BROKERS,), triggers=lambda now, b: [now.replica[b].hw, now.log[b].end],
           why="what is below it can be read")
def hw_is_within_the_log(now, b):
    return now.replica[b].hw <= now.log[b].end


@invariant("an epoch starts within its history",
           over=(EPOCHS,), triggers=lambda now, e: [now.leader[e].start, now.history[e].end],
           why="what was there at its start is there for good")
def epochs_start_within_their_history(now, e):
    return implies(now.began[e], now.leader[e].start <= now.history[e].end)


INVARIANTS = (
    requests_are_of_elected_epochs, the_registered_epoch_was_sent, led_epochs_were_sent,
    the_newest_led_epoch_was_led, brokers_know_sent_epochs, leaders_were_elected,
    followers_are_in_epochs_that_began, elected_leaders_have_led, followers_were_not_elected,
    leaders_keep_their_epoch, hw_is_within_the_log, epochs_start_within_their_history)
