"""Reads the table `statements.tsv`: log statements of the protocol's loggers, by release.

`conformance.ingest.collect` makes the table from Kafka's source. A statement is an event if a
template reads it; otherwise it is a note, which is known and irrelevant to the protocol. A line of
a protocol logger that is neither is rejected, so that the gaps for a new release become visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

NOTE = "note"
TABLE = "statements.tsv"
HOLE = "{}"
STATE_CHANGE = "state.change.logger"
OLD_HEAD = re.compile(r"(?:Controller \{\} epoch \{\} |Broker \{\}:? )(?=[a-z{])")
"""The head of a message without brackets, as releases before 1.0 write it."""

# Loggers that must be understood line by line. Those of a class's companion end in a dollar sign.
PROTOCOL = re.compile(
    r"kafka\.controller\..*|state\.change\.logger|kafka\.cluster\.(?:Partition|Replica)\$?"
    r"|kafka\.log\.(?:(?:Unified|Local)?Log|LogLoader|LogManager)\$?"
    r"|(?:kafka\.server|org\.apache\.kafka\.storage\.internals)\.epoch\..*"
    r"|kafka\.server\.(?:Replica(?:Manager|Fetcher|AlterLogDirs)|AbstractFetcher"
    r"|ZookeeperLeaderElector|(?:Local|Remote)LeaderEndPoint)\w*(?:\$.*)?"
    r"|kafka\.server\.(?:Default|Zk)?Alter(?:Isr|Partition)Manager(?:Impl)?\$?"
    r"|kafka\.server\.(?:metadata\.)?(?:Zk)?MetadataCache\$?|kafka\.server\.ZkIsrManager\$?"
)
_KEY = 8  # characters by which statements are distinguished
_LEAST = 4  # literal letters without which a shape says nothing


@dataclass(frozen=True)
class Statement:
    """One message: its logger, its releases (minor, both ends included), and its shape."""

    logger: str
    level: str
    first: tuple[int, ...]
    last: tuple[int, ...]
    kind: str
    shape: str

    @property
    def is_known(self) -> bool:
        """Whether its shape has any text: a call that prints only a variable has none."""
        return len(re.findall(r"[A-Za-z]", self.shape)) >= _LEAST


@cache
def statements() -> tuple[Statement, ...]:
    """The whole table."""
    text = (files(__package__) / TABLE).read_text(encoding="utf-8")
    return tuple(_statements(text.splitlines()))


def _statements(lines: Iterable[str]) -> Iterator[Statement]:
    for line in lines:
        logger, level, first, last, kind, shape = line.split("\t")
        yield Statement(logger, level, release(first), release(last), kind, _escaped(shape))


def release(text: str) -> tuple[int, ...]:
    """A minor release as numbers: `2.8` is (2, 8)."""
    return tuple(int(part) for part in text.split("."))


def _escaped(shape: str) -> str:
    meant = {"n": "\n", "t": "\t"}
    return re.sub(r"\\(.)", lambda found: meant.get(found[1], found[1]), shape)


@lru_cache(maxsize=65536)
def is_protocol(logger: str) -> bool:
    """Whether every line of this logger has to be understood."""
    return PROTOCOL.fullmatch(logger) is not None


def short_name(logger: str) -> str:
    """The short name, `ReplicaManager`, of `kafka.server.ReplicaManager$LogDirFailureHandler`."""
    return logger.split("$", 1)[0].rsplit(".", 1)[-1]


def is_note(logger: str, text: str) -> bool:
    """Whether a message (without its prefix) of a protocol logger is known to be irrelevant.

    Up to 0.11 many messages begin in lower case; they are passed on in upper case.
    """
    name = short_name(logger)
    return any(
        pattern.fullmatch(text) is not None
        for key in {text[:1].lower() + text[1:_KEY], text[:1].upper() + text[1:_KEY]}
        for pattern in _candidates(name, key)
    )


@lru_cache(maxsize=20_000)
def _candidates(name: str, key: str) -> tuple[re.Pattern[str], ...]:
    """The patterns of a logger's notes that may match a text with this beginning."""
    return tuple(
        _pattern(shape)
        for shape in _notes().get(name, ())
        if key.startswith(start := shape.split(HOLE, 1)[0][:_KEY]) or start.startswith(key)
    )


@cache
def _pattern(shape: str) -> re.Pattern[str]:
    text = ".*?".join(re.escape(part) for part in shape.split(HOLE)) + r"\s*"
    if shape.endswith(HOLE):
        text = text.removesuffix(r".*?\s*") + ".*"  # the same, and in one step
    if shape[0].isalpha():
        text = f"[{shape[0].upper()}{shape[0].lower()}]{text[1:]}"
    return re.compile(text, re.DOTALL)


@cache
def _notes() -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for each in statements():
        if each.kind != NOTE or not each.is_known:
            continue
        shapes = found.setdefault(short_name(each.logger), set())
        shapes.add(each.shape)
        head = OLD_HEAD.match(each.shape)
        if head is not None:  # `split_prefix` takes it off where no other prefix stands before it
            shapes.add(each.shape[head.end() :])
    return {name: tuple(sorted(shapes)) for name, shapes in found.items()}
