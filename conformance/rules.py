"""The implementation's pure parts against the model's plain rules, for every small input.

Walks and edges see a rule only where a run leads to it. Here each is asked by itself: the epoch
cache, the cut of a follower's log, who may be refused and with which error, who is elected. The
model's rules are those that the public cases hold to its steps (`conformance.vectors`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations_with_replacement, permutations, product
from typing import Any

from impl import World
from impl.broker.partition import Role
from impl.broker.replica_manager import ReplicaManager
from impl.controller.elections import STRATEGIES
from impl.log.leader_epoch_cache import LeaderEpochFileCache
from impl.requests import AnsweredRecords, AskedEpoch, AskedRecords, Errors, LeaderAndIsrRequest
from impl.zookeeper import PartitionState
from model.protocol import answers, epoch_cache, strategies
from model.protocol.epoch_cache import End, Entries

Case = tuple[str, Any, Any]
"""(what was asked, what the model says, what the implementation says)."""


class RulesDiffer(AssertionError):
    """A rule of the implementation is not the model's; the message has the input."""


def compare_rules() -> int:
    """How many inputs were compared. RulesDiffer at the first on which the two sides differ."""
    compared = 0
    for _, cases in RULES:
        for asked, model, impl in cases():
            compared += 1
            if model != impl:
                raise RulesDiffer(f"{asked}: the model says {model}, the implementation {impl}")
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
    """What is entered, for every order of epochs and offsets; and that none is negative."""
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


def _manager(broker: int = 1) -> ReplicaManager:
    world = World(brokers=2)
    return world.brokers[broker].replicas


def follower_cuts() -> Iterator[Case]:
    """Where a follower cuts its log, for every small log and every answer of its leader."""
    for length in range(4):
        for log in combinations_with_replacement(EPOCHS, length):
            manager = _manager()
            for record, epoch in enumerate(log):
                manager.partition.log.append((record, epoch))
            entries = tuple(manager.partition.log.epochs.entries)
            for hw, epoch, end in product(range(length + 1), range(-1, 4), range(-1, 5)):
                manager.partition.hw = hw
                mine = epoch_cache.where_to_cut(
                    End(epoch, end), length, hw, epoch_cache.latest(entries),
                    lambda one, known=entries, size=length: epoch_cache.end_of(known, one, size),  # type: ignore[misc]
                )  # fmt: skip
                theirs = manager.fetcher.truncation_offset(epoch, end)
                yield f"a log {list(log)} with HW {hw}, answered {epoch, end}", mine, theirs


def fetches() -> Iterator[Case]:
    """Who may fetch, by leader epoch, role and offset; and which answers are appended."""
    for own, sent, role in product(range(3), range(-1, 4), Role):
        manager = _manager()
        manager.partition.role, manager.partition.leader_epoch = role, own
        mine = answers.of_leader_epoch(
            sent, own, role is Role.LEADER, True, Errors.NOT_LEADER_FOR_PARTITION.name
        )
        asked = f"epoch {sent} at a {role.value} in {own}"
        yield asked, mine, manager.fenced(sent).name
        for found in (
            manager.last_offset_for_leader_epoch(AskedEpoch(sent, 0)),
            manager.fetch_for_follower(2, AskedRecords(sent, 0)),
        ):
            answered = mine == Errors.NONE.name
            theirs = found.name if isinstance(found, Errors) else type(found).__name__
            yield asked, answered or mine, theirs.startswith("Answered") or theirs
    for size, offset in product(range(3), range(4)):
        manager = _manager()
        manager.partition.role, manager.partition.leader_epoch = Role.LEADER, 0
        for record in range(size):
            manager.partition.log.append((record, 0))
        found = manager.fetch_for_follower(2, AskedRecords(0, offset))
        theirs = found.name if isinstance(found, Errors) else Errors.NONE.name
        mine = Errors.NONE.name if offset <= size else Errors.OFFSET_OUT_OF_RANGE.name
        yield f"a fetch at {offset} from a log of {size}", mine, theirs
        yield from _appended(size, offset)


def _appended(size: int, offset: int) -> Iterator[Case]:
    manager = _manager(2)
    partition = manager.partition
    partition.role, partition.leader, partition.leader_epoch = Role.FOLLOWER, 1, 0
    for record in range(size):
        partition.log.append((record, 0))
    manager.fetcher.append(1, AnsweredRecords(0, offset, (9, 0), 0))
    grown = size + (offset == size)
    yield f"a record for {offset} at a follower with {size}", grown, partition.log.end


def requests() -> Iterator[Case]:
    """Which LeaderAndIsr is refused, and with which error, by its three epochs."""
    for broker_epoch, controller, leader in product((4, 5), range(3), range(3)):
        manager = _manager()
        manager.controller_epoch, manager.partition.leader_epoch = 1, 1
        state = PartitionState(2, leader, (1, 2), controller)
        request = LeaderAndIsrRequest(1, 2, controller, broker_epoch, state, 0)
        theirs = manager.become_leader_or_follower(request, 5).name
        errors = (
            answers.of_broker_epoch(broker_epoch, 5),
            answers.of_controller_epoch(controller, 1),
            answers.of_leader_and_isr(leader, 1, assigned=True),
        )
        mine = next((error for error in errors if error != answers.NONE), answers.NONE)
        asked = f"LeaderAndIsr of {controller} in {leader} for registration {broker_epoch}"
        yield asked, mine, theirs
        obeyed = leader if mine == answers.NONE else 1
        yield f"{asked}: the leader epoch after it", obeyed, manager.partition.leader_epoch
        yield from _leaderless(request, errors, asked)


def _leaderless(
    request: LeaderAndIsrRequest, errors: tuple[str, ...], asked: str
) -> Iterator[Case]:
    """The same request without a leader: refused alike, and never obeyed."""
    manager = _manager()
    manager.controller_epoch, manager.partition.leader_epoch = 1, 1
    without = replace(request, state=replace(request.state, leader=-1))
    mine = next((error for error in errors if error != answers.NONE), answers.NONE)
    yield f"{asked}, no leader", mine, manager.become_leader_or_follower(without, 5).name
    yield f"{asked}, no leader: the epoch after it", 1, manager.partition.leader_epoch


def producers() -> Iterator[Case]:
    """Whether enough are in sync for acks=all."""
    for isr, least in product(((1,), (1, 2)), range(1, 4)):
        partition = _manager().partition
        partition.isr, partition.min_insync_replicas = isr, least
        mine = answers.before_append(-1, len(isr), least) != answers.NONE
        yield f"{least} of {isr} must be in sync", mine, partition.is_under_min_isr


def elections() -> Iterator[Case]:
    """Who is elected of three replicas, for every order, ISR and set of living brokers."""
    everybody = (1, 2, 3)
    sets = [tuple(b for b in everybody if mask >> b & 1) for mask in range(0, 16, 2)]
    for order, isr, live in product(permutations(everybody), sets, sets):
        chosen = strategies.for_offline(order, isr, live)
        asked = f"of {order}, in sync {isr}, alive {live}"
        first = () if chosen is None else (chosen.leader,)
        yield asked, first, STRATEGIES["assignment order"](order, isr, live)
        alone = [strategies.for_offline((one,), isr, live) for one in order]
        anybody = tuple(found.leader for found in alone if found is not None)
        yield f"{asked}, anybody", anybody, STRATEGIES["any"](order, isr, live)


RULES: tuple[tuple[str, Callable[[], Iterator[Case]]], ...] = (
    ("epoch cache", epoch_caches),
    ("follower's cut", follower_cuts),
    ("fetches", fetches),
    ("LeaderAndIsr", requests),
    ("min.insync.replicas", producers),
    ("elections", elections),
)
"""By name, for reports."""
