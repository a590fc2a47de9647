"""Explains a mismatch: the last accepted step, what the model says, and a short run to it.

The steps are those of the implementation. The report says how the sides differ: the implementation
takes a step that the model refuses, reaches another state, or lacks a step that the model allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.edges import EdgeMismatch
from conformance.lockstep import BOUNDS, Lockstep, Mismatch
from conformance.mapping import MAP, SystemMap, implementation_arguments
from conformance.model_stepper import Key, ModelStepper
from impl.sim.simulation import Step
from model.language.evaluate import Evaluator, SparseState
from model.language.scalars import blank_term
from model.language.sorts import Sort
from specs.story.heading import heading_line
from specs.story.play import play
from specs.story.read import RULE, parse
from specs.story.rerecord import rerecorded

MOST_TRIES = 600
"""Shorter runs that are tried before the shortest so far is reported."""


@dataclass(frozen=True)
class Diagnosis:
    """What an engineer needs to know about one mismatch."""

    what: str
    last_accepted: str
    candidates: tuple[str, ...]
    """Each step of the model that it could have been, with what refuses it or where it differs."""
    nearest: str
    steps: tuple[str, ...]
    """The shortest failing run found, the failing step last."""
    story: str

    def as_text(self) -> str:
        """The report."""
        parts = [
            self.what,
            f"last accepted: {self.last_accepted}",
            "what the model says:",
            *(f"    {line}" for line in self.candidates),
            f"nearest accepted alternative: {self.nearest}",
            f"the shortest failing run found, {len(self.steps)} steps:",
            *(f"    {line}" for line in self.steps),
            "as a story, which plays on both sides (insync story FILE --on both):",
            *(f"    {line}".rstrip() for line in self.story.splitlines()),
        ]
        return "\n".join(parts)


@dataclass
class _Failure:
    """A run that fails: where, and both sides just before the failing step."""

    steps: list[Step]
    message: str
    keys: list[Key]
    state: Any
    facts_after: dict[tuple[str, tuple[int, ...]], int] | None
    candidates: list[Key] = field(default_factory=list)

    @property
    def kind(self) -> tuple[str, str]:
        """Two runs with the same kind show the same fault."""
        offers = "the implementation can take" in self.message
        return self.steps[-1].name, "refused" if offers else "differs"


@dataclass(frozen=True)
class LockstepSetup:
    """What runs in lock-step: a system by its map, within bounds, in a release (None: default)."""

    about: SystemMap = MAP
    bounds: Mapping[str, int] = field(default_factory=lambda: dict(BOUNDS))
    version: str | None = None

    def begun(self) -> Lockstep:
        """Both sides at the start."""
        return Lockstep(self.bounds, about=self.about, version=self.version)

    def shown(self, step: Step) -> str:
        """A step of the implementation with its arguments by name."""
        pairs = zip(self.about.rows[step.name].parameters, step.args, strict=True)
        return f"{step.name}({', '.join(f'{name}={value}' for name, value in pairs)})"

    @property
    def model(self) -> ModelStepper:
        """The model's side."""
        return ModelStepper.of(dict(self.bounds), self.about, self.version)


def setup_within(bounds: Mapping[str, int] | None) -> LockstepSetup:
    """`replication` within bounds, in the default release."""
    return LockstepSetup() if bounds is None else LockstepSetup(bounds=dict(bounds))


def diagnose(
    steps: Sequence[Step],
    bounds: Mapping[str, int] | None = None,
    setup: LockstepSetup | None = None,
) -> Diagnosis | None:
    """Diagnoses the first mismatch on a run, shrunk; None where the run stays in step.

    Steps that are not possible are skipped. `setup` names the system; without it, it is
    `replication` within the bounds. Deterministic.
    """
    what = setup or setup_within(bounds)
    failure = _fails(steps, what)
    if failure is None:
        return None
    return _diagnosis(_shrunk(failure, what), what)


def diagnose_missing(
    steps: Sequence[Step],
    key: Key,
    bounds: Mapping[str, int] | None = None,
    setup: LockstepSetup | None = None,
) -> Diagnosis | None:
    """Diagnoses the reverse: the model allows a step that the implementation cannot be driven to.

    The run is shrunk while that stays true; None where both agree about that step after the run.
    """
    limits = setup or setup_within(bounds)
    found = _replay_to_missing(steps, key, limits)
    if found is None:
        return None
    tries, at, least = 0, 0, list(steps)
    while at < len(least) and tries < MOST_TRIES:
        shorter = least[:at] + least[at + 1 :]
        other = _replay_to_missing(shorter, key, limits)
        tries += 1
        if other is not None:
            least, found = other.taken, other
        else:
            at += 1
    model = found.model
    refusals = []
    for row in limits.about.steps_of[key[0]]:
        named = dict(zip(model.parameters[key[0]], key[1], strict=True))
        step = Step(row.step, implementation_arguments(row, named))
        why = found.world.why_not(step) or "possible, and it is another step of the model"
        said = f"the implementation says: not possible: {why} — false"
        refusals.append(f"{limits.shown(step)}: {said}")
    near = sorted(str(step) for step in found.world.enabled())
    lines = [f"quietly {_words(model, one)}" for one in found.keys]
    about = _shown(model, key)
    return Diagnosis(
        what=f"the model allows {about} and the implementation refuses it",
        last_accepted=limits.shown(least[-1]) if least else "the initial state",
        candidates=tuple(refusals),
        nearest=", ".join(near[:3]) or "the implementation can do nothing here",
        steps=tuple(limits.shown(step) for step in least),
        story=_as_story(model, limits.bounds, about, [*lines, _words(model, key)]),
    )


def diagnose_edge(found: EdgeMismatch, setup: LockstepSetup) -> Diagnosis | None:
    """Diagnoses the first mismatch of a walk over edges; None if no run shows it.

    A walk restores states without driving to them. So the implementation is driven along the
    model's path to that state; a mismatch at its end is then a mismatch of a run.
    """
    pair = setup.begun()
    taken: list[Step] = []
    try:
        for step in found.start:
            taken.append(step)
            pair.take(step)
        for key in found.way:
            steps = pair.driving_steps(key)
            if steps is None:
                return diagnose_missing(taken, key, setup=setup)
            for step in steps:
                taken.append(step)
                pair.take(step)
    except Mismatch:
        return diagnose(taken, setup=setup)
    missing = found.mismatch.key
    if missing is not None:
        return diagnose_missing(taken, missing, setup=setup)
    return diagnose([*taken, *found.mismatch.steps], setup=setup)


@dataclass
class _Missing:
    model: ModelStepper
    world: Any
    keys: list[Key]
    taken: list[Step]


def _replay_to_missing(steps: Sequence[Step], key: Key, setup: LockstepSetup) -> _Missing | None:
    pair = setup.begun()
    keys: list[Key] = []
    taken: list[Step] = []
    try:
        for step in steps:
            if pair.world.why_not(step) is not None:
                continue
            taken.append(step)
            pair.take(step)
            if pair.last is not None:
                keys.append(pair.last)
        if key in pair.model.enabled(pair.state) and pair.driving_steps(key) is None:
            return _Missing(pair.model, pair.world, keys, taken)
    except Mismatch:
        return None
    return None


def explained(
    mismatch: Mismatch,
    bounds: Mapping[str, int] | None = None,
    setup: LockstepSetup | None = None,
) -> Diagnosis | None:
    """Diagnoses a mismatch that was raised; None if it does not occur again."""
    if mismatch.key is not None:
        return diagnose_missing(mismatch.steps, mismatch.key, bounds, setup)
    return diagnose(mismatch.steps, bounds, setup)


def _fails(steps: Sequence[Step], setup: LockstepSetup) -> _Failure | None:
    pair = setup.begun()
    keys: list[Key] = []
    taken: list[Step] = []
    for step in steps:
        if pair.world.why_not(step) is not None:
            continue  # it needed a step that was left out
        taken.append(step)
        before, candidates = pair.state, pair.candidates(step)
        try:
            pair.take(step)
        except Mismatch as mismatch:
            message = str(mismatch).splitlines()[0]
            facts = None if "can take" in message else pair.facts()
            return _Failure(taken, message, keys, before, facts, candidates)
        if pair.last is not None:
            keys.append(pair.last)
    return None


def _shrunk(failure: _Failure, setup: LockstepSetup) -> _Failure:
    """Leaves out steps, many at once and then one by one, while the same fault occurs."""
    tries, size = 0, max(1, len(failure.steps) // 2)
    while size:
        at, before = 0, len(failure.steps)
        while at < len(failure.steps) - 1 and tries < MOST_TRIES:
            shorter = failure.steps[:at] + failure.steps[min(at + size, len(failure.steps) - 1) :]
            tries += 1
            other = _fails(shorter, setup)
            if other is not None and other.kind == failure.kind:
                failure = other
            else:
                at += size
        if tries >= MOST_TRIES:
            break
        if size > 1 or len(failure.steps) == before:
            size //= 2
    return failure


def _diagnosis(failure: _Failure, setup: LockstepSetup) -> Diagnosis:
    model = setup.model
    lines = []
    for key in failure.candidates:
        lines.append(f"{_shown(model, key)}: {_verdict_on(model, key, failure)}")
    failing = failure.steps[-1]
    accepted = failure.steps[:-1]
    return Diagnosis(
        what=failure.message,
        last_accepted=setup.shown(accepted[-1]) if accepted else "the initial state",
        candidates=tuple(lines),
        nearest=_closest_step(model, failure),
        steps=tuple(setup.shown(step) for step in (*accepted, failing)),
        story=_story(model, failure, setup),
    )


def _verdict_on(model: ModelStepper, key: Key, failure: _Failure) -> str:
    one = model.instances.get(key)
    if one is None:
        return "its arguments are beyond the bounds"
    position = model.code.first_refusal(one, failure.state)
    if position is not None:
        twin = Evaluator(model.recorded, model.grounded.bounds)
        step = one.step
        values = dict(zip(step.parameters, key[1], strict=True))
        requirement = next(
            r for r in step.requires
            if r.reason == model.grounded.reasons[one.requires[position][1]][1]
        )  # fmt: skip
        return twin.explain(requirement, _sparse(model, failure.state), values)
    after = model.enabled(failure.state).get(key)
    if after is None:
        return "only a bound forbids it"
    if failure.facts_after is None:
        return "possible"
    differences = model.differences(after, failure.facts_after)
    return "; ".join(differences) or "ends in the same state"


def _closest_step(model: ModelStepper, failure: _Failure) -> str:
    """The step that the model allows in that state and that is closest to the observed one."""
    enabled = model.enabled(failure.state)
    if failure.facts_after is None:
        same = sorted(key for key in enabled if key[0] in {one[0] for one in failure.candidates})
        names = [_shown(model, key) for key in same[:3]]
        return ", ".join(names) or "no step of this name is possible here"
    facts = failure.facts_after
    ranked = sorted((len(model.differences(after, facts)), key) for key, after in enabled.items())
    if not ranked:
        return "the model can do nothing here"
    count, key = ranked[0]
    word = "leaf" if count == 1 else "leaves"
    return f"{_shown(model, key)}, which differs in {count} {word}"


def _story(model: ModelStepper, failure: _Failure, setup: LockstepSetup) -> str:
    """The accepted steps as the model takes them, and what it says of the failing one."""
    lines = [f"quietly {_words(model, key)}" for key in failure.keys]
    enabled = model.enabled(failure.state)
    for key in failure.candidates:
        if key in enabled:
            lines.append(_words(model, key))
            break
        if key in model.instances:
            lines.append(f"refused {_words(model, key)}")
    return _as_story(model, setup.bounds, setup.shown(failure.steps[-1]), lines)


def _as_story(model: ModelStepper, bounds: Mapping[str, int], about: str, lines: list[str]) -> str:
    title = f"# {about}: what the model does where the implementation differs."
    heading = heading_line(model.recorded, dict(bounds))
    text = "\n".join([title, heading, "", *lines, f"check {_claim(model)}", RULE]) + "\n"
    outcome = play(parse(text, "mismatch.story"), model.recorded)
    if outcome.failed is not None:
        raise AssertionError(f"a mismatch cannot be reported as a story: {outcome.failed[1]}")
    return rerecorded(outcome)


def _claim(model: ModelStepper) -> str:
    """A claim about states that the release makes, for the story to end with."""
    claims = model.recorded.claims
    names = [name for name, (claim, _) in claims.items() if claim.kind == "always"]
    return "leader_unique" if "leader_unique" in names else names[0]


def _sparse(model: ModelStepper, state: Any) -> SparseState:
    found: SparseState = {}
    for cell, code in zip(model.grounded.cells, model.code.decode(state), strict=True):
        if code != int(blank_term(cell.field.sort).args[0]):
            found.setdefault(cell.field.name, {})[cell.index] = code
    return found


def _shown(model: ModelStepper, key: Key) -> str:
    return f"{key[0]}({', '.join(_given(model, key))})"


def _words(model: ModelStepper, key: Key) -> str:
    return " ".join([key[0], *_given(model, key)])


def _given(model: ModelStepper, key: Key) -> list[str]:
    """The arguments as stories write them."""
    parameters = next(
        step.parameters for step in model.recorded.steps if step.transition.name == key[0]
    )
    return [
        f"{name}={sort.show(value) if isinstance(sort, Sort) else value}"
        for (name, sort), value in zip(parameters.items(), key[1], strict=True)
    ]
