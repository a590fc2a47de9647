"""The map from implementation to model, as data: which step is which transition, field by field.

The default is one model step a step of the implementation. Every exception is a row here, with its
reason: steps the model does not see (*silent*), and steps whose outcome names the transition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Arguments = Mapping[str, int]


@dataclass(frozen=True)
class Row:
    """One step of the implementation.

    `parameters` name its arguments in order. `transitions` are the model's transitions that it may
    be, of which exactly one is possible in any state; `arguments` renames the arguments to the
    model's. `silent` says why the step may also change nothing that the model sees.
    """

    step: str
    parameters: tuple[str, ...]
    transitions: tuple[str, ...]
    arguments: Mapping[str, str]
    silent: str | None = None
    leader_of: str | None = None


def _row(
    step: str,
    parameters: str,
    *transitions: str,
    silent: str | None = None,
    leader_of: str | None = None,
    **renamed: str,
) -> Row:
    names = tuple(parameters.split())
    return Row(
        step,
        names,
        transitions,
        {name: renamed.get(name, name) for name in names},
        silent,
        leader_of,
    )


_OWN_ELECTION = "reading the epoch before a registration is a step of the system `election`"
_LOST = "a registration that lost the race changes nothing"

ROWS: dict[str, Row] = {
    row.step: row
    for row in (
        _row("broker_crashes", "broker", "broker_crashes"),
        _row("session_expires", "broker", "session_expires"),
        _row("broker_starts", "broker", "broker_starts"),
        _row("broker_reconnects", "broker", "broker_reconnects"),
        _row("broker_checkpoints_hw", "broker", "broker_checkpoints_hw"),
        _row("controller_reads_epoch", "broker", silent=_OWN_ELECTION),
        _row("controller_registers", "broker", "broker_becomes_controller", silent=_LOST),
        _row("controller_learns_outcome", "broker", "broker_learns_it_won", silent=_LOST),
        _row("controller_reply_is_lost", "broker", "reply_is_lost", silent=_LOST),
        _row(
            "controller_checks_outcome", "broker",
            "broker_learns_it_won", "broker_finds_it_moved", silent=_LOST,
        ),
        _row("controller_resigns", "broker", "controller_resigns"),
        _row("controller_node_is_deleted", "", "controller_node_is_deleted"),
        _row("controller_reads_partition", "broker", "controller_reads_partition"),
        _row(
            "controller_elects_leader", "broker leader",
            "controller_elects_leader", "controller_election_conflicts",
            "controller_election_is_fenced",
        ),
        _row(
            "controller_removes_replica", "broker replica",
            "controller_removes_replica", "controller_removal_conflicts",
            "controller_removal_is_fenced",
        ),
        _row("controller_informs", "broker replica", "controller_informs"),
        _row(
            "leader_and_isr_arrives", "broker leader_epoch controller_epoch",
            "broker_becomes_leader", "broker_becomes_follower", "leaderless_request_is_ignored",
            "older_controller_is_refused", "older_epoch_is_refused",
            leader_epoch="epoch", controller_epoch="controller",
        ),
        _row(
            "leader_and_isr_is_lost", "broker leader_epoch controller_epoch", "request_is_lost",
            leader_epoch="epoch", controller_epoch="controller",
        ),
        _row("leader_appends", "broker", "leader_appends"),
        _row("leader_appends_for_isr", "broker", "leader_appends_for_isr"),
        _row("leader_acknowledges", "broker offset", "leader_acknowledges"),
        _row("leader_acknowledges_for_isr", "broker offset", "leader_acknowledges_for_isr"),
        _row("consumer_reads", "broker offset", "consumer_reads"),
        _row("follower_asks_epoch", "broker", "follower_asks_epoch", leader_of="broker"),
        _row(
            "leader_answers_epoch", "leader follower",
            "leader_answers_epoch", "leader_refuses_epoch",
        ),
        _row(
            "follower_truncates", "follower leader",
            "follower_truncates", "epoch_answer_is_ignored",
        ),
        _row("follower_asks_records", "broker", "follower_asks_records", leader_of="broker"),
        _row(
            "leader_answers_fetch", "leader follower",
            "leader_answers_fetch", "leader_refuses_fetch",
        ),
        _row(
            "follower_appends", "follower leader",
            "follower_appends", "fetch_answer_is_ignored",
        ),
        _row("fetch_is_lost", "follower leader", "fetch_is_lost"),
        _row("leader_advances_hw", "broker", "leader_advances_hw"),
        _row("leader_shrinks_isr", "leader replica", "leader_shrinks_isr"),
        _row("leader_shrink_is_refused", "leader replica", "leader_shrink_is_refused"),
        _row("leader_expands_isr", "leader replica", "leader_expands_isr"),
        _row("leader_expand_is_refused", "leader replica", "leader_expand_is_refused"),
        _row("leader_learns_isr_is_written", "leader", "leader_learns_isr_is_written"),
        _row("isr_answer_is_lost", "leader", "isr_answer_is_lost"),
        _row(
            "leader_reads_isr_back", "leader",
            "leader_finds_isr_written", "leader_learns_isr_is_refused",
        ),
        _row("leader_gives_up_isr_write", "leader", "leader_gives_up_isr_write"),
    )
}  # fmt: skip
"""Implementation step -> its row."""

STEPS_OF: dict[str, list[Row]] = {}
"""Model transition -> the rows of the implementation steps that it may be."""
for _each in ROWS.values():
    for _transition in _each.transitions:
        STEPS_OF.setdefault(_transition, []).append(_each)

AS_RELEASED: dict[str, object] = {"lost_isr_answer_blocks": False}
"""What the claims of `replication` assume and no release that the implementation is written from
does: the partner in lock-step and in replay is the model without it."""

UNOBSERVED: dict[str, str] = {
    "elected": "history: the implementation keeps it only inside the requests in flight",
    "committed.end": "ghost",
    "committed.at.id": "ghost",
    "committed.at.epoch": "ghost",
    "committed_twice": "ghost",
    "gave_up": "ghost",
    "acks": "ghost",
    "acknowledged": "ghost",
    "read.done": "ghost",
    "read.id": "ghost",
    "read.epoch": "ghost",
    "read_differed": "ghost",
    "spent.crashes": "a budget of the explorer",
    "spent.expiries": "a budget of the explorer",
    "spent.losses": "a budget of the explorer",
}
"""Model fields that no observation shows, with the reason."""

Facts = dict[tuple[str, tuple[int, ...]], int]
"""(field, index) -> code; what is blank is left out."""

_SLOTS = {
    "idle": 0, "asked_epoch": 1, "answered_epoch": 2, "asked_records": 3, "answered_records": 4,
}  # fmt: skip
_APPLIED, _REFUSED = 1, 2
_ROLES = {"none": 0, "leader": 1, "follower": 2}


class _Facts:
    """Collects facts; a value equal to the blank one is not a fact."""

    def __init__(self) -> None:
        self.found: Facts = {}

    def put(self, field: str, index: tuple[int, ...], code: int | bool, blank: int = 0) -> None:
        if int(code) != blank:
            self.found[field, index] = int(code)

    def members(self, field: str, index: tuple[int, ...], members: Any) -> None:
        for member in members:
            self.found[field, (*index, int(member))] = 1


def abstract(observation: Mapping[str, Any]) -> Facts:
    """An observation of the implementation as facts of the model's `replication`."""
    facts = _Facts()
    zookeeper = observation["zookeeper"]
    _zookeeper(facts, zookeeper)
    for broker, seen in observation["brokers"].items():
        _broker(facts, int(broker), seen)
        _office(facts, int(broker), seen)
        _cache(facts, int(broker), seen["controller"]["cached"], zookeeper)
    for request in observation["network"]["leader_and_isr"]:
        where = (request["leader_epoch"], request["controller_epoch"], request["target"])
        facts.put("request.in_flight", where, True)
        facts.members("request.isr", where, request["isr"])
        facts.put("request.version", where, request["zk_version"])
    for follower, slots in observation["network"]["fetch"].items():
        for leader, slot in slots.items():
            _slot(facts, (int(follower), int(leader)), slot)
    facts.put("next_record", (), observation["next_record"])
    return facts.found


def _zookeeper(facts: _Facts, seen: Mapping[str, Any]) -> None:
    state = seen["state"]
    facts.put("zk.controller", (), seen["controller"] or 0)
    facts.put("zk.epoch", (), seen["controller_epoch"])
    facts.members("zk.registered", (), seen["registered"])
    facts.put("zk.leader", (), max(state["leader"], 0))
    facts.put("zk.leader_epoch", (), state["leader_epoch"])
    facts.members("zk.isr", (), state["isr"])
    facts.put("zk.state_epoch", (), state["controller_epoch"])
    facts.put("zk.version", (), state["version"])


def _broker(facts: _Facts, broker: int, seen: Mapping[str, Any]) -> None:
    at = (broker,)
    if seen["up"]:
        facts.members("up", (), [broker])
    facts.put("replica.role", at, _ROLES[seen["role"]])
    facts.put("replica.leader", at, max(seen["leader"], 0))
    facts.put("replica.epoch", at, seen["leader_epoch"], blank=-1)
    facts.members("replica.isr", at, seen["isr"])
    # Without a role the implementation says -1 where the model keeps its blank value.
    facts.put("replica.zk_version", at, max(seen["zk_version"], 0))
    facts.put("replica.epoch_start", at, max(seen["epoch_start"], 0))
    facts.put("replica.controller_epoch", at, seen["seen_controller_epoch"])
    cache = seen["epoch_cache"]
    facts.put("replica.latest_epoch", at, cache[-1][0] if cache else -1, blank=-1)
    facts.put("replica.truncating", at, seen["truncating"])
    facts.put("replica.hw", at, seen["hw"])
    facts.put("replica.checkpoint", at, seen["checkpoint"])
    if seen["role"] == "leader":  # what a former leader still remembers means nothing
        for other, end in seen["known_end"].items():
            facts.put("known_end", (broker, int(other)), end, blank=-1)
    if (write := seen["isr_write"]) is not None:
        facts.put("isr_write.state", at, _REFUSED if write["version"] is None else _APPLIED)
        facts.members("isr_write.isr", at, write["isr"])
        facts.put("isr_write.state_epoch", at, write["controller_epoch"])
        facts.put("isr_write.version", at, write["version"] or 0)
    facts.put("log.end", at, len(seen["log"]))
    for offset, (record, epoch) in enumerate(seen["log"]):
        facts.put("log.at.id", (broker, offset), record)
        facts.put("log.at.epoch", (broker, offset), epoch)


def _office(facts: _Facts, broker: int, seen: Mapping[str, Any]) -> None:
    inside = seen["controller"]
    if inside["won"]:
        facts.put("campaign", (broker,), inside["read"][0] + 1)
        facts.put("reply_lost", (broker,), inside["reply"] == "lost")
    facts.put("belief", (broker,), seen["believes"] or 0)


def _cache(
    facts: _Facts, broker: int, cached: Mapping[str, Any] | None, zookeeper: Mapping[str, Any]
) -> None:
    if cached is None:
        return
    at = (broker,)
    facts.put("cache.held", at, True)
    facts.put("cache.leader", at, max(cached["leader"], 0))
    facts.members("cache.isr", at, cached["isr"])
    facts.put("cache.version", at, cached["version"])
    facts.members("cache.live", at, cached["live"])
    current = {int(other): epoch for other, epoch in zookeeper["broker_epochs"].items()}
    reached = [other for other, epoch in cached["live"].items() if current.get(int(other)) == epoch]
    facts.members("cache.reached", at, reached)


def _slot(facts: _Facts, at: tuple[int, int], slot: Mapping[str, Any]) -> None:
    state = slot["slot"]
    facts.put("fetch.state", at, _SLOTS[state])
    if state == "idle":
        return
    facts.put("fetch.epoch", at, slot["leader_epoch"], blank=-1)
    if state == "asked_epoch":
        facts.put("fetch.last_epoch", at, slot["epoch"], blank=-1)
    elif state == "answered_epoch":
        facts.put("fetch.answer_epoch", at, slot["epoch"], blank=-1)
        facts.put("fetch.answer_end", at, slot["end"], blank=-1)
    else:
        facts.put("fetch.offset", at, slot["offset"])
    if state == "answered_records":
        facts.put("fetch.hw", at, slot["hw"])
        if slot["record"] is not None:
            facts.put("fetch.has_record", at, True)
            facts.put("fetch.id", at, slot["record"][0])
            facts.put("fetch.record_epoch", at, slot["record"][1])


def model_arguments(
    row: Row, arguments: Arguments, leader_of: Callable[[int], int]
) -> dict[str, int]:
    """An implementation step's arguments as the model's, by the model's names."""
    renamed = {row.arguments[name]: value for name, value in arguments.items()}
    if row.leader_of is not None:
        renamed["leader"] = leader_of(arguments[row.leader_of])
    return renamed


def implementation_arguments(row: Row, arguments: Arguments) -> tuple[int, ...]:
    """A model transition's arguments as the implementation step's, in its order."""
    return tuple(arguments[row.arguments[name]] for name in row.parameters)
