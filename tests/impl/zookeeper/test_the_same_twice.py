"""The embedded ZooKeeper and a real one are driven with the same operations and compared.

Results, errors, data, versions, sequence numbers, owners, the order of zxids, and notifications.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from impl.server.cluster import Cluster
from impl.zookeeper import (
    NO_SESSION,
    Check,
    Create,
    Created,
    Delete,
    EmbeddedSession,
    Op,
    Port,
    SetData,
    Znode,
    ZooKeeper,
    ZooKeeperError,
)
from impl.zookeeper.port import wait
from impl.zookeeper.real import RealSession
from tests.impl.zookeeper.real_server import expire

Ask = Callable[[Port], object]

MOST_SESSIONS = 3
ALL_PATHS = ["/a", "/a/x", "/a/x/y", "/b", "/b/n-0000000000"]
PATHS = st.sampled_from(ALL_PATHS)
PREFIXES = st.sampled_from(["/a/n-", "/b/n-", "/missing/n-"])
WATCH = st.sampled_from([True, True, True, False])
TEXTS = st.sampled_from(["", "x", "é"])
WHO = st.integers(0, MOST_SESSIONS - 1)
SHIFTS = st.sampled_from([None, 0, 1, -1])  # of an expected version; None: whatever it is


@dataclass(frozen=True)
class AskedOperation:
    """An operation of a multi before it is known whose it is and what the version is now."""

    kind: type[Op]
    path: str
    text: str = ""
    shift: int | None = None
    ephemeral: bool = False
    sequential: bool = False


ASKED = st.one_of(
    st.builds(
        AskedOperation, st.just(Create), PATHS, TEXTS, st.none(), st.booleans(), st.just(False)
    ),
    st.builds(
        AskedOperation, st.just(Create), PREFIXES, TEXTS, st.none(), st.booleans(), st.just(True)
    ),
    st.builds(AskedOperation, st.sampled_from([SetData, Delete, Check]), PATHS, TEXTS, SHIFTS),
)


class Twins(RuleBasedStateMachine):
    """One client after the other asks the same of both."""

    server: Cluster
    examples = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).examples += 1
        self.root = f"/example-{type(self).examples}"
        self.store = ZooKeeper()
        self.sessions: list[tuple[EmbeddedSession, RealSession]] = []
        self.zxids: dict[int, int] = {}  # of the embedded store: of the real one
        self.open()
        self.open()
        for path in ("", "/a", "/b"):
            self.create(0, path, "", False)

    # What is asked

    @rule()
    def open(self) -> None:
        if len(self.sessions) < MOST_SESSIONS:
            self.sessions.append(
                (EmbeddedSession(self.store), RealSession(self.server.state.connect))
            )

    @rule(who=WHO, path=PATHS, text=TEXTS, ephemeral=st.booleans())
    def create(self, who: int, path: str, text: str, ephemeral: bool) -> None:
        self.both(self.of(who), lambda port: wait(port.create(self.root + path, text, ephemeral)))

    @rule(who=WHO, path=PREFIXES, text=TEXTS, ephemeral=st.booleans())
    def create_sequential(self, who: int, path: str, text: str, ephemeral: bool) -> None:
        self.both(
            self.of(who), lambda port: wait(port.create(self.root + path, text, ephemeral, True))
        )

    @rule(who=WHO, path=PATHS, watch=WATCH)
    def get(self, who: int, path: str, watch: bool) -> None:
        self.both(self.of(who), lambda port: wait(port.get(self.root + path, watch)))

    @rule(who=WHO, path=PATHS, watch=WATCH)
    def exists(self, who: int, path: str, watch: bool) -> None:
        self.both(self.of(who), lambda port: wait(port.exists(self.root + path, watch)))

    @rule(who=WHO, path=st.one_of(PATHS, st.just("")), watch=WATCH)
    def children(self, who: int, path: str, watch: bool) -> None:
        self.both(self.of(who), lambda port: wait(port.children(self.root + path, watch)))

    @rule(who=WHO)
    def watch_everything(self, who: int) -> None:
        for path in ALL_PATHS:
            self.exists(who, path, True)
            self.children(who, path, True)

    @rule(who=WHO, path=PATHS, text=TEXTS, shift=SHIFTS)
    def set_data(self, who: int, path: str, text: str, shift: int | None) -> None:
        version = self.version(path, shift)
        self.both(self.of(who), lambda port: wait(port.set_data(self.root + path, text, version)))

    @rule(who=WHO, path=PATHS, shift=SHIFTS)
    def delete(self, who: int, path: str, shift: int | None) -> None:
        version = self.version(path, shift)
        self.both(self.of(who), lambda port: wait(port.delete(self.root + path, version)))

    @rule(who=WHO, asked=st.lists(ASKED, min_size=1, max_size=4))
    def multi(self, who: int, asked: list[AskedOperation]) -> None:
        # The versions as they are now: by the time the second one is asked the first has written.
        pairs = [(one, self.version(one.path, one.shift)) for one in asked]
        self.both(
            self.of(who), lambda port: wait(port.multi([self.op(*pair, port) for pair in pairs]))
        )

    @rule(who=WHO, by_force=st.booleans())
    def end(self, who: int, by_force: bool) -> None:
        if len(self.sessions) == 1:
            return
        embedded, real = self.sessions.pop(who % len(self.sessions))
        if by_force:
            self.store.expire(embedded.session)
            expire(self.server, real)
        else:
            embedded.close()
        real.close()
        # Several ephemerals vanish in one transaction, in an order that ZooKeeper leaves open.
        for mine, theirs in self.sessions:
            assert Counter(mine.events()) == Counter(theirs.events())

    # How it is compared

    @invariant()
    def everybody_was_notified_of_the_same(self) -> None:
        for embedded, real in self.sessions:
            assert embedded.events() == real.events()

    def teardown(self) -> None:
        for _, real in self.sessions:
            real.close()

    def of(self, who: int) -> tuple[EmbeddedSession, RealSession]:
        return self.sessions[who % len(self.sessions)]

    def version(self, path: str, shift: int | None) -> int:
        node = self.store.nodes.get(self.root + path)
        return -1 if shift is None or node is None else max(0, node.version + shift)

    def op(self, asked: AskedOperation, version: int, port: Port) -> Op:
        path = self.root + asked.path
        if asked.kind is Create:
            owner = port.session if asked.ephemeral else NO_SESSION
            return Create(path, asked.text, owner, asked.sequential)
        if asked.kind is SetData:
            return SetData(path, asked.text, version)
        return Delete(path, version) if asked.kind is Delete else Check(path, version)

    def both(self, who: tuple[EmbeddedSession, RealSession], ask: Ask) -> None:
        mine, theirs = answer(ask, who[0]), answer(ask, who[1])

        assert self.seen(mine, 0) == self.seen(theirs, 1)
        self.compare_zxids(mine, theirs)

    def seen(self, outcome: object, side: int) -> object:
        """The outcome with what two ensembles may differ in taken out or renamed."""
        match outcome:
            case ZooKeeperError():
                return type(outcome)
            case Created():
                return outcome.path, self.seen(outcome.znode, side)
            case Znode():
                owners = {pair[side].session: number for number, pair in enumerate(self.sessions)}
                owner = owners[outcome.owner] if outcome.owner else None
                return outcome.data, outcome.version, outcome.creates, owner
            case list():
                return [self.seen(one, side) for one in outcome]
            case _:
                return outcome

    def compare_zxids(self, mine: object, theirs: object) -> None:
        """The numbers differ; which transaction came before which does not."""
        pairs = [(mine, theirs)] if not isinstance(mine, Created) else []
        if isinstance(mine, Created) and isinstance(theirs, Created):
            pairs = [(mine.znode, theirs.znode)]
        for one, other in pairs:
            if isinstance(one, Znode) and isinstance(other, Znode):
                for zxid, real in ((one.czxid, other.czxid), (one.mzxid, other.mzxid)):
                    assert self.zxids.setdefault(zxid, real) == real
        known = sorted(self.zxids.items())
        assert [real for _, real in known] == sorted(real for _, real in known)


def answer(ask: Ask, port: Port) -> object:
    try:
        return ask(port)
    except ZooKeeperError as refused:
        return refused


def drive(server: Cluster, examples: int, steps: int) -> None:
    Twins.server = server
    run_state_machine_as_test(
        Twins,
        settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None),
    )


def test_the_embedded_zookeeper_answers_as_the_real_one(server: Cluster):
    drive(server, examples=40, steps=30)


@pytest.mark.deep
def test_the_embedded_zookeeper_answers_as_the_real_one_for_long(server: Cluster):
    drive(server, examples=600, steps=50)
