"""Generates the reference of a system from its transitions: guards, releases, bugs and stories.

Nothing in it is written by hand: releases come from recording every version, bugs from recording
the system with each fix reverted, stories from the lines that they play.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from model.bugs import HISTORIC_BUGS, HistoricBug
from model.language import RecordedSystem, System
from model.language.recording import Recorded
from model.language.schema import SetOf

STORIES = Path(__file__).parent / "stories"


@dataclass(frozen=True)
class RefusalReason:
    """A reason for which a step may be refused, and the versions that have this guard."""

    reason: str
    versions: tuple[str, ...]


@dataclass(frozen=True)
class TransitionPage:
    """The reference of one transition. `bugs` are those whose reverted fix changes it."""

    name: str
    summary: str
    parameters: dict[str, str]
    versions: tuple[str, ...]
    guards: tuple[RefusalReason, ...]
    writes: tuple[str, ...]
    bugs: tuple[HistoricBug, ...]
    stories: tuple[str, ...]
    source: str
    """`model/replication/isr.py:41`, from the root of the repository."""


def pages(system: System) -> list[TransitionPage]:
    """The page of every transition of a system, in the order of the system."""
    recorded = {name: system.recorded(name) for name in system.versions}
    steps = {name: _by_name(one) for name, one in recorded.items()}
    changed = _changed_by_bugs(system)
    stories = _stories_of(system.name)
    found = []
    for transition in system.transitions:
        inside = {name: own[transition.name] for name, own in steps.items()
                  if transition.name in own}  # fmt: skip
        newest = list(inside.values())[-1] if inside else None
        found.append(
            TransitionPage(
                transition.name,
                transition.summary,
                _parameters(newest),
                tuple(inside),
                _guards(inside),
                tuple(sorted({write.field for step in inside.values() for write in step.writes})),
                tuple(one for one in HISTORIC_BUGS if transition.name in changed.get(one.id, ())),
                tuple(stories.get(transition.name, ())),
                _source(transition.function),
            )
        )
    return found


def _by_name(recorded: RecordedSystem) -> dict[str, Recorded]:
    return {step.transition.name: step for step in recorded.steps}


def _parameters(step: Recorded | None) -> dict[str, str]:
    if step is None:
        return {}
    return {
        name: f"a set of {sort.element.name}" if isinstance(sort, SetOf) else sort.name
        for name, sort in step.parameters.items()
    }


def _guards(inside: Mapping[str, Recorded]) -> tuple[RefusalReason, ...]:
    """The guards in the order in which they are checked, those of the newest version first."""
    where: dict[str, list[str]] = {}
    for step in reversed(list(inside.values())):
        for requirement in step.requires:
            where.setdefault(requirement.reason, [])
    for version, step in inside.items():
        for reason in {requirement.reason for requirement in step.requires}:
            where[reason].append(version)
    return tuple(RefusalReason(reason, tuple(versions)) for reason, versions in where.items())


def _source(function: Callable[..., object]) -> str:
    code = inspect.unwrap(function).__code__
    path = Path(code.co_filename).resolve().relative_to(Path(__file__).resolve().parents[1])
    return f"{path.as_posix()}:{code.co_firstlineno}"


def _changed_by_bugs(system: System) -> dict[str, set[str]]:
    """Bug -> the transitions whose guards or writes are others than with its fix."""
    found: dict[str, set[str]] = {}
    for entry in HISTORIC_BUGS:
        shown = entry.shown
        if shown is None or shown.system != system.name or not shown.reverted:
            continue
        bug = _by_name(system.recorded(shown.base, {**shown.reverted, **shown.world}))
        fixed = _by_name(system.recorded(shown.base, dict(shown.world)))
        found[entry.id] = {
            name for name in {*bug, *fixed}
            if name not in bug or name not in fixed or _differ(bug[name], fixed[name])
        }  # fmt: skip
    return found


def _differ(one: Recorded, other: Recorded) -> bool:
    return (one.requires, one.writes) != (other.requires, other.writes)


@cache
def _lines_of_stories() -> tuple[tuple[str, str, frozenset[str]], ...]:
    """Per story: its name, its system, and the words that its lines begin with."""
    found = []
    for path in sorted(STORIES.rglob("*.story")):
        lines = [line.split("#", 1)[0].split() for line in path.read_text("utf-8").splitlines()]
        system = next((words[1] for words in lines if words[:1] == ["system"]), "")
        names = {
            words[1] if words[0] in ("quietly", "refused") and len(words) > 1 else words[0]
            for words in lines
            if words
        }
        found.append((path.stem, system, frozenset(names)))
    return tuple(found)


def _stories_of(system: str) -> dict[str, list[str]]:
    stories: dict[str, list[str]] = {}
    for story, of, names in _lines_of_stories():
        if of == system:
            for name in names:
                stories.setdefault(name, []).append(story)
    return stories


def markdown(system: System, found: Iterable[TransitionPage], with_claims: bool = True) -> str:
    """The reference as text: claims first, then one section for each transition."""
    every = tuple(system.versions)
    lines = [f"# The system `{system.name}`", "", system.about, ""] if with_claims else []
    if with_claims:
        lines += ["## Claims", "", "| claim | kind | in words |", "|---|---|---|"]
        claims = system.recorded().claims
        lines += [
            f"| `{name}` | {one.kind} | {one.sentence} |" for name, (one, _) in claims.items()
        ]
        lines += ["", "## Transitions", ""]
    for page in found:
        taken = ", ".join(f"{name}: {sort}" for name, sort in page.parameters.items())
        lines += [f"### `{page.name}({taken})`", "", page.summary, ""]
        if page.versions != every:
            lines += [f"Only in {', '.join(page.versions) or 'no version as published'}.", ""]
        lines += [f"- possible if: {_asked(guard, page)}" for guard in page.guards]
        lines += ["- always possible"] if not page.guards else []
        lines.append(f"- writes: {', '.join(f'`{name}`' for name in page.writes) or 'nothing'}")
        lines += [f"- bug: {bug.id}, {bug.title}" for bug in page.bugs]
        if page.stories:
            lines.append(f"- stories: {', '.join(page.stories)}")
        lines += [f"- text: `{page.source}`", ""]
    return "\n".join(lines).rstrip() + "\n"


def _asked(guard: RefusalReason, page: TransitionPage) -> str:
    if guard.versions == page.versions:
        return guard.reason
    return f"{guard.reason} (in {', '.join(guard.versions)})"
