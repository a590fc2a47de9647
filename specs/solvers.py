"""The solvers that answer obligations: Z3, and cvc5 as a second opinion on the same formulas.

Both have a deterministic limit of work, never of time. cvc5 reads the SMT-LIB text that Z3 writes,
so that it answers exactly the question in a file; it is imported at the first use.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import z3

from model.language.errors import ProtocolError

z3.set_param("ctrl_c", False)  # Z3 would take Ctrl-C for itself, and answer `unknown`

PROVED, REFUTED, UNKNOWN = "proved", "refuted", "unknown"
ONE, SEVERAL, NOTHING = "one premise", "several premises", "nothing"
LITTLE = 1_000_000
"""Work after which a weakened question counts as not proved; full questions take a tenth of it."""

ANSWERS = {"unsat": PROVED, "sat": REFUTED}

RLIMIT = 20_000_000
"""Z3's own unit of work a question; each of ours needs less than 0.6 of it."""

Z3_WAYS: tuple[tuple[int, Mapping[str, object]], ...] = (
    (8, {}), (8, {"auto_config": False}), (1, {}),
)  # fmt: skip
"""The options with which Z3 searches a proof without triggers, tried in order until it answers,
each with a part of the limit: a question that exhausts its part with one is often settled at once
with another. With any options `unsat` is a proof."""

TRIGGER_WAYS: tuple[tuple[int, Mapping[str, object]], ...] = (
    (8, {}), (8, {"random_seed": 1}), (8, {"random_seed": 2}), (1, {}),
)  # fmt: skip
"""The same with triggers. The order in which Z3 works depends on the names of symbols: a question
that takes 0.02 of the limit with one seed may take all of it with another."""

CVC5_RLIMIT = 400_000
"""cvc5's own unit of work a question and a way; each of ours needs less than a quarter of it."""

CVC5_WAYS: tuple[Mapping[str, str], ...] = ({"user-pat": "strict", "enum-inst": "true"}, {})
"""The options with which cvc5 instantiates premises, tried in order until it answers. First by the
given patterns, as Z3 does, and by enumeration where there is no pattern: with patterns of its own
besides, it fails on 17 of the 521 questions of the refinement. Then with its default options.
With any options `unsat` is a proof."""


class SeparateContext:
    """A Z3 context for the questions of one step, or for one question.

    It numbers formulas from 0: in the context of the process, Z3's behaviour depends on all earlier
    formulas, and so on the order of the questions.
    """

    def __init__(self) -> None:
        self.context = z3.Context()
        self._moved: dict[int, tuple[Any, Any]] = {}
        self._spent = 0

    def moved(self, formulas: Sequence[Any]) -> list[Any]:
        """The formulas translated into this context; earlier translations are reused."""
        return [self._translated(formula) for formula in formulas]

    def spent_on(self, solver: Any) -> int:
        """The work that a solver spent on its last answer: Z3 counts work per context."""
        before, self._spent = self._spent, int(solver.statistics().get_key_value("rlimit count"))
        return self._spent - before

    def _translated(self, formula: Any) -> Any:
        # The number of a formula stays its own as long as it is kept.
        found = self._moved.get(formula.get_id())
        if found is None:
            found = self._moved[formula.get_id()] = formula, formula.translate(self.context)
        return found[1]


class SolverQuery:
    """One question: do the premises imply the goal? The solver checks the goal's negation.

    `separate`: the Z3 context to use, if it is shared with other questions.
    """

    def __init__(
        self, premises: Sequence[Any], goal: Any, by_triggers: bool, rlimit: int,
        separate: SeparateContext | None = None,
    ) -> None:  # fmt: skip
        self._premises = tuple(premises)
        self._by_triggers, self._rlimit, self._separate = by_triggers, rlimit, separate
        self.work = 0
        """The work that Z3 spent on its last answer, in the unit of `RLIMIT`."""
        self._negated = z3.Not(goal)

    def _new_solver(
        self,
        asserted: Sequence[Any],
        part: int = 1,
        options: Mapping[str, object] = MappingProxyType({}),
        apart: SeparateContext | None = None,
    ) -> Any:
        solver = z3.Solver(ctx=None if apart is None else apart.context)
        # At least one: Z3 takes 0 for no limit.
        solver.set("rlimit", max(1, self._rlimit // part))
        solver.set("random_seed", 0)
        for name, value in options.items():
            solver.set(name, value)
        if self._by_triggers:
            solver.set("auto_config", False)
            solver.set("smt.mbqi", False)
        solver.add(*asserted)
        return solver

    def proves_anything(self) -> bool:
        """Do the premises contradict each other, as far as Z3 sees? Then they prove any goal."""
        apart = SeparateContext()
        return self._proves(apart.moved(self._premises), {}, LITTLE, apart)

    def needed(self, among: Sequence[Any]) -> list[int] | None:
        """The positions of the premises that Z3's proof needs: an unsatisfiable core, minimized by
        Z3. None if Z3 does not prove the goal."""
        apart = SeparateContext()
        rest = [mine for mine in (*self._premises, self._negated)
                if not any(mine is other for other in among)]  # fmt: skip
        solver = self._new_solver(apart.moved(rest), 1, {"core.minimize": True}, apart)
        names = [z3.Bool(f"premise {position}", apart.context) for position in range(len(among))]
        for name, one in zip(names, apart.moved(among), strict=True):
            solver.assert_and_track(one, name)
        if solver.check() != z3.unsat:
            return None
        core = {str(one) for one in solver.unsat_core()}
        return [position for position, name in enumerate(names) if str(name) in core]

    def hangs_on(self) -> str:
        """How Z3's proof depends on the premises, within `LITTLE` work: it fails without `ONE` of
        them, fails only without `SEVERAL`, or needs `NOTHING` of them. UNKNOWN without a proof."""
        apart = SeparateContext()
        premises, (negated,) = apart.moved(self._premises), apart.moved([self._negated])
        for _, options in [(1, {})] if self._by_triggers else Z3_WAYS:
            solver = self._new_solver([negated], 1, options, apart)
            names = [z3.Bool(f"premise {at}", apart.context) for at in range(len(premises))]
            for name, one in zip(names, premises, strict=True):
                solver.assert_and_track(one, name)
            if solver.check() != z3.unsat:
                continue
            core = [int(str(one).removeprefix("premise ")) for one in solver.unsat_core()]
            for position in sorted(core, reverse=True):
                rest = [one for at, one in enumerate(premises) if at != position]
                if not self._proves([*rest, negated], options, LITTLE, apart):
                    return ONE
            return NOTHING if self._proves([negated], options, LITTLE, apart) else SEVERAL
        return UNKNOWN

    def _proves(
        self,
        asserted: Sequence[Any],
        options: Mapping[str, object],
        rlimit: int,
        apart: SeparateContext,
    ) -> bool:
        """Is a contradiction found by so much work?"""
        solver = self._new_solver(asserted, 1, options, apart)
        solver.set("rlimit", rlimit)
        return bool(solver.check() == z3.unsat)

    def answer(self, solver: str) -> str:
        """`proved`, `refuted` or `unknown` by a solver."""
        return self._by_z3() if solver == "z3" else answer_of_cvc5(self.smt2())

    def _by_z3(self) -> str:
        self.work, answer = 0, UNKNOWN
        apart = self._separate or SeparateContext()
        for part, options in TRIGGER_WAYS if self._by_triggers else Z3_WAYS:
            asserted = apart.moved([*self._premises, self._negated])
            solver = self._new_solver(asserted, part, options, apart)
            answer = ANSWERS.get(str(solver.check()), UNKNOWN)
            self.work += apart.spent_on(solver)
            if answer != UNKNOWN:
                break
            # Earlier questions in the shared context may have misled Z3.
            apart = SeparateContext()
        return answer

    def smt2(self) -> str:
        """The question as a self-contained SMT-LIB text: `unsat` means proved."""
        asked = self._new_solver([*self._premises, self._negated])
        return f"(set-logic ALL)\n{asked.to_smt2()}"


def combined(answers: Sequence[str]) -> str:
    """The combination of several answers: their common value, or UNKNOWN if two differ."""
    said = set(answers)
    return said.pop() if len(said) == 1 else UNKNOWN


def answer_of_cvc5(smt2: str, rlimit: int = CVC5_RLIMIT) -> str:
    """cvc5's answer to an SMT-LIB text with one question in it.

    Raises ProtocolError if cvc5 is not installed.
    """
    return _answered_by_cvc5(smt2, rlimit)[0]


def proof_of_cvc5(smt2: str) -> tuple[str, str | None]:
    """cvc5's answer to an SMT-LIB text, and its proof in its own calculus (CPC), if there is one.

    Raises ProtocolError if cvc5 is not installed.
    """
    answer, solver = _answered_by_cvc5(smt2, 10 * CVC5_RLIMIT, {"produce-proofs": "true"})
    if answer != PROVED:
        return answer, None
    text = solver.proofToString(solver.getProof()[0])
    return answer, text.decode() if isinstance(text, bytes) else str(text)


def has_cvc5() -> bool:
    """Is the second solver installed?"""
    return importlib.util.find_spec("cvc5") is not None


def _answered_by_cvc5(
    smt2: str, rlimit: int, options: Mapping[str, str] | None = None
) -> tuple[str, Any]:
    """The answer of the first way that has one, and the solver that gave it."""
    for way in CVC5_WAYS:
        answer, solver = _asked_of_cvc5(smt2, rlimit, {**way, **(options or {})})
        if answer != UNKNOWN:
            break
    return answer, solver


def _asked_of_cvc5(
    smt2: str, rlimit: int, options: Mapping[str, str] | None = None
) -> tuple[str, Any]:
    try:
        cvc5: Any = importlib.import_module("cvc5")  # it has no types
    except ImportError as error:
        raise ProtocolError("cvc5 is not installed: pip install 'insync[solvers]'") from error
    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    for name, value in {"rlimit": str(rlimit), **(options or {})}.items():
        solver.setOption(name, value)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, smt2, "question")
    symbols = parser.getSymbolManager()
    said = []
    while not (command := parser.nextCommand()).isNull():
        printed = str(command.invoke(solver, symbols)).strip()
        if printed and printed != "success":
            said.append(printed)
    return ANSWERS.get(said[0], UNKNOWN) if len(said) == 1 else UNKNOWN, solver
