"""Proves that `replication` refines the form that is proved, by a relation between both states.

A simulation: these invariants relate a state of `replication` to a state of the proof's form. They
hold initially. Every step of `replication`, taken with the steps in its line of the map
(`specs.refinement.refinement_map`), keeps them, and those steps are possible. So every run of
`replication` is a run of the proof's form, where the invariants of `no_message_loss` hold; they are
premises here. The claims of `replication` itself follow.

High watermarks may differ: in the proof's form one may stay where `replication` goes back to a
checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from model.language import all_of, any_of, implies, is_none, not_
from model.language.scalars import Scalar
from model.protocol.state import BROKERS
from model.replication.history import claims as history_claims
from model.replication.state import CONTROLLERS, ELECTED, ENDS, OFFSETS, RECORDS
from specs.invariants import Invariant, Proof, SolverHint, given, invariant
from specs.proofs.no_message_loss import GROUPS, truncations
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.no_message_loss.definitions import at
from specs.refinement.composed import ComposedSystem, over_same_sorts
from specs.refinement.refinement_map import waits

EXECUTED_BUT_UNKNOWN = ("executed", "unanswered")


def leader_of(now: Any, b: Any) -> Any:
    """What the proof's form keeps of the epoch of a broker here."""
    return now.there.leader[now.replica[b].epoch]


def leads(now: Any, b: Any) -> Scalar:
    return now.replica[b].role == "leader"


def is_executed_but_unknown(leader: Any) -> Scalar:
    """ZooKeeper executed the write, and the leader does not know."""
    return any_of(*(leader.write == word for word in EXECUTED_BUT_UNKNOWN))


# -- the registered state -------------------------------------------------------------------------


@invariant("the registered leader epoch and zkVersion are the same",
           why="an election, or an ISR write, is one on both sides")
def the_registered_state_is_the_same(now):
    return all_of(now.zk.leader_epoch == now.there.zk.epoch, now.zk.version == now.there.zk.version)


@invariant("the registered ISR is the same", over=(BROKERS,),
           triggers=lambda now, b: [now.zk.isr.has(b), now.there.zk.isr.has(b)],
           why="who may be elected is the same")
def the_registered_isr_is_the_same(now, b):
    return now.zk.isr.has(b) == now.there.zk.isr.has(b)


@invariant("the registered leader, or that there is none, is the same",
           why="the claim mentions its log")
def the_registered_leader_is_the_same(now):
    seen = now.there.zk
    return all_of(implies(seen.named, now.zk.leader == seen.leader),
                  implies(not_(seen.named), is_none(now.zk.leader)))


@invariant("the request of the registered epoch names the registered leader, or none as it does",
           why="an ISR write leaves the registered leader as it is")
def the_registered_leader_is_in_the_request(now):
    seen, request = now.there.zk, now.there.request[now.there.zk.epoch]
    return implies(request.sent, all_of(
        request.named == seen.named, implies(seen.named, request.leader == seen.leader)))


@invariant("who was elected for an epoch is the one that its request names",
           over=(ELECTED,), triggers=lambda now, e: [now.elected[e], now.there.request[e].sent],
           why="a broker leads where it is named")
def elected_leaders_are_the_same(now, e):
    request = now.there.request[e]
    return implies(request.sent, all_of(
        implies(request.named, now.elected[e] == request.leader),
        implies(not_(request.named), is_none(now.elected[e]))))


@invariant("what a controller read is not newer than the state, and is the state's leader as long "
           "as the version is the same",
           over=(BROKERS,), triggers=lambda now, b: [now.cache[b].held, now.cache[b].version],
           why="its write is conditional: it decided on this state")
def cached_state_matches_its_version(now, b):
    cache = now.cache[b]
    return implies(cache.held, all_of(
        cache.version <= now.zk.version,
        implies(cache.version == now.zk.version, cache.leader == now.zk.leader)))


@invariant("and its ISR",
           over=(BROKERS, BROKERS), triggers=lambda now, b, m: [now.cache[b].isr.has(m)],
           why="the new ISR is a part of the registered one")
def cached_isr_matches_its_version(now, b, m):
    cache = now.cache[b]
    return implies(all_of(cache.held, cache.version == now.zk.version),
                   cache.isr.has(m) == now.zk.isr.has(m))


# -- roles ----------------------------------------------------------------------------------------


@invariant("who leads, follows, or looks for where to cut does so on both sides, in the same epoch",
           over=(BROKERS,),
           triggers=lambda now, b: [now.replica[b].role, now.there.replica[b].role],
           why="what a broker may do is decided by it")
def roles_are_the_same(now, b):
    mine, seen = now.replica[b], now.there.replica[b]
    follows = mine.role == "follower"
    return all_of(
        (mine.role == "none") == (seen.role == "down"),
        (mine.role == "leader") == (seen.role == "leading"),
        all_of(follows, mine.truncating) == (seen.role == "truncating"),
        all_of(follows, not_(mine.truncating)) == (seen.role == "following"),
        implies(mine.role != "none", mine.epoch == seen.epoch),
        implies(mine.role == "none", is_none(mine.epoch)))


@invariant("a follower follows the leader that the request of its epoch names",
           over=(BROKERS,), triggers=lambda now, b: [now.replica[b].role, now.replica[b].leader],
           why="it asks where to cut, and fetches, from nobody else")
def followers_follow_the_elected_leader(now, b):
    mine = now.replica[b]
    request = now.there.request[mine.epoch]
    return implies(mine.role == "follower", all_of(request.named, mine.leader == request.leader))


@invariant("a process that does not run has no role",
           over=(BROKERS,), triggers=lambda now, b: [now.replica[b].role, now.up.has(b)],
           why="when it starts, its high watermark is that of its checkpoint")
def dead_brokers_have_no_role(now, b):
    return any_of(now.up.has(b), now.replica[b].role == "none")


# -- logs and commits -----------------------------------------------------------------------------


@invariant("every log is as long as there",
           over=(BROKERS,), triggers=lambda now, b: [now.log[b].end, now.there.log[b].end],
           why="what is proved of logs there is so here")
def log_ends_are_the_same(now, b):
    return now.log[b].end == now.there.log[b].end


@invariant("and has the same records, with the epochs in which they were written",
           over=(BROKERS, OFFSETS),
           triggers=lambda now, b, o: [now.log[b][o].id, now.log[b][o].epoch,
                                       now.there.log[b][o].id],
           why="what is proved of logs there is so here")
def logs_are_the_same(now, b, o):
    record = now.log[b][o]
    return implies(o < now.log[b].end, all_of(
        record.id == now.there.log[b][o].id, record.epoch == now.there.written_in[record.id],
        record.id < now.next_record))


@invariant("a record that no producer has sent was written in no epoch",
           over=(RECORDS,), triggers=lambda now, r: [now.there.written_in[r]],
           why="the next record is new there, too")
def records_not_sent_are_in_no_log(now, r):
    return implies(r >= now.next_record, now.there.written_in[r] == 0)


@invariant("as much is committed, and no offset twice on one side alone",
           why="the claim is about what is committed")
def as_many_records_are_committed(now):
    return all_of(now.committed.end == now.there.committed.end,
                  now.committed_twice == now.there.committed_twice)


@invariant("the same records are committed",
           over=(OFFSETS,),
           triggers=lambda now, o: [now.committed.at[o].id, now.committed.at[o].epoch,
                                    now.there.committed.at[o].id],
           why="the claim is about what is committed")
def the_same_is_committed(now, o):
    record = now.committed.at[o]
    return implies(o < now.committed.end, all_of(
        record.id == now.there.committed.at[o].id,
        record.epoch == now.there.written_in[record.id], record.id < now.next_record))


# -- high watermarks ------------------------------------------------------------------------------


@invariant("no high watermark, and no checkpoint of one, is above the one there",
           over=(BROKERS,),
           triggers=lambda now, b: [now.replica[b].hw, now.replica[b].checkpoint,
                                    now.there.replica[b].hw],
           why="what is below the one there is committed")
def high_watermarks_are_no_higher(now, b):
    mine, seen = now.replica[b], now.there.replica[b]
    return all_of(mine.hw <= seen.hw, mine.checkpoint <= seen.hw)


@invariant("and that of a leader is no lower, unless the one there is below the epoch's start",
           over=(BROKERS,),
           triggers=lambda now, b: [now.replica[b].role, now.there.replica[b].hw],
           why="a follower that has reached both has reached both there")
def high_watermarks_of_leaders_are_no_lower(now, b):
    mine, seen = now.replica[b], now.there.replica[b]
    return implies(all_of(leads(now, b), seen.hw > mine.epoch_start), mine.hw == seen.hw)


# -- what leaders know ----------------------------------------------------------------------------


@invariant("a leader knows the start of its epoch, and its version is that of its epoch's leader, "
           "or the one before its last write as long as it has not heard of it",
           over=(BROKERS,), triggers=lambda now, b: [now.replica[b].role],
           why="its next write is executed on both sides, or on none")
def leaders_know_start_and_version(now, b):
    mine, leader = now.replica[b], leader_of(now, b)
    is_unanswered = is_executed_but_unknown(leader)
    return implies(leads(now, b), all_of(
        mine.epoch_start == leader.start,
        implies(is_unanswered, mine.zk_version == leader.version_before),
        implies(not_(is_unanswered), mine.zk_version == leader.zk_version)))


@invariant("and its ISR, or the one before",
           over=(BROKERS, BROKERS),
           triggers=lambda now, b, m: [now.replica[b].isr.has(m), leader_of(now, b).isr.has(m)],
           why="it commits on the word of the same members")
def leaders_know_their_isr(now, b, m):
    mine, leader = now.replica[b], leader_of(now, b)
    is_unanswered = is_executed_but_unknown(leader)
    return implies(leads(now, b), all_of(
        implies(is_unanswered, mine.isr.has(m) == leader.isr_before.has(m)),
        implies(not_(is_unanswered), mine.isr.has(m) == leader.isr.has(m))))


@invariant("and of the ends of the others no more, and no less",
           over=(BROKERS, BROKERS),
           triggers=lambda now, b, m: [now.known_end[b][m], leader_of(now, b).known_end[m]],
           why="it commits on the word of the same members")
def leaders_know_the_same_ends(now, b, m):
    return implies(leads(now, b), now.known_end[b][m] == leader_of(now, b).known_end[m])


@invariant("only a leader has an ISR write under way",
           over=(BROKERS,), triggers=lambda now, b: [now.isr_write[b].state],
           why="what becomes of it is kept with the leader of its epoch")
def only_leaders_write(now, b):
    return any_of(now.isr_write[b].state == "none", leads(now, b))


@invariant("a leader's ISR write is under way on both sides, and as far: applied is executed, and "
           "refused may be executed too, if an answer was lost",
           over=(BROKERS,), triggers=lambda now, b: [now.isr_write[b].state],
           why="what its leader makes of the answer is the same")
def isr_writes_are_in_the_same_phase(now, b):
    state, leader = now.isr_write[b].state, leader_of(now, b)
    return implies(leads(now, b), all_of(
        (state == "none") == (leader.write == "none"),
        (state == "applied") == (leader.write == "executed"),
        implies(state == "applied", now.isr_write[b].version == leader.zk_version)))


@invariant("and it writes the same ISR",
           over=(BROKERS, BROKERS), triggers=lambda now, b, m: [now.isr_write[b].isr.has(m),
                                       leader_of(now, b).written_isr.has(m)],
           why="what its leader makes of the answer is the same")
def isr_writes_are_the_same(now, b, m):
    write, leader = now.isr_write[b], leader_of(now, b)
    return implies(all_of(leads(now, b), write.state != "none"), all_of(
        write.isr.has(m) == leader.written_isr.has(m),
        implies(is_executed_but_unknown(leader), leader.isr.has(m) == leader.written_isr.has(m))))


@invariant("an ISR write adds members, or takes some out, never both",
           over=(BROKERS, BROKERS, BROKERS),
           triggers=lambda now, b, m, other: [
               (now.isr_write[b].isr.has(m), now.isr_write[b].isr.has(other)),
               (now.isr_write[b].isr.has(m), now.replica[b].isr.has(other)),
               (now.replica[b].isr.has(m), now.replica[b].isr.has(other))],
           why="the larger of the two ISRs is the two together")
def isr_writes_add_or_remove_members(now, b, m, other):
    mine, write = now.replica[b].isr, now.isr_write[b]
    return not_(all_of(
        write.state != "none", write.isr.has(m), not_(mine.has(m)), mine.has(other),
        not_(write.isr.has(other))))


@invariant("a write that was refused and not executed names a version that is out of date",
           over=(BROKERS,), triggers=lambda now, b: [now.isr_write[b].state],
           why="there it is refused when the leader hears of it, which is later")
def refused_writes_name_old_versions(now, b):
    mine, leader = now.replica[b], leader_of(now, b)
    return implies(all_of(leads(now, b), now.isr_write[b].state == "refused",
                          leader.write == "sent"),
                   mine.zk_version < now.zk.version)


@invariant("as long as a leader has not heard of a write that was executed, it is the last one in "
           "its epoch",
           over=(BROKERS,),
           triggers=lambda now, b: [now.isr_write[b].state, leader_of(now, b).write],
           why="what it reads back has that version")
def writes_with_a_lost_response_are_the_last(now, b):
    leader = leader_of(now, b)
    return implies(all_of(leads(now, b), is_executed_but_unknown(leader),
                          now.replica[b].epoch == now.zk.leader_epoch),
                   leader.zk_version == now.zk.version)


# -- requests in flight ---------------------------------------------------------------------------


def is_for_its_leader(now: Any, e: Any, c: Any, b: Any) -> Scalar:
    """A request in flight to the broker that it names the leader."""
    request = now.there.request[e]
    return all_of(now.request[e][c][b].in_flight, request.named, request.leader == b)


def is_sent_again(now: Any, e: Any, b: Any) -> Scalar:
    """The broker has that epoch, and its process died since."""
    seen = now.there.replica[b]
    return all_of(seen.epoch == e, seen.role == "down")


def has_the_version(now: Any, e: Any, c: Any, b: Any, again: Scalar) -> Scalar:
    """A request that makes a leader has the version of its epoch's election.

    If it is sent `again`, it has the version of its epoch's leader; in the registered epoch the
    registered version.
    """
    version = now.request[e][c][b].version
    fresh = now.there.replica[b].epoch < e
    return implies(is_for_its_leader(now, e, c, b), all_of(
        implies(fresh, version == now.there.request[e].version),
        implies(again, version == now.there.leader[e].zk_version),
        implies(all_of(again, e == now.zk.leader_epoch), version == now.zk.version)))


def has_the_isr(now: Any, e: Any, c: Any, b: Any, m: Any, again: Scalar) -> Scalar:
    """Like `has_the_version`, for whether one broker is in its ISR."""
    isr = now.request[e][c][b].isr
    fresh = now.there.replica[b].epoch < e
    return implies(is_for_its_leader(now, e, c, b), all_of(
        implies(fresh, isr.has(m) == now.there.request[e].isr.has(m)),
        implies(again, isr.has(m) == now.there.leader[e].isr.has(m)),
        implies(all_of(again, e == now.zk.leader_epoch), isr.has(m) == now.zk.isr.has(m))))


@invariant("a LeaderAndIsr in flight was sent, and to a broker without a role none of an epoch "
           "older than the one it had",
           over=(ELECTED, CONTROLLERS, BROKERS),
           triggers=lambda now, e, c, b: [now.request[e][c][b].in_flight],
           why="requests die with the registration that they were made for (KIP-380)")
def requests_were_sent(now, e, c, b):
    seen = now.there.replica[b]
    return implies(now.request[e][c][b].in_flight, all_of(
        now.there.request[e].sent, implies(seen.role == "down", seen.epoch <= e)))


@invariant("one that makes a leader has the version that its epoch was elected with, or, if it led "
           "before, the one of its epoch's leader, which is the registered one in the registered "
           "epoch",
           over=(ELECTED, CONTROLLERS, BROKERS),
           triggers=lambda now, e, c, b: [now.request[e][c][b].in_flight,
                                          now.request[e][c][b].version],
           why="that version is in force when it becomes leader")
def requests_have_the_version(now, e, c, b):
    return has_the_version(now, e, c, b, is_sent_again(now, e, b))


@invariant("and the ISR",
           over=(ELECTED, CONTROLLERS, BROKERS, BROKERS),
           triggers=lambda now, e, c, b, m: [now.request[e][c][b].isr.has(m)],
           why="that ISR is the one it counts on when it becomes leader")
def requests_have_the_isr(now, e, c, b, m):
    return has_the_isr(now, e, c, b, m, is_sent_again(now, e, b))


# -- fetches under way ----------------------------------------------------------------------------


@invariant("who has a request to a leader under way has a role, and the epoch of it or a newer one",
           over=(BROKERS, BROKERS), triggers=lambda now, f, b: [now.fetch[f][b].state],
           why="an answer of an older epoch is no answer to what it asks next")
def fetching_brokers_have_a_role(now, f, b):
    slot, mine = now.fetch[f][b], now.replica[f]
    return implies(slot.state != "idle",
                   all_of(mine.role != "none", slot.epoch <= mine.epoch))


@invariant("what a fetcher asked at an offset it asked there, at that offset or a higher one",
           over=(BROKERS, BROKERS), triggers=lambda now, f, b: [now.fetch[f][b].state],
           why="a leader learns no more than was asked")
def fetches_were_sent(now, f, b):
    slot = now.fetch[f][b]
    asked = any_of(slot.state == "asks_records", slot.state == "records_are_answered")
    return implies(asked, all_of(
        not_(is_none(slot.epoch)), slot.offset <= now.there.asked[f][slot.epoch]))


@invariant("what a fetcher was answered was sent there: the record, and a high watermark",
           over=(BROKERS, BROKERS), triggers=lambda now, f, b: [now.fetch[f][b].state],
           why="a follower takes nothing else")
def fetch_answers_were_sent(now, f, b):
    slot = now.fetch[f][b]
    return implies(slot.state == "records_are_answered", all_of(
        slot.hw <= now.there.sent_hw[slot.epoch],
        implies(slot.has_record, all_of(
            now.there.answered.has(slot.epoch, slot.offset, slot.id),
            slot.record_epoch == now.there.written_in[slot.id], slot.id < now.next_record))))


# -- where to cut ---------------------------------------------------------------------------------


@invariant("the last epoch that a broker knows began, is no newer than its own, and is its own if "
           "it leads; its log is no longer than that epoch's history; without one it is empty",
           over=(BROKERS,), triggers=lambda now, b: [now.replica[b].latest_epoch],
           why="by it a follower asks where to cut, and a leader answers")
def latest_epochs_began(now, b):
    mine, seen = now.replica[b], now.there.replica[b]
    latest = mine.latest_epoch
    return all_of(
        implies(is_none(latest), now.log[b].end == 0),
        implies(leads(now, b), latest == mine.epoch),
        implies(not_(is_none(latest)), all_of(
            now.there.began[latest], latest <= seen.epoch,
            now.log[b].end <= now.there.history[latest].end)))


@invariant("and is a prefix of it",
           over=(BROKERS, OFFSETS),
           triggers=lambda now, b, o: [now.log[b][o].id, now.there.log[b][o].id],
           why="by it a follower asks where to cut, and a leader answers")
def logs_are_of_their_latest_epoch(now, b, o):
    latest = now.replica[b].latest_epoch
    return implies(all_of(not_(is_none(latest)), o < now.log[b].end),
                   now.log[b][o].id == now.there.history[latest][o].id)


@invariant("a follower asks by the last epoch that it knows, and knows it still while it waits",
           over=(BROKERS, BROKERS), triggers=lambda now, f, b: [now.fetch[f][b].state],
           why="the answer is for the log that it has")
def epoch_requests_are_for_the_latest_epoch(now, f, b):
    slot = now.fetch[f][b]
    return implies(all_of(slot.state == "asks_epoch", waits(now, f, b)),
                   slot.last_epoch == now.replica[f].latest_epoch)


@invariant("an answer about epochs that a follower waits for is given there",
           over=(BROKERS, BROKERS), triggers=lambda now, f, b: [now.fetch[f][b].state],
           why="it may be lost there, too")
def epoch_answers_are_the_same(now, f, b):
    return implies(all_of(now.fetch[f][b].state == "epoch_is_answered", waits(now, f, b)),
                   now.there.answer[f].given)


def the_answer_says_where_to_cut(composed: ComposedSystem) -> Invariant:
    """What `follower_truncates` of this system will do with the answer is what the answer is."""

    def matrix(now: Any, follower: Any, leader: Any, found: Any) -> Scalar:
        end, again, facts = composed.cut(follower.term, leader.term, found.term)
        answer = now.there.answer[follower]
        waiting = all_of(now.fetch[follower][leader].state == "epoch_is_answered",
                         waits(now, follower, leader))  # fmt: skip
        return implies(all_of(waiting, *map(Scalar, facts)), all_of(
            answer.cut == Scalar(end), answer.agreed == not_(Scalar(again))))

    return Invariant(
        "the_answer_says_where_to_cut",
        "an answer about epochs that a follower waits for is given there, and what the follower "
        "will make of it, once it has looked the epoch up in its own log, is what it says there",
        "the log waits for the answer: the exchange is one answer there",
        matrix,
        over=(BROKERS, BROKERS, replace(ENDS, name="end")),
        triggers=lambda now, follower, leader, found: [
            (now.fetch[follower][leader].state, given(found))],
    )  # fmt: skip


INVARIANTS = (
    the_registered_state_is_the_same, the_registered_isr_is_the_same,
    the_registered_leader_is_the_same, the_registered_leader_is_in_the_request,
    elected_leaders_are_the_same, cached_state_matches_its_version, cached_isr_matches_its_version,
    roles_are_the_same, followers_follow_the_elected_leader, dead_brokers_have_no_role,
    log_ends_are_the_same, logs_are_the_same, records_not_sent_are_in_no_log,
    as_many_records_are_committed, the_same_is_committed, high_watermarks_are_no_higher,
    high_watermarks_of_leaders_are_no_lower, leaders_know_start_and_version, leaders_know_their_isr,
    leaders_know_the_same_ends, only_leaders_write, isr_writes_are_in_the_same_phase,
    isr_writes_are_the_same, isr_writes_add_or_remove_members, refused_writes_name_old_versions,
    writes_with_a_lost_response_are_the_last, requests_were_sent, requests_have_the_version,
    requests_have_the_isr, fetching_brokers_have_a_role, fetches_were_sent, fetch_answers_were_sent,
    latest_epochs_began, logs_are_of_their_latest_epoch, epoch_requests_are_for_the_latest_epoch,
    epoch_answers_are_the_same,
)


# -- what is proved there -------------------------------------------------------------------------


def of_the_other_side(one: Invariant) -> Invariant:
    """An invariant of the proof's form, of the two sides as one system."""
    triggers = one.triggers
    return replace(
        one,
        name=f"there_{one.name}",
        matrix=lambda now, *values: one.matrix(now.there, *values),
        over=tuple(map(over_same_sorts, one.over)),
        triggers=None if triggers is None else lambda now, *v: triggers(now.there, *v),
    )


def _reads_a_definition(one: Invariant) -> bool:
    return one.name in {"what_is_committed_may_be", "commits_were_asked_for"}


def _claimed(name: str) -> Invariant:
    claim = getattr(history_claims, name)
    return Invariant(f"claim_{name}", claim.sentence, "it is implied there", claim.function)


PREMISES: tuple[Invariant, ...] = tuple(
    of_the_other_side(one)
    for one in (
        *(
            one
            for heading, group in GROUPS.items()
            if heading not in ("what may yet be committed", "ISR ancestry")
            for one in group
            if not _reads_a_definition(one)
        ),
        *(one.statement for one in truncations.LEMMAS),
        *map(_claimed, (NO_MESSAGE_LOSS.claim, "isr_holds_committed")),
    )
)
"""The invariants that `no_message_loss` proves of the proof's form, as far as they are needed."""


def refinement_proof(composed: ComposedSystem,
                     invariants: Sequence[Invariant] = INVARIANTS) -> Proof:
    """The proof that `replication` refines the proof's form, over the two as one system.

    `invariants`: what the two have in common, but for answers about epochs.
    """
    return Proof(
        claim="no_message_loss",
        system="replication",
        also=("isr_holds_committed", "log_matching", "leader_unique", "leader_in_isr"),
        invariants=(*invariants, the_answer_says_where_to_cut(composed)),
        premises=PREMISES,
        entails=composed.entails,
        hints={"follower_truncates": (SolverHint(lambda now, follower, **_: [
            at(now.there.log[follower], now.there.replica[follower].hw - 1)]),)},
        about=(
            "proved step by step: every step of replication is one of replication_history, some, "
            "or none, and keeps what the two have in common; so whatever is proved of the form "
            "holds of replication",
        ),
        assumes=(
            "whatever no_message_loss of replication_history assumes of what neither of the two "
            "has in it, and lost_isr_answer_blocks, which is true of no release up to 2.6, and "
            "follower_ends_reset_on_election, which is true of none",
            "guards that count members of the ISR (min.insync.replicas above 1) are left out, so "
            "that more is possible",
        ),
    )


__all__ = ["INVARIANTS", "PREMISES", "of_the_other_side", "refinement_proof"]
