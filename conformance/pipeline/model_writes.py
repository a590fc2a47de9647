"""Asks the model whether one write leads from a partition's state in ZooKeeper to another state.

It tries the transitions of `replication` that write this state, under the switches of a release. It
starts from any state in which each broker's belief is what was registered under the same version
(`_agree`; a test checks it against the model's states). What controller logs cannot show (replica
logs, sessions, messages in flight) is left to the solver. Brokers that the two states treat alike
are renamed to one, so that a corpus asks a few dozen questions, and each only once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specs.bounded.bits import Bits
    from specs.lowering.grounding import Grounded

SYSTEM = "replication"
WRITES = (
    "controller_elects_leader", "controller_removes_replica", "leader_shrinks_isr",
    "leader_expands_isr",
)  # fmt: skip
_UNCLEAN, _KEEPS_LAST = "unclean_leader_election", "isr_keeps_last_member"
"""Switches that an operator sets: what fits only with one of them is no bug."""

LEFT_OUT = frozenset((("controller_removes_replica", "leader or ISR change by it"),))
"""What the model requires only to have fewer steps: a new controller writes a dead
last member's partition once more, under the next leader epoch, although it has no leader already
(ZkReplicaStateMachine.doRemoveReplicasFromIsr; real logs of 1.0 and 2.5 show it)."""

_WORK = 20_000_000  # of Z3's own measure, for one question; a hard one takes a hundredth
_BEFORE, _LATER, _NEWEST = 2, 3, 4  # controller epochs of a question; 1 is older than the first
_BROKERS = 3  # at the least: so that most questions are asked of one grounding


@dataclass(frozen=True)
class Shape:
    """Two states under neighbouring versions, with brokers renamed to 1..n and epochs relative.

    Members are (in the ISR before, in it after); a leader is a member's number, 0 if none.
    `epoch` is the increase of the leader epoch; `writer` the change of the controller epoch, -1, 0
    or 1, or None where it is not known for certain.
    """

    members: tuple[tuple[bool, bool], ...]
    leader: int
    after: int
    epoch: int
    writer: int | None = None


def shape_of(
    before: tuple[int, frozenset[int]], after: tuple[int, frozenset[int]],
    epoch: int, writer: int | None = None,
) -> Shape:  # fmt: skip
    """The question about (leader, ISR) before and after; a leader of -1 is none.

    A leader that drops several replicas at once does what the model does one after another, so all
    dropped replicas count as one; of those that return, two are kept.
    """
    leaders = [b for b in dict.fromkeys((before[0], after[0])) if b >= 0]
    kinds: dict[tuple[bool, bool], int] = {}
    members = [(b in before[1], b in after[1]) for b in leaders]
    for broker in sorted((before[1] | after[1]) - set(leaders)):
        kind = broker in before[1], broker in after[1]
        kinds[kind] = kinds.get(kind, 0) + 1
        if kinds[kind] <= (2 if kind == (False, True) else 1):
            members.append(kind)
    places = {-1: 0} | {broker: n + 1 for n, broker in enumerate(leaders)}
    rest = sorted(members[len(leaders) :])
    return Shape(
        (*members[: len(leaders)], *rest), places[before[0]], places[after[0]], epoch, writer
    )


@dataclass(frozen=True)
class Fit:
    """The model's step for a write, "" if none; `switch`: it fits only if this is reverted."""

    step: str = ""
    switch: str = ""
    unknown: bool = False


@lru_cache(maxsize=65536)
def fit(shape: Shape, presets: tuple[str, ...]) -> Fit:
    """The step that fits in one of these releases; otherwise the switch to revert for one to fit.

    Switches are reverted in the last of the releases.
    """
    for preset in presets:
        found = _asked(shape, preset, None)
        if found.step or found.unknown:
            return found
    for switch in reverted_switches(presets[-1]):
        found = _asked(shape, presets[-1], switch)
        if found.step:
            return Fit(found.step, switch)
    return Fit()


@lru_cache
def reverted_switches(preset: str) -> tuple[str, ...]:
    """The switches of `replication` that have their later value in a release."""
    from model.systems import system
    from model.versions import SWITCHES

    values = system(SYSTEM).version(preset).switches
    names = [name for name in values if values[name] != SWITCHES[name].values[0]]
    # An unconditional write explains most, so it is asked about last.
    return tuple(sorted(names, key=lambda name: (name == "isr_write_conditional", name)))


def is_configured(switch: str | None, presets: tuple[str, ...]) -> bool:
    """Whether `unclean.leader.election.enable` sets the switch; up to 1.0 it also decides whether
    the last member stays in the ISR."""
    return switch == _UNCLEAN or (switch == _KEEPS_LAST and _number(presets[-1]) < (1, 1))


@lru_cache
def presets_for(release: str | None) -> tuple[str, ...]:
    """The presets that may apply to a release such as "2.5.0": the newest that is not newer.

    Up to 0.10 the next one as well, because clean elections, the default since 0.11, could be
    configured. Without a release, all presets: then nothing counts as impossible that some
    release could do.
    """
    from model.systems import system

    presets = sorted(system(SYSTEM).versions, key=_number)
    if release is None:
        return tuple(presets)
    older = [name for name in presets if _number(name) <= _number(release)]
    return (older[-1],) if len(older) > 1 else tuple(presets[:2])


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".")[:2] if part.isdigit())


# --- one question -----------------------------------------------------------------------------


def _asked(shape: Shape, preset: str, switch: str | None) -> Fit:
    from specs.bounded.unrolling import RlimitSpent, Solver

    asking = _asking(max(_BROKERS, len(shape.members)), preset, switch)
    if asking is None:
        return Fit()
    solver = Solver(_WORK)
    question = solver.fresh(asking.bits.context)
    question.add(*asking.common, *asking.shown(shape))
    # One after another: of several that fit, a solver's model names whichever it came to first.
    try:
        for name, formula in asking.write_formulas.items():
            question.push()
            question.add(formula)
            if solver.check(question):
                return Fit(name)
            question.pop()
    except RlimitSpent:
        return Fit(unknown=True)
    return Fit()


class _Asking:
    """The transitions that write the state, for this number of brokers, over bits."""

    def __init__(self, grounded: Grounded, bits: Bits) -> None:
        from specs.bounded.bits import Frame

        self.grounded, self.bits = grounded, bits
        self.now, self.after = bits.state("now"), bits.state("after")
        self.frame = Frame(bits, self.now)
        self.cells = {(cell.field.name, cell.index): cell for cell in grounded.cells}
        self.common = [*self._domains(), *_agree(self)]

    def cell(self, name: str, *index: int) -> Any:
        """A cell of the state before."""
        return self.now[self.cells[name, index].number]

    def shown(self, shape: Shape) -> Iterator[Any]:
        """Both states, as they are logged."""
        missing = self.grounded.bounds["brokers"] - len(shape.members)
        before: dict[tuple[str, tuple[int, ...]], int | bool] = {
            ("zk.leader", ()): shape.leader,
            ("zk.leader_epoch", ()): 1,
            ("zk.version", ()): 1,
            ("zk.state_epoch", ()): _BEFORE,
        }
        after = before | {
            ("zk.leader", ()): shape.after,
            ("zk.leader_epoch", ()): 1 + shape.epoch,
            ("zk.version", ()): 2,
        }
        if shape.writer is None:
            del after["zk.state_epoch", ()]
        else:
            after["zk.state_epoch", ()] = _BEFORE + shape.writer
        for n, (was, becomes) in enumerate([*shape.members, *[(False, False)] * missing], 1):
            before["zk.isr", (n,)], after["zk.isr", (n,)] = was, becomes
        for state, codes in ((self.now, before), (self.after, after)):
            for key, code in codes.items():
                yield state[self.cells[key].number] == code

    @cached_property
    def write_formulas(self) -> dict[str, Any]:
        """By name, the formula that a step leads from the state before to the one in ZooKeeper."""
        import z3

        steps: dict[str, list[Any]] = {name: [] for name in WRITES}
        registered = [cell.number for key, cell in self.cells.items() if key[0].startswith("zk.")]
        reasons = self.grounded.reasons
        for instance in self.grounded.instances:
            parts = [
                self.frame.formula(condition)
                for condition, reason in instance.requires
                if reasons[reason] not in LEFT_OUT
            ]
            parts += [self.frame.formula(check.fine) for check in instance.checks]
            for number in registered:
                written = instance.writes.get(number)
                becomes = self.now[number] if written is None else self.frame.formula(written)
                parts.append(self.after[number] == becomes)
            steps[instance.step.transition.name].append(z3.And(parts))
        context = self.bits.context
        return {name: z3.Or([z3.BoolVal(False, context), *some]) for name, some in steps.items()}

    def _domains(self) -> Iterator[Any]:
        import z3

        for cell, value in zip(self.grounded.cells, self.now, strict=True):
            if not z3.is_bool(value):
                low, high = cell.domain[0], cell.domain[-1]
                yield z3.And(value >= low, value <= high)


def _agree(asking: _Asking) -> Iterator[Any]:
    """The relation of beliefs and registered state that holds in every state of the model."""
    import z3

    cell, brokers = asking.cell, asking.grounded.bounds["brokers"]
    yield cell("zk.state_epoch") <= cell("zk.epoch")
    for b in range(1, brokers + 1):
        isr = range(1, brokers + 1)
        yield cell("belief", b) <= cell("zk.epoch")
        read = z3.And(cell("cache.held", b), cell("cache.version", b) == cell("zk.version"))
        same = [cell("cache.isr", b, m) == cell("zk.isr", m) for m in isr]
        yield z3.Implies(read, z3.And(cell("cache.leader", b) == cell("zk.leader"), *same))
        current = cell("replica.zk_version", b) == cell("zk.version")
        leads = z3.And(cell("replica.role", b) == 1, current)
        yield cell("replica.epoch", b) <= cell("zk.leader_epoch")
        yield z3.Implies(cell("replica.role", b) == 1, cell("replica.isr", b, b))
        same = [cell("replica.isr", b, m) == cell("zk.isr", m) for m in isr]
        yield z3.Implies(
            leads,
            z3.And(
                cell("zk.leader") == b,
                cell("replica.epoch", b) == cell("zk.leader_epoch"),
                cell("replica.controller_epoch", b) >= cell("zk.state_epoch"),
                *same,
            ),
        )


@lru_cache(maxsize=64)
def _asking(brokers: int, preset: str, switch: str | None) -> _Asking | None:
    from model.language.errors import ProtocolError
    from model.systems import system
    from model.versions import SWITCHES
    from specs.bounded.bits import Bits
    from specs.lowering.grounding import Grounded

    whole = system(SYSTEM)
    transitions = tuple(one for one in whole.transitions if one.name in WRITES)
    part = replace(whole, transitions=transitions, claims=())
    back = {} if switch is None else {switch: SWITCHES[switch].values[0]}
    try:
        recorded = part.recorded(preset, back)
    except ProtocolError:
        return None  # the switch does not go with the others
    bounds = {"brokers": brokers, "epoch": 3, "controllers": _NEWEST, "versions": 3}
    grounded = Grounded(recorded, whole.limits(bounds))
    return _Asking(grounded, Bits(grounded))


def pairs(versions: dict[int, Any]) -> Iterator[tuple[Any, Any]]:
    """Yields values under neighbouring numbers."""
    for low, high in itertools.pairwise(sorted(versions)):
        if high == low + 1:
            yield versions[low], versions[high]
