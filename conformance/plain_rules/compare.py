"""Compares the implementation's pure functions with the plain rules, for every small input.

Walks and edges test a rule only where a run leads to it. Here each is tested by itself: the epoch
cache, a follower's truncation, which requests are refused and with which error, who is elected,
where replicas are placed and moved. The same rules answer public cases (`conformance.vectors`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, permutations, product
from typing import Any

from conformance.plain_rules import answers, epoch_cache, moves, request_versions, topic_names
from conformance.plain_rules import elections as strategies
from conformance.plain_rules import placement as placement_rules
from conformance.plain_rules.epoch_cache import End, Entries
from impl.admin import placement
from impl.admin import topic_names as impl_names
from impl.admin.errors import AdminError
from impl.admin.reassign_json import throttled_replicas
from impl.core import leader_election
from impl.core.answers import fetcher_id
from impl.core.fetcher_thread import (
    EpochQuestion,
    FetchErrorCode,
    FetchQuestion,
    FetchReply,
    FetchState,
    Phase,
)
from impl.core.reassigner import valid_target
from impl.core.requests import LeaderAndIsr, LeaderAndIsrPartitionState, request_version
from impl.core.truncation import EpochEnd, follower_truncation
from impl.log.leader_epoch_cache import LeaderEpochFileCache
from impl.releases import DEFAULT, Release
from impl.world.broker import PartitionBroker
from impl.world.fetches import Exchange
from impl.world.partition_steps import partition_cluster
from impl.world.stepped.controller_run import FIRST
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.znodes.states import NO_LEADER
from impl.znodes.topics import ReplicaAssignment
from model.protocol import assignment
from model.protocol.assignment import AssignmentRefused

Case = tuple[str, Any, Any]
"""(what was asked, what the rule says, what the implementation says)."""


class RulesDiffer(AssertionError):
    """A rule of the implementation differs; the message has the input."""


def compare_rules() -> int:
    """Returns how many inputs were compared. RulesDiffer at the first difference."""
    compared = 0
    for _, cases in RULES:
        for asked, model, impl in cases():
            compared += 1
            if model != impl:
                raise RulesDiffer(f"{asked}: the rule says {model}, the implementation {impl}")
    return compared


EPOCHS, OFFSETS, LOG_END = range(3), range(4), 4


def _caches() -> Iterator[tuple[Entries, LeaderEpochFileCache, str]]:
    """Every cache that up to three assignments make, on both sides."""
    entries = list(product(EPOCHS, OFFSETS))
    for length in range(4):
        for begun in product(entries, repeat=length):
            mine: Entries = ()
            theirs = LeaderEpochFileCache()
            for epoch, start in begun:
                mine = epoch_cache.assigned(mine, epoch, start)
                theirs.assign(epoch, start)
            yield mine, theirs, f"the epoch cache after {list(begun)}"


def epoch_caches() -> Iterator[Case]:
    """Compares the cache's entries, for every order of epochs and offsets; none may be negative."""
    distinct: dict[Entries, tuple[LeaderEpochFileCache, str]] = {}
    for mine, theirs, asked in _caches():
        yield asked, list(mine), theirs.entries
        distinct.setdefault(mine, (theirs, asked))
    for mine, (theirs, asked) in distinct.items():
        yield from _asked(mine, theirs, asked)
    try:
        LeaderEpochFileCache().assign(-1, 0)
    except ValueError:
        return
    yield "epoch -1 is entered", "refused", "entered"


def _asked(mine: Entries, theirs: LeaderEpochFileCache, asked: str) -> Iterator[Case]:
    none = epoch_cache.NONE
    latest, previous = epoch_cache.latest(mine), epoch_cache.previous(mine)
    yield f"{asked}: latest", none if latest is None else latest, theirs.latest_epoch
    yield f"{asked}: previous", none if previous is None else previous, theirs.previous_epoch
    for epoch in (none, *EPOCHS, 3):
        answer = epoch_cache.end_of(mine, epoch, LOG_END)
        yield f"{asked}: end of {epoch}", tuple(answer), theirs.end_offset_for(epoch, LOG_END)
    for offset in (-1, *OFFSETS, 4):
        for cut, name in (
            (epoch_cache.cut_at_end, "truncate_from_end"),
            (epoch_cache.cut_at_start, "truncate_from_start"),
        ):
            copy = LeaderEpochFileCache(tuple(theirs.entries))
            getattr(copy, name)(offset)
            yield f"{asked}: {name}({offset})", list(cut(mine, offset)), copy.entries
    copy = LeaderEpochFileCache(tuple(theirs.entries))
    copy.clear()
    yield f"{asked}: clear", [], copy.entries


def _replicas(broker: int = 1) -> PartitionBroker:
    return partition_cluster(brokers=2).hosts[broker]


def follower_cuts() -> Iterator[Case]:
    """Compares where a follower truncates, for every small log and every answer of its leader."""
    release = Release.of(DEFAULT)
    for length in range(4):
        for records in combinations_with_replacement(EPOCHS, length):
            log = _replicas().log
            for record, epoch in enumerate(records):
                log.log.append((record, epoch))
            entries = tuple(log.epochs.entries)
            for hw, epoch, end in product(range(length + 1), range(-1, 4), range(-1, 5)):
                mine = epoch_cache.where_to_cut(
                    End(epoch, end), length, hw, epoch_cache.latest(entries),
                    lambda one, known=entries, size=length: epoch_cache.end_of(known, one, size),  # type: ignore[misc]
                )  # fmt: skip
                theirs = follower_truncation(
                    EpochEnd(epoch, end), length, hw, log.latest_epoch(), log.end_offset_for,
                    release,
                )  # fmt: skip
                asked = f"a log {list(records)} with HW {hw}, answered {epoch, end}"
                yield asked, tuple(mine), tuple(theirs)


ROLES = ("none", "leader", "follower")


def _in_role(broker: int, role: str, epoch: int) -> PartitionBroker:
    replicas = _replicas(broker)
    partition = replicas.partition
    if role == "leader":
        state = LeaderIsrAndControllerEpoch(broker, epoch, (1, 2), 0)
        partition.become_leader(LeaderAndIsrPartitionState(state, (1, 2), False), 0)
    elif role == "follower":
        partition.make_follower(3 - broker, epoch)
        replicas.add({FIRST: replicas.hosted(FIRST)})
    partition.leader_epoch = epoch
    return replicas


def fetches() -> Iterator[Case]:
    """Compares which fetches are served, by epoch, role and offset, and which replies are
    appended.
    """
    for own, sent, role in product(range(3), range(-1, 4), ROLES):
        replicas = _in_role(1, role, own)
        mine = answers.of_leader_epoch(
            sent, own, role == "leader", True, replicas.replicas.not_leader
        )
        asked = f"epoch {sent} at a {role} in {own}"
        for question in (EpochQuestion(sent, 0), FetchQuestion(sent, 0, None)):
            yield f"{asked}: {question}", mine, _answered(replicas, question)
    for size, offset in product(range(3), range(4)):
        replicas = _in_role(1, "leader", 0)
        for record in range(size):
            replicas.append(record, 1)
        mine = answers.NONE if offset <= size else "OFFSET_OUT_OF_RANGE"
        theirs = _answered(replicas, FetchQuestion(0, offset, None))
        yield f"a fetch at {offset} from a log of {size}", mine, theirs
        yield from _appended(size, offset)


def _under_way(question: EpochQuestion | FetchQuestion, state: FetchState) -> Exchange:
    kind = "Fetch" if isinstance(question, FetchQuestion) else "OffsetForLeaderEpoch"
    return Exchange(kind, {FIRST: question}, {}, {FIRST: state})


def _answered(leader: PartitionBroker, question: EpochQuestion | FetchQuestion) -> str:
    """The error that broker 2 is answered."""
    replies = leader.answer(2, _under_way(question, FetchState(0, 0, Phase.FETCHING))).replies
    assert replies is not None, "it is answered"
    error: FetchErrorCode = replies[FIRST].error
    return error.name


def _appended(size: int, offset: int) -> Iterator[Case]:
    """An answer is appended by a fetcher that stands as it did when it asked."""
    replicas = _in_role(2, "follower", 0)
    for record in range(size):
        replicas.log.log.append((record, 0))
    connection = replicas.connections[1]
    connection.rounds.states[FIRST] = FetchState(size, 0, Phase.FETCHING)
    asked = _under_way(FetchQuestion(0, offset, None), FetchState(offset, 0, Phase.FETCHING))
    reply = FetchReply(FetchErrorCode.NONE, ((9, 0),), 0)
    connection.exchange = replace(asked, replies={FIRST: reply})
    connection.apply()
    grown = size + (offset == size)
    yield f"a record for {offset} at a follower with {size}", grown, replicas.log.log_end


def requests() -> Iterator[Case]:
    """Compares which LeaderAndIsr is refused, and with which error, by its three epochs."""
    for broker_epoch, controller, leader in product((4, 5), range(3), range(3)):
        errors = (
            answers.of_broker_epoch(broker_epoch, 5),
            answers.of_controller_epoch(controller, 1),
            answers.of_leader_and_isr(leader, 1, assigned=True),
        )
        mine = next((error for error in errors if error != answers.NONE), answers.NONE)
        for named in (2, NO_LEADER):
            replicas = _in_role(1, "follower", 1)
            replicas.replicas.controller_epoch = 1
            state = LeaderIsrAndControllerEpoch(named, leader, (1, 2), controller)
            order = LeaderAndIsrPartitionState(state, (1, 2), is_new=False)
            sent = LeaderAndIsr(2, 2, controller, broker_epoch, {FIRST: order}, (2,))
            error, by_partition = replicas.handle_request(sent, 5)
            asked = f"LeaderAndIsr of {controller} in {leader} for registration {broker_epoch}"
            asked += "" if named == 2 else ", no leader"
            yield asked, mine, by_partition.get(FIRST, error)
            obeyed = leader if mine == answers.NONE and named == 2 else 1
            yield f"{asked}: the leader epoch after it", obeyed, replicas.partition.leader_epoch


def producers() -> Iterator[Case]:
    """Compares whether the ISR is large enough for acks=all."""
    for isr, least in product(((1,), (1, 2)), range(1, 4)):
        replicas = _in_role(1, "leader", 0)
        replicas.partition.isr, replicas.min_isr = isr, least
        mine = answers.before_append(-1, len(isr), least)
        yield f"{least} of {isr} must be in sync", mine, replicas.append(0, -1)


def elections() -> Iterator[Case]:
    """Compares who is elected of three replicas, for every order, ISR and set of live brokers."""
    everybody = (1, 2, 3)
    sets = [tuple(b for b in everybody if mask >> b & 1) for mask in range(0, 16, 2)]
    for order, isr, live in product(permutations(everybody), sets, sets):
        chosen = strategies.for_offline(order, isr, live)
        asked = f"of {order}, in sync {isr}, alive {live}"
        theirs = leader_election.offline(order, isr, live, unclean=False)
        mine = None if chosen is None else (chosen.leader, chosen.isr)
        yield asked, mine, theirs and (theirs.leader, theirs.isr)


LISTS = [one for size in range(4) for one in permutations((1, 2, 3, 4), size)]


def reassignments() -> Iterator[Case]:
    """Compares how a partition moves to a target, changes its target, and which are refused."""
    for old, target, live in product(LISTS, LISTS, ((1, 2), (1, 2, 3, 4))):
        asked = f"from {old} to {target}, alive {live}"
        yield asked, moves.refusal(target, old, live), valid_target(target, old, live)
        tp = TopicPartition("t", 0)
        leaders, followers = throttled_replicas({tp: old}, {tp: target})
        theirs = (leaders.get("t", []), followers.get("t", []))
        mine = tuple([f"0:{one}" for one in some] for some in moves.throttled(old, target))
        yield f"{asked}: throttled", mine, theirs
    for old, target, other in product(LISTS[5:17], repeat=3):
        one, its = moves.Assignment(old), ReplicaAssignment(old)
        for goal in (target, other):
            one, its = one.towards(goal), its.reassign_to(goal)
            asked = f"on the way to {goal}, of {old} to {target} to {other}"
            yield asked, tuple(one), (its.replicas, its.adding, its.removing)
            yield f"{asked}: ends", (one.target, one.origin), (its.target, its.origin)
        yield f"{asked}: moves", one.moves, its.is_being_reassigned
    for target, old in product(((1, 1), (-1, 2), (0, 2), (0,)), ((1,), (-1, 1), (0, 1))):
        asked, live = f"from {old} to {target}, alive 0 to 2", (0, 1, 2)
        yield asked, moves.refusal(target, old, live), valid_target(target, old, live)


def names() -> Iterator[Case]:
    """Compares topic names: all of up to three of some letters, and those of unusual length."""
    few = ["".join(one) for size in range(4) for one in product("a._-é", repeat=size)]
    for name in (*few, "a" * 249, "a" * 250):
        allowed = True
        try:
            impl_names.check_name(name)
        except AdminError:
            allowed = False
        yield f"the name {name!r}", topic_names.is_allowed(name), allowed
        collides = topic_names.may_collide(name)
        yield f"a period in {name!r}", collides, impl_names.has_collision_chars(name)
    for one, other in product(few[:60], repeat=2):
        mine = topic_names.collide(one, other)
        yield f"{one!r} beside {other!r}", mine, impl_names.collide(one, other)


def versions() -> Iterator[Case]:
    """Compares the versions of requests under each protocol, and the fetcher of a partition."""
    protocols = ("0.10.0", "0.10.1", "0.10.2", "0.11.0", "1.0", "1.1", "2.0", "2.1", "2.2", "2.3",
                 "2.4", "2.5", "2.6", "2.7", "2.8")  # fmt: skip
    for kind, protocol in product(request_versions.VERSIONS, protocols):
        mine = request_versions.version_of(kind, tuple(map(int, protocol.split("."))))
        yield f"{kind} under {protocol}", mine, request_version(kind, Release.of(protocol))
    for topic, partition, fetchers in product(("t", "orders", "ü𝄞"), range(40), range(1, 6)):
        mine = request_versions.fetcher_of(topic, partition, fetchers)
        yield f"{topic}-{partition} of {fetchers}", mine, fetcher_id(topic, partition, fetchers)


def placements() -> Iterator[Case]:
    """Compares the placement of replicas, with and without racks, for every draw."""
    release = Release.of(DEFAULT)
    of_racks: tuple[dict[int, str | None], ...] = (
        {1: None, 2: None, 3: None}, {1: "a", 2: "b", 3: "a"}, {1: "a", 2: "b", 3: "c", 4: "a"},
        {1: "a", 2: None, 3: "b"},
    )  # fmt: skip
    for racks in of_racks:
        draws = range(len(racks))
        for count, factor, start, shift in product(range(4), range(5), draws, draws):
            asked = f"{count} partitions x {factor} on {racks}, drawn {start, shift}"
            mine, theirs = _placed(
                lambda: assignment.assign_replicas(racks, count, factor, start, shift),  # noqa: B023
                lambda: placement.assign_replicas(racks, count, factor, start, shift, release),  # noqa: B023
            )
            yield asked, mine, theirs
        for head, total in product(permutations(racks, 2), range(4)):
            mine, theirs = _placed(
                lambda: placement_rules.add_partitions({0: head}, racks, total),  # noqa: B023
                lambda: placement.add_partitions("t", {0: head}, racks, total, release),  # noqa: B023
            )
            yield f"up to {total} partitions beside {head} on {racks}", mine, theirs


def _placed(
    mine: Callable[[], Mapping[int, Sequence[int]]],
    theirs: Callable[[], Mapping[int, Sequence[int]]],
) -> tuple[object, object]:
    """Lists by partition, or the exception, of both sides."""
    found: list[object] = []
    for ask in (mine, theirs):
        try:
            found.append({partition: list(replicas) for partition, replicas in ask().items()})
        except AssignmentRefused as refused:
            found.append(refused.exception)
        except AdminError as refused:
            found.append(refused.java_class.rpartition(".")[2])
    return found[0], found[1]


RULES: tuple[tuple[str, Callable[[], Iterator[Case]]], ...] = (
    ("epoch cache", epoch_caches),
    ("follower's cut", follower_cuts),
    ("fetches", fetches),
    ("LeaderAndIsr", requests),
    ("min.insync.replicas", producers),
    ("elections", elections),
    ("reassignments", reassignments),
    ("topic names", names),
    ("versions and fetchers", versions),
    ("placement", placements),
)
"""By name, for reports."""
