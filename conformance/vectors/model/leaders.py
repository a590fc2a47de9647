"""The model's answers about a leader: its followers' fetches, its ISR, its high watermark.

A question's steps are taken as transitions of `replication`, from 2.7 on of the variant in which
the controller writes the ISR (KIP-497). Offsets, epochs and brokers are ranks. The model has no
clock: the times of a question's steps decide which follower is late; the transitions decide the ISR
without it, what is then committed, and what a refusal leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from conformance.mapping import AS_RELEASED
from conformance.plain_rules import answers
from conformance.vectors.compare import ByRule
from conformance.vectors.model import rules
from conformance.vectors.model.stage import ModelStage, Place, Ranks, TwoAnswers
from conformance.vectors.questions import NotInModel
from impl.releases import Release
from model.replication.alter_isr import SYSTEM as BY_ALTER_ISR

Question = Mapping[str, Any]

LEADER = 1
BY_CONTROLLER, CHECKS_LOG_END, FINDS_OFFSETS = "2.7", "2.1", "2.2"
WAITS_FOR_OTHERS = "0.10.2"
"""Releases: of AlterIsr; that do not drop who is silent at the end of the log; that refuse offsets
until what the new leader committed is known; whose high watermark waits for who was caught up
lately, outside the ISR as well."""
STEPS = (
    "broker_becomes_leader", "broker_becomes_follower", "older_epoch_is_refused",
    "leader_answers_fetch", "leader_advances_hw", "leader_appends", "leader_learns_isr_is_written",
)  # fmt: skip
WRITES = (
    "leader_shrinks_isr", "leader_shrink_is_refused", "leader_expands_isr",
    "leader_expand_is_refused", "leader_learns_isr_is_refused",
)  # fmt: skip
ASKS = (
    "leader_asks_to_shrink_isr", "leader_asks_to_expand_isr", "controller_writes_isr",
    "controller_refuses_isr",
)  # fmt: skip
GIVEN_UP = frozenset(
    {"INVALID_UPDATE_VERSION", "FENCED_LEADER_EPOCH", "UNKNOWN_TOPIC_OR_PARTITION"}
)
"""Errors after which a leader asks no more; after any other it asks for the same ISR again."""


CAUGHT_UP_LATELY = (
    "who was caught up lately holds the high watermark back: the model, without a clock, waits for "
    "the ISR alone"
)
ONE_BY_ONE = "a leader of the model that asks for an ISR leaves out one replica after the other"


class LeaderAndFollowers:
    """A leader and its followers, in a state of the model."""

    def __init__(self, question: Question) -> None:
        asked = question["input"]
        self.release, self.lag_ms = Release.of(question["release"]), asked["replicaLagTimeMaxMs"]
        self.by_controller = self.release.since(BY_CONTROLLER)
        steps = asked.get("steps", [])
        log = asked.get("log") or {}
        named = [asked["self"], *asked["replicas"], *asked["isr"]]
        named += [one[name] for one in steps for name in ("replica", "leader") if name in one]
        self.ids = {one: number for number, one in enumerate(dict.fromkeys(named), LEADER)}
        self.controller = len(self.ids) + 1
        end = log.get("records") or 0
        first = max(0, min(asked.get("hwCheckpoint") or 0, end))
        self.offsets = Ranks([0, first, *_ends(end, steps)])
        before = log.get("epoch", -1)
        epochs = [
            asked["leaderEpoch"],
            *(one["leaderEpoch"] for one in steps if "leaderEpoch" in one),
        ]
        self.epochs = Ranks([max(0, before), *epochs], first=1)
        whole = BY_ALTER_ISR if self.by_controller else "replication"
        bounds = {
            "brokers": max(4, self.controller), "log": max(7, self.offsets.last),
            "records": max(7, self.offsets.last), "epoch": max(4, self.epochs.last),
            "controllers": 1, "versions": 9,
        }  # fmt: skip
        transitions = (*STEPS, *(ASKS if self.by_controller else WRITES))
        self.stage = ModelStage.of(whole, question["release"], transitions, bounds, **AS_RELEASED)
        cells: dict[Place, object] = {
            ("zk.controller", ()): self.controller,
            ("zk.epoch", ()): 1,
            ("belief", (self.controller,)): 1,
            ("replica.hw", (LEADER,)): self.offsets.of(first),
            ("log.end", (LEADER,)): self.offsets.of(end),
        }
        for number in range(1, bounds["brokers"] + 1):
            cells["up", (number,)] = cells["zk.registered", (number,)] = True
        for rank in range(self.offsets.of(end)):
            cells["log.at.epoch", (LEADER, rank)] = self.epochs.of(max(0, before))
        self.now = self.stage.state(cells)
        self.order = list(asked["isr"])
        self.now_ms, self.caught_up = 0, dict.fromkeys(self.ids.values(), 0)
        self.last = next((self.ids[one] for one in asked["replicas"] if one != asked["self"]), None)
        self.shown: dict[int, tuple[int, int]] = {}
        self.requests: list[list[int]] = []
        self.expands = self.shrinks = self.failures = 0
        self.found: list[Any] = []
        self.answered: dict[str, Any] = {}  # to what was asked of it last
        self.leads(asked["leaderEpoch"], asked["isr"])

    # Single steps

    def read(self, name: str, *index: int) -> Any:
        """A cell."""
        return self.stage.read(self.now, name, *index)

    def put(self, cells: Mapping[Place, object]) -> None:
        """Changes the state as a question gives it."""
        self.now = self.stage.state(cells, self.now)

    def take(self, name: str, *arguments: int) -> bool:
        """Takes a transition, if it is possible."""
        after = self.stage.attempt(name, self.now, *arguments)
        if after is not None:
            self.now = after
        return after is not None

    def ordered(self, leader: int, epoch: int, isr: Iterable[int], does: str) -> bool:
        """Delivers a LeaderAndIsr by the step `does`; False if it is refused for its leader
        epoch."""
        rank, version = self.epochs.of(epoch), self.read("zk.version") + 1
        cells: dict[Place, object] = {
            ("elected", (rank,)): leader,
            ("request.in_flight", (rank, 1, LEADER)): True,
            ("request.version", (rank, 1, LEADER)): version,
            ("zk.version", ()): version,
        }
        cells |= {("request.isr", (rank, 1, LEADER, self.ids[one])): True for one in isr}
        self.put(cells)
        return self.take(does, LEADER, rank, 1) or not self.take(
            "older_epoch_is_refused", LEADER, rank, 1
        )

    def leads(self, epoch: int, isr: Sequence[int]) -> None:
        """Delivers the LeaderAndIsr by which it becomes leader."""
        self.ordered(LEADER, epoch, isr, "broker_becomes_leader")
        in_sync = {self.ids[one] for one in isr}
        for one in self.caught_up:
            self.caught_up[one] = self.now_ms if one in in_sync else NEVER
        end = self.offsets.value(self.read("log.end", LEADER))
        self.shown = dict.fromkeys(self.caught_up, (end, self.now_ms))
        self.commit()

    def commit(self) -> None:
        """Advances the high watermark as far as possible, where it waits for the ISR only."""
        self.take("leader_advances_hw", LEADER)
        reached, members = self.read("replica.hw", LEADER), self.members("replica.isr")
        for one, number in self.ids.items():
            lately = self.now_ms - self.caught_up[number] <= self.lag_ms
            end = self.read("known_end", LEADER, number)
            waits = self.release.since(WAITS_FOR_OTHERS) and lately and one not in members
            if waits and end is not None and end < reached:
                raise NotInModel(CAUGHT_UP_LATELY)

    def members(self, name: str) -> list[int]:
        """A set of brokers, in the order in which they came into the ISR."""
        found = [one for one, number in self.ids.items() if self.read(name, LEADER, number)]
        self.order += [one for one in found if one not in self.order]
        return sorted(found, key=self.order.index)

    @property
    def waits(self) -> bool:
        """Whether an ISR change is requested or written, and the leader has no answer yet."""
        return bool(self.read("isr_write.state", LEADER) != "none")

    # What happens to it

    def fetched(self, step: Mapping[str, Any], fails: bool) -> None:
        """A follower fetches: its end is known, it may rejoin the ISR, the HW may advance."""
        error = self._refusal(step)
        if error != answers.NONE:
            self.answered = {"error": error}
            return
        follower, end = self.ids[step["replica"]], step["offset"]
        self.last = follower
        self.put({
            ("fetch.state", (follower, LEADER)): "asks_records",
            ("fetch.epoch", (follower, LEADER)): self.read("replica.epoch", LEADER),
            ("fetch.offset", (follower, LEADER)): self.offsets.of(end),
        })  # fmt: skip
        if not self.take("leader_answers_fetch", LEADER, follower):
            return
        self.put({("fetch.state", (follower, LEADER)): "idle"})
        leader_end = step.get("leaderEnd", self.offsets.value(self.read("log.end", LEADER)))
        if end >= leader_end:
            self.caught_up[follower] = self.now_ms
        elif follower in self.shown and end >= self.shown[follower][0]:
            self.caught_up[follower] = max(self.caught_up[follower], self.shown[follower][1])
        self.shown[follower] = leader_end, self.now_ms
        self.expand(follower, fails)
        self.commit()

    def expand(self, replica: int, fails: bool) -> None:
        """The ISR with a replica that has caught up."""
        name = "leader_asks_to_expand_isr" if self.by_controller else "leader_expands_isr"
        self._change(name, "leader_expand_is_refused", replica, fails)

    def shrink(self, replica: int, fails: bool) -> None:
        """The ISR without a replica."""
        name = "leader_asks_to_shrink_isr" if self.by_controller else "leader_shrinks_isr"
        self._change(name, "leader_shrink_is_refused", replica, fails)

    def _drop(self, replicas: Sequence[int], fails: bool) -> None:
        """The ISR without these: Kafka's leader writes it once, the model's one after the other."""
        before = self.shrinks
        for one in replicas:
            self.shrink(one, fails)
        self.shrinks = min(self.shrinks, before + 1)
        self.commit()

    def _change(self, name: str, refused: str, replica: int, fails: bool) -> None:
        if self.by_controller:
            if self.take(name, LEADER, replica):
                self.requests.append(self.members("isr_write.isr"))
            return
        if fails:  # another has written the state meanwhile
            self.put({("zk.version", ()): self.read("zk.version") + 1})
        if self.take(name, LEADER, replica):
            self._learn()
        elif self.take(refused, LEADER, replica):
            self.take("leader_learns_isr_is_refused", LEADER)
            self.failures += 1

    def _learn(self) -> None:
        before = len(self.members("replica.isr"))
        self.take("leader_learns_isr_is_written", LEADER)
        after = len(self.members("replica.isr"))
        self.expands += after > before
        self.shrinks += after < before

    def receives_alter_isr_response(self, error: str | None) -> None:
        """The controller's answer about the requested ISR."""
        if not self.by_controller or self.read("isr_write.state", LEADER) != "asked":
            return
        if error is None:
            self.take("controller_writes_isr", self.controller, LEADER)
            self._learn()
            self.commit()
        elif error not in GIVEN_UP:
            self.requests.append(self.requests[-1])  # it is asked for still
        else:
            self.put({("zk.version", ()): self.read("zk.version") + 1})
            self.take("controller_refuses_isr", self.controller, LEADER)
            self.failures += 1

    def late(self) -> list[int]:
        """The followers in the ISR that have not been caught up for longer than the lag."""
        end, members = self.read("log.end", LEADER), self.members("replica.isr")
        by_end = self.release.since(CHECKS_LOG_END)

        def is_late(number: int) -> bool:
            behind = self.read("known_end", LEADER, number) != end
            since = self.caught_up[number]
            return answers.is_out_of_sync(behind, since, self.now_ms, self.lag_ms, by_end)

        followers = [self.ids[one] for one in members if self.ids[one] != LEADER]
        return [number for number in followers if is_late(number)]

    def do(self, step: Mapping[str, Any], fails: bool) -> None:
        """One step; `fails`: the ISR that it writes is refused."""
        self.answered = {}
        match step["do"]:
            case "sleep":
                self.now_ms += step["ms"]
            case "leaderAppend":
                end = self.offsets.value(self.read("log.end", LEADER)) + step["count"]
                while self.read("log.end", LEADER) < self.offsets.of(end):
                    self.take("leader_appends", LEADER)
                self.commit()
            case "followerFetch":
                self.fetched(step, fails)
            case "expandIsr":
                end = self.read("log.end", LEADER)
                self.put({("known_end", (LEADER, self.ids[step["replica"]])): end})
                self.expand(self.ids[step["replica"]], fails)
            case "shrinkIsr":
                self._drop([self.ids[one] for one in step["replicas"]], fails)
            case "maybeShrink":
                late = self.late()
                if self.by_controller and len(late) > 1:
                    raise NotInModel(ONE_BY_ONE)
                self._drop(late, fails)
            case "isrUpdateSucceeds":
                self.receives_alter_isr_response(None)
            case "isrUpdateFails":
                self.receives_alter_isr_response(step["error"])
            case "becomeLeader":
                self.leads(step["leaderEpoch"], step["isr"])
            case "becomeFollower":
                self.ordered(
                    self.ids[step["leader"]], step["leaderEpoch"], (), "broker_becomes_follower"
                )
            case "listOffset":
                found = self._offset(step["what"], step["isolation"])
                self.found.append(found)
                self.answered = {"error": found}
                if isinstance(found, int):
                    self.answered = {"offset": found, "leaderEpoch": self.epoch}
            case other:
                raise ValueError(f"no step of a leader's life is called {other!r}")

    @property
    def epoch(self) -> int:
        """The leader epoch that it is in."""
        return self.epochs.value(self.read("replica.epoch", LEADER))

    def _refusal(self, step: Mapping[str, Any]) -> str:
        """Why a request is refused that names the leader epoch it is of."""
        return answers.of_leader_epoch(step.get("leaderEpoch"), self.epoch, True, False, "")

    def _offset(self, what: str, isolation: str) -> int | str:
        hw, end = self.read("replica.hw", LEADER), self.read("log.end", LEADER)
        if what == "earliest":
            return 0
        if isolation == "none":
            return self.offsets.value(end)
        if self.release.since(FINDS_OFFSETS) and hw < self.read("replica.epoch_start", LEADER):
            return "OFFSET_NOT_AVAILABLE"
        return self.offsets.value(hw)

    def observe(self) -> dict[str, Any]:
        """The leader's present state, with the follower that fetched last."""
        isr = self.members("replica.isr")
        wanted = self.members("isr_write.isr") if self.waits else []
        end = None if self.last is None else self.read("known_end", LEADER, self.last)
        return {
            "isr": isr,
            "maximalIsr": [*isr, *(one for one in wanted if one not in isr)],
            "hw": self.offsets.value(self.read("replica.hw", LEADER)),
            "remoteLeo": -1 if end is None else self.offsets.value(end),
            "isrRequests": len(self.requests),
            "requestedIsr": self.requests[-1] if self.requests else None,
            "expands": self.expands,
            "shrinks": self.shrinks,
            "failures": self.failures,
            **self.answered,
        }


NEVER = -(10**9)
"""When a replica was caught up that is not in the ISR of a new leader."""


def _ends(end: int, steps: Sequence[Mapping[str, Any]]) -> Iterable[int]:
    """The offsets that a question is about, from the end of the log on."""
    yield end
    for step in steps:
        if step["do"] == "leaderAppend":
            end += step["count"]
            yield end
        elif step["do"] == "followerFetch":
            yield step["offset"]


def leader(question: Question) -> dict[str, Any]:
    """A leader's steps: its ISR, its high watermark, the ISR changes that it requests."""
    life = LeaderAndFollowers(question)
    initial, seen, queued = life.observe(), [], 0
    marks = {}
    steps = question["input"].get("steps", [])
    for step, following in zip(steps, [*steps, {}][1:], strict=True):
        before = len(life.requests)
        life.do(step, fails=following.get("do") == "isrUpdateFails")
        seen.append(life.observe())
        queued = len(life.requests) - before
        marks[f"hwAfterStep{len(seen)}"] = seen[-1]["hw"]
    answer = life.observe() | {
        "initial": initial,
        "afterStep": seen,
        "isrRequestsQueuedAfterFailure": queued,
        **marks,
        "listOffsetResults": life.found,
    }
    # Which offset may be said is no step's: it is read off the state.
    return ByRule(answer) if life.found else answer


FOLLOWS, REFUSES = "broker_becomes_follower", "older_epoch_is_refused"


def make_follower(question: Question) -> dict[str, Any]:
    """Whether a LeaderAndIsr restarts the fetcher, which then does not know where to truncate."""
    steps = question["input"]["steps"]
    me = LEADER
    leaders = {one: number for number, one in enumerate(dict.fromkeys(
        one["leader"] for one in steps), me + 1)}  # fmt: skip
    named = [one["epoch"] for one in steps]
    epochs = Ranks([*named, *(one - 1 for one in named)], first=1)  # 2.0 asks for the epoch before
    bounds = {
        "brokers": 1 + len(leaders), "log": 1, "records": 1, "epoch": epochs.last,
        "controllers": 1, "versions": 1,
    }  # fmt: skip
    stage = ModelStage.of(
        "replication", question["release"], (FOLLOWS, REFUSES), bounds, **AS_RELEASED
    )
    state = stage.state({
        ("up", (me,)): True, ("log.end", (me,)): 1, ("replica.latest_epoch", (me,)): 1,
        ("log.at.epoch", (me, 0)): 1,
    })  # fmt: skip
    returns = []
    for step in steps:
        rank = epochs.of(step["epoch"])
        state = stage.state({
            ("elected", (rank,)): leaders[step["leader"]],
            ("request.in_flight", (rank, 1, me)): True,
            ("replica.truncating", (me,)): False,
        }, state)  # fmt: skip
        after = stage.step(FOLLOWS, state, me, rank, 1)
        state = after if after is not None else stage.step(REFUSES, state, me, rank, 1)
        returns.append(bool(stage.read(state, "replica.truncating", me)))
    return {"returns": returns}


ADVANCES = "leader_advances_hw"


def high_watermark(question: Question) -> dict[str, Any]:
    """How far a leader's high watermark advances, by a step where only the ISR counts."""
    asked, by_rule = question["input"], rules.high_watermark(question)
    outside = [one for name, one in asked["remotes"].items() if int(name) not in asked["isr"]]
    late = [one for one in outside if asked["now"] - one["lastCaughtUp"] <= asked["lagMs"]]
    if late and Release.of(question["release"]).since("0.10.2"):
        return ByRule(by_rule)  # who was caught up a moment ago counts too: the model has no clock
    ends = {int(name): one["leo"] for name, one in asked["remotes"].items()}
    ids = {one: number for number, one in enumerate(sorted(ends), LEADER + 1)}
    offsets = Ranks(
        [0, asked["oldHw"], asked["leaderLeo"], *(max(0, end) for end in ends.values())]
    )
    bounds = {
        "brokers": 1 + len(ids), "log": max(1, offsets.last), "records": 1, "epoch": 1,
        "controllers": 1, "versions": 1,
    }  # fmt: skip
    stage = ModelStage.of("replication", question["release"], (ADVANCES,), bounds, **AS_RELEASED)
    cells: dict[Place, object] = {
        ("replica.role", (LEADER,)): "leader",
        ("replica.hw", (LEADER,)): offsets.of(asked["oldHw"]),
        ("replica.isr", (LEADER, LEADER)): True,
        ("log.end", (LEADER,)): offsets.of(asked["leaderLeo"]),
    }
    for one, number in ids.items():
        cells["replica.isr", (LEADER, number)] = one in asked["isr"]
        end = None if ends[one] < 0 else offsets.of(ends[one])
        cells["known_end", (LEADER, number)] = end
    before = stage.state(cells)
    after = stage.step(ADVANCES, before, LEADER)
    reached = stage.read(before if after is None else after, "replica.hw", LEADER)
    return _both(by_rule, {"hw": offsets.value(reached)})


APPENDS, APPENDS_FOR_ISR, TOO_FEW = (
    "leader_appends", "leader_appends_acks_all", "leader_answers_not_enough_replicas",
)  # fmt: skip
ACKNOWLEDGES, LEFT_WITH_TOO_FEW = (
    "leader_acknowledges_acks_all",
    "leader_answers_not_enough_replicas_after_append",
)


def produce(question: Question) -> dict[str, Any]:
    """The answer to a producer, by steps of a leader where it does not wait in vain.

    Only whether the ISR is large enough matters: it has two members then, and else one.
    """
    asked, by_rule = question["input"], rules.produce(question)
    if by_rule["error"] in ("INVALID_REQUIRED_ACKS", "REQUEST_TIMED_OUT"):
        return ByRule(by_rule)
    least = asked.get("minIsr", 1)
    then = asked.get("isrAtAppend", asked.get("isr", least))
    bounds = {"brokers": 2, "log": 1, "records": 1, "epoch": 1, "controllers": 1, "versions": 1}
    steps = (APPENDS, APPENDS_FOR_ISR, TOO_FEW, ACKNOWLEDGES, LEFT_WITH_TOO_FEW)
    stage = ModelStage.of(
        "replication", question["release"], steps, bounds, **AS_RELEASED, min_insync_replicas=2
    )
    other: Place = ("replica.isr", (LEADER, LEADER + 1))
    state = stage.state({
        ("replica.role", (LEADER,)): "leader", ("replica.epoch", (LEADER,)): 1,
        ("replica.isr", (LEADER, LEADER)): True, other: then >= least,
    })  # fmt: skip
    waits = asked["acks"] == -1
    appended = stage.step(APPENDS_FOR_ISR if waits else APPENDS, state, LEADER)
    if appended is None:
        refused = stage.step(TOO_FEW, state, LEADER) is not None
        error = "NOT_ENOUGH_REPLICAS" if refused else None
        return _both(by_rule, {"appended": False, "error": error})
    if waits:
        now = asked.get("isrAtHw", then)
        later = stage.state({other: now >= least, ("replica.hw", (LEADER,)): 1}, appended)
        left = stage.step(LEFT_WITH_TOO_FEW, later, LEADER) is not None
        error = "NOT_ENOUGH_REPLICAS_AFTER_APPEND" if left else "NONE"
        return _both(by_rule, {"appended": True, "error": error})
    return _both(by_rule, {"appended": True, "error": "NONE"})


SERVES, REFUSES_FETCH = "leader_answers_fetch", "leader_refuses_fetch"
FENCED = "FENCED_LEADER_EPOCH"


def leader_epoch(question: Question) -> dict[str, Any]:
    """The answer to a fetch in a leader epoch, also by the steps of its receiver (KIP-320).

    They show who is served, and whose fetcher is fenced; other refusals look alike to them.
    """
    asked, by_rule = question["input"], rules.leader_epoch(question)
    if asked["request"] is None or not asked["fetchOnlyFromLeader"]:
        return ByRule(by_rule)  # a follower of the model names an epoch, and asks a leader
    epochs = Ranks([asked["current"], asked["request"]], first=1)
    bounds = {
        "brokers": 2, "log": 1, "records": 1, "epoch": epochs.last, "controllers": 1, "versions": 1,
    }  # fmt: skip
    steps = (SERVES, REFUSES_FETCH)
    stage = ModelStage.of("replication", question["release"], steps, bounds, **AS_RELEASED)
    follower, rank = LEADER + 1, epochs.of(asked["request"])
    slot = follower, LEADER
    state = stage.state({
        ("up", (LEADER,)): True, ("up", (follower,)): True,
        ("replica.role", (LEADER,)): "leader" if asked["isLeader"] else "follower",
        ("replica.epoch", (LEADER,)): epochs.of(asked["current"]),
        ("replica.role", (follower,)): "follower", ("replica.leader", (follower,)): LEADER,
        ("replica.epoch", (follower,)): rank,
        ("fetch.state", slot): "asks_records", ("fetch.epoch", slot): rank,
    })  # fmt: skip
    served = stage.step(SERVES, state, LEADER, follower)
    if served is not None:
        return _both(by_rule, {"error": "NONE"})
    refused = stage.step(REFUSES_FETCH, state, LEADER, follower)
    fenced = stage.read(refused, "fetch.state", *slot) == "given_up"
    if fenced != (by_rule["error"] == FENCED) or by_rule["error"] == "NONE":
        raise TwoAnswers(f"the rule says {by_rule['error']}, the steps that it is refused")
    return by_rule


def _both(by_rule: dict[str, Any], by_steps: dict[str, Any]) -> dict[str, Any]:
    if by_rule != by_steps:
        raise TwoAnswers(f"the rule says {by_rule}, the steps {by_steps}")
    return by_steps
