"""Checks, on the model's state, what must hold of a cluster at rest.

A trace shows what happened, and the model says whether it may. The model also allows a run in which
nothing more happens, but claims what must hold once faults are over (`specs/proofs/progress`):
every broker knows the controller, every leader is followed by all, what is sent is committed, the
ISR recovers. So after a run that was left alone for long enough, these claims are checked on the
state to which its lines have driven the model; and each replica must know what the model's does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.running.model_driver import ModelDriver
from conformance.running.partition import PartitionReplay
from conformance.running.result import MisfitError

_LEADS, _FOLLOWS = 1, 2


@dataclass(frozen=True)
class ReplicaAtRest:
    """What a broker knows of a partition in the end; epochs and offsets are Kafka's."""

    leads: bool
    leader: int | None
    leader_epoch: int
    zk_version: int
    isr: tuple[int, ...]
    high_watermark: int
    log_end: int


@dataclass(frozen=True)
class AtRest:
    """A cluster in the end: replicas by partition and broker, and by broker the newest controller
    epoch that it knows, and the one in which it is the controller itself (0: it is not)."""

    replicas: Mapping[str, Mapping[int, ReplicaAtRest]]
    controller_epochs: Mapping[int, int]
    controllers: Mapping[int, int]


def _require(holds: bool, claim: str, why: str, wanted: str) -> None:
    if not holds:
        raise MisfitError(f"{claim}, once faults are over", why, wanted)


def controllership_at_rest(driver: ModelDriver, rest: AtRest) -> None:
    """Checks `all_brokers_know_the_controller`. Raises MisfitError."""
    claim = "all_brokers_know_the_controller"
    holder, epoch = driver.read("zk.controller"), driver.read("zk.epoch")
    _require(bool(holder), claim, "nobody is in /controller", "a broker")
    for broker, at in driver.of.items():
        if broker not in rest.controllers:
            continue  # it does not run
        believes = driver.read("belief.epoch", at) if driver.read("belief.held", at) else 0
        mine = epoch if at == holder else 0
        _require(
            believes == mine,
            claim,
            f"broker {broker} takes itself for the controller of epoch {believes}",
            f"epoch {mine}",
        )
        driver.expect(f"broker {broker}'s controllership", rest.controllers[broker], mine)
        heard = driver.read("seen", at)
        _require(heard == epoch, claim, f"broker {broker} has heard of controller epoch {heard}",
              f"epoch {epoch}")  # fmt: skip
        driver.expect(f"the controller epoch of broker {broker}",
                      rest.controller_epochs[broker], epoch)  # fmt: skip


def partition_at_rest(rest: AtRest, replay: PartitionReplay) -> None:
    """Checks, for running brokers, `a_leader_is_followed_by_all`, `produced_records_are_committed`,
    `the_isr_recovers`, and what each replica knows. Raises MisfitError."""
    read = replay.read
    leader, epoch = read("zk.leader"), read("zk.leader_epoch")
    named = replay.kafka_id(leader, -1)
    claim = "a_leader_is_followed_by_all"
    up, isr = set(rest.controllers), replay.members("zk.isr")
    if not up & isr:
        return  # nobody may lead
    _require(named in up, claim, "the partition has no leader that runs", "a leader")
    for broker, at in replay.of.items():
        if broker not in up:
            continue
        role, known = read("replica.role", at), read("replica.epoch", at)
        follows = read("replica.leader", at) == leader and role == _FOLLOWS
        _require(
            (role == _LEADS if at == leader else follows) and known == epoch, claim,
            f"broker {broker} does not {'lead' if at == leader else f'follow broker {named}'} in "
            f"leader epoch {epoch - 1}", "that it does",
        )  # fmt: skip
    end = read("log.end", leader)
    waits = read("isr_write.state", leader) != 0
    _require(not waits, "the_isr_recovers", "the leader waits for a write of the ISR", "an answer")
    has_lost_the_version = read("replica.zk_version", leader) != read("zk.version")
    _require(has_lost_the_version or isr == up, "the_isr_recovers",
          f"the ISR is {sorted(isr)}", f"the ISR is {sorted(up)}")  # fmt: skip
    for broker, at in replay.of.items():
        if broker in isr & up:
            reached = min(read("replica.hw", at), read("log.end", at))
            _require(has_lost_the_version or reached == end, "produced_records_are_committed",
                  f"broker {broker} has committed up to {replay.bounds[reached]}",
                  f"up to {replay.bounds[end]}")  # fmt: skip
    for broker, seen in rest.replicas[replay.partition].items():
        _knows(replay, broker, seen)


def _knows(replay: PartitionReplay, broker: int, seen: ReplicaAtRest) -> None:
    at, read = replay.of[broker], replay.read
    leads, its = read("replica.role", at) == _LEADS, f"of broker {broker} in the end"
    replay.expect(f"whether it leads, {its},", int(seen.leads), int(leads))
    replay.expect(f"the leader {its}", -1 if seen.leader is None else seen.leader,
                  broker if leads else replay.kafka_id(read("replica.leader", at), -1))  # fmt: skip
    replay.expect(f"the leader epoch {its}", seen.leader_epoch + 1, read("replica.epoch", at))
    replay.expect_offset(f"the log end {its}", seen.log_end, read("log.end", at))
    replay.expect_offset(f"the high watermark {its}", seen.high_watermark, read("replica.hw", at))
    if leads:
        known = replay.versions.get(seen.zk_version, -1)
        replay.expect(f"the zkVersion {its}", known, read("replica.zk_version", at))
        isr = replay.members("replica.isr", at)
        if set(seen.isr) != isr:
            raise MisfitError(f"{replay.named} ends as the model's step does",
                              f"the ISR {its} is {sorted(seen.isr)}, where the model has "
                              f"{sorted(isr)}", f"the ISR is {sorted(isr)}")  # fmt: skip
