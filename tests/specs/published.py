"""Two classic designs once more, in plain Python, written from their published rules alone.

Nothing of the notation is used here; see test_classic_twin.py for what it is compared with.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

REPLICAS = (1, 2, 3)
LOG, RECORDS, LAST_EPOCH = 2, 2, 1

Entry = tuple[int, int]
"""A record: (id, epoch)."""
Log = tuple[Entry, ...]
Members = frozenset[int]


class PublishedView(NamedTuple):
    """What a replica believes; no epoch is -1, so that it is below all others."""

    hw: int
    epoch: int
    leader: int | None
    isr: Members


class Quorum(NamedTuple):
    """An epoch with its leader and ISR: what is registered, and what a request carries."""

    epoch: int
    leader: int | None
    isr: Members


class State(NamedTuple):
    """One partition. Logs and views are by replica, the first replica being 1."""

    logs: tuple[Log, ...]
    views: tuple[PublishedView, ...]
    next_record: int
    next_epoch: int
    quorum: Quorum
    requests: frozenset[Quorum]

    def log(self, replica: int) -> Log:
        return self.logs[replica - 1]

    def view(self, replica: int) -> PublishedView:
        return self.views[replica - 1]

    def presumes(self, replica: int) -> bool:
        return self.view(replica).leader == replica

    def with_view(self, replica: int, view: PublishedView) -> State:
        return self._replace(views=put(self.views, replica, view))

    def with_log(self, replica: int, log: Log) -> State:
        return self._replace(logs=put(self.logs, replica, log))


def put(values, replica, value):
    return (*values[: replica - 1], value, *values[replica:])


START = State(
    logs=((),) * 3,
    views=(PublishedView(0, -1, None, frozenset()),) * 3,
    next_record=0,
    next_epoch=0,
    quorum=Quorum(-1, None, frozenset(REPLICAS)),
    requests=frozenset(),
)


def send(state: State, leader: int | None, isr: Members) -> Iterator[State]:
    """The controller registers a new epoch and tells everybody."""
    if state.next_epoch <= LAST_EPOCH:
        reported = Quorum(state.next_epoch, leader, isr)
        yield state._replace(
            next_epoch=state.next_epoch + 1, quorum=reported, requests=state.requests | {reported}
        )


def registered_update(state: State, leader: int, isr: Members) -> Iterator[State]:
    """A leader changes the registered ISR, if it is the true leader."""
    view = state.view(leader)
    true = state.quorum.leader == leader == view.leader and view.epoch == state.quorum.epoch
    if true:
        new = state._replace(quorum=state.quorum._replace(isr=isr))
        yield new.with_view(leader, view._replace(isr=isr))


def shared(state: State) -> Iterator[State]:
    """Elections, drops, becoming leader, writing: rules 1 to 4."""
    _, leader, isr = state.quorum
    for chosen in isr - {leader}:
        yield from send(state, chosen, isr)
    for gone in REPLICAS:
        if gone == leader:
            yield from send(state, None, isr if isr == {gone} else isr - {gone})
        elif gone in isr:
            yield from send(state, leader, isr - {gone})
    for reported in state.requests:
        if reported.leader is not None and reported.epoch > state.view(reported.leader).epoch:
            view = PublishedView(
                state.view(reported.leader).hw, reported.epoch, reported.leader, reported.isr
            )
            yield state.with_view(reported.leader, view)
    for replica in REPLICAS:
        log = state.log(replica)
        if state.presumes(replica) and state.next_record < RECORDS and len(log) < LOG:
            longer = (*log, (state.next_record, state.view(replica).epoch))
            yield state.with_log(replica, longer)._replace(next_record=state.next_record + 1)


def orders_to_follow(state: State) -> Iterator[tuple[int, Quorum]]:
    """(follower, request) for every request that may make the replica a follower."""
    for reported in state.requests:
        for follower in REPLICAS:
            fresh = reported.epoch > state.view(follower).epoch
            if reported.leader is not None and reported.leader != follower and fresh:
                yield follower, reported


def follow(state: State, follower: int, reported: Quorum, cut: int) -> Iterator[State]:
    """Becomes follower and cuts the log; a cut beyond the end makes the step impossible."""
    log = state.log(follower)
    if cut <= len(log):
        view = PublishedView(
            min(cut, state.view(follower).hw), reported.epoch, reported.leader, reported.isr
        )
        yield state.with_log(follower, log[:cut]).with_view(follower, view)


def replicate(state: State, leader: int, follower: int) -> Iterator[State]:
    """The follower appends the leader's record at its own end."""
    theirs, mine = state.log(leader), state.log(follower)
    if len(mine) < LOG and len(mine) < len(theirs):
        hw = min(state.view(leader).hw, len(mine) + 1)
        longer = state.with_log(follower, (*mine, theirs[len(mine)]))
        yield longer.with_view(follower, state.view(follower)._replace(hw=hw))


def raise_hw(state: State, leader: int) -> State:
    view = state.view(leader)
    return state.with_view(leader, view._replace(hw=view.hw + 1))


PAIRS = [(leader, other) for leader in REPLICAS for other in REPLICAS]


def kip_101(state: State) -> Iterator[State]:
    """Rules 5 to 9 with the cut of KIP-101."""

    def follows(follower: int, leader: int) -> bool:
        return state.view(follower).leader == leader

    def caught_up(leader: int, follower: int, end: int) -> bool:
        logs = (state.log(leader), state.log(follower))
        return follows(follower, leader) and (end == 0 or all(end - 1 < len(log) for log in logs))

    def cut(leader: int, follower: int) -> int:
        theirs, mine, hw = state.log(leader), state.log(follower), state.view(follower).hw
        if not mine:
            return 0
        if not theirs:
            return hw
        epoch = mine[-1][1]
        if theirs[-1][1] == epoch:
            return len(theirs)
        newer = [offset for offset, record in enumerate(theirs) if record[1] > epoch]
        return newer[0] if newer else hw

    for leader, other in PAIRS:
        isr = state.view(leader).isr
        known = caught_up(leader, other, len(state.log(leader)))
        if other != leader and other in isr and not known:
            yield from registered_update(state, leader, isr - {other})
        if other not in isr and caught_up(leader, other, state.view(leader).hw):
            yield from registered_update(state, leader, isr | {other})
        if state.presumes(leader) and follows(other, leader):
            yield from replicate(state, leader, other)
    for leader in REPLICAS:
        hw, isr = state.view(leader).hw, state.view(leader).isr
        known = all(follows(member, leader) and hw < len(state.log(member)) for member in isr)
        if state.presumes(leader) and hw < LOG and known:
            yield raise_hw(state, leader)
    for follower, reported in orders_to_follow(state):
        assert reported.leader is not None
        yield from follow(state, follower, reported, cut(reported.leader, follower))


def kip_320(state: State) -> Iterator[State]:
    """The design in which everything is fenced by epoch."""

    def follows_epoch(leader: int, follower: int) -> bool:
        mine, theirs = state.view(follower), state.view(leader)
        return state.presumes(leader) and mine.leader == leader and mine.epoch == theirs.epoch

    def cut(leader: int, follower: int) -> int:
        both = list(zip(state.log(leader), state.log(follower), strict=False))
        return max((at + 1 for at, (one, other) in enumerate(both) if one == other), default=0)

    for leader, other in PAIRS:
        (hw, epoch, _, isr), log, end = state.view(leader), state.log(leader), len(state.log(other))
        follows = follows_epoch(leader, other)
        if other != leader and other in isr and (not follows or end < len(log)):
            yield from registered_update(state, leader, isr - {other})
        begun = hw == len(log) or (hw < len(log) and log[hw][1] == epoch)
        if other not in isr and follows and (hw == 0 or hw - 1 < end) and begun:
            yield from registered_update(state, leader, isr | {other})
        if follows:
            yield from replicate(state, leader, other)
    for leader in REPLICAS:
        hw, isr = state.view(leader).hw, state.view(leader).isr
        known = all(follows_epoch(leader, one) and hw < len(state.log(one)) for one in isr)
        if hw < len(state.log(leader)) and known:
            yield raise_hw(state, leader)
    for follower, reported in orders_to_follow(state):
        assert reported.leader is not None
        if state.presumes(reported.leader) and state.view(reported.leader).epoch == reported.epoch:
            yield from follow(state, follower, reported, cut(reported.leader, follower))


def strong_isr(state: State) -> bool:
    """What a presumed leader calls committed is in the log of every registered ISR member."""
    return all(
        state.log(member)[: state.view(one).hw] == state.log(one)[: state.view(one).hw]
        and state.view(one).hw <= len(state.log(one))
        for one in REPLICAS
        if state.presumes(one)
        for member in state.quorum.isr
    )
