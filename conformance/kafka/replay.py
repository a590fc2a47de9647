"""Replays a run of the model on real Kafka: the claim breaks there too, or a step differs.

After each step the observable state is compared with the model's: the logs on the disks, and the
state in ZooKeeper. At a check, facts of the real brokers replace the model's: logs, registered
state, and what was committed by the high watermarks that leaders showed. The claim is evaluated on
the result.
"""

from __future__ import annotations

import copy
import shutil
import time
from collections.abc import Collection
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from conformance.kafka import disk, requests
from conformance.kafka.controller import LAB, LabController
from conformance.kafka.election_replay import STEP_ACTIONS as LEVERS_OF_ELECTION
from conformance.kafka.election_replay import replay_election
from conformance.kafka.forced_steps import EPOCH, LAG, NOBODY, STEP_ACTIONS, StepForcer
from conformance.kafka.reassignment_replay import STEP_ACTIONS as LEVERS_OF_MOVES
from conformance.kafka.reassignment_replay import replay_reassignment
from conformance.kafka.releases import KafkaRelease
from conformance.kafka.replay_loop import (
    KafkaDiffers,
    OnStep,
    ReplayedOnKafka,
    ReplayedStep,
    ReplayOutcome,
    RunReplay,
    lab_of_a_run,
)
from conformance.kafka.run import (
    ANSWERED_FETCHES,
    ELECTION,
    REASSIGNMENT,
    REPLICATION,
    LogEntry,
    ModelRun,
    ModelStateView,
    NotReplayable,
    ReplayStep,
)
from impl.server.connection import Disconnected
from impl.znodes import LeaderIsrAndControllerEpoch
from model.language.evaluate import SparseState

TOPIC = "t"
TRUNCATING = "replica.truncating"
SETTLES_S = 5.0
NEVER_MS = "3600000"
MOST_BROKERS, MOST_IN_MOVES = 3, 4
OBSERVED = (
    "log.end", "log.at.id", "log.at.epoch", "zk.isr", "zk.leader", "zk.leader_epoch", "zk.version",
    "committed.end", "committed.at.id", "committed.at.epoch", "committed_twice",
)  # fmt: skip
"""What is seen of real brokers at a check; whatever else a claim reads is the model's."""


def forceable(run: ModelRun) -> None:
    """Raises NotReplayable for what the lab cannot force, before anything is started."""
    of_system: dict[str, Collection[str]] = {
        ELECTION: LEVERS_OF_ELECTION.keys(), REASSIGNMENT: LEVERS_OF_MOVES.keys(),
        REPLICATION: STEP_ACTIONS.keys(),
    }  # fmt: skip
    actions = of_system[run.system]
    missing = sorted({
        one.name for one in run.steps if one.command.is_step and one.name not in actions
    })  # fmt: skip
    if missing:
        raise NotReplayable(f"{run.story.source}: the lab has no action for {', '.join(missing)}")
    most = MOST_IN_MOVES if run.system == REASSIGNMENT else MOST_BROKERS
    if run.brokers > most:
        raise NotReplayable(
            f"{run.story.source} has {run.brokers} brokers; the lab runs {most} at most"
        )


def settings_for(run: ModelRun) -> dict[str, str]:
    """Settings with which brokers do nothing unasked: one record a fetch, immediate answers, no
    shrinking, no checkpoint, unless the run has such steps."""
    names = {one.name for one in run.steps}
    shrinks = bool(names & {"leader_shrinks_isr", "leader_shrink_is_refused"})
    checkpoints = "broker_checkpoints_hw" in names
    return {
        "replica.fetch.min.bytes": "0",
        "replica.fetch.wait.max.ms": "100",
        "replica.fetch.max.bytes": "1",
        "replica.fetch.response.max.bytes": "1",
        "replica.fetch.backoff.ms": "200",
        "replica.socket.timeout.ms": "120000",
        LAG: "3000" if shrinks else NEVER_MS,
        "replica.high.watermark.checkpoint.interval.ms": "100" if checkpoints else NEVER_MS,
        "zookeeper.session.timeout.ms": "60000",
    }


def replay(
    run: ModelRun, release: KafkaRelease, folder: Path, home: Path | None = None,
    on_step: OnStep = lambda _: None,
) -> ReplayedOnKafka:  # fmt: skip
    """Replays a run on a new cluster in ``folder``; no process runs afterwards.

    Raises NotReplayable, NotDownloaded, NoJava, ClusterError.
    """
    forceable(run)
    began = time.monotonic()
    of_system = {ELECTION: replay_election, REASSIGNMENT: replay_reassignment,
                 REPLICATION: replay_replication}  # fmt: skip
    report = of_system[run.system](run, release, folder, home, on_step)
    report.seconds = time.monotonic() - began
    return report


def replay_replication(
    run: ModelRun, release: KafkaRelease, folder: Path, home: Path | None, on_step: OnStep
) -> ReplayedOnKafka:
    with (
        lab_of_a_run(run, release, folder, home, settings_for(run)) as (lab, proxies),
        closing(LabController(lab, TOPIC)) as controller,
    ):
        controller.register_as_controller()
        lab.start_brokers()
        everybody = tuple(lab.brokers)
        controller.create_topic(everybody, LeaderIsrAndControllerEpoch(NOBODY, 0, everybody, 0))
        forcer = StepForcer(run, lab, proxies, controller, TOPIC)
        return ReplicationReplay(run, release, forcer).report(on_step)


class ReplicationReplay(RunReplay):
    observed = (*OBSERVED, TRUNCATING)

    def __init__(self, run: ModelRun, release: KafkaRelease, forcer: StepForcer) -> None:
        super().__init__(run, release.text)
        self.forcer = forcer
        self.lab, self.controller = forcer.lab, forcer.controller
        self.epochs: dict[str, int] = {}
        self.committed: dict[int, LogEntry] = {}
        self.committed_twice = False

    def do(self, step: ReplayStep) -> str:
        """Forces the step by its action."""
        return self.forcer.do(step)

    def note(self, step: ReplayStep) -> None:
        """Record what later checks need."""
        self._note_epoch(step)
        self._note_commits(step)

    def finish(self, report: ReplayedOnKafka) -> None:
        """Compares logs, the registered state, and what was acknowledged to producers."""
        for one in self.lab.brokers:
            report.logs[str(one)] = [
                text.value if text.epoch is None else f"{text.value} epoch {text.epoch}"
                for text in disk.log_of(self.lab.data(one), TOPIC)
            ]
        state = asdict(self.controller.read())
        report.state = state | {"version": state.pop("zk_version")}
        report.acknowledged = self.forcer.acknowledged()

    def _note_truncating(self, state: SparseState, view: ModelStateView) -> None:
        """A follower that asks for epochs does not know yet where to cut its log."""
        gate = self.forcer.gate
        followers = [one for one in view.brokers if view.at("replica.role", one) == "follower"]

        def speaks(one: int) -> bool:
            return any(message.sender == str(one) for message in gate.all_held())

        gate.wait_for(lambda: all(speaks(one) for one in followers), SETTLES_S)
        asking = {message.sender for message in gate.all_held() if message.api == EPOCH}
        state[TRUNCATING] = {(one,): True for one in followers if str(one) in asking}

    # What is seen

    def _logs(self) -> dict[int, list[disk.DiskRecord]]:
        return {one: disk.log_of(self.lab.data(one), TOPIC) for one in self.lab.brokers}

    def compare(self, step: ReplayStep) -> None:
        """Raises KafkaDiffers unless logs and registered state become the model's."""
        wanted = {
            one: [f"r{entry.id}" for entry in step.after.log(one)] for one in self.lab.brokers
        }

        def agree() -> bool:
            return {
                one: [stored.value for stored in log] for one, log in self._logs().items()
            } == wanted

        if not self.forcer.gate.wait_for(agree, SETTLES_S):
            raise KafkaDiffers(self._differences(step))
        for one, log in self._logs().items():
            for offset, (stored, entry) in enumerate(zip(log, step.after.log(one), strict=False)):
                if stored.epoch is not None and stored.epoch != entry.epoch:
                    raise KafkaDiffers(
                        f"broker {one} has at offset {offset} epoch {stored.epoch}, in the model "
                        f"{entry.epoch}"
                    )
        state, after = self.controller.read(), step.after
        leader = after.at("zk.leader")
        model = (
            NOBODY if leader is None else leader, after.at("zk.leader_epoch"),
            frozenset(after.broker_set("zk.isr")), after.at("zk.version"),
        )  # fmt: skip
        real = state.leader, state.leader_epoch, frozenset(state.isr), state.zk_version
        if real != model:
            raise KafkaDiffers(
                f"registered is leader {real[0]} epoch {real[1]} isr {sorted(real[2])} version "
                f"{real[3]}; in the model leader {model[0]} epoch {model[1]} isr "
                f"{sorted(model[2])} version {model[3]}"
            )

    def _differences(self, step: ReplayStep) -> str:
        found = []
        for one, log in self._logs().items():
            real = [stored.value for stored in log]
            model = [f"r{entry.id}" for entry in step.after.log(one)]
            if real != model:
                found.append(
                    f"the log of broker {one} is {_list(real)}, in the model {_list(model)}"
                )
        held = "; ".join(one.in_words() for one in self.forcer.gate.all_held())
        return "; ".join(found) + (f"; at the proxies waits: {held}" if held else "")

    def _note_epoch(self, step: ReplayStep) -> None:
        """Formats before 0.11 keep no epoch: a record has that of the leader who appended it."""
        if step.name in ("leader_appends", "leader_appends_acks_all"):
            record = step.before.at("next_record")
            self.epochs[f"r{record}"] = step.before.at("replica.epoch", step.argument("broker"))

    def _note_commits(self, step: ReplayStep) -> None:
        """What is below the high watermark that a leader shows consumers is committed."""
        if step.name not in (*ANSWERED_FETCHES, "leader_advances_hw"):
            return
        broker = step.argument("leader" if step.name in ANSWERED_FETCHES else "broker")
        try:
            code, end = requests.high_watermark(self.lab.own_port(broker), TOPIC)
        except Disconnected:
            return
        if code:
            return
        for offset, stored in enumerate(disk.log_of(self.lab.data(broker), TOPIC)[:end]):
            entry = self._entry(stored)
            if self.committed.setdefault(offset, entry) != entry:
                self.committed_twice = True

    def _entry(self, stored: disk.DiskRecord) -> LogEntry:
        epoch = self.epochs.get(stored.value, 0) if stored.epoch is None else stored.epoch
        return LogEntry(int(stored.value.removeprefix("r") or 0), epoch)

    def real(self, view: ModelStateView, claim: str) -> SparseState:
        """The model's state, in which observations of real brokers replace the model's facts."""
        state = copy.deepcopy(view.state)
        for name in OBSERVED:
            state[name] = {}
        for broker, log in self._logs().items():
            state["log.end"][(broker,)] = len(log)
            for offset, stored in enumerate(log):
                entry = self._entry(stored)
                state["log.at.id"][broker, offset] = entry.id
                state["log.at.epoch"][broker, offset] = entry.epoch
        registered = self.controller.read()
        state["zk.isr"] = {(one,): True for one in registered.isr}
        state["zk.leader"] = {(): max(registered.leader, 0)}
        state["zk.leader_epoch"] = {(): registered.leader_epoch}
        state["zk.version"] = {(): registered.zk_version}
        state["committed.end"] = {(): len(self.committed)}
        for offset, entry in self.committed.items():
            state["committed.at.id"][(offset,)] = entry.id
            state["committed.at.epoch"][(offset,)] = entry.epoch
        state["committed_twice"] = {(): self.committed_twice}
        found = {name: cells for name, cells in state.items() if cells}
        if TRUNCATING in self.run.reads(claim):
            self._note_truncating(found, view)
        return found


def _list(values: list[str]) -> str:
    return f"[{', '.join(values)}]"


def remove(folder: Path) -> None:
    """Removes what a replay left of a cluster."""
    shutil.rmtree(folder, ignore_errors=True)


__all__ = [
    "LAB",
    "ReplayOutcome",
    "ReplayedStep",
    "ReplayedOnKafka",
    "forceable",
    "remove",
    "replay",
    "settings_for",
]
