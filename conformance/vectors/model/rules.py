"""Answers by plain rules that no step of the model decides: errors, clocks, shares, lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.plain_rules import answers, moves, request_versions
from conformance.plain_rules.answers import FromTheFuture
from conformance.plain_rules.moves import Assignment
from impl.releases import Release

Question = Mapping[str, Any]

START_MS = 1_000_000


def _since(question: Question, release: str) -> bool:
    return Release.of(question["release"]).since(release)


def leader_epoch(question: Question) -> dict[str, Any]:
    """A request in a leader epoch."""
    asked = question["input"]
    newer = _since(question, "2.6")
    no_leader = "NOT_LEADER_OR_FOLLOWER" if newer else "NOT_LEADER_FOR_PARTITION"
    error = answers.of_leader_epoch(
        asked["request"], asked["current"], asked["isLeader"], asked["fetchOnlyFromLeader"],
        no_leader,
    )  # fmt: skip
    return {"error": error}


def broker_epoch(question: Question) -> dict[str, Any]:
    """The answer to a request with a broker epoch (since 2.2)."""
    asked = question["input"]
    if not _since(question, "2.2"):
        return {"result": answers.NONE}
    try:
        takes_newer = _since(question, "2.5.1")
        return {"result": answers.of_broker_epoch(asked["request"], asked["current"], takes_newer)}
    except FromTheFuture:
        return {"result": "IllegalStateException"}


def stop_replica(question: Question) -> dict[str, Any]:
    """StopReplica for one partition."""
    asked = question["input"]
    known, sent = (asked[f"{one}ControllerEpoch"] for one in ("known", "request"))
    top = answers.of_controller_epoch(sent, known)
    where = asked.get("partition", "hosted")
    newest = {"topError": top, "knownControllerEpochAfter": max(known, sent)}
    if top != answers.NONE:
        return {**newest, "partitionHosted": where == "hosted", "logDeleted": False}
    error = answers.of_stop_replica(
        asked.get("requestLeaderEpoch", answers.NOT_GIVEN),
        asked["currentLeaderEpoch"] if where == "hosted" else None,
        where == "offline",
        _since(question, "2.6"),
        _since(question, "3.5"),
    )
    gone = error == answers.NONE and asked["delete"]
    if gone and asked.get("ioException"):
        error = "KAFKA_STORAGE_ERROR"  # the log is gone all the same: its directory is offline
    return {
        **newest,
        "partitionError": error,
        "partitionHosted": where == "hosted" and not gone,
        "logDeleted": gone,
        "logStillThere": not gone and (where != "not hosted" or bool(asked.get("strayLog"))),
        "checkpointEntriesRemoved": ["recovery-point", "log-start-offset"] if gone else [],
    }


def update_metadata(question: Question) -> dict[str, Any]:
    """UpdateMetadata; refused from an older controller; topics in deletion are removed."""
    asked = question["input"]
    known, sent = (asked[f"{one}ControllerEpoch"] for one in ("known", "request"))
    top = answers.of_controller_epoch(sent, known)
    obeyed = top == answers.NONE
    cached = dict(asked["cached"]) | (dict(asked["partitions"]) if obeyed else {})
    return {
        "topError": top,
        "knownControllerEpochAfter": max(known, sent),
        "cachedAfter": {one: state for one, state in cached.items() if state["leader"] != -2},
        "aliveBrokers": sorted(asked["live"]) if obeyed else [],
    }


def refused_leader_and_isr(question: Question) -> dict[str, Any] | None:
    """LeaderAndIsr to a broker that has no disk for the partition, or is not a replica of it."""
    asked = question["input"]
    failed = bool(asked.get("offlineDir")) and _since(question, "1.0")
    has_id = asked["currentLeaderEpoch"] >= 0 and asked["knownTopicId"] is not None
    other = has_id and asked["requestTopicId"] not in (None, asked["knownTopicId"])
    if asked["inReplicas"] and not failed and not other:
        return None
    known, sent = asked.get("knownControllerEpoch", 0), asked.get("requestControllerEpoch", 0)
    top = answers.of_controller_epoch(sent, known)
    if top != answers.NONE:
        return {"topError": top, "knownControllerEpochAfter": known}
    current, wanted = asked["currentLeaderEpoch"], asked["requestLeaderEpoch"]
    error = answers.of_leader_and_isr(wanted, current, asked["inReplicas"], failed)
    return {
        "topError": top,
        "partitionError": "INCONSISTENT_TOPIC_ID" if other and not failed else error,
        "knownControllerEpochAfter": sent,
        "fetcherAdded": False,
        "leaderEpochAfter": current,
    }


def visibility(question: Question) -> dict[str, Any]:
    """How far consumers (committed records) and followers (all records) may read."""
    asked = question["input"]
    return {"consumerMaxOffset": asked["hw"], "followerMaxOffset": asked["leo"]}


def fetcher(question: Question) -> dict[str, Any]:
    """The fetcher of a partition."""
    asked = question["input"]
    number = request_versions.fetcher_of(asked["topic"], asked["partition"], asked["numFetchers"])
    return {"topicHash": request_versions.hash_of(asked["topic"]), "fetcherId": number}


def versions(question: Question) -> dict[str, Any]:
    """Versions of requests under an inter.broker.protocol.version."""
    protocol = request_versions.protocol_of(str(question["input"]["ibp"]))
    return {kind: request_versions.version_of(kind, protocol) for kind in request_versions.VERSIONS}


def produce(question: Question) -> dict[str, Any]:
    """The answer to a producer."""
    asked = question["input"]
    least = asked.get("minIsr", 1)
    then = asked.get("isrAtAppend", asked.get("isr", least))
    error = answers.before_append(asked["acks"], then, least)
    if error != answers.NONE:
        return {"appended": False, "error": error}
    now = asked.get("isrAtHw", then)
    committed = asked.get("hwReached", True)
    after = answers.after_append(asked["acks"], committed, now, least)
    return {"appended": True, "error": after}


def high_watermark(question: Question) -> dict[str, Any]:
    """How far a leader's high watermark advances."""
    asked = question["input"]
    known = {
        int(replica): (its["leo"], its["lastCaughtUp"]) for replica, its in asked["remotes"].items()
    }
    found = answers.high_watermark(
        asked["leaderLeo"], asked["isr"], known, asked["now"], asked["lagMs"], asked["oldHw"],
        isr_alone=not _since(question, "0.10.2"),
    )  # fmt: skip
    return {"hw": found}


def out_of_sync(question: Question) -> dict[str, Any]:
    """Which followers are out of sync at each check; all followers fetch alike."""
    asked = question["input"]
    now = caught_up = fetched_at = START_MS
    end = shown = 0
    checks: list[list[int]] = []
    followers = [one for one in asked["isr"] if one != asked["leader"]]
    leader_end = asked["leaderLeo"]
    for step in asked["steps"]:
        leader_end = step.get("leaderEnd", leader_end)
        if "sleep" in step:
            now += step["sleep"]
        elif "fetch" in step:
            if step["fetch"] >= step["leaderEnd"]:
                caught_up = now
            elif step["fetch"] >= shown:  # all that the fetch before was shown
                caught_up = max(caught_up, fetched_at)
            end, shown, fetched_at = step["fetch"], step["leaderEnd"], now
        elif "check" in step:
            late = answers.is_out_of_sync(
                end != leader_end, caught_up, now, asked["lagMs"], _since(question, "2.1")
            )
            checks.append(followers if late else [])
    return {"outOfSyncAtChecks": checks}


def assignment_state(question: Question) -> dict[str, Any]:
    """A broker's view of an assignment that is changing."""
    asked = question["input"]
    adding, removing = asked.get("adding", ()), asked.get("removing", ())
    counted = adding if _since(question, "2.4") else ()
    return {
        "isReassigning": bool(adding or removing),
        "isAddingLocalReplica": asked.get("self") in adding,
        "isUnderReplicated": answers.is_under_replicated(asked["isr"], asked["replicas"], counted),
        **dict(zip(("isUnderMinIsr", "isAtMinIsr"),
                   answers.beside_the_least(len(asked["isr"]), asked["minIsr"]), strict=True)),
    }  # fmt: skip


def imbalance(question: Question) -> dict[str, Any]:
    """Whether too many partitions are not led by their preferred replica."""
    asked = question["input"]
    few = answers.is_imbalanced(asked["notLed"], asked["preferred"], asked["percentage"])
    return {"trigger": few and not asked["reassigning"]}


def propagation(question: Question) -> dict[str, Any]:
    """Whether it is time to write a notification of changed ISRs."""
    asked = question["input"]
    due = answers.tells_of_isr_changes(asked["now"], asked["lastChange"], asked["lastPropagation"])
    return {"propagate": bool(asked["changes"]) and due}


# Assignments


def _assignment(fields: Mapping[str, Any]) -> Assignment:
    return Assignment(tuple(fields["replicas"]), tuple(fields["adding"]), tuple(fields["removing"]))


def target(question: Question) -> dict[str, Any]:
    """The target of a move, and its origin."""
    return _shown(_assignment(question["input"]["assignment"]))


def reassign_to(question: Question) -> dict[str, Any]:
    """An assignment that is moved to another target."""
    asked = question["input"]
    return _shown(_assignment(asked["assignment"]).towards(asked["target"]))


def _shown(one: Assignment) -> dict[str, Any]:
    ends = {"target": one.target, "origin": one.origin}
    return {**one._asdict(), **ends, "isBeingReassigned": one.moves}


def assignment_of(question: Question) -> dict[str, Any]:
    """The replicas of partitions; a partition that is not known has none."""
    asked = question["input"]
    found = [list(asked["known"].get(name, ())) for name in asked["query"]]
    if "full" in str(asked.get("op")).lower():
        return {"results": [{"replicas": one, "adding": [], "removing": []} for one in found]}
    return {"results": found, "result": dict(zip(asked["query"], found, strict=True))}


def is_replica_online(question: Question) -> dict[str, Any]:
    """A replica is online on a live broker whose log directory for it has not failed."""
    asked = question["input"]
    gone = () if asked["shuttingDownToo"] else asked["shuttingDown"]
    lives = {*asked["live"], *asked["shuttingDown"]} - {*gone}
    return {"online": asked["broker"] in lives and asked["broker"] not in asked["offlineDirs"]}


def imbalance_count(question: Question) -> dict[str, Any]:
    """How many partitions, of topics not in deletion, their preferred replica does not lead."""
    asked = question["input"]
    counts = [_imbalance(one) for one in asked.get("moments", [asked])]
    whole = counts if "moments" in asked else counts[-1]
    return {"count": counts[-1], "counts": counts, "result": whole}


def _imbalance(asked: Mapping[str, Any]) -> int:
    staying = {
        name: replicas[0] for name, replicas in asked["assignments"].items()
        if replicas and _place(name)[0] not in asked["queuedForDeletion"]
    }  # fmt: skip
    led = asked["leaders"]
    return sum(led[name] != first for name, first in staying.items() if name in led)


def api_validate(question: Question) -> dict[str, Any]:
    """The answer of AlterPartitionReassignments."""
    asked = question["input"]
    wanted = asked.get("target", [1])
    known = asked.get("exists", True) and not asked.get("queuedForDeletion")
    current = asked.get("current", [1, 2]) if asked.get("exists", True) else []
    on_the_way = moves.Assignment(tuple(current), tuple(asked["adding"]), tuple(asked["removing"]))
    if wanted is None:
        error = "NONE" if current and on_the_way.moves else "NO_REASSIGNMENT_IN_PROGRESS"
    else:
        live = asked.get("live", {*current, *map(abs, wanted)})
        error = moves.refusal(wanted, on_the_way.origin, live)
    return {"error": "UNKNOWN_TOPIC_OR_PARTITION" if error == "NONE" and not known else error}


def throttled(question: Question) -> dict[str, Any]:
    """The replicas whose traffic is throttled, by topic."""
    asked = question["input"]
    leaders: dict[str, list[str]] = {}
    followers: dict[str, list[str]] = {}
    for name, proposed in sorted(asked["proposed"].items(), key=lambda one: _place(one[0])):
        topic, number = _place(name)
        old, new = moves.throttled(asked["existing"].get(name, ()), proposed)
        for found, brokers in ((leaders, old), (followers, new)):
            if new:
                found.setdefault(topic, []).extend(f"{number}:{broker}" for broker in brokers)
    return {"leader": leaders, "follower": followers}


def _place(partition: str) -> tuple[str, int]:
    topic, _, number = partition.rpartition("-")
    return topic, int(number)


def empty_partitions(question: Question) -> dict[str, Any]:
    """The partitions that UpdateMetadata about no partitions contains."""
    if question["input"]["partitionsArgument"]:
        raise ValueError("the question is what no partitions mean")
    return {"meaning": "no partitions" if _since(question, "2.2") else "all partitions"}
