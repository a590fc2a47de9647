"""Encodes a run as a short address: its heading in words, then two or three bytes a step.

    #system+replication+version+2.3+brokers+3~kX2v...

The bytes are a digest of the model's transitions and, for each step, a number computed from its
name and its parameters. It is no index of names: a model with more steps still reads the address.
"""

from __future__ import annotations

import base64
import binascii
import difflib
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from model.language import ProtocolError, RecordedSystem, System
from model.language.recording import Recorded
from model.language.schema import SetOf
from model.systems import SYSTEMS
from specs.story.commands import read_command, step_line
from specs.story.heading import StoryHeading, heading_line, read_heading

_RELEASE = re.compile(r"\d+\.\d+")
MARK = 4
"""Bytes of the digest."""


@dataclass(frozen=True)
class OpenedGame:
    """The run of an address. `said` lists what has changed since the address was made.

    If something has, heading and lines are the nearest game: another version, or a part of the run.
    """

    heading: str
    lines: tuple[str, ...]
    said: str | None = None


def address(heading: str, lines: Sequence[str]) -> str:
    """The address of a game, without its #. Raises ProtocolError for lines that are no steps."""
    here = _read(heading)
    data = bytearray(transitions_digest(here.recorded))
    for number, line in enumerate(lines, 1):
        command = read_command(number, line, here)
        if not command.is_step:
            raise ProtocolError(f"step {number}: {line!r} is no step")
        data += _number_of(command.what).to_bytes(2, "big")
        for value in command.arguments.values():
            code = value if isinstance(value, int) else sum(1 << one for one in value)
            data += _varint(code * 2 if code >= 0 else -code * 2 - 1)
    words = heading_line(here.recorded, here.given).replace(" ", "+")
    return f"{words}~{base64.urlsafe_b64encode(bytes(data)).decode().rstrip('=')}"


def open_address(text: str) -> OpenedGame:
    """The game of an address, or the nearest one. ProtocolError for text that is no address."""
    words, tilde, letters = text.lstrip("#").partition("~")
    heading = words.replace("+", " ")
    if not heading.startswith("system ") or not tilde:
        raise ProtocolError(
            "this is no address of a run; one begins with #system+, and has its steps after a ~"
        )
    try:
        data = base64.b64decode(letters + "=" * (-len(letters) % 4), "-_", validate=True)
    except (ValueError, binascii.Error) as error:
        raise ProtocolError("the address is not whole: copy it again to its end") from error
    if len(data) < MARK:
        raise ProtocolError("the address is not whole: copy it again to its end")
    heading, said = _known_heading(heading)
    here = _read(heading)
    if said is None and data[:MARK] != transitions_digest(here.recorded):
        said = "the address was made with another version of this model's text"
    lines: list[str] = []
    rest = iter(data[MARK:])
    steps = {_number_of(step.transition.name): step for step in here.recorded.steps}
    for high in rest:
        number = high << 8 | next(rest, 0)
        if number not in steps:
            what = f"step {len(lines) + 1} is none of {here.recorded.system.name}"
            said = f"{said + ', and ' if said else ''}{what} {here.recorded.version}"
            break
        try:
            lines.append(_line(steps[number], rest))
        except StopIteration:
            raise ProtocolError("the address is not whole: copy it again to its end") from None
    return OpenedGame(heading, tuple(lines), said)


def _line(step: Recorded, rest: Iterator[int]) -> str:
    arguments: dict[str, int | frozenset[int]] = {}
    for name, sort in step.parameters.items():
        code = _read_varint(rest)
        code = code // 2 if code % 2 == 0 else -(code + 1) // 2
        if isinstance(sort, SetOf):
            arguments[name] = frozenset(n for n in range(code.bit_length()) if code >> n & 1)
        else:
            arguments[name] = code
    try:
        return step_line(step, arguments)
    except (IndexError, KeyError, ValueError) as error:
        name = step.transition.name
        raise ProtocolError(f"the address gives {name} a value that there is not") from error


@lru_cache(maxsize=32)
def _read(heading: str) -> StoryHeading:
    """Recording a system takes a moment, so a few are kept."""
    return read_heading(heading)


# -- another version ------------------------------------------------------------------------------


def _known_heading(heading: str) -> tuple[str, str | None]:
    """The heading, or the nearest one that the model knows, and what was not known."""
    try:
        read_heading(heading)
        return heading, None
    except ProtocolError as error:
        said = str(error)
    words = heading.split()
    name = _close_match(words[1] if len(words) > 1 else "", SYSTEMS) or "replication"
    chosen = SYSTEMS[name]
    pairs = [(k, v) for k, v in zip(words[2::2], words[3::2], strict=False) if _fits(chosen, k, v)]
    version = next(
        (v for k, v in zip(words[2::2], words[3::2], strict=False) if k == "version"), ""
    )
    near = chosen.version(_near_version(version, chosen)).name
    kept = [word for k, v in pairs if k != "version" for word in (k, v)]
    for tail in (kept, []):
        found = " ".join(["system", name, "version", near, *tail])
        try:
            read_heading(found)
            return found, said
        except ProtocolError:
            continue
    raise ProtocolError(said)


def _fits(chosen: System, key: str, value: str) -> bool:
    if key in ("with", "without"):
        return value.partition("=")[0] in chosen.switches
    return key in chosen.bounds and value.isdecimal()


def _close_match(word: str, names: Mapping[str, object]) -> str | None:
    if word in names:
        return word
    close = difflib.get_close_matches(word, sorted(names), n=1, cutoff=0.5)
    return close[0] if close else None


def _near_version(wanted: str, chosen: System) -> str:
    """Of releases the last that is not newer, or the first; else the name most like it."""
    if wanted in chosen.versions:
        return wanted
    releases = sorted((one for one in chosen.versions if _RELEASE.fullmatch(one)), key=_release)
    if releases and _RELEASE.fullmatch(wanted):
        older = [one for one in releases if _release(one) <= _release(wanted)]
        return older[-1] if older else releases[0]
    return _close_match(wanted, chosen.versions) or chosen.default_version


def _release(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.split("."))


# -- bytes ----------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def transitions_digest(recorded: RecordedSystem) -> bytes:
    """The digest of the steps under these switches: names, parameters, guards and writes."""
    text = "\n".join(
        f"{step.transition.name} {sorted(step.parameters)} "
        f"{[one.reason for one in step.requires]} {[one.field for one in step.writes]}"
        for step in recorded.steps
    )
    return sha256(text.encode()).digest()[:MARK]


@lru_cache(maxsize=4096)
def _number_of(name: str) -> int:
    return zlib.crc32(name.encode()) & 0xFFFF


def _varint(number: int) -> bytes:
    found = bytearray()
    while number >= 128:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def _read_varint(rest: Iterator[int]) -> int:
    number = shift = 0
    while True:
        byte = next(rest)
        number |= (byte & 127) << shift
        if byte < 128:
            return number
        shift += 7
        if shift > 70:
            raise ProtocolError("the address is not whole: copy it again to its end")
