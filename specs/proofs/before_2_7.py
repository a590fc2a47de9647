"""Invariants of 2.5 and 2.6, which lose committed records: they show which commits are kept.

`no_message_loss` assumes that every fetch is fenced, which is true since 2.5. It also assumes two
properties that no release up to 2.6 has: a leader that cannot tell whether its ISR write was
executed counts on the larger ISR (`lost_isr_answer_blocks`), and a re-elected leader forgets the
log end offsets of its followers (`follower_ends_reset_on_election`). Without them it is false.

This proof has the same invariants and steps without the two properties. Their ISR is a ghost, the
ISR on which a leader *should* count: the ISR that it wrote, and also the previous ISR while it
cannot tell whether the write was executed. A commit is *sure* if:

* it includes a record of the leader's own epoch: then every ISR member has fetched in this epoch,
  and the leader relies on no earlier knowledge;
* and all replicas are in the leader's ISR, or it has given up no ISR write in this epoch: then it
  counts on all replicas on which it should.

With `min.insync.replicas` equal to the number of replicas, the second holds for every commit that
is acknowledged with acks=all. With a smaller one an acknowledged record can be lost: stories
`lost_isr_answer_commits_alone` and `known_ends_outlive_an_epoch`.
"""

from dataclasses import replace

from model.language import (
    BOOL,
    Record,
    SetOf,
    all_of,
    always,
    any_of,
    every,
    ghost,
    implies,
    lam,
    larger,
    not_,
    per,
    require,
    some,
    sometimes,
    transition,
    when,
)
from model.replication.history import SYSTEM as HISTORY
from model.replication.history.claims import leads
from model.replication.history.state import BROKERS, ENDS, ENTRY, EPOCHS, OFFSETS
from specs.invariants import Proof, SolverHint, invariant
from specs.proofs.no_message_loss import GROUPS
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.no_message_loss.definitions import may_be_committed
from specs.proofs.no_message_loss.writes import is_executed_but_unknown

ASSUMED = ("lost_isr_answer_blocks", "follower_ends_reset_on_election")
"""What is not assumed here."""

# -- the system: the same steps, and what is sure -------------------------------------------------

SURE = Record(
    isr=ghost(per(EPOCHS, SetOf(BROKERS))),     # whom the leader of an epoch should count on
    gave_up=per(EPOCHS, BOOL),                  # its leader gave up an ISR write
    committed_in=ghost(per(EPOCHS, ENDS)),      # how far it committed surely
    committed=ghost(Record(end=ENDS, epoch=EPOCHS, at=per(OFFSETS, ENTRY))),
)


def begins_leadership(now, new, broker, epoch):
    new.sure.isr[epoch] = now.request[epoch].isr
    new.sure.gave_up[epoch] = False
    new.sure.committed_in[epoch] = 0


def receives_the_state(now, new):
    new.sure.isr[now.zk.epoch] = now.zk.isr
    new.sure.gave_up[now.zk.epoch] = False


def has_written(now, new, epoch):
    new.sure.isr[epoch] = now.leader[epoch].written_isr


def was_refused(now, new, epoch):
    new.sure.isr[epoch] = now.sure.isr[epoch].joined(now.leader[epoch].written_isr)
    new.sure.gave_up[epoch] = True


def gives_up(now, new, epoch):
    new.sure.isr[epoch] = now.sure.isr[epoch].joined(now.leader[epoch].isr_before)
    new.sure.gave_up[epoch] = True


ALSO = {
    "broker_becomes_leader": begins_leadership,
    "controller_resends_state": receives_the_state,
    "isr_write_is_executed": has_written,
    "leader_finds_isr_registered": has_written,
    "isr_write_is_refused": was_refused,
    "leader_gives_up_isr_write": gives_up,
}


def with_what_is_sure(one):
    """The unchanged step, together with its writes of the ghosts."""
    also = ALSO.get(one.name)
    if also is None:
        return one

    def function(now, new, **given):
        one.function(now, new, **given)
        also(now, new, **given)

    return replace(one, function=function)


(ADVANCES,) = (one for one in HISTORY.transitions if one.name == "leader_advances_hw")


@transition(broker=BROKERS, end=ENDS)
def leader_commits_surely(now, new, broker, end):
    """The high watermark rises as it does, and what is committed by that is sure."""
    epoch, was = now.replica[broker].epoch, now.sure.committed
    leader = now.leader[epoch]
    require(end > leader.start,                         "a record of its own epoch is among it")
    require(any_of(every(BROKERS, lambda b: leader.isr.has(b)), not_(now.sure.gave_up[epoch])),
                    "all replicas are in its ISR, or it has given up no ISR write")

    ADVANCES.function(now, new, broker, end)
    new.sure.committed_in[epoch] = larger(now.sure.committed_in[epoch], end)
    new.sure.committed.end = larger(was.end, end)
    new.sure.committed.epoch = when(was.end < end, epoch, was.epoch)
    new.sure.committed.at = lam(OFFSETS, lambda o: when(
        all_of(was.end <= o, o < end), now.log[broker][o], was.at[o]))


@always("what a leader commits together with a record of its own epoch, while all replicas are in "
        "its ISR or it has given up no ISR write, is in the log of the leader of every later "
        "epoch, at its offset",
        companion="a_later_leader_follows_a_sure_commit")
def sure_commits_are_kept(now):
    return every(BROKERS, lambda later: every(EPOCHS, lambda e: every(OFFSETS, lambda o: implies(
        all_of(leads(now, later), e < now.replica[later].epoch,
               now.began[e], o < now.sure.committed_in[e]),
        all_of(o < now.log[later].end, now.log[later][o] == now.history[e][o])))))


@always("and in the log of every member of the registered ISR",
        companion="a_later_leader_follows_a_sure_commit")
def isr_holds_sure_commits(now):
    return every(BROKERS, lambda b: implies(now.zk.isr.has(b), all_of(
        now.sure.committed.end <= now.log[b].end,
        every(OFFSETS, lambda o: implies(
            o < now.sure.committed.end, now.log[b][o] == now.sure.committed.at[o])))))


@sometimes("a leader leads in a later epoch than one in which something was surely committed")
def a_later_leader_follows_a_sure_commit(now):
    return some(BROKERS, lambda later: some(EPOCHS, lambda e: all_of(
        leads(now, later), e < now.replica[later].epoch, now.sure.committed_in[e] > 0)))


_RELEASE = HISTORY.versions["2.5"]
SYSTEM = replace(
    HISTORY,
    name="replication_history_before_2_7",
    about=f"{HISTORY.about}; as 2.5 and 2.6 are",
    state=Record(**HISTORY.state.parts, sure=SURE),
    transitions=(*map(with_what_is_sure, HISTORY.transitions), leader_commits_surely),
    claims=(sure_commits_are_kept, isr_holds_sure_commits, a_later_leader_follows_a_sure_commit),
    versions={"2.5": replace(
        _RELEASE, switches={**_RELEASE.switches, **dict.fromkeys(ASSUMED, False)})},
)

# -- the invariants of no_message_loss, of what is sure -------------------------------------------


class _LeaderWithSureIsr:
    def __init__(self, now, epoch):
        self._now, self._epoch = now, epoch

    def __getattr__(self, part):
        if part == "isr":
            return self._now.sure.isr[self._epoch]
        return getattr(self._now.leader[self._epoch], part)


class _Leaders:
    def __init__(self, now):
        self._now = now

    def __getitem__(self, epoch):
        return _LeaderWithSureIsr(self._now, epoch)


class Sure:
    """The state, read with the ISR on which a leader should count, and the sure commits."""

    def __init__(self, now):
        self._now = now
        self.leader = _Leaders(now)

    def __getattr__(self, part):
        if part in ("committed_in", "committed"):
            return getattr(self._now.sure, part)
        return getattr(self._now, part)


def of_what_is_sure(one):
    """An invariant of no_message_loss, read through `Sure`."""
    triggers = one.triggers
    return replace(
        one,
        matrix=lambda now, *values: one.matrix(Sure(now), *values),
        triggers=None if triggers is None else lambda now, *values: triggers(Sure(now), *values))


may_be_surely_committed = replace(
    may_be_committed,
    plain=lambda now, *values: may_be_committed.plain(Sure(now), *values),
    member=lambda now, *values: may_be_committed.member(Sure(now), *values),
    triggers=lambda now, *values: may_be_committed.triggers(Sure(now), *values))

OF_HIGH_WATERMARKS = (
    "sent_hw_is_committed", "sent_history_is_committed", "high_watermarks_are_committed",
    "below_high_watermarks_is_committed", "high_watermarks_come_from_epochs",
    "sent_hw_comes_from_epochs", "nothing_is_committed_twice")
"""What is not so: a high watermark shows what is not sure."""


@invariant("a leader counts on nobody on whom it should not",
           over=(EPOCHS, BROKERS), triggers=lambda now, e, b: [now.leader[e].isr.has(b)],
           why="if all replicas are in its ISR, it counts on all that it should")
def leaders_should_count_on_their_isr(now, e, b):
    return implies(all_of(now.began[e], now.leader[e].isr.has(b)), now.sure.isr[e].has(b))


@invariant("one that has given up no ISR write, or has a current version, counts on whom it should",
           over=(EPOCHS, BROKERS), triggers=lambda now, e, b: [now.sure.isr[e].has(b)],
           why="its commits are sure")
def a_leader_that_gave_up_nothing_counts_on_all(now, e, b):
    return implies(
        all_of(now.began[e], now.sure.isr[e].has(b), any_of(
            not_(now.sure.gave_up[e]), now.leader[e].zk_version == now.zk.version)),
        now.leader[e].isr.has(b))


@invariant("a leader is in the ISR that it counts on, and in the one before it",
           over=(EPOCHS,), triggers=lambda now, e: [now.began[e]],
           why="what it writes next has it")
def leaders_count_on_themselves(now, e):
    mine = now.leader[e]
    return implies(now.began[e], all_of(
        mine.isr.has(now.request[e].leader),
        implies(is_executed_but_unknown(now, e), mine.isr_before.has(now.request[e].leader))))


HINTS = {step: hints for step, hints in NO_MESSAGE_LOSS.hints.items() if step != ADVANCES.name}

PROOF = Proof(
    claim="sure_commits_are_kept",
    system="replication_history",
    form=SYSTEM,
    also=("isr_holds_sure_commits",),
    invariants=(
        *(of_what_is_sure(one) for group in GROUPS.values() for one in group
          if one.name not in OF_HIGH_WATERMARKS),
        leaders_should_count_on_their_isr, a_leader_that_gave_up_nothing_counts_on_all,
        leaders_count_on_themselves),
    definitions=(may_be_surely_committed,),
    hints={**HINTS, "leader_commits_surely": (
        SolverHint(lambda now, broker, end: [
            may_be_committed(now, now.replica[broker].epoch, end)]),
        SolverHint(lambda now, b, broker, end: [
            now.leader[now.replica[broker].epoch].isr.has(b)], over=BROKERS))},
    assumes=(
        *(words for words in NO_MESSAGE_LOSS.assumes
          if "lost_isr_answer_blocks" not in words
          and "known_ends_outlive_an_epoch" not in words),
        "a leader moves neither ISR nor high watermark while an ISR write of it is under way "
        "(leaderIsrUpdateLock)",
        "what a leader knows of a log end from an earlier epoch of its own is not beyond the start "
        "of the present one: it has not cut its log since"),
    about=("of 2.5 and 2.6: neither lost_isr_answer_blocks nor follower_ends_reset_on_election",),
)

__all__ = ["PROOF", "SYSTEM"]
