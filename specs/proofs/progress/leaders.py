"""Proves that once faults have ended, the partition gets a leader that every live replica follows.

The system is `replication_history`, unchanged, with a set of brokers that stay alive. The
controller elects if the registered leader is dead, as in Kafka: a live member of the ISR, and it
keeps the live members. Dead brokers write no ISR; their other steps do no harm. Abstract steps that
Kafka does not have, and that could repeat forever, count as faults: an answer that is replaced
before it was used, or an answer of an older epoch that truncates nothing.
"""

from __future__ import annotations

from model.language import (
    SetOf,
    all_of,
    always_eventually,
    any_of,
    below,
    every,
    implies,
    limit,
    not_,
    smaller,
    some,
)
from model.replication.history import SYSTEM as HISTORY
from model.replication.history.state import BROKERS, ENDS, OFFSETS
from specs.invariants import Proof, invariant
from specs.progress.after_faults import after_faults, always_a_fault
from specs.progress.ranking import AwaitedStep, LeastNumber, Rank, Ranking
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.no_message_loss.definitions import at

# -- faults ---------------------------------------------------------------------------------------


def has_live_leader(now):
    """The registered leader is alive."""
    return all_of(now.zk.named, now.live.has(now.zk.leader))


def has_live_member(now):
    return some(BROKERS, lambda b: all_of(now.live.has(b), now.zk.isr.has(b)))


def is_dead(now, broker, **others):
    return not_(now.live.has(broker))


def epoch_answer_is_useless(now, leader, follower, **others):
    """One of them is dead, or the follower has an answer already."""
    return any_of(not_(now.live.has(leader)), not_(now.live.has(follower)),
                  now.answer[follower].given)


FAULTS = {
    "broker_crashes": always_a_fault,
    "epoch_answer_is_lost": always_a_fault,
    "controller_elects_leader": lambda now, leader, isr: any_of(
        has_live_leader(now), not_(now.live.has(leader)), isr != now.zk.isr.within(now.live)),
    "controller_writes_no_leader": lambda now, isr: has_live_member(now),
    "leader_answers_truncation_offset": epoch_answer_is_useless,
    "leader_answers_unknown_epoch": lambda now, leader, follower, cut: any_of(
        epoch_answer_is_useless(now, leader, follower), cut == now.log[follower].end),
    "leader_shrinks_isr": is_dead,
    "leader_expands_isr": is_dead,
}

# -- the claim ------------------------------------------------------------------------------------


def is_led(now):
    """The registered leader is alive, and leads in the registered epoch."""
    mine = now.replica[now.zk.leader]
    return all_of(has_live_leader(now), mine.role == "leading", mine.epoch == now.zk.epoch)


def is_to_follow(now, b):
    return all_of(has_live_leader(now), now.live.has(b), b != now.zk.leader)


def follows_now(now, b):
    return all_of(now.replica[b].role == "following", now.replica[b].epoch == now.zk.epoch)


def is_followed_by_all(now):
    return all_of(is_led(now), every(BROKERS, lambda b: implies(
        is_to_follow(now, b), follows_now(now, b))))


FAIR = (
    "controller_elects_leader", "broker_becomes_leader", "broker_leads_again",
    "broker_becomes_follower", "leader_answers_truncation_offset", "follower_truncates",
    "follower_truncates_and_asks_again")


@always_eventually("once faults have ended, a partition of which some ISR member is alive has a "
                   "leader, and every live replica follows it",
                   fair=FAIR)
def a_leader_is_followed_by_all(now):
    return any_of(not_(now.faults_ended), not_(has_live_member(now)), is_followed_by_all(now))


CHOSEN = {"live": (SetOf(BROKERS), SetOf(BROKERS))}
CLAIMS = (a_leader_is_followed_by_all,)

SYSTEM = after_faults(HISTORY, FAULTS, CLAIMS, CHOSEN)

LEFT_OVER = {
    "controller_elects_leader": lambda now, leader, isr: all_of(
        now.zk.epoch + 1 < limit("epoch"), now.zk.version + 2 < limit("versions")),
    "controller_writes_no_leader": lambda now, isr: all_of(
        now.zk.epoch + 1 < limit("epoch"), now.zk.version + 2 < limit("versions")),
    "isr_write_is_executed": lambda now, epoch: now.zk.version + 2 < limit("versions"),
}
EXPLORED = after_faults(HISTORY, FAULTS, CLAIMS, CHOSEN, LEFT_OVER)
"""For an explorer: an epoch and two writes are left for when faults have ended."""

# -- invariants -----------------------------------------------------------------------------------


@invariant("the registered epoch's request names whom the registered state names",
           why="who leads in the registered epoch is the registered leader")
def the_registered_request_is_the_state(now):
    request = now.request[now.zk.epoch]
    return any_of(now.zk.epoch == 0, all_of(
        request.sent, request.named == now.zk.named,
        implies(now.zk.named, request.leader == now.zk.leader)))


@invariant("nobody is named before the first election",
           why="a leader has an epoch")
def nobody_is_elected_at_first(now):
    return implies(now.zk.named, now.zk.epoch > 0)


# -- the ranking ----------------------------------------------------------------------------------


def every_other_member(now, holds):
    """Of every member of the ISR that the registered leader counts on, but itself."""
    return every(BROKERS, lambda b: implies(
        all_of(now.leader[now.zk.epoch].isr.has(b), b != now.zk.leader), holds(b)))


def is_cutting(now, b):
    """A follower of the registered epoch that does not know yet where to truncate."""
    return all_of(is_to_follow(now, b), now.replica[b].role == "truncating",
                  now.replica[b].epoch == now.zk.epoch)


def dead_leader_writes(now):
    return all_of(not_(has_live_leader(now)), now.leader[now.zk.epoch].write == "sent")


def cuts_nothing(now, b):
    return all_of(now.answer[b].given, not_(now.answer[b].agreed),
                  now.answer[b].cut >= now.log[b].end)


def nothing(now, **parameters):
    return ()


def its_follower(now, follower, **others):
    return (follower,)


RANKS = (
    Rank("dead_writes", "an ISR write of a dead leader is on its way", (), dead_leader_writes,
         {"isr_write_is_executed": nothing, "isr_write_is_refused": nothing,
          "leader_finds_isr_registered": nothing, "controller_resends_state": nothing}),
    Rank("no_live_leader", "the registered leader is dead, or there is none", (),
         lambda now: not_(has_live_leader(now)), {"controller_elects_leader": nothing}),
    Rank("idle_leader", "the registered leader does not lead yet", (),
         lambda now: all_of(has_live_leader(now), not_(is_led(now))),
         {"broker_becomes_leader": nothing, "broker_leads_again": nothing}),
    Rank("unaware", "live brokers that do not know yet whom to follow", (BROKERS,),
         lambda now, b: all_of(is_to_follow(now, b), not_(all_of(
             now.replica[b].epoch == now.zk.epoch, any_of(
                 now.replica[b].role == "truncating", now.replica[b].role == "following")))),
         {"broker_becomes_follower": lambda now, broker, epoch: (broker,)}),
    Rank("empty_answers", "followers with an answer of an older epoch that cuts nothing",
         (BROKERS,), lambda now, b: all_of(is_cutting(now, b), cuts_nothing(now, b)),
         {"follower_truncates_and_asks_again": its_follower}),
    Rank("to_be_cut", "records of followers that do not know yet where to cut", (BROKERS, OFFSETS),
         lambda now, b, o: all_of(is_cutting(now, b), o < now.log[b].end),
         {"follower_truncates_and_asks_again": lambda now, follower: (
             follower, now.answer[follower].cut)},
         limits={1: lambda now, b: now.log[b].end}),
    Rank("cutting", "followers that do not know yet where to cut", (BROKERS,), is_cutting,
         {"follower_truncates": its_follower}),
    Rank("unanswered", "those of them without an answer", (BROKERS,),
         lambda now, b: all_of(is_cutting(now, b), not_(now.answer[b].given)),
         {"leader_answers_truncation_offset": its_follower,
          "leader_answers_unknown_epoch": its_follower}),
)


def is_beyond_what_is_common(now, b, o):
    """One log ends there, or the two differ."""
    theirs, mine = now.log[now.zk.leader], now.log[b]
    return any_of(mine.end <= o, theirs.end <= o, at(mine, o) != at(theirs, o))


def is_the_cut(now, b, cut):
    """The offset at which the follower's log diverges from the leader's."""
    theirs, mine = now.log[now.zk.leader], now.log[b]
    return all_of(
        is_led(now), is_cutting(now, b), not_(now.answer[b].given),
        cut <= mine.end, cut <= theirs.end,
        every(below(OFFSETS, cut), lambda o: at(mine, o) == at(theirs, o)),
        every(below(OFFSETS, mine.end), lambda o: implies(
            all_of(o < theirs.end, at(mine, o) == at(theirs, o)), o < cut)))


def leader_and_epoch(now):
    return {"broker": now.zk.leader, "epoch": now.zk.epoch}


AWAITED = (
    AwaitedStep("controller_elects_leader", lambda now, b: all_of(
        not_(has_live_leader(now)), now.live.has(b), now.zk.isr.has(b)),
        lambda now, b: {"leader": b, "isr": now.zk.isr.within(now.live)}, (BROKERS,)),
    AwaitedStep("broker_becomes_leader", lambda now: all_of(
        has_live_leader(now), now.replica[now.zk.leader].epoch < now.zk.epoch), leader_and_epoch),
    AwaitedStep("broker_leads_again", lambda now: all_of(
        has_live_leader(now), now.replica[now.zk.leader].epoch == now.zk.epoch,
        now.replica[now.zk.leader].role == "down"), lambda now: {"broker": now.zk.leader}),
    AwaitedStep("broker_becomes_follower", lambda now, b: all_of(
        is_to_follow(now, b), any_of(
            now.replica[b].epoch < now.zk.epoch, now.replica[b].role == "down")),
        lambda now, b: {"broker": b, "epoch": now.zk.epoch}, (BROKERS,)),
    AwaitedStep("leader_answers_truncation_offset", is_the_cut,
            lambda now, b, cut: {"leader": now.zk.leader, "follower": b, "cut": cut},
            (BROKERS, ENDS),
            LeastNumber(is_beyond_what_is_common, lambda now, b: smaller(
                now.log[b].end, now.log[now.zk.leader].end))),
    AwaitedStep("follower_truncates", lambda now, b: all_of(
        is_cutting(now, b), now.answer[b].given, now.answer[b].agreed),
        lambda now, b: {"follower": b}, (BROKERS,)),
    AwaitedStep("follower_truncates_and_asks_again", lambda now, b: all_of(
        is_cutting(now, b), now.answer[b].given, not_(now.answer[b].agreed)),
        lambda now, b: {"follower": b}, (BROKERS,)),
)

OF_THE_EXECUTABLE = (
    "of the form, not of the executable replication: there it is so on every fair run of two "
    "brokers within bounds (specs/proofs/progress/executable.py)",)

GROUPS = ("bookkeeping", "ZooKeeper fencing", "ISR writes under way", "logs")

RANKING = Ranking(
    RANKS, AWAITED,
    stays=lambda now: all_of(now.faults_ended, is_followed_by_all(now)),
    explored=EXPLORED, bounds={"brokers": 2, "epoch": 2, "log": 1, "records": 1, "versions": 3})

PROOF = Proof(
    claim="a_leader_is_followed_by_all",
    system="replication_history",
    form=SYSTEM,
    invariants=(the_registered_request_is_the_state, nobody_is_elected_at_first),
    premises=tuple(one for name in GROUPS for one in NO_MESSAGE_LOSS.groups[name]),
    ranking=RANKING,
    assumes=(
        "faults end: from some moment on the same brokers live and no process crashes",
        *NO_MESSAGE_LOSS.assumes,
    ),
    given="no_message_loss",
    about=("given the invariants of no_message_loss", *OF_THE_EXECUTABLE),
)
