"""The model's answers about a follower's fetcher, round by round.

Two brokers of `replication` are set to the state of a test vector, and the fetcher's steps follow
`AbstractFetcherThread.doWork`: one OffsetForLeaderEpoch request, then one fetch. A Kafka fetch
returns a batch and a fetch of the model one record, so a batch is fetched record by record. Epochs
are replaced by ranks; offsets are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.mapping import AS_RELEASED
from conformance.vectors.model.stage import ModelStage, Place, Ranks
from conformance.vectors.questions import NotInModel
from impl.releases import Release

Question = Mapping[str, Any]

FOLLOWER, LEADER = 1, 2
LONGEST = 8
UNKNOWN = -1
"""An epoch, or its end, that a leader does not know."""
MOST_ROUNDS = 20
BOUNDS = {
    "brokers": 2, "log": LONGEST, "records": 2 * LONGEST, "epoch": 9, "controllers": 1,
    "versions": 1,
}  # fmt: skip
STEPS = (
    "follower_sends_epoch_request", "leader_answers_epoch", "leader_refuses_epoch",
    "follower_truncates",
    "epoch_answer_is_ignored", "follower_sends_fetch", "leader_answers_fetch",
    "leader_refuses_fetch", "follower_appends", "fetch_answer_is_ignored", "fetch_is_lost",
    "broker_becomes_follower", "older_epoch_is_refused",
)  # fmt: skip
SLOT = (FOLLOWER, LEADER)

_BOTH_SIDES = {
    "op", "follower", "leader", "thenLeaderEpoch", "leaderEpochs", "corruptFirstFetch",
    "readdWithFetchOffset", "offsetErrors",
}  # fmt: skip
_ALONE = {"op", "follower", "offsetErrors"}
_ANEW = {"op", "followerEpochs", "leaderEpoch", "leader", "offsetErrors"}
ASKS_NOBODY = "up to 0.10 followers send no OffsetForLeaderEpoch"
BEYOND = "a follower of the model that is beyond its leader's log asks again, and does not cut it"
REMOVED = {
    "removedDuringTruncation": "epoch", "removedDuringEpochFetch": "epoch",
    "removedDuringFetch": "records",
}  # fmt: skip
"""Inputs that say that the partition is removed, and the request that is in flight then."""


def is_about_two_logs(given: Mapping[str, Any]) -> bool:
    """The vector gives both logs from offset 0, and only inputs that the model has."""
    if given.get("offsetErrors"):
        return False
    given = {name: one for name, one in given.items() if name not in ("topic", "partition", "note")}
    if given.keys() <= _ANEW and "followerEpochs" in given:
        return True
    follower, leader = given.get("follower", {}), given.get("leader", {})
    if _is_without_leader(given):
        return _is_known(follower)
    if not given.keys() <= _BOTH_SIDES or not {"follower", "leader"} <= given.keys():
        return False
    return _is_known(follower) and _is_known(leader)


def _is_without_leader(given: Mapping[str, Any]) -> bool:
    """The follower has no epoch to ask about, or its partition is removed while a request is in
    flight."""
    asks = {name for name, said in given.items() if name in REMOVED and said}
    silent = {name for name, said in given.items() if name.endswith("Supported") and not said}
    knows_none = "latestEpoch" in given and given["latestEpoch"] is None
    words = {*_ALONE, *asks, *silent, "latestEpoch"}
    return given.keys() <= words and (bool(asks) or ("follower" in given and knows_none))


def _is_known(side: Any) -> bool:
    if not isinstance(side, Mapping) or not side.keys() <= {"log", "epoch", "hw", "logStart"}:
        return False
    log = side.get("log") or []
    begins = side.get("logStart") or 0
    return begins == 0 and (not log or log[0][0] == 0) and sum(one[2] for one in log) <= LONGEST


def _records(log: list[list[int]]) -> list[tuple[int, int, int]]:
    """(epoch, base offset of its batch, size of its batch) of each record."""
    return [(epoch, base, count) for base, epoch, count in log for _ in range(count)]


class ModelFetcher:
    """A follower and its leader, in a state of the model."""

    def __init__(
        self, question: Question, follower: Mapping[str, Any], leader: Mapping[str, Any],
        leader_epochs: list[int], latest: int | None = None,
    ) -> None:  # fmt: skip
        mine, theirs = (_records(one.get("log") or []) for one in (follower, leader))
        epoch = follower.get("epoch") or 0
        named = {epoch, *leader_epochs, *(one[0] for one in (*mine, *theirs))}
        named |= set() if latest is None else {latest}
        self.epochs = Ranks({*named, epoch + 1}, first=1)
        self.leader_log = [list(batch) for batch in leader.get("log") or []]
        self.stage = ModelStage.of("replication", question["release"], STEPS, BOUNDS, **AS_RELEASED)
        release = Release.of(question["release"])
        self.asks_epochs, self.enters_at_once = release.since("0.11"), release.since("2.0.1")
        self.batches: list[tuple[int, int, int]] = sorted({*mine, *theirs})
        hw = follower.get("hw")
        cells: dict[Place, object] = {
            ("up", (FOLLOWER,)): True,
            ("up", (LEADER,)): True,
            ("replica.role", (FOLLOWER,)): "follower",
            ("replica.leader", (FOLLOWER,)): LEADER,
            ("replica.epoch", (FOLLOWER,)): self.epochs.of(epoch),
            ("replica.truncating", (FOLLOWER,)): self.asks_epochs,
            ("replica.hw", (FOLLOWER,)): min(hw or 0, len(mine)),
            ("replica.role", (LEADER,)): "leader",
            ("replica.leader", (LEADER,)): LEADER,
            ("replica.hw", (LEADER,)): leader.get("hw") or 0,
            ("known_end", (LEADER, FOLLOWER)): None,
        }
        for broker, log in ((FOLLOWER, mine), (LEADER, theirs)):
            cells["log.end", (broker,)] = len(log)
            newest = self.epochs.of(log[-1][0]) if log else None
            cells["replica.latest_epoch", (broker,)] = newest
            for offset, batch in enumerate(log):
                cells["log.at.epoch", (broker, offset)] = self.epochs.of(batch[0])
                cells["log.at.id", (broker, offset)] = self.batches.index(batch)
        if latest is not None:
            cells["replica.latest_epoch", (FOLLOWER,)] = self.epochs.of(latest)
        self.now = self.stage.state(cells)
        self.truncations, self.loses = 0, False
        self.truncated_to: int | None = None
        self.leads_in(leader_epochs[0])

    def leads_in(self, epoch: int) -> None:
        """The leader receives an epoch, and caches it at once since 2.0.1 (KAFKA-7415)."""
        rank = self.epochs.of(epoch)
        cells: dict[Place, object] = {("replica.epoch", (LEADER,)): rank}
        newest = self.read("replica.latest_epoch", LEADER)
        if self.enters_at_once and newest is not None and newest < rank:
            cells["replica.latest_epoch", (LEADER,)] = rank
        self.now = self.stage.state(cells, self.now)

    def follows_in(self, epoch: int) -> None:
        """The follower receives a LeaderAndIsr with a newer leader epoch: it must truncate again
        before it fetches."""
        self.now = self.stage.state(
            {
                ("replica.epoch", (FOLLOWER,)): self.epochs.of(epoch),
                ("replica.truncating", (FOLLOWER,)): True,
            },
            self.now,
        )

    def read(self, name: str, *index: int) -> Any:
        """A cell."""
        return self.stage.read(self.now, name, *index)

    def either(self, *steps: tuple[str, int, int]) -> str:
        """Takes the one of these steps that is possible."""
        for name, one, other in steps:
            after = self.stage.step(name, self.now, one, other)
            if after is not None:
                self.now = after
                if name == "follower_truncates":
                    self.truncations += 1
                    self.truncated_to = self.read("log.end", FOLLOWER)
                return name
        raise AssertionError(f"none of {', '.join(name for name, *_ in steps)} is possible")

    # Rounds

    @property
    def has_failed(self) -> bool:
        """Whether its fetcher waits for a LeaderAndIsr after a failure."""
        return bool(self.read("fetch.state", *SLOT) == "given_up")

    def ask(self) -> None:
        """Send OffsetForLeaderEpoch for the last epoch of the log."""
        if not self.asks_epochs:
            raise NotInModel(ASKS_NOBODY)
        self.either(("follower_sends_epoch_request", *SLOT))

    def hear(self) -> None:
        """Deliver OffsetForLeaderEpoch and its response."""
        said = self.either(
            ("leader_answers_epoch", LEADER, FOLLOWER), ("leader_refuses_epoch", LEADER, FOLLOWER)
        )
        if said == "leader_answers_epoch":
            self.either(("follower_truncates", *SLOT), ("epoch_answer_is_ignored", *SLOT))

    def round(self) -> None:
        """One `doWork`: truncate if the partition is in state Truncating, then fetch if it is in
        state Fetching."""
        if not self.has_failed and self.read("replica.truncating", FOLLOWER):
            self.ask()
            self.hear()
        if self.has_failed or self.read("replica.truncating", FOLLOWER):
            return
        begin = self.read("log.end", FOLLOWER)
        batch = next((one for one in self.leader_log if begin < one[0] + one[2]), [begin, 0, 1])
        for _ in range(batch[0] + batch[2] - begin):
            self.either(("follower_sends_fetch", *SLOT))
            said = self.either(
                ("leader_answers_fetch", LEADER, FOLLOWER),
                ("leader_refuses_fetch", LEADER, FOLLOWER),
            )
            if said == "leader_refuses_fetch":
                if self.read("log.end", LEADER) < self.read("log.end", FOLLOWER):
                    raise NotInModel(BEYOND)
                break
            if self.loses:
                self.either(("fetch_is_lost", *SLOT))
                break
            self.either(("follower_appends", *SLOT), ("fetch_answer_is_ignored", *SLOT))

    def knows_no_epoch(self) -> None:
        """The follower has no epoch: it truncates to its high watermark, as after an undefined
        response."""
        if self.asks_epochs:
            self.now = self.stage.state(
                {
                    ("replica.latest_epoch", (FOLLOWER,)): None,
                    ("fetch.state", SLOT): "epoch_is_answered",
                    ("fetch.epoch", SLOT): self.read("replica.epoch", FOLLOWER),
                },
                self.now,
            )
            self.either(("follower_truncates", *SLOT))
        else:  # up to 0.10 nobody is asked; it cuts as it begins to follow
            self.ordered(self.read("replica.epoch", FOLLOWER) + 1, "broker_becomes_follower")
            self.truncated_to = self.read("log.end", FOLLOWER)

    def ordered(self, rank: int, does: str) -> None:
        """Deliver a LeaderAndIsr that makes it a follower in this epoch."""
        self.now = self.stage.state(
            {("elected", (rank,)): LEADER, ("request.in_flight", (rank, 1, FOLLOWER)): True},
            self.now,
        )
        after = self.stage.step(does, self.now, FOLLOWER, rank, 1)
        assert after is not None, f"{does} is possible"
        self.now = after

    def removed(self) -> None:
        """The partition is removed from it, and from its broker."""
        self.now = self.stage.state({("replica.role", (FOLLOWER,)): "none"}, self.now)

    def log(self) -> list[list[int]]:
        """The follower's log, by batches."""
        found: list[list[int]] = []
        for offset in range(self.read("log.end", FOLLOWER)):
            epoch, base, _ = self.batches[self.read("log.at.id", FOLLOWER, offset)]
            if found and found[-1][:2] == [base, epoch]:
                found[-1][2] += 1
            else:
                found.append([base, epoch, 1])
        return found

    def observe(self) -> dict[str, Any]:
        """The follower's present state."""
        failed, truncating = self.has_failed, self.read("replica.truncating", FOLLOWER)
        follows = self.read("replica.role", FOLLOWER) == "follower"
        epoch = self.epochs.value(self.read("replica.epoch", FOLLOWER))
        return {
            "leo": self.read("log.end", FOLLOWER),
            "hw": self.read("replica.hw", FOLLOWER),
            "logStart": 0,
            "log": self.log(),
            "tracked": follows and not failed,
            "truncations": self.truncations,
            "truncateTo": self.truncated_to,
            "failed": failed,
            "state": None if failed else "Truncating" if truncating else "Fetching",
            "currentLeaderEpoch": None if failed else epoch,
            "fetchOffset": None if failed else self.read("log.end", FOLLOWER),
            "ready": not failed and not truncating,
        }


def scenario(question: Question) -> dict[str, Any]:
    """Answers a fetcher vector; its inputs select the scenario."""
    asked = question["input"]
    if "followerEpochs" in asked:
        return _follows_anew_meanwhile(question)
    if _is_without_leader(asked):
        return _without_leader(question)
    follower, leader = asked["follower"], asked["leader"]
    first = leader.get("epoch") or 0
    later = asked.get("leaderEpochs") or [
        one for one in (asked.get("thenLeaderEpoch"),) if one is not None
    ]
    fetcher = ModelFetcher(question, follower, leader, [first, *later])
    if asked.get("leaderEpochs"):
        seen = []
        for epoch in later:
            fetcher.leads_in(epoch)
            fetcher.round()
            seen.append(fetcher.observe())
        return {name: [one[name] for one in seen] for name in ("leo", "state", "hw")}
    if asked.get("corruptFirstFetch"):
        return _throws_first_answer_away(fetcher)
    fetcher.round()
    before = fetcher.observe()
    if "readdWithFetchOffset" in asked:  # in the epoch in which it follows already
        fetcher.ordered(fetcher.read("replica.epoch", FOLLOWER), "older_epoch_is_refused")
        fetcher.round()
        return {"afterRound1": before, "afterReaddRound": fetcher.observe()}
    if later:
        fetcher.leads_in(later[0])
        fetcher.round()
        after = fetcher.observe()
        return after | {"leoBeforeBump": before["leo"], "round1": before, "round2": after}
    for _ in range(MOST_ROUNDS):
        if fetcher.log() == fetcher.leader_log:
            break
        fetcher.round()
    now = fetcher.observe() if len(follower.get("log") or ()) > 1 else before
    return now | {"finalLog": fetcher.log()}


def _without_leader(question: Question) -> dict[str, Any]:
    """A follower that gets no response: it has no epoch, or its partition is removed while the
    request is in flight."""
    asked = question["input"]
    follower = asked.get("follower", {})
    epoch = follower.get("epoch") or 0
    fetcher = ModelFetcher(question, follower, follower | {"epoch": epoch}, [epoch])
    under_way = next((what for name, what in REMOVED.items() if asked.get(name)), None)
    if under_way is None:
        fetcher.knows_no_epoch()
    elif under_way == "epoch":
        fetcher.ask()
        fetcher.removed()
        fetcher.hear()
    else:
        fetcher.now = fetcher.stage.state({("replica.truncating", (FOLLOWER,)): False}, fetcher.now)
        fetcher.either(("follower_sends_fetch", *SLOT))
        fetcher.removed()
        fetcher.either(("leader_answers_fetch", LEADER, FOLLOWER))
        fetcher.either(("fetch_answer_is_ignored", *SLOT))
    return fetcher.observe()


def _throws_first_answer_away(fetcher: ModelFetcher) -> dict[str, Any]:
    """The first response has a corrupt batch: the follower fetches it again."""
    ends = []
    for fetcher.loses in (True, False):
        fetcher.round()
        ends.append(fetcher.read("log.end", FOLLOWER))
    return fetcher.observe() | {"leoAfterRound": ends}


def _follows_anew_meanwhile(question: Question) -> dict[str, Any]:
    """A LeaderAndIsr with a newer epoch arrives while the follower's OffsetForLeaderEpoch request
    is in flight."""
    asked = question["input"]
    first, second = asked["followerEpochs"]
    epoch = asked.get("leaderEpoch", first)
    fetcher = ModelFetcher(question, {"epoch": first}, asked["leader"], [epoch, second])
    fetcher.ask()
    fetcher.follows_in(second)
    fetcher.hear()
    after = fetcher.observe()
    fetcher.leads_in(second)
    for _ in range(MOST_ROUNDS):
        fetcher.round()
    equal = fetcher.log() == fetcher.leader_log
    words = "logs equal" if equal else "logs differ"
    final = {**fetcher.observe(), "finalLog": fetcher.log()}
    return {**final, "afterRound1": after, "afterRound2": words}


REFUSALS = {"FENCED_LEADER_EPOCH": "newer", "UNKNOWN_LEADER_EPOCH": "older"}
"""What a leader's refusal says of its epoch; with any other error it does not lead."""


def fetch_state(question: Question) -> dict[str, Any]:
    """A follower's fetch state before and after its leader's answer or refusal."""
    asked = question["input"]
    error, reply = asked.get("error") or "NONE", asked["reply"]
    ends = Ranks([0, asked.get("followerLeo", 0), max(reply[1], 0)])
    end = ends.of(asked.get("followerLeo", 0))
    fetcher = _of_one_epoch(question, asked["latestEpoch"], end, error, reply[0])
    before = fetcher.observe()["state"]
    _hears(fetcher, asked["latestEpoch"], error, [reply[0], ends.of(max(reply[1], 0))])
    seen = fetcher.observe()
    return {
        "before": before, "after": seen["state"],
        "truncateTo": ends.value(seen["leo"]) if error == "NONE" or seen["ready"] else None,
        "tracked": seen["tracked"], "failed": seen["failed"],
    }  # fmt: skip


def _of_one_epoch(
    question: Question, latest: int | None, end: int, error: str, answered: int = UNKNOWN
) -> ModelFetcher:
    """A follower whose log is of one epoch, and a leader that answers, or has an error to say."""
    last = 0 if latest is None else latest
    log = [[0, last, end]] if end else []
    epoch = last + 1
    leads = {"newer": epoch + 1, "older": epoch - 1}.get(REFUSALS.get(error, ""), epoch)
    named = [leads] if answered == UNKNOWN else [leads, answered]
    fetcher = ModelFetcher(
        question, {"log": log, "epoch": epoch}, {"log": log, "hw": end}, named, last
    )
    if error != "NONE" and error not in REFUSALS:
        role: Place = ("replica.role", (LEADER,))
        fetcher.now = fetcher.stage.state({role: "none"}, fetcher.now)
    return fetcher


def _hears(fetcher: ModelFetcher, latest: int | None, error: str, reply: list[int]) -> None:
    """It asks, if it knows an epoch, and hears this."""
    if latest is None:
        fetcher.knows_no_epoch()
        return
    fetcher.ask()
    if error != "NONE":
        fetcher.either(("leader_refuses_epoch", LEADER, FOLLOWER))
        return
    cells: dict[Place, object] = {
        ("fetch.state", SLOT): "epoch_is_answered",
        ("fetch.answer_epoch", SLOT): None if reply[0] < 0 else fetcher.epochs.of(reply[0]),
        ("fetch.answer_end", SLOT): None if reply[1] < 0 else min(reply[1], LONGEST),
    }
    fetcher.now = fetcher.stage.state(cells, fetcher.now)
    fetcher.either(("follower_truncates", *SLOT))


def loops(question: Question) -> dict[str, Any]:
    """How often a thread requests epochs and records in so many rounds."""
    asked = question["input"]
    epochs, errors = asked["partitionsLatestEpoch"], asked["errors"]
    replies = {name: asked["reply"].get(name, [UNKNOWN, UNKNOWN]) for name in epochs}
    fetchers = {
        name: _of_one_epoch(
            question, latest, LONGEST // 2, errors.get(name, "NONE"), replies[name][0]
        )
        for name, latest in sorted(epochs.items())
    }
    questions, fetches = [0], [0]
    for _ in range(asked["loops"]):
        compare = {
            name: one for name, one in fetchers.items() if one.read("replica.truncating", FOLLOWER)
        }
        for name, one in compare.items():
            _hears(one, epochs[name], errors.get(name, "NONE"), replies[name])
        questions.append(questions[-1] + any(epochs[name] is not None for name in compare))
        fetches.append(fetches[-1] + any(one.observe()["ready"] for one in fetchers.values()))
    return {
        "epochFetchCount": questions[1:], "fetchCount": fetches[1:],
        "truncations": sum(one.truncations for one in fetchers.values()),
    }  # fmt: skip


def epoch_fetches(question: Question) -> dict[str, Any]:
    """Whether epochs are requested separately, before the first fetch."""
    if not question["input"].get("epochRequestSupported", True):
        fetcher = _of_one_epoch(question, None, 1, "NONE")
        fetcher.knows_no_epoch()
        return {"epochFetchCountAfterFirstLoop": int(not fetcher.observe()["ready"])}
    both = {"log": [[0, 4, 1]], "epoch": 5, "hw": 1}
    fetcher = ModelFetcher(question, both, both, [5])
    asks = bool(fetcher.read("replica.truncating", FOLLOWER))
    fetcher.round()
    return {"epochFetchCountAfterFirstLoop": int(asks)}
