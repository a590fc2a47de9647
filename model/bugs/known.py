"""Known bugs of a release: historic bugs that it has, and bounds that show them."""

from __future__ import annotations

from typing import NamedTuple

from model.bugs import HISTORIC_BUGS
from model.bugs.entry import HistoricBug, Reproduction
from model.language import RecordedSystem


class BugWithBounds(NamedTuple):
    """A bug that a version has, and the bounds to raise above the defaults to show it."""

    entry: HistoricBug
    raised: dict[str, int]


def known_for(recorded: RecordedSystem, claim: str) -> BugWithBounds | None:
    """The bug that breaks `claim` in this version and asks for the least more than the defaults.

    None where no historic bug is known: that says nothing about the claim.
    """
    system = recorded.system
    found = []
    for one in HISTORIC_BUGS:
        shown = one.shown
        if shown is None or (shown.system, shown.claim) != (system.name, claim):
            continue
        bug = _bug(shown)
        if bug and all(recorded.switches.get(name) == value for name, value in bug.items()):
            defaults = system.limits({})
            raised = {
                name: number
                for name, number in shown.limits.items()
                if number > defaults.get(name, number)
            }
            more = sum(number - defaults[name] for name, number in raised.items())
            found.append((more, one.number, BugWithBounds(one, raised)))
    return min(found)[2] if found else None


def _bug(shown: Reproduction) -> dict[str, object]:
    """The switches that make the difference between the bug and its fix."""
    fixed = shown.as_fixed().switches
    return {
        name: value for name, value in shown.broken().switches.items() if fixed.get(name) != value
    }
