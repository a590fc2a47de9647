"""The model's answers about moving a partition: the twelve steps, KIP-455's phases, the guards.

The controller's transitions of `reassignment` are taken as they become possible, one at a time,
like in its event thread. In between, the leader writes the ISR that has caught up.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from conformance.vectors.model.stage import ModelStage, Place

Question = Mapping[str, Any]

CONTROLLER = 1
FEWEST_BROKERS, MOST_STEPS = 2, 40
BOUNDS = {
    "brokers": FEWEST_BROKERS, "replicas": 3, "records": 1, "epoch": 6, "controllers": 1,
    "versions": 8,
}  # fmt: skip

DROPS = (
    "controller_drops_request_already_assigned", "controller_drops_move_of_deleted_topic",
    "controller_drops_move_to_dead_broker", "controller_drops_unknown_partition",
)  # fmt: skip
CLOSES = "controller_removes_request_entry"
OTHERS = "controller_completes_other_reassignment"
NOTICES = "controller_sees_broker_startup"
STEPS = (
    *DROPS, OTHERS, NOTICES, "controller_begins_move", "controller_begins_with_targets_in_sync",
    "controller_writes_union_of_replicas", "controller_bumps_epoch",
    "controller_sees_targets_in_sync", "controller_sets_target_in_memory",
    "controller_keeps_leader", "controller_moves_leader_to_target",
    "controller_takes_old_replica_offline",
    "controller_skips_old_replica_outside_isr", "controller_deletes_old_replicas",
    "controller_writes_target_replicas", "controller_removes_request_entry",
    "controller_sends_final_update_metadata",
)  # fmt: skip

LED = ("controller_keeps_leader", "controller_moves_leader_to_target")
TWELVE_STEPS = {
    "controller_writes_union_of_replicas": "assignment znode = RAR + OAR",
    "controller_bumps_epoch": "epoch bump, LeaderAndIsr to RAR+OAR; new replicas NewReplica",
    **dict.fromkeys(LED, "leader moved to RAR (or epoch bump only if leader already in RAR)"),
    "controller_deletes_old_replicas": (
        "removed replicas Offline -> ISR shrunk, one epoch bump per removed replica that was in ISR"
    ),
    "controller_writes_target_replicas": "assignment znode = RAR",
}
PHASES = {
    "controller_bumps_epoch": (
        "U/A: znode updated, LeaderAndIsr with bumped epoch, adding -> NewReplica"
    ),
    **dict.fromkeys(LED, "B2/B3: memory assignment = target; leader moved or epoch bumped"),
    "controller_deletes_old_replicas": "B4/B5: removing replicas Offline..NonExistent",
    "controller_sends_final_update_metadata": "B6: topic znode final; B7 ZK reassign znode; B8 "
    "UpdateMetadata",
}
CAUGHT_UP = {
    "step": "new replicas joined ISR (written by the leader, epoch unchanged)",
    "phase": "ISR caught up (epoch unchanged)",
}


class ReassignmentScenario:
    """One partition and a controller that has read it; ids are the model's own, in order."""

    def __init__(
        self,
        question: Question,
        old: list[int],
        target: list[int],
        deleting: bool = False,
        dead: Collection[int] = (),
        other: str = "none",
    ) -> None:
        asked = question["input"]
        self.dead = list(dead)
        # The controller is broker 1: one that lives.
        named = sorted({*old, *target}, key=lambda one: (one in dead, one))
        self.ids = {broker: n for n, broker in enumerate(named, CONTROLLER)}
        self.names = {number: broker for broker, number in self.ids.items()}
        brokers = max(FEWEST_BROKERS, len(self.ids))
        bounds = {
            **BOUNDS, "brokers": brokers,
            "replicas": max(BOUNDS["replicas"], len(old), len(target)),
            "epoch": max(BOUNDS["epoch"], 3 + len(old)),
        }  # fmt: skip
        self.stage = ModelStage.of("reassignment", question["release"], STEPS, bounds)
        self.first_epoch = asked.get("leaderEpoch", 0)
        self.target = target
        self.order = dict.fromkeys([*asked.get("isr", old), *old, *target])  # its ISR is a set
        leader = self.ids[asked.get("leader", old[0])]
        isr = [self.ids[broker] for broker in asked.get("isr", old)]
        cells: dict[Place, object] = {
            ("zk.controller", ()): CONTROLLER,
            ("zk.epoch", ()): 1,
            ("zk.leader", ()): leader,
            ("zk.deleting", ()): deleting,
            ("zk.other", ()): other,
            ("belief", (CONTROLLER,)): 1,
            ("cache.task", (CONTROLLER,)): "idle",
            ("cache.leader", (CONTROLLER,)): leader,
            ("cache.deleting", (CONTROLLER,)): deleting,
        }
        for number in range(1, brokers + 1):
            here, there = self._place(old, number), self._place(target, number)
            lives = self.names.get(number) not in dead
            cells |= {
                ("up", (number,)): lives,
                ("zk.registered", (number,)): lives,
                ("zk.isr", (number,)): number in isr,
                ("zk.assignment", (number,)): here,
                ("zk.requested", (number,)): None if other == "unknown" else there,
                ("cache.isr", (CONTROLLER, number)): number in isr,
                ("cache.live", (CONTROLLER, number)): lives,
                ("cache.reached", (CONTROLLER, number)): lives,
                ("cache.assignment", (CONTROLLER, number)): here,
            }
        self.state = self.stage.state(cells)
        self.taken: list[str] = []

    def _place(self, replicas: list[int], number: int) -> int | None:
        broker = self.names.get(number)
        return replicas.index(broker) if broker is not None and broker in replicas else None

    def advance(self) -> str | None:
        """The next step of the controller's thread, None if it waits."""
        found = self.stage.advance(self.state, CONTROLLER)
        if found is None:
            return None
        name, self.state = found
        self.taken.append(name)
        return name

    def catch_up(self) -> bool:
        """The leader writes an ISR with every live target in it; False if it has them already."""
        living = [self.ids[one] for one in self.target if one not in self.dead]
        missing = [number for number in living if not self._in("zk.isr", number)]
        if missing:
            version = self.stage.read(self.state, "zk.version")
            self.state = self.stage.state(
                {("zk.isr", (number,)): True for number in missing}
                | {("zk.version", ()): version + 1},
                self.state,
            )
        return bool(missing)

    def starts(self, broker: int) -> None:
        """A broker starts again and registers."""
        number = self.ids[broker]
        self.dead.remove(broker)
        self.state = self.stage.state(
            {("up", (number,)): True, ("zk.registered", (number,)): True}, self.state
        )

    def settle(self) -> None:
        """Takes all steps that the controller and the leader still have to take."""
        for _ in range(MOST_STEPS):
            if self.advance() is None and not self.catch_up():
                return

    def is_left(self) -> bool:
        """Whether the request still exists."""
        places = (self.stage.read(self.state, "zk.requested", number) for number in self.names)
        other = self.stage.read(self.state, "zk.other")
        return other != "none" or any(place is not None for place in places)

    def _in(self, name: str, *index: int) -> bool:
        return bool(self.stage.read(self.state, name, *index))

    def _list(self, name: str) -> list[int]:
        places = {n: self.stage.read(self.state, name, n) for n in self.names}
        listed = sorted((place, n) for n, place in places.items() if place is not None)
        return [self.names[number] for _, number in listed]

    def _set(self, name: str) -> list[int]:
        return [broker for number, broker in self.names.items() if self._in(name, number)]

    def row(self, name: str) -> dict[str, Any]:
        """ZooKeeper's present state, under the name of the last step."""
        assignment = self._list("zk.assignment")
        return {
            "step": name,
            "phase": name,
            "assignment": assignment,
            "replicas": assignment,
            "adding": [one for one in assignment if one in self._set("zk.adding")],
            "removing": [one for one in assignment if one in self._set("zk.removing")],
            "leader": self.names[self.stage.read(self.state, "zk.leader")],
            "isr": [broker for broker in self.order if broker in self._set("zk.isr")],
            "leaderEpoch": self.first_epoch + self.stage.read(self.state, "zk.leader_epoch"),
        }


def _trace(question: Question, names: Mapping[str, str], caught_up: str) -> dict[str, Any]:
    asked = question["input"]
    move = ReassignmentScenario(question, asked["oar"], asked["rar"])
    rows = [move.row("initial")]
    for _ in range(MOST_STEPS):
        taken = move.advance()
        if taken is not None and taken in names:
            rows.append(move.row(names[taken]))
        elif taken is None:
            if not move.catch_up():
                break
            rows.append(move.row(caught_up))
    return {"rows": rows}


def reassign_trace(question: Question) -> dict[str, Any]:
    """The twelve steps (up to 2.3)."""
    return _trace(question, TWELVE_STEPS, CAUGHT_UP["step"])


def reassign_trace_kip_455(question: Question) -> dict[str, Any]:
    """The phases of KIP-455 (2.4 and later)."""
    return _trace(question, PHASES, CAUGHT_UP["phase"])


def flow(question: Question) -> dict[str, Any]:
    """A partition is moved; live replicas of its target join the ISR."""
    asked = question["input"]
    up = {*asked["live"]} - {*asked["offlineDirs"]}  # one that cannot store it never catches up
    dead = [one for one in asked["to"] if one not in up]
    move = ReassignmentScenario(question, asked["from"], asked["to"], dead=dead)
    move.settle()
    came = [int(word) for word in str(asked.get("then", "")).split() if word.isdecimal()]
    for broker in came:
        move.starts(broker)
        move.settle()
    row = move.row("")
    return {
        "leader": row["leader"],
        "leaderEpoch": row["leaderEpoch"],
        "isr": row["isr"],
        "assignment": row["assignment"],
        "reassignZnode": "present" if move.is_left() else None,
    }


def guard(question: Question) -> dict[str, Any]:
    """Whether an entry of the request is started, and what it then waits for."""
    asked = question["input"]
    if "entriesLeft" in asked:  # one is done with; of all others the model has one entry
        move = ReassignmentScenario(
            question, [1], [2], other="moving" if asked["entriesLeft"] else "none"
        )
        while move.is_left() and move.advance() not in (CLOSES, None):
            move.catch_up()
        return {"reassignZnode": "present" if move.is_left() else "deleted"}
    if not asked.get("exists", True):
        move = ReassignmentScenario(question, asked["current"], asked["target"], other="unknown")
        begins = move.advance()
        return {"started": begins not in DROPS, "removedFromZk": not move.is_left()}
    deleting = bool(asked.get("queuedForDeletion"))
    live = asked.get("live", [*asked["current"], *asked["target"]])
    dead = [one for one in asked["target"] if one not in live]
    move = ReassignmentScenario(question, asked["current"], asked["target"], deleting, dead)
    before = move.row("")["leaderEpoch"]
    begins = move.advance()
    while begins not in DROPS and move.advance() is not None:
        continue
    return {
        "started": begins is not None and begins not in DROPS,
        "removedFromZk": not move.is_left(),
        "waitsFor": f"ISR to contain {','.join(map(str, dead))}" if dead else None,
        "leaderEpochDelta": move.row("")["leaderEpoch"] - before,
    }
