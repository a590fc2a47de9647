"""The map of `replication`: which step is which transition, field by field.

By default a step of the implementation is a step of the model. Every exception is a row here, with
its reason: steps the model does not see (*silent*), and steps whose outcome names the transition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from conformance.mapping.rows import Facts, FactTable, Family, PossibleNow, StepRow, SystemMap, row
from impl.core.partition import UNKNOWN_END
from impl.releases import DEFAULT, Release
from impl.sim.simulation import Step
from impl.world.cluster import PartitionCluster
from impl.world.disk_failures import FAILING_DISKS
from impl.world.observation import observe
from impl.world.partition_steps import partition_cluster

_OWN_ELECTION = "reading the epoch before a registration is a step of the system `election`"
_LOST = "a registration that lost the race changes nothing"

_ANY = (
    "any controller that obeys the fences: it reads, elects and writes by the code that serves, "
    "and when it does, and which of those that may lead it elects, is open"
)
_HANDLER = (
    "a handler of a fetch notes it, takes the follower into the ISR and raises the high watermark "
    "in three critical sections, and others run between them: here one always stands after the "
    "first, so that the model's retry needs no further fetch"
)
_ALONE = (
    "the periodic look comes when this follower alone has lagged for too long; Kafka drops several "
    "in one write, which the model has as several"
)
_IDLE = (
    "up to 2.0 a follower that has all there is, and has not fetched for long, is dropped as well: "
    "in the model only who is behind is"
)
_LOCK = (
    "what changes the partition waits on its way while an ISR write holds the lock, and what is "
    "refused for its epoch does not; every broker knows all the others as alive, so that only a "
    "request without a leader finds none"
)
_AT_ONCE = (
    "a refusal arrives at once; where it says that the leader is in a newer epoch, the fetcher "
    "waits for a LeaderAndIsr"
)
_SESSION = (
    "a fetcher has one session for all partitions that it follows at a leader: whether a fetch is "
    "the first of one, and fenced, is open"
)
_HOSTED = "a process hosts the partition from its start, as after a request without a leader"


def _if_lagging(transition: str) -> PossibleNow:
    """The model's leader drops a follower only if its log ends before the leader's."""

    def possible_now(
        world: PartitionCluster, leader: int, replica: int
    ) -> tuple[tuple[str, ...], dict[str, int]]:
        partition = world.hosts[leader].partition
        has_all = partition.follower_state(replica).end == partition.log_end
        return (() if has_all else (transition,)), {}

    return possible_now


ROWS: dict[str, StepRow] = {
    one.step: one
    for one in (
        row("broker_crashes", "broker", "broker_crashes"),
        row("session_expires", "broker", "session_expires"),
        row("broker_starts", "broker", "broker_starts", why=_HOSTED),
        row("broker_reconnects", "broker", "broker_reconnects"),
        row("broker_checkpoints_hw", "broker", "broker_checkpoints_hw"),
        row("controller_reads_epoch", "broker", silent=_OWN_ELECTION),
        row("controller_registers", "broker", "broker_becomes_controller", silent=_LOST),
        row("controller_learns_outcome", "broker", "broker_learns_it_won", silent=_LOST),
        row("controller_reply_to_registration_is_lost", "broker", "reply_to_registration_is_lost",
            silent=_LOST),
        row(
            "controller_checks_outcome", "broker",
            "broker_learns_it_won", "broker_loses_controller_election", silent=_LOST,
        ),
        row("controller_resigns", "broker", "controller_resigns"),
        row("controller_node_is_deleted", "", "controller_node_is_deleted"),
        row("controller_reads_partition", "broker", "controller_reads_partition"),
        row(
            "controller_elects_leader", "broker leader",
            "controller_elects_leader", "controller_election_conflicts",
            "controller_election_is_fenced", why=_ANY,
        ),
        row(
            "controller_removes_replica", "broker replica",
            "controller_removes_replica", "controller_removal_conflicts",
            "controller_removal_is_fenced", why=_ANY,
        ),
        row("controller_issues_leader_and_isr", "broker replica",
            "controller_issues_leader_and_isr", why=_ANY),
        row(
            "leader_and_isr_arrives", "broker leader_epoch controller_epoch",
            "broker_becomes_leader", "broker_becomes_follower", "leaderless_request_is_ignored",
            "older_controller_is_refused", "older_epoch_is_refused",
            why=_LOCK, leader_epoch="epoch", controller_epoch="controller",
        ),
        row(
            "leader_and_isr_is_lost", "broker leader_epoch controller_epoch",
            "leader_and_isr_is_lost", leader_epoch="epoch", controller_epoch="controller",
        ),
        row("leader_appends", "broker", "leader_appends"),
        row("leader_appends_acks_all", "broker", "leader_appends_acks_all"),
        row("leader_acknowledges", "broker offset", "leader_acknowledges"),
        row("leader_acknowledges_acks_all", "broker offset", "leader_acknowledges_acks_all"),
        row("consumer_reads", "broker offset", "consumer_reads"),
        row("follower_sends_epoch_request", "broker", "follower_sends_epoch_request",
            leader_of="broker"),
        row(
            "leader_answers_epoch", "leader follower",
            "leader_answers_epoch", "leader_refuses_epoch", why=_AT_ONCE,
        ),
        row(
            "follower_truncates", "follower leader",
            "follower_truncates", "epoch_answer_is_ignored",
        ),
        row("follower_sends_fetch", "broker", "follower_sends_fetch", leader_of="broker"),
        row(
            "leader_answers_fetch", "leader follower",
            "leader_answers_fetch", "leader_refuses_fetch", why=_AT_ONCE,
        ),
        row(
            "leader_answers_fetch_in_session", "leader follower",
            "leader_answers_fetch_in_session", why=_SESSION,
        ),
        row(
            "follower_appends", "follower leader",
            "follower_appends", "fetch_answer_is_ignored",
        ),
        row("fetch_is_lost", "follower leader", "fetch_is_lost"),
        row("leader_advances_hw", "broker", "leader_advances_hw", why=_HANDLER),
        row(
            "leader_shrinks_isr", "leader replica", "leader_shrinks_isr",
            possible_now=_if_lagging("leader_shrinks_isr"),
            why=f"{_ALONE}; {_IDLE}",
        ),
        row(
            "leader_shrink_is_refused", "leader replica", "leader_shrink_is_refused",
            possible_now=_if_lagging("leader_shrink_is_refused"),
            why=f"{_ALONE}; {_IDLE}",
        ),
        row("leader_expands_isr", "leader replica", "leader_expands_isr", why=_HANDLER),
        row(
            "leader_expand_is_refused", "leader replica", "leader_expand_is_refused", why=_HANDLER,
        ),
        row("leader_learns_isr_is_written", "leader", "leader_learns_isr_is_written"),
        row("isr_answer_is_lost", "leader", "isr_answer_is_lost"),
        row(
            "leader_reads_isr_back", "leader",
            "leader_finds_isr_written", "leader_learns_isr_is_refused",
        ),
        row("leader_gives_up_isr_write", "leader", "leader_gives_up_isr_write"),
    )
}  # fmt: skip
"""Implementation step -> its row."""

AS_RELEASED: dict[str, object] = {  # the last three are no better than a release, but simpler
    "lost_isr_answer_blocks": False,
    "follower_ends_reset_on_election": False,
    "fenced_fetchers_go_on": False,
    "empty_logs_fetch": False,
    "isr_writes_name_newest": False,
}
"""What the claims of `replication` assume and no release that the implementation is written from
does: in lock-step and in replay the model is without it."""

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
    "isr_write.state_epoch": "Kafka's write names what registered the leader epoch, and so does "
    "any other of that epoch: nothing depends on it",
    "spent.crashes": "a budget of the explorer",
    "spent.expiries": "a budget of the explorer",
    "spent.losses": "a budget of the explorer",
}
"""Model fields that no observation shows, with the reason."""

_SLOTS = {
    "idle": 0, "asked_epoch": 1, "answered_epoch": 2, "asked_records": 3, "answered_records": 4,
    "fenced": 5,
}  # fmt: skip
_APPLIED, _REFUSED = 1, 2
_ROLES = {"none": 0, "leader": 1, "follower": 2}


def abstract(observation: Mapping[str, Any], release: Release | None = None) -> Facts:
    """An observation of the implementation as facts of the model's `replication`.

    `release` is that of the world, by default the newest: see `section_facts`.
    """
    facts = FactTable()
    for put in section_facts(observation, release).values():
        put(facts)
    return facts.found


def section_facts(
    observation: Mapping[str, Any], release: Release | None = None
) -> dict[str, Callable[[FactTable], None]]:
    """The independent parts of an observation, each with what puts its facts into a table.

    Up to 2.1 a controller's requests reach the broker with a given id, whatever registration they
    were made for (KIP-380). Up to 0.10 a log stores no epochs: its last record has the epoch.

    A part is named by the prefix of its leaves' paths; the caches of the controllers, which are
    compared with the registrations, are parts of their own. The observation may change in place.
    """
    zookeeper, network = observation["zookeeper"], observation["network"]
    fenced = release is None or release.since("2.2")
    has_epochs = release is None or release.since("0.11")
    found: dict[str, Callable[[FactTable], None]] = {
        "zookeeper": lambda facts: _zookeeper(facts, zookeeper),
        "network.leader_and_isr": lambda facts: _requests(facts, network["leader_and_isr"]),
        "next_record": lambda facts: facts.put("next_record", (), observation["next_record"]),
    }

    def of_broker(broker: int, seen: Mapping[str, Any]) -> None:
        inside = seen["controller"]
        found[f"brokers.{broker}"] = lambda facts: _broker(facts, broker, seen)
        found[f"brokers.{broker}.log"] = lambda facts: _log(facts, broker, seen["log"])
        if not has_epochs:
            found[f"brokers.{broker}.latest_epoch"] = lambda facts: _last(
                facts, broker, seen["log"]
            )
        found[f"brokers.{broker}.controller"] = lambda facts: _cache(
            facts, broker, inside["cached"], zookeeper if fenced else None
        )

    def of_slot(follower: int, leader: int, slots: Mapping[int, Any]) -> None:
        at = (follower, leader)
        found[f"network.fetch.{follower}.{leader}"] = lambda facts: _slot(facts, at, slots[leader])

    for broker, seen in observation["brokers"].items():
        of_broker(broker, seen)
    for follower, slots in network["fetch"].items():
        for leader in slots:
            of_slot(follower, leader, slots)
    return found


def _requests(facts: FactTable, in_flight: Iterable[Mapping[str, Any]]) -> None:
    for request in in_flight:
        where = (request["leader_epoch"], request["controller_epoch"], request["target"])
        facts.put("request.in_flight", where, True)
        facts.members("request.isr", where, request["isr"])
        facts.put("request.version", where, request["zk_version"])


def _zookeeper(facts: FactTable, seen: Mapping[str, Any]) -> None:
    state = seen["state"]
    facts.put("zk.controller", (), seen["controller"] or 0)
    facts.put("zk.epoch", (), seen["controller_epoch"])
    facts.members("zk.registered", (), seen["registered"])
    facts.put("zk.leader", (), max(state["leader"], 0))
    facts.put("zk.leader_epoch", (), state["leader_epoch"])
    facts.members("zk.isr", (), state["isr"])
    facts.put("zk.state_epoch", (), state["controller_epoch"])
    facts.put("zk.version", (), state["version"])


def _broker(facts: FactTable, broker: int, seen: Mapping[str, Any]) -> None:
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
        facts.put("isr_write.version", at, write["version"] or 0)
    _controllership(facts, broker, seen)


def _log(facts: FactTable, broker: int, log: Sequence[Sequence[int]]) -> None:
    facts.put("log.end", (broker,), len(log))
    for offset, (record, epoch) in enumerate(log):
        facts.put("log.at.id", (broker, offset), record)
        facts.put("log.at.epoch", (broker, offset), epoch)


def _last(facts: FactTable, broker: int, log: Sequence[Sequence[int]]) -> None:
    facts.put("replica.latest_epoch", (broker,), log[-1][1] if log else -1, blank=-1)


def _controllership(facts: FactTable, broker: int, seen: Mapping[str, Any]) -> None:
    inside = seen["controller"]
    if inside["won"]:
        facts.put("campaign", (broker,), inside["read"][0] + 1)
        facts.put("reply_lost", (broker,), inside["reply"] == "lost")
    facts.put("belief", (broker,), seen["believes"] or 0)


def _cache(
    facts: FactTable,
    broker: int,
    cached: Mapping[str, Any] | None,
    zookeeper: Mapping[str, Any] | None,
) -> None:
    if cached is None:
        return
    at = (broker,)
    facts.put("cache.held", at, True)
    facts.put("cache.leader", at, max(cached["leader"], 0))
    facts.members("cache.isr", at, cached["isr"])
    facts.put("cache.version", at, cached["version"])
    facts.members("cache.live", at, cached["live"])
    if zookeeper is None:
        facts.members("cache.reached", at, cached["live"])
        return
    current = {int(other): epoch for other, epoch in zookeeper["broker_epochs"].items()}
    reached = [other for other, epoch in cached["live"].items() if current.get(int(other)) == epoch]
    facts.members("cache.reached", at, reached)


def _slot(facts: FactTable, at: tuple[int, int], slot: Mapping[str, Any]) -> None:
    state = slot["slot"]
    facts.put("fetch.state", at, _SLOTS[state])
    if state in ("idle", "fenced"):
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


def _world(bounds: Mapping[str, int], version: str | None) -> PartitionCluster:
    Release.published(version or DEFAULT)  # of 2.7 with an older inter.broker.protocol.version
    return partition_cluster(brokers=bounds["brokers"], version=version or DEFAULT)


class StoryCluster(PartitionCluster):
    """A world in which disks fail, with what a story assumes of them: the switch ``disk_lost``."""

    disk_lost = "never"


def _story_world(
    bounds: Mapping[str, int], version: str | None, switches: Mapping[str, object]
) -> PartitionCluster:
    release = version or DEFAULT
    Release.published(release)
    if "late_answers_ignored" in switches:
        if release not in ("2.1", "2.1.0"):
            raise ValueError(f"2.1.0 alone takes late answers (KAFKA-7786), not {release}")
        release = "2.1.0"
    world = StoryCluster(FAILING_DISKS, bounds["brokers"], version=release)
    for host in world.hosts.values():
        host.min_isr = int(cast("int", switches.get("min_insync_replicas", 1)))
    world.disk_lost = str(switches.get("disk_lost", "never"))
    return world


def _facts(world: PartitionCluster) -> Facts:
    return abstract(observe(world), world.release)


def _leader_of(world: PartitionCluster, broker: int) -> int:
    return world.hosts[broker].partition.leader or 0


FAMILIES = {
    "epochs": Family(
        "brokers hear of two leader epochs in any order, and fetch from a leader of another",
        {"epoch": 2, "versions": 2},
        start=tuple(
            Step(name, (1,) * arguments)
            for name, arguments in (
                ("controller_reads_epoch", 1), ("controller_registers", 1),
                ("controller_learns_outcome", 1), ("controller_reads_partition", 1),
                ("controller_elects_leader", 2), ("controller_elects_leader", 2),
            )
        ),
        without=(
            "controller_reads_partition", "controller_issues_leader_and_isr",
            "older_epoch_is_refused",
            "broker_checkpoints_hw", "leader_appends", "leader_acknowledges",
            "leader_acknowledges_acks_all", "consumer_reads",
        ),
    ),
    "crashes": Family("a process crashes, and starts again", {"crashes": 1}),
    "sessions": Family(
        "a session ends: its process goes on, and obeys, until it registers anew", {"expiries": 1}),
    "lost_answers": Family("a request, or the answer to one, is lost", {"losses": 1}),
}  # fmt: skip
"""Two epochs, and all that is not about them left out; and one fault of each kind, whole."""


def _may_be_empty(world: StoryCluster, broker: int) -> tuple[tuple[str, ...], dict[str, int]]:
    """Which brokers lose their disks a story assumes; the world loses any."""
    is_member = broker in world.registered_state.isr
    others = [one.partition for one in world.hosts.values() if one.broker != broker]
    is_known = any(one.leads and one.follower_state(broker).end != UNKNOWN_END for one in others)
    ruled_out = world.disk_lost != "by_any" and (
        is_member or (is_known and world.disk_lost == "when_forgotten")
    )
    return (() if ruled_out else ("broker_starts_empty",)), {}


MORE_ROWS: dict[str, StepRow] = {
    one.step: one
    for one in (
        row("broker_starts_empty", "broker", "broker_starts_empty", possible_now=_may_be_empty,
            why="any disk may fail; which do is what the model assumes"),
        row("broker_crashes_losing_unflushed_records", "broker end",
            "broker_crashes_losing_unflushed_records"),
    )
}  # fmt: skip
"""Steps of faults that any release may meet."""

MAP = SystemMap(
    system="replication",
    rows=ROWS,
    world=_world,
    facts=_facts,
    unobserved=UNOBSERVED,
    small={
        "brokers": 2, "log": 1, "records": 1, "epoch": 1, "controllers": 1, "versions": 1,
        "crashes": 0, "expiries": 0, "losses": 0,
    },
    switches=AS_RELEASED,
    families=FAMILIES,
    leader_of=_leader_of,
    story_switches={
        "disk_lost": ("by_any", "outside_isr", "when_forgotten"),
        "log_survives_crash": (False,),
        "min_insync_replicas": (2,),
        "late_answers_ignored": (False,),
    },
    story_world=_story_world,
    more_rows=MORE_ROWS,
)  # fmt: skip

STEPS_OF: dict[str, list[StepRow]] = MAP.steps_of
"""Model transition -> the rows of the implementation steps that it may be."""
