"""The answer of `insync find` about a claim, from any engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from conformance.cli.chosen_system import described, ruled_out, ruled_out_in_words
from specs.exploration import ClaimResult
from specs.lowering.grounding import Grounded
from specs.rendering import FLAT, at, parts
from specs.runs import Run
from specs.verdict import Verdict


@dataclass
class ClaimAnswer:
    """An answer about a claim, as it is printed.

    `within` names the bounds, `beside_run` and `without_run` say how much was looked at; `more` is
    what the JSON has besides the contract.
    """

    SHOWN: ClassVar = parts(
        "ruled_out", shown_run=FLAT, depth=at("result.depth"), kind=at("result.kind"),
        why=at("result.why"), replay={}, more=FLAT,
    )  # fmt: skip

    grounded: Grounded
    result: ClaimResult
    run: Run | None
    within: str
    beside_run: str
    without_run: str
    replay: str
    because: str = ""
    """Why a bound is larger than its default, if one is."""
    more: dict[str, Any] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The report, a line a step."""
        result, run = self.result, self.run
        lines = [f"{result.name} of {described(self.grounded.recorded)}", f"  {result.sentence}"]
        if run is not None:
            word = "broken" if result.verdict is Verdict.BROKEN else "holds: reached"
            lines += [f"{word} {_after_how_many_steps(run)} ({self.within})", self.beside_run, ""]
            lines += [run.as_text() if run.steps else "in the initial state, before any step", ""]
        elif result.verdict is Verdict.HOLDS:
            lines += [f"holds ({self.within}): {self.without_run}"]
        else:
            lines += [f"{result.verdict} ({result.why}; {self.within}): {self.without_run}"]
        if self.because:
            lines.append(self.because)
        if result.verdict is not Verdict.BROKEN and run is None:
            lines += ruled_out_in_words(self.grounded.recorded.system, self._bounds())
        return [*lines, f"again: {self.replay}"]

    def _bounds(self) -> dict[str, int]:
        """Those that limited the search; one that was lifted is not among them."""
        lifted = self.more.get("lifted", ())
        return {name: n for name, n in self.grounded.bounds.items() if name not in lifted}

    @property
    def ruled_out(self) -> Any:
        """What the bounds leave out."""
        return ruled_out(self.grounded.recorded.system, self._bounds())

    @property
    def shown_run(self) -> Run:
        """The run; without one an empty run with the claim."""
        return self.run or self._without_steps()

    def _without_steps(self) -> Run:
        recorded = self.grounded.recorded
        return Run(
            claim=self.result.name,
            sentence=self.result.sentence,
            system=recorded.system.name,
            version=recorded.version,
            without=recorded.without,
            bounds=dict(self.grounded.bounds),
            verdict=self.result.verdict,
            steps=[],
            replay=self.replay,
        )


def steps(number: int) -> str:
    """`1 step`, `8 steps`."""
    return f"{number} step{'' if number == 1 else 's'}"


def _after_how_many_steps(run: Run) -> str:
    if run.loop is None:
        return f"after {steps(len(run.steps))}"
    turn = len(run.steps) - run.loop
    back = f"by a loop of {steps(turn)}" if turn else "for ever"
    return f"after {steps(run.loop)}, {back}"
