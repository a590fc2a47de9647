"""Takes both sides along: a step of `replication`, and the abstract steps that its line names.

After it the two states must be coupled, and the proof's invariants hold of the abstract one. What
fails is told with both states and the first failing reason, in plain words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from model.language import RecordedSystem
from model.language.grounding import Grounded
from model.language.instances import Instance
from model.language.python_code import PythonCode, State
from model.replication.history import SYSTEM as HISTORY
from specs.chain.coupling import first_difference
from specs.chain.mapping import MAP, WITHOUT_LINE, Line, Step
from specs.chain.view import Layout, View
from specs.invariants import Invariant, Proof
from specs.obligations import conjuncts
from specs.proofs.no_message_loss import PROOF
from specs.reading import Reading, named, text, told_arguments

SHARED = ("brokers", "log", "records", "epoch", "versions")
"""Bounds that both sides have."""

OFFICE = (
    "zk.controller", "zk.epoch", "zk.registered", "zk.state_epoch", "campaign", "reply_lost",
    "belief", "cache.", "spent.", "gave_up",
)  # fmt: skip
"""Fields of the controller's office, which no coupling speaks of: pairs that differ there alone are
judged once."""

Pair = tuple[State, State]
"""A state of `replication`, and one of the proof's form."""


@dataclass(frozen=True)
class Failure:
    """Why a step of `replication` is none of the proof's form, or an invariant fails after it."""

    kind: str
    """`step`, `coupling` or `invariant`."""
    rule: str
    why: str


class Broken(Exception):
    """A step that fails, with its number and what came of the other side before it failed."""

    def __init__(self, failure: Failure, number: int, seen: State) -> None:
        super().__init__(failure.why)
        self.failure, self.number, self.seen = failure, number, seen


class _Edge:
    """See `specs.chain.mapping.Edge`."""

    def __init__(self, chain: Simulation, instance: Instance, now: View, after: View, seen: View):
        self._chain, self._instance = chain, instance
        self.now, self.after, self.seen = now, after, seen

    def __getitem__(self, parameter: str) -> Any:
        position = list(self._instance.step.parameters).index(parameter)
        return self._instance.arguments[position]

    def then(self, step: str, **parameters: int) -> View:
        instance = self._chain.numbered[step, tuple(parameters.values())]
        after = self._chain.code.attempt(instance, self.after.state)
        assert after is not None, f"{instance.label} is not possible"
        return View(self._chain.layout, after)


class Simulation:
    """Both systems within the same bounds, and the map between them."""

    def __init__(
        self,
        recorded: RecordedSystem,
        bounds: Mapping[str, int],
        proof: Proof = PROOF,
        lines: Mapping[str, Line] = MAP,
    ) -> None:
        self.recorded, self.bounds, self.lines = recorded, dict(bounds), lines
        # The claim keeps what is committed; what clients were told is not asked for.
        self.code = PythonCode(Grounded(recorded, self.bounds, ["no_message_loss"]))
        self.layout = Layout(self.code)
        self.instances = self.code.grounded.instances
        self.numbered = {(one.step.transition.name, one.arguments): one for one in self.instances}
        self.spare = [0] * len(self.instances), bytearray(len(self.code.grounded.reasons))
        history = HISTORY.recorded()
        terms = conjuncts(proof, history)
        shared = {name: self.bounds[name] for name in SHARED}
        grounded = Grounded(history, shared, [], also=[one.term for one in terms])
        self.form = PythonCode(grounded)
        self.form_layout = Layout(self.form)
        self._forms = {_key(one): one for one in grounded.instances}
        sentences: dict[str, Invariant] = {one.name: one for one in proof.invariants}
        self.invariants = [
            (sentences[one.name], self.form.condition(grounded.ground(one.term, {})))
            for one in terms
        ]
        self._core = itemgetter(*(
            cell.number
            for cell in self.code.grounded.cells
            if not cell.field.name.startswith(OFFICE)
        ))  # fmt: skip
        self._after: dict[tuple[State, Step], State | Failure] = {}
        self._coupled: dict[tuple[Any, State], Failure | None] = {}
        self.judged: dict[State, Failure | None] = {}
        """Every abstract state that was reached, and the invariant that fails there, if any."""

    @property
    def initial(self) -> Pair:
        """Both initial states, judged as every other pair is."""
        pair = self.code.initial, self.form.initial
        failure = self.judge(*pair)
        if failure is not None:
            raise Broken(failure, -1, self.form.initial)
        return pair

    def successors(self, state: State) -> list[tuple[int, State]]:
        """The steps of `replication` from a state, by the numbers of their instances."""
        return self.code.successors(state, *self.spare, {})

    def follow(self, pair: Pair, number: int, after: State) -> tuple[State, tuple[str, ...]]:
        """The other side's state after a step, and its steps to there; raises Broken if it has
        none that the map allows."""
        seen, names = pair[1], []
        for step in self.steps(pair, number, after):
            done = self._take(seen, step)
            if isinstance(done, Failure):
                raise Broken(done, number, seen)
            seen = done
            names.append(step[0])
        return seen, tuple(names)

    def steps(self, pair: Pair, number: int, after: State) -> list[Step]:
        """The abstract steps of a step; raises Broken where its line does not allow them."""
        instance = self.instances[number]
        name = instance.step.transition.name
        line = self.lines.get(name)
        if line is None:
            assumed = WITHOUT_LINE.get(name, "there is no such step")
            raise Broken(
                Failure("step", "no line in the map", f"the proof assumes that {assumed}"),
                number, pair[1],
            )  # fmt: skip
        if not line.steps:
            return []
        edge = _Edge(
            self, instance, View(self.layout, pair[0]), View(self.layout, after),
            View(self.form_layout, pair[1]),
        )  # fmt: skip
        steps = line.read(edge)
        order = iter(line.steps)
        if not all(step in order for step, _ in steps):
            shown = " then ".join(step for step, _ in steps)
            allowed = f"the line of {name} allows {' then '.join(line.steps)}"
            raise Broken(Failure("step", shown, allowed), number, pair[1])
        return steps

    def judge(self, after: State, seen: State) -> Failure | None:
        """Are the two coupled, and does every invariant hold? The first thing that is wrong."""
        core = self._core(after), seen
        if core not in self._coupled:
            self._coupled[core] = self._first_difference(after, seen)
        if seen not in self.judged:
            self.judged[seen] = self._first_invariant(seen)
        return self._coupled[core] or self.judged[seen]

    def _first_difference(self, after: State, seen: State) -> Failure | None:
        wrong = first_difference(View(self.layout, after), View(self.form_layout, seen))
        if wrong is None:
            return None
        sentence, (here, there) = wrong
        return Failure("coupling", sentence, f"{_shown(here)} here, {_shown(there)} there")

    def _first_invariant(self, seen: State) -> Failure | None:
        for invariant, holds in self.invariants:
            if not holds(seen):
                return Failure("invariant", invariant.name, f"not so: {invariant.sentence}")
        return None

    def _take(self, seen: State, step: Step) -> State | Failure:
        known = self._after.get((seen, step))
        if known is None:
            known = self._after[seen, step] = self._attempt(seen, step)
        return known

    def _attempt(self, seen: State, step: Step) -> State | Failure:
        name, parameters = step
        shown = f"{name}({named({k: _plain(v) for k, v in parameters})})"
        instance = self._forms.get((name, tuple(sorted(parameters))))
        if instance is None:
            return Failure("step", shown, "there is no such step, or not with these parameters")
        after = self.form.attempt(instance, seen)
        if after is not None:
            return after
        position = self.form.first_refusal(instance, seen)
        if position is None:
            return Failure("step", shown, "it leads beyond a bound")
        reason = self.form.grounded.reasons[instance.requires[position][1]][1]
        return Failure("step", shown, f"not possible there: {reason} — false")

    # -- telling ------------------------------------------------------------------------------

    def told(self, pair: Pair, broken: Broken, after: State | None) -> list[str]:
        """Both states, the step, and what is wrong, line by line."""
        lines = ["replication is in", *_leaves(self.code, pair[0])]
        lines += ["the proof's form is in", *_leaves(self.form, pair[1])]
        if after is not None:
            instance = self.instances[broken.number]
            label = f"{instance.step.transition.name}({named(told_arguments(instance))})"
            lines += [f"the step {label} gives", *_changes(self.code, pair[0], after)]
            line = self.lines.get(instance.step.transition.name)
            if line is not None:
                what = " then ".join(line.steps) if line.steps else "a stutter"
                lines += [f"by the map it is {what}: {line.why}"]
            if broken.seen != pair[1]:
                lines += ["and there", *_changes(self.form, pair[1], broken.seen)]
        return [*lines, f"{broken.failure.rule}: {broken.failure.why}"]


def _key(instance: Instance) -> tuple[str, tuple[tuple[str, object], ...]]:
    arguments = zip(instance.step.parameters, instance.arguments, strict=True)
    return instance.step.transition.name, tuple(sorted(arguments))


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else value


def _shown(value: object) -> str:
    return text(sorted(value), is_set=True) if isinstance(value, frozenset) else text(value)


def _leaves(code: PythonCode, state: State) -> Iterator[str]:
    reading = Reading(code.grounded)
    blank = reading.leaves(code.grounded.initial)
    leaves = reading.leaves(code.decode(state))
    shown = [(path, value) for path, value in leaves.items() if value != blank[path]]
    for path, value in shown:
        yield f"    {path} = {text(value, is_set=reading.is_set(path))}"
    if not shown:
        yield "    (the initial state)"


def _changes(code: PythonCode, before: State, after: State) -> Iterator[str]:
    reading = Reading(code.grounded)
    for path, pair in reading.changes(code.decode(before), code.decode(after)).items():
        yield f"    {reading.change_text(path, pair)}"
