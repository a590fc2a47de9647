"""Drives the model `election` with log lines, with unbounded epochs.

A line shows a step of the model, or a part of its state. Events that no broker logs (ZooKeeper
sessions, reads, replies that arrive) are hidden steps, of which a line may need at most
`MOST_HIDDEN` before it. A run need not begin in the initial state: `begin` and `jump` set the
epochs that the lines show, which unlogged elections could also have reached.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from model.language.sparse import SparseState
from specs.partial.compiled_steps import CompiledSteps

SYSTEM = "election"
MOST_HIDDEN = 7
"""What an election needs that only its winner logs: the former session expires, its owner's
belief goes with its process, the winner connects, reads, hears of it, and sends."""


@lru_cache(maxsize=32)
def _moves(brokers: int, preset: str, switch: str | None) -> CompiledSteps:
    from model.systems import system
    from model.versions import SWITCHES

    back = {} if switch is None else {switch: SWITCHES[switch].values[0]}
    recorded = system(SYSTEM).recorded(preset, back)
    moves = CompiledSteps(recorded, {"brokers": brokers}, frozenset())
    moves.ledger.is_keyed = False
    return moves


@lru_cache
def steps_and_reasons() -> dict[str, tuple[str, ...]]:
    """Every step of the system, with the reasons that can refuse it."""
    from model.systems import system

    recorded = system(SYSTEM).recorded(system(SYSTEM).default_version)
    return {
        step.transition.name: tuple(require.reason for require in step.requires)
        for step in recorded.steps
    }


@lru_cache
def reverted_switches(preset: str) -> tuple[str, ...]:
    """The switches of `election` that have their later value in a release."""
    from model.systems import system
    from model.versions import SWITCHES

    values = system(SYSTEM).version(preset).switches
    return tuple(name for name in sorted(values) if values[name] != SWITCHES[name].values[0])


class ControllershipModel:
    """One run of the model. Brokers are numbered from 1 here, whatever their ids are.

    `taken` counts the steps that lines show, `hidden` the steps between them, and `refused` the
    refusals that lines show, by step and reason.
    """

    def __init__(self, brokers: int, preset: str) -> None:
        size = 4
        while size < brokers:
            size *= 2
        self._size, self.preset = size, preset
        self._own = _moves(size, preset, None)
        self._own.ledger.load({})
        self.taken: Counter[str] = Counter()
        self.hidden: Counter[str] = Counter()
        self.refused: Counter[tuple[str, str]] = Counter()

    # -- the state ------------------------------------------------------------------------------

    def _read(self, name: str, *index: int) -> int:
        return int(self._own.ledger.read(self._own.numbers[name], index))

    def _put(self, name: str, index: tuple[int, ...], code: int) -> None:
        self._own.ledger.apply([(self._own.numbers[name], index, code)])

    @property
    def epoch(self) -> int:
        """The controller epoch in ZooKeeper."""
        return self._read("zk.epoch")

    @property
    def owner(self) -> int:
        """The broker that owns /controller; 0 if there is none."""
        return self._read("zk.controller")

    def belief(self, broker: int) -> int:
        """The epoch under which a broker believes that it is the controller; 0 if it does not."""
        return self._read("belief.epoch", broker) if self._read("belief.held", broker) else 0

    def known_controller_epoch(self, broker: int) -> int:
        """The highest controller epoch that a broker knows."""
        return self._read("seen", broker)

    def was_sent(self, sender: int, epoch: int) -> bool:
        """Whether a request of this controller epoch was ever sent."""
        return bool(self._read("sent", sender, epoch))

    def jump(self, epoch: int) -> None:
        """Sets the epoch after elections that no line shows; no broker is the controller then."""
        self._put("zk.controller", (), 0)
        self._put("zk.epoch", (), epoch)
        self._put("zk.epoch_version", (), epoch)

    def forget(self, broker: int) -> None:
        """Clears what a broker knew of controllers, where the model would keep it."""
        self._put("seen", (broker,), 0)

    def suppose_controllership(self, broker: int, epoch: int) -> None:
        """Lets a broker that was elected before the first line believe in its epoch."""
        self._believes(broker, epoch)
        self.suppose_sent(broker, epoch)

    def _believes(self, broker: int, epoch: int) -> None:
        self._put("belief.held", (broker,), True)
        self._put("belief.epoch", (broker,), epoch)
        self._put("belief.version", (broker,), epoch)

    def suppose_sent(self, sender: int, epoch: int) -> None:
        """Assumes that a controller from before the first line sent what is obeyed now."""
        self._put("sent", (sender, epoch), True)

    # -- steps ----------------------------------------------------------------------------------

    def refusal(self, step: str, *arguments: int) -> str | None:
        """The first requirement that fails, in the words of the model; None if none fails."""
        move = self._own.by_name[step]
        lacking = move.refusal(*arguments)
        return None if lacking < 0 else move.recorded.requires[lacking].reason

    def take(self, step: str, *arguments: int, hidden: bool = False, lines: int = 1) -> bool:
        """Takes a step, if it is possible."""
        move = self._own.by_name[step]
        if move.refusal(*arguments) >= 0:
            return False
        self._own.take(move, arguments)
        self._own.ledger.journal.clear()
        (self.hidden if hidden else self.taken)[step] += lines
        return True

    def write(self, broker: int, lines: int) -> bool:
        """Starts and completes a write of the partition's state; returns whether it is applied.

        A controller whose write the fence refused resigns in a log line of its own.
        """
        epoch = self.belief(broker)
        if self._own.by_name["controller_starts_write"].refusal(broker) >= 0:
            return False
        fits = self.fence(broker) is None
        self.take("controller_starts_write", broker, hidden=not fits, lines=lines)
        self.take("write_is_applied" if fits else "write_is_refused", broker, lines=lines)
        if not fits:
            self._believes(broker, epoch)
        return fits

    def fence(self, broker: int) -> tuple[str, str | None] | None:
        """The reason why this controller's write is refused, and the switch that causes it."""
        mark = self._own.ledger.mark()
        self._own.take(self._own.by_name["controller_starts_write"], (broker,))
        reason = self.refusal("write_is_applied", broker)
        switch = None if reason is None else self.fits_without("write_is_applied", broker)
        self._own.ledger.undo(mark)
        return None if reason is None else (reason, switch)

    def fits_without(self, step: str, *arguments: int) -> str | None:
        """The switch of a historic bug without which the step would be possible here."""
        state: SparseState = self._own.ledger.state()
        for switch in reverted_switches(self.preset):
            moves = _moves(self._size, self.preset, switch)
            moves.ledger.load(state)
            if moves.by_name[step].refusal(*arguments) < 0:
                return switch
        return None
