"""Chooses the release under which a case is asked: the newest supported of its ``versions``.

``versions`` is prose with a range at its head: "2.0+", "0.10-1.0", "<=2.2", "<2.0", "0.9-2.x ZK
ISR", "2.3+ (2.0-2.2 without …)", "all". Text after a bracket or a semicolon is for readers.
"""

from __future__ import annotations

import re

from impl.releases import PRESETS, PUBLISHED, Release

_NUMBER = r"\d+\.[\dx]+(?:\.\d+)*"
_UNTIL = re.compile(rf"(?:<=|≤|up to|until)\s*({_NUMBER})")
_BEFORE = re.compile(rf"(?:<|before)\s*({_NUMBER})")
_BETWEEN = re.compile(rf"({_NUMBER})\s*(?:-|–|to)\s*({_NUMBER})")
_SINCE = re.compile(
    rf"({_NUMBER})\s*(?:\+|and (?:later|newer|above))|(?:>=|≥|since|from)\s*({_NUMBER})"
)
_ALL = re.compile(r"\b(?:all|any|every)\b", re.IGNORECASE)
_EXACT = re.compile(rf"({_NUMBER})")
_NEVER = (10**6,)


class NoRange(ValueError):
    """The text names no range of releases."""


def bounds(versions: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """First and last release of a range, both inclusive; a last line includes its last patch."""
    head = re.split(r"[(;]", versions)[0]
    if found := _UNTIL.search(head):
        return (0,), _last(found[1])
    if found := _BETWEEN.search(head):
        return _first(found[1]), _last(found[2])
    if found := _SINCE.search(head):
        return _first(found[1] or found[2]), _NEVER
    if found := _BEFORE.search(head):
        line = [*_first(found[1])[:-1], _first(found[1])[-1] - 1]
        return (0,), (*line, _OPEN)
    if found := _EXACT.search(head):
        return _first(found[1]), _last(found[1])
    if _ALL.search(head):
        return (0,), _NEVER
    raise NoRange(f'versions are such as "2.0+", "0.10-1.0" or "<=2.2", not {versions!r}')


def release_of(versions: str) -> str:
    """The newest supported release in the range.

    If there is none (0.10.0 alone, 2.8 and later), the bound of the range that is nearest to the
    supported ones: answers that depend only on the release, such as texts, are still possible.
    """
    first, last = bounds(versions)
    inside = [name for name in PRESETS if first <= Release.of(name).parts <= last]
    if inside:
        return inside[-1]
    newest = Release.of(PRESETS[-1]).parts
    bound = first if first > newest else tuple(part for part in last if part != _OPEN)
    return ".".join(map(str, bound))


def newest_of(versions: str) -> Release:
    """The newest published release in the range: tools differ where no preset does."""
    first, last = bounds(versions)
    inside = [one for one in map(Release.of, PUBLISHED) if first <= one.parts <= last]
    return inside[-1] if inside else Release.of(release_of(versions))


def spans(versions: str, release: str) -> bool:
    """Whether the range begins before a release and reaches it."""
    first, last = bounds(versions)
    return first < Release.of(release).parts <= last


_OPEN = 10**6


def _first(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.replace("x", "0").split("."))


def _last(text: str) -> tuple[int, ...]:
    parts = [_OPEN if part == "x" else int(part) for part in text.split(".")]
    return tuple(parts) if len(parts) > 2 else (*parts, _OPEN)
