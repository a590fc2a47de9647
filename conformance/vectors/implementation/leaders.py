"""Answers about leaders: followers' progress, ISR, high watermark (partition_replication.json)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.vectors.implementation.batch_log import LogEnds, no_client
from conformance.vectors.implementation.hosted_broker import ME, PARTITION, HostedBroker
from conformance.vectors.implementation.stage import ControllerStage
from conformance.vectors.questions import Answer, Question, given, release, under
from impl.admin.topic_lines import is_under_replicated
from impl.core import answers
from impl.core.fetcher_thread import EpochQuestion
from impl.core.partition import (
    IsrAnswered,
    Partition,
    RemoteReplica,
    high_watermark,
    out_of_sync,
)
from impl.core.requests import LeaderAndIsrPartitionState
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, encode_state, paths
from impl.zookeeper.port import wait

START_MS = 1_000_000
T0 = TopicPartition("t", 0)


class Requests:
    """Requests for ISR changes to a simulated controller (2.7)."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, ...]] = []
        self.waiting: tuple[LeaderIsrAndControllerEpoch, IsrAnswered] | None = None

    def submit(
        self, partition: TopicPartition, wanted: LeaderIsrAndControllerEpoch, answered: IsrAnswered
    ) -> None:
        """Keeps a request until an answer is given."""
        self.asked.append(wanted.isr)
        self.waiting = wanted, answered

    def clear(self, partition: TopicPartition) -> None:
        """Removes the pending request."""
        self.waiting = None

    def answer(self, error: str, now_ms: int) -> None:
        """The controller's answer to the pending request."""
        if self.waiting is not None:
            (wanted, answered), self.waiting = self.waiting, None
            state = wanted.with_zk_version(wanted.zk_version + 1) if error == "NONE" else None
            answered(error, state, now_ms)


class LeaderScenario:
    """A leader with a clock, taken through the steps of a question."""

    def __init__(self, question: Question) -> None:
        asked = given(question)
        self.now_ms = START_MS
        self.requests = Requests()
        self.registered = ControllerStage(release(question))
        end, checkpoint = asked.get("log", {}).get("records", 0), asked.get("hwCheckpoint") or 0
        self.partition = Partition(
            asked["self"],
            T0,
            LogEnds(end, max(0, min(checkpoint, end))),
            asked.get("replicaLagTimeMaxMs", 30_000),
            release(question),
            client=lambda: self.registered.admin,
            isr_requests=self.requests if release(question).since("2.7") else None,
            replicas=asked["replicas"],
        )
        self._leads(asked["leaderEpoch"], asked["isr"])
        self.last: RemoteReplica | None = None
        self.offsets: list[int | str] = []
        self.answered: dict[str, Any] = {}  # to what was asked of it last

    def _leads(self, epoch: int, isr: Sequence[int]) -> None:
        """A controller registers it as leader, and says so."""
        state = LeaderIsrAndControllerEpoch(self.partition.broker, epoch, tuple(isr), 0)
        self.registered.put_state(T0, state)
        wait(self.registered.admin.port.set_data(paths.state(*T0), encode_state(state)))
        registered = self.registered.state(T0)
        assert registered is not None, "it was written"
        order = LeaderAndIsrPartitionState(registered, self.partition.replicas, True)
        self.partition.become_leader(order, self.now_ms)

    def do(self, step: dict[str, Any], fails: bool = False) -> None:
        """Takes one step; ``fails``: its write to ZooKeeper is refused, as another has written."""
        partition, self.answered = self.partition, {}
        if fails:
            text = wait(self.registered.admin.port.get(paths.state(*T0))).data
            wait(self.registered.admin.port.set_data(paths.state(*T0), text))
        match step["do"]:
            case "sleep":
                self.now_ms += step["ms"]
            case "leaderAppend":
                partition.log.log_end += step["count"]
                partition.advance(self.now_ms)
            case "followerFetch" if (error := self._refusal(step)) != answers.NONE:
                self.answered = {"error": error}
            case "followerFetch":
                replica, offset = step["replica"], step["offset"]
                wait(
                    partition.follower_fetched(replica, offset, self.now_ms, step.get("leaderEnd"))
                )
                self.last = partition.remotes.get(replica, self.last)
            case "expandIsr":
                wait(partition.expand(step["replica"], self.now_ms))
            case "shrinkIsr":
                wait(partition.shrink(step["replicas"], self.now_ms))
            case "maybeShrink":
                wait(partition.maybe_shrink(self.now_ms))
            case "isrUpdateSucceeds":
                self.requests.answer("NONE", self.now_ms)
            case "isrUpdateFails":
                self.requests.answer(step["error"], self.now_ms)
            case "becomeLeader":
                self._leads(step["leaderEpoch"], step["isr"])
            case "becomeFollower":
                partition.make_follower(step["leader"], step["leaderEpoch"])
            case "listOffset":
                consumer = step["isolation"] != "none"
                found = partition.list_offset(step["what"] == "earliest", consumer)
                self.offsets.append(found)
                self.answered = {"error": found}
                if isinstance(found, int):
                    self.answered = {"offset": found, "leaderEpoch": partition.leader_epoch}
            case other:
                raise ValueError(f"no step of a leader's life is called {other!r}")

    def _refusal(self, step: dict[str, Any]) -> str:
        """Why a request is refused that names the leader epoch it is of."""
        current, asked = self.partition.leader_epoch, step.get("leaderEpoch")
        return answers.current_leader_epoch_error(
            current, asked, True, False, self.partition.release
        )

    def observe(self) -> dict[str, Any]:
        """The leader's present state, its last answers, and the follower that fetched last."""
        partition = self.partition
        remote = self.last or next(iter(partition.remotes.values()), RemoteReplica())
        return {
            "isr": list(partition.isr),
            "maximalIsr": list(partition.maximal_isr),
            "hw": partition.hw,
            "remoteLeo": remote.end,
            "remoteLogStart": remote.log_start,
            "lastCaughtUpSinceStart": max(0, remote.last_caught_up - START_MS),
            "isrRequests": len(self.requests.asked),
            "requestedIsr": list(self.requests.asked[-1]) if self.requests.asked else None,
            "expands": partition.expands,
            "shrinks": partition.shrinks,
            "failures": partition.failures,
            **self.answered,
        }


def leader(question: Question) -> dict[str, Any]:
    """A leader that takes the steps of a question: its ISR, its high watermark, its responses."""
    life = LeaderScenario(question)
    initial, seen = life.observe(), []
    asked_before_failure = 0
    marks = {}
    steps = given(question).get("steps", ())
    for step, following in zip(steps, [*steps, {}][1:], strict=True):
        asked_before_failure = len(life.requests.asked)
        life.do(step, fails=following.get("do") == "isrUpdateFails")
        seen.append(life.observe())
        marks[f"hwAfterStep{len(seen)}"] = life.partition.hw
    return life.observe() | {
        "initial": initial,
        "afterStep": seen,
        "isrRequestsQueuedAfterFailure": len(life.requests.asked) - asked_before_failure,
        **marks,
        "listOffsetResults": life.offsets,
    }


def old_format(question: Question) -> dict[str, Any]:
    """Whether a new leader's epoch is added: only if the message format has epochs."""
    asked = given(question)
    log, epoch = asked["log"], asked["becomeLeaderEpoch"]
    broker = HostedBroker(release(question), int(log.get("format", "v2")[1:]))
    for _, written_in, records in log["batches"]:
        broker.ordered(0, ME, written_in)
        broker.appends(records)
    broker.ordered(0, ME, epoch)  # refused where that is the epoch that the records are of
    log_end = broker.manager.partitions[PARTITION].log_end
    entered = broker.logs.log(PARTITION)
    assert entered is not None, "it leads"
    latest = entered.epochs.latest_epoch
    reply = wait(broker.manager.epoch_ends({PARTITION: EpochQuestion(None, asked["query"])}))
    return {
        "leo": log_end,
        "latestEpoch": latest if latest >= 0 else None,
        "endOffsetFor": list(reply[PARTITION].end),
    }


def make_follower(question: Question) -> dict[str, Any]:
    """Whether a follower needs another fetcher, at each LeaderAndIsr that makes it follow."""
    partition = Partition(0, T0, LogEnds(), 30_000, release(question), no_client, replicas=(0, 1))
    steps = given(question)["steps"]
    return {"returns": [partition.make_follower(one["leader"], one["epoch"]) for one in steps]}


def assignment_state(question: Question) -> dict[str, Any]:
    """A broker's view of an assignment that is changing."""
    asked = given(question)
    adding, removing = asked["adding"], asked["removing"]
    in_sync, least = len(asked["isr"]), asked["minIsr"]
    return {
        "isReassigning": bool(adding or removing),
        "isAddingLocalReplica": asked["self"] in adding,
        "isUnderReplicated": is_under_replicated(
            asked["isr"], asked["replicas"], adding, release(question)
        ),
        "isUnderMinIsr": in_sync < least,
        "isAtMinIsr": in_sync == least,
    }


def leader_epoch_check(question: Question) -> dict[str, Any]:
    """A request with the leader epoch that its sender knows."""
    asked = given(question)
    return {
        "error": answers.current_leader_epoch_error(
            asked["current"],
            asked["request"],
            asked["isLeader"],
            asked["fetchOnlyFromLeader"],
            release(question),
        )
    }


def hw(question: Question) -> dict[str, Any]:
    """The high watermark that followers' ends allow."""
    asked = given(question)
    remotes = {
        int(replica): (one["leo"], one["lastCaughtUp"]) for replica, one in asked["remotes"].items()
    }
    return {
        "hw": high_watermark(
            asked["leaderLeo"],
            asked["isr"],
            remotes,
            asked["now"],
            asked["lagMs"],
            asked["oldHw"],
            release(question),
        )
    }


def out_of_sync_checks(question: Question) -> dict[str, Any]:
    """Which followers are out of sync, at each check."""
    asked, now_ms = given(question), START_MS
    remotes = {one: RemoteReplica(end=0) for one in asked["isr"] if one != asked["leader"]}
    for remote in remotes.values():
        remote.fetched(0, 0, 0, now_ms)
    found = []
    end = asked["leaderLeo"]
    for step in asked["steps"]:
        end = step.get("leaderEnd", end)
        if "fetch" in step:
            for remote in remotes.values():
                remote.fetched(step["fetch"], 0, step["leaderEnd"], now_ms)
        elif "sleep" in step:
            now_ms += step["sleep"]
        elif "check" in step:
            found.append(
                [
                    one
                    for one, remote in remotes.items()
                    if out_of_sync(
                        remote.end,
                        remote.last_caught_up,
                        end,
                        now_ms,
                        asked["lagMs"],
                        release(question),
                    )
                ]
            )
    return {"outOfSyncAtChecks": found}


def produce(question: Question) -> dict[str, Any]:
    """The answer to a producer."""
    asked = given(question)
    least = asked.get("minIsr", 1)
    error = answers.produce_error_before(
        asked["acks"], asked.get("isrAtAppend", asked.get("isr", least)), least
    )
    if error != "INVALID_REQUIRED_ACKS" and not asked.get("isLeader", True):
        error = answers.current_leader_epoch_error(0, None, False, True, release(question))
    if error != answers.NONE:
        return {"appended": False, "error": error}
    reached = asked.get("hwReached", True)
    in_sync = asked.get("isrAtHw", asked.get("isrAtAppend", least))
    waits = asked["acks"] == -1
    after = answers.produce_error_after(reached, in_sync, least) if waits else answers.NONE
    return {"appended": True, "error": after}


ANSWERS: dict[tuple[str, str], Answer] = under(
    "partition_replication",
    leader=leader,
    oldFormat=old_format,
    makeFollower=make_follower,
    underReplicated=assignment_state,
    assignmentState=assignment_state,
    checkCurrentLeaderEpoch=leader_epoch_check,
    hw=hw,
    outOfSync=out_of_sync_checks,
    produce=produce,
)
