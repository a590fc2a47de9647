"""The model's answers about single transitions of partitions and replicas, by its plain rules.

Where the controller's steps of `cluster` take the same transition, they have to say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.plain_rules import elections, transitions
from conformance.plain_rules.elections import ElectedLeader
from conformance.plain_rules.transitions import MOVED, NOTHING, RegisteredState, TransitionOutcome
from conformance.vectors import model_controller
from conformance.vectors.model_stage import TwoAnswers
from impl.releases import Release
from model.topics.tables import PARTITION_TABLE, REPLICA_TABLE, REPLICA_TABLE_BEFORE

Question = Mapping[str, Any]
NONE_YET = "NonExistentReplica"
ANYWHERE = 1000
"""A broker that lives and has nothing to do with the case."""


def _registered(fields: Mapping[str, Any] | None, controller: int) -> RegisteredState | None:
    if fields is None:
        return None
    return RegisteredState(
        fields["leader"],
        tuple(fields["isr"]),
        fields.get("leaderEpoch", 0),
        fields.get("zkVersion", 0),
        fields.get("controllerEpoch", controller),
    )


def _shown(state: RegisteredState) -> dict[str, Any]:
    return {
        "leader": state.leader,
        "isr": list(state.isr),
        "leaderEpoch": state.epoch,
        "zkVersion": state.version,
        "controllerEpoch": state.controller,
    }


def _orders(effect: TransitionOutcome, live: Sequence[int] | None) -> list[dict[str, Any]]:
    if effect.order is None:
        return []
    to = [one for one in effect.order.brokers if live is None or one in live]
    order = {"to": to, "isNew": effect.order.new, **_shown(effect.order.state)}
    return [order] if to else []


# Partitions


def partition_effects(question: Question) -> dict[str, Any]:
    """What a partition's transition writes and sends."""
    asked = question["input"]
    before, target = asked["state"], asked["target"]
    state = _registered(asked.get("zkState"), asked["controllerEpoch"])
    if before not in PARTITION_TABLE[target]:
        effect = NOTHING
    elif target != "OnlinePartition":
        effect = MOVED
    elif before == "NewPartition":
        refused = asked.get("zkCreateResult") in ("exception", "NODEEXISTS")
        alive = [one for one in asked["live"] if one not in asked.get("shuttingDown", ())]
        found = transitions.created(asked["assignment"], alive, asked["controllerEpoch"])
        effect = NOTHING if refused else found
    elif state is None or {"exception", "NONODE"} & set(
        map(str, (asked.get("zkReadResult"), asked.get("zkSetResult")))
    ):
        effect = NOTHING
    elif asked["strategy"] == "Preferred" and model_controller.is_led_as_preferred(
        question, state.leader
    ):
        effect = MOVED
    else:
        effect = transitions.elected(state, _chosen(question, state), asked["controllerEpoch"])
    answer = {
        "state": target if effect.moved else before,
        "zkCreateState": None,
        "zkSetState": None,
        "leaderAndIsr": _orders(effect, asked["live"]),
        "stopReplica": [],
    }
    if effect.written is not None:
        created = before == "NewPartition"
        answer["zkCreateState" if created else "zkSetState"] = _shown(effect.written)
    if _is_offline_election(asked):
        _agree(answer, model_controller.partition_effects(question))
    return answer


def _is_offline_election(asked: Mapping[str, Any]) -> bool:
    """The controller's steps take it too: nobody shuts down, ZooKeeper answers."""
    plain = not {"zkReadResult", "zkSetResult"} & set(asked) and not asked.get("shuttingDown")
    elects = asked["target"] == "OnlinePartition" and asked["state"] == "OfflinePartition"
    by_offline = str(asked.get("strategy", "")).startswith("Offline")
    return plain and elects and by_offline and "zkState" in asked


def _chosen(question: Question, state: RegisteredState) -> ElectedLeader | None:
    asked = question["input"]
    name, _, argument = str(asked["strategy"]).partition("(")
    replicas, isr = asked["assignment"], state.isr
    going = asked.get("shuttingDown", ())
    live = [one for one in asked["live"] if one not in going]
    match name:
        case "Offline":
            unclean = argument.startswith("true") or bool(asked.get("unclean"))
            return elections.for_offline(replicas, isr, live, unclean=unclean)
        case "Reassign":
            return elections.for_reassignment(asked.get("rar", replicas), isr, live)
        case "Preferred":
            return elections.for_preferred(replicas, isr, live)
        case "ControlledShutdown":
            chosen = elections.for_controlled_shutdown(replicas, isr, asked["live"], going)
            release = Release.of(question["release"])
            if chosen is None or not release.since("1.1") or release.since("2.1"):
                return chosen
            staying = tuple(one for one in chosen.recipients if one not in going)
            return chosen._replace(recipients=staying)  # KAFKA-7482
        case other:
            raise ValueError(f"no strategy is called {other!r}")


# Replicas


def replica_effects(question: Question) -> dict[str, Any]:
    """What a replica's transition writes and sends."""
    asked, release = question["input"], Release.of(question["release"])
    before, target, replica = asked["state"], asked["target"], asked["replica"]
    replicas = list(asked["assignment"])
    live = asked.get("live", [*replicas, replica, ANYWHERE])
    table = REPLICA_TABLE if release.since("2.3") else REPLICA_TABLE_BEFORE
    effect = _replica_effect(question, release) if before in table[target] else NOTHING
    after = target if effect.moved else before
    if effect.moved and target == "OnlineReplica" and replica not in replicas:
        replicas.append(replica)
    if effect.moved and target == NONE_YET:
        replicas.remove(replica)
    stops = effect.stopped is not None and replica in live
    answer = {
        "state": after,
        "stateEntry": None if after == NONE_YET else after,
        "assignment": replicas,
        "zkSetState": None if effect.written is None else _shown(effect.written),
        "leaderAndIsr": _orders(effect, live),
        "stopReplica": [
            {"to": [replica], "delete": bool(effect.stopped and effect.stopped[1])}
        ] if stops else [],
        "updateMetadata": [
            {"to": list(live), "partitions": [asked["partition"]]}
        ] if effect.known_anew or effect.order is not None else [],
        "error": None if effect.moved else "StateChangeFailed",
    }  # fmt: skip
    if _is_removal(asked, question):
        _agree(answer, model_controller.replica_effects(question))
    return answer


def _replica_effect(question: Question, release: Release) -> TransitionOutcome:
    asked = question["input"]
    replica, target = asked["replica"], asked["target"]
    known = asked.get("zkState", asked.get("leadership"))
    state = _registered(known, asked["controllerEpoch"])
    match target:
        case "NewReplica":
            return transitions.new_replica(replica, state)
        case "OnlineReplica":
            new = asked["state"] == "NewReplica"
            return transitions.online_replica(replica, None if new else state)
        case "OfflineReplica":
            return transitions.offline_replica(
                replica,
                asked["assignment"],
                state,
                asked["controllerEpoch"],
                going=bool(asked.get("queuedForDeletion")),
                keeps_last=release.since("1.1") or not asked.get("unclean"),
                moves_unled=release.since("2.0"),
                tells_unled=release.since("2.3"),
            )
        case "ReplicaDeletionStarted":
            return transitions.deletion_starts(replica)
        case _:
            return MOVED


def _is_removal(asked: Mapping[str, Any], question: Question) -> bool:
    """The controller's steps take it too: of a topic that stays, the last member stays too."""
    state = asked.get("zkState")
    if state is None or asked["target"] != "OfflineReplica" or asked["state"] != "OnlineReplica":
        return False
    last = len(state["isr"]) == 1 and asked.get("unclean")
    leaves = last and not Release.of(question["release"]).since("1.1")
    going = asked.get("queuedForDeletion")
    return not (going or leaves or "live" in asked)


def _agree(by_rule: Mapping[str, Any], by_steps: Mapping[str, Any]) -> None:
    """The steps leave out what they do not keep, such as a controller's epoch."""
    for name, said in by_steps.items():
        if not _contains(by_rule[name], said):
            raise TwoAnswers(f"{name}: the rule says {by_rule[name]}, the steps {said}")


def _contains(whole: Any, part: Any) -> bool:
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(_contains(whole[n], v) for n, v in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(_contains, whole, part))
    return bool(whole == part)
