"""Claims about the control plane, by epochs: two brokers may believe that they are controller.

"There is one controller" is not a claim: during a long pause two brokers believe that they are it.
"Some broker eventually becomes controller" is not a claim either: a session that expires again and
again just before its broker wins can prevent it forever, and so can a winner that dies unnoticed
while its session is kept alive. The claims are about executed writes and requests.
"""

from model.election.state import BROKERS, EPOCHS
from model.language import (
    all_of,
    always,
    always_eventually,
    always_step,
    every,
    implies,
    is_none,
    not_,
    some,
    sometimes,
    when,
)


def at_most_one_holder_per_epoch(now):
    return every(EPOCHS, lambda epoch: every(BROKERS, lambda one: every(BROKERS, lambda other:
        implies(all_of(now.won.has(one, epoch), now.won.has(other, epoch)), one == other))))


@always("per controller epoch at most one broker ever holds it, ZooKeeper accepts no controller "
        "write from an older epoch, and no broker obeys an older controller after a newer one",
        companion="two_brokers_believe_they_are_controller")
def single_controller(now):
    return all_of(
        at_most_one_holder_per_epoch(now), not_(now.stale_write), not_(now.stale_obedience))


@always("ZooKeeper accepts no controller write from an older controller epoch",
        companion="a_deposed_controller_has_a_write_in_flight")
def single_writer(now):
    return not_(now.stale_write)


@always("no broker obeys an older controller after a newer one",
        companion="a_deposed_request_is_in_flight")
def no_older_controller_is_obeyed(now):
    return not_(now.stale_obedience)


@always_step("the controller epoch in ZooKeeper never goes back, and its zkVersion grows whenever "
             "it does, and only then",
             companion="winner_has_not_learned_it_won")
def controller_epoch_never_falls(now, after):
    return when(after.zk.epoch == now.zk.epoch,
                after.zk.epoch_version == now.zk.epoch_version,
                all_of(after.zk.epoch > now.zk.epoch,
                       after.zk.epoch_version > now.zk.epoch_version))


@always("the broker that owns /controller has a session: the znode exists as long as the session",
        companion="winner_has_not_learned_it_won")
def the_owner_has_a_session(now):
    return every(BROKERS, lambda broker: implies(
        now.zk.controller == broker, now.session[broker]))


@always("a broker believes it is the controller only under an epoch that it won",
        companion="two_brokers_believe_they_are_controller")
def controllers_won_their_epoch(now):
    return every(BROKERS, lambda broker: implies(
        now.belief[broker].held,
        some(EPOCHS, lambda epoch: all_of(
            epoch == now.belief[broker].epoch, now.won.has(broker, epoch)))))


@always("a broker that believes it is the controller has no election of its own under way",
        companion="two_brokers_believe_they_are_controller")
def controllers_have_no_pending_election(now):
    return every(BROKERS, lambda broker: not_(all_of(
        now.belief[broker].held, now.read[broker].done)))


@always("a write is under way only from a broker that won the epoch in it",
        companion="a_deposed_controller_has_a_write_in_flight")
def writers_won_their_epoch(now):
    return every(BROKERS, lambda broker: implies(
        now.pending[broker].any,
        some(EPOCHS, lambda epoch: all_of(
            epoch == now.pending[broker].epoch, now.won.has(broker, epoch)))))


@always("once the partition's state is written, its controller epoch is one that a broker won",
        companion="the_state_was_written")
def written_controller_epoch_was_won(now):
    return implies(now.zk.state_version > 0, some(BROKERS, lambda broker: some(EPOCHS,
        lambda epoch: all_of(epoch == now.zk.state_epoch, now.won.has(broker, epoch)))))


@always("the last request that a broker obeyed was sent by a controller",
        companion="a_deposed_request_is_in_flight")
def accepted_requests_were_sent(now):
    return every(BROKERS, lambda broker: implies(
        now.obeyed[broker] > 0,
        some(BROKERS, lambda sender: some(EPOCHS, lambda epoch: all_of(
            epoch == now.obeyed[broker], now.sent.has(sender, epoch))))))


@always_step("/controller gets another owner and a new epoch only after it was deleted",
             companion="winner_has_not_learned_it_won")
def nobody_takes_over_the_controllership(now, after):
    return implies(
        all_of(not_(is_none(now.zk.controller)), not_(is_none(after.zk.controller))),
        all_of(after.zk.controller == now.zk.controller, after.zk.epoch == now.zk.epoch))


@always_step("a broker starts no write before its last one is answered",
             companion="a_deposed_controller_has_a_write_in_flight")
def one_write_at_a_time(now, after):
    return every(BROKERS, lambda broker: implies(
        all_of(now.pending[broker].any, after.pending[broker].any),
        now.pending[broker] == after.pending[broker]))


@always_eventually("every broker knows of the newest controller that ever sent a request, or of a "
                   "newer one, whatever crashes and expires",
                   fair=("broker_handles_request",))
def newest_controller_becomes_known(now):
    return every(BROKERS, lambda broker: every(BROKERS, lambda sender: every(EPOCHS, lambda epoch:
        implies(now.sent.has(sender, epoch), now.seen[broker] >= epoch))))


@sometimes("two brokers believe they are the controller, under different epochs")
def two_brokers_believe_they_are_controller(now):
    return some(BROKERS, lambda one: some(BROKERS, lambda other: all_of(
        one != other, now.belief[one].held, now.belief[other].held,
        now.belief[one].epoch != now.belief[other].epoch)))


@sometimes("a deposed controller has a write under way, and the partition is as it had read it")
def a_deposed_controller_has_a_write_in_flight(now):
    return some(BROKERS, lambda broker: all_of(
        now.pending[broker].any,
        now.pending[broker].epoch < now.zk.epoch,
        now.pending[broker].state_version == now.zk.state_version))


@sometimes("a broker knows the newer controller, and a request of the older one may still arrive")
def a_deposed_request_is_in_flight(now):
    return some(BROKERS, lambda broker: some(BROKERS, lambda sender: some(EPOCHS, lambda epoch:
        all_of(now.sent.has(sender, epoch), epoch < now.seen[broker]))))


@sometimes("/controller is owned by a broker that has not learned that it won")
def winner_has_not_learned_it_won(now):
    return some(BROKERS, lambda broker: all_of(
        now.zk.controller == broker, not_(now.belief[broker].held)))


@sometimes("the partition's state was written by a controller")
def the_state_was_written(now):
    return now.zk.state_version > 0


CLAIMS = (
    single_controller, single_writer, no_older_controller_is_obeyed, the_owner_has_a_session,
    controllers_won_their_epoch, controllers_have_no_pending_election, writers_won_their_epoch,
    written_controller_epoch_was_won, accepted_requests_were_sent, controller_epoch_never_falls,
    nobody_takes_over_the_controllership, one_write_at_a_time, newest_controller_becomes_known,
    two_brokers_believe_they_are_controller, a_deposed_controller_has_a_write_in_flight,
    a_deposed_request_is_in_flight, winner_has_not_learned_it_won, the_state_was_written)
