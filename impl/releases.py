"""Kafka's releases as comparable values, and the releases that the implementation supports.

Code for different behaviour compares releases, as Kafka's notes do: ``since("2.2")`` means "2.2 and
later". Source: the fact sheet's tags, which name minor releases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, total_ordering

PRESETS = ("0.10", "0.11", "1.1", "2.0", "2.1", "2.3", "2.4", "2.7")
"""The releases that cases and tests are asked of; each means the last one of its line.

Any other can be asked for as well: PUBLISHED. 2.5 is left out because the core differs from that of
2.4 in fetch sessions alone (KAFKA-9338), which have tests of their own.
"""

DEFAULT = "2.3"

PUBLISHED: dict[str, int] = {
    "0.10.0": 1, "0.10.1": 1, "0.10.2": 2, "0.11.0": 3, "1.0": 2, "1.1": 1, "2.0": 1, "2.1": 1,
    "2.2": 2, "2.3": 1, "2.4": 1, "2.5": 1, "2.6": 3, "2.7": 2, "2.8": 2,
}  # fmt: skip
"""Line -> its last patch: what Apache Kafka published from 0.10.0.0 to 2.8.2."""

_INTERNAL: dict[str, int] = {
    "0.8.0": -1, "0.8.1": -1, "0.8.2": -1, "0.9.0": -1, "0.10.0": 1, "0.10.1": 2, "0.10.2": 0,
    "0.11.0": 2, "1.0": 0, "1.1": 0, "2.0": 1, "2.1": 2, "2.2": 1, "2.3": 1, "2.4": 1, "2.5": 0,
    "2.6": 0, "2.7": 2, "2.8": 1,
}  # fmt: skip
"""Line -> the last internal version of its protocol, 1 for 0.10.0-IV1; -1: it has none."""

# The last patch of a line matters only where a line changed its behaviour within itself.
_LAST_OF_LINE: dict[tuple[int, ...], tuple[int, ...]] = {(0, 10): (0, 10, 2)}
_LAST_PATCH: dict[tuple[int, ...], tuple[int, ...]] = {(2, 0): (2, 0, 1)}


@cache
def _parts(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


@total_ordering
@dataclass(frozen=True, slots=True)
class Release:
    """A release, such as 2.3 or 0.10.1; a line's name (0.10) means its last one."""

    parts: tuple[int, ...]

    @staticmethod
    def of(text: str) -> Release:
        """Read "2.3" or "0.10.1"; ValueError for an invalid release."""
        if not re.fullmatch(r"\d+\.\d+(\.\d+)*", text):
            raise ValueError(f"a release looks like 2.3 or 0.10.1, not {text!r}")
        parts = tuple(int(part) for part in text.split("."))
        return Release(_LAST_OF_LINE.get(parts, parts))

    @staticmethod
    def published(text: str) -> Release:
        """Read the name of a release, or of a line, that was published from 0.10.0 to 2.8.

        ValueError lists the published names.
        """
        release = Release.of(text)
        line = next((name for name in PUBLISHED if _begins(release.parts, name)), None)
        if line is None:
            known = ", ".join(PUBLISHED)
            raise ValueError(f"no release {text} from 0.10.0 to 2.8; there are {known}")
        patch = release.parts[len(line.split(".")) :]
        if len(patch) > 1 or (patch and patch[0] > PUBLISHED[line]):
            raise ValueError(f"{line} ends with {line}.{PUBLISHED[line]}, so there is no {text}")
        return release

    def since(self, text: str) -> bool:
        """Whether this release is that one or a later one; "0.10" here means 0.10.0."""
        return _LAST_PATCH.get(self.parts, self.parts) >= _parts(text)

    def __lt__(self, other: Release) -> bool:
        return self.parts < other.parts

    def __str__(self) -> str:
        return ".".join(str(part) for part in self.parts)


def _begins(parts: tuple[int, ...], line: str) -> bool:
    numbers = tuple(map(int, line.split(".")))
    return parts[: len(numbers)] == numbers or parts == numbers[: len(parts)] == (0, 11)


def api_version(text: str, release: Release) -> tuple[tuple[int, ...], int]:
    """Read a protocol or message format version that brokers of a release know, such as 0.10.2.1 or
    2.3-IV1: the numbers of its line, and its internal version, else the line's last.

    ValueError with Kafka's message for any other name. Source: ApiVersion.
    """
    segments = 3 if text.startswith("0.") or not release.since("1.0") else 2
    line, mark, internal = ".".join(text.split(".")[:segments]).partition("-IV")
    last = _INTERNAL.get(line)
    if last is not None and _parts(line)[: len(release.parts)] <= release.parts:
        if not mark:
            return _parts(line), last
        if internal in map(str, range(last + 1)):
            return _parts(line), int(internal)
    raise ValueError(f"Version `{text}` is not a valid version")


def newest_version(release: Release) -> str:
    """The newest protocol version of a release, as Kafka writes it: 0.11.0-IV2."""
    line = max((one for one in _INTERNAL if _parts(one)[: len(release.parts)] <= release.parts),
               key=_parts)  # fmt: skip
    return f"{line}-IV{_INTERNAL[line]}"


def presets() -> list[Release]:
    """The supported releases, oldest first."""
    return [Release.of(name) for name in PRESETS]
