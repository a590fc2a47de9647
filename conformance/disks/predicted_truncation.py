"""Asks the model where a follower truncates when it starts again under a leader.

The steps of `replication` after a LeaderAndIsr of a new leader epoch are taken, with the two logs
as they are on the disks: the leader begins, the follower follows, and asks and truncates until it
may fetch. Offsets that neither log distinguishes are one record, and epochs are renumbered.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from model.systems import system
from specs.partial.compiled_steps import CompiledSteps

Run = tuple[int, int, int]
"""Leader epoch (-1 where batches name none), first offset, offset after the last."""

_FOLLOWER, _LEADER = 1, 2
_CONTROLLER = 1


@dataclass(frozen=True)
class EpochRuns:
    """A replica's log as runs of one epoch each; `end` is its log end, `hw` its high watermark."""

    runs: tuple[Run, ...]
    start: int
    end: int
    hw: int

    def epoch_at(self, offset: int) -> int | None:
        """The epoch of the record there, or of the first one after a gap; None if there is none."""
        starts = [first for _, first, _ in self.runs]
        at = bisect_right(starts, offset) - 1
        if at < 0:
            return self.runs[0][0] if self.runs else None
        epoch, _, end = self.runs[at]
        if offset < end or at + 1 == len(self.runs):
            return epoch
        return self.runs[at + 1][0]

    @property
    def has_epochs(self) -> bool:
        """Whether every batch has its leader epoch: those before 0.11 have none."""
        return all(epoch >= 0 for epoch, _, _ in self.runs)


def preset_for(release: str) -> str:
    """The newest preset that is not newer than a release; presets are named by what changed."""
    presets = sorted(system("replication").versions, key=_number)
    older = [name for name in presets if _number(name) <= _number(release)]
    return older[-1] if older else presets[0]


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".")[:2] if part.isdigit())


def truncated_end(follower: EpochRuns, leader: EpochRuns, preset: str) -> int:
    """The log end offset of `follower` once it may fetch from `leader`, by a release's rules.

    Logs with batches without an epoch are truncated to the high watermark, as up to 0.10.
    """
    if not (follower.has_epochs and leader.has_epochs):
        preset = preset_for("0.10")
    places = _places(follower, leader)
    epochs = sorted({epoch for held in (follower, leader) for epoch, _, _ in held.runs})
    number = {epoch: n for n, epoch in enumerate(epochs, 1)}
    newest = len(epochs) + 1
    moves = _moves(preset)
    ledger, code = moves.ledger, moves.numbers
    ledger.load({})
    changes: list[tuple[int, tuple[int, ...], object]] = [(code["elected"], (newest,), _LEADER)]
    for broker, held, other in ((_FOLLOWER, follower, leader), (_LEADER, leader, follower)):
        end = places.index(held.end)
        changes += [
            (code["up"], (broker,), True),
            (code["log.end"], (broker,), end),
            (code["replica.hw"], (broker,), places.index(min(held.hw, held.end))),
            (code["request.in_flight"], (newest, _CONTROLLER, broker), True),
        ]
        last = None
        for at in range(end):
            found = held if places[at] >= held.start else other
            epoch = found.epoch_at(places[at])
            last = number[held.runs[0][0] if epoch is None else epoch]
            changes.append((code["log.at.epoch"], (broker, at), last))
        if last is not None:
            changes.append((code["replica.latest_epoch"], (broker,), last))
    ledger.apply(changes)
    _take(moves, "broker_becomes_leader", _LEADER, newest, _CONTROLLER)
    _take(moves, "broker_becomes_follower", _FOLLOWER, newest, _CONTROLLER)
    for _ in range(len(places) + len(epochs)):
        if not ledger.read(code["replica.truncating"], (_FOLLOWER,)):
            break
        _take(moves, "follower_sends_epoch_request", _FOLLOWER, _LEADER)
        _take(moves, "leader_answers_epoch", _LEADER, _FOLLOWER)
        _take(moves, "follower_truncates", _FOLLOWER, _LEADER)
    return places[int(ledger.read(code["log.end"], (_FOLLOWER,)))]


def _places(one: EpochRuns, other: EpochRuns) -> Sequence[int]:
    """Every offset at which something changes in one of the logs."""
    found = {min(one.start, other.start)}
    for held in (one, other):
        found |= {held.end, min(held.hw, held.end)}
        found |= {offset for _, first, end in held.runs for offset in (first, end)}
    return sorted(offset for offset in found if offset >= 0)


def _take(moves: CompiledSteps, name: str, *arguments: int) -> None:
    step = moves.by_name[name]
    refused = step.refusal(*arguments)
    if refused >= 0:
        reason = step.recorded.requires[refused].reason
        raise AssertionError(f"{name}{arguments} is refused: {reason}")
    moves.take(step, arguments)


@cache
def _moves(preset: str) -> CompiledSteps:
    moves = CompiledSteps(system("replication").recorded(preset), {"brokers": 2}, frozenset())
    moves.ledger.is_keyed = False
    return moves
