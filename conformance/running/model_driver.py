"""Drives a model by lines: takes steps, reports refusals, compares values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from conformance.running.process_traces import MissingField, TraceLine
from conformance.running.result import LeftToOthers, MisfitError, NotModelled, ReplayResult
from model.language.sparse import Index
from specs.partial.compiled_steps import CompiledSteps


class UnknownBroker(Exception):
    """A line names a broker that no file and no registration names."""


class BrokerNumbers(dict[int, int]):
    """The model's numbers of Kafka's brokers."""

    def __missing__(self, broker: int) -> int:
        raise UnknownBroker(broker)


class ModelDriver(ABC):
    """Drives a model by trace lines. `ids` are Kafka's broker ids; the model counts from 1."""

    def __init__(self, moves: CompiledSteps, ids: list[int], done: ReplayResult) -> None:
        self.moves, self.ledger, self.numbers = moves, moves.ledger, moves.numbers
        self.ids = ids
        self.of = BrokerNumbers((one, number) for number, one in enumerate(ids, 1))
        self.done = done
        self.line: TraceLine | None = None
        self._end: Callable[[], None] = lambda: None

    def ends_with(self, look: Callable[[], None]) -> None:
        """Has `look` called on the state after the last line; `look` raises MisfitError."""
        self._end = look

    @abstractmethod
    def lines(self) -> Iterable[TraceLine]:
        """The lines that it looks at, in order."""

    @abstractmethod
    def take(self, line: TraceLine) -> None:
        """Replays one line. Raises MisfitError, NotModelled."""

    def run(self) -> ReplayResult:
        """Replays all lines, up to the first that does not fit."""
        lines = iter(self.lines())
        try:
            for line in lines:
                self.line = self.done.at = line
                self.take(line)
                self.ledger.journal.clear()
            self._end()
        except MisfitError as misfit:
            self.done.misfit = misfit
        except LeftToOthers as beyond:
            self.done.beyond = str(beyond)
        except NotModelled as beyond:
            self.done.unknown = str(beyond)
        except UnknownBroker as strange:
            self.done.misfit = MisfitError(
                f"{self.named} names brokers of the cluster", f"there is no broker {strange}",
                f"one of {', '.join(map(str, self.ids))}",
            )  # fmt: skip
        except MissingField as field:
            self.done.unknown = f"the line has no {field}, which its step has"
        except (TypeError, ValueError, IndexError, AttributeError) as error:
            self.done.unknown = f"a value in the line is of another kind than its step has: {error}"
        looked_at = self.done.lines
        for _ in lines:
            pass
        self.done.left, self.done.lines = self.done.lines - looked_at, looked_at
        return self.done

    def step(self, name: str, *arguments: int) -> None:
        """Takes a step of the model; MisfitError says why it is not possible."""
        lacking = self.refusal(name, *arguments)
        if lacking:
            raise MisfitError(
                f"{self.named} is a step of the model", f"{name}: {lacking}",
                "the line only when what is said to be false holds",
            )  # fmt: skip
        self.moves.take(self.moves.by_name[name], arguments)
        self.done.fired[name] += 1

    def refusal(self, name: str, *arguments: int) -> str:
        """Why a step is not possible; empty if it is."""
        move = self.moves.by_name.get(name)
        if move is None:
            return "this release has no such step"
        at = move.refusal(*arguments)
        if at < 0:
            return ""
        values = dict(zip(move.parameters, arguments, strict=True))
        requirement = move.recorded.requires[at]
        return self.moves.twin.explain(requirement, self.ledger.state(), values)

    def force(self, reason: str, *cells: tuple[str, Index, int]) -> None:
        """Forces what the model abstracts from, without fields that this release lacks."""
        changes = [
            (self.numbers[name], index, code) for name, index, code in cells if name in self.numbers
        ]
        if any(self.ledger.read(number, index) != code for number, index, code in changes):
            self.ledger.apply(changes)
            self.done.forced[reason] += 1

    def read(self, name: str, *index: int) -> int:
        """A cell of the model."""
        return int(self.ledger.read(self.numbers[name], index))

    def expect(self, what: str, seen: int, mine: int, shown: str = "") -> None:
        """Checks that the model has what the line shows."""
        if seen != mine:
            text = shown or f"{what} is {seen}, where the model has {mine}"
            raise MisfitError(
                f"{self.named} ends as the model's step does", text, f"{what} is {mine}"
            )

    @property
    def named(self) -> str:
        """The step that the line names."""
        assert self.line is not None, "a line is being judged"
        return self.line.step

    def members(self, name: str, *index: int) -> set[int]:
        """A set of the model's, as Kafka's ids."""
        number = self.numbers[name]
        return {one for one, at in self.of.items() if self.ledger.read(number, (*index, at))}

    def set_cells(
        self, name: str, index: Index, members: Iterable[int]
    ) -> list[tuple[str, Index, int]]:
        """Cells that make a set of Kafka's ids."""
        wanted = {*members}
        return [(name, (*index, at), int(one in wanted)) for one, at in self.of.items()]

    def kafka_id(self, at: int, none: int) -> int:
        """Kafka's id of one of the model's brokers."""
        return self.ids[at - 1] if at else none
